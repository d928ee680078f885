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

// ErrClosed is returned by what stores something once Close was called.
var ErrClosed = errors.New("the store is closed")

// Store is ports.Store on a database. It is safe for concurrent use.
type Store struct {
	ports.Store
	*core
}

// core is what all roles of the store work with.
type core struct {
	// Now is the clock for leases and times that are stored. Tests may set it
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
	writes     struct{ *core }
	commands   struct{ *core }
	layers     struct{ *core }
	configUse  struct{ *core }
	recovery   struct{ *core }
	marks      struct{ *core }
	retention  struct{ *core }
	deferrals  struct{ *core }
	rateLimits struct{ *core }
)

func newStore(c *core) *Store {
	return &Store{
		core: c,
		Store: ports.Store{
			Intake:     intake{c},
			Targets:    targets{c},
			Scans:      scans{c},
			Tokens:     tokens{c},
			Leases:     leases{c},
			Reviews:    reviews{c},
			History:    history{c},
			Writes:     writes{c},
			Commands:   commands{c},
			Layers:     layers{c},
			ConfigUse:  configUse{c},
			Recovery:   recovery{c},
			Marks:      marks{c},
			Retention:  retention{c},
			Deferrals:  deferrals{c},
			RateLimits: rateLimits{c},
		},
	}
}

// Options are what a store may be given besides its URL.
type Options struct {
	// Process names this process among those on the database: the owner of its
	// leases, so that others can free them when it dies. It is unique for each
	// start, and has at most 100 bytes. Default: a random name.
	Process string
	Log     zerolog.Logger
	// Beside opens the database for a child of the process that has it open. The parent
	// holds the lock, brings the tables up to date and checkpoints.
	Beside bool
	// Unsynced leaves out the sync to disk that each commit to SQLite ends with.
	// What was committed then outlives the process, but not a power cut: for tests
	// only.
	Unsynced bool
}

// Open opens the database that rawURL names, creates or updates its tables,
// and starts to take deliveries. It knows
//
//	sqlite://FILE      such as sqlite:///var/lib/reviewgate/reviewgate.db,
//	                   or sqlite://reviewgate.db in the working directory
//	postgres://...     such as postgres://USER:PASSWORD@HOST:5432/DATABASE;
//	                   postgresql:// is the same
//
// A SQLite file is made readable by its owner only, and one process may have
// it open. Several may share a PostgreSQL database (14 or newer, no pooler in
// transaction mode before it); each opens up to 16 connections, or as many as
// the URL's pool_max_conns says. Close the store when it is no longer needed,
// after the queue was stopped.
func Open(ctx context.Context, rawURL string, opts Options) (*Store, error) {
	if opts.Process == "" {
		opts.Process = rand.Text()
	}
	if len(opts.Process) > 100 { // River's limit for a client
		return nil, fmt.Errorf("open the database: the name of the process has %d bytes, and may have 100", len(opts.Process))
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
	return nil, fmt.Errorf("database URL: want sqlite://FILE, such as sqlite:///var/lib/reviewgate/reviewgate.db, or postgres://USER:PASSWORD@HOST:5432/DATABASE; got one that starts with %q", scheme)
}

// Process is the name of this process among those on the database. Leases that
// are taken under another name outlive it.
func (s *Store) Process() string { return s.process }

// Close takes nothing more, waits for what is being stored, and closes the
// database.
func (s *Store) Close() error {
	if err := s.db.close(); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

func (s *core) now() int64 { return micros(s.Now()) }

// micros is how times are stored: microseconds since 1970, 0 for none.
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

// CheckURL tells what is wrong with a PostgreSQL URL as far as that shows
// without a server. Its errors don't repeat the URL, which may hold a password.
func CheckURL(rawURL string) error {
	_, err := postgresConfig(rawURL)
	return err
}
