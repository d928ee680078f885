package gh

import (
	"context"
	"encoding/json"
	"errors"
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

// entry is an entry of a directory.
type entry struct {
	Name string `json:"name"`
	Path string `json:"path"`
	SHA  string `json:"sha"`
	Type string `json:"type"` // file, dir, symlink or submodule
	URL  string `json:"url"`
}

// ConfigFiles reads the repository's config from the tip of its default
// branch, which is never the pull request's own say. The listing is one call;
// texts that were read before are known by their SHA.
func (c *Client) ConfigFiles(ctx context.Context, t review.Target) (string, []review.ConfigBlob, error) {
	source := t.Owner + "/" + t.Name
	var text json.RawMessage
	_, err := c.do(ctx, t, request{
		op: "list the repository's config", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/contents/" + config.RepositoryDir, args: []any{t.Owner, t.Name},
	}, asJSON(&text))
	if isNotFound(err) {
		return source, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	var entries []entry
	if json.Unmarshal(text, &entries) != nil {
		return source, nil, nil //nolint:nilerr // a file of that name, no directory: there is no config
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !slices.Contains(config.FileNames(), e.Name) })
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
	key := fmt.Sprintf("%d/%s", t.RepoID, e.SHA)
	if text, ok := c.blobs.get(key); ok {
		return text, nil
	}
	var text []byte
	_, err := c.do(ctx, t, request{
		op: "read " + e.Name, method: http.MethodGet, accept: "application/vnd.github.raw+json",
		path: "/repos/{owner}/{repo}/git/blobs/{file_sha}", args: []any{t.Owner, t.Name, e.SHA},
	}, func(r io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(r, maxConfigFile+1))
		return err
	})
	if err != nil {
		return nil, err
	}
	c.blobs.add(key, text, int64(len(text)))
	return text, nil
}

func isNotFound(err error) bool {
	var host *review.HostError
	return errors.As(err, &host) && host.Kind == review.HostNotFound
}
