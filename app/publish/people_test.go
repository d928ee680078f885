package publish_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// people are settings with people to ask if a review is left to a person.
const people = `{"models": {"people": ["alice", "bob", "Carol", "acme/leads"]}}`

// ask asks people for their reviews of a head.
func (w *world) ask(t *testing.T, own, head string) error {
	t.Helper()
	r := judged(pipeline.DecisionPass, pipeline.AutoHuman)
	r.HeadSHA = head
	now := w.github.now
	return w.requests.AskPeople(t.Context(), publication(known(), r, settings(t, own), &now))
}

// Neither the author is asked, nor anybody who has a review or was already asked by
// somebody else.
func TestWhoIsAskedForAReview(t *testing.T) {
	for name, test := range map[string]struct {
		requested, reviewed []string
		want                []string // calls
	}{
		"all but the author":    {nil, nil, []string{"request [bob Carol acme/leads]"}},
		"some are asked":        {[]string{"BOB", "acme/leads"}, nil, []string{"request [Carol]"}},
		"some have reviewed it": {nil, []string{"carol"}, []string{"request [bob acme/leads]"}},
		"there is nobody left":  {[]string{"bob", "acme/leads"}, []string{"carol"}, nil},
	} {
		w := newWorld(t)
		w.github.now.Requested = test.requested
		for _, who := range test.reviewed {
			w.github.reviews = append(w.github.reviews, review{PullReview: ports.PullReview{Author: who}})
		}
		if err := w.ask(t, people, "aaa"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, w.github.calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, diff)
		}
	}
}

// Nobody is asked twice for a pull request, even on another head. A person who is no longer
// on GitHub's list has reviewed, or was removed from it.
func TestNobodyIsAskedTwice(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct {
		own, head string
		want      []string // calls
	}{
		{`{"models": {"people": ["bob"]}}`, "aaa", []string{"request [bob]"}},
		{`{"models": {"people": ["bob"]}}`, "aaa", nil},
		{`{"models": {"people": ["bob"]}}`, "bbb", nil},
		{people, "ccc", []string{"request [Carol acme/leads]"}},
		{people, "ddd", nil},
	} {
		calls := w.github.since(func() {
			if err := w.ask(t, step.own, step.head); err != nil {
				t.Fatal(err)
			}
		})
		if len(step.want)+len(calls) > 0 && cmp.Diff(step.want, calls) != "" {
			t.Errorf("%s: calls %v, want %v", step.head, calls, step.want)
		}
		w.github.now.Requested = nil // removed from the requested reviewers
	}
}

// A person whose review can't be requested does not prevent the other requests.
func TestOnePersonCannotBeAsked(t *testing.T) {
	w := newWorld(t)
	w.github.refuses["request [Carol]"] = ports.HostInvalid
	if err := w.ask(t, people, "aaa"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"bob", "acme/leads"}, w.github.now.Requested); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if calls := w.github.since(func() { _ = w.ask(t, people, "aaa") }); len(calls) > 0 {
		t.Errorf("the same head takes the calls %v", calls)
	}
}

// The answer to a request may not arrive. The pull request then shows who was asked.
func TestRequestWhoseAnswerIsLost(t *testing.T) {
	for name, arrives := range map[string]bool{"it took effect": true, "it did not": false} {
		w := newWorld(t)
		if arrives {
			w.github.loses = "request [bob Carol acme/leads]"
		} else {
			w.github.refuses["request [bob Carol acme/leads]"] = ports.HostTransient
		}
		if err := w.ask(t, people, "aaa"); err == nil {
			t.Fatal("no error where the answer is lost")
		}
		delete(w.github.refuses, "request [bob Carol acme/leads]")
		if err := w.ask(t, people, "aaa"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"bob", "Carol", "acme/leads"}, w.github.now.Requested); diff != "" {
			t.Errorf("%s: asked (-want +got):\n%s", name, diff)
		}
		w.github.now.Requested = nil // removed from the requested reviewers
		if calls := w.github.since(func() { _ = w.ask(t, people, "bbb") }); len(calls) > 0 {
			t.Errorf("%s: the next head takes the calls %v", name, calls)
		}
	}
}

