package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// assess puts the models' reviews together, where models took part. It decides
// nothing in the gate.
func (w *work) assess() {
	settings := w.in.Config.Settings.Models
	var names []string
	for _, r := range w.in.Results {
		if reviews(&r) {
			names = append(names, r.Model)
		}
	}
	if len(names) == 0 {
		return
	}
	strategy := settings.Strategy
	if strategy != models.StrategySingle {
		strategy = models.StrategyParallel
		names = append(names, settings.Reviewers...) // one that did not answer is missed
	}
	names = models.Order(names, settings.Reviewers)
	if len(names) == 1 {
		strategy = models.StrategySingle
	}
	m := &pipeline.ModelsReport{Strategy: strategy, Verdicts: models.Verdicts(names, w.reviews, w.specFails)}
	tally := w.tally(names, &m.Merge)
	row := models.Assess(strategy, m.Verdicts, tally)
	m.Confidence, m.ConfidenceLabel, m.AutoDecision = row.Confidence, row.Label, row.Decision
	w.report.Models = m
}

// reviews reports whether a result is a model's review. What a model says of the
// choice of agents is none.
func reviews(r *pipeline.AgentResult) bool { return r.Model != "" && r.Agent != pipeline.GapDetector }

// thing is what models say as it stands in the end.
type thing struct {
	models   map[string]bool
	critical bool
	disputed bool
}

// tally counts what the models found by who found it: one thing that several
// said is one. names are ordered, the stronger last.
func (w *work) tally(names []string, merge *pipeline.ModelsMerge) models.Tally {
	t := models.Tally{SpecFailed: w.specFails}
	things := map[*said]*thing{}
	var order []*thing
	for _, f := range w.findings {
		disputed := f.disputedByModels()
		if disputed {
			merge.Contradictions++
		}
		if slices.ContainsFunc(f.each(), func(m *item) bool { return m.Model != "" }) {
			t.Findings++
		}
		for _, m := range f.each() {
			if m.said == nil {
				continue // no model's, or one that came back from below the confidence gate
			}
			x := things[m.said.find()]
			if x == nil {
				x = &thing{models: map[string]bool{}}
				things[m.said.find()] = x
				order = append(order, x)
			}
			x.models[m.Model] = true
			x.critical = x.critical || m.Severity == pipeline.SeverityCritical
			x.disputed = x.disputed || disputed
		}
	}
	stronger := names[len(names)-1]
	for _, x := range order {
		x.count(stronger, len(names) > 1, merge, &t)
	}
	return t
}

func (x *thing) count(stronger string, several bool, merge *pipeline.ModelsMerge, t *models.Tally) {
	byStronger := several && x.models[stronger]
	switch {
	case len(x.models) > 1:
		t.AgreedCritical = t.AgreedCritical || x.critical
		if !x.disputed {
			merge.Agreed++
		}
	case byStronger:
		t.StrongerCritical = t.StrongerCritical || x.critical
		if !x.disputed {
			merge.BOnly++
		}
	case !x.disputed:
		merge.AOnly++
	}
}
