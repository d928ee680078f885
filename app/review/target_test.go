package review

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
)

// crashedStore has one target, whose holder died while working on it.
type crashedStore struct {
	ports.Targets
	ports.Leases
	crashes int
	held    bool
}

func (s *crashedStore) Target(context.Context, string) (ports.TargetState, error) {
	return ports.TargetState{Wanted: 1, Crashes: s.crashes}, nil
}

func (s *crashedStore) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	s.crashes++
	s.held = true
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (s *crashedStore) Release(context.Context, ports.Lease) error {
	s.held = false
	return nil
}

// The lease alone may show that the server died again at work on a target. That target
// waits for the other suspect, too, and holds nothing while it waits.
func TestSuspectByItsLease(t *testing.T) {
	store := &crashedStore{}
	s := built(Options{Store: ports.Store{Targets: store, Leases: store}, RetryBase: time.Second})
	if err := s.suspects.turn("pull/1/2").take(true); err != nil {
		t.Fatal(err)
	}
	err := s.workTarget(t.Context(), "pull/1/1", ports.JobReview)
	if retry := (*ports.RetryError)(nil); !errors.As(err, &retry) || retry.After != time.Second/2 {
		t.Errorf("the review is not postponed: %v", err)
	}
	if store.crashes != 1 || store.held {
		t.Errorf("%d crashes, lease held: %t", store.crashes, store.held)
	}
}

// doneStore has one target with nothing left to do except to answer its askers.
type doneStore struct {
	ports.Targets
	ports.Leases
	ports.Commands
	given    bool // the lease was given back
	answered error
	asked    func() // in the middle of the answer, if not nil
}

func (s *doneStore) Target(context.Context, string) (ports.TargetState, error) {
	return ports.TargetState{Wanted: 1, Done: 1}, nil
}

func (s *doneStore) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (s *doneStore) Renew(context.Context, ports.Lease, time.Duration) error {
	if s.given {
		return ports.ErrLeaseLost
	}
	return nil
}

func (s *doneStore) Finish(context.Context, ports.Lease, int64, bool) (bool, error) {
	s.given = true
	return false, nil
}

func (s *doneStore) AwaitingCommands(ctx context.Context, _ string, _ int64) ([]ports.Command, error) {
	if s.asked != nil {
		s.asked()
		return nil, ctx.Err()
	}
	time.Sleep(time.Minute) // many times as long as a lease is renewed after
	s.answered = ctx.Err()
	return nil, ctx.Err()
}

// The lease is given back before people are told that their command was obeyed, because
// telling them may take longer than the lease lasts.
func TestCommandsAreAnsweredWithoutTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &doneStore{answered: errors.New("nobody was told")}
		s := built(Options{Store: ports.Store{Targets: store, Leases: store, Commands: store}, RetryBase: time.Second, LeaseTTL: 15 * time.Second})
		if err := s.workTarget(t.Context(), "pull/1/1", ports.JobPublish); err != nil || store.answered != nil {
			t.Errorf("workTarget = %v, and to answer: %v", err, store.answered)
		}
	})
}

// An answer that a shutdown interrupted is given as soon as the server is back. A panic
// during the answer reaches the queue, which tries again.
func TestInterruptedAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := &doneStore{asked: cancel}
	s := built(Options{Store: ports.Store{Targets: store, Leases: store, Commands: store}, RetryBase: time.Second, LeaseTTL: 15 * time.Second})
	var retry *ports.RetryError
	if err := s.workTarget(ctx, "pull/1/1", ports.JobPublish); !errors.As(err, &retry) || retry.After != 0 {
		t.Errorf("after a shutdown: %v", err)
	}
	*store = doneStore{asked: func() { panic("no answer") }}
	defer func() {
		if recover() == nil {
			t.Error("the panic is lost")
		}
	}()
	_ = s.workTarget(t.Context(), "pull/1/1", ports.JobPublish)
}

// built is a service with some of the options that New requires.
func built(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Service{Options: o, configs: &inforce.Configs{Loader: o.Loader}, followed: &publish.FollowedHeads{}}
	s.build()
	return s
}
