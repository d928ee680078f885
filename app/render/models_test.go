package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
)

// oneModelFinding returns a finding by one model that counts less in the gate than the
// model's severity. held says whether it waits for a person.
func oneModelFinding(s pipeline.Severity, held bool) pipeline.Finding {
	f := pipeline.Finding{
		Title: "Unproven", Message: "m", Severity: s, GateSeverity: pipeline.SeverityWarning, Agent: "security-llm", Model: "claude-opus",
		Path: "api/orders.go", StartLine: 76, ID: "1234123412341234", Reasons: pipeline.List[pipeline.Reason]{{Text: string(s) + ", by one model only"}},
	}
	if held {
		f.Reasons = append(f.Reasons, pipeline.Reason{Kind: pipeline.ReasonHeld})
	}
	return f
}

// Every format says that only one model made a finding.
func TestByOneModelOnly(t *testing.T) {
	v := cleanView()
	setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0", oneModelFinding(pipeline.SeverityMajor, false))
	for format, text := range map[string]string{"comment": Comment(v).Body, "check": Check(v).Text} {
		if !strings.Contains(text, "warning (major, by one model only)") || !strings.Contains(text, "security-llm (claude-opus)") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
	if text := Text(v, TextOptions{Width: 1000}); !strings.Contains(text, "major, by one model only · security-llm (claude-opus)") {
		t.Error(text)
	}
}

// A review that waits for a person says so in its title, and shows the findings that wait in
// full.
func TestAPersonMustDecide(t *testing.T) {
	warning := findingsView().Review.Report.Findings[3]
	for name, tt := range map[string]struct {
		mode     string
		findings []pipeline.Finding
		title    string
	}{
		"one critical":        {config.ModeEnforce, []pipeline.Finding{oneModelFinding(pipeline.SeverityCritical, true)}, "A person must decide: 1 critical by one model only"},
		"beside others":       {config.ModeEnforce, []pipeline.Finding{warning, oneModelFinding(pipeline.SeverityCritical, true)}, "A person must decide: 1 critical by one model only; also 1 warning"},
		"majors are held too": {config.ModeEnforce, []pipeline.Finding{oneModelFinding(pipeline.SeverityMajor, true)}, "A person must decide: 1 major by one model only"},
		"no finding waits":    {config.ModeEnforce, []pipeline.Finding{warning}, "A person must decide: 1 warning"},
		"advisory":            {config.ModeAdvisory, []pipeline.Finding{oneModelFinding(pipeline.SeverityCritical, true)}, "A person would have to decide: 1 critical by one model only (advisory)"},
	} {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			v.Mode = tt.mode
			setFindings(&v, pipeline.DecisionNeedsFixes, aggregate.PersonDecides, tt.findings...)
			check, comment := Check(v), wholeComment(v)
			if check.Title != tt.title || !strings.Contains(comment, "\n## ✋ "+tt.title+"\n") {
				t.Errorf("title %q, want %q:\n%s", check.Title, tt.title, comment)
			}
			if tt.mode == config.ModeEnforce && Conclusion(v) != ConclusionActionRequired {
				t.Errorf("conclusion %s", Conclusion(v))
			}
			if strings.Contains(comment, "of this repository's gate") || !strings.Contains(comment, "hold_for_person") {
				t.Errorf("the condition is shown as the repository's own:\n%s", comment)
			}
			held := strings.Contains(comment, "🟡 **1 · Unproven** · ") && strings.Contains(comment, "<sub>warning (") && strings.Contains(comment, "somebody with the right")
			if waits := name != "no finding waits"; held != waits {
				t.Errorf("the finding that waits comes first: %v:\n%s", held, comment)
			}
		})
	}
}

