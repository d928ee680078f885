package publish_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// Labels follow the review. Labels that are already right take no call, and others' labels
// are left alone.
func TestLabels(t *testing.T) {
	const both = `{"labels": {"risk": true, "escalated": true}}`
	for name, test := range map[string]struct {
		own   string // settings
		have  []string
		loop  bool // the fix loop is escalated
		calls []string
	}{
		"the settings want none":       {`{}`, []string{"risk: low", "review-escalated"}, true, nil},
		"a new pull request":           {both, []string{"bug"}, false, []string{"add risk: high"}},
		"the risk is another":          {both, []string{"risk: low", "risk: medium"}, false, []string{"remove risk: low", "remove risk: medium", "add risk: high"}},
		"nothing has changed":          {both, []string{"risk: high", "review-escalated"}, true, nil},
		"the fix loop is escalated":    {both, []string{"risk: high"}, true, []string{"add review-escalated"}},
		"the fix loop goes on":         {both, []string{"risk: high", "review-escalated"}, false, []string{"remove review-escalated"}},
		"the prefix is another":        {`{"labels": {"risk": true, "prefix": "r/"}}`, []string{"risk: low"}, false, []string{"add r/high"}},
		"labels of the risk alone":     {`{"labels": {"risk": true}}`, []string{"review-escalated"}, false, []string{"add risk: high"}},
		"labels of the fix loop alone": {`{"labels": {"escalated": true}}`, nil, true, []string{"add review-escalated"}},
	} {
		w := newWorld(t)
		r := labelled(test.have, test.loop)
		if err := w.labels.Publish(t.Context(), publication(known(), r, settings(t, test.own), &ports.PullState{})); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.calls, w.github.calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, diff)
		}
	}
}

// labelled is a review of high risk for a pull request with labels.
func labelled(have []string, escalated bool) *ports.StoredReview {
	r := reviewed(pipeline.DecisionFail)
	r.Review.Facts.Labels = have
	r.Review.Classification.Risk.Level = pipeline.RiskHigh
	if escalated {
		r.FixLoop.Status = fixloop.Escalated
	}
	return r
}

func TestLabelsThatCanNotBeWritten(t *testing.T) {
	group := known()
	group.Kind = ports.TargetGroup
	for name, test := range map[string]struct {
		state   ports.TargetState
		talk    ports.Conversation
		refuses ports.HostKind
		lost    bool // the lease
		calls   int
		fails   bool
	}{
		"of a merge group":           {state: group},
		"the repository is archived": {state: known(), talk: ports.Conversation{Archived: true}},
		"GitHub refuses":             {state: known(), refuses: ports.HostForbidden, calls: 1},
		"GitHub is down":             {state: known(), refuses: ports.HostTransient, calls: 1, fails: true},
		"the lease is lost":          {state: known(), lost: true, fails: true},
	} {
		w := newWorld(t)
		w.store.lost = test.lost
		w.github.refuses["remove risk: low"] = test.refuses
		cfg := settings(t, `{"labels": {"risk": true}}`)
		err := w.labels.Publish(t.Context(), publication(test.state, labelled([]string{"risk: low"}, false), cfg, &ports.PullState{Conversation: test.talk}))
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", name, err)
		}
		if len(w.github.calls) != test.calls {
			t.Errorf("%s: calls %v", name, w.github.calls)
		}
	}
}
