package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// assess summarises the models' reviews, if models took part. It does not affect the gate.
func (w *work) assess() {
	settings := w.in.Config.Settings.Models
	var names []string
	for _, r := range w.in.Results {
		if isReview(&r) {
			names = append(names, r.Model)
		}
	}
	if len(names) == 0 {
		return
	}
	strategy := settings.Strategy
	if strategy != models.StrategySingle {
		strategy = models.StrategyParallel
		names = append(names, settings.Reviewers...) // a reviewer without an answer counts too
	}
	names = slices.Compact(models.Order(names, settings.Reviewers))
	if len(names) == 1 {
		strategy = models.StrategySingle
	}
	m := &pipeline.ModelsReport{Strategy: strategy, Verdicts: models.Verdicts(names, w.reviews, w.specFails)}
	tally := w.tally(names, m)
	row := models.Assess(strategy, m.Verdicts, tally)
	m.Confidence, m.ConfidenceLabel, m.AutoDecision = row.Confidence, row.Label, row.Decision
	w.report.Models = m
}

// isReview reports whether a result is a model's review. Neither an answer about the choice of
// agents nor a remote reviewer's answer is one.
func isReview(r *pipeline.AgentResult) bool {
	return r.Model != "" && !r.Remote && !pipeline.Auxiliary(r.Agent)
}

// tallied is a claim of models in its final form.
type tallied struct {
	models   map[string]bool
	spec     bool // it comes from the spec stage
	critical bool
	disputed bool
	f        *item // the finding that contains it
}

// tally counts what the models found by who found it. A claim of several models counts once.
// names are in order of strength, the strongest last.
func (w *work) tally(names []string, m *pipeline.ModelsReport) models.Tally {
	merge := &m.Merge
	t := models.Tally{SpecFailed: w.specFails}
	byClaim := map[*claim]*tallied{}
	var all []*tallied
	for _, f := range w.findings {
		disputed := f.disputedByModels()
		if disputed {
			merge.Contradictions++
		}
		if slices.ContainsFunc(f.each(), func(m *item) bool { return m.Model != "" && !m.remote }) {
			t.Findings++
		}
		for _, m := range f.each() {
			if m.claim == nil {
				continue // it is not a model's, or it was below the confidence gate
			}
			x := byClaim[m.claim.find()]
			if x == nil {
				x = &tallied{models: map[string]bool{}, f: f}
				byClaim[m.claim.find()] = x
				all = append(all, x)
			}
			x.models[m.Model] = true
			for _, o := range m.opinions {
				if o.Verdict == pipeline.OpinionConfirmed {
					x.models[o.Model] = true
				}
			}
			x.spec = x.spec || m.stage == pipeline.ReviewStageSpec
			x.critical = x.critical || m.Severity == pipeline.SeverityCritical
			x.disputed = x.disputed || disputed
		}
	}
	stronger := names[len(names)-1]
	stages := newStages(w.reviews)
	for _, x := range all {
		category := x.category(stronger, len(names) > 1)
		switch category {
		case pipeline.ModelsAgreed:
			merge.Agreed++
		case pipeline.ModelsAOnly:
			merge.AOnly++
		case pipeline.ModelsBOnly:
			merge.BOnly++
		}
		t.AgreedCritical = t.AgreedCritical || x.critical && len(x.models) > 1
		t.StrongerCritical = t.StrongerCritical || x.critical && len(x.models) == 1 && len(names) > 1 && x.models[stronger]
		stages.count(x, category)
	}
	m.Stages = stages.list
	return t
}

// category says which models made a claim. If there are several, the strongest is B.
func (x *tallied) category(stronger string, several bool) string {
	switch {
	case x.disputed:
		return pipeline.ModelsContradictions
	case len(x.models) > 1:
		return pipeline.ModelsAgreed
	case several && x.models[stronger]:
		return pipeline.ModelsBOnly
	}
	return pipeline.ModelsAOnly
}

// stages are tables of what the models found, by stage.
type stages struct {
	list     pipeline.List[pipeline.ModelsStage]
	disputes map[*item]bool // already counted: one finding shows several claims
}

func newStages(reviews []models.Review) *stages {
	s := &stages{disputes: map[*item]bool{}}
	for _, stage := range []string{pipeline.ReviewStageSpec, pipeline.ReviewStageQuality} {
		if !slices.ContainsFunc(reviews, func(r models.Review) bool {
			return (r.Stage == pipeline.ReviewStageSpec) == (stage == pipeline.ReviewStageSpec)
		}) {
			continue
		}
		one := pipeline.ModelsStage{Stage: stage}
		for _, c := range []string{pipeline.ModelsAgreed, pipeline.ModelsAOnly, pipeline.ModelsBOnly, pipeline.ModelsContradictions} {
			one.Categories = append(one.Categories, pipeline.ModelsCategory{Category: c})
		}
		s.list = append(s.list, one)
	}
	return s
}

func (s *stages) count(x *tallied, category string) {
	if x.disputed {
		if s.disputes[x.f] {
			return
		}
		s.disputes[x.f] = true
	}
	for i := range s.list {
		if (s.list[i].Stage == pipeline.ReviewStageSpec) != x.spec {
			continue
		}
		for k := range s.list[i].Categories {
			if c := &s.list[i].Categories[k]; c.Category == category {
				c.Count++
				if action := x.f.action(); c.Count == 1 || x.f.Severity.Rank() > c.Worst.Rank() || action == pipeline.ModelsHolds {
					c.Worst, c.Action = x.f.Severity, action
				}
			}
		}
	}
}

// action is what a finding does in the gate.
func (f *item) action() pipeline.ModelsAction {
	switch {
	case f.HasReason(pipeline.ReasonHeld):
		return pipeline.ModelsHolds
	case f.GateSeverity.Rank() >= pipeline.SeverityMajor.Rank():
		return pipeline.ModelsBlocks
	}
	return pipeline.ModelsNoted
}
