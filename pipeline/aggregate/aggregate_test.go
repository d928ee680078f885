package aggregate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// settings are the documented defaults, written out so that a change of the shipped ones doesn't
// change these tests.
func settings() config.Settings {
	return config.Settings{
		Gate: config.GateSettings{Conditions: []policies.GateCondition{
			{When: "critical > 0", Decision: pipeline.DecisionFail},
			{When: "major > 0", Decision: pipeline.DecisionNeedsFixes},
			{When: "warning > 0", Decision: pipeline.DecisionPassWithWarnings},
		}},
		Synthesis: config.SynthesisSettings{ConfidenceGate: 0.5, ProtectedArtifacts: []string{"docs/plans/**"}},
	}
}

func finding(path string, line int, title string, s pipeline.Severity) pipeline.Finding {
	return pipeline.Finding{Title: title, Severity: s, Message: "It is wrong.", Confidence: 0.9, Path: path, StartLine: line}
}

// world is an input with three files, two agents and a grading agent.
func world(outputs map[string][]pipeline.Finding) Input {
	in := Input{
		Facts: &pipeline.PRFacts{Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: 7, Head: pipeline.Head{SHA: "abc"}, Config: pipeline.ConfigInForce{Version: "v"}, Files: []pipeline.File{
			file("a.go", "one", "two", "three", "four", "five", "six"),
			file("b.go", "one", "two", "two", "two"),
			{Path: "docs/plans/p.md", Status: pipeline.FileModified},
		}},
		Config: &config.Config{
			Agents: []config.Agent{
				{ID: "x", Kind: config.KindRules}, {ID: "y", Kind: config.KindRules},
				{ID: "grader", Kind: config.KindRules, Scale: config.ScalePassWarnFail},
				{ID: "secrets", Kind: config.KindSecrets},
			},
			Rules:    []config.Rule{{ID: "r1", Category: "errors", Description: "Because.", Recommendation: "Do it."}},
			Settings: settings(),
		},
		Manifest: &pipeline.AgentManifest{},
	}
	for _, agent := range []string{"grader", "secrets", "x", "y"} {
		findings, ok := outputs[agent]
		if !ok {
			continue
		}
		in.Manifest.Entries = append(in.Manifest.Entries, pipeline.ManifestEntry{Agent: agent, Required: true, Scope: pipeline.AgentScope{All: true}})
		in.Results = append(in.Results, pipeline.AgentResult{Agent: agent, Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Findings: findings}})
	}
	return in
}

func file(path string, lines ...string) pipeline.File {
	h := pipeline.Hunk{NewStart: 1, NewLines: len(lines)}
	for i, l := range lines {
		h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: i + 1, Text: l})
	}
	return pipeline.File{Path: path, Status: pipeline.FileAdded, Additions: len(lines), Hunks: pipeline.List[pipeline.Hunk]{h}}
}

func one(f pipeline.Finding) Input { return world(map[string][]pipeline.Finding{"x": {f}}) }

func TestValidateDrops(t *testing.T) {
	good := finding("a.go", 2, "t", pipeline.SeverityMajor)
	for name, change := range map[string]func(*pipeline.Finding){
		"no title":             func(f *pipeline.Finding) { f.Title = " " },
		"no message":           func(f *pipeline.Finding) { f.Message = "" },
		"no place":             func(f *pipeline.Finding) { f.Path = "" },
		"unknown severity":     func(f *pipeline.Finding) { f.Severity = "blocker" },
		"empty severity":       func(f *pipeline.Finding) { f.Severity = "" },
		"negative confidence":  func(f *pipeline.Finding) { f.Confidence = -0.1 },
		"confidence above one": func(f *pipeline.Finding) { f.Confidence = 1.01 },
		"confidence NaN":       func(f *pipeline.Finding) { f.Confidence = math.NaN() },
		"negative line":        func(f *pipeline.Finding) { f.StartLine = -1 },
		"lines backwards":      func(f *pipeline.Finding) { f.StartLine, f.EndLine = 4, 3 },
		"line outside":         func(f *pipeline.Finding) { f.StartLine = 7 },
		"file not in the PR":   func(f *pipeline.Finding) { f.Path = "z.go" },
		"unknown action":       func(f *pipeline.Finding) { f.Action = "burn" },
		"unknown class":        func(f *pipeline.Finding) { f.AutofixClass = "maybe" },
		"unknown type":         func(f *pipeline.Finding) { f.FindingType = "typo" },
		"unknown claim":        func(f *pipeline.Finding) { f.AutoClaim = "trust me" },
	} {
		t.Run(name, func(t *testing.T) {
			f := good
			change(&f)
			r := Aggregate(one(f))
			if len(r.Findings) != 0 || r.Coverage[0].Dropped != 1 || r.Coverage[0].Findings != 0 {
				t.Errorf("findings %d, coverage %+v", len(r.Findings), r.Coverage)
			}
		})
	}
	if r := Aggregate(one(good)); len(r.Findings) != 1 || r.Coverage[0].Dropped != 0 {
		t.Errorf("the valid finding was dropped: %+v", r.Coverage)
	}
}

