package search

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Index is searched.
type Index interface {
	Name() string
	Search(ctx context.Context, query string) ([]Hit, error)
}

// Hit is a document that was found.
type Hit struct {
	ID    string
	Score float64
}

const patience = 2 * time.Second

type answer struct {
	hits []Hit
	err  error
}

// Both asks all indexes at once and returns what the first that answers well
// has found.
func Both(ctx context.Context, query string, indexes ...Index) ([]Hit, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers := make(chan answer)
	for _, index := range indexes {
		go func() {
			hits, err := index.Search(ctx, query)
			if err != nil {
				err = fmt.Errorf("search %s: %w", index.Name(), err)
			}
			answers <- answer{hits, err}
		}()
	}
	var failed []error
	for range indexes {
		select {
		case a := <-answers:
			if a.err == nil {
				return a.hits, nil
			}
			failed = append(failed, a.err)
		case <-ctx.Done():
			return nil, fmt.Errorf("search: %w", ctx.Err())
		}
	}
	return nil, errors.Join(failed...)
}
