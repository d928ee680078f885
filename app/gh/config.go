package gh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// configReader implements ports.ConfigReader.
type configReader struct{ *api }

// ReadConfig reads the repository's layer from the tip of branch, or of the
// default branch, and the organisation's layer. The pull request itself can change
// neither. Files are cached by their SHAs, so that an unchanged repository's layer
// takes one call. The organisation's layer takes no call for a minute.
func (c configReader) ReadConfig(ctx context.Context, t ports.Target, branch string) (ports.ConfigRead, error) {
	var read ports.ConfigRead
	var organisation ports.ConfigSource
	var moved bool
	// For .github itself both layers are the same files.
	both := branch == "" && strings.EqualFold(t.Name, organisationRepo)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		read, moved, err = c.repositoryConfig(gctx, t, branch)
		return err
	})
	if !both {
		g.Go(func() (err error) {
			organisation, err = c.organisationConfig(gctx, t)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return ports.ConfigRead{}, err
	}
	switch {
	case both:
		organisation = as(config.LayerOrganisation, read.Repository)
	case moved:
		var err error
		if organisation, err = c.presentOrganisation(ctx, t, organisation); err != nil {
			return ports.ConfigRead{}, err
		}
	}
	read.Organisation = organisation
	return read, nil
}

// as returns the source as another layer.
func as(layer string, s ports.ConfigSource) ports.ConfigSource {
	files := make([]ports.ConfigBlob, len(s.Files))
	for i, f := range s.Files {
		f.Layer = layer
		files[i] = f
	}
	s.Files = files
	return s
}

// repositoryConfig reads the repository's layer and the names of the files at
// its root. moved says that the repository has another name now. A missing branch
// is an error: a branch that never existed has no pull request, and rules must not
// disappear silently.
func (c *api) repositoryConfig(ctx context.Context, t ports.Target, branch string) (read ports.ConfigRead, moved bool, err error) {
	source, rev := t.Owner+"/"+t.Name, defaultBranch
	if branch != "" {
		source += "@" + branch
		rev = "refs/heads/" + branch // not a tag with the same name
	}
	read.Repository.Source = source
	tr := treeReader{client: c, target: t, op: "read the repository's config"}
	root, err := tr.root(ctx, rev)
	if err != nil { // an empty repository too: it has no pull requests
		return ports.ConfigRead{}, false, err
	}
	read.RootFiles = root.files()
	if read.Repository.Files, err = tr.layer(ctx, config.LayerRepository, root); err != nil {
		return ports.ConfigRead{}, false, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		read.Attributes, err = tr.atRoot(ctx, root, ports.LayerAttributes, normalize.AttributesFile, normalize.MaxAttributes)
		return err
	})
	g.Go(func() (err error) {
		read.Exceptions, err = tr.atRoot(ctx, root, ports.LayerExceptions, normalize.ExceptionsFile, normalize.MaxExceptions)
		return err
	})
	if err := g.Wait(); err != nil {
		return ports.ConfigRead{}, false, err
	}
	return read, root.moved, nil
}

// atRoot reads a file at the root, up to one byte more than the allowed size. For anything
// but a file it returns an empty blob.
func (tr treeReader) atRoot(ctx context.Context, root *directory, layer, name string, most int64) (ports.ConfigBlob, error) {
	e, found := root.find(name)
	if !found || e.Type != "blob" {
		return ports.ConfigBlob{}, nil
	}
	text, err := tr.blob(ctx, e, most+1)
	if err != nil {
		return ports.ConfigBlob{}, err
	}
	return ports.ConfigBlob{Layer: layer, Path: e.Path, BlobSHA: e.SHA, Text: text}, nil
}

// ProposedConfig reads the repository's layer at a commit. A fork shares its objects
// with the original repository, so a fork's commits are found there.
func (c configReader) ProposedConfig(ctx context.Context, t ports.Target, sha string) (ports.ConfigSource, error) {
	tr := treeReader{client: c.api, target: t, op: "read the proposed config"}
	root, err := tr.commit(ctx, sha)
	if err != nil {
		return ports.ConfigSource{}, err
	}
	files, err := tr.layer(ctx, config.LayerRepository, root)
	if err != nil {
		return ports.ConfigSource{}, err
	}
	return ports.ConfigSource{Source: t.Owner + "/" + t.Name + "@" + sha, Files: files}, nil
}

// commit reads the directory at the root of a commit.
func (tr treeReader) commit(ctx context.Context, sha string) (*directory, error) {
	if !shaPattern.MatchString(sha) {
		return nil, &ports.HostError{Op: tr.op, Kind: ports.HostInvalid, Err: fmt.Errorf("%q is not a commit's SHA", clean(sha))}
	}
	return tr.root(ctx, sha)
}

// isEmptyRepository reports whether GitHub answered that nothing was pushed to the
// repository yet. Other conflicts, for example during the move of a repository, say
// nothing about its content.
func isEmptyRepository(err error) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == http.StatusConflict && answer.message == "Git Repository is empty."
}

// layer reads the config files below a root. If the name of their directory or of its parent belongs
// to a file, a link or a submodule, layer returns that entry, and the loader reports it.
func (tr treeReader) layer(ctx context.Context, layer string, dir *directory) ([]ports.ConfigBlob, error) {
	at := ""
	for name := range strings.SplitSeq(config.RepositoryDir, "/") {
		at = path.Join(at, name)
		e, found := dir.find(name)
		if !found {
			return nil, nil
		}
		if e.Type != "tree" {
			return []ports.ConfigBlob{{Layer: layer, Path: at, BlobSHA: e.SHA}}, nil
		}
		var err error
		if dir, err = tr.tree(ctx, e.SHA); err != nil {
			return nil, err
		}
	}
	entries := dir.configFiles()
	files := make([]ports.ConfigBlob, len(entries))
	g, ctx := errgroup.WithContext(ctx)
	for i, e := range entries {
		g.Go(func() error {
			var text []byte
			var err error
			second := i > 0 && config.FileOf(e.Path) != "" && config.FileOf(e.Path) == config.FileOf(entries[i-1].Path)
			if config.IsFile(e.Path) && !second { // the loader refuses the others by their names
				text, err = tr.text(ctx, e)
			}
			files[i] = ports.ConfigBlob{Layer: layer, Path: config.RepositoryDir + "/" + e.Path, BlobSHA: e.SHA, Text: text}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return files, nil
}

// configFiles returns the entries that belong to a layer: the config files in their
// order, the prompts, and entries with wrong names.
func (d *directory) configFiles() []treeEntry {
	var names []string
	for _, e := range d.Entries {
		if e.Type != "tree" || config.IsFile(e.Path) {
			names = append(names, e.Path)
		}
	}
	var files []treeEntry
	for _, name := range config.OfLayer(names) {
		if e, found := d.find(name); found {
			files = append(files, e)
		}
	}
	return files
}