func TestValidateFillsInDefaults(t *testing.T) {
	f := finding("a.go", 2, "t", "P1")
	f.ID, f.GateSeverity, f.State, f.Reviewers, f.Agent = "mine", "info", "dismissed", pipeline.List[string]{"everybody"}, "secrets"
	f.Fingerprints, f.OriginalPath, f.Reasons = pipeline.List[string]{"mine"}, "old.go", pipeline.List[pipeline.Reason]{{Text: "I say so"}}
	f.Perspectives = pipeline.List[pipeline.Perspective]{{Agent: "y"}}
	got := Aggregate(one(f)).Findings[0]
	if got.Severity != pipeline.SeverityMajor || got.GateSeverity != pipeline.SeverityMajor || got.EndLine != 2 ||
		got.Action != pipeline.ActionNone || got.AutofixClass != pipeline.AutofixPresent || got.FindingType != pipeline.FindingError {
		t.Errorf("defaults: %+v", got)
	}
	if len(got.Fingerprints) != 1 || got.Fingerprints[0] != got.ID || got.OriginalPath != "" || len(got.Reasons) != 0 || got.Perspectives != nil {
		t.Errorf("an agent set a field that only reviewgate may set: %+v", got)
	}
	if got.ID == "mine" || got.State != pipeline.StateNew || got.Agent != "x" || len(got.Reviewers) != 1 || got.Reviewers[0] != "x" {
		t.Errorf("an agent set a field that only reviewgate may set: %+v", got)
	}
}

func TestFindingsThatNameProtectedArtifacts(t *testing.T) {
	for _, tt := range []struct {
		section, title, advice string
		aside                  bool
	}{
		{"docs/plans/p.md", "Stale plan", "Delete the file.", true},
		{"Plans", "Delete docs/plans/old.md", "", true},
		{"Plans", "The plan is stale", "Remove the document (`./docs/plans/old.md`).", true},
		{"Plans", "The plan is stale", "Update docs/plans/old.md.", false},
		{"Plans", "Stale", "Delete the file docs/guide.md.", false},
	} {
		f := finding("", 0, tt.title, pipeline.SeverityMajor)
		f.Section, f.Recommendation = tt.section, tt.advice
		if r := Aggregate(panel(outputs{x: {f}})); (len(r.Suppressed) == 1) != tt.aside {
			t.Errorf("%+v: %d suppressed", tt, len(r.Suppressed))
		}
	}
	// A finding with a path is about that file, even if its words name other files.
	f := finding("a.go", 2, "Delete docs/plans/old.md from the file", pipeline.SeverityMajor)
	if r := Aggregate(panel(outputs{x: {f}})); len(r.Suppressed) != 0 {
		t.Errorf("%+v", r.Suppressed)
	}
}

