package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

// ErrClosed is the error of writes after Close was called.
var ErrClosed = errors.New("the store is closed")

// Store is ports.Store on a database. It is safe for concurrent use.
type Store struct {
	ports.Store
	*core
}

// core is what all roles of the store share. A method that only one role needs belongs to
// that role.
type core struct {
	// Now is the clock for leases and stored times. Tests may set it
	// before the store is used. River's schedule follows the real clock.
	Now func() time.Time

	db      backend
	log     zerolog.Logger
	process string
}

// The roles of ports.Store.
type (
	intake     struct{ *core }
	targets    struct{ *core }
	scans      struct{ *core }
	tokens     struct{ *core }
	leases     struct{ *core }
	reviews    struct{ *core }
	history    struct{ *core }
	archive    struct{ *core }
	backtests  struct{ *core }
	writes     struct{ *core }
	inline     struct{ *core }
	commands   struct{ *core }
	layers     struct{ *core }
	configUse  struct{ *core }
	recovery   struct{ *core }
	marks      struct{ *core }
	retention  struct{ *core }
	deferrals  struct{ *core }
	rateLimits struct{ *core }
	memory     struct{ *core }
)

func newStore(c *core) *Store {
	return &Store{
		core: c,
		Store: ports.Store{
			Intake:       intake{c},
			Targets:      targets{c},
			Scans:        scans{c},
			Tokens:       tokens{c},
			Leases:       leases{c},
			Reviews:      reviews{c},
			History:      history{c},
			Archive:      archive{c},
			Backtests:    backtests{c},
			Learning:     learned{c},
			Probations:   probations{c},
			Writes:       writes{c},
			LineComments: inline{c},
			Commands:     commands{c},
			Layers:       layers{c},
			ConfigUse:    configUse{c},
			Recovery:     recovery{c},
			Marks:        marks{c},
			Retention:    retention{c},
			Deferrals:    deferrals{c},
			RateLimits:   rateLimits{c},
			Memory:       memory{c},
			Sessions:     newSessions(c),
			APITokens:    apiTokens{c},
		},
	}
}

// Options are the settings of a store besides its URL.
type Options struct {
	// Process is the name of this process, unique for each start. It is the owner of
	// the process's leases, so that other processes can free them when this one dies.
	// At most 100 bytes. Default: a random name.
	Process string
	Log     zerolog.Logger
	// Beside opens the database for a child of the process that has it open. The parent
	// holds the lock, brings the tables up to date and makes the checkpoints.
	Beside bool
	// Unsynced leaves out the sync to disk at the end of each commit to SQLite.
	// Committed data then survives the end of the process, but not a power cut: for
	// tests only.
	Unsynced bool
}

// Open opens the database that rawURL names, and creates or updates its tables.
// It knows
//
//	sqlite://FILE      such as sqlite:///var/lib/reviewgate/reviewgate.db,
//	                   or sqlite://reviewgate.db in the working directory
//	postgres://...     such as postgres://USER:PASSWORD@HOST:5432/DATABASE;
//	                   postgresql:// is the same
//
// Only the owner can read a SQLite file, and only one process may have it open.
// Several processes may share a PostgreSQL database (14 or newer, without a pooler in
// transaction mode). Each opens up to 16 connections, or as many as the URL's
// pool_max_conns says. Stop the queue before you close the store.
func Open(ctx context.Context, rawURL string, opts Options) (*Store, error) {
	if opts.Process == "" {
		opts.Process = rand.Text()
	}
	if len(opts.Process) > 100 { // River's limit for a client
		return nil, fmt.Errorf("open the database: the name of the process has %d bytes; the limit is 100", len(opts.Process))
	}
	db, err := openBackend(ctx, rawURL, opts)
	if err != nil {
		return nil, err
	}
	return newStore(&core{Now: db.now, db: db, log: opts.Log, process: opts.Process}), nil
}

func openBackend(ctx context.Context, rawURL string, opts Options) (backend, error) {
	log := riverLogger(opts.Log)
	scheme, rest, ok := strings.Cut(rawURL, "://")
	switch {
	case ok && scheme == "sqlite" && rest != "":
		return openSQLite(ctx, rest, !opts.Unsynced, opts.Beside, log)
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		return openPostgres(ctx, rawURL, opts.Process, defaultTiming, log)
	}
	return nil, fmt.Errorf("database URL: write sqlite://FILE, such as sqlite:///var/lib/reviewgate/reviewgate.db, or postgres://USER:PASSWORD@HOST:5432/DATABASE; got one that starts with %q", scheme)
}

// Process is the name of this process on the database. If the process dies, the other
// processes free only the leases that it took under this name.
func (s *Store) Process() string { return s.process }

// Close refuses new writes, waits for those that run, and closes the database.
func (s *Store) Close() error {
	return wrap(s.db.close(), "close the database")
}

func (s *core) now() int64 { return micros(s.Now()) }

// micros returns the stored form of a time: microseconds since 1970, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// CheckURL checks a PostgreSQL URL without connecting to the server. Its errors don't
// repeat the URL, which may hold a password.
func CheckURL(rawURL string) error {
	_, err := postgresConfig(rawURL)
	return err
}
