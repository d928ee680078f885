package store

import "context"

// OpenQuick is Open, but on PostgreSQL a process that died is told from a live one
// five times as soon.
func OpenQuick(ctx context.Context, rawURL string, opts Options) (*Store, error) {
	return open(ctx, rawURL, opts, timingOf(defaultTiming.ttl/5))
}

// Prepare creates the tables of a database, for tests that copy it.
func Prepare(url string) error {
	s, err := Open(context.Background(), url, Options{Unsynced: true})
	if err != nil {
		return err
	}
	return s.Close()
}
