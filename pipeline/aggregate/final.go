package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

// FinalHolds ends the condition of a decision that only a final finding makes as
// strict as it is: looser layers would let it pass.
const FinalHolds = ", for what is final in the "

// finalIn lists the layers that made a finding final, each once. Of one that was
// merged of several they are those of all.
func (w *work) finalIn(f *item) []string {
	var layers []string
	add := func(more ...string) {
		for _, layer := range more {
			if !slices.Contains(layers, layer) {
				layers = append(layers, layer)
			}
		}
	}
	for _, m := range f.each() {
		in := w.in.Config.FinalIn(m.RuleID, m.Agent)
		if r := w.rules[m.RuleID]; r != nil && r.Final && len(in) == 0 {
			in = []string{config.LayerServer}
		}
		add(in...)
	}
	for _, p := range f.parts {
		add(w.finalIn(p)...)
	}
	return layers
}

func (w *work) final(f *item) bool { return len(w.finalIn(f)) > 0 }

// lacking is the first layer that made a finding final and is not among those of
// which a person has the authority. Where it is the empty string, the person may take
// the finding out of the gate, as far as it is final. It is the one place that says
// so, for dismissals and for whatever else people say of a finding.
func (w *work) lacking(f *item, layers []string) string {
	for _, layer := range w.finalIn(f) {
		if !slices.Contains(layers, layer) {
			return layer
		}
	}
	return ""
}

// least is the confidence below which a finding does not count: for one of a
// final agent no more than the floor's, however high a repository sets its gate.
func (w *work) least(f *item) float64 {
	least := w.in.Config.Settings.Synthesis.ConfidenceGate
	for _, layer := range w.finalIn(f) {
		if floor := w.in.Config.Floor(layer); floor != nil {
			least = min(least, floor.Config.Settings.Synthesis.ConfidenceGate)
		}
	}
	return least
}

// holdFinal lets no layer above a floor decide more loosely about what is final in
// it: the final findings are decided about by the floor's conditions too, alone and
// beside what else the conditions read, and the strictest decision counts.
func (w *work) holdFinal() {
	for i := range w.in.Config.Floors {
		floor := &w.in.Config.Floors[i]
		if d, condition := w.floorDecision(floor, nil); d.Rank() > w.report.Decision.Rank() {
			w.report.Decision, w.report.Gate.Condition = d, condition+FinalHolds+floor.Layer+"'s layer"
		}
	}
}

// floorDecision is what a floor decides about its final findings. Of those in a
// layer in spared a person with the authority for them decided. An agent that
// looks for what is final and did not finish may have missed it.
func (w *work) floorDecision(floor *config.Floor, spared []string) (pipeline.Decision, string) {
	decision, condition := pipeline.DecisionPass, policies.NoCondition
	if slices.Contains(spared, floor.Layer) {
		return decision, condition
	}
	alone, without := zeroMetrics(), w.otherMetrics()
	with := w.otherMetrics()
	settings := floor.Config.Settings.Models
	held := false
	for _, f := range w.findings {
		if !slices.Contains(w.finalIn(f), floor.Layer) {
			continue
		}
		s := models.GateSeverity(f.Severity, f.proof, settings.Blocking)
		if own := f.GateSeverity; own.Rank() > s.Rank() {
			s = own
		}
		held = held || models.Holds(f.Severity, f.proof, settings.Blocking, settings.HoldForPerson)
		tell(alone, s, f.Confidence, f.State == pipeline.StateNew)
		tell(with, s, f.Confidence, f.State == pipeline.StateNew)
	}
	conditions := floor.Config.Settings.Gate.Conditions
	if alone[policies.MetricFindings] > 0 {
		decision, condition = policies.Decide(conditions, alone)
		before, _ := policies.Decide(conditions, without)
		if d, c := policies.Decide(conditions, with); d.Rank() > before.Rank() && d.Rank() > decision.Rank() {
			decision, condition = d, c
		}
	}
	if decision.Blocks() {
		return decision, condition
	}
	switch {
	case held:
		return pipeline.DecisionNeedsFixes, PersonDecides
	case w.finalUnknown(floor.Layer):
		return pipeline.DecisionNeedsFixes, Incomplete
	}
	return decision, condition
}

// finalUnknown reports whether there may be final findings of a layer that nobody
// knows: a stage failed, something of the change was not read, or an agent that
// looks for them was to run and did not finish.
func (w *work) finalUnknown(layer string) bool {
	if w.in.Failed != nil || slices.ContainsFunc(w.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating }) {
		return true
	}
	failed := w.failedAgents()
	for agent := range failed {
		if e := w.in.Manifest.Entry(agent); e == nil || !blocking(e) {
			continue
		}
		if slices.Contains(w.in.Config.FinalLayers(agent), layer) {
			return true
		}
	}
	return false
}

// otherMetrics are the metrics of the report that do not count findings.
func (w *work) otherMetrics() map[string]float64 {
	m := zeroMetrics()
	for _, name := range []string{
		policies.MetricGaps, policies.MetricUncoveredFiles, policies.MetricRiskScore, policies.MetricAgentsFailed, policies.MetricIncomplete,
	} {
		m[name] = w.report.Gate.Metrics[name]
	}
	return m
}
