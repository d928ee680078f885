package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// postgresDB is a backend on a PostgreSQL database that several processes may
// share.
type postgresDB struct {
	pool      *pgxpool.Pool
	jobs      *riverJobs[pgx.Tx]
	processes *processes
	closed    atomic.Bool
}

var _ backend = (*postgresDB)(nil)

// openPostgres connects, brings the tables up to date, and adds this process to the
// table of processes.
func openPostgres(ctx context.Context, rawURL, process string, timing timing, log *slog.Logger) (_ *postgresDB, err error) {
	cfg, err := postgresConfig(rawURL)
	if err != nil {
		return nil, err
	}
	db := &postgresDB{}
	defer func() {
		if err != nil {
			err = errors.Join(explainPostgres(cfg.ConnConfig, err), db.close())
		}
	}()
	if db.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("create the connection pool: %w", err)
	}
	if err := checkServer(ctx, db.pool); err != nil {
		return nil, err
	}
	if db.jobs, err = newRiverJobs(riverdriver.Driver[pgx.Tx](riverpgxv5.New(db.pool)), log); err != nil {
		return nil, err
	}
	if err := migratePostgres(ctx, db.pool, db.jobs, log); err != nil {
		return nil, err
	}
	db.processes, err = startProcess(ctx, db.pool, process, timing, log)
	return db, err
}

// read runs f on one snapshot. It never waits for writers.
func (d *postgresDB) read(ctx context.Context, f func(tx) error) error {
	return d.transact(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
}

// attempts is how often write tries a transaction that PostgreSQL aborts because of
// another one.
const attempts = 8

// write runs f under READ COMMITTED: the package comment says why that is
// enough. f may run several times: if transactions wait for each other, PostgreSQL
// aborts one of them.
func (d *postgresDB) write(ctx context.Context, f func(tx) error) error {
	for n := 1; ; n++ {
		err := d.transact(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f)
		if n == attempts || !again(err) {
			return err
		}
	}
}

// writeFirst is the same as write: PostgreSQL has no queue of writes.
func (d *postgresDB) writeFirst(ctx context.Context, f func(tx) error) error { return d.write(ctx, f) }

// again reports whether PostgreSQL rolled back a transaction that may succeed the
// next time: after a serialization failure, a deadlock, or a reference to a text that
// Prune has just deleted.
func again(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01" || e.Code == "23503")
}

func (d *postgresDB) transact(ctx context.Context, opts pgx.TxOptions, f func(tx) error) error {
	t, err := d.pool.BeginTx(ctx, opts)
	if err != nil {
		if d.closed.Load() {
			return ErrClosed
		}
		return fmt.Errorf("begin a transaction: %w", err)
	}
	defer func() {
		// After a commit this does nothing. If it fails, the pool closes the
		// connection, which rolls the transaction back too.
		_ = t.Rollback(context.WithoutCancel(ctx))
	}()
	if err := f(&postgresTx{tx: t, jobs: d.jobs}); err != nil {
		return err
	}
	// The end of ctx must not interrupt a commit: the commit may succeed all the same,
	// and the caller would not know that it holds a lease.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	return wrap(t.Commit(limited), "commit")
}

// commitTimeout bounds how long a commit may take.
const commitTimeout = 10 * time.Second

func (d *postgresDB) runner(cfg *river.Config) (runner, error) {
	cfg.ID = d.processes.name
	c, err := river.NewClient(d.jobs.driver, cfg)
	if err != nil {
		return nil, fmt.Errorf("create the queue's client: %w", err)
	}
	return c, nil
}

// lone is false: there may be other processes.
func (d *postgresDB) lone() bool { return false }

// there returns nil: if the server is gone, reads and writes fail.
func (d *postgresDB) there() error { return nil }

func (d *postgresDB) now() time.Time { return d.processes.now() }

// bury frees what dead processes held.
func (d *postgresDB) bury(ctx context.Context) (n int, err error) {
	names, err := d.processes.dead(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		buried, err := d.buryOne(ctx, name, false)
		if err != nil {
			return n, fmt.Errorf("take over from process %s: %w", name, err)
		}
		if buried {
			n++
		}
	}
	return n, nil
}

// buryOne frees what a process held: its leases expire at once, and its running jobs
// become available. It does nothing if another process did so meanwhile, or if the
// process sends heartbeats again and alive is false.
func (d *postgresDB) buryOne(ctx context.Context, name string, alive bool) (buried bool, err error) {
	err = d.write(ctx, func(t tx) error {
		n, err := t.exec(ctx, `DELETE FROM processes WHERE name = ? AND (until < clock_timestamp() OR ?)`, name, alive)
		if buried = n > 0; err != nil || !buried {
			return err
		}
		if _, err := d.jobs.adopt(ctx, t.(*postgresTx).tx, name); err != nil {
			return err
		}
		_, err = t.exec(ctx, `UPDATE leases SET until = 0 WHERE owner = ?`, name)
		return wrap(err, "end the leases")
	})
	return buried && err == nil, err
}

func (d *postgresDB) close() error {
	var err error
	if d.processes != nil {
		d.processes.stop()
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if _, err = d.buryOne(ctx, d.processes.name, true); err != nil {
			err = fmt.Errorf("delete the process's record: %w", err)
		}
	}
	d.closed.Store(true)
	if d.pool != nil {
		d.pool.Close()
	}
	return err
}

// closeTimeout bounds how long a process takes to sign off. If it can't, the others soon
// count it as dead.
const closeTimeout = 5 * time.Second