// Findings that wait for a person come after critical and major ones, even if these
// decided.
func TestHeldFindingsFollowMajorOnes(t *testing.T) {
	all := findingsView().Review.Report.Findings
	v := cleanView()
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", all[3], oneModelFinding(pipeline.SeverityCritical, true), all[2])
	c := Comment(v).Body
	for _, words := range []string{"## ✋ Needs fixes: 1 major, 2 warnings\n", "**1 · TLS certificates", "🟡 **2 · Unproven** · ", "<sub>warning (critical, by one model only)", "<b>Worth a look</b>: 1 warning<"} {
		if !strings.Contains(c, words) {
			t.Errorf("the comment lacks %q:\n%s", words, c)
		}
	}
}

// The models' part has each model's verdict, and the findings by model.
func TestModelsPart(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(m *pipeline.ModelsReport)
		want   []string
		not    string
	}{
		"two models": {func(*pipeline.ModelsReport) {}, []string{
			"<b>Models</b>: medium confidence (0.60), a person should look<", "| claude-haiku | PASS | FAIL | FAIL |",
			"| quality stage | findings | worst | in the gate |", "| both models | 1 | major | blocks |", "| claude-haiku only | 0 | – | – |",
			"| claude-opus only | 1 | major | noted, does not block |", "| contradictions | 0 | – | – |", "Nothing found in the spec stage.", "`models.strategy` is parallel;",
			"the rule and both models, confidence 0.95", "claude-opus only, confidence ", "matcher (claude-haiku) said which findings are about one thing",
		}, ""},
		"one model": {func(m *pipeline.ModelsReport) {
			m.Strategy, m.Verdicts = "single", m.Verdicts[1:]
			m.Confidence, m.ConfidenceLabel, m.AutoDecision = 0.85, "high", pipeline.AutoApprove
			m.Stages[1].Categories[1] = pipeline.ModelsCategory{Category: pipeline.ModelsAOnly, Count: 1, Worst: "info", Action: pipeline.ModelsNoted}
		}, []string{"high confidence (0.85), could be approved without a person<", "| claude-opus | PASS | FAIL | FAIL |", "`models.strategy` is single;", "| claude-opus | 1 | info | noted, does not block |"}, "| contradictions |"},
		"with notes": {func(m *pipeline.ModelsReport) { m.AutoDecision = pipeline.AutoApproveWithNotes }, []string{"could be approved without a person, with notes<"}, ""},
		"rejected":   {func(m *pipeline.ModelsReport) { m.AutoDecision = pipeline.AutoReject }, []string{"could be rejected without a person<"}, ""},
		"unfinished": {func(m *pipeline.ModelsReport) {
			m.Verdicts[0].Spec, m.Verdicts[0].Quality, m.Verdicts[0].Verdict = pipeline.VerdictUnknown, pipeline.VerdictNone, "something"
		}, []string{"| claude-haiku | UNKNOWN |  | UNKNOWN |"}, ""},
		"failed by findings of another stage": {func(m *pipeline.ModelsReport) { m.Verdicts[1].Spec = pipeline.VerdictFail },
			[]string{"Nothing else found in the spec stage."}, "Nothing found in the spec stage"},
		"nobody finished": {func(m *pipeline.ModelsReport) {
			for i := range m.Verdicts {
				m.Verdicts[i].Spec = pipeline.VerdictUnknown
			}
		}, []string{"No model finished the spec stage."}, "Nothing found in the spec stage"},
		"unknown words": {func(m *pipeline.ModelsReport) { m.ConfidenceLabel, m.AutoDecision = "</summary>", "approved" },
			[]string{"<b>Models</b>: confidence (0.60), a person should look<"}, "approved"},
	} {
		t.Run(name, func(t *testing.T) {
			v := modelsView()
			tt.change(v.Review.Report.Models)
			c := wholeComment(v)
			for _, words := range tt.want {
				if !strings.Contains(c, words) {
					t.Errorf("the comment lacks %q:\n%s", words, c)
				}
			}
			if tt.not != "" && strings.Contains(c, tt.not) {
				t.Errorf("the comment has %q:\n%s", tt.not, c)
			}
		})
	}
	if c := Comment(findingsView()).Body; strings.Contains(c, "<b>Models</b>") {
		t.Errorf("no model took part:\n%s", c)
	}
}

