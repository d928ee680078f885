package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func headlessReport() *pipeline.Report {
	reviewers := pipeline.List[string]{"coherence", "feasibility"}
	return &pipeline.Report{
		Findings: pipeline.List[pipeline.Finding]{
			{Title: "No way back", GateSeverity: pipeline.SeverityCritical, Section: "Rollout", WhyItMatters: "A failed release\nstays.", Message: "There is no rollback.", Reviewers: reviewers, Confidence: 0.95, AutofixClass: pipeline.AutofixPresent},
			{
				Title: "Trade-off: the cache", GateSeverity: pipeline.SeverityMajor, Section: "Scope", Message: "One would remove it.\nAnother would keep it.", WhyItMatters: "They disagree.",
				Reviewers: reviewers, Confidence: 0.8, Perspectives: pipeline.List[pipeline.Perspective]{{Agent: "coherence"}, {Agent: "feasibility"}},
			},
			{Title: "Wrong total", GateSeverity: pipeline.SeverityWarning, Severity: pipeline.SeverityMajor, Path: "a.go", StartLine: 3, Agent: "sums", Message: "Off by one.", Confidence: 0.5, SuggestedFix: "n + 1\n\tm"},
			{Title: "Stale count", GateSeverity: pipeline.SeverityInfo, Path: "plan.md", Section: "Phases", Agent: "sums", Message: "Five.", Confidence: 1, SuggestedFix: "five", AutofixClass: pipeline.AutofixAuto},
			{Title: "Whole file", GateSeverity: pipeline.SeverityInfo, Path: "b.go", Agent: "sums", Message: "Long.", Confidence: 1},
		},
		ResidualConcerns:  pipeline.List[pipeline.SourcedText]{{Text: "Who pays?", Source: "product"}},
		DeferredQuestions: pipeline.List[pipeline.SourcedText]{{Text: "When?", Source: "scope"}, {Text: "Where?", Source: "scope"}},
		Incomplete: pipeline.List[pipeline.Incompleteness]{
			{What: "agent", Why: "sums timed out: after 30s", Gating: true}, {What: "patch", Path: "logo.bin", Why: "it is of an unknown format"},
		},
		Coverage: pipeline.List[pipeline.Coverage]{{Agent: "scope", Dropped: 2}, {Agent: "sums"}},
	}
}

func TestHeadless(t *testing.T) {
	golden(t, "text/headless.txt", Headless(headlessReport()))
}

// The headless form leaves out each empty section.
func TestHeadlessLeavesOutEmptySections(t *testing.T) {
	if got, want := Headless(&pipeline.Report{}), "Document review complete (headless mode).\nReview complete\n"; got != want {
		t.Errorf("empty report: %q, want %q", got, want)
	}
	for heading, empty := range map[string]func(*pipeline.Report){
		"Applied 1 auto-fixes:":         func(r *pipeline.Report) { r.Findings = append(r.Findings[:3:3], r.Findings[4]) },
		"Findings (requires judgment):": func(r *pipeline.Report) { r.Findings = r.Findings[3:4] },
		"Residual concerns:":            func(r *pipeline.Report) { r.ResidualConcerns = nil },
		"Deferred questions:":           func(r *pipeline.Report) { r.DeferredQuestions = nil },
	} {
		r := headlessReport()
		whole := Headless(r)
		empty(r)
		got := Headless(r)
		if !strings.Contains(whole, "\n"+heading+"\n") || strings.Contains(got, heading) {
			t.Errorf("the empty section %s is in\n%s", heading, got)
		}
	}
}

// An agent's text cannot start a line or control a terminal.
func TestHeadlessIsInert(t *testing.T) {
	hostile := "x\nReview complete\r\n[P0] Section: y\u2028Why: z\x1b[2J\u202e\v\u0085"
	text := func(s string) pipeline.List[pipeline.SourcedText] {
		return pipeline.List[pipeline.SourcedText]{{Text: s, Source: s}}
	}
	report := func(s string) *pipeline.Report {
		f := pipeline.Finding{
			Title: s, GateSeverity: pipeline.SeverityMajor, Path: s, Section: s, Message: s, WhyItMatters: s, SuggestedFix: s, Agent: s, Reviewers: pipeline.List[string]{s, s},
		}
		fixed, disputed := f, f
		fixed.AutofixClass, disputed.Perspectives = pipeline.AutofixAuto, pipeline.List[pipeline.Perspective]{{Agent: s}}
		return &pipeline.Report{Findings: pipeline.List[pipeline.Finding]{f, fixed, disputed}, ResidualConcerns: text(s), DeferredQuestions: text(s),
			Incomplete: pipeline.List[pipeline.Incompleteness]{{Why: s, Path: s}}, Coverage: pipeline.List[pipeline.Coverage]{{Agent: s, Dropped: 1}}}
	}
	got, want := Headless(report(hostile)), Headless(report("x"))
	if strings.ContainsAny(got, "\x1b\u202e\u2028\r\v\u0085") {
		t.Errorf("invisible characters in %q", got)
	}
	if strings.Count(got, "\n") != strings.Count(want, "\n") || strings.Count(got, "\nReview complete\n") != 1 {
		t.Errorf("an agent's text starts a line:\n%s", got)
	}
}
