package backtest

import (
	"context"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// kept is an archive of reviews of one pull request, which was merged.
type kept []*ports.StoredReview

func (k kept) Archived(context.Context, ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		for _, s := range k {
			if s == nil {
				if !yield(nil, &ports.AlteredError{RunID: "altered"}) {
					return
				}
				continue
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (k kept) Ended(context.Context, string) (ports.PullEnd, error) { return ports.PullMerged, nil }

func reviewOf(head string, change func(*pipeline.Review)) *ports.StoredReview {
	s := &ports.StoredReview{RunID: "run-" + head, Key: "pull/1/7", HeadSHA: head}
	s.Review.Report.Decision = pipeline.DecisionPass
	change(&s.Review)
	return s
}

// evaluating is a review in which the agent words ran in evaluation. Findings would block.
func evaluating(head string, status pipeline.AgentStatus, found, resolved []pipeline.Finding) *ports.StoredReview {
	return reviewOf(head, func(v *pipeline.Review) {
		e := &pipeline.Evaluation{Findings: found, Resolved: resolved, Decision: pipeline.DecisionPass, Coverage: pipeline.List[pipeline.Coverage]{{Agent: "words", Status: status}}}
		if len(found) > 0 {
			e.Decision, e.Condition = pipeline.DecisionNeedsFixes, "major > 0"
		}
		v.Report.Evaluation = e
	})
}

func finding(id string) pipeline.Finding {
	return pipeline.Finding{ID: id, Fingerprints: pipeline.List[string]{id}, RuleID: "word", Agent: "words", Title: "A word", Path: "a.go", StartLine: 1, GateSeverity: pipeline.SeverityMajor}
}

func TestEvaluate(t *testing.T) {
	one := []pipeline.Finding{finding("one")}
	silent := reviewOf("bbb", func(*pipeline.Review) {})
	override := reviewOf("aaa", func(v *pipeline.Review) { v.Memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandOverride} })
	type counts struct{ Reviews, Blocked, Unknown, Found, Fixed, Failed int }
	for name, c := range map[string]struct {
		reviews kept
		want    counts
		people  People
	}{
		"fixed at the next head": {kept{evaluating("aaa", pipeline.AgentOK, one, nil), evaluating("bbb", pipeline.AgentOK, nil, one)}, counts{2, 1, 0, 1, 1, 0}, PeopleFixed},
		"merged as it was":       {kept{evaluating("aaa", pipeline.AgentOK, one, nil)}, counts{1, 1, 0, 1, 0, 0}, PeopleMerged},
		"silent on the same head": {kept{evaluating("aaa", pipeline.AgentOK, one, nil), evaluating("aaa", pipeline.AgentOK, nil, nil)},
			counts{1, 0, 0, 1, 0, 0}, ""},
		"its agent failed":      {kept{evaluating("aaa", pipeline.AgentFailed, nil, nil)}, counts{1, 0, 1, 0, 0, 0}, ""},
		"no evaluation after":   {kept{evaluating("aaa", pipeline.AgentOK, one, nil), silent}, counts{1, 1, 0, 1, 0, 0}, PeopleMerged},
		"overridden without it": {kept{evaluating("aaa", pipeline.AgentOK, one, nil), override}, counts{1, 1, 0, 1, 0, 0}, PeopleOverrode},
		"none at all":           {kept{silent}, counts{}, ""},
		"an altered review":     {kept{nil, silent}, counts{0, 0, 0, 0, 0, 1}, ""},
	} {
		got, err := Evaluate(t.Context(), c.reviews, ports.ReviewFilter{})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Evaluation
		have := counts{Reviews: r.Reviews, Blocked: len(r.Blocked), Unknown: r.UnknownReviews(), Failed: len(got.Failed)}
		for _, f := range r.Findings {
			have.Found, have.Fixed = have.Found+f.Gained, have.Fixed+f.LaterChanged
		}
		if diff := cmp.Diff(c.want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(r.Blocked) > 0 && r.Blocked[0].People != c.people {
			t.Errorf("%s: people %s, want %s", name, r.Blocked[0].People, c.people)
		}
	}
}

// Of the findings of a shadow config, one counts as fixed only if another head certainly lacks it.
func TestShadowFixes(t *testing.T) {
	one := pipeline.List[pipeline.Finding]{finding("one")}
	by := finding("one")
	by.Model = "m"
	shadow := func(head, version string, sh pipeline.Shadow) *ports.StoredReview {
		return reviewOf(head, func(v *pipeline.Review) {
			sh.Version, sh.Decision = version, pipeline.DecisionPass
			v.Shadow = &sh
		})
	}
	for name, c := range map[string]struct {
		first, second *ports.StoredReview
		fixed         int
	}{
		"another head":   {shadow("aaa", "1", pipeline.Shadow{New: one}), shadow("bbb", "1", pipeline.Shadow{}), 1},
		"the same head":  {shadow("aaa", "1", pipeline.Shadow{New: one}), shadow("aaa", "1", pipeline.Shadow{}), 0},
		"another config": {shadow("aaa", "1", pipeline.Shadow{New: one}), shadow("bbb", "2", pipeline.Shadow{}), 0},
		"a long list":    {shadow("aaa", "1", pipeline.Shadow{New: one}), shadow("bbb", "1", pipeline.Shadow{NewMore: 1}), 0},
		"an unknown":     {shadow("aaa", "1", pipeline.Shadow{New: one}), shadow("bbb", "1", pipeline.Shadow{Agents: pipeline.List[string]{"words"}}), 0},
		"a model":        {shadow("aaa", "1", pipeline.Shadow{New: pipeline.List[pipeline.Finding]{by}}), shadow("bbb", "1", pipeline.Shadow{}), 0},
	} {
		got, err := Evaluate(t.Context(), kept{c.first, c.second}, ports.ReviewFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var fixed pipeline.List[int]
		for _, f := range got.Shadow.Findings {
			fixed = append(fixed, f.LaterChanged)
		}
		if diff := cmp.Diff(pipeline.List[int]{c.fixed}, fixed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
