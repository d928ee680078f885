package models

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestGateSeverity(t *testing.T) {
	alone, two, other, quoted := Proof{Models: 1}, Proof{Models: 2}, Proof{Models: 1, Others: true}, Proof{Models: 1, Grounded: true}
	for _, tt := range []struct {
		severity pipeline.Severity
		proof    Proof
		blocking string
		want     pipeline.Severity
	}{
		{"critical", Proof{}, BlockingAgreed, "critical"}, // no model made it
		{"critical", alone, BlockingAgreed, "warning"},
		{"major", alone, BlockingAgreed, "warning"},
		{"warning", alone, BlockingAgreed, "warning"},
		{"info", alone, BlockingAgreed, "info"},
		{"critical", two, BlockingAgreed, "critical"},
		{"major", other, BlockingAgreed, "major"},
		{"major", quoted, BlockingAgreed, "warning"},
		{"major", quoted, BlockingGrounded, "major"},
		{"major", alone, BlockingGrounded, "warning"},
		{"major", quoted, "", "warning"}, // an unset setting has its default
	} {
		if got := GateSeverity(tt.severity, tt.proof, tt.blocking); got != tt.want {
			t.Errorf("GateSeverity(%s, %+v, %q) = %s, want %s", tt.severity, tt.proof, tt.blocking, got, tt.want)
		}
	}
}

func TestHolds(t *testing.T) {
	holding := map[string][]pipeline.Severity{
		HoldNever: nil, HoldCritical: {"critical"}, HoldAlways: {"critical", "major"}, "": nil,
	}
	for hold, severities := range holding {
		for _, s := range pipeline.Severities() {
			if got, want := Holds(s, Proof{Models: 1}, BlockingAgreed, hold), slices.Contains(severities, s); got != want {
				t.Errorf("%q: one model's %s holds: %v, want %v", hold, s, got, want)
			}
			for _, proven := range []Proof{{}, {Models: 2}, {Models: 1, Others: true}} {
				if Holds(s, proven, BlockingAgreed, hold) {
					t.Errorf("%q: %s with %+v holds the gate although it counts with its own severity", hold, s, proven)
				}
			}
		}
	}
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct{ names, reviewers, want []string }{
		{[]string{"b", "a", "b"}, nil, []string{"a", "b", "b"}},
		{[]string{"strong", "weak", "new", "strong"}, []string{"weak", "strong", "strong"}, []string{"weak", "new", "strong", "strong"}},
		{[]string{"a", "b"}, []string{"b", "a"}, []string{"b", "a"}},
		{[]string{"strong", "weak", "new", "more"}, []string{"weak", "strong"}, []string{"weak", "more", "new", "strong"}},
		{[]string{"a", "z"}, []string{"z"}, []string{"z", "a"}},
		{nil, []string{"a"}, nil},
	} {
		if diff := cmp.Diff(tt.want, Order(tt.names, tt.reviewers)); diff != "" {
			t.Errorf("%v by %v: %s", tt.names, tt.reviewers, diff)
		}
	}
}

