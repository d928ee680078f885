package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// places returns where the rule matches in the files, such as a.go:3.
func places(t *testing.T, r config.Rule, scope pipeline.AgentScope, ignored string, files ...pipeline.File) string {
	t.Helper()
	e, err := rules.Compile([]config.Rule{r})
	if err != nil {
		t.Fatal(err)
	}
	scan := e.Scan(&pipeline.PRFacts{Files: files}, classification).Ignoring(func(path string) bool { return path == ignored })
	answer, err := scan.Agent("agent").Review(t.Context(), dispatch.Task{Entry: pipeline.ManifestEntry{Agent: "agent", Scope: scope}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range answer.Output.Findings {
		out = append(out, fmt.Sprintf("%s:%d", f.Path, f.StartLine))
	}
	return strings.Join(out, " ")
}

// Each removed line makes one equal added line old, and no more than that.
func TestMovedLines(t *testing.T) {
	in := func(language string, f pipeline.File) pipeline.File { f.Language = language; return f }
	bad := mild(config.Match{Pattern: `bad\(`})
	gap := []string{" a", " b", " c"}
	lines := func(parts ...any) (out []string) {
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				out = append(out, p)
			case []string:
				out = append(out, p...)
			}
		}
		return out
	}
	for _, test := range []struct {
		name  string
		rule  config.Rule
		files []pipeline.File
		want  string
	}{
		{"new", bad, []pipeline.File{file("a.go", "+bad(x)")}, "a.go:1"},
		{"indented", bad, []pipeline.File{file("a.go", "-bad(x)", "+if y {", "+\tbad(x)", "+}")}, ""},
		{"spaced otherwise", bad, []pipeline.File{file("a.go", "-x=bad( y )", "+x = bad(y)")}, ""},
		{"another value", bad, []pipeline.File{file("a.go", "-bad(x)", "+bad(y)")}, "a.go:1"},
		{"another text of a string", bad, []pipeline.File{file("a.go", `-bad("a b")`, `+bad("ab")`)}, "a.go:1"},
		{"a string that ends later", bad, []pipeline.File{file("a.go", `-bad("a\" b") `, `+bad("a\"  b")`)}, "a.go:1"},
		{"another operator", bad, []pipeline.File{file("a.go", "-bad(x + +y)", "+bad(x ++y)")}, "a.go:1"},
		{"moved within the file", bad, []pipeline.File{file("a.go", lines("-bad(x)", gap, "+bad(x)")...)}, ""},
		{"moved to another file", bad, []pipeline.File{file("a.go", "+bad(x)"), file("b.go", "-bad(x)")}, ""},
		{"moved out of a removed file", bad, []pipeline.File{file("a.go", "+bad(x)"), with(file("b.go", "-bad(x)"), func(f *pipeline.File) { f.Status = pipeline.FileRemoved })}, ""},
		{"moved once and added once", bad, []pipeline.File{file("a.go", lines("+bad(x)", gap, "-bad(x)", "+bad(x)")...)}, "a.go:1"},
		{"added first, moved in another file", bad, []pipeline.File{file("a.go", "+bad(x)"), file("b.go", "-bad(x)", "+\tbad(x)")}, "a.go:1"},
		{"moved twice, removed twice", bad, []pipeline.File{file("a.go", "+bad(x)", "+bad(x)"), file("b.go", "-bad(x)"), file("c.go", "-bad(x)")}, ""},
		{"out of a test", bad, []pipeline.File{file("a.go", "+bad(x)"), with(file("a_test.go", "-bad(x)"), func(f *pipeline.File) { f.Test = true })}, "a.go:1"},
		{"out of documentation", bad, []pipeline.File{file("a.go", "+bad(x)"), with(file("doc/b.go", "-bad(x)"), func(f *pipeline.File) { f.Documentation = true })}, "a.go:1"},
		{"out of vendored code", bad, []pipeline.File{file("a.go", "+bad(x)"), with(file("vendor/b.go", "-bad(x)"), func(f *pipeline.File) { f.Vendored = true })}, "a.go:1"},
		{"out of generated code", bad, []pipeline.File{file("a.go", "+bad(x)"), with(file("b.gen.go", "-bad(x)"), func(f *pipeline.File) { f.Generated = true })}, "a.go:1"},
		{"out of another language", bad, []pipeline.File{file("a.go", "+bad(x)"), in("Python", file("b.py", "-bad(x)"))}, "a.go:1"},
		{"out of an ignored file", bad, []pipeline.File{file("a.go", "+bad(x)"), file("ignored.go", "-bad(x)")}, "a.go:1"},
		{"out of a file that the rule leaves out", mild(config.Match{Pattern: `bad\(`, ExcludePaths: []string{"b.go"}}), []pipeline.File{file("a.go", "+bad(x)"), file("b.go", "-bad(x)")}, "a.go:1"},
		{"out of a file that speaks against the rule", mild(config.Match{Pattern: `bad\(`, NotInFile: "safe"}), []pipeline.File{file("a.go", "+bad(x)"), file("b.go", " safe", "-bad(x)")}, "a.go:1"},
		{"out of a change that spoke against the rule", mild(config.Match{Pattern: `bad\(`, NotInChange: "safe"}), []pipeline.File{file("a.go", "-safe", "-bad(x)", "+bad(x)")}, "a.go:1"},
		{"out of a comment", mild(config.Match{Pattern: `bad\(`}), []pipeline.File{file("a.go", "-/*", "-bad(x)", "-*/", "+bad(x)")}, "a.go:1"},
		{"out of a comment that the rule leaves out", mild(config.Match{Pattern: `bad\(`, Comments: new(bool)}), []pipeline.File{file("a.go", "-// bad(x)", "+// bad", "+bad(x)")}, "a.go:2"},
		{"a comment by a line break", bad, []pipeline.File{file("a.go", "-// bad(x)", "+//", "+bad(x)")}, "a.go:2"},
		{"out of a line with an ignore", bad, []pipeline.File{file("a.go", "-// reviewgate:ignore rule tried", "-bad(x)", "+bad(x)")}, "a.go:1"},
		{"in a file that was renamed", bad, []pipeline.File{with(file("a.go", "-bad(x)", "+ bad(x)"), func(f *pipeline.File) { f.Status, f.PreviousPath = pipeline.FileRenamed, "a_test.go" })}, "a.go:1"},
		{"in a copy", bad, []pipeline.File{with(file("a.go", "-bad(x)", "+ bad(x)"), func(f *pipeline.File) { f.Status = pipeline.FileCopied })}, "a.go:1"},
		{"beside another key", bad, []pipeline.File{in("JSON", file("a.json", lines("-bad(", gap, "+bad(")...))}, "a.json:4"},
		{"beside the same key", bad, []pipeline.File{in("JSON", file("a.json", "-  bad(", "+    bad("))}, ""},
		{"where indentation is meaning", bad, []pipeline.File{in("YAML", file("a.yml", "-  bad(", "+    bad("))}, "a.yml:1"},
		{"split", bad, []pipeline.File{file("a.go", "-x(bad(a), b)", "+x(", "+\tbad(a),", "+\tb,", "+)")}, ""},
		{"joined", bad, []pipeline.File{file("a.go", "-x(", "-\tbad(a),", "-\tb,", "-)", "+x(bad(a), b)")}, ""},
		{"split and changed", bad, []pipeline.File{file("a.go", "-x(bad(a), b)", "+x(", "+\tbad(a),", "+\tc,", "+)")}, "a.go:2"},
		{"the limit counts new lines only", mild(config.Match{Pattern: `bad\(`, MaxPerFile: 1}), []pipeline.File{file("a.go", "-bad(x)", "+ bad(x)", " a", "+bad(y)", "+bad(z)")}, "a.go:3"},
		{"a rule that can block", rule(config.Match{Pattern: `bad\(`}), []pipeline.File{file("a.go", "-bad(x)", "+ bad(x)")}, "a.go:1"},
		{"a rule that can block in a domain", func() config.Rule {
			r := bad
			r.SeverityIn = map[string]pipeline.Severity{"api": pipeline.SeverityMajor}
			return r
		}(), []pipeline.File{file("a.go", "-bad(x)", "+ bad(x)")}, "a.go:1"},
		{"a final rule", func() config.Rule { r := bad; r.Final = true; return r }(), []pipeline.File{file("a.go", "-bad(x)", "+ bad(x)")}, "a.go:1"},
		{"a higher severity elsewhere", func() config.Rule {
			r := bad
			r.Severity, r.SeverityIn = pipeline.SeverityInfo, map[string]pipeline.Severity{"api": pipeline.SeverityWarning}
			return r
		}(), []pipeline.File{file("a.go", "+bad(x)"), file("b.go", "-bad(x)")}, "a.go:1"},
	} {
		if got := places(t, test.rule, pipeline.AgentScope{All: true}, "ignored.go", test.files...); got != test.want {
			t.Errorf("%s: findings at %q, want %q", test.name, got, test.want)
		}
	}
	moved := []pipeline.File{file("a.go", "+bad(x)"), file("b.go", "-bad(x)")}
	if got := places(t, bad, pipeline.AgentScope{Files: []string{"a.go"}}, "", moved...); got != "a.go:1" {
		t.Errorf("moved out of a file that the agent does not review: findings at %q, want one at a.go:1", got)
	}
}

// Moved lines are looked up a hundred times. The rest counts as new, and so does the new line.
func TestMovedLinesHideNoNewOnes(t *testing.T) {
	var from, to []string
	for i := range 900 {
		from, to = append(from, fmt.Sprintf("-bad(%d)", i)), append(to, fmt.Sprintf("+bad(%d)", i))
	}
	for n, want := range map[int]string{50: "a.go:51", 900: "a.go:101"} {
		files := []pipeline.File{file("a.go", append(slices.Clone(to[:n]), "+bad(new)")...), file("b.go", from[:n]...)}
		all := strings.Fields(places(t, mild(config.Match{Literal: "bad("}), pipeline.AgentScope{All: true}, "", files...))
		if last := fmt.Sprintf("a.go:%d", n+1); all[0] != want || all[len(all)-1] != last {
			t.Errorf("%d moved lines: findings from %q to %q, want %q to %q", n, all[0], all[len(all)-1], want, last)
		}
	}
}

// mild is a rule whose findings can't block.
func mild(m config.Match) config.Rule {
	r := rule(m)
	r.Severity = pipeline.SeverityWarning
	return r
}