func TestProtectedArtifacts(t *testing.T) {
	for _, tc := range []struct {
		name       string
		agent      string
		change     func(*pipeline.Finding)
		suppressed bool
	}{
		{"remove the file", "x", func(f *pipeline.Finding) { f.Action = pipeline.ActionRemove }, true},
		{"deletion in words", "x", func(f *pipeline.Finding) { f.Recommendation = "Delete this document." }, true},
		{"remove one line of the file", "x", func(f *pipeline.Finding) { f.Action, f.StartLine = pipeline.ActionRemove, 3 }, false},
		{"change the file", "x", func(f *pipeline.Finding) { f.Recommendation = "Say which file is meant." }, false},
		{"critical", "x", func(f *pipeline.Finding) { f.Action, f.Severity = pipeline.ActionRemove, pipeline.SeverityCritical }, false},
		{"by the secrets agent", "secrets", func(f *pipeline.Finding) { f.Action = pipeline.ActionRemove }, false},
		{"another directory", "x", func(f *pipeline.Finding) { f.Action, f.Path = pipeline.ActionRemove, "a.go" }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := finding("docs/plans/p.md", 0, "Stale plan", pipeline.SeverityMajor)
			tc.change(&f)
			r := Aggregate(world(map[string][]pipeline.Finding{tc.agent: {f}}))
			if got := len(r.Suppressed) == 1; got != tc.suppressed || len(r.Findings)+len(r.Suppressed) != 1 {
				t.Errorf("suppressed %v, findings %d", got, len(r.Findings))
			}
		})
	}
}

func TestEnrich(t *testing.T) {
	f := finding("a.go", 1, "t", pipeline.SeverityMajor)
	f.RuleID, f.Recommendation = "r1", "My own."
	got := Aggregate(one(f)).Findings[0]
	if got.Category != "errors" || got.WhyItMatters != "Because." || got.Recommendation != "My own." {
		t.Errorf("%q %q %q", got.Category, got.WhyItMatters, got.Recommendation)
	}
}

func TestScalePassWarnFail(t *testing.T) {
	grade := func(line int, severity pipeline.Severity, dimension string) pipeline.Finding {
		f := finding("a.go", line, "title "+dimension, severity)
		f.Category = dimension
		return f
	}
	two := Aggregate(world(map[string][]pipeline.Finding{"grader": {grade(1, "fail", "colour"), grade(2, "fail", "focus"), grade(3, "warn", "motion"), grade(4, "pass", "text")}}))
	if diff := cmp.Diff(pipeline.Counts{Major: 2, Warning: 1}, two.Counts); diff != "" {
		t.Error(diff)
	}
	if two.Coverage[0].Dropped != 0 {
		t.Error("a dimension that passed counts as malformed")
	}
	same := Aggregate(world(map[string][]pipeline.Finding{"grader": {grade(1, "fail", "colour"), grade(3, "fail", "colour"), grade(5, "fail", "colour")}}))
	if same.Counts.Critical != 0 {
		t.Errorf("three failures of one dimension: %+v", same.Counts)
	}
	three := Aggregate(world(map[string][]pipeline.Finding{"grader": {grade(1, "fail", "colour"), grade(2, "fail", "focus"), grade(4, "fail", "text")}}))
	if diff := cmp.Diff(pipeline.Counts{Critical: 1, Major: 2}, three.Counts); diff != "" {
		t.Error(diff)
	}
}

// Of the findings above the confidence gate, grading raises the worst. It never raises a finding
// below the gate.
func TestScaleRaisesSureFindings(t *testing.T) {
	grade := func(line int, severity pipeline.Severity, confidence float64) pipeline.Finding {
		f := sure(finding("a.go", line, fmt.Sprintf("title %d", line), severity), confidence)
		f.Category = f.Title
		return f
	}
	for _, tt := range []struct {
		name   string
		grades []pipeline.Finding
		raised string
	}{
		{"the surest of the worst findings", []pipeline.Finding{grade(1, "fail", 0.6), grade(3, "fail", 0.8), grade(5, "fail", 0.7)}, "title 3"},
		{"the first of equal findings", []pipeline.Finding{grade(5, "fail", 0.8), grade(1, "fail", 0.8), grade(3, "fail", 0.8)}, "title 1"},
		{"not one below the confidence gate", []pipeline.Finding{grade(1, "critical", 0.4), grade(3, "fail", 0.5), grade(5, "fail", 0.4)}, "title 3"},
		{"none if one is already critical", []pipeline.Finding{grade(1, "critical", 0.9), grade(3, "fail", 0.9), grade(5, "fail", 0.9)}, ""},
	} {
		r := Aggregate(world(map[string][]pipeline.Finding{"grader": tt.grades}))
		raised := ""
		for _, f := range r.Findings {
			if slices.Contains(inWords(f.Reasons), "raised to critical: 3 dimensions of grader failed") {
				raised += f.Title
			}
		}
		if raised != tt.raised || r.Counts.Critical != 1 {
			t.Errorf("%s: raised %q, want %q; %+v", tt.name, raised, tt.raised, r.Counts)
		}
	}
}

