package app

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// GitHub's answer about a repository is kept for a minute, even if the App is not installed there. A
// failure is not kept.
func TestRepositoryOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		shop := ports.Target{Kind: ports.TargetPull, Installation: 7, RepoID: 70, Owner: "acme", Name: "shop"}
		s := &apiSessions{found: lru.New[string, foundRepository](maxFound, 1), find: func(_ context.Context, _, name string) (gh.Repository, error) {
			calls++
			switch strings.ToLower(name) {
			case "shop":
				return gh.Repository{Target: shop}, nil
			case "suspended":
				return gh.Repository{Target: ports.Target{Installation: 8}, Suspended: true}, nil
			case "down":
				return gh.Repository{}, &ports.HostError{Kind: ports.HostTransient, Err: errors.New("x")}
			}
			return gh.Repository{}, &ports.HostError{Kind: ports.HostNotFound, Err: errors.New("x")}
		}}
		for _, one := range []struct {
			name  string
			want  ports.Target
			err   error
			calls int
		}{
			{"shop", shop, nil, 1}, {"Shop", shop, nil, 0}, {"none", ports.Target{}, ports.ErrNotFound, 1}, {"none", ports.Target{}, ports.ErrNotFound, 0},
			{"suspended", ports.Target{}, ports.ErrNotFound, 1}, {"suspended", ports.Target{}, ports.ErrNotFound, 0},
		} {
			before := calls
			if got, err := s.Repository(t.Context(), "acme", one.name); got != one.want || !errors.Is(err, one.err) || calls-before != one.calls {
				t.Errorf("%s: %+v, %v after %d calls", one.name, got, err, calls-before)
			}
		}
		for range 2 {
			if _, err := s.Repository(t.Context(), "acme", "down"); err == nil {
				t.Error("a failure returned no error")
			}
		}
		if calls != 5 {
			t.Errorf("%d calls", calls)
		}
		time.Sleep(foundFor) // of the bubble's clock
		if _, err := s.Repository(t.Context(), "acme", "shop"); err != nil || calls != 6 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})
}
