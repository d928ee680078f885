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

// finalIn is the layer that made a finding final, or the empty string where the
// finding is not final. Of a finding that was merged of several, one is enough.
func (w *work) finalIn(f *item) string {
	for _, m := range f.each() {
		if layer := w.in.Config.FinalIn(m.RuleID, m.Agent); layer != "" {
			return layer
		}
		if r := w.rules[m.RuleID]; r != nil && r.Final {
			return config.LayerServer
		}
	}
	for _, p := range f.parts {
		if layer := w.finalIn(p); layer != "" {
			return layer
		}
	}
	return ""
}

func (w *work) final(f *item) bool { return w.finalIn(f) != "" }

// mayJudge reports whether a person may take a finding out of the gate, as far as
// it is final: layers are those of which the person has the named authority. It
// is the one place that says so, for dismissals and for whatever else people say
// of a finding.
func (w *work) mayJudge(f *item, layers []string) bool {
	layer := w.finalIn(f)
	return layer == "" || slices.Contains(layers, layer)
}

// least is the confidence below which a finding does not count: for one of a
// final agent no more than the floor's, however high a repository sets its gate.
func (w *work) least(f *item) float64 {
	least := w.in.Config.Settings.Synthesis.ConfidenceGate
	if floor := w.in.Config.Floor(w.finalIn(f)); floor != nil {
		least = min(least, floor.Config.Settings.Synthesis.ConfidenceGate)
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
		if w.finalIn(f) != floor.Layer {
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
