package store

import "context"

// Prepare creates the tables of a database, for tests that copy it.
func Prepare(url string) error {
	s, err := Open(context.Background(), url, Options{Unsynced: true})
	if err != nil {
		return err
	}
	return s.Close()
}
