package store

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Prepare creates the tables of a database that tests then copy.
func Prepare(url string) error {
	s, err := Open(context.Background(), url, Options{Unsynced: true})
	if err != nil {
		return err
	}
	return s.Close()
}

// KeyOf returns the key of the job's target.
func KeyOf(j ports.Job) string { return idsOf(j).Key }
