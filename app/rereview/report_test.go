package rereview

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// informed is a store that knows one target and its last review, and records the asks.
type informed struct {
	ports.Layers
	ports.Targets
	ports.History
	ports.Intake
	state  ports.TargetState
	review *ports.StoredReview
	fails  error // error for the target, which is unknown then
	asks   []ports.ReviewAsk
}

func (*informed) GoodLayer(context.Context, int64, string) (*ports.GoodLayer, error) { return nil, nil }

func (*informed) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

func (i *informed) Target(context.Context, string) (ports.TargetState, error) {
	return i.state, i.fails
}

func (i *informed) LatestReview(context.Context, string) (*ports.StoredReview, error) {
	return i.review, nil
}

func (i *informed) Ask(_ context.Context, ask ports.ReviewAsk) error {
	i.asks = append(i.asks, ask)
	return nil
}

// bouncer is a GitHub that returns one permission for everybody, and counts the questions.
type bouncer struct {
	ports.PeopleReader
	may   ports.Permission
	fails error
	asked int
}

func (b *bouncer) Permission(context.Context, ports.Target, string) (ports.Permission, error) {
	b.asked++
	return b.may, b.fails
}

// reviewWith is a review in which one agent ran, with the shipped config or with a file of
// the repository.
func reviewWith(agent string, own ...ports.ConfigBlob) *ports.StoredReview {
	r := &ports.StoredReview{Config: own}
	r.Review.Manifest.Entries = pipeline.List[pipeline.ManifestEntry]{{Agent: agent}}
	return r
}

// An event about a report costs only the calls that show whether it matters, and asks for a
// review only if it does.
func TestEventsOfReports(t *testing.T) {
	done, running := ports.TargetState{Wanted: 2, Done: 2}, ports.TargetState{Wanted: 3, Done: 2}
	closed, closing := ports.TargetState{Wanted: 2, Done: 2, Closed: true}, ports.TargetState{Wanted: 3, Done: 2, Closed: true}
	const reports = "review-reports"
	silent := ports.ConfigBlob{Layer: config.LayerRepository, Path: config.FileAgents, Text: []byte(`[{"id": "review-reports", "reports": {"comments": false}}]`)}
	broken := ports.ConfigBlob{Layer: config.LayerRepository, Path: config.FileAgents, Text: []byte(`[`)}
	trouble := &ports.HostError{Op: "ask", Kind: ports.HostTransient, Err: errors.New("bad gateway")}
	tests := map[string]struct {
		store        informed
		github       bouncer
		asked, again bool // GitHub, and for a review
		fails        bool
	}{
		"reports were read":                            {store: informed{state: done, review: reviewWith(reports)}, asked: true, again: true},
		"the author has no write permission":           {store: informed{state: done, review: reviewWith(reports)}, github: bouncer{may: ports.PermissionTriage}, asked: true},
		"GitHub does not tell the author's permission": {store: informed{state: done, review: reviewWith(reports)}, github: bouncer{fails: trouble}, asked: true, fails: true},
		"other agents ran":                             {store: informed{state: done, review: reviewWith("secrets")}},
		"comments are not read":                        {store: informed{state: done, review: reviewWith(reports, silent)}},
		"the config can't be read any more":            {store: informed{state: done, review: reviewWith(reports, broken)}, fails: true},
		"never reviewed":                               {store: informed{state: done}},
		"a review is under way":                        {store: informed{state: running}, asked: true, again: true},
		"closed":                                       {store: informed{state: closed, review: reviewWith(reports)}},
		"closed in the middle of a review":             {store: informed{state: closing, review: reviewWith(reports)}},
		"not known":                                    {store: informed{fails: ports.ErrNotFound}},
		"the store fails":                              {store: informed{fails: errors.New("connection reset")}, fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.github.may == "" {
				tt.github.may = ports.PermissionWrite
			}
			n := &Reported{
				Configs: &inforce.Configs{Layers: &tt.store, Loader: config.NewLoader(1)}, Targets: &tt.store, History: &tt.store,
				Intake: &tt.store, PeopleReader: &tt.github,
			}
			target := ports.Target{Kind: ports.TargetPull, RepoID: 2, Number: 3}
			err := n.Work(t.Context(), ports.ReportJob{Report: ports.ReportNews{Target: target, Author: "alice"}, Delivery: "guid"}, 1)
			if (err != nil) != tt.fails {
				t.Errorf("error %v", err)
			}
			if got := tt.github.asked == 1; got != tt.asked || tt.github.asked > 1 {
				t.Errorf("GitHub was asked %d times", tt.github.asked)
			}
			var want []ports.ReviewAsk
			if tt.again {
				want = []ports.ReviewAsk{{Target: target, Reason: "review report by alice", Once: "guid pull/2/3"}}
			}
			if diff := cmp.Diff(want, tt.store.asks); diff != "" {
				t.Errorf("asks (-want +got):\n%s", diff)
			}
		})
	}
}
