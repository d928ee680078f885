package rereview

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

// onHead is a store or a GitHub that knows pull requests on a head, and records the asks.
type onHead struct {
	ports.Targets
	ports.Intake
	ports.PullReader
	numbers []int              // numbers of the pull requests
	group   *ports.TargetState // the merge group on the head, if there is one
	fails   string             // what fails
	asked   int                // number of questions to GitHub
	asks    []ports.ReviewAsk
}

func (o *onHead) trouble(what string) error {
	if o.fails == what {
		return errors.New(what)
	}
	return nil
}

// pulls are pull requests of one repository.
func pulls(numbers []int) (all []ports.Target) {
	for _, n := range numbers {
		all = append(all, ports.Target{Kind: ports.TargetPull, RepoID: 2, Number: n, HeadSHA: "aaa"})
	}
	return all
}

func (o *onHead) TargetsOnHead(context.Context, int64, string) ([]ports.Target, error) {
	return pulls(o.numbers), o.trouble("list the pull requests")
}

func (o *onHead) Target(context.Context, string) (ports.TargetState, error) {
	if err := o.trouble("look for a group"); err != nil {
		return ports.TargetState{}, err
	}
	if o.group == nil {
		return ports.TargetState{}, ports.ErrNotFound
	}
	return *o.group, nil
}

func (o *onHead) PullsOnHead(context.Context, ports.Target, string) ([]ports.Target, error) {
	o.asked++
	if o.fails == "GitHub refuses" {
		return nil, &ports.HostError{Op: "list the pull requests", Kind: ports.HostForbidden, Err: errors.New("refused")}
	}
	return pulls(o.numbers), o.trouble("GitHub is down")
}

func (o *onHead) Ask(_ context.Context, ask ports.ReviewAsk) error {
	o.asks = append(o.asks, ask)
	return o.trouble("ask")
}

// A check that somebody runs again belongs to all pull requests on its head. The App asks
// GitHub for them if the store may not know all.
func TestRerequestedChecks(t *testing.T) {
	group := func(closed bool) *ports.TargetState {
		return &ports.TargetState{Target: ports.Target{Kind: ports.TargetGroup, RepoID: 2, HeadSHA: "aaa"}, Closed: closed}
	}
	for name, test := range map[string]struct {
		store  onHead
		named  []int // pull requests that the event names
		github onHead
		want   []string // keys of the targets
		asked  bool     // whether GitHub is asked
		again  bool     // whether the job is tried again
		fails  bool
	}{
		"the store knows it":                           {store: onHead{numbers: []int{3}}, named: []int{3}, want: []string{"pull/2/3"}},
		"the event names none":                         {store: onHead{numbers: []int{3, 4}}, want: []string{"pull/2/3", "pull/2/4"}},
		"nobody knows it":                              {asked: true},
		"a pull request of a fork that the store lost": {github: onHead{numbers: []int{3}}, want: []string{"pull/2/3"}, asked: true},
		"the store knows one of two":                   {store: onHead{numbers: []int{3}}, named: []int{3, 4}, github: onHead{numbers: []int{3, 4}}, want: []string{"pull/2/3", "pull/2/4"}, asked: true},
		"a merge group":                                {store: onHead{group: group(false)}, want: []string{"group/2/aaa"}},
		"a merge group that has ended":                 {store: onHead{group: group(true)}, asked: true},
		"the store does not list them":                 {store: onHead{fails: "list the pull requests"}, again: true, fails: true},
		"the store can't look for a group":             {store: onHead{numbers: []int{3}, fails: "look for a group"}, again: true, fails: true},
		"GitHub is down":                               {github: onHead{fails: "GitHub is down"}, asked: true, again: true, fails: true},
		"GitHub refuses":                               {github: onHead{fails: "GitHub refuses"}, asked: true, fails: true},
		"the store does not take the asks":             {store: onHead{numbers: []int{3, 4}, fails: "ask"}, want: []string{"pull/2/3"}, again: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			n := &Rerequested{Targets: &test.store, Intake: &test.store, PullReader: &test.github}
			job := ports.RerequestJob{Rerequest: ports.Rerequest{RepoID: 2, HeadSHA: "aaa", Numbers: test.named}, Delivery: "guid"}
			err := n.Work(t.Context(), job, 1)
			if again := err != nil && retry.Temporary(err); (err != nil) != test.fails || again != test.again {
				t.Errorf("error %v", err)
			}
			if (test.github.asked > 0) != test.asked {
				t.Errorf("GitHub was asked %d times", test.github.asked)
			}
			var got []string
			for _, ask := range test.store.asks {
				got = append(got, ask.Target.Key())
				if !ask.Fresh || !ask.AtOnce || ask.Once != "guid "+ask.Target.Key() {
					t.Errorf("ask %+v", ask)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}
