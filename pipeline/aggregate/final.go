package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

// FinalHolds follows the condition of a decision that is only as strict because a finding
// is final: by the other layers it would be milder. The layer's name follows.
const FinalHolds = ", for what is final in the "

// finalIn lists the layers that made a finding final, each once. For a merged finding they
// are those of all its members.
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

// finalSay says which layers made a finding final, and who may take it out of the gate.
func (w *work) finalSay(f *item) (out pipeline.List[pipeline.FinalIn]) {
	for _, layer := range w.finalIn(f) {
		say := pipeline.FinalIn{Layer: layer}
		if floor := w.in.Config.Floor(layer); floor != nil {
			say.Authority = slices.Clone(floor.Authority)
		}
		out = append(out, say)
	}
	return out
}

// lacking returns the first layer that made a finding final and is not among those that
// name a person. If it is empty, the finding being final keeps the person from nothing.
func (w *work) lacking(f *item, layers []string) string {
	for _, layer := range w.finalIn(f) {
		if !slices.Contains(layers, layer) {
			return layer
		}
	}
	return ""
}

// least is the confidence below which a finding does not count. For a final one that is no
// more than the floor's, however high a repository sets its gate.
func (w *work) least(f *item) float64 {
	least := w.in.Config.Settings.Synthesis.ConfidenceGate
	for _, layer := range w.finalIn(f) {
		if floor := w.in.Config.Floor(layer); floor != nil {
			least = min(least, floor.Config.Settings.Synthesis.ConfidenceGate)
		}
	}
	return least
}

// holdFinal keeps the layers above a floor from deciding more loosely about what is final
// in it: the floor's conditions decide about the final findings too, alone and beside
// whatever else the conditions read, and the strictest decision counts.
func (w *work) holdFinal() {
	for i := range w.in.Config.Floors {
		floor := &w.in.Config.Floors[i]
		if d, condition := w.floorDecision(floor, nil); d.Rank() > w.report.Decision.Rank() {
			w.report.Decision, w.report.Gate.Condition = d, condition+FinalHolds+floor.Layer+"'s layer"
		}
	}
}

// floorDecision is what a floor decides about its final findings, unless its layer is
// among those spared, for which a person with the authority decided. An agent that looks
// for final findings and did not finish may have missed some.
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

// finalUnknown reports whether there may be unknown findings that are final in a layer: a
// stage failed, a part of the change was not read, or an agent that looks for them should
// have run and did not finish.
func (w *work) finalUnknown(layer string) bool {
	if w.in.Failed != nil || slices.ContainsFunc(w.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating }) {
		return true
	}
	for agent := range w.failedAgents() {
		if e := w.in.Manifest.Entry(agent); e == nil || !blocking(e) {
			continue
		}
		if slices.Contains(w.in.Config.FinalLayers(agent), layer) {
			return true
		}
	}
	return false
}

// otherMetrics returns the report's metrics that do not count findings.
func (w *work) otherMetrics() map[string]float64 {
	m := zeroMetrics()
	for _, name := range []string{
		policies.MetricGaps, policies.MetricUncoveredFiles, policies.MetricRiskScore, policies.MetricAgentsFailed, policies.MetricIncomplete,
	} {
		m[name] = w.report.Gate.Metrics[name]
	}
	return m
}
