package gh

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/reviewgate/reviewgate/app/ports"
)

// doPinned makes a call whose answer SHAs pin for ever. An answer is kept, by
// client, once it was read as a whole and found to be what it should be.
func (c *api) doPinned(ctx context.Context, t ports.Target, r request, read reader) (links, error) {
	path, err := r.url()
	if err != nil {
		return links{}, hostError(r.op, err)
	}
	key := fmt.Sprintf("%s %s %d %s", clientKey(r.scope, t), r.accept, r.first, path)
	if text, ok := c.pinned.get(key); ok {
		return links{}, hostError(r.op, read(bytes.NewReader(text)))
	}
	var text []byte
	_, err = c.ask(ctx, t, r, func(body io.Reader) (err error) {
		if r.first > 0 {
			body = io.LimitReader(body, r.first)
		}
		if text, err = io.ReadAll(body); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return read(bytes.NewReader(text))
	})
	if err == nil {
		c.pinned.add(key, text, int64(len(text)))
	}
	return links{}, err
}
