package render

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

func TestConclusion(t *testing.T) {
	for _, c := range []struct {
		decision pipeline.Decision
		shared   pipeline.Decision
		mode     string
		want     string
	}{
		{pipeline.DecisionPass, "", config.ModeEnforce, "success"},
		{pipeline.DecisionPassWithWarnings, "", config.ModeEnforce, "neutral"},
		{pipeline.DecisionNeedsFixes, "", config.ModeEnforce, "action_required"},
		{pipeline.DecisionFail, "", config.ModeEnforce, "failure"},
		{"", "", config.ModeEnforce, "failure"},
		{"passed", "", config.ModeEnforce, "failure"},
		{pipeline.DecisionPass, "", "", "success"},
		{pipeline.DecisionPass, pipeline.DecisionFail, config.ModeEnforce, "failure"},
		{pipeline.DecisionFail, pipeline.DecisionPass, config.ModeEnforce, "failure"},
		{pipeline.DecisionPass, "unknown", config.ModeEnforce, "failure"},
		{pipeline.DecisionFail, "", config.ModeAdvisory, "neutral"},
		{pipeline.DecisionPass, "", config.ModeAdvisory, "neutral"},
	} {
		v := cleanView()
		v.Mode, v.Review.Report.Decision = c.mode, c.decision
		if c.shared != "" {
			v.Shared = []SharedHead{{Number: 7, Decision: pipeline.DecisionPass}, {Number: 8, Decision: c.shared}}
		}
		if got := Conclusion(v); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// The title of a review says its decision. The title of a blocking review never reads as a
// pass.
func TestTitles(t *testing.T) {
	for _, c := range []struct {
		name     string
		decision pipeline.Decision
		cond     string
		counts   pipeline.Counts
		mode     string
		gating   bool
		want     string
	}{
		{"one each", pipeline.DecisionFail, "critical > 0", pipeline.Counts{Critical: 1, Major: 1, Warning: 1, Info: 1}, "", false, "Failed: 1 critical, 1 major, 1 warning, 1 info"},
		{"thousands", pipeline.DecisionNeedsFixes, "major > 0", pipeline.Counts{Major: 12_345}, "", false, "Needs fixes: 12,345 major"},
		{"warnings", pipeline.DecisionPassWithWarnings, "warning > 0", pipeline.Counts{Warning: 2}, "", false, "Passed with 2 warnings"},
		{"infos", pipeline.DecisionPass, "no condition held", pipeline.Counts{Info: 2}, "", false, "Passed: 2 info"},
		{"a condition of its own", pipeline.DecisionFail, "risk_score >= 75", pipeline.Counts{}, "", false, "Failed: risk_score >= 75"},
		{"advisory", pipeline.DecisionNeedsFixes, "major > 0", pipeline.Counts{Major: 1}, config.ModeAdvisory, false, "Would need fixes: 1 major (advisory)"},
		{"advisory and clean", pipeline.DecisionPass, "", pipeline.Counts{}, config.ModeAdvisory, false, "No findings (advisory)"},
		{"incomplete", pipeline.DecisionNeedsFixes, "incomplete", pipeline.Counts{}, "", true, "Review incomplete: 1 stage failed"},
		{"incomplete and failed", pipeline.DecisionFail, "critical > 0", pipeline.Counts{Critical: 1}, "", true, "Failed: 1 critical; review incomplete"},
		{"no decision", "", "", pipeline.Counts{}, "", false, "Needs fixes"},
	} {
		v := cleanView()
		v.Mode = c.mode
		r := &v.Review.Report
		r.Decision, r.Gate.Condition, r.Counts = c.decision, c.cond, c.counts
		if c.gating {
			r.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "stage", Why: "classify failed", Gating: true}}
		}
		if got := Check(v).Title; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A secret that is found in evaluation stands in the title of a review that passes, and the coverage
// does not say that its agent was not needed.
func TestSecretsInEvaluation(t *testing.T) {
	secret := pipeline.Finding{Agent: "secrets", Severity: pipeline.SeverityCritical}
	other := pipeline.Finding{Agent: "build-reviewer", Severity: pipeline.SeverityMajor}
	for _, c := range []struct {
		found    pipeline.List[pipeline.Finding]
		decision pipeline.Decision
		counts   pipeline.Counts
		want     string
	}{
		{pipeline.List[pipeline.Finding]{other}, pipeline.DecisionPass, pipeline.Counts{}, "No findings that count; 1 in evaluation"},
		{pipeline.List[pipeline.Finding]{secret}, pipeline.DecisionPass, pipeline.Counts{}, "No findings that count; 1 leaked secret in evaluation, which does not count"},
		{pipeline.List[pipeline.Finding]{secret, secret, other}, pipeline.DecisionPass, pipeline.Counts{}, "No findings that count; 2 leaked secrets in evaluation, which do not count; 1 more in evaluation"},
		{pipeline.List[pipeline.Finding]{secret}, pipeline.DecisionPass, pipeline.Counts{Info: 1}, "Passed: 1 info; 1 leaked secret in evaluation, which does not count"},
		{pipeline.List[pipeline.Finding]{secret}, pipeline.DecisionPassWithWarnings, pipeline.Counts{Warning: 1}, "Passed with 1 warning; 1 leaked secret in evaluation, which does not count"},
	} {
		v := cleanView()
		r := &v.Review.Report
		r.Decision, r.Counts = c.decision, c.counts
		r.Evaluation = &pipeline.Evaluation{Findings: c.found, Coverage: pipeline.List[pipeline.Coverage]{{Agent: "secrets", Status: pipeline.AgentOK}}}
		v.Review.Manifest.Skipped = pipeline.List[pipeline.SkippedAgent]{{Agent: "api-reviewer"}, {Agent: "secrets"}}
		if got := Check(v).Title; got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		text := Text(v, TextOptions{Width: 1000})
		for _, line := range []string{"Ran in evaluation, so what it found does not count: secrets.", "Not needed for this change: api-reviewer."} {
			if !strings.Contains(text, line) {
				t.Errorf("the coverage lacks %q:\n%s", line, text)
			}
		}
	}
}

func TestDigest(t *testing.T) {
	v := findingsView()
	comment, check := Comment(v), Check(v)

	again := v
	again.Record.RunID, again.Details = "another", "https://github.example/elsewhere"
	again.Record.StartedAt = v.Record.StartedAt.Add(time.Hour)
	again.Record.FinishedAt = again.Record.StartedAt.Add(time.Minute)
	if c := Comment(again); c.Digest != comment.Digest || c.Body == comment.Body {
		t.Error("the digest of a comment must leave out the run, and the body must show it")
	}
	if Check(again).Digest != check.Digest {
		t.Error("the digest of a check must leave out the run")
	}

	changed := findingsView()
	changed.Review.Report.Findings[5].Message = "Other words."
	if Comment(changed).Digest == comment.Digest || Check(changed).Digest == check.Digest {
		t.Error("the digest must change with a finding")
	}
	v.Notices = []string{"refused"}
	if Comment(v).Digest == comment.Digest {
		t.Error("the digest must change with a notice")
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]safe{
		20 * time.Millisecond:    "0.0 s",
		320 * time.Millisecond:   "0.3 s",
		4130 * time.Millisecond:  "4.1 s",
		59990 * time.Millisecond: "60.0 s",
		125 * time.Second:        "2 min 5 s",
	} {
		if got := took(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

func TestAnnotationsStandOnChangedLines(t *testing.T) {
	file := pipeline.File{Path: "a.go", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{
		{NewStart: 10, NewLines: 4, Lines: pipeline.List[pipeline.Line]{
			{Op: pipeline.LineContext, Old: 10, New: 10, Text: "a"},
			{Op: pipeline.LineRemoved, Old: 11, Text: "b"},
			{Op: pipeline.LineAdded, New: 11, Text: "c"},
			{Op: pipeline.LineContext, Old: 12, New: 12, Text: "d"},
			{Op: pipeline.LineAdded, New: 13, Text: "e"},
		}},
		{NewStart: 30, NewLines: 1, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 30, Text: "f"}}},
	}}
	v := cleanView()
	v.Review.Facts.Files = pipeline.List[pipeline.File]{file}
	at := func(start, end int) pipeline.Finding {
		return pipeline.Finding{Title: "t", Message: "m", Severity: pipeline.SeverityWarning, Path: "a.go", StartLine: start, EndLine: end}
	}
	setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0",
		at(11, 11), at(1, 40), at(12, 13), at(30, 0), // annotated
		at(10, 10), at(12, 12), at(20, 25), at(0, 0), // not annotated: no changed line
		pipeline.Finding{Title: "t", Message: "m", Severity: pipeline.SeverityInfo, Path: "elsewhere.go", StartLine: 1},
		pipeline.Finding{Title: "t", Message: "m", Severity: pipeline.SeverityInfo, Section: "title"},
	)
	var got [][2]int
	for _, a := range Check(v).Annotations {
		got = append(got, [2]int{a.StartLine, a.EndLine})
	}
	if diff := cmp.Diff([][2]int{{11, 11}, {11, 13}, {13, 13}, {30, 30}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFixIsADiff(t *testing.T) {
	v := cleanView()
	index := newDiffIndex(v.Review.Facts.Files)
	show := func(start, end int, fix string) []string {
		return visibleFix(fixOf(index, &pipeline.Finding{Path: "pricing/total.ts", StartLine: start, EndLine: end, SuggestedFix: fix}))
	}
	for _, c := range []struct {
		name       string
		start, end int
		fix        string
		want       []string
	}{
		{"one line", 43, 43, "  return round(total);\n", []string{"-  return total;", "+  return round(total);"}},
		{"common ends are context", 43, 44, "  return round(total);\n}", []string{"-  return total;", "+  return round(total);", " }"}},
		{"lines added", 44, 44, "\n}", []string{"+", " }"}},
		{"nothing changes", 44, 44, "}", nil},
		{"lines outside the diff", 44, 45, "}", nil},
		{"no line", 0, 0, "}", nil},
		{"no fix", 44, 44, "", nil},
	} {
		got := show(c.start, c.end, c.fix)
		if len(got) == 0 {
			got = nil
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestSaysThatALongFixIsLeftOut(t *testing.T) {
	v := cleanView()
	v.Review.Report.Findings = []pipeline.Finding{{
		Title: "Totals are not rounded", Severity: pipeline.SeverityMajor, GateSeverity: pipeline.SeverityMajor, Agent: "build-reviewer",
		Path: "pricing/total.ts", StartLine: 43, EndLine: 43, Message: "They drift.", SuggestedFix: strings.Repeat("  total += 1;\n", 61),
	}}
	if body := Comment(v).Body; !strings.Contains(body, "suggested fix of 61 lines is too long to show") {
		t.Errorf("the comment does not mention the fix:\n%s", body)
	}
}

func TestTemplatesTakeOnlySafeText(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a plain string reached a template")
		}
	}()
	say("agent skipped", struct{ Agent, Reason string }{"a", "b"})
}
