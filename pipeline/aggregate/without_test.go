package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies"
)

// drawConditions draws conditions, many of which make no sense.
func drawConditions(t *rapid.T) []policies.GateCondition {
	var metrics []string
	for _, m := range policies.Metrics() {
		metrics = append(metrics, m.Name)
	}
	comparison := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%s %s %d", rapid.SampledFrom(metrics).Draw(t, "metric"), rapid.SampledFrom([]string{">", "<", "==", ">=", "!="}).Draw(t, "op"), rapid.IntRange(0, 3).Draw(t, "number"))
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) policies.GateCondition {
		return policies.GateCondition{
			When:     strings.Join(rapid.SliceOfN(comparison, 1, 2).Draw(t, "when"), " && "),
			Decision: rapid.SampledFrom([]pipeline.Decision{pipeline.DecisionPass, pipeline.DecisionPassWithWarnings, pipeline.DecisionNeedsFixes, pipeline.DecisionFail}).Draw(t, "decision"),
		}
	}), 1, 4).Draw(t, "conditions")
}

// covers returns manifest entries. The entries of models name their models.
func covers(t *rapid.T, o outputs) (entries pipeline.List[pipeline.ManifestEntry]) {
	for _, r := range staff {
		if o[r] == nil || slices.ContainsFunc(entries, func(e pipeline.ManifestEntry) bool { return e.Agent == r.agent }) {
			continue
		}
		e := pipeline.ManifestEntry{Agent: r.agent, Scope: pipeline.AgentScope{Files: pipeline.List[string]{"a.go"}}}
		if r.model != "" {
			e.Scope, e.Models, e.Stage = pipeline.AgentScope{All: rapid.Bool().Draw(t, "all")}, pipeline.List[string]{"a", "b"}, r.stage
		}
		entries = append(entries, e)
	}
	return entries
}

// Models' findings and failures never make the gate milder. This holds for any conditions, even for
// those that make no sense.
func TestModelsOnlyTightenAnyGate(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		all := drawn(t, 10)
		without := all.withoutModels()
		alone, with := panel(without), panel(all)
		alone.Manifest.Entries, with.Manifest.Entries = covers(t, without), covers(t, all)
		alone.Config.Settings.Gate.Conditions = drawConditions(t)
		with.Config.Settings.Gate.Conditions = alone.Config.Settings.Gate.Conditions
		for i := range with.Results {
			if r := &with.Results[i]; r.Model != "" && rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
				r.Status = rapid.SampledFrom([]pipeline.AgentStatus{pipeline.AgentFailed, pipeline.AgentSkipped, pipeline.AgentDiscarded, pipeline.AgentTimedOut}).Draw(t, "status")
				r.Output.Findings = nil
			}
		}
		// The signals found one gap, and a model with the same name found more.
		signal := pipeline.GapLogEntry{Path: "a.go", Agent: "x", Source: "signals", Suggestion: pipeline.ConfigPatch{File: config.FileDomains}}
		alone.Gaps = pipeline.List[pipeline.GapLogEntry]{signal}
		with.Gaps = propose(t, &with)
		before, after := Aggregate(alone), Aggregate(with)
		if after.Decision.Rank() < before.Decision.Rank() {
			t.Errorf("%s by %q without models, %s by %q with them", before.Decision, before.Gate.Condition, after.Decision, after.Gate.Condition)
		}
	})
}

// propose adds a model's gaps to an input. It sends agents to more files, where they report more
// findings, and adds agents that run only because of the gaps.
func propose(t *rapid.T, in *Input) pipeline.List[pipeline.GapLogEntry] {
	const detector = "signals"
	log := pipeline.List[pipeline.GapLogEntry]{{Path: "a.go", Agent: "x", Source: "signals", Suggestion: pipeline.ConfigPatch{File: config.FileDomains}}}
	in.Results = append(in.Results, pipeline.AgentResult{Agent: pipeline.GapDetector, Model: detector, Status: pipeline.AgentOK})
	gap := func(agent string) {
		log = append(log, pipeline.GapLogEntry{Path: "b.go", Agent: agent, Source: detector, Suggestion: pipeline.ConfigPatch{File: config.FileComposition}})
	}
	more := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pipeline.Finding {
		f := drawFinding(t)
		f.Path, f.Section = "b.go", ""
		return f
	}), 0, 3)
	if e := in.Manifest.Entry("y"); e == nil && rapid.Bool().Draw(t, "sent") {
		gap("y")
		in.Manifest.Entries = append(in.Manifest.Entries, pipeline.ManifestEntry{Agent: "y", AddedBy: pipeline.AddedByGapDetect, Scope: pipeline.AgentScope{Files: pipeline.List[string]{"b.go"}}})
		in.Results = append(in.Results, pipeline.AgentResult{Agent: "y", Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: more.Draw(t, "more")}})
	}
	for i := range in.Results {
		r := &in.Results[i]
		if e := in.Manifest.Entry("x"); r.Agent == "x" && e != nil && !slices.ContainsFunc(r.Output.Findings, func(f pipeline.Finding) bool { return f.Path == "b.go" }) {
			gap("x")
			e.Scope.Files = pipeline.List[string]{"a.go", "b.go"}
			r.Output.Findings = append(slices.Clone(r.Output.Findings), more.Draw(t, "more")...)
		}
	}
	return log
}

