package store

import (
	"context"
	"errors"
	"sync"

	"github.com/reviewgate/reviewgate/app/review"
)

// intake commits deliveries in groups. A commit costs a sync to disk, so one
// goroutine writes, and each commit takes along whatever arrived while the one
// before was being synced. Nothing waits for company: a lone delivery is
// committed at once.
type intake struct {
	requests chan *request
	closing  chan struct{}
	once     sync.Once
	wg       sync.WaitGroup
}

// maxBatch bounds how long one transaction keeps other writers waiting: 64
// deliveries take about 20 ms.
const maxBatch = 64

// request is a delivery on its way. res and err may be read once done is
// closed.
type request struct {
	ctx      context.Context
	delivery review.Delivery
	res      review.Accepted
	err      error
	done     chan struct{}
}

func (in *intake) start(commit func([]*request)) {
	in.requests = make(chan *request)
	in.closing = make(chan struct{})
	in.wg.Go(func() {
		for {
			select {
			case <-in.closing:
				return
			case first := <-in.requests:
				batch := in.gather(first)
				commit(batch)
				for _, r := range batch {
					close(r.done)
				}
			}
		}
	})
}

func (in *intake) gather(first *request) []*request {
	batch := []*request{first}
	for len(batch) < maxBatch {
		select {
		case r := <-in.requests:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

func (in *intake) stop() {
	in.once.Do(func() { close(in.closing) })
	in.wg.Wait()
}

// Accept implements review.Store. If ctx ends first, the delivery may have
// been stored all the same: a redelivery of it is then a duplicate.
func (s *Store) Accept(ctx context.Context, d review.Delivery) (review.Accepted, error) {
	r := &request{ctx: ctx, delivery: d, done: make(chan struct{})}
	select {
	case s.intake.requests <- r:
	case <-s.intake.closing:
		return review.Accepted{}, ErrClosed
	case <-ctx.Done():
		return review.Accepted{}, ctx.Err()
	}
	select {
	case <-r.done:
		return r.res, r.err
	case <-ctx.Done():
		return review.Accepted{}, ctx.Err()
	}
}

// commitBatch stores deliveries in one transaction. One that can't be stored
// is undone alone; if the transaction fails, all of them failed.
func (s *Store) commitBatch(batch []*request) {
	ctx := context.Background() // of no single request: the others want their answer
	err := s.db.writeFirst(ctx, func(t tx) error {
		for _, r := range batch {
			if r.err = r.ctx.Err(); r.err != nil {
				continue
			}
			r.err = t.savepoint(ctx, func() (err error) {
				r.res, err = s.accept(ctx, t, r.delivery)
				return err
			})
			if errors.Is(r.err, errBroken) {
				return r.err
			}
		}
		return nil
	})
	for _, r := range batch {
		if err != nil {
			r.err = err
		}
		if r.err != nil {
			r.res = review.Accepted{}
		}
	}
}
