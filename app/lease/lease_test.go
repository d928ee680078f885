package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
)

// store has one lease.
type store struct {
	ports.Leases
	mu       sync.Mutex
	holder   string // empty if the lease is free
	renewals int
	fails    error // error of every call
	releases int
}

func (s *store) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil || s.holder != "" {
		return ports.Lease{}, false, s.fails
	}
	s.holder = owner
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (s *store) Renew(_ context.Context, l ports.Lease, _ time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewals++
	if s.fails == nil && s.holder != l.Owner {
		return ports.ErrLeaseLost
	}
	return s.fails
}

func (s *store) Release(ctx context.Context, l ports.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releases++
	if err := errors.Join(s.fails, ctx.Err()); err != nil {
		return err
	}
	if s.holder == l.Owner {
		s.holder = ""
	}
	return nil
}

// give gives the lease to a holder, or frees it if holder is empty.
func (s *store) give(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holder = holder
}

// fail makes every call of the store fail, or none if err is nil.
func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

const (
	key = "pull/1/2"
	ttl = 10 * time.Second
)

var errDatabase = errors.New("connection reset")

// keeper returns a keeper called "us" and its store.
func keeper(t *testing.T, s *store) (lease.Keeper, ports.Lease) {
	t.Helper()
	k := lease.Keeper{Store: s, Owner: "us", TTL: ttl, Retry: time.Minute}
	l, ok, err := k.Acquire(t.Context(), key)
	if !ok || err != nil {
		t.Fatalf("the lease was not taken: %v", err)
	}
	return k, l
}

func TestFenceStopsTheFormerHolder(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*store)
		want   error
	}{
		"it is held":         {func(*store) {}, nil},
		"another holder":     {func(s *store) { s.give("them") }, ports.ErrLeaseLost},
		"the database fails": {func(s *store) { s.fail(errDatabase) }, errDatabase},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{}
			k, l := keeper(t, s)
			test.change(s)
			if err := k.Fence(t.Context(), l); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if s.renewals != 1 {
				t.Errorf("the lease was renewed %d times", s.renewals)
			}
		})
	}
}

func TestKeepEndsWhenAnotherHolderTakesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		k, l := keeper(t, s)
		held, stop := k.Keep(t.Context(), l)
		defer stop()
		time.Sleep(3 * ttl)
		synctest.Wait()
		if held.Err() != nil {
			t.Fatalf("a lease that is renewed was lost: %v", context.Cause(held))
		}
		s.give("them")
		time.Sleep(ttl / 2)
		synctest.Wait()
		if cause := context.Cause(held); !errors.Is(cause, ports.ErrLeaseLost) {
			t.Errorf("half a TTL after the loss the cause is %v", cause)
		}
	})
}

func TestKeepOutlastsASlowDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		k, l := keeper(t, s)
		held, stop := k.Keep(t.Context(), l)
		defer stop()
		s.fail(errDatabase)
		time.Sleep(ttl / 2)
		synctest.Wait()
		s.fail(nil)
		failed := s.renewals
		time.Sleep(ttl / 2)
		synctest.Wait()
		if held.Err() != nil || failed == 0 || s.renewals == failed {
			t.Errorf("context %v after %d renewals, %d of which failed", context.Cause(held), s.renewals, failed)
		}
	})
}

func TestStopEndsRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		k, l := keeper(t, s)
		held, stop := k.Keep(t.Context(), l)
		stop()
		time.Sleep(ttl)
		if s.renewals != 0 || held.Err() == nil || errors.Is(context.Cause(held), ports.ErrLeaseLost) {
			t.Errorf("%d renewals after the stop, cause %v", s.renewals, context.Cause(held))
		}
	})
}

