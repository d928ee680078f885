package publish_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// proposing is a review of a change to the config.
func proposing() *ports.StoredReview {
	r := reviewed(pipeline.DecisionPass)
	path := config.RepositoryDir + "/" + config.FileRules
	r.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: path}}
	r.Review.Report.ProposedConfig = pipeline.ProposedConfig{Files: pipeline.List[string]{path}, Decision: pipeline.DecisionPass}
	r.Config = []ports.ConfigBlob{{Layer: ports.LayerProposed, Path: path, Text: []byte("[]")}}
	return r
}

// A published review asks for the backtest of the config that it proposes, unless the backtest is
// there or nobody would see it.
func TestBacktestIsAskedForOnce(t *testing.T) {
	_, proposal := inforce.ProposedFiles(proposing())
	job := `next backtest {"key":"pull/2/3","head_sha":"aaa","proposal":"` + proposal + `"}`
	is := func(head, of string) func(*world, *ports.TargetState, *ports.StoredReview) {
		return func(w *world, _ *ports.TargetState, _ *ports.StoredReview) {
			w.store.backtest = &ports.ConfigBacktest{HeadSHA: head, Proposal: of, Result: pipeline.ConfigBacktest{Days: 90, Stored: 7, Reviews: 7}, SavedAt: w.checks.Now()}
		}
	}
	old := func(age time.Duration) func(*world, *ports.TargetState, *ports.StoredReview) {
		return func(w *world, s *ports.TargetState, r *ports.StoredReview) {
			is("aaa", proposal)(w, s, r)
			w.store.backtest.SavedAt = w.checks.Now().Add(-age)
		}
	}
	mode := func(mode, proposed string) func(*world, *ports.TargetState, *ports.StoredReview) {
		return func(_ *world, _ *ports.TargetState, r *ports.StoredReview) {
			r.Review.Report.ProposedConfig.Mode = proposed
			r.Config = append(r.Config, ports.ConfigBlob{Layer: config.LayerRepository, Path: config.FileSettings, Text: []byte(`{"mode": "` + mode + `"}`)})
		}
	}
	change := func(f func(*ports.StoredReview)) func(*world, *ports.TargetState, *ports.StoredReview) {
		return func(_ *world, _ *ports.TargetState, r *ports.StoredReview) { f(r) }
	}
	proposed := func(f func(*pipeline.ProposedConfig)) func(*world, *ports.TargetState, *ports.StoredReview) {
		return change(func(r *ports.StoredReview) { f(&r.Review.Report.ProposedConfig) })
	}
	for name, test := range map[string]struct {
		change       func(*world, *ports.TargetState, *ports.StoredReview)
		asked, shown bool
	}{
		"the first review":       {is("", ""), true, false},
		"it is there":            {is("aaa", proposal), false, true},
		"of another head":        {is("bbb", proposal), true, false},
		"of another proposal":    {is("aaa", "other"), true, false},
		"a merge group":          {func(_ *world, s *ports.TargetState, _ *ports.StoredReview) { s.Kind = ports.TargetGroup }, false, false},
		"no comments":            {change(func(r *ports.StoredReview) { r.Config = append(r.Config, silent) }), false, false},
		"no config":              {change(func(r *ports.StoredReview) { r.Review.Facts.Files[0].Path = ".gitattributes" }), false, false},
		"all config is deleted":  {change(func(r *ports.StoredReview) { r.Config = nil }), true, false},
		"it has mistakes":        {proposed(func(p *pipeline.ProposedConfig) { p.Problems = pipeline.List[pipeline.ConfigProblem]{{}} }), false, false},
		"it was not tried":       {proposed(func(p *pipeline.ProposedConfig) { p.Decision = "" }), false, false},
		"it switches itself off": {proposed(func(p *pipeline.ProposedConfig) { p.Mode = config.ModeOff }), false, false},
		"it will only advise":    {proposed(func(p *pipeline.ProposedConfig) { p.Mode = config.ModeAdvisory }), false, false},
		"it only advises":        {mode(config.ModeAdvisory, ""), false, false},
		"it enforces":            {mode(config.ModeEnforce, ""), true, false},
		"it switches itself on":  {mode(config.ModeAdvisory, config.ModeEnforce), true, false},
		"it is of yesterday":     {old(24*time.Hour - 1), false, true},
		"it is older":            {old(24 * time.Hour), true, true},
		"it can't be decoded": {func(w *world, _ *ports.TargetState, _ *ports.StoredReview) {
			w.store.unread = fmt.Errorf("no JSON: %w", ports.ErrUnreadable)
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, state, r := newWorld(t), known(), proposing()
			test.change(w, &state, r)
			if err := w.publisher.Publish(t.Context(), t.Context(), held, state, r); err != nil {
				t.Fatal(err)
			}
			asked := false
			for _, n := range w.store.noted {
				asked = asked || strings.HasPrefix(n, "next ")
			}
			if asked != test.asked {
				t.Errorf("noted %q, want asked %t", w.store.noted, test.asked)
			}
			if name == "the first review" {
				if diff := cmp.Diff([]string{job, "published run"}, w.store.noted); diff != "" {
					t.Errorf("noted (-want +got):\n%s", diff)
				}
			}
			shown := len(w.github.comments) == 1 && strings.Contains(w.github.comments[0].Body, "On the 7 reviews")
			if shown != test.shown {
				t.Errorf("shown %t, want %t: %+v", shown, test.shown, w.github.comments)
			}
		})
	}
}

// silent switches the comment off.
var silent = ports.ConfigBlob{Layer: config.LayerRepository, Path: config.FileSettings, Text: []byte(`{"comment": {"when": "never"}}`)}