// These are conditions that people write, and what a model would have to report to meet them.
func TestConditionsThatModelsMightMeet(t *testing.T) {
	const fixes = pipeline.DecisionNeedsFixes
	warning := finding("b.go", 1, "T", pipeline.SeverityWarning)
	unsure := sure(finding("a.go", 2, "U", pipeline.SeverityInfo), 0.7)
	for name, tt := range map[string]struct {
		conditions []policies.GateCondition
		agent      pipeline.Finding
		models     outputs
		files      []string // the files of agent x
		gap        bool     // the model sends x to the other files
		decided    string
	}{
		"a warning decides before the risk does": {
			[]policies.GateCondition{{When: "warning > 0", Decision: pipeline.DecisionPassWithWarnings}, {When: "risk_score >= 75", Decision: fixes}},
			unsure, outputs{qualityA: {warning}}, nil, false, "risk_score >= 75",
		},
		"agreement raises confidence": {
			[]policies.GateCondition{{When: "min_confidence < 0.75", Decision: fixes}},
			unsure, outputs{qualityA: {unsure}, qualityB: {unsure}}, nil, false, "min_confidence < 0.75",
		},
		"a model covers files that nobody else does": {
			[]policies.GateCondition{{When: "uncovered_files > 0", Decision: fixes}},
			unsure, outputs{qualityA: {}}, []string{"a.go"}, false, "uncovered_files > 0",
		},
		"a model sends an agent there": {
			[]policies.GateCondition{{When: "uncovered_files > 0", Decision: fixes}},
			unsure, nil, []string{"a.go"}, true, "uncovered_files > 0",
		},
		"many gaps count as a new repository": {
			[]policies.GateCondition{{When: "gaps > 0", Decision: pipeline.DecisionPass}, {When: "risk_score >= 75", Decision: fixes}},
			unsure, nil, []string{"a.go"}, true, "risk_score >= 75",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := outputs{x: {tt.agent}}
			for r, f := range tt.models {
				o[r] = f
			}
			in := panel(o)
			in.Classification = &pipeline.Classification{Risk: pipeline.Risk{Score: 80}}
			in.Config.Settings.Gate.Conditions = tt.conditions
			scope := pipeline.AgentScope{All: tt.files == nil, Files: tt.files}
			in.Manifest.Entries = pipeline.List[pipeline.ManifestEntry]{
				{Agent: "quality", Scope: pipeline.AgentScope{All: true}, Models: pipeline.List[string]{"a", "b"}}, {Agent: "x", Scope: scope},
			}
			if tt.gap {
				in.Manifest.Entries[1].Scope.Files = []string{"a.go", "b.go", "docs/plans/p.md"}
				in.Results = append(in.Results, pipeline.AgentResult{Agent: pipeline.GapDetector, Model: "a", Status: pipeline.AgentOK}, pipeline.AgentResult{Agent: "quality", Model: "a", Status: pipeline.AgentOK})
				for _, path := range []string{"b.go", "docs/plans/p.md"} {
					in.Gaps = append(in.Gaps, pipeline.GapLogEntry{Path: path, Agent: "x", Source: "a", Suggestion: pipeline.ConfigPatch{File: config.FileComposition}})
				}
			}
			if r := Aggregate(in); r.Decision != fixes || r.Gate.Condition != tt.decided+WithoutModels {
				t.Errorf("%s by %q, want %s by %q", r.Decision, r.Gate.Condition, fixes, tt.decided)
			}
		})
	}
}

