package model

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
)

// Round is what the questions of one review have in common: the code that fences what is
// data in them, and whose turn it is to ask. With one code, questions about the same files
// begin with the same bytes, which APIs keep: what the first question has read costs the
// others a tenth. The zero value is ready to use.
type Round struct {
	mu    sync.Mutex
	code  string
	begun map[[sha256.Size]byte]chan struct{} // closed once an answer began to come
}

// longestTurn is how long a question waits for the answer to another that begins like it.
// APIs that don't stream answers don't say when they have read a question; that takes some
// seconds.
const longestTurn = 5 * time.Second

// turn waits until a model has read what a question shares with others. The first that comes
// with it doesn't wait: the others do until it calls done. The error is that of ctx.
func (r *Round) turn(ctx context.Context, model string, q llm.Question) (done func(), err error) {
	if q.Shared == "" {
		return func() {}, nil
	}
	key := sha256.Sum256([]byte(model + "\x00" + q.System + "\x00" + q.Shared))
	r.mu.Lock()
	begun, waits := r.begun[key]
	if !waits {
		if r.begun == nil {
			r.begun = map[[sha256.Size]byte]chan struct{}{}
		}
		begun = make(chan struct{})
		r.begun[key] = begun
	}
	r.mu.Unlock()
	if !waits {
		return sync.OnceFunc(func() { close(begun) }), nil
	}
	after := time.NewTimer(longestTurn)
	defer after.Stop()
	select {
	case <-begun:
	case <-after.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return func() {}, nil
}

// shared is the code of the review. The first that asks for it draws it.
func (r *Round) shared(draw func() (string, error)) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.code == "" {
		r.code, err = draw()
	}
	return r.code, err
}
