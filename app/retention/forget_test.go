package retention_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retention"
)

var errDatabase = errors.New("connection reset")

// store holds targets and records what is deleted.
type store struct {
	proposals time.Time // before which those of memory expire
	ports.Retention
	ports.Leases
	holdings []ports.Holding
	outdated []string // keys of targets without activity, oldest first
	asked    []string // outdated targets for which a review was requested meanwhile
	atWork   []string // keys of targets whose lease somebody else holds
	batches  []int    // what each call of Prune deletes
	fails    string   // what can't be deleted
	deleted  []string
	held     int // leases that are still held
}

func (s *store) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	if slices.Contains(s.atWork, key) {
		return ports.Lease{}, false, nil
	}
	s.held++
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (s *store) Release(context.Context, ports.Lease) error {
	s.held--
	return nil
}

func (s *store) delete(what string) error {
	if what == s.fails {
		return errDatabase
	}
	s.deleted = append(s.deleted, what)
	return nil
}

func (s *store) Held(context.Context, ports.Forget) ([]ports.Holding, error) { return s.holdings, nil }

func (s *store) ForgetTarget(_ context.Context, l ports.Lease) error { return s.delete(l.Key) }

func (s *store) ForgetRepository(_ context.Context, id int64) error {
	return s.delete(fmt.Sprintf("repository %d", id))
}

func (s *store) ForgetInstallation(_ context.Context, id int64) error {
	return s.delete(fmt.Sprintf("installation %d", id))
}

func (s *store) Outdated(_ context.Context, _ time.Time, limit int) ([]string, error) {
	return slices.Clone(s.outdated[:min(limit, len(s.outdated))]), nil
}

func (s *store) ForgetOutdated(_ context.Context, l ports.Lease, _ time.Time) (bool, error) {
	if slices.Contains(s.asked, l.Key) {
		s.outdated = slices.DeleteFunc(s.outdated, func(key string) bool { return key == l.Key })
		return false, nil
	}
	if err := s.delete(l.Key); err != nil {
		return false, err
	}
	s.outdated = slices.DeleteFunc(s.outdated, func(key string) bool { return key == l.Key })
	return true, nil
}

func (s *store) Prune(_ context.Context, before ports.Ages) (int, error) {
	s.proposals = before.Memory
	err := s.delete(fmt.Sprintf("reviews before %s and deliveries before %s", before.Reviews.Format(time.DateOnly), before.Deliveries.Format(time.DateOnly)))
	if err != nil || len(s.batches) == 0 {
		return 0, err
	}
	n := s.batches[0]
	s.batches = s.batches[1:]
	return n, nil
}

// github tells on which repositories the App is installed.
type github struct {
	ports.PullReader
	installed []int64
	down      int64 // the repository without an answer
	asked     int
}

func (g *github) Access(_ context.Context, repo ports.Target) (ports.Access, error) {
	g.asked++
	if repo.RepoID == g.down {
		return ports.Access{}, &ports.HostError{Op: "ask", Kind: ports.HostTransient, Err: errors.New("bad gateway")}
	}
	return ports.Access{Installed: slices.Contains(g.installed, repo.RepoID)}, nil
}

// deleter deletes from the store today, which is 26 November.
func deleter(s *store, g *github, keep time.Duration) *retention.Deleter {
	return &retention.Deleter{
		Retention: s, PullReader: g, Leases: lease.Keeper{Store: s, Owner: "us", TTL: time.Minute}, Keep: keep,
		Now: func() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) },
	}
}