// A decision by hand stands even if the gate without models is stricter.
func TestByHandStandsDespiteAStricterGate(t *testing.T) {
	in := panel(outputs{qualityA: {finding("a.go", 2, "T", pipeline.SeverityWarning)}})
	in.Config.Settings.Gate.Conditions = []policies.GateCondition{{When: "findings > 0", Decision: pipeline.DecisionPass}, {When: "findings == 0", Decision: pipeline.DecisionFail}}
	in.Memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandOverride, By: "ann"}
	r := Aggregate(in)
	if r.Decision != pipeline.DecisionPass || r.ByHand == nil || r.ByHand.Gate != pipeline.DecisionFail || r.ByHand.GateCondition != "findings == 0"+WithoutModels {
		t.Errorf("%s, by hand %+v", r.Decision, r.ByHand)
	}
}

// The spec stage fails if its findings block by the settings. If the settings let them pass, the
// quality stage counts. If the stage fails, the change does not pass, even if another condition
// would let it pass.
func TestSpecStageFailsWhereItMayBlock(t *testing.T) {
	major, critical := finding("a.go", 2, "T", pipeline.SeverityMajor), finding("b.go", 1, "Q", pipeline.SeverityCritical)
	o := outputs{specA: {major}, specB: {major}, qualityA: {critical}, qualityB: {critical}}
	for name, tt := range map[string]struct {
		conditions []policies.GateCondition
		discarded  int
		decision   pipeline.Decision
		condition  string
	}{
		"it blocks": {settings().Gate.Conditions, 2, pipeline.DecisionNeedsFixes, "major > 0"},
		"only critical findings block": {
			[]policies.GateCondition{{When: "critical > 0", Decision: pipeline.DecisionFail}}, 0, pipeline.DecisionFail, "critical > 0",
		},
		"it blocks by itself, and something else lets it pass": {
			[]policies.GateCondition{{When: "risk_score > 50", Decision: pipeline.DecisionPass}, {When: "major > 0", Decision: pipeline.DecisionNeedsFixes}}, 2, pipeline.DecisionNeedsFixes, SpecFailed,
		},
	} {
		in := panel(o)
		in.Classification = &pipeline.Classification{Risk: pipeline.Risk{Score: 80}}
		in.Config.Settings.Gate.Conditions = tt.conditions
		r := Aggregate(in)
		if len(r.Suppressed) != tt.discarded || r.Decision != tt.decision || r.Gate.Condition != tt.condition {
			t.Errorf("%s: %d suppressed, %s by %q; want %d, %s by %q", name, len(r.Suppressed), r.Decision, r.Gate.Condition, tt.discarded, tt.decision, tt.condition)
		}
		in.Results = slices.DeleteFunc(in.Results, func(r pipeline.AgentResult) bool { return r.Stage == pipeline.ReviewStageQuality })
		if got := SpecFails(in); got != (tt.discarded > 0) {
			t.Errorf("%s: before the quality stage is asked, the spec stage fails: %v", name, got)
		}
		in.Results = append(in.Results, pipeline.AgentResult{Agent: "quality", Model: "a", Stage: pipeline.ReviewStageQuality, Status: pipeline.AgentDiscarded})
		if r := Aggregate(in); tt.discarded > 0 && !r.Decision.Blocks() {
			t.Errorf("%s: without the quality stage, the decision is %s", name, r.Decision)
		}
	}
}

// A finding is not resolved if its agent was not asked.
func TestSkippedAgentResolvesNothing(t *testing.T) {
	q, spec := finding("b.go", 1, "Q", pipeline.SeverityMajor), finding("a.go", 2, "T", pipeline.SeverityMajor)
	entries := pipeline.List[pipeline.ManifestEntry]{
		{Agent: "quality", Scope: pipeline.AgentScope{All: true}, Models: pipeline.List[string]{"a", "b"}}, {Agent: "spec", Scope: pipeline.AgentScope{All: true}, Models: pipeline.List[string]{"a", "b"}},
	}
	first := panel(outputs{specA: {}, specB: {}, qualityA: {q}, qualityB: {q}})
	second := panel(outputs{specA: {spec}, specB: {spec}, qualityA: {}, qualityB: {}})
	third := panel(outputs{specA: {}, specB: {}, qualityA: {q}, qualityB: {q}})
	for _, in := range []*Input{&first, &second, &third} {
		in.Manifest.Entries = entries
	}
	for i := range second.Results {
		if r := &second.Results[i]; r.Stage == pipeline.ReviewStageQuality {
			r.Status = pipeline.AgentDiscarded
		}
	}
	wantHistory(t, "not asked", afterHeads(first, second), "new 1, open 0, resolved 0, unconfirmed 1, back []")
	// A finding that blocked stays even if no model raises it again: the spec stage fails again.
	wantHistory(t, "asked again", afterHeads(first, second, third), "new 0, open 1, resolved 0, unconfirmed 0, back []")
}