func TestVerdicts(t *testing.T) {
	const spec, quality = pipeline.ReviewStageSpec, pipeline.ReviewStageQuality
	pass := func(stage string) Review { return Review{"m", stage, true, false} }
	fail := func(stage string) Review { return Review{"m", stage, true, true} }
	lost := func(stage string) Review { return Review{"m", stage, false, false} }
	others := Review{"n", quality, true, false}
	for _, tt := range []struct {
		name       string
		reviews    []Review
		specFailed bool
		want       string // spec, quality, both
	}{
		{"both pass", []Review{pass(spec), pass(quality)}, false, "PASS PASS PASS"},
		{"spec fails", []Review{fail(spec), pass(quality)}, false, "FAIL PASS FAIL"},
		{"quality fails", []Review{pass(spec), fail(quality)}, false, "PASS FAIL FAIL"},
		{"quality fails and does not count", []Review{pass(spec), fail(quality)}, true, "PASS FAIL PASS"},
		{"spec not finished", []Review{lost(spec), pass(quality)}, false, "UNKNOWN PASS UNKNOWN"},
		{"quality not finished", []Review{pass(spec), lost(quality)}, false, "PASS UNKNOWN UNKNOWN"},
		{"quality not finished and does not count", []Review{pass(spec), lost(quality)}, true, "PASS UNKNOWN PASS"},
		{"one fails, one is not finished", []Review{fail(spec), lost(quality)}, false, "FAIL UNKNOWN FAIL"},
		{"spec alone", []Review{pass(spec)}, false, "PASS  PASS"},
		{"quality alone", []Review{pass(quality)}, false, " PASS PASS"},
		{"a stage that only others reviewed", []Review{pass(spec), others}, false, "PASS  UNKNOWN"},
		{"no review at all", []Review{others}, false, "  UNKNOWN"},
		{"no review of the stage that counts", []Review{pass(quality)}, true, " PASS UNKNOWN"},
		{"two agents in a stage, one fails", []Review{pass(spec), fail(spec)}, false, "FAIL  FAIL"},
		{"two agents in a stage, one not finished", []Review{lost(spec), pass(spec)}, false, "UNKNOWN  UNKNOWN"},
		{"a review without a stage counts as quality", []Review{fail("")}, false, " FAIL FAIL"},
	} {
		v := Verdicts([]string{"m"}, tt.reviews, tt.specFailed)[0]
		if got := fmt.Sprintf("%s %s %s", v.Spec, v.Quality, v.Verdict); got != tt.want || v.Model != "m" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAssess(t *testing.T) {
	const p, f, u = pipeline.VerdictPass, pipeline.VerdictFail, pipeline.VerdictUnknown
	agreed, strong, both := Tally{Findings: 3, AgreedCritical: true}, Tally{Findings: 3, StrongerCritical: true}, Tally{Findings: 3, AgreedCritical: true, StrongerCritical: true}
	for _, tt := range []struct {
		strategy   string
		verdicts   []pipeline.Verdict
		tally      Tally
		confidence float64
		label      string
		decision   pipeline.AutoDecision
	}{
		{StrategyParallel, []pipeline.Verdict{p, p}, Tally{}, 1.00, "very high", pipeline.AutoApprove},
		{StrategyParallel, []pipeline.Verdict{p, p}, Tally{Findings: 1}, 0.85, "high", pipeline.AutoApproveWithNotes},
		{StrategyParallel, []pipeline.Verdict{f, f}, agreed, 0.90, "high", pipeline.AutoReject},
		{StrategyParallel, []pipeline.Verdict{f, f}, both, 0.90, "high", pipeline.AutoReject},
		{StrategyParallel, []pipeline.Verdict{f, f}, strong, 0.70, "medium", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{p, f}, strong, 0.70, "medium", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{f, f}, Tally{Findings: 2}, 0.60, "medium", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{p, f}, Tally{Findings: 2}, 0.40, "low", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{f, p}, agreed, 0.40, "low", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{p, u}, Tally{}, 0.40, "low", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{u, f}, strong, 0.40, "low", pipeline.AutoHuman},
		{StrategyParallel, []pipeline.Verdict{f, u}, agreed, 0.40, "low", pipeline.AutoHuman},
		// Findings of agents without models failed the spec stage.
		{StrategyParallel, []pipeline.Verdict{p, p}, Tally{SpecFailed: true}, 0.40, "low", pipeline.AutoHuman},
		{StrategyParallel, nil, Tally{}, 0.40, "low", pipeline.AutoHuman},

		{StrategySingle, []pipeline.Verdict{p}, Tally{}, 0.85, "high", pipeline.AutoApprove},
		{StrategySingle, []pipeline.Verdict{p}, Tally{Findings: 1}, 0.75, "medium", pipeline.AutoHuman},
		{StrategySingle, []pipeline.Verdict{f}, Tally{Findings: 1}, 0.60, "medium", pipeline.AutoHuman},
		{StrategySingle, []pipeline.Verdict{f}, agreed, 0.60, "medium", pipeline.AutoHuman},
		{StrategySingle, []pipeline.Verdict{u}, Tally{}, 0.40, "low", pipeline.AutoHuman},
		{StrategySingle, []pipeline.Verdict{p}, Tally{SpecFailed: true}, 0.40, "low", pipeline.AutoHuman},
		{StrategySingle, []pipeline.Verdict{p, f}, Tally{Findings: 1}, 0.40, "low", pipeline.AutoHuman},
	} {
		var verdicts []pipeline.ModelVerdict
		for _, v := range tt.verdicts {
			verdicts = append(verdicts, pipeline.ModelVerdict{Verdict: v})
		}
		want := Assessment{tt.confidence, tt.label, tt.decision}
		if got := Assess(tt.strategy, verdicts, tt.tally); got != want {
			t.Errorf("%s %v %+v: %+v, want %+v", tt.strategy, tt.verdicts, tt.tally, got, want)
		}
	}
}
