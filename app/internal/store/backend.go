package store

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// backend is what differs from database to database: how a transaction is
// made, which of River's drivers works in it, and how processes know of each
// other. All other SQL stands outside of it, in the subset that SQLite and
// PostgreSQL share, with ? for parameters.
type backend interface {
	snapshots
	// write runs f in a transaction that is durable once write has returned
	// nil, and wakes the queue if f inserted jobs.
	write(ctx context.Context, f func(tx) error) error
	// writeFirst is write for deliveries: it goes before the others that wait.
	writeFirst(ctx context.Context, f func(tx) error) error
	// runner makes a River client that works jobs.
	runner(cfg *river.Config) (runner, error)
	// lone reports whether this process is the only one on the database, so
	// that whatever is held there was left behind by a crash.
	lone() bool
	// now is the clock that all processes on the database share.
	now() time.Time
	// bury lets go of what processes held that died: their leases run out at
	// once, and their jobs are available. It returns the number of processes.
	bury(ctx context.Context) (n int, err error)
	// there returns an error if the database is not where it was opened, which
	// neither reads nor writes would show.
	there() error
	close() error
}

// snapshots is what is read from.
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
	// lock is what a SELECT ends with to keep its rows from being changed by
	// others until the transaction ends.
	lock() string
	// lockFree is like lock, but passes over rows that others have locked.
	lockFree() string
	// alone keeps others that call it with the same name waiting until the
	// transaction ends, in all processes: for what no row stands for.
	alone(ctx context.Context, name string) error

	// insertJob inserts a job, unless an equal one is alive: then it returns
	// the state of that one.
	insertJob(ctx context.Context, j ports.Job) (alive rivertype.JobState, err error)
	// adoptJobs makes jobs that are marked as running available again, and
	// drops the leadership of River's maintenance. Only a lone process may.
	adoptJobs(ctx context.Context) (n int, err error)
}

type scanner interface {
	Scan(dest ...any) error
}

// runner is a river.Client of any kind of transaction.
type runner interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}
