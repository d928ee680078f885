package aggregate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/models"
)

func TestByHand(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		action   pipeline.HandAction
		severity pipeline.Severity
		failed   bool // a required agent failed
		want     pipeline.Decision
		says     pipeline.Decision // the gate's own decision
		because  string
	}{
		{"override of a failure", pipeline.HandOverride, pipeline.SeverityCritical, false, pipeline.DecisionPass, pipeline.DecisionFail, "critical > 0"},
		{"override of an incomplete review", pipeline.HandOverride, pipeline.SeverityInfo, true, pipeline.DecisionPass, pipeline.DecisionNeedsFixes, Incomplete},
		{"override of a pass", pipeline.HandOverride, pipeline.SeverityInfo, false, pipeline.DecisionPass, pipeline.DecisionPass, ""},
		{"rejection of a pass", pipeline.HandReject, pipeline.SeverityInfo, false, pipeline.DecisionFail, pipeline.DecisionPass, ""},
	} {
		in := one(finding("a.go", 1, "T", tt.severity))
		if tt.failed {
			in.Results[0].Status = pipeline.AgentFailed
		}
		alone := Aggregate(in)
		in.Memory.ByHand = &pipeline.HandDecision{Action: tt.action, By: "ann", Reason: "on fire", At: at}
		r := Aggregate(in)
		if r.Decision != tt.want || alone.Decision != tt.says {
			t.Errorf("%s: %s, and %s by the gate, want %s and %s", tt.name, r.Decision, alone.Decision, tt.want, tt.says)
		}
		want := &pipeline.ByHand{Action: tt.action, By: "ann", Reason: "on fire", At: at, Gate: alone.Decision, GateCondition: alone.Gate.Condition}
		if diff := cmp.Diff(want, r.ByHand); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if tt.because != "" && r.ByHand.GateCondition != tt.because {
			t.Errorf("%s: the gate says %q, want %q", tt.name, r.ByHand.GateCondition, tt.because)
		}
		if tt.failed && len(r.Incomplete) == 0 {
			t.Errorf("%s: the report does not say that the review is incomplete", tt.name)
		}
	}
	in := one(finding("a.go", 1, "T", pipeline.SeverityMajor))
	in.Memory.ByHand = &pipeline.HandDecision{Action: "shrug"}
	if r := Aggregate(in); r.ByHand != nil || r.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("an unknown action decides: %s, %+v", r.Decision, r.ByHand)
	}
}

// A person can override the report of a failed aggregate stage too.
func TestByHandAfterAggregateFailed(t *testing.T) {
	in := one(finding("a.go", 1, "T", pipeline.SeverityInfo))
	in.Memory.ByHand = &pipeline.HandDecision{Action: pipeline.HandOverride, By: "ann"}
	r := Failed(in, &pipeline.Incompleteness{What: "stage", Why: "the stage aggregate failed", Gating: true})
	if r.Decision != pipeline.DecisionPass || r.ByHand == nil || r.ByHand.GateCondition != Incomplete || len(r.Incomplete) == 0 {
		t.Errorf("%s, %+v, %+v", r.Decision, r.ByHand, r.Incomplete)
	}
}

func TestAccepted(t *testing.T) {
	critical := ruledBy(finding("a.go", 2, "T", pipeline.SeverityCritical), "r1")
	held := panel(outputs{qualityA: {critical}})
	before := Aggregate(held)
	if before.Gate.Condition != PersonDecides {
		t.Fatalf("before: %s", before.Gate.Condition)
	}
	id := before.Findings[0].ID
	held.Memory.Accepted = pipeline.List[pipeline.Acceptance]{{Fingerprint: id, By: "alice"}}
	r := Aggregate(held)
	f := r.Findings[0]
	if r.Decision != pipeline.DecisionFail || f.GateSeverity != pipeline.SeverityCritical || !slices.Contains(inWords(f.Reasons), "accepted by alice") || f.HasReason(pipeline.ReasonHeld) {
		t.Errorf("accepted: %s, counts as %s: %q", r.Decision, f.GateSeverity, f.Reasons)
	}

	// The acceptance stays in force if the same finding is dismissed, and if the confidence in
	// models' findings drops.
	held.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: id, By: "bob", Override: true}}
	held.Memory.FalsePositives = pipeline.List[pipeline.FalsePositive]{{Rule: "r1"}}
	held.Results[0].Output.Findings[0].Confidence = 0.1
	if again := Aggregate(held); again.Decision != pipeline.DecisionFail {
		t.Errorf("dismissed, marked as a false positive and below the confidence gate: %s, %+v", again.Decision, again.Suppressed)
	}
}

