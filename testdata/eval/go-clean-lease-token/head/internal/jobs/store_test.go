package jobs

import (
	"errors"
	"testing"
	"time"
)

func TestALostLeaseChangesNothing(t *testing.T) {
	s, clock := testStore(t, "mail")
	first, err := s.Lease(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Minute)
	second, err := s.Lease(t.Context(), time.Minute)
	if err != nil || second.ID != first.ID {
		t.Fatalf("job %d, %v: the job was not taken over", second.ID, err)
	}
	if err := s.Renew(t.Context(), first, time.Minute); !errors.Is(err, ErrLost) {
		t.Errorf("renewed by the first: %v", err)
	}
	if err := s.Finish(t.Context(), first, ""); !errors.Is(err, ErrLost) {
		t.Errorf("finished by the first: %v", err)
	}
	if err := s.Finish(t.Context(), second, ""); err != nil {
		t.Errorf("finished by the second: %v", err)
	}
}