func TestWorkUnderALease(t *testing.T) {
	errWork := errors.New("the work failed")
	for name, test := range map[string]struct {
		work func(context.Context, *store) error
		want error // nil for none
	}{
		"the work succeeds": {func(context.Context, *store) error { return nil }, nil},
		"the work fails":    {func(context.Context, *store) error { return errWork }, errWork},
		"the work goes on for long": {func(ctx context.Context, _ *store) error {
			time.Sleep(3 * ttl)
			return ctx.Err()
		}, nil},
		"the lease can't be given back": {func(_ context.Context, s *store) error {
			s.fail(errDatabase)
			return nil
		}, errDatabase},
		"the work fails, and the lease can't be given back": {func(_ context.Context, s *store) error {
			s.fail(errDatabase)
			return errWork
		}, errWork},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &store{}
				k, l := keeper(t, s)
				err := k.Under(t.Context(), l, func(ctx context.Context) error { return test.work(ctx, s) })
				if !errors.Is(err, test.want) {
					t.Errorf("error %v, want %v", err, test.want)
				}
				if s.releases != 1 || s.fails == nil && s.holder != "" {
					t.Errorf("the lease was given back %d times, and %q has it", s.releases, s.holder)
				}
			})
		})
	}
}

func TestWorkThatPanicsGivesTheLeaseBack(t *testing.T) {
	s := &store{}
	k, l := keeper(t, s)
	err := k.Under(t.Context(), l, func(context.Context) error { panic("boom") })
	if !errors.As(err, new(*panics.Error)) || s.holder != "" {
		t.Errorf("error %v, and %q has the lease", err, s.holder)
	}
}

func TestWorkThatIsCancelledGivesTheLeaseBack(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &store{}
	k, l := keeper(t, s)
	err := k.Under(ctx, l, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || s.holder != "" {
		t.Errorf("error %v, and %q has the lease", err, s.holder)
	}
}

// Work that lost its lease is done later, whatever it returns. Only the new holder gives the
// lease back.
func TestWorkThatLosesItsLease(t *testing.T) {
	for _, result := range []error{nil, errors.New("the work failed")} {
		synctest.Test(t, func(t *testing.T) {
			s := &store{}
			k, l := keeper(t, s)
			err := k.Under(t.Context(), l, func(ctx context.Context) error {
				s.give("them")
				<-ctx.Done()
				return result
			})
			var retry *ports.RetryError
			if !errors.As(err, &retry) || retry.After != time.Minute || !errors.Is(err, ports.ErrLeaseLost) {
				t.Errorf("work returned %v: error %v", result, err)
			}
			if s.releases != 0 || s.holder != "them" {
				t.Errorf("the lease was given back %d times, and %q has it", s.releases, s.holder)
			}
		})
	}
}

func TestAloneWaitsForTheHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{holder: "them"}
		k := lease.Keeper{Store: s, Owner: "us", TTL: ttl}
		time.AfterFunc(time.Hour, func() { s.give("") })
		began := time.Now()
		err := k.Alone(t.Context(), key, func(context.Context) error {
			if s.holder != "us" {
				t.Errorf("%q has the lease", s.holder)
			}
			return nil
		})
		if waited := time.Since(began); err != nil || waited < time.Hour || waited > time.Hour+time.Second {
			t.Errorf("waited %s, error %v", waited, err)
		}
		if s.holder != "" {
			t.Errorf("%q has the lease after the work", s.holder)
		}
	})
}

func TestAloneEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		k := lease.Keeper{Store: &store{holder: "them"}, Owner: "us", TTL: ttl}
		err := k.Alone(ctx, key, func(context.Context) error {
			t.Error("the work began without the lease")
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestAloneEndsWhenTheDatabaseFails(t *testing.T) {
	k := lease.Keeper{Store: &store{fails: errDatabase}, Owner: "us", TTL: ttl}
	err := k.Alone(t.Context(), key, func(context.Context) error {
		t.Error("the work began without the lease")
		return nil
	})
	if !errors.Is(err, errDatabase) {
		t.Errorf("error %v", err)
	}
}