// The coverage has a line for each model of an agent, and for an agent that was not
// dispatched.
func TestCoverageOfModels(t *testing.T) {
	v := modelsView()
	v.Review.Report.Coverage = append(v.Review.Report.Coverage, pipeline.Coverage{Agent: "outside", Status: pipeline.AgentOK, Findings: 2, Dropped: 1})
	text := Text(v, TextOptions{Width: 1000})
	for _, words := range []string{
		"- security-reviewer (claude-opus) read 1 file, 1 finding, and 1 more under others' names (", "- security-reviewer (claude-haiku) read 1 file, 1 finding under others' names (",
		"- outside handed in 2 findings. 1 finding was not valid and left out.\n",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("the text lacks %q:\n%s", words, text)
		}
	}
}

// If models leave the decision to a person, the headline says so, and no text says that
// nobody has to look.
func TestPersonShouldLook(t *testing.T) {
	passing := func() View {
		v := modelsView()
		fs := v.Review.Report.Findings
		setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0", fs[1], fs[2])
		v.Review.Report.Models.Verdicts[0].Quality, v.Review.Report.Models.Verdicts[0].Verdict = pipeline.VerdictPass, pipeline.VerdictPass
		return v
	}
	for name, tt := range map[string]struct {
		change func(v *View)
		title  string
		next   string
	}{
		"the models disagree": {func(*View) {}, "Passed with 1 warning, 1 info; the models disagree: a person should look at 1 finding",
			"**Next**: the models disagree: a person should look at 1 finding. The check does not wait for that."},
		"both fail": {func(v *View) { v.Review.Report.Models.Verdicts[0].Verdict = pipeline.VerdictFail }, "Passed with 1 warning, 1 info; a person should look at 1 finding", ""},
		"one did not finish": {func(v *View) {
			setFindings(v, pipeline.DecisionPass, "")
			v.Review.Report.Models.Verdicts[0].Verdict = pipeline.VerdictUnknown
		}, "No findings; a person should look at it", ""},
		"they agree": {func(v *View) { v.Review.Report.Models.AutoDecision = pipeline.AutoApproveWithNotes }, "Passed with 1 warning, 1 info", "nothing here blocks the merge."},
		"it blocks":  {func(v *View) { *v = modelsView() }, "Needs fixes: 1 major, 1 warning, 1 info", ""},
		"somebody decided": {func(v *View) { decideByHand(v, pipeline.HandOverride, "mira", "it can wait") },
			"Passed by hand by mira: it can wait; the review says: passed with warnings, 1 warning, 1 info", ""},
	} {
		v := passing()
		tt.change(&v)
		if got := Check(v).Title; got != tt.title {
			t.Errorf("%s: %s, want %s", name, got, tt.title)
		}
		body := Comment(v).Body
		headline := strings.Replace(tt.title, ": it can wait", "", 1) // the comment has the reason below its headline
		if !strings.Contains(body, headline) || !strings.Contains(body, tt.next) {
			t.Errorf("%s: %s", name, body)
		}
		if strings.Contains(tt.title, "should look") && strings.Contains(body, "nothing here blocks the merge") {
			t.Errorf("%s: it says that nothing blocks the merge", name)
		}
	}
}

// If there are omissions, the head of the comment counts errors and omissions.
func TestErrorsAndOmissions(t *testing.T) {
	v := modelsView()
	if body := Comment(v).Body; strings.Contains(body, "omission") || strings.Contains(body, "errors") {
		t.Errorf("it counts errors although there are no omissions:\n%s", body)
	}
	v.Review.Report.Findings[1].FindingType = pipeline.FindingOmission
	for what, text := range map[string]string{"comment": Comment(v).Body, "terminal": Text(v, TextOptions{Width: 1000})} {
		if !strings.Contains(text, " · 2 errors, 1 omission") {
			t.Errorf("the %s does not count them:\n%s", what, text)
		}
	}
}
