package store

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// backend is the part of the store that differs between databases: transactions,
// River's driver, and how processes know of each other. All other SQL is written in the
// subset that SQLite and PostgreSQL share, with ? for parameters.
type backend interface {
	snapshots
	// write runs f in a transaction that is durable once write has returned
	// nil, and wakes the queue if f inserted jobs.
	write(ctx context.Context, f func(tx) error) error
	// writeFirst is write for deliveries: it goes before other waiting writes.
	writeFirst(ctx context.Context, f func(tx) error) error
	// runner makes a River client that runs jobs.
	runner(cfg *river.Config) (runner, error)
	// lone reports whether this process is the only one on the database. Then
	// all leases and running jobs at its start were left by a crash.
	lone() bool
	// now is the clock that all processes on the database share.
	now() time.Time
	// bury frees what dead processes held: their leases expire at once, and their
	// jobs become available. It returns the number of processes.
	bury(ctx context.Context) (n int, err error)
	// there returns an error if the database was deleted or replaced and reads and
	// writes would not notice.
	there() error
	close() error
}

// snapshots reads a database.
type snapshots interface {
	// read runs f on one snapshot of the database.
	read(ctx context.Context, f func(tx) error) error
}

// tx is a transaction.
type tx interface {
	exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	// row queries one row; its Scan gives sql.ErrNoRows if there is none.
	row(ctx context.Context, query string, args ...any) scanner
	// each calls f for each row.
	each(ctx context.Context, f func(scanner) error, query string, args ...any) error
	// lock returns the end of a SELECT that locks its rows until the transaction
	// ends.
	lock() string
	// lockFree is like lock, but skips rows that others have locked.
	lockFree() string
	// alone makes other transactions that call it with the same name wait until this
	// one ends, in all processes. It serves where there is no row to lock.
	alone(ctx context.Context, name string) error

	// insertJob inserts a job. If an equal job is alive, it inserts nothing and
	// returns that job's state.
	insertJob(ctx context.Context, j ports.Job) (alive rivertype.JobState, err error)
	// adoptJobs makes jobs that are marked as running available again, and
	// drops the leadership of River's maintenance. Only a lone process may call it.
	adoptJobs(ctx context.Context) (n int, err error)
}

type scanner interface {
	Scan(dest ...any) error
}

// wrap says what failed, if something did.
func wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(doing+": %w", append(args, err)...)
}

// list returns what scan makes of each row.
func list[T any](ctx context.Context, t tx, scan func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	err = t.each(ctx, func(row scanner) error {
		x, err := scan(row)
		all = append(all, x)
		return err
	}, query, args...)
	return all, err
}

// listNow is list on a snapshot of its own. doing says in an error what failed.
func listNow[T any](ctx context.Context, db snapshots, doing string, scan func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	err = db.read(ctx, func(t tx) (err error) {
		all, err = list(ctx, t, scan, query, args...)
		return err
	})
	return all, wrap(err, "%s", doing)
}

// only scans a row of one column.
func only[T any](row scanner) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// runner is a river.Client for any type of transaction.
type runner interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}