// Forgetting deletes what is really gone. A failed deletion does not stop the others, but the
// installation's deliveries stay, so that the next attempt finds them.
func TestForgetting(t *testing.T) {
	installation, repositories := ports.Forget{Installation: 7}, ports.Forget{Installation: 7, Repos: []int64{1, 2}}
	first, second := []string{"pull/1/1", "pull/1/2", "repository 1"}, []string{"pull/2/1", "repository 2"}
	both := slices.Concat(first, second)
	for name, test := range map[string]struct {
		ask    ports.Forget
		store  store
		github github
		want   []string // deleted
		asked  int      // number of questions to GitHub
		fails  bool
	}{
		"the installation is gone":                     {ask: installation, want: append(slices.Clone(both), "installation 7")},
		"repositories are gone":                        {ask: repositories, want: both, asked: 2},
		"a repository is back":                         {ask: repositories, github: github{installed: []int64{1}}, want: second, asked: 2},
		"GitHub does not answer":                       {ask: repositories, github: github{down: 1}, want: second, asked: 2, fails: true},
		"a target is at work":                          {ask: installation, store: store{atWork: []string{"pull/1/1"}}, want: append([]string{"pull/1/2"}, second...), fails: true},
		"a target can't be deleted":                    {ask: installation, store: store{fails: "pull/1/2"}, want: append([]string{"pull/1/1"}, second...), fails: true},
		"a repository can't be deleted":                {ask: installation, store: store{fails: "repository 1"}, want: append([]string{"pull/1/1", "pull/1/2"}, second...), fails: true},
		"the installation can't be deleted":            {ask: installation, store: store{fails: "installation 7"}, want: both, fails: true},
		"an installation that the store does not know": {ask: ports.Forget{Installation: 8}, store: store{holdings: []ports.Holding{}}, want: []string{"installation 8"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &test.store
			if s.holdings == nil {
				s.holdings = []ports.Holding{
					{Repository: ports.Target{RepoID: 1}, Keys: []string{"pull/1/1", "pull/1/2"}},
					{Repository: ports.Target{RepoID: 2}, Keys: []string{"pull/2/1"}},
				}
			}
			if err := deleter(s, &test.github, 0).Forget(t.Context(), test.ask); (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.want, s.deleted); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
			if test.github.asked != test.asked {
				t.Errorf("GitHub was asked %d times, want %d", test.github.asked, test.asked)
			}
			if s.held != 0 {
				t.Errorf("%d leases were not given back", s.held)
			}
		})
	}
}

// Without a limit, no review is old, and old proposals of memory still expire.
func TestOnlyProposalsEndWithoutALimit(t *testing.T) {
	s := &store{outdated: []string{"pull/1/1"}}
	d := deleter(s, nil, 0)
	err := d.Prune(t.Context())
	if want := []string{"reviews before 0001-01-01 and deliveries before 0001-01-01"}; err != nil || !slices.Equal(s.deleted, want) {
		t.Errorf("deleted %v, error %v", s.deleted, err)
	}
	if want := d.Now().AddDate(0, 0, -180); !s.proposals.Equal(want) {
		t.Errorf("proposals before %s expire, want %s", s.proposals, want)
	}
}

// Reviews are kept for as long as the operator says, and deliveries for ten days.
func TestPruningGoesOnUntilNothingIsLeft(t *testing.T) {
	s := &store{batches: []int{500, 500, 3}}
	if err := deleter(s, nil, 25*24*time.Hour).Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := slices.Repeat([]string{"reviews before 2026-11-01 and deliveries before 2026-11-16"}, 4)
	if diff := cmp.Diff(want, s.deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

// Targets at work, and targets whose review was requested meanwhile, are left for the next
// time. They never stop the others from being deleted.
func TestPruningLeavesTargetsAtWork(t *testing.T) {
	s := &store{}
	for i := range 250 {
		s.outdated = append(s.outdated, fmt.Sprintf("pull/1/%d", i))
	}
	s.atWork, s.asked = slices.Clone(s.outdated[:120]), slices.Clone(s.outdated[120:125])
	var log bytes.Buffer
	d := deleter(s, nil, time.Hour)
	d.Log = zerolog.New(&log)
	want := slices.Clone(s.outdated[125:])
	if err := d.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.deleted[:len(s.deleted)-1]); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
	if s.held != 0 {
		t.Errorf("%d leases were not given back", s.held)
	}
	if !strings.Contains(log.String(), `"targets":125`) {
		t.Errorf("the log says %s", log.String())
	}
}

func TestPruningEndsWhenTheDatabaseFails(t *testing.T) {
	s := &store{outdated: []string{"pull/1/1", "pull/1/2"}, fails: "pull/1/1"}
	if err := deleter(s, nil, time.Hour).Prune(t.Context()); !errors.Is(err, errDatabase) || len(s.deleted) > 0 {
		t.Errorf("deleted %v, error %v", s.deleted, err)
	}
}
