package store

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Prepare creates the tables of a database, for tests that copy it.
func Prepare(url string) error {
	s, err := Open(context.Background(), url, Options{Unsynced: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// KeyOf is the key of the target that a job is a step of.
func KeyOf(j ports.Job) string { return idsOf(j).Key }
