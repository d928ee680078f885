package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/review"
)

// ErrClosed is returned by Accept once Close was called.
var ErrClosed = errors.New("the store is closed")

// Store implements review.Store on a database. It is safe for concurrent use.
type Store struct {
	// Now is the clock for leases and times that are stored. Tests may set it
	// before the store is used. River's schedule follows the real clock.
	Now func() time.Time

	db     backend
	log    zerolog.Logger
	intake intake
}

var _ review.Store = (*Store)(nil)

// Open opens the database that rawURL names, creates or updates its tables,
// and starts to take deliveries. This build knows
//
//	sqlite://FILE    such as sqlite:///var/lib/reviewgate/reviewgate.db,
//	                 or sqlite://reviewgate.db in the working directory
//
// The file is made readable by its owner only. One process may have it open.
// Close the store when it is no longer needed, after the queue was stopped.
func Open(ctx context.Context, rawURL string, log zerolog.Logger) (*Store, error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	switch {
	case ok && scheme == "sqlite" && rest != "":
		db, err := openSQLite(ctx, rest, riverLogger(log))
		if err != nil {
			return nil, err
		}
		return newStore(db, log), nil
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		// The URL may hold a password: it is not repeated.
		return nil, errors.New("database URL: this build supports SQLite only, not PostgreSQL; use sqlite://FILE")
	}
	return nil, fmt.Errorf("database URL: want sqlite://FILE, such as sqlite:///var/lib/reviewgate/reviewgate.db; got one that starts with %q", scheme)
}

func newStore(db backend, log zerolog.Logger) *Store {
	s := &Store{Now: time.Now, db: db, log: log}
	s.intake.start(s.commitBatch)
	return s
}

// Close stops taking deliveries, waits for those that are being stored, and
// closes the database.
func (s *Store) Close() error {
	s.intake.stop()
	if err := s.db.close(); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

func (s *Store) now() int64 { return micros(s.Now()) }

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
