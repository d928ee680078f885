package gh

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

const (
	routeTree = "/repos/{owner}/{repo}/git/trees/{tree_sha}"
	// emptyTree is git's name for a directory without entries.
	emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
)

// treeEntry is an entry of a directory.
type treeEntry struct {
	Path string `json:"path"` // the entry's name
	Type string `json:"type"` // blob, tree, or commit for a submodule
	SHA  string `json:"sha"`
	Size int64  `json:"size"` // of a blob
}

// directory is git's listing of one directory.
type directory struct {
	SHA       string      `json:"sha"`
	Entries   []treeEntry `json:"tree"`
	Truncated *bool       `json:"truncated"`

	asked string // the tree's SHA if the request named it, otherwise empty
	moved bool   // the repository has another name now
}

// whole refuses an answer about another tree, and a directory without entries. Git
// stores no empty directories except the root.
func (d *directory) whole() error {
	return errors.Join(
		wholeIf(shaPattern.MatchString(d.SHA) && d.Entries != nil && d.Truncated != nil),
		wholeIf(d.asked == "" || d.SHA == d.asked && len(d.Entries) > 0),
		wholeList(d.Entries, func(e treeEntry) bool { return e.Path != "" && e.Type != "" && shaPattern.MatchString(e.SHA) }),
	)
}

func (d *directory) find(name string) (treeEntry, bool) {
	i := slices.IndexFunc(d.Entries, func(e treeEntry) bool { return e.Path == name })
	if i < 0 {
		return treeEntry{}, false
	}
	return d.Entries[i], true
}

// files returns the names of the files, or nil if there are too many.
func (d *directory) files() []string {
	var names []string
	for _, e := range d.Entries {
		if e.Type == "blob" {
			names = append(names, e.Path)
		}
	}
	if len(names) > maxRootFiles {
		return nil
	}
	return names
}

// root reads the directory at the root of a ref or a commit.
func (tr treeReader) root(ctx context.Context, rev string) (*directory, error) {
	d, err := tr.read(ctx, rev, "")
	if err == nil && len(d.Entries) == 0 {
		err = tr.confirmEmpty(ctx, d.SHA)
	}
	return d, err
}

// confirmEmpty makes sure that a commit has no files: an empty list may be a
// truncated one.
func (tr treeReader) confirmEmpty(ctx context.Context, sha string) error {
	if sha == emptyTree {
		return nil
	}
	var commit struct {
		Tree struct {
			SHA string `json:"sha"`
		} `json:"tree"`
	}
	_, err := tr.client.do(ctx, tr.target, request{
		op: tr.op, scope: tr.scope, budget: tr.budget, method: http.MethodGet, pinned: true,
		path: "/repos/{owner}/{repo}/git/commits/{commit_sha}", args: []any{tr.target.Owner, tr.target.Name, sha},
	}, func(body io.Reader) error {
		if err := asJSON(&commit)(body); err != nil {
			return err
		}
		return wholeIf(commit.Tree.SHA == emptyTree)
	})
	if isNotFound(err) { // the SHA is not a commit's
		return hostError(tr.op, errNotWhole)
	}
	return err
}

// tree reads a directory by the SHA that another directory names.
func (tr treeReader) tree(ctx context.Context, sha string) (*directory, error) {
	return tr.read(ctx, sha, sha)
}

func (tr treeReader) read(ctx context.Context, rev, tree string) (*directory, error) {
	r := request{
		op: tr.op, scope: tr.scope, budget: tr.budget, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/git/trees", args: []any{tr.target.Owner, tr.target.Name}, route: routeTree,
		pinned: shaPattern.MatchString(rev),
	}
	for part := range strings.SplitSeq(rev, "/") { // a ref's slashes are not escaped
		r.path, r.args = r.path+"/{tree_sha}", append(r.args, part)
	}
	var d *directory
	l, err := tr.client.do(ctx, tr.target, r, func(body io.Reader) error {
		d = &directory{asked: tree}
		if err := asJSON(d)(body); err != nil {
			return err
		}
		if *d.Truncated { // the missing entries may include config
			return &ports.HostError{Op: tr.op, Kind: ports.HostInvalid, Err: errTruncated}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.moved = l.moved
	return d, nil
}

var errTruncated = errors.New("the directory has more entries than GitHub lists")

const (
	// maxConfigFile is the size of the largest file that is cached by its SHA.
	maxConfigFile = config.MaxFileBytes
	// maxRootFiles bounds the number of file names at a repository's root. They are
	// stored with each review. If there are more, none is stored.
	maxRootFiles = 10_000
)

const (
	// rawBlob is the media type for a file's raw text.
	rawBlob = "application/vnd.github.raw+json"
	// defaultBranch is git's name for the tip of the default branch. It stays the
	// same when the branch is renamed.
	defaultBranch = "HEAD"
)

// treeReader reads config from a repository, with the token of its scope.
type treeReader struct {
	client *api
	target ports.Target // Owner and Name are those of the repository
	scope  scope
	budget *budget // may be nil
	op     string
}

// text reads one config file. It returns no text for anything else: the loader then
// reports a problem, and the review does not ignore the entry. A symbolic link's text is
// its target, which isn't config either.
func (tr treeReader) text(ctx context.Context, e treeEntry) ([]byte, error) {
	if e.Type != "blob" {
		return nil, nil
	}
	return tr.blob(ctx, e, config.MaxBytes(e.Path)) // enough for the loader to see that a file is too large
}

// blob reads the first bytes of a file.
func (tr treeReader) blob(ctx context.Context, e treeEntry, most int64) ([]byte, error) {
	var text []byte
	_, err := tr.client.do(ctx, tr.target, request{
		op: "read " + e.Path, scope: tr.scope, budget: tr.budget, method: http.MethodGet, accept: rawBlob,
		path: "/repos/{owner}/{repo}/git/blobs/{file_sha}", args: []any{tr.target.Owner, tr.target.Name, e.SHA},
		pinned: true, first: most,
	}, func(r io.Reader) (err error) {
		if text, err = io.ReadAll(r); err != nil {
			return err
		}
		if int64(len(text)) < most && !isBlob(text, e.SHA) {
			return fmt.Errorf("the text of %s is not what its SHA says", e.Path)
		}
		return nil
	})
	return text, err
}

// isBlob reports whether sha is git's name for a file with this text. If a proxy
// truncated a raw text, nothing else shows it.
func isBlob(text []byte, sha string) bool {
	h := sha1.New()
	if len(sha) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)) == sha
}