func TestConfidenceGate(t *testing.T) {
	f := finding("a.go", 3, "t", pipeline.SeverityCritical)
	for confidence, kept := range map[float64]bool{0.49: false, 0.5: true} {
		f.Confidence = confidence
		r := Aggregate(one(f))
		if (len(r.Findings) == 1) != kept || len(r.Findings)+len(r.ResidualConcerns) != 1 {
			t.Errorf("%.2f: %d findings, %v", confidence, len(r.Findings), r.ResidualConcerns)
		}
		if !kept && (r.Decision != pipeline.DecisionPass || r.ResidualConcerns[0].Text != "t (a.go:3, confidence 0.49)" || r.ResidualConcerns[0].Source != "x") {
			t.Errorf("%s, %+v", r.Decision, r.ResidualConcerns)
		}
	}
}

// Secrets and findings of final rules stay, however high a repository sets the confidence gate.
func TestConfidenceGateKeepsSecretsAndFinalFindings(t *testing.T) {
	f := finding("a.go", 3, "t", pipeline.SeverityCritical)
	f.RuleID = "r1"
	for _, tt := range []struct {
		agent string
		final bool
		kept  int
	}{{"x", false, 0}, {"x", true, 1}, {"secrets", false, 1}} {
		in := world(map[string][]pipeline.Finding{tt.agent: {f}})
		in.Config.Settings.Synthesis.ConfidenceGate = 1
		in.Config.Rules[0].Final = tt.final
		if r := Aggregate(in); len(r.Findings) != tt.kept {
			t.Errorf("%s, final %v: %d findings, want %d", tt.agent, tt.final, len(r.Findings), tt.kept)
		}
	}
}

