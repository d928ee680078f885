package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

// FinalHolds follows the condition of a decision that would be milder if the findings that are
// final in one layer did not count. The layer's name follows.
const FinalHolds = ", for what is final in the "

// finalIn lists the layers that made a finding final, each once. A merged finding has the layers of
// all its members.
func (in *input) finalIn(f *item) []string {
	var layers []string
	add := func(more ...string) {
		for _, layer := range more {
			if !slices.Contains(layers, layer) {
				layers = append(layers, layer)
			}
		}
	}
	for _, m := range f.each() {
		own := in.Config.FinalIn(m.RuleID, m.Agent)
		if r := in.Rules[m.RuleID]; r != nil && r.Final && len(own) == 0 {
			own = []string{config.LayerServer}
		}
		add(own...)
	}
	for _, p := range f.parts {
		add(in.finalIn(p)...)
	}
	return layers
}

func (in *input) final(f *item) bool { return len(in.finalIn(f)) > 0 }

// finalLayers are the layers that made a finding final, with the people who may take it out of the
// gate.
func (in *input) finalLayers(f *item) (out pipeline.List[pipeline.FinalIn]) {
	for _, layer := range in.finalIn(f) {
		say := pipeline.FinalIn{Layer: layer}
		if floor := in.Config.Floor(layer); floor != nil {
			say.Authority = slices.Clone(floor.Authority)
		}
		out = append(out, say)
	}
	return out
}

// missingLayer returns the first layer that made a finding final and does not name a person. layers
// are those that do. It is "" if the person may take the finding out of the gate.
func (in *input) missingLayer(f *item, layers []string) string {
	for _, layer := range in.finalIn(f) {
		if !slices.Contains(layers, layer) {
			return layer
		}
	}
	return ""
}

// minConfidence is the confidence below which a finding does not count. For a final finding it is
// at most the floor's gate, however high a repository sets its own.
func (in *input) minConfidence(f *item) float64 {
	least := in.Config.Settings.Synthesis.ConfidenceGate
	for _, layer := range in.finalIn(f) {
		if floor := in.Config.Floor(layer); floor != nil {
			least = min(least, floor.Config.Settings.Synthesis.ConfidenceGate)
		}
	}
	return least
}

// holdFinal keeps the layers above a floor from deciding more loosely about the floor's final
// findings. The floor's conditions decide about those too, both alone and together with everything
// else that conditions read. The strictest decision counts, but after a person's override, only one
// that blocks. spared are the layers that name this person.
func (w *work) holdFinal(overridden bool, spared []string) {
	for i := range w.in.Config.Floors {
		floor := &w.in.Config.Floors[i]
		if d, condition := w.floorDecision(floor, spared); d.Rank() > w.report.Decision.Rank() && (d.Blocks() || !overridden) {
			w.report.Decision, w.report.Gate.Condition = d, condition+FinalHolds+floor.Layer+"'s layer"
		}
	}
}

// floorDecision is what a floor decides about its final findings. For the layers in spared, a
// person with the authority has decided, so it is a pass. If an agent that looks for final findings
// did not finish, it may have missed some, and the decision is at least needs_fixes.
func (w *work) floorDecision(floor *config.Floor, spared []string) (pipeline.Decision, string) {
	decision, condition := pipeline.DecisionPass, policies.NoCondition
	if slices.Contains(spared, floor.Layer) {
		return decision, condition
	}
	alone, without := zeroMetrics(), otherMetrics(&w.report)
	with := otherMetrics(&w.report)
	settings := floor.Config.Settings.Models
	held := false
	for _, f := range w.findings {
		if !slices.Contains(w.in.finalIn(f), floor.Layer) {
			continue
		}
		s := models.GateSeverity(f.Severity, f.proof, settings.Blocking)
		if own := f.GateSeverity; own.Rank() > s.Rank() {
			s = own
		}
		held = held || models.Holds(f.Severity, f.proof, settings.Blocking, settings.HoldForPerson)
		countFinding(alone, s, f.Confidence, f.State == pipeline.StateNew)
		countFinding(with, s, f.Confidence, f.State == pipeline.StateNew)
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
	case w.in.finalUnknown(floor.Layer):
		return pipeline.DecisionNeedsFixes, Incomplete
	}
	return decision, condition
}

// finalUnknown reports whether there may be unknown final findings of a layer: a stage failed, a
// part of the change was not read, or a required agent that looks for them did not finish.
func (in *input) finalUnknown(layer string) bool {
	if in.Failed != nil || slices.ContainsFunc(in.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating }) {
		return true
	}
	for agent := range in.failed {
		if e := in.Manifest.Entry(agent); e == nil || !blocking(e) || in.pending[agent] == pipeline.AgentNotAsked {
			continue // outside of a session nobody asks a reviewer of sessions
		}
		if slices.Contains(in.Config.FinalLayers(agent), layer) {
			return true
		}
	}
	return false
}

// otherMetrics returns the report's metrics that do not count findings.
func otherMetrics(r *pipeline.Report) map[string]float64 {
	m := zeroMetrics()
	for _, name := range []string{
		policies.MetricGaps, policies.MetricUncoveredFiles, policies.MetricRiskScore, policies.MetricAgentsFailed, policies.MetricIncomplete,
	} {
		m[name] = r.Gate.Metrics[name]
	}
	return m
}