// To accept a merged finding, it is enough to accept one of the findings that it was merged from,
// even if the report shows another of them.
func TestAcceptedPartOfAMergedFindingCounts(t *testing.T) {
	sure, unsure := finding("a.go", 2, "T", pipeline.SeverityCritical), finding("a.go", 3, "T", pipeline.SeverityCritical)
	sure.Confidence, unsure.Confidence = 0.9, 0.6
	in := panel(outputs{qualityA: {sure, unsure}})
	before := Aggregate(in)
	if len(before.Findings) != 1 || len(before.Findings[0].Fingerprints) != 2 || before.Gate.Condition != PersonDecides {
		t.Fatalf("before: %s, %+v", before.Gate.Condition, before.Findings)
	}
	for _, id := range before.Findings[0].Fingerprints {
		in.Memory.Accepted = pipeline.List[pipeline.Acceptance]{{Fingerprint: id, By: "alice"}}
		r := Aggregate(in)
		if r.Decision != pipeline.DecisionFail || len(r.Findings) != 1 || r.Findings[0].GateSeverity != pipeline.SeverityCritical {
			t.Errorf("%s accepted (shown as %s): %s, %+v", id, before.Findings[0].ID, r.Decision, r.Findings)
		}
	}
}

// The coverage notes which results were carried over, in addition to its other notes.
func TestCoverageSaysWhatWasCarriedOver(t *testing.T) {
	for _, tt := range []struct{ from, note, want string }{
		{"", "", ""},
		{"", "2 of 9 annotations were read", "2 of 9 annotations were read"},
		{"0123456789abcdef", "", "carried over from 0123456, whose change is equal"},
		{"here", "", "its last result on this head stands"},
		{"here", "2 of 9 annotations were read", "2 of 9 annotations were read; its last result on this head stands"},
	} {
		in := one(finding("a.go", 1, "T", pipeline.SeverityInfo))
		facts := *in.Facts
		facts.Head.SHA = "here"
		in.Facts, in.Results[0].CarriedFrom, in.Results[0].Note = &facts, tt.from, tt.note
		if got := Aggregate(in).Coverage[0].Note; got != tt.want {
			t.Errorf("%+v: the coverage says %q", tt, got)
		}
	}
}

// A comment in the code can't suppress a finding that a person accepted: the author of the change
// may have written the comment.
func TestAcceptedIsNotIgnored(t *testing.T) {
	in := commented(ruled(2, pipeline.SeverityMajor), "", "x() // reviewgate:ignore r1 known")
	r := Aggregate(in)
	if len(r.Suppressed) != 1 || r.Decision.Blocks() {
		t.Fatalf("%s, suppressed: %+v", r.Decision, r.Suppressed)
	}
	in.Memory.Accepted = pipeline.List[pipeline.Acceptance]{{Fingerprint: r.Suppressed[0].Finding.ID, By: "alice"}}
	if r := Aggregate(in); len(r.Suppressed) != 0 || !r.Decision.Blocks() {
		t.Errorf("%s, suppressed: %+v", r.Decision, r.Suppressed)
	}
}

