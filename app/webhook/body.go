package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// Who sends a body is not known before all of it has been read. Without a
// bound, anyone could fill the memory with connections of 25 MB each.
const (
	// freeBody is what any request may send: more than most of GitHub's
	// payloads. A thousand senders who stop there take 32 MB.
	freeBody = 32 << 10
	// firstBuffer is what a promise of length alone may take.
	firstBuffer = 16 << 10
	// maxReading is what larger bodies may take together: four of the largest.
	maxReading = 4 * MaxBody
	// maxWait for that leaves half of the 10 s in which GitHub wants an answer.
	maxWait = 5 * time.Second
)

var errBusy = errors.New("too many large bodies at once")

// body is a request's body, and its share of what large ones may take.
type body struct {
	text  []byte
	large *semaphore.Weighted
	held  int64
}

// read reads the body, of the length that the request promises (-1 for none)
// and of max bytes at most. The error is errBusy where a large body has to
// wait for too long, and a *http.MaxBytesError for one that is too large.
func (b *body) read(w http.ResponseWriter, r *http.Request, max int64) error {
	from := http.MaxBytesReader(w, r.Body, max)
	size := r.ContentLength
	if size < 0 {
		size = max
	}
	start := bytes.NewBuffer(make([]byte, 0, min(size+bytes.MinRead, firstBuffer)))
	if _, err := start.ReadFrom(io.LimitReader(from, freeBody)); err != nil || start.Len() < freeBody {
		b.text = start.Bytes()
		return err
	}
	if err := b.hold(r.Context(), size); err != nil {
		return err
	}
	// ReadFrom wants room for MinRead bytes to see the end without growing.
	all := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	all.Write(start.Bytes())
	_, err := all.ReadFrom(from)
	b.text = all.Bytes()
	return err
}

func (b *body) hold(ctx context.Context, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if b.large.Acquire(ctx, size) != nil {
		return errBusy
	}
	b.held = size
	return nil
}

// release gives the share back. The text must not be used after.
func (b *body) release() {
	b.large.Release(b.held)
	b.text, b.held = nil, 0
}
