package localgit

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// maxRootFiles bounds the names at the root. If there are more, Config returns none.
const maxRootFiles = 10_000

// Config returns the config in force, and the names of the files at the root of
// the base. The config lists the problems of a layer at the base. Open has already
// returned the problems of a directory that the user named.
func (s *Source) Config(ctx context.Context) (normalize.ConfigRead, error) {
	entries, err := s.git.list(ctx, s.baseSHA)
	if err != nil {
		return normalize.ConfigRead{}, fmt.Errorf("list the files at the root of %s: %w", s.baseName, err)
	}
	read := normalize.ConfigRead{Config: s.config, RootFiles: rootFiles(entries)}
	for _, e := range entries {
		if e.kind != "blob" {
			continue
		}
		switch e.path {
		case normalize.AttributesFile:
			read.Attributes, err = s.git.blob(ctx, e.sha, normalize.MaxAttributes+1)
		case normalize.ExceptionsFile:
			read.Exceptions, err = s.git.blob(ctx, e.sha, normalize.MaxExceptions+1)
		}
		if err != nil {
			return normalize.ConfigRead{}, fmt.Errorf("read %s of %s: %w", e.path, s.baseName, err)
		}
	}
	return read, nil
}

func (s *Source) loadConfig(ctx context.Context) (*config.Config, error) {
	if err := valid(s.below, "the server's and the organisation's config together are"); err != nil {
		return nil, err
	}
	layer := config.Layer{Name: config.LayerRepository, Source: s.baseName + "@" + s.baseSHA}
	var err error
	if s.configDir != "" {
		if layer, err = s.directoryLayer(); err != nil {
			return nil, err
		}
	} else if layer.Files, err = s.git.configFiles(ctx, s.baseSHA); err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", config.RepositoryDir, s.baseName, err)
	}
	c := s.load(layer)
	c.InForce.Problems = append(c.InForce.Problems, c.Weakened()...)
	return c, nil
}

// load merges a layer with those below it. The config lists the layer's problems.
func (s *Source) load(layer config.Layer) *config.Config {
	layers := slices.Clip(s.below)
	if len(layer.Files) > 0 {
		layers = append(layers, layer)
	}
	c, _ := config.Load(layers...)
	return c
}

// configFiles reads the config files at a commit. An entry that is not a file has no
// text. The loader reports such an entry, and a file or a link in the place of the directory or of its
// parent.
func (g *git) configFiles(ctx context.Context, commit string) ([]config.File, error) {
	entries, err := g.list(ctx, commit, path.Dir(config.RepositoryDir), config.RepositoryDir, config.RepositoryDir+"/")
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e treeEntry) bool { return e.kind == "tree" && !config.IsFile(path.Base(e.path)) })
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = e.path
	}
	ofLayer := ofLayer(paths)
	var files []config.File
	for _, e := range entries {
		if !slices.Contains(ofLayer, e.path) {
			continue
		}
		f := config.File{Path: e.path, BlobSHA: e.sha}
		if name := path.Base(e.path); e.kind == "blob" && config.IsFile(name) { // the loader refuses the others by their names
			if f.Text, err = g.blob(ctx, f.BlobSHA, config.MaxBytes(name)); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// ofLayer returns the paths of the repository's layer.
func ofLayer(paths []string) []string {
	var picked, names []string
	for _, p := range paths {
		switch {
		case config.IsPlace(p): // a file or a link
			picked = append(picked, p)
		case path.Dir(p) == config.RepositoryDir:
			names = append(names, path.Base(p))
		}
	}
	for _, name := range config.OfLayer(names) {
		picked = append(picked, path.Join(config.RepositoryDir, name))
	}
	return picked
}

// rootFiles returns the names of the files at the root, or nil if there are too many.
func rootFiles(entries []treeEntry) []string {
	var names []string
	for _, e := range entries {
		if e.kind == "blob" {
			names = append(names, e.path)
		}
	}
	if len(names) > maxRootFiles {
		return nil
	}
	return names
}

// treeEntry is an entry of a directory at a commit.
type treeEntry struct{ kind, sha, path string }

// list lists the entries of the paths at a commit, by default those of the root. A path
// that ends with a slash stands for the content of a directory. In the index, a directory has
// no entry, and its path stands for all files in it.
func (g *git) list(ctx context.Context, commit string, paths ...string) ([]treeEntry, error) {
	if commit == theIndex {
		return g.listIndex(ctx, paths...)
	}
	out, err := g.output(ctx, append([]string{"ls-tree", "-z", "--full-tree", commit}, paths...)...)
	if err != nil {
		return nil, err
	}
	var entries []treeEntry
	for _, entry := range splitNul(out) {
		meta, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(meta); len(fields) == 3 { // mode, type, SHA
			entries = append(entries, treeEntry{fields[1], fields[2], name})
		}
	}
	return entries, nil
}

// blob reads the first bytes of a file, up to most.
func (g *git) blob(ctx context.Context, sha string, most int64) (text []byte, err error) {
	err = g.stream(ctx, func(r io.Reader) error {
		var err error
		if text, err = io.ReadAll(io.LimitReader(r, most)); err == nil && int64(len(text)) == most {
			err = errEnough
		}
		return err
	}, "cat-file", "blob", sha)
	return text, err
}

// directoryLayer reads a directory that the user named. It must have config files, and
// they must be valid.
func (s *Source) directoryLayer() (layer config.Layer, err error) {
	dir := s.configDir
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return layer, fmt.Errorf("%s is not a directory that can be read: name one with config files", dir)
	}
	if layer, err = config.ReadDir(config.LayerRepository, dir); err != nil {
		return layer, err
	}
	if len(layer.Files) == 0 {
		return layer, fmt.Errorf("%s holds none of the config files %s", dir, strings.Join(config.FileNames(), ", "))
	}
	return layer, valid(append(slices.Clip(s.below), layer), "the config in "+dir+" is")
}

// valid returns an error with the problems of layers. what is the subject of the error's
// text, with its verb.
func valid(layers []config.Layer, what string) error {
	_, problems := config.Load(layers...)
	if len(problems) == 0 {
		return nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, config.FormatProblem(p))
	}
	return fmt.Errorf("%s not valid:\n%s", what, strings.Join(lines, "\n"))
}
