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

// timing decides how soon a process counts as dead.
type timing struct {
	beat   time.Duration // the time between two heartbeats of a process
	ttl    time.Duration // the time without a heartbeat after which a process counts as dead
	settle time.Duration // how long a process must send heartbeats without a gap before it judges others
}

// deadAfter is the time without a heartbeat after which a process counts as dead. It is a
// string so that the linker's flag -X can set it: tests that kill the whole program wait
// that long, and are linked with a shorter time.
var deadAfter = "10s"

// defaultTiming lets others take over from a killed process within 10 s and one
// round of Rescue. If the database was unreachable for a while, no process counts as dead
// for that: all send heartbeats again before any of them may judge others.
var defaultTiming = func() timing {
	ttl, err := time.ParseDuration(deadAfter)
	if err != nil {
		panic(err) // the linker set a wrong value
	}
	return timing{beat: ttl / 5, ttl: ttl, settle: ttl * 3 / 5}
}()

// processes is this process's row in the table of processes. All times in that table
// are by the database's clock.
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

// startProcess adds the process to the table and keeps sending its heartbeats.
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
		// The end of ctx does not interrupt a heartbeat: otherwise the server might
		// process it after close has deleted the row.
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
		return fmt.Errorf("record that the process is alive: %w", err)
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

// gap is the longest time between two heartbeats that counts as no gap.
func (p *processes) gap() time.Duration { return 2 * p.beat }

// now is the time by the database's clock, so that processes on machines whose
// clocks differ agree on when a lease expires.
func (p *processes) now() time.Time { return time.Now().Add(time.Duration(p.offset.Load())) }

// dead lists the other processes whose heartbeats have stopped. It lists none until this
// process has sent its own without a gap for timing.settle.
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
