package gh

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
)

// maxConfigFile bounds a config file, in bytes. One byte more is read of a
// larger one, so that the loader sees that it is too large.
const maxConfigFile = 1 << 20

// maxEntries is how many entries of a directory GitHub lists.
const maxEntries = 1000

// rawBlob is the media type for a file's text as it is.
const rawBlob = "application/vnd.github.raw+json"

// entry is an entry of a directory.
type entry struct {
	Name string `json:"name"`
	Path string `json:"path"`
	SHA  string `json:"sha"`
	Type string `json:"type"` // file, dir, symlink or submodule
	URL  string `json:"url"`
}

// listing is what there is in the place of a directory.
type listing struct{ entries []entry }

// UnmarshalJSON takes the two answers that GitHub has: an array for a
// directory, and an object for anything else of that name. The latter holds no
// config.
func (l *listing) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte("[")) {
		return json.Unmarshal(text, &l.entries)
	}
	var other entry
	if err := json.Unmarshal(text, &other); err != nil {
		return err
	}
	return wholeIf(other.Type != "")
}

// whole refuses a directory without entries, which git has no way to keep.
func (l *listing) whole() error {
	if l.entries != nil && len(l.entries) == 0 {
		return errNotWhole
	}
	return wholeList(l.entries, func(e entry) bool { return e.Name != "" && e.SHA != "" && e.Type != "" })
}

// ReadConfig reads the repository's config from the tip of its default branch,
// which is never the pull request's own say. The listing is one call; texts
// that were read before are known by their SHA.
func (c *Client) ReadConfig(ctx context.Context, t review.Target, _ string) (review.ConfigRead, error) {
	source, files, err := c.configFiles(ctx, t)
	return review.ConfigRead{Repository: review.ConfigSource{Source: source, Files: files}}, err
}

// ProposedConfig reads the repository's layer as it is at a commit.
func (c *Client) ProposedConfig(context.Context, review.Target, string) (review.ConfigSource, error) {
	return review.ConfigSource{}, nil
}

func (c *Client) configFiles(ctx context.Context, t review.Target) (string, []review.ConfigBlob, error) {
	source := t.Owner + "/" + t.Name
	const op = "list the repository's config"
	var listed listing
	_, err := c.do(ctx, t, request{
		op: op, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/contents/" + config.RepositoryDir, args: []any{t.Owner, t.Name},
	}, asJSON(&listed))
	if isNotFound(err) {
		return source, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if len(listed.entries) >= maxEntries {
		return "", nil, tooMany(op, maxEntries-1) // a config file may be among the others
	}
	entries := slices.DeleteFunc(listed.entries, func(e entry) bool { return !slices.Contains(config.FileNames(), e.Name) })
	blobs := make([]review.ConfigBlob, len(entries))
	g, gctx := errgroup.WithContext(ctx)
	for i, e := range entries {
		g.Go(func() error {
			text, err := c.configText(gctx, t, e)
			blobs[i] = review.ConfigBlob{Layer: config.LayerRepository, Path: e.Path, BlobSHA: e.SHA, Text: text}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return "", nil, err
	}
	if ref := refOf(entries); ref != "" {
		source += "@" + ref
	}
	return source, blobs, nil
}

// refOf is the branch that was listed: GitHub names it in each entry's URL.
func refOf(entries []entry) string {
	for _, e := range entries {
		if u, err := url.Parse(e.URL); err == nil && u.Query().Get("ref") != "" {
			return u.Query().Get("ref")
		}
	}
	return ""
}

// configText reads one config file. What is no file has no text; the loader
// then says so, instead of the review going on as if it weren't there. A
// symbolic link's text is its target, which is no config either.
func (c *Client) configText(ctx context.Context, t review.Target, e entry) ([]byte, error) {
	if e.Type != "file" && e.Type != "symlink" {
		return nil, nil
	}
	var text []byte
	_, err := c.do(ctx, t, request{
		op: "read " + e.Name, method: http.MethodGet, accept: rawBlob,
		path: "/repos/{owner}/{repo}/git/blobs/{file_sha}", args: []any{t.Owner, t.Name, e.SHA},
		pinned: true, first: maxConfigFile + 1,
	}, func(r io.Reader) (err error) {
		if text, err = io.ReadAll(r); err != nil {
			return err
		}
		if len(text) <= maxConfigFile && !isBlob(text, e.SHA) {
			return fmt.Errorf("the text of %s is not what its SHA says", e.Name)
		}
		return nil
	})
	return text, err
}

// isBlob reports whether git names a file of the text so. A proxy that cuts a
// raw text off leaves no other trace.
func isBlob(text []byte, sha string) bool {
	h := sha1.New()
	if len(sha) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)) == sha
}
