package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// group commits writes together, since each commit costs a sync to disk. One
// goroutine runs all waiting functions, each within a savepoint of its own, and
// commits once. Writes that arrive during the sync share the next commit. A single
// write does not wait for others: it is committed at once.
type group struct {
	first, rest chan *pending // deliveries go before the others
	closing     chan struct{}
	once        sync.Once
	wg          sync.WaitGroup
}

// maxUrgent bounds how long other writes may join a group in which a delivery waits for the commit.
// Without it, a flood of events at the API fills each group, and all deliveries wait for them. With no
// time at all, reviews would stop while deliveries pour in.
const maxUrgent = 5 * time.Millisecond

// maxGroup bounds how long one transaction keeps River and other programs
// waiting: 64 deliveries take about 20 ms.
const maxGroup = 64

// pending is a write on its way. err and panicked may be read once done is
// closed.
type pending struct {
	ctx      context.Context
	do       func(tx) error
	urgent   bool // a delivery
	err      error
	panicked any
	done     chan struct{}
}

func newGroup() *group {
	return &group{first: make(chan *pending), rest: make(chan *pending), closing: make(chan struct{})}
}

// start starts the goroutine that writes. commit gets the first write, and must
// call next for more until next returns nil. others says whether writes other than deliveries may join.
func (g *group) start(commit func(first *pending, next func(others bool) *pending)) {
	g.wg.Go(func() {
		for {
			select {
			case <-g.closing:
				return
			case p := <-g.first:
				commit(p, g.next)
			case p := <-g.rest:
				commit(p, g.next)
			}
		}
	})
}

// next returns a waiting write, deliveries first, or nil. Without others it returns deliveries only.
func (g *group) next(others bool) *pending {
	select {
	case p := <-g.first:
		return p
	default:
	}
	if !others {
		return nil
	}
	select {
	case p := <-g.first:
		return p
	case p := <-g.rest:
		return p
	default:
		return nil
	}
}

func (g *group) stop() {
	g.once.Do(func() { close(g.closing) })
	g.wg.Wait()
}

// write hands f to the goroutine that writes and waits for the commit. If ctx ends
// before the goroutine takes f, f does not run. After that, f runs to its end.
func (g *group) write(ctx context.Context, queue chan<- *pending, f func(tx) error) error {
	p := &pending{ctx: ctx, do: f, urgent: queue == g.first, done: make(chan struct{})}
	select {
	case queue <- p:
	case <-g.closing:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("wait to write: %w", ctx.Err())
	}
	<-p.done
	if p.panicked != nil {
		panic(p.panicked) // here the caller's guard can recover it
	}
	return p.err
}

// commitGroup runs writes in one transaction. If one write fails, only that write is
// rolled back. If the transaction fails, all of them fail.
func (d *sqliteDB) commitGroup(first *pending, next func(others bool) *pending) {
	var all []*pending
	begun, urgent := time.Now(), false
	err := d.transact(func(t *sqliteTx) error {
		for p := first; p != nil; p = next(!urgent || time.Since(begun) < maxUrgent) {
			all = append(all, p)
			urgent = urgent || p.urgent
			if p.run(t); errors.Is(p.err, errBroken) {
				return p.err
			}
			if len(all) == maxGroup {
				break
			}
		}
		return nil
	})
	if len(all) == 0 { // the transaction could not begin
		all = append(all, first)
	}
	for _, p := range all {
		if err != nil {
			p.err = err // even a write that failed may have read what is rolled back now
		}
		close(p.done)
	}
}

// run runs the write within a savepoint, so that a failure rolls back this write only.
func (p *pending) run(t *sqliteTx) {
	if p.err = p.ctx.Err(); p.err != nil {
		return
	}
	p.err = t.savepoint(func() (err error) {
		defer func() {
			if p.panicked = recover(); p.panicked != nil {
				err = fmt.Errorf("panic: %v", p.panicked)
			}
		}()
		return p.do(t)
	})
}

// transact runs f in a transaction and wakes the queues that f inserted jobs
// into. No context may interrupt it: SQLite rolls back the whole transaction if
// a statement that writes is interrupted.
func (d *sqliteDB) transact(f func(*sqliteTx) error) error {
	sqltx, err := d.w.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	defer sqltx.Rollback() // after a commit it does nothing
	t := &sqliteTx{tx: sqltx, jobs: d.jobs, whole: true, inserted: map[string]bool{}}
	if err := f(t); err != nil {
		return err
	}
	if err := sqltx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	d.writes.Add(1)
	for queue := range t.inserted {
		d.wakeup.wake(queue)
	}
	return nil
}

// errBroken says that a transaction can't go on.
var errBroken = errors.New("transaction aborted")

// savepoint runs f. If f fails, only what f wrote is rolled back. An error that
// wraps errBroken says that the whole transaction is lost.
func (t *sqliteTx) savepoint(f func() error) error {
	ctx := context.Background()
	if _, err := t.exec(ctx, "SAVEPOINT item"); err != nil {
		return fmt.Errorf("%w: set a savepoint: %w", errBroken, err)
	}
	ferr := f()
	if ferr != nil {
		// SQLite rolls back the whole transaction after errors such as a full
		// disk. Then the savepoint is gone.
		if _, err := t.exec(ctx, "ROLLBACK TO item"); err != nil {
			return fmt.Errorf("%w: roll back to a savepoint: %w", errBroken, errors.Join(err, ferr))
		}
	}
	if _, err := t.exec(ctx, "RELEASE item"); err != nil {
		return fmt.Errorf("%w: release a savepoint: %w", errBroken, err)
	}
	return ferr
}

// sqliteTx is a tx on *sql.Tx.
type sqliteTx struct {
	tx       *sql.Tx
	jobs     *riverJobs[*sql.Tx] // set for writes
	whole    bool                // statements ignore the end of their contexts
	inserted map[string]bool     // queues with new jobs
}