// A finding of the quality stage that a person accepted counts even if the spec stage failed.
func TestAcceptedIsNotDiscarded(t *testing.T) {
	in := panel(outputs{
		qualityA: {finding("a.go", 4, "Q", pipeline.SeverityCritical)},
		specA:    {finding("a.go", 2, "S", pipeline.SeverityMajor)}, specB: {finding("a.go", 2, "S", pipeline.SeverityMajor)},
	})
	r := Aggregate(in)
	if len(r.Suppressed) != 1 {
		t.Fatalf("suppressed: %+v", r.Suppressed)
	}
	in.Memory.Accepted = pipeline.List[pipeline.Acceptance]{{Fingerprint: r.Suppressed[0].Finding.ID, By: "alice"}}
	if r := Aggregate(in); len(r.Suppressed) != 0 || r.Decision != pipeline.DecisionFail {
		t.Errorf("%s, suppressed: %+v", r.Decision, r.Suppressed)
	}
}

// drawMemory draws people's decisions about findings that exist, and about one that does not.
func drawMemory(t *rapid.T, r pipeline.Report) pipeline.Memory {
	ids := []string{"0123456789abcdef"}
	for _, f := range r.Findings {
		ids = append(ids, f.Fingerprints...)
	}
	for _, s := range r.Suppressed {
		ids = append(ids, s.Finding.Fingerprints...)
	}
	var m pipeline.Memory
	for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 4).Draw(t, "accepted") {
		m.Accepted = append(m.Accepted, pipeline.Acceptance{Fingerprint: id, By: "alice"})
	}
	for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 2).Draw(t, "dismissed") {
		m.Dismissed = append(m.Dismissed, pipeline.Dismissal{Fingerprint: id, By: "bob", Override: rapid.Bool().Draw(t, "override")})
	}
	return m
}

// A decision by hand changes the decision and records it. Everything else stays.
func TestByHandChangesOnlyTheDecision(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		in := panel(drawn(t, 10))
		in.Memory = drawMemory(t, Aggregate(in))
		if rapid.Bool().Draw(t, "failed") && len(in.Results) > 0 {
			in.Results[0].Status = pipeline.AgentTimedOut
		}
		alone := Aggregate(in)
		d := pipeline.HandDecision{Action: rapid.SampledFrom([]pipeline.HandAction{pipeline.HandOverride, pipeline.HandReject}).Draw(t, "action"), By: "ann"}
		in.Memory.ByHand = &d
		r := Aggregate(in)
		want := pipeline.DecisionPass
		if d.Action == pipeline.HandReject {
			want = pipeline.DecisionFail
		}
		if r.Decision != want || r.ByHand.Gate != alone.Decision || r.ByHand.GateCondition != alone.Gate.Condition {
			t.Errorf("%s by hand: %s, %+v; %s without", d.Action, r.Decision, r.ByHand, alone.Decision)
		}
		r.Decision, r.Gate.Condition, r.ByHand = alone.Decision, alone.Gate.Condition, nil
		if diff := cmp.Diff(alone, r); diff != "" {
			t.Errorf("more than the decision changed (-without +with):\n%s", diff)
		}
	})
}

// Accepting findings never unblocks a review, and an accepted finding counts with its full
// severity.
func TestAcceptNeverLoosens(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		in := panel(drawn(t, 10))
		in.Config.Settings.Models.HoldForPerson = rapid.SampledFrom([]string{models.HoldNever, models.HoldCritical, models.HoldAlways}).Draw(t, "hold")
		before := Aggregate(in)
		in.Memory = drawMemory(t, before)
		in.Memory.Dismissed = nil
		after := Aggregate(in)
		if before.Decision.Blocks() && !after.Decision.Blocks() {
			t.Errorf("%s became %s", before.Decision, after.Decision)
		}
		for _, f := range after.Findings {
			accepted := slices.ContainsFunc(in.Memory.Accepted, func(a pipeline.Acceptance) bool { return f.ID == a.Fingerprint })
			if accepted && f.Perspectives == nil && f.GateSeverity != f.Severity {
				t.Errorf("accepted %s counts as %s: %q", f.Severity, f.GateSeverity, f.Reasons)
			}
		}
	})
}