func TestDeduplicate(t *testing.T) {
	at := func(path string, start, end int, title string) pipeline.Finding {
		f := finding(path, start, title, pipeline.SeverityWarning)
		f.EndLine = end
		return f
	}
	section := func(path, s, title string) pipeline.Finding {
		f := finding(path, 0, title, pipeline.SeverityWarning)
		f.Section = s
		return f
	}
	says := func(f pipeline.Finding, r string) pipeline.Finding { f.Recommendation = r; return f }
	for _, tc := range []struct {
		name string
		x, y []pipeline.Finding
		want int
	}{
		{"same line", []pipeline.Finding{at("a.go", 2, 2, "T")}, []pipeline.Finding{at("a.go", 2, 2, "T")}, 1},
		{"title normalised", []pipeline.Finding{at("a.go", 2, 2, "Error  ignored!")}, []pipeline.Finding{at("a.go", 2, 2, "error ignored")}, 1},
		{"signs count as punctuation", []pipeline.Finding{at("a.go", 2, 2, "Call `f` + `g`")}, []pipeline.Finding{at("a.go", 2, 2, "call f g")}, 1},
		{"only punctuation", []pipeline.Finding{at("a.go", 2, 2, "==")}, []pipeline.Finding{at("a.go", 2, 2, "!=")}, 2},
		{"adjacent", []pipeline.Finding{at("a.go", 2, 2, "T")}, []pipeline.Finding{at("a.go", 3, 3, "T")}, 1},
		{"overlap", []pipeline.Finding{at("a.go", 1, 4, "T")}, []pipeline.Finding{at("a.go", 2, 3, "T")}, 1},
		{"a gap between", []pipeline.Finding{at("a.go", 2, 2, "T")}, []pipeline.Finding{at("a.go", 4, 4, "T")}, 2},
		{"transitive", []pipeline.Finding{at("a.go", 1, 2, "T"), at("a.go", 5, 6, "T")}, []pipeline.Finding{at("a.go", 3, 4, "T")}, 1},
		{"contained, then further lines", []pipeline.Finding{at("a.go", 1, 5, "T"), at("a.go", 2, 2, "T")}, []pipeline.Finding{at("a.go", 6, 6, "T")}, 1},
		{"other file", []pipeline.Finding{at("a.go", 2, 2, "T")}, []pipeline.Finding{at("b.go", 2, 2, "T")}, 2},
		{"other title", []pipeline.Finding{at("a.go", 2, 2, "T")}, []pipeline.Finding{at("a.go", 2, 2, "U")}, 2},
		{"whole file and line 1", []pipeline.Finding{at("a.go", 0, 0, "T")}, []pipeline.Finding{at("a.go", 1, 1, "T")}, 2},
		{"whole file twice", []pipeline.Finding{at("a.go", 0, 0, "T")}, []pipeline.Finding{at("a.go", 0, 0, "T")}, 1},
		{"same section", []pipeline.Finding{section("", "Title", "T")}, []pipeline.Finding{section("", "title:", "T")}, 1},
		{"other section", []pipeline.Finding{section("", "Title", "T")}, []pipeline.Finding{section("", "Body", "T")}, 2},
		{"remove and keep by one agent", []pipeline.Finding{acts(at("a.go", 2, 2, "T"), pipeline.ActionRemove), acts(at("a.go", 2, 2, "T"), pipeline.ActionKeep)}, nil, 2},
		{"remove and add, in words", []pipeline.Finding{says(at("a.go", 2, 2, "T"), "Remove the cache."), says(at("a.go", 2, 2, "T"), "Add a limit.")}, nil, 2},
		{"remove and remove", []pipeline.Finding{acts(at("a.go", 2, 2, "T"), pipeline.ActionRemove)}, []pipeline.Finding{says(at("a.go", 2, 2, "T"), "Drop it.")}, 1},
		{"keep and add", []pipeline.Finding{acts(at("a.go", 2, 2, "T"), pipeline.ActionKeep)}, []pipeline.Finding{acts(at("a.go", 2, 2, "T"), pipeline.ActionAdd)}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Aggregate(world(map[string][]pipeline.Finding{"x": tc.x, "y": tc.y}))
			if len(r.Findings) != tc.want {
				t.Errorf("%d findings, want %d: %+v", len(r.Findings), tc.want, r.Findings)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	a := finding("a.go", 2, "T", pipeline.SeverityWarning)
	a.Confidence, a.Message, a.Evidence = 0.8, "from x", pipeline.List[string]{"e1", "e2"}
	b := finding("a.go", 3, "t.", pipeline.SeverityMajor)
	b.Confidence, b.Message, b.Evidence, b.Blocking = 0.7, "from y", pipeline.List[string]{"e2", "e3"}, true
	r := Aggregate(world(map[string][]pipeline.Finding{"x": {a}, "y": {b}}))
	f := r.Findings[0]
	if f.Agent != "x" || f.Message != "from x" || f.Severity != pipeline.SeverityMajor || f.StartLine != 2 || !f.Blocking {
		t.Errorf("%+v", f)
	}
	if math.Abs(f.Confidence-0.85) > 1e-12 {
		t.Errorf("confidence %v, want 0.85", f.Confidence)
	}
	if diff := cmp.Diff(pipeline.List[string]{"e1", "e2", "e3"}, f.Evidence); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(pipeline.List[string]{"x", "y"}, f.Reviewers); diff != "" {
		t.Error(diff)
	}
	if r.Coverage[0].Findings != 1 || r.Coverage[1].Findings != 0 {
		t.Errorf("coverage %+v", r.Coverage)
	}

	own := Aggregate(world(map[string][]pipeline.Finding{"x": {a, a}}))
	if f := own.Findings[0]; f.Confidence != 0.8 {
		t.Errorf("an agent that agrees with itself gained confidence: %v", f.Confidence)
	}
	a.Confidence, b.Confidence = 0.98, 0.98
	if f := Aggregate(world(map[string][]pipeline.Finding{"x": {a}, "y": {b}})).Findings[0]; f.Confidence != 0.99 {
		t.Errorf("confidence %v, want at most 0.99", f.Confidence)
	}
	a.Confidence, b.Confidence = 1, 0.9
	if f := Aggregate(world(map[string][]pipeline.Finding{"x": {a}, "y": {b}})).Findings[0]; f.Confidence != 1 {
		t.Errorf("agreement lowered confidence 1 to %v", f.Confidence)
	}
}

// A finding gains confidence if another agent reports it, or the same agent with another model.
func TestModelsOfOneAgentAgree(t *testing.T) {
	a := finding("a.go", 2, "T", pipeline.SeverityMajor)
	in := panel(outputs{qualityA: {a}, qualityB: {a}, x: {a}})
	f := Aggregate(in).Findings[0]
	if diff := cmp.Diff(pipeline.List[string]{"quality", "x"}, f.Reviewers); diff != "" || f.Confidence != 0.99 || f.Agent != "x" || f.Model != "" {
		t.Errorf("%v by %s on %s: %s", f.Confidence, f.Agent, f.Model, diff)
	}
	a.Confidence = 0.6
	if f := Aggregate(panel(outputs{qualityA: {a}, qualityB: {a}, x: {a}})).Findings[0]; f.Confidence != 0.7 {
		t.Errorf("three agree: %v, want 0.7", f.Confidence)
	}
}

// If confidences are equal, the more severe finding is attributed, then the first agent's.
func TestAttribution(t *testing.T) {
	warning, major := finding("a.go", 2, "T", pipeline.SeverityWarning), finding("a.go", 2, "T", pipeline.SeverityMajor)
	for _, tt := range []struct {
		x, y pipeline.Finding
		want string
	}{
		{warning, warning, "x"}, {warning, major, "y"}, {sure(warning, 0.95), major, "x"}, {warning, sure(warning, 0.95), "y"},
	} {
		r := Aggregate(world(map[string][]pipeline.Finding{"x": {tt.x}, "y": {tt.y}}))
		if f := r.Findings[0]; f.Agent != tt.want || !slices.Contains(f.Fingerprints, f.ID) {
			t.Errorf("%s %v, %s %v: attributed to %s, want %s", tt.x.Severity, tt.x.Confidence, tt.y.Severity, tt.y.Confidence, f.Agent, tt.want)
		}
	}
}

// A merged finding has the fingerprints of all its parts. Its id is that of the finding it is
// attributed to.
func TestMergedFingerprints(t *testing.T) {
	a, b := finding("a.go", 2, "T", pipeline.SeverityMajor), sure(finding("a.go", 3, "T", pipeline.SeverityMajor), 0.95)
	alone := func(f pipeline.Finding) string { return Aggregate(one(f)).Findings[0].ID }
	f := Aggregate(world(map[string][]pipeline.Finding{"x": {a}, "y": {b}})).Findings[0]
	want := pipeline.List[string]{alone(a), alone(b)}
	slices.Sort(want)
	if diff := cmp.Diff(want, f.Fingerprints); diff != "" || f.ID != alone(b) {
		t.Errorf("%s of %v: %s", f.ID, f.Fingerprints, diff)
	}
}

// If the list of files is unknown, no finding is dropped for its path or lines.
func TestFilesUnknown(t *testing.T) {
	in := one(finding("z.go", 700, "T", pipeline.SeverityMajor))
	in.Facts.Files = nil
	if r := Aggregate(in); len(r.Findings) != 0 || r.Coverage[0].Dropped != 1 {
		t.Errorf("%+v, %+v", r.Findings, r.Coverage)
	}
	in.FilesUnknown = true
	if r := Aggregate(in); len(r.Findings) != 1 || r.Coverage[0].Dropped != 0 {
		t.Errorf("%+v, %+v", r.Findings, r.Coverage)
	}
}

// An agent that runs twice, in two stages or by mistake, has one row. The row shows the run that
// did not finish, in any order of the runs.
func TestOneRowOfTwoRuns(t *testing.T) {
	in := one(finding("a.go", 1, "T", pipeline.SeverityInfo))
	in.Results = append(in.Results,
		pipeline.AgentResult{Agent: "x", Status: pipeline.AgentFailed, Note: "no answer"},
		pipeline.AgentResult{Agent: "x", Status: pipeline.AgentTimedOut, Note: "late"})
	for range 2 {
		r := Aggregate(in)
		if len(r.Coverage) != 1 || r.Coverage[0].Status != pipeline.AgentFailed || r.Coverage[0].Note != "no answer" || r.Coverage[0].Findings != 1 {
			t.Errorf("%+v", r.Coverage)
		}
		slices.Reverse(in.Results)
	}
}

func TestReviewReportsAreInOrder(t *testing.T) {
	outcome := func(phase, place string) pipeline.ReviewReportOutcome {
		return pipeline.ReviewReportOutcome{Phase: phase, Place: place, Readiness: pipeline.Ready}
	}
	in := world(map[string][]pipeline.Finding{"x": nil, "y": nil})
	in.Results[0].Reports = pipeline.List[pipeline.ReviewReportOutcome]{outcome("plan", "a"), outcome("spec", "b")}
	in.Results[1].Reports = pipeline.List[pipeline.ReviewReportOutcome]{outcome("spec", "a")}
	var got []string
	for _, o := range Aggregate(in).ReviewReports {
		got = append(got, o.Phase+" "+o.Place)
	}
	if s := strings.Join(got, ", "); s != "spec a, spec b, plan a" {
		t.Error(s)
	}
}

func TestRoute(t *testing.T) {
	f := finding("a.go", 2, "T", pipeline.SeverityWarning)
	f.AutofixClass = pipeline.AutofixAuto
	if r := Aggregate(one(f)); r.Findings[0].AutofixClass != pipeline.AutofixPresent || r.Coverage[0].Present != 1 {
		t.Errorf("auto without a fix: %+v", r.Coverage)
	}
	f.SuggestedFix = "two()"
	if r := Aggregate(one(f)); r.Findings[0].AutofixClass != pipeline.AutofixAuto || r.Coverage[0].Auto != 1 {
		t.Errorf("auto with a fix: %+v", r.Coverage)
	}
}

func TestSort(t *testing.T) {
	f := func(title, path string, line int, s pipeline.Severity, typ pipeline.FindingType, c float64) pipeline.Finding {
		x := finding(path, line, title, s)
		x.FindingType, x.Confidence = typ, c
		return x
	}
	in := world(map[string][]pipeline.Finding{"x": {
		f("7", "b.go", 1, pipeline.SeverityInfo, pipeline.FindingError, 0.9),
		f("6", "a.go", 1, pipeline.SeverityWarning, pipeline.FindingOmission, 0.99),
		f("5", "b.go", 1, pipeline.SeverityWarning, pipeline.FindingError, 0.8),
		f("4", "b.go", 2, pipeline.SeverityWarning, pipeline.FindingError, 0.9),
		f("3", "b.go", 1, pipeline.SeverityWarning, pipeline.FindingError, 0.9),
		f("2", "a.go", 4, pipeline.SeverityWarning, pipeline.FindingError, 0.9),
		f("1", "b.go", 4, pipeline.SeverityCritical, pipeline.FindingOmission, 0.5),
	}})
	var got []string
	for _, f := range Aggregate(in).Findings {
		got = append(got, f.Title)
	}
	if s := strings.Join(got, ""); s != "1234567" {
		t.Errorf("order %s", s)
	}
}

func TestGate(t *testing.T) {
	counts := map[pipeline.Severity]pipeline.Decision{
		pipeline.SeverityCritical: pipeline.DecisionFail,
		pipeline.SeverityMajor:    pipeline.DecisionNeedsFixes,
		pipeline.SeverityWarning:  pipeline.DecisionPassWithWarnings,
		pipeline.SeverityInfo:     pipeline.DecisionPass,
	}
	for s, want := range counts {
		if r := Aggregate(one(finding("a.go", 1, "T", s))); r.Decision != want {
			t.Errorf("one %s: %s, want %s (%s)", s, r.Decision, want, r.Gate.Condition)
		}
	}
}

func TestIncompleteNeverPasses(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"facts": func(in *Input) {
			in.Facts.Incomplete = []pipeline.Incompleteness{{What: "files", Why: "3,000 of 4,000", Gating: true}}
		},
		"failed stage":     func(in *Input) { in.Failed = &pipeline.Incompleteness{What: "stage", Why: "classify", Gating: true} },
		"agent failed":     func(in *Input) { in.Results[0].Status = pipeline.AgentFailed },
		"agent timed out":  func(in *Input) { in.Results[0].Status = pipeline.AgentTimedOut },
		"agent malformed":  func(in *Input) { in.Results[0].Status = pipeline.AgentMalformed },
		"agent skipped":    func(in *Input) { in.Results[0].Status = pipeline.AgentSkipped },
		"unknown status":   func(in *Input) { in.Results[0].Status = "fine" },
		"agent has no row": func(in *Input) { in.Results = nil },
	} {
		t.Run(name, func(t *testing.T) {
			in := world(map[string][]pipeline.Finding{"x": nil})
			if r := Aggregate(in); r.Decision != pipeline.DecisionPass {
				t.Fatalf("whole: %s", r.Decision)
			}
			change(&in)
			if r := Aggregate(in); !r.Decision.Blocks() || r.Gate.Condition != Incomplete {
				t.Errorf("%s (%s)", r.Decision, r.Gate.Condition)
			}
			in.Config.Settings.Gate.Conditions = []policies.GateCondition{{When: "findings >= 0", Decision: pipeline.DecisionPass}}
			if r := Aggregate(in); !r.Decision.Blocks() {
				t.Errorf("a setting loosened the gate: %s", r.Decision)
			}
		})
	}
	in := world(map[string][]pipeline.Finding{"x": {finding("a.go", 1, "T", pipeline.SeverityCritical)}})
	in.Facts.Incomplete = []pipeline.Incompleteness{{Gating: true}}
	if r := Aggregate(in); r.Decision != pipeline.DecisionFail {
		t.Errorf("incomplete and critical: %s", r.Decision)
	}
}

func TestOptionalAgentsMayFail(t *testing.T) {
	for name, change := range map[string]func(*pipeline.ManifestEntry){
		"not required": func(e *pipeline.ManifestEntry) { e.Required = false },
		"warn":         func(e *pipeline.ManifestEntry) { e.OnFailure = pipeline.OnFailureWarn },
	} {
		in := world(map[string][]pipeline.Finding{"x": nil})
		in.Results[0].Status, in.Results[0].Note = pipeline.AgentFailed, "no answer"
		change(&in.Manifest.Entries[0])
		r := Aggregate(in)
		if r.Decision != pipeline.DecisionPass || len(r.Incomplete) != 1 || r.Incomplete[0].Why != "x failed: no answer" {
			t.Errorf("%s: %s, %+v", name, r.Decision, r.Incomplete)
		}
	}
}

func TestFailedReport(t *testing.T) {
	in := world(map[string][]pipeline.Finding{"x": {finding("a.go", 1, "T", pipeline.SeverityInfo)}})
	r := Failed(in, &pipeline.Incompleteness{What: "stage", Why: "the stage aggregate failed", Gating: true})
	if !r.Decision.Blocks() || len(r.Findings) != 0 || r.HeadSHA != "abc" {
		t.Errorf("%+v", r)
	}
}

// The JSON has all documented keys, and no list is null.
func TestReportJSON(t *testing.T) {
	b, err := json.Marshal(Aggregate(world(nil)))
	if err != nil {
		t.Fatal(err)
	}
	// Without models and without a decision by hand, these fields are null.
	if strings.Contains(strings.NewReplacer(`"models":null`, "", `"by_hand":null`, "").Replace(string(b)), "null") {
		t.Errorf("null in %s", b)
	}
	if err := config.ValidateData("review-report", b); err != nil {
		t.Error(err)
	}
	full := world(map[string][]pipeline.Finding{"x": {finding("a.go", 1, "T", "P0"), finding("a.go", 3, "U", "P3")}, "grader": {}})
	full.Results[0].Status = pipeline.AgentFailed
	if b, err = json.Marshal(Aggregate(full)); err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateData("review-report", b); err != nil {
		t.Error(err)
	}
}

// inWords returns reasons as people read them.
func inWords(reasons pipeline.List[pipeline.Reason]) (all []string) {
	for _, r := range reasons {
		all = append(all, r.String())
	}
	return all
}
