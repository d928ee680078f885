package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/review"
)

func openTest(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "reviewgate.db"), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSavepointUndoesOnlyItsOwn(t *testing.T) {
	s := openTest(t)
	ctx := t.Context()
	bad := errors.New("bad")
	ask := func(t tx, number int, err error) error {
		return t.savepoint(ctx, func() error {
			_, rerr := s.raise(ctx, t, review.ReviewAsk{Target: review.Target{Kind: review.TargetPull, Number: number}}, false)
			return errors.Join(rerr, err)
		})
	}
	err := s.db.write(ctx, func(tx tx) error {
		for number, want := range []error{nil, bad, nil} {
			if err := ask(tx, number, want); !errors.Is(err, want) {
				t.Errorf("savepoint %d: %v, want %v", number, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range []error{nil, review.ErrNotFound, nil} {
		if _, err := s.Target(ctx, review.Target{Number: number}.Key()); !errors.Is(err, want) {
			t.Errorf("target %d: %v, want %v", number, err, want)
		}
	}
	if n, err := s.db.jobCounts(ctx); err != nil || n["available"] != 2 {
		t.Errorf("jobs %v, %v; want 2 available", n, err)
	}
}

func TestOneBatchManyAnswers(t *testing.T) {
	s := openTest(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	batch := []*request{
		{ctx: t.Context(), delivery: review.Delivery{GUID: "1"}},
		{ctx: t.Context(), delivery: review.Delivery{}},
		{ctx: gone, delivery: review.Delivery{GUID: "2"}},
		{ctx: t.Context(), delivery: review.Delivery{GUID: "1"}},
	}
	s.commitBatch(batch)
	if r := batch[0]; r.err != nil || !r.res.NoOp {
		t.Errorf("good one: %+v, %v", r.res, r.err)
	}
	if r := batch[1]; r.err == nil {
		t.Errorf("one without GUID: %+v", r.res)
	}
	if r := batch[2]; !errors.Is(r.err, context.Canceled) {
		t.Errorf("one whose caller left: %+v, %v", r.res, r.err)
	}
	if r := batch[3]; r.err != nil || !r.res.Duplicate {
		t.Errorf("the same in one batch: %+v, %v", r.res, r.err)
	}
}

func TestNoAnswerBeforeTheCommit(t *testing.T) {
	s := openTest(t)
	broken := errors.New("disk on fire")
	s.db = failing{s.db, broken}
	batch := []*request{{ctx: t.Context(), delivery: review.Delivery{GUID: "1"}}, {ctx: t.Context(), delivery: review.Delivery{GUID: "2"}}}
	s.commitBatch(batch)
	for i, r := range batch {
		if !errors.Is(r.err, broken) || r.res != (review.Accepted{}) {
			t.Errorf("request %d: %+v, %v; want the error of the commit", i, r.res, r.err)
		}
	}
}

// failing is a backend whose commits fail.
type failing struct {
	backend
	err error
}

func (f failing) writeFirst(ctx context.Context, do func(tx) error) error {
	return f.backend.writeFirst(ctx, func(t tx) error {
		if err := do(t); err != nil {
			return err
		}
		return f.err
	})
}
