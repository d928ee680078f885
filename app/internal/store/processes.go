package store

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// timing is how soon a dead process is told from a live one.
type timing struct {
	beat   time.Duration // how often a process says that it lives
	ttl    time.Duration // after how long without a beat it counts as dead
	settle time.Duration // how long a process must have beaten without a gap before it judges others
}

// deadAfter is after how long without a beat a process counts as dead. It is a text
// for the linker's flag -X: trials that kill the whole program wait for it, and are
// linked with less.
var deadAfter = "10s"

// defaultTiming has what a killed process held taken up within 10 s and one
// round of Rescue. A process is not taken for dead because the database was
// away: once that is back, each beats again before any may judge.
var defaultTiming = func() timing {
	ttl, err := time.ParseDuration(deadAfter)
	if err != nil {
		panic(err) // it was linked so
	}
	return timing{beat: ttl / 5, ttl: ttl, settle: ttl * 3 / 5}
}()

// processes is this process's place in the list of those at work. All times
// in that list are by the database's clock.
type processes struct {
	timing
	pool   *pgxpool.Pool
	name   string
	log    *slog.Logger
	offset atomic.Int64 // of the database's clock from ours, in nanoseconds

	mu    sync.Mutex
	since time.Time // when the beats without a gap began
	last  time.Time // when the last of them was heard

	stop func()
}

// startProcess enters the process into the list and keeps it there.
func startProcess(ctx context.Context, pool *pgxpool.Pool, name string, timing timing, log *slog.Logger) (*processes, error) {
	p := &processes{timing: timing, pool: pool, name: name, log: log}
	if err := p.beatOnce(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { p.beatOn(ctx) })
	p.stop = func() { cancel(); wg.Wait() }
	return p, nil
}

func (p *processes) beatOn(ctx context.Context) {
	tick := time.NewTicker(p.beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// A beat that is under way is waited for: the server could do it after the
		// process has left the list.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.ttl/2)
		if err := p.beatOnce(limited); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "other processes may take this one for dead", "err", err)
		}
		cancel()
	}
}

func (p *processes) beatOnce(ctx context.Context) error {
	var there time.Time
	before := time.Now()
	err := p.pool.QueryRow(ctx, `
		INSERT INTO processes (name, until) VALUES ($1, clock_timestamp() + $2)
		ON CONFLICT (name) DO UPDATE SET until = excluded.until RETURNING clock_timestamp()`, p.name, p.ttl).Scan(&there)
	if err != nil {
		return fmt.Errorf("say that the process lives: %w", err)
	}
	after := time.Now()
	p.offset.Store(int64(there.Sub(before.Add(after.Sub(before) / 2))))
	p.mu.Lock()
	defer p.mu.Unlock()
	if after.Sub(p.last) > p.gap() {
		p.since = after
	}
	p.last = after
	return nil
}

// gap is how far apart two beats may be for none to be missing between them.
func (p *processes) gap() time.Duration { return 2 * p.beat }

// now is the time by the database's clock, so that processes on machines whose
// clocks differ agree on when a lease expires.
func (p *processes) now() time.Time { return time.Now().Add(time.Duration(p.offset.Load())) }

// dead lists the other processes whose beats have stopped, once this one's go
// on without a gap.
func (p *processes) dead(ctx context.Context) ([]string, error) {
	p.mu.Lock()
	settled := p.last.Sub(p.since) >= p.settle && time.Since(p.last) <= p.gap()
	p.mu.Unlock()
	if !settled {
		return nil, nil
	}
	rows, err := p.pool.Query(ctx, `SELECT name FROM processes WHERE until < clock_timestamp() AND name <> $1`, p.name)
	if err != nil {
		return nil, fmt.Errorf("look for dead processes: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("look for dead processes: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
