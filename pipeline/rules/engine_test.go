package rules_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/rules"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// file makes a file from lines that start with a space, plus or minus.
func file(path string, lines ...string) pipeline.File {
	h := pipeline.Hunk{OldStart: 1, NewStart: 1}
	for _, s := range lines {
		l := pipeline.Line{Op: pipeline.LineOp(s[:1]), Text: s[1:]}
		if l.Op != pipeline.LineAdded {
			h.OldLines++
			l.Old = h.OldLines
		}
		if l.Op != pipeline.LineRemoved {
			h.NewLines++
			l.New = h.NewLines
		}
		h.Lines = append(h.Lines, l)
	}
	return pipeline.File{Path: path, Status: pipeline.FileModified, Language: "Go", Hunks: pipeline.List[pipeline.Hunk]{h}}
}

func with[T any](f T, change func(*T)) T {
	change(&f)
	return f
}

func rule(m config.Match) config.Rule {
	return config.Rule{ID: "rule", Enabled: true, Agent: "agent", Severity: pipeline.SeverityMajor, Match: &m}
}

func TestMatch(t *testing.T) {
	no := false
	at := func(line int) result { return result{Rule: "rule", Path: "a.go", Line: line} }
	section := func(s string) result { return result{Rule: "rule", Section: s} }
	one := file("a.go", " x TODO", "-y TODO", "+z TODO", "+z")
	status := func(s pipeline.FileStatus) pipeline.File {
		return with(one, func(f *pipeline.File) { f.Status = s })
	}
	tests := []struct {
		name  string
		match config.Match
		files []pipeline.File
		facts pipeline.PRFacts // title, body and commits
		want  []result
	}{
		{name: "added is the default", match: config.Match{Pattern: "TODO"}, files: []pipeline.File{one}, want: []result{at(2)}},
		{name: "added", match: config.Match{On: "added", Literal: "TODO"}, files: []pipeline.File{one}, want: []result{at(2)}},
		{name: "removed, beside the next line", match: config.Match{On: "removed", Literal: "TODO"}, files: []pipeline.File{one}, want: []result{at(2)}},
		{name: "removed at the end", match: config.Match{On: "removed", Literal: "y"}, files: []pipeline.File{file("a.go", " x", "-y")}, want: []result{at(1)}},
		{name: "removed with the file", match: config.Match{On: "removed", Literal: "TODO"}, files: []pipeline.File{status(pipeline.FileRemoved)}, want: []result{at(0)}},
		{name: "file", match: config.Match{On: "file", Pattern: `\.go$`}, files: []pipeline.File{one}, want: []result{at(0)}},
		{name: "removed file", match: config.Match{On: "file", Pattern: `\.go$`}, files: []pipeline.File{status(pipeline.FileRemoved)}},
		{name: "path of a modified file", match: config.Match{On: "path", Pattern: `\.go$`}, files: []pipeline.File{one}},
		{name: "path of an added file", match: config.Match{On: "path", Pattern: `\.go$`}, files: []pipeline.File{status(pipeline.FileAdded)}, want: []result{at(0)}},
		{name: "path of a renamed file", match: config.Match{On: "path", Pattern: `\.go$`}, files: []pipeline.File{status(pipeline.FileRenamed)}, want: []result{at(0)}},
		{name: "path of a copied file", match: config.Match{On: "path", Pattern: `\.go$`}, files: []pipeline.File{status(pipeline.FileCopied)}, want: []result{at(0)}},
		{name: "title", match: config.Match{On: "title", Pattern: "^WIP"}, facts: pipeline.PRFacts{Title: "WIP: x"}, want: []result{section("title")}},
		{name: "body", match: config.Match{On: "body", Pattern: "(?m)^- $"}, facts: pipeline.PRFacts{Body: "a\n- \nb"}, want: []result{section("description")}},
		{
			name: "commit_message", match: config.Match{On: "commit_message", Pattern: "^fixup!"},
			facts: pipeline.PRFacts{Commits: pipeline.List[pipeline.Commit]{{SHA: "1234567890", Message: "fixup! x"}, {SHA: "abc", Message: "x"}}},
			want:  []result{section("commit 1234567")},
		},
		{name: "long lines of a body", match: config.Match{On: "body", Pattern: ".{5,}"}, facts: pipeline.PRFacts{Body: "abc\nabc"}},
		{name: "message with paths that a file fits", match: config.Match{On: "title", Literal: "x", Paths: []string{"**/*.go"}}, files: []pipeline.File{one}, facts: pipeline.PRFacts{Title: "x"}, want: []result{section("title")}},
		{name: "message with paths that one of several files fits", match: config.Match{On: "title", Literal: "x", Paths: []string{"**/*.go"}}, files: []pipeline.File{one, file("b.py", "+x")}, facts: pipeline.PRFacts{Title: "x"}, want: []result{section("title")}},
		{name: "message with paths that no file fits", match: config.Match{On: "title", Literal: "x", Paths: []string{"**/*.py"}}, files: []pipeline.File{one}, facts: pipeline.PRFacts{Title: "x"}},
		{name: "paths", match: config.Match{Literal: "TODO", Paths: []string{"b/**"}}, files: []pipeline.File{one, file("b/c.go", "+TODO")}, want: []result{{Rule: "rule", Path: "b/c.go", Line: 1}}},
		{name: "exclude_paths", match: config.Match{Literal: "TODO", ExcludePaths: []string{"b/**"}}, files: []pipeline.File{one, file("b/c.go", "+TODO")}, want: []result{at(2)}},
		{name: "exclude_paths wins over paths", match: config.Match{Literal: "TODO", Paths: []string{"**"}, ExcludePaths: []string{"a.*"}}, files: []pipeline.File{one}},
		{name: "languages", match: config.Match{Literal: "TODO", Languages: []string{"go"}}, files: []pipeline.File{one}, want: []result{at(2)}},
		{name: "other languages", match: config.Match{Literal: "TODO", Languages: []string{"Python"}}, files: []pipeline.File{one}},
		{name: "not_pattern", match: config.Match{Literal: "TODO", NotPattern: "z"}, files: []pipeline.File{file("a.go", "+z TODO", "+TODO")}, want: []result{at(2)}},
		{name: "max_per_file", match: config.Match{Literal: "x", MaxPerFile: 2}, files: []pipeline.File{file("a.go", "+x", "+x", "+x")}, want: []result{at(1), at(2)}},
		{name: "max_per_file, each file", match: config.Match{Literal: "x", MaxPerFile: 1}, files: []pipeline.File{file("a.go", "+x", "+x"), file("b.go", "+x")}, want: []result{at(1), {Rule: "rule", Path: "b.go", Line: 1}}},
		{name: "tests", match: config.Match{Literal: "TODO"}, files: []pipeline.File{with(one, func(f *pipeline.File) { f.Test = true })}, want: []result{at(2)}},
		{name: "no tests", match: config.Match{Literal: "TODO", Tests: &no}, files: []pipeline.File{with(one, func(f *pipeline.File) { f.Test = true })}},
		{name: "the name of a vendored file", match: config.Match{On: "file", Literal: "a.go"}, files: []pipeline.File{with(one, func(f *pipeline.File) { f.Vendored = true })}, want: []result{at(0)}},
		{name: "carriage return", match: config.Match{Pattern: "x$"}, files: []pipeline.File{file("a.go", "+x\r")}, want: []result{at(1)}},
		{name: "carriage return is no white space", match: config.Match{Pattern: `\s+$`}, files: []pipeline.File{file("a.go", "+x\r", "+x \r")}, want: []result{at(2)}},
		{name: "NUL", match: config.Match{Literal: "x\x00y"}, files: []pipeline.File{file("a.go", "+\x00x\x00y")}, want: []result{at(1)}},
		{name: "invalid UTF-8", match: config.Match{Pattern: `key\W`}, files: []pipeline.File{file("a.go", "+\xff\xfekey\xff")}, want: []result{at(1)}},
		{name: "a kelvin sign is a k", match: config.Match{Pattern: `(?i)key`}, files: []pipeline.File{file("a.go", "+\u212aEY")}, want: []result{at(1)}},
		{name: "early in a line of a megabyte", match: config.Match{Literal: "TODO"}, files: []pipeline.File{file("a.go", "+TODO"+strings.Repeat("x", 1<<20))}, want: []result{at(1)}},
		{name: "late in a line of a megabyte", match: config.Match{Literal: "TODO"}, files: []pipeline.File{file("a.go", "+"+strings.Repeat("x", 1<<20)+"TODO")}},
		{name: "no half characters at the end of a line that is cut", match: config.Match{Pattern: `\x{fffd}`}, files: []pipeline.File{file("a.go", "+x"+strings.Repeat("é", 512<<10))}},
		{name: "nothing added", match: config.Match{Literal: "x"}, files: []pipeline.File{{Path: "a.go"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := tt.facts
			facts.Files = tt.files
			got := results(findings(t, []config.Rule{rule(tt.match)}, &facts, "agent"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// Mild rules skip the lines of files that are generated or vendored by their path.
// Serious rules don't, and a file's text can't make any rule skip it.
func TestGeneratedAndVendoredFiles(t *testing.T) {
	one := file("a.go", "+TODO")
	files := []pipeline.File{
		with(one, func(f *pipeline.File) { f.Path, f.Generated, f.GeneratedByPath = "a.pb.go", true, true }),
		with(one, func(f *pipeline.File) { f.Path, f.Generated = "says-so.go", true }),
		with(one, func(f *pipeline.File) { f.Path, f.Vendored = "vendor/a.go", true }),
	}
	for severity, paths := range map[pipeline.Severity][]string{
		pipeline.SeverityCritical: {"a.pb.go", "says-so.go", "vendor/a.go"},
		pipeline.SeverityMajor:    {"a.pb.go", "says-so.go", "vendor/a.go"},
		pipeline.SeverityWarning:  {"says-so.go"},
		pipeline.SeverityInfo:     {"says-so.go"},
	} {
		r := rule(config.Match{Literal: "TODO"})
		r.Severity = severity
		var got []string
		for _, f := range findings(t, []config.Rule{r}, &pipeline.PRFacts{Files: files}, "agent") {
			got = append(got, f.Path)
		}
		if diff := cmp.Diff(paths, got); diff != "" {
			t.Errorf("files of %s findings (-want +got):\n%s", severity, diff)
		}
		if r.Final = true; len(findings(t, []config.Rule{r}, &pipeline.PRFacts{Files: files}, "agent")) != len(files) {
			t.Errorf("a final rule of %s findings skips files", severity)
		}
	}
}

// Only rules about secrets and final rules look at lines of files that the base calls
// generated or vendored. Rules about paths look at every file.
func TestFilesThatTheBaseCallsGenerated(t *testing.T) {
	ours := with(file("gen/a.go", "+TODO"), func(f *pipeline.File) {
		f.Status, f.Generated, f.GeneratedByPath, f.ByBase = pipeline.FileAdded, true, true, true
	})
	line, path := rule(config.Match{Literal: "TODO"}), rule(config.Match{Literal: "gen/", On: config.OnPath})
	line.Severity = pipeline.SeverityCritical
	for name, tt := range map[string]struct {
		rule  config.Rule
		looks bool
	}{
		"a critical rule":      {line, false},
		"a rule about secrets": {with(line, func(r *config.Rule) { r.Category, r.Severity = "secrets", pipeline.SeverityWarning }), true},
		"a final rule":         {with(line, func(r *config.Rule) { r.Final = true }), true},
		"a rule about paths":   {path, true},
	} {
		if got := findings(t, []config.Rule{tt.rule}, &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{ours}}, "agent"); len(got) > 0 != tt.looks {
			t.Errorf("%s has the findings %+v, want some: %t", name, got, tt.looks)
		}
	}
}

func TestOnlyEnabledRulesWithMatch(t *testing.T) {
	off := rule(config.Match{Literal: "x"})
	off.Enabled = false
	prose := rule(config.Match{})
	prose.Match = nil
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+x")}}
	if got := findings(t, []config.Rule{off, prose}, facts, "agent"); len(got) != 0 {
		t.Errorf("findings %v of rules that should not run", got)
	}
}

func TestFinding(t *testing.T) {
	r := rule(config.Match{Pattern: `(\w+) == nil == true`, Fix: "$1 == nil"})
	r.Name, r.Category, r.Description, r.Recommendation = "Compared twice", "style", "It is enough to compare once.", "Leave out the second."
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+\tif err == nil == true {")}}
	want := []pipeline.Finding{{
		RuleID: "rule", Title: "Compared twice", Severity: pipeline.SeverityMajor, Category: "style",
		Message: "It is enough to compare once.", Recommendation: "Leave out the second.",
		Path: "a.go", StartLine: 1, EndLine: 1, Confidence: 0.9,
		Evidence: pipeline.List[string]{"if err == nil == true {"},
		Action:   pipeline.ActionChange, SuggestedFix: "\tif err == nil {", AutofixClass: pipeline.AutofixAuto,
		FindingType: pipeline.FindingError,
	}}
	if diff := cmp.Diff(want, findings(t, []config.Rule{r}, facts, "agent")); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}
}

func TestNoFix(t *testing.T) {
	long := strings.Repeat("x", 9<<10)
	for name, tt := range map[string]struct {
		match config.Match
		line  string
	}{
		"no template":                           {config.Match{Literal: "x"}, "+x"},
		"a fix that changes nothing":            {config.Match{Pattern: "(x)", Fix: "$1"}, "+x"},
		"a line that is cut":                    {config.Match{Literal: "x", Fix: "y"}, "+" + long},
		"a line that is cut within a character": {config.Match{Literal: "x", Fix: "y"}, "+x" + strings.Repeat("é", 8<<10)},
		"a fix that leaves nothing":             {config.Match{Pattern: "x(y?)", Fix: "$1"}, "+x"},
		"a removed line":                        {config.Match{On: "removed", Literal: "x", Fix: "y"}, "-x"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", tt.line)}}
			got := findings(t, []config.Rule{rule(tt.match)}, facts, "agent")
			if len(got) != 1 || got[0].SuggestedFix != "" || got[0].AutofixClass != pipeline.AutofixPresent || got[0].Action != pipeline.ActionNone {
				t.Errorf("findings %+v, want one without a fix", got)
			}
		})
	}
}

func TestEvidence(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"trimmed", "  x  ", "x"},
		{"control characters", "x\x00\x1b[31my\tz", "x\ufffd\ufffd[31my\tz"},
		{"at the start of a long line", "x" + strings.Repeat("é", 200), "x" + strings.Repeat("é", 149) + "…"},
		{"at the end of a long line", strings.Repeat("é", 200) + "x", "…" + strings.Repeat("é", 149) + "x"},
		{"in the middle of a long line", strings.Repeat("a", 500) + "x" + strings.Repeat("b", 500), "…" + strings.Repeat("a", 149) + "x" + strings.Repeat("b", 150) + "…"},
		{"near the end of a long line", strings.Repeat("a", 500) + "x" + strings.Repeat("b", 20), "…" + strings.Repeat("a", 279) + "x" + strings.Repeat("b", 20)},
		{"the first of two", strings.Repeat("a", 500) + "x" + strings.Repeat("b", 500) + "x", "…" + strings.Repeat("a", 149) + "x" + strings.Repeat("b", 150) + "…"},
		{"invalid UTF-8", strings.Repeat("\x80", 500) + "x", "…" + strings.Repeat("\ufffd", 295) + "x"},
		{"x, white space, and much else", "x" + strings.Repeat(" ", 1000) + "y", "x…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+"+tt.line)}}
			got := findings(t, []config.Rule{rule(config.Match{Pattern: "x"})}, facts, "agent")
			if len(got) != 1 {
				t.Fatalf("findings %+v, want one", got)
			}
			if diff := cmp.Diff(pipeline.List[string]{tt.want}, got[0].Evidence); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}

// For a message, the evidence quotes the matching lines, not the beginning.
func TestEvidenceOfMessages(t *testing.T) {
	facts := &pipeline.PRFacts{Body: "one\ntwo\nthree TODO here\nfour"}
	got := findings(t, []config.Rule{rule(config.Match{On: "body", Literal: "TODO"})}, facts, "agent")
	if len(got) != 1 || len(got[0].Evidence) != 1 || got[0].Evidence[0] != "three TODO here" {
		t.Errorf("findings %+v, want one that quotes the third line", got)
	}
}

// A match that is too long to quote is quoted from its start.
func TestEvidenceOfALongMatch(t *testing.T) {
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+"+strings.Repeat("a", 400)+strings.Repeat("x", 400)+"b")}}
	got := findings(t, []config.Rule{rule(config.Match{Pattern: "x+"})}, facts, "agent")
	if want := "…" + strings.Repeat("x", 300) + "…"; len(got) != 1 || len(got[0].Evidence) != 1 || got[0].Evidence[0] != want {
		t.Errorf("findings %+v, want one that quotes %s", got, want)
	}
}

func whole(when string) config.Rule {
	return config.Rule{
		ID: "whole", Enabled: true, Agent: "agent", Severity: pipeline.SeverityWarning, Name: "No description", Category: "pr-hygiene",
		Description: "Nobody says why.", Recommendation: "Say why.", When: when,
	}
}

// A finding of an expression belongs to every scope. Outside the scope of its file, it names no file.
func TestWhen(t *testing.T) {
	finding := pipeline.Finding{
		RuleID: "whole", Title: "No description", Severity: pipeline.SeverityWarning, Category: "pr-hygiene",
		Message: "Nobody says why.", Recommendation: "Say why.", Section: pipeline.SectionChange, Confidence: 1,
		Action: pipeline.ActionNone, AutofixClass: pipeline.AutofixPresent, FindingType: pipeline.FindingError,
	}
	tests := []struct {
		name, when string
		want       []pipeline.Finding
	}{
		{"holds", `facts.body == ""`, []pipeline.Finding{finding}},
		{"does not hold", `facts.body != ""`, nil},
		{"holds for the classification", `classification.risk.level == "medium"`, []pipeline.Finding{finding}},
		{"holds for a file", `facts.files.exists(f, f.path.endsWith(".go"))`, []pipeline.Finding{finding}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := rules.Compile([]config.Rule{whole(tt.when), rule(config.Match{Literal: "never"})})
			if err != nil {
				t.Fatal(err)
			}
			facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+x")}}
			answer, err := e.Scan(facts, classification).Agent("agent").Review(t.Context(), dispatch.Task{
				Entry: pipeline.ManifestEntry{Agent: "agent", Scope: pipeline.AgentScope{Files: pipeline.List[string]{"b.go"}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(pipeline.List[pipeline.Finding](tt.want), answer.Output.Findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A finding of an expression has the place that makes it hold. That of a removed line is the line
// after it at the head.
func TestWhenHasAPlace(t *testing.T) {
	facts := &pipeline.PRFacts{Files: []pipeline.File{
		file("a.go", " one", "+two"), file("b.go", " three", "-four", "+five", "-six"),
	}}
	for line, want := range map[string]pipeline.Finding{
		"two": {Path: "a.go", StartLine: 2}, "four": {Path: "b.go", StartLine: 2}, "six": {Path: "b.go", StartLine: 2},
	} {
		when := fmt.Sprintf(`facts.files.exists(f, f.hunks.exists(h, h.lines.exists(l, l.text == %q)))`, line)
		got := findings(t, []config.Rule{whole(when)}, facts, "agent")
		if len(got) != 1 {
			t.Fatalf("%s: findings %+v, want one", line, got)
		}
		f := got[0]
		if f.Path != want.Path || f.StartLine != want.StartLine || f.EndLine != want.StartLine || f.Section != "" || !slices.Equal(f.Evidence, pipeline.List[string]{line}) {
			t.Errorf("%s: found %+v, want the line", line, f)
		}
	}
	got := findings(t, []config.Rule{whole(`facts.files.exists(f, f.path == "b.go")`)}, facts, "agent")
	if len(got) != 1 || got[0].Path != "b.go" || got[0].StartLine != 0 || len(got[0].Evidence) > 0 {
		t.Errorf("found %+v, want the file", got)
	}
}

// An expression that can't be evaluated gives a finding with a short message that says
// so.
func TestWhenCannotBeEvaluated(t *testing.T) {
	when := `facts.files[0].path == "x" || facts.title == "` + strings.Repeat("y", 500) + `"`
	got := findings(t, []config.Rule{whole(when)}, &pipeline.PRFacts{}, "agent")
	if len(got) != 1 {
		t.Fatalf("findings %+v, want one", got)
	}
	f := got[0]
	if f.Title != "No description" || f.Severity != pipeline.SeverityWarning || f.Section != pipeline.SectionChange || f.Confidence != 1 {
		t.Errorf("finding %+v, want the rule's own title and severity", f)
	}
	if !strings.Contains(f.Message, "does not count as passed: ") || !strings.Contains(f.Message, "index") || len(f.Message) > 500 {
		t.Errorf("message %q, want a short one that says what is wrong", f.Message)
	}
}

func TestScopeAndAgent(t *testing.T) {
	mine, other := rule(config.Match{Literal: "x"}), rule(config.Match{Literal: "x"})
	other.ID, other.Agent = "other", "someone-else"
	title := rule(config.Match{On: "title", Literal: "x"})
	title.ID = "title"
	facts := &pipeline.PRFacts{Title: "x", Files: []pipeline.File{file("a.go", "+x"), file("b.go", "+x")}}
	e, err := rules.Compile([]config.Rule{mine, other, title})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := e.Scan(facts, classification).Agent("agent").Review(t.Context(), dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "agent", Scope: pipeline.AgentScope{Files: pipeline.List[string]{"b.go"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []result{{Rule: "rule", Path: "b.go", Line: 1}, {Rule: "title", Section: "title"}}
	if diff := cmp.Diff(want, results(answer.Output.Findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if answer.Output.Agent != "agent" {
		t.Errorf("agent %q", answer.Output.Agent)
	}
}

func TestCompileErrorsOfExpressions(t *testing.T) {
	both := rule(config.Match{Pattern: "x"})
	both.When = "facts.body"
	for _, r := range []config.Rule{both, whole("facts.body")} {
		_, err := rules.Compile([]config.Rule{r})
		if err == nil || !strings.Contains(err.Error(), "when: ") || !strings.Contains(err.Error(), r.ID) {
			t.Errorf("error %v, want one with the rule's id and place", err)
		}
	}
}

// A match counts only if the rule's expression holds or can't be evaluated.
func TestMatchWithACondition(t *testing.T) {
	for when, want := range map[string]int{
		`facts.title == "x"`:         1,
		`facts.title == "y"`:         0,
		`facts.files[7].path == "y"`: 1,
	} {
		r := rule(config.Match{Literal: "key"})
		r.When = when
		facts := &pipeline.PRFacts{Title: "x", Files: []pipeline.File{file("a.go", "+a key")}}
		got := findings(t, []config.Rule{r}, facts, "agent")
		if len(got) != want || want == 1 && (got[0].Path != "a.go" || got[0].StartLine != 1 || len(got[0].Evidence) != 1) {
			t.Errorf("where %s: %+v, want %d findings", when, got, want)
		}
	}
}

// A line that replaces another matching line is not new.
func TestNet(t *testing.T) {
	alike := strings.Repeat("a", 200)
	for _, tt := range []struct {
		name  string
		on    string
		lines []string
		want  []int
	}{
		{"another version", "", []string{"-uses: a/b@v1", "+uses: a/b@v2"}, nil},
		{"one more line matches", "", []string{"-uses: a/b@v1", "+uses: c/d@v1", "+uses: a/b@v2"}, []int{1}},
		{"no removed line matches", "", []string{"-run: x", "+uses: a/b@v2"}, []int{1}},
		{"fewer lines match", "", []string{"-uses: a/b@v1", "-uses: c/d@v1", "+uses: e/f@v1"}, nil},
		{"removed and added again", config.OnRemoved, []string{"-uses: a/b@v1", "+uses: a/b@v2"}, nil},
		{"the first of equally similar lines", "", []string{"-uses: a", "+uses: b", "+uses: c"}, []int{2}},
		{"in another block", "", []string{"-uses: a", " x", "+uses: b"}, []int{2}},
		{"moved to another block", "", []string{"-uses: a/b@v1", " x", " y", "+uses: a/b@v1"}, nil},
		{"moved to another block, and replaced", "", []string{"-uses: a/b@v1", "+run: x", " x", "+uses: a/b@v1", "+uses: a/b@v2"}, []int{4}},
		{"one for each removed line", "", []string{"-uses: a1", "-uses: a2", "+uses: a3", "+uses: b", "+uses: c"}, []int{3}},
		{"similar up to the bound", "", []string{"-uses: " + alike + "b", "+uses: " + alike + "a", "+uses: " + alike + "b"}, []int{2}},
		{"carriage returns", "", []string{"-uses: a/b@v1\r", "+uses: a/b@v2\r"}, nil},
		{"removed", config.OnRemoved, []string{" name: x", "-uses: a/b@v1"}, []int{1}},
	} {
		facts := &pipeline.PRFacts{Files: []pipeline.File{file("ci.yml", tt.lines...)}}
		var got []int
		r := rule(config.Match{Pattern: `uses: .*\w$`, On: tt.on, Net: true})
		r.Severity = pipeline.SeverityWarning
		for _, f := range findings(t, []config.Rule{r}, facts, "agent") {
			got = append(got, f.StartLine)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What a rule that can block finds on an added line counts even if the line replaces such a line.
func TestSeriousRulesCountEachLine(t *testing.T) {
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("ci.yml", "-uses: a", "+uses: b")}}
	for severity, want := range map[pipeline.Severity]int{pipeline.SeverityCritical: 1, pipeline.SeverityMajor: 1, pipeline.SeverityWarning: 0, pipeline.SeverityInfo: 0} {
		r := rule(config.Match{Literal: "uses:", Net: true})
		r.Severity = severity
		if got := len(findings(t, []config.Rule{r}, facts, "agent")); got != want {
			t.Errorf("%s: %d findings, want %d", severity, got, want)
		}
	}
}

// If a hunk replaces many lines, only their number counts, not their similarity.
func TestNetOfALargeHunk(t *testing.T) {
	lines := strings.Split(strings.Repeat("-uses: a\n", 5_000)+strings.Repeat("+uses: b\n", 5_000)+strings.Repeat("+uses: a\n", 3), "\n")
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("ci.yml", lines[:len(lines)-1]...)}}
	r := rule(config.Match{Literal: "uses:", Net: true})
	r.Severity = pipeline.SeverityWarning
	found := findings(t, []config.Rule{r}, facts, "agent")
	if len(found) != 3 || found[0].StartLine != 5_001 {
		t.Errorf("%d findings, want the last three lines", len(found))
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct {
		name  string
		match config.Match
		want  string
	}{
		{"pattern", config.Match{Pattern: "("}, "match.pattern"},
		{"not_pattern", config.Match{Literal: "x", NotPattern: "("}, "match.not_pattern"},
		{"neither pattern nor literal", config.Match{}, "either a pattern or a literal"},
		{"both", config.Match{Pattern: "x", Literal: "x"}, "either a pattern or a literal"},
		{"on", config.Match{Pattern: "x", On: "moon"}, `"moon"`},
		{"paths", config.Match{Pattern: "x", Paths: []string{"[z-a]"}}, `"[z-a]"`},
		{"exclude_paths", config.Match{Pattern: "x", ExcludePaths: []string{"../x"}}, `"../x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rules.Compile([]config.Rule{rule(tt.match)})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `rule "rule"`) {
				t.Errorf("error %v, want one with the rule's id and %s", err, tt.want)
			}
		})
	}
}

// A cancelled caller gets an error, and the next caller can still scan.
func TestCancelled(t *testing.T) {
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+x")}}
	e, err := rules.Compile([]config.Rule{rule(config.Match{Literal: "x"})})
	if err != nil {
		t.Fatal(err)
	}
	s := e.Scan(facts, classification)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Agent("agent").Review(ctx, everything("agent")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's error", err)
	}
	if got := review(t, s, "agent"); len(got) != 1 {
		t.Errorf("%d findings after another caller was cancelled, want 1", len(got))
	}
	for range 20 {
		if _, err := s.Agent("agent").Review(ctx, everything("agent")); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v after the scan, want the context's error", err)
		}
	}
}

// Agents that share one scan and run side by side get the same findings as alone.
func TestConcurrentAgents(t *testing.T) {
	agents := []string{"a", "b", "c", "d"}
	var cfg []config.Rule
	for _, a := range agents {
		r := rule(config.Match{Pattern: a + `+\d`, MaxPerFile: 3})
		r.ID, r.Agent = a, a
		cfg = append(cfg, r)
	}
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("x.go", "+a1 b2", "+c3 aa4", "+d", "+dd5"), file("y.go", "+a", "+b1")}}
	want := map[string][]result{}
	for _, a := range agents {
		want[a] = results(findings(t, cfg, facts, a))
	}
	e, err := rules.Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		s := e.Scan(facts, classification)
		var wg sync.WaitGroup
		for _, a := range agents {
			wg.Go(func() {
				answer, err := s.Agent(a).Review(t.Context(), everything(a))
				if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want[a], results(answer.Output.Findings)); diff != "" {
					t.Errorf("findings of %s (-alone +together):\n%s", a, diff)
				}
			})
		}
		wg.Wait()
	}
}

// The shipped rules find the same with the engine and with the naive engine: on real code, on real
// changes and on their own fixtures.
func TestShippedRulesMatchNaive(t *testing.T) {
	limit := sample.Size(1<<14, 1<<20)
	if testing.Short() { // with the race detector, more text shows nothing new
		limit = 1 << 16
	}
	cfg, engine := shipped(t)
	naive := newNaive(t, cfg.Rules)
	code := corpus(t, limit)
	code.Files = append(code.Files, snippets(t, 1).Files...)
	n := sameAsNaive(t, cfg, engine, naive, code)
	for _, facts := range committed(t, limit) {
		n += sameAsNaive(t, cfg, engine, naive, facts)
	}
	t.Logf("%d findings", n)
	if n == 0 {
		t.Error("nothing to compare")
	}
}

// sameAsNaive compares the engines on one change and returns the number of
// findings.
func sameAsNaive(t testing.TB, cfg *config.Config, engine *rules.Engine, naive *naive, facts *pipeline.PRFacts) int {
	t.Helper()
	agents := map[string]string{}
	for _, r := range cfg.Rules {
		agents[r.ID] = r.Agent
	}
	byAgent := map[string][]result{}
	for _, r := range naive.scan(facts, classification) {
		byAgent[agents[r.Rule]] = append(byAgent[agents[r.Rule]], r)
	}
	n := 0
	scan := engine.Scan(facts, classification)
	for _, a := range cfg.Agents {
		got := results(review(t, scan, a.ID))
		n += len(got)
		if diff := cmp.Diff(byAgent[a.ID], got); diff != "" {
			t.Errorf("%s (-naive +engine):\n%s", a.ID, diff)
		}
	}
	return n
}

// A match that a comment asks to ignore does not count towards its rule's limit in the
// file.
func TestLimitPerFileSkipsIgnoredMatches(t *testing.T) {
	r := rule(config.Match{Literal: "key", MaxPerFile: 1})
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+key // reviewgate:ignore rule why", "+x", "+key", "+key")}}
	want := []result{{Rule: "rule", Path: "a.go", Line: 1}, {Rule: "rule", Path: "a.go", Line: 3}}
	if diff := cmp.Diff(want, results(findings(t, []config.Rule{r}, facts, "agent"))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// The number of matches is bounded, but every rule that matches has at least one.
func TestFindingsAreBounded(t *testing.T) {
	var cfg []config.Rule
	for i := range 30 {
		r := rule(config.Match{Literal: "key"})
		r.ID = fmt.Sprintf("r%02d", i)
		cfg = append(cfg, r)
	}
	last := rule(config.Match{Literal: "severe"})
	last.ID = "last"
	cfg = append(cfg, last)
	lines := strings.Split(strings.Repeat("+key\n", 1_500)+"+severe", "\n")
	found := findings(t, cfg, &pipeline.PRFacts{Files: []pipeline.File{file("a.go", lines...)}}, "agent")
	count := map[string]int{}
	for _, f := range found {
		count[f.RuleID]++
	}
	if len(found) > 20_100 || count["r00"] > 1_001 || count["r29"] == 0 || count["last"] != 1 {
		t.Errorf("%d findings: %v", len(found), count)
	}
}

// What is not listed is a finding about the whole change. Nothing that takes out those that are
// listed takes it out, neither a place that the config ignores nor the scope of the agent.
func TestUnlistedMatchesStay(t *testing.T) {
	r := rule(config.Match{Literal: "key"})
	r.SeverityIn = map[string]pipeline.Severity{"finance": pipeline.SeverityCritical}
	final := r
	final.Final = true
	many := file("fixtures/a.go", slices.Repeat([]string{"+key"}, 1_001)...)
	one := file("src/b.go", "+key")
	for name, tt := range map[string]struct {
		rule    config.Rule
		files   []pipeline.File
		scope   pipeline.AgentScope
		ignored string
		want    int  // findings
		whole   bool // one of them is about the whole change
		in      string
	}{
		"as many as fit":    {r, []pipeline.File{file("a.go", slices.Repeat([]string{"+key"}, 1_000)...)}, pipeline.AgentScope{All: true}, "", 1_000, false, "a.go"},
		"more":              {r, []pipeline.File{many, one}, pipeline.AgentScope{All: true}, "", 1_001, true, "fixtures/a.go"},
		"in ignored files":  {r, []pipeline.File{many, one}, pipeline.AgentScope{All: true}, "fixtures/a.go", 1_001, false, "src/b.go"},
		"of a final rule":   {final, []pipeline.File{many, one}, pipeline.AgentScope{All: true}, "fixtures/a.go", 1_001, true, "fixtures/a.go"},
		"outside the scope": {r, []pipeline.File{many, one}, pipeline.AgentScope{Files: pipeline.List[string]{"src/b.go"}}, "", 1, true, ""},
	} {
		e, err := rules.Compile([]config.Rule{tt.rule})
		if err != nil {
			t.Fatal(err)
		}
		scan := e.Scan(&pipeline.PRFacts{Files: tt.files}, classification).Ignoring(func(path string) bool { return path == tt.ignored })
		answer, err := scan.Agent("agent").Review(t.Context(), dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "agent", Scope: tt.scope}})
		if err != nil {
			t.Fatal(err)
		}
		got := answer.Output.Findings
		whole := slices.ContainsFunc(got, func(f pipeline.Finding) bool {
			return f.Path == "" && f.Section == pipeline.SectionChange && f.Severity == pipeline.SeverityCritical && strings.Contains(f.Message, "stands for")
		})
		if len(got) != tt.want || whole != tt.whole || tt.in != "" && !slices.ContainsFunc(got, func(f pipeline.Finding) bool { return f.Path == tt.in }) {
			t.Errorf("%s: %d findings, one about the whole change: %t; want %d, %t, and one in %q", name, len(got), whole, tt.want, tt.whole, tt.in)
		}
	}
}

// If a template inserts the match a thousand times, there is no suggested fix.
func TestFixIsBounded(t *testing.T) {
	r := rule(config.Match{Pattern: ".+", Fix: strings.Repeat("$0", 1000)})
	facts := &pipeline.PRFacts{Files: []pipeline.File{file("a.go", "+"+strings.Repeat("x", 8_000), "+x")}}
	found := findings(t, []config.Rule{r}, facts, "agent")
	if len(found) != 2 || found[0].SuggestedFix != "" || len(found[1].SuggestedFix) != 1000 {
		t.Errorf("%d findings, fixes of %d and %d bytes", len(found), len(found[0].SuggestedFix), len(found[1].SuggestedFix))
	}
}

// The severity of a finding is the highest of those of the rule and of its file's domains.
func TestSeverityInDomains(t *testing.T) {
	classification := pipeline.Classification{Domains: pipeline.List[pipeline.Domain]{
		{ID: "auth", Files: pipeline.List[pipeline.DomainFile]{{Path: "a.go"}, {Path: "c.go"}}},
		{ID: "finance", Files: pipeline.List[pipeline.DomainFile]{{Path: "a.go"}, {Path: "b.go"}}},
		{ID: "ui", Files: pipeline.List[pipeline.DomainFile]{{Path: "d.go"}}},
	}}
	r := rule(config.Match{Literal: "TODO"})
	r.Severity = pipeline.SeverityWarning
	r.SeverityIn = map[string]pipeline.Severity{"auth": pipeline.SeverityMajor, "finance": pipeline.SeverityCritical, "ui": pipeline.SeverityInfo}
	engine, err := rules.Compile([]config.Rule{r})
	if err != nil {
		t.Fatal(err)
	}
	facts := pipeline.PRFacts{}
	for _, path := range []string{"a.go", "b.go", "c.go", "d.go", "e.go"} {
		facts.Files = append(facts.Files, file(path, "+TODO"))
	}
	answer, err := engine.Scan(&facts, &classification).Agent("agent").Review(t.Context(), dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "agent", Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]pipeline.Severity{}
	for _, f := range answer.Output.Findings {
		got[f.Path] = f.Severity
	}
	want := map[string]pipeline.Severity{
		"a.go": pipeline.SeverityCritical, "b.go": pipeline.SeverityCritical, "c.go": pipeline.SeverityMajor,
		"d.go": pipeline.SeverityWarning, "e.go": pipeline.SeverityWarning,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("severities by file (-want +got):\n%s", diff)
	}
}

// A line elsewhere in the file, or in another file of the change, can speak against a match. Removed
// lines and, for the change, documentation can't.
func TestNotInFileAndNotInChange(t *testing.T) {
	inFile, inChange := rule(config.Match{Literal: "price", NotInFile: "cents", MaxPerFile: 1}), rule(config.Match{Literal: "price", NotInChange: "cents"})
	inFile.ID, inChange.ID = "file", "change"
	engine, err := rules.Compile([]config.Rule{inFile, inChange})
	if err != nil {
		t.Fatal(err)
	}
	docs := file("README.md", "+cents")
	docs.Documentation = true
	for name, test := range map[string]struct {
		files []pipeline.File
		want  []string
	}{
		"nothing":               {[]pipeline.File{file("a.go", "+price", "+price")}, []string{"change a.go:1", "change a.go:2", "file a.go:1"}},
		"an added line":         {[]pipeline.File{file("a.go", "+price", "+cents")}, nil},
		"a line of the context": {[]pipeline.File{file("a.go", " // cents", "+price")}, nil},
		"a removed line":        {[]pipeline.File{file("a.go", "-cents", "+price")}, []string{"change a.go:1", "file a.go:1"}},
		"another file":          {[]pipeline.File{file("a.go", "+price"), file("b.go", " cents")}, []string{"file a.go:1"}},
		"documentation":         {[]pipeline.File{file("a.go", "+price"), docs}, []string{"change a.go:1", "file a.go:1"}},
	} {
		facts := pipeline.PRFacts{Files: test.files}
		answer, err := engine.Scan(&facts, &pipeline.Classification{}).Agent("agent").Review(t.Context(), dispatch.Task{
			Entry: pipeline.ManifestEntry{Agent: "agent", Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range answer.Output.Findings {
			got = append(got, fmt.Sprintf("%s %s:%d", f.RuleID, f.Path, f.StartLine))
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A line counts from the day of each pattern that it matches, by the time of the facts.
func TestNotBefore(t *testing.T) {
	dated := rule(config.Match{Pattern: `node:\d+`, NotBefore: []config.NotBefore{{Pattern: `node:22`, Day: "2027-05-01"}, {Pattern: `node:2`, Day: "2026-05-01"}}})
	engine, err := rules.Compile([]config.Rule{dated})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"2026-04-30T23:59:59Z": "[1]", "2026-05-01T00:00:00Z": "[1 2]", "2027-04-30T23:59:59Z": "[1 2]", "2027-05-01T00:00:00Z": "[1 2 3]",
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		facts := pipeline.PRFacts{ObservedAt: now, Files: []pipeline.File{file("Dockerfile", "+FROM node:18", "+FROM node:20", "+FROM node:22")}}
		answer, err := engine.Scan(&facts, &pipeline.Classification{}).Agent("agent").Review(t.Context(), dispatch.Task{
			Entry: pipeline.ManifestEntry{Agent: "agent", Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
		})
		if err != nil {
			t.Fatal(err)
		}
		var lines []int
		for _, f := range answer.Output.Findings {
			lines = append(lines, f.StartLine)
		}
		if got := fmt.Sprint(lines); got != want {
			t.Errorf("at %s the lines %s count, want %s", at, got, want)
		}
	}
}

// The shipped rule about the end of life of images knows the days of versions that are still maintained.
func TestEndOfLifeByDate(t *testing.T) {
	shipped, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	i := slices.IndexFunc(shipped.Rules, func(r config.Rule) bool { return r.ID == "infra-image-eol-01" })
	engine, err := rules.Compile(shipped.Rules[i : i+1])
	if err != nil {
		t.Fatal(err)
	}
	for image, day := range map[string]string{
		"node:18-alpine": "2020-01-01", "node:20-alpine": "2026-05-01", "node:22": "2027-05-01", "python:3.9-slim": "2025-11-01", "python:3.10": "2026-11-01",
		"debian:bookworm-slim": "2028-07-01", "ubuntu:22.04": "2027-06-01", "ubuntu:noble": "2029-06-01", "alpine:3.21.2": "2026-11-02", "golang:1.23": "2025-08-13",
		"php:8.2-fpm": "2027-01-01", "ruby:3.3": "2027-04-01", "postgres:14": "2026-11-13", "postgres:9.6": "2020-01-01", "centos:7": "2020-01-01",
		"node:26": "", "python:3.14": "", "debian:trixie": "", "ubuntu:26.04": "", "alpine:3.23": "", "postgres:18": "", "node:lts": "",
	} {
		found := func(now time.Time) bool {
			f := file("Dockerfile", "+FROM "+image+" AS build")
			f.Language = "Dockerfile"
			facts := pipeline.PRFacts{ObservedAt: now, Files: []pipeline.File{f}}
			answer, err := engine.Scan(&facts, &pipeline.Classification{}).Agent(shipped.Rules[i].Agent).Review(t.Context(), dispatch.Task{
				Entry: pipeline.ManifestEntry{Agent: shipped.Rules[i].Agent, Scope: pipeline.AgentScope{All: true}}, Facts: &facts,
			})
			if err != nil {
				t.Fatal(err)
			}
			return len(answer.Output.Findings) > 0
		}
		if day == "" {
			if found(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: nobody knows its end of life", image)
			}
			continue
		}
		from, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if !found(from) || day != "2020-01-01" && found(from.Add(-time.Second)) {
			t.Errorf("%s: found on %s: %t, a second before: %t", image, day, found(from), found(from.Add(-time.Second)))
		}
	}
}
