package review

import (
	"context"
	"errors"
	"testing"
	"time"
)

// crashedStore has one target, whose holder died at work on it.
type crashedStore struct {
	Store
	crashes int
	held    bool
}

func (s *crashedStore) Target(context.Context, string) (TargetState, error) {
	return TargetState{Wanted: 1, Crashes: s.crashes}, nil
}

func (s *crashedStore) Acquire(_ context.Context, key, owner string, _ time.Duration) (Lease, bool, error) {
	s.crashes++
	s.held = true
	return Lease{Key: key, Owner: owner}, true, nil
}

func (s *crashedStore) Release(context.Context, Lease) error {
	s.held = false
	return nil
}

// A target of which only the lease tells that the server died once more at work on
// it waits for the other suspect, too, and holds nothing meanwhile.
func TestSuspectByItsLease(t *testing.T) {
	store := &crashedStore{crashes: maxCrashes - 2}
	s := &Service{Options: Options{Store: store, RetryBase: time.Second}}
	s.suspects.Lock()
	err := s.workTarget(t.Context(), "pull/1/1", JobReview)
	if retry := (*RetryError)(nil); !errors.As(err, &retry) || retry.After != time.Second {
		t.Errorf("it is not put off: %v", err)
	}
	if store.crashes != maxCrashes-1 || store.held {
		t.Errorf("%d crashes, lease held: %t", store.crashes, store.held)
	}
}
