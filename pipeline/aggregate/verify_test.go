package aggregate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// verified makes a model give the same verdict on every unproven finding.
func verified(in Input, by string, verdict pipeline.OpinionVerdict) Input {
	row := pipeline.AgentResult{Agent: pipeline.Verifier, Model: by, Status: pipeline.AgentOK}
	for _, d := range Unproven(in, by, every) {
		row.Verifications = append(row.Verifications, pipeline.Verification{
			Finding: d.Key, Opinion: pipeline.Opinion{Model: "whoever", Verdict: verdict, Quote: "q", Why: "w"},
		})
	}
	in.Results = append(slices.Clip(in.Results), row)
	return in
}

// A finding of one model counts once another model confirms it. If another model refutes it, it
// counts as before.
func TestVerified(t *testing.T) {
	at := func(line int, title string, severity pipeline.Severity) pipeline.Finding {
		return finding("a.go", line, title, severity)
	}
	alone := outputs{qualityA: {at(2, "Rows skipped", "major")}}
	for _, tt := range []struct {
		name    string
		in      Input
		by      string
		verdict pipeline.OpinionVerdict
		want    string
	}{
		{"confirmed by another", panel(alone), "c", pipeline.OpinionConfirmed, "Rows skipped: a, confirmed by c, major"},
		{"confirmed by the other reviewer", panel(alone), "b", pipeline.OpinionConfirmed, "Rows skipped: a, confirmed by b, major"},
		{"refuted by another", panel(alone), "c", pipeline.OpinionRefuted, "Rows skipped: a only, warning"},
		{"neither confirmed nor refuted", panel(alone), "c", pipeline.OpinionNone, "Rows skipped: a only, warning"},
		{"confirmed by itself", panel(alone), "a", pipeline.OpinionConfirmed, "Rows skipped: a only, warning"},
		{"reported twice by one model, and confirmed", several(panel(alone), qualityA, []pipeline.Finding{at(3, "The rows skipped", "critical")}), "c", pipeline.OpinionConfirmed, "The rows skipped: a, confirmed by c, critical"},
		{"critical and confirmed", panel(outputs{qualityA: {at(2, "Rows skipped", "critical")}}), "c", pipeline.OpinionConfirmed, "Rows skipped: a, confirmed by c, critical"},
		{"a finding of two models, which needs no opinion", panel(outputs{qualityA: alone[qualityA], qualityB: alone[qualityA]}), "c", pipeline.OpinionRefuted, "Rows skipped: both models, major"},
		{"a warning, which needs no opinion", panel(outputs{qualityA: {at(2, "Rows skipped", "warning")}}), "c", pipeline.OpinionConfirmed, "Rows skipped: a only, warning"},
		{"a rule's finding, which needs no opinion", panel(outputs{x: {ruledBy(at(2, "Rows skipped", "major"), "r1")}}), "c", pipeline.OpinionRefuted, "Rows skipped: x, major"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := Aggregate(tt.in)
			after := Aggregate(verified(tt.in, tt.by, tt.verdict))
			if got := summary(after); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if after.Decision.Rank() < before.Decision.Rank() {
				t.Errorf("the opinion made the gate milder: %s, before %s", after.Decision, before.Decision)
			}
			opinions := 0
			for _, f := range after.Findings {
				for _, o := range f.Opinions {
					opinions++
					if o.Model != tt.by {
						t.Errorf("the opinion is by %s, but %s was asked", o.Model, tt.by)
					}
				}
			}
			if asked := len(Unproven(tt.in, tt.by, every)) > 0 && tt.verdict != pipeline.OpinionNone; asked != (opinions > 0) {
				t.Errorf("%d opinions are shown", opinions)
			}
		})
	}
}

// Models are asked about the worst findings first, about each defect once, and never twice about
// the same one.
func TestUnproven(t *testing.T) {
	in := panel(outputs{qualityA: {
		finding("a.go", 2, "Rows skipped", "major"), finding("a.go", 3, "Money lost", "critical"), finding("a.go", 4, "Slow", "info"), finding("b.go", 2, "Keys leak", "major"),
	}})
	in = several(in, qualityA, []pipeline.Finding{finding("a.go", 2, "Rows skipped", "major")})
	titles := func(doubts []Doubt) string {
		var out []string
		for _, d := range doubts {
			out = append(out, d.Finding.Title)
		}
		return fmt.Sprint(out)
	}
	if got, want := titles(Unproven(in, "b", every)), "[Money lost Keys leak Rows skipped]"; got != want && got != "[Money lost Rows skipped Keys leak]" {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := titles(Unproven(in, "b", func(d *Doubt) bool { return d.Finding.Path == "b.go" })), "[Keys leak]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := titles(Unproven(in, "a", every)); got != "[]" {
		t.Errorf("the model is asked about its own finding: %s", got)
	}
	for _, verdict := range []pipeline.OpinionVerdict{pipeline.OpinionConfirmed, pipeline.OpinionRefuted, pipeline.OpinionNone} {
		if got := titles(Unproven(verified(in, "b", verdict), "b", every)); got != "[]" {
			t.Errorf("after %q it is asked again about %s", verdict, got)
		}
	}
	if got := titles(Unproven(verified(in, "b", pipeline.OpinionRefuted), "c", every)); got == "[]" {
		t.Errorf("after one model refuted all findings, another model is asked about %s", got)
	}
}

// An agent can't supply opinions on its own findings.
func TestOpinionsAreNotClaimed(t *testing.T) {
	f := finding("a.go", 2, "Rows skipped", "major")
	f.Opinions = pipeline.List[pipeline.Opinion]{{Model: "b", Verdict: pipeline.OpinionConfirmed, Quote: "q", Why: "w"}}
	report := Aggregate(panel(outputs{qualityA: {f}}))
	if got := summary(report); got != "Rows skipped: a only, warning" || len(report.Findings[0].Opinions) > 0 {
		t.Errorf("%s, %+v", got, report.Findings[0].Opinions)
	}
}

func every(*Doubt) bool { return true }

// A model whose serious findings were voided does not pass the change: a person decides.
func TestVoidedFindingsNeedAPerson(t *testing.T) {
	in := panel(outputs{qualityA: {}, qualityB: {}})
	if r := Aggregate(in); r.Models.AutoDecision != pipeline.AutoApprove {
		t.Fatalf("without findings: %s", r.Models.AutoDecision)
	}
	in.Results = slices.Clone(in.Results)
	in.Results[0].Output.Voided = 1
	r := Aggregate(in)
	if r.Models.AutoDecision != pipeline.AutoHuman || !slices.ContainsFunc(r.Models.Verdicts, func(v pipeline.ModelVerdict) bool { return v.Verdict == pipeline.VerdictUnknown }) {
		t.Errorf("%s, %+v", r.Models.AutoDecision, r.Models.Verdicts)
	}
}