func TestWhereNobodyIsAsked(t *testing.T) {
	human := func() *ports.StoredReview { return judged(pipeline.DecisionPass, pipeline.AutoHuman) }
	holds := judged(pipeline.DecisionFail, pipeline.AutoReject)
	holds.Review.Report.Findings = []pipeline.Finding{{Reasons: []pipeline.Reason{{Kind: pipeline.ReasonHeld}}}}
	byHand := human()
	byHand.Review.Report.ByHand = &pipeline.ByHand{}
	for name, test := range map[string]struct {
		own     string
		review  *ports.StoredReview
		now     ports.PullState
		refuses ports.HostKind // to list the reviews
		asked   bool
	}{
		"a person decides":                   {people, human(), ports.PullState{}, "", true},
		"a finding holds the gate":           {people, holds, ports.PullState{}, "", true},
		"the models decide":                  {people, approving(), ports.PullState{}, "", false},
		"no models took part":                {people, reviewed(pipeline.DecisionPass), ports.PullState{}, "", false},
		"somebody decided by hand":           {people, byHand, ports.PullState{}, "", false},
		"the settings name nobody":           {`{}`, human(), ports.PullState{}, "", false},
		"in advisory mode":                   {`{"mode": "advisory", "models": {"people": ["bob"]}}`, human(), ports.PullState{}, "", false},
		"it is a draft":                      {people, human(), ports.PullState{Draft: true}, "", false},
		"the conversation is locked":         {people, human(), ports.PullState{Conversation: ports.Conversation{Locked: true}}, "", false},
		"GitHub refuses to list the reviews": {people, human(), ports.PullState{}, ports.HostForbidden, false},
	} {
		w := newWorld(t)
		w.github.refuses["list reviews"] = test.refuses
		if err := w.requests.AskPeople(t.Context(), publication(known(), test.review, settings(t, test.own), &test.now)); err != nil {
			t.Fatal(err)
		}
		if asked := len(w.github.calls) > 0; asked != test.asked {
			t.Errorf("%s: calls %v", name, w.github.calls)
		}
	}
}

func TestNobodyIsAskedWithoutTheLease(t *testing.T) {
	w := newWorld(t)
	w.store.lost = true
	if err := w.ask(t, people, "aaa"); !errors.Is(err, ports.ErrLeaseLost) || len(w.github.calls) > 0 {
		t.Errorf("calls %v, error %v", w.github.calls, err)
	}
}

// The review that escalates the fix loop asks the team once.
func TestTeamIsCalled(t *testing.T) {
	const team = `{"fix_loop": {"team": "acme/leads"}}`
	for name, test := range map[string]struct {
		own    string
		now    ports.PullState
		before bool // an earlier review escalated it
		called bool
	}{
		"it is escalated":            {team, ports.PullState{}, false, true},
		"it was escalated before":    {team, ports.PullState{}, true, false},
		"the team is asked already":  {team, ports.PullState{Requested: []string{"Acme/Leads"}}, false, false},
		"the settings name no team":  {`{}`, ports.PullState{}, false, false},
		"the author is called":       {`{"fix_loop": {"team": "alice"}}`, ports.PullState{}, false, false},
		"the repository is archived": {team, ports.PullState{Conversation: ports.Conversation{Archived: true}}, false, false},
		"in advisory mode":           {`{"mode": "advisory", "fix_loop": {"team": "acme/leads"}}`, ports.PullState{}, false, false},
	} {
		w := newWorld(t)
		r := reviewed(pipeline.DecisionFail)
		r.FixLoop.JustEscalated = !test.before
		if err := w.requests.CallTeam(t.Context(), publication(known(), r, settings(t, test.own), &test.now)); err != nil {
			t.Fatal(err)
		}
		if called := len(w.github.calls) > 0; called != test.called {
			t.Errorf("%s: calls %v", name, w.github.calls)
		}
	}
}
