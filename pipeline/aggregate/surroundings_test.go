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
)

// numbered returns n lines of code.
func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("f%d()", i+1)
	}
	return lines
}

// edited returns the lines with the line at a position replaced.
func edited(lines []string, at int, with ...string) []string {
	return slices.Concat(lines[:at-1], with, lines[at:])
}

// dismissing dismisses the finding at a line of the first diff of c.go, and returns the report on
// the second diff, where the finding is at another line.
func dismissing(before, after pipeline.File, line, later int) pipeline.Report {
	at := func(f pipeline.File, line int) Input {
		in := one(ruled(line, pipeline.SeverityMajor))
		in.Facts.Files = append(in.Facts.Files, f)
		return in
	}
	first := Aggregate(at(before, line)).Findings[0]
	in := at(after, later)
	for i, id := range first.Fingerprints {
		in.Memory.Dismissed = append(in.Memory.Dismissed, pipeline.Dismissal{Fingerprint: id, Path: "c.go", Reason: "harmless", By: "carol", Surroundings: first.Surroundings[i]})
	}
	return Aggregate(in)
}

// golang returns c.go as a Go file that the change adds.
func golang(lines []string) pipeline.File {
	f := file("c.go", lines...)
	f.Language = "Go"
	return f
}

func TestDismissalIsBoundToTheCodeAround(t *testing.T) {
	code := numbered(41)
	code[20] = "bad()"
	held := func(lines []string) bool {
		later := slices.Index(lines, "bad()") + 1
		r := dismissing(golang(code), golang(lines), 21, later)
		if len(r.Findings)+len(r.Suppressed) != 1 {
			t.Fatalf("%d findings, %d suppressed", len(r.Findings), len(r.Suppressed))
		}
		if len(r.Findings) == 1 && ((r.Findings[0].Reasons[0].Kind != pipeline.ReasonNotDismissed || !strings.HasPrefix(r.Findings[0].Reasons[0].Text, "the code around it has changed since carol")) || !r.Decision.Blocks()) {
			t.Errorf("%+v", r.Findings[0])
		}
		return len(r.Suppressed) == 1
	}
	for name, lines := range map[string][]string{
		"nothing":                                code,
		"eleven lines above":                     edited(code, 10, "x()"),
		"eleven lines below":                     edited(code, 32, "x()"),
		"lines far above":                        slices.Concat([]string{"x()", "y()"}, code),
		"lines far above are removed":            code[5:],
		"a comment":                              edited(code, 20, "// why", "f20()"),
		"a comment that mentions a directive":    edited(code, 20, "// see go:build", "f20()"),
		"a comment of several lines":             edited(code, 20, "/* why", "  so", "*/", "f20()"),
		"blank lines":                            edited(code, 22, "", "\t", "f22()"),
		"white space":                            edited(code, 20, "\t f20()  "),
		"comments between, at the same distance": edited(edited(code, 15, "// a", "f15()"), 10, "x()"),
	} {
		if !held(lines) {
			t.Errorf("%s: no longer dismissed", name)
		}
	}
	for name, lines := range map[string][]string{
		"a batch system's directive":                edited(code, 20, "//SBATCH --partition=x", "f20()"),
		"a pragma of JSX":                           edited(code, 20, "/* @jsx evil */", "f20()"),
		"an image's syntax":                         edited(code, 20, "// syntax=evil/frontend", "f20()"),
		"a comment that continues on the next line": edited(code, 20, `// why \`, "f20()"),
		"a comment that contains code":              edited(edited(code, 19, "/*", "f19()"), 21, "f20()", "*/"),
		"white space in quotes":                     edited(code, 20, `f20("rm -rf /tmp/a  b")`),
		"a build constraint":                        edited(code, 20, "//go:build ignore", "f20()"),
		"a directive of the linker":                 edited(code, 20, "//go:linkname f20 other.f20", "f20()"),
		"cgo's flags":                               edited(code, 20, "// #cgo LDFLAGS: -lother", "f20()"),
		"the line above":                            edited(code, 20, "x()"),
		"ten lines above":                           edited(code, 11, "x()"),
		"the line below":                            edited(code, 22, "x()"),
		"ten lines below":                           edited(code, 31, "x()"),
		"one line more":                             edited(code, 15, "f15()", "x()"),
		"one line less":                             edited(code, 15),
		"two lines change places":                   edited(edited(code, 15, "f16()"), 16, "f15()"),
		"code behind a comment":                     edited(code, 20, "/* why */ x()", "f20()"),
		"code behind U+2028":                        edited(code, 20, "// why\u2028x()", "f20()"),
		"code behind the end of a raw string":       edited(code, 20, "// ` + x()", "f20()"),
	} {
		if held(lines) {
			t.Errorf("%s: still dismissed", name)
		}
	}
}

// A comment that another program reads counts as code.
func TestCommentsThatProgramsRead(t *testing.T) {
	for language, lines := range map[string][]string{
		"SQL":        {"-- {% do run(x) %}", "/* {{ run(x) }} */", "-- +goose Up", "-- migrate:up", "-- +migrate Down", "-- name: Get :exec", "-- flyway:executeInTransaction=false", "-- atlas:txmode none"},
		"YAML":       {"# <%= run(x) %>", "# {% run x %}"},
		"HTML":       {"<!--#exec cmd=x -->", "<!-- #include file=x -->", "<!-- ko foreach: x -->", "<!-- @if x -->", "<!-- build:js -->", "<!-- IF x -->"},
		"PHP":        {"/** @Route(x) */", `/** @ORM\Column */`, "/** @PublicPage */", "/* Plugin Name: X */", "/** @dataProvider x */"},
		"Shell":      {"# Default-Start: 2 3 4 5", "# chkconfig: 2345 20 80", "# @cmd", "# Provides: x"},
		"JavaScript": {"// @require https://example.com/x.js", "/* webpackIgnore: true */", "/** @jest-environment node */", "// Flags: --x"},
		"Rust":       {"// cargo-deps: x", "/// assert!(x);"},
		"Scala":      {"// using dep x"},
		"Go":         {"// static int f() { return x(); }"},
		"Python":     {`#   "requests<3",`},
	} {
		for _, line := range lines {
			about := []string{"bad()"}
			switch language {
			case "Go":
				about = []string{`import "C"`, "bad()"}
			case "Python":
				about = []string{"# /// script", "bad()"}
			}
			f, g := file("c.go", append([]string{""}, about...)...), file("c.go", append([]string{line}, about...)...)
			f.Language, g.Language = language, language
			if at := len(about) + 1; len(dismissing(f, g, at, at).Findings) != 1 {
				t.Errorf("%s: %s: still dismissed", language, line)
			}
		}
	}
}

// Indentation counts as code if it makes blocks, and if the language is unknown.
func TestIndentationIsCode(t *testing.T) {
	before := []string{"if debug:", "    bad()", "done()"}
	after := []string{"if debug:", "    pass", "bad()", "done()"}
	for language, want := range map[string]bool{
		"Python": true, "YAML": true, "": true, "Shell": true, "Dockerfile": true, "Makefile": true, "PowerShell": true, "HCL": true, "Scala": true, "INI": true,
		"Go": false, "JavaScript": false, "SQL": false,
	} {
		f, g := file("c.go", before...), file("c.go", []string{before[0], "\t" + before[1], before[2]}...)
		f.Language, g.Language = language, language
		if got := len(dismissing(f, g, 2, 2).Findings) == 1; got != want {
			t.Errorf("%q: needs confirmation: %t, want %t", language, got, want)
		}
	}
	f, g := file("c.go", before...), file("c.go", after...)
	f.Language, g.Language = "Python", "Python"
	if len(dismissing(f, g, 2, 3).Findings) != 1 {
		t.Error("a call was moved out of its condition, and its finding is still dismissed")
	}
}

// A space after a backslash ends the line's continuation. Only spaces and tabs separate words in
// every language.
func TestSpacesThatMatter(t *testing.T) {
	for name, tt := range map[string]struct{ before, after string }{
		"a space after a backslash":           {"echo \\", "echo \\ "},
		"a tab after a backslash":             {"echo \\\t", "echo \\"},
		"another space":                       {"sudo\u00a0rm x", "sudo rm x"},
		"a form feed":                         {"sudo\frm x", "sudo rm x"},
		"a carriage return":                   {"X", "X\r"},
		"a carriage return after a backslash": {"echo \\", "echo \\\r"},
	} {
		f, g := golang([]string{tt.before, "bad()"}), golang([]string{tt.after, "bad()"})
		if len(dismissing(f, g, 2, 2).Findings) != 1 {
			t.Errorf("%s: still dismissed", name)
		}
	}
	f, g := golang([]string{"echo \\", "bad()"}), golang([]string{"echo \\", "bad()"})
	g.Hunks[0].Returns = true
	if len(dismissing(f, g, 2, 2).Findings) != 1 {
		t.Error("carriage returns behind all lines: still dismissed")
	}
	f, g = golang([]string{"x  =\t1 ", "bad()"}), golang([]string{"x = 1", "bad()"})
	if len(dismissing(f, g, 2, 2).Findings) != 0 {
		t.Error("a change of meaningless spaces asks for confirmation")
	}
}

// shown returns the diff of a base with some lines replaced, and with three lines around each, as
// GitHub shows it. An empty text removes a line.
func shown(base []string, replace map[int]string) pipeline.File {
	f := pipeline.File{Path: "c.go", Language: "Go", Status: pipeline.FileModified}
	const context = 3
	near := func(n int) bool {
		for i := n - context; i <= n+context; i++ {
			if _, ok := replace[i]; ok {
				return true
			}
		}
		return false
	}
	next, open := 1, false
	for i, text := range base {
		n := i + 1
		with, changed := replace[n]
		if !near(n) {
			open = false
		} else if !open {
			f.Hunks, open = append(f.Hunks, pipeline.Hunk{OldStart: n, NewStart: next}), true
		}
		add := func(l pipeline.Line) {
			h := &f.Hunks[len(f.Hunks)-1]
			h.Lines = append(h.Lines, l)
		}
		switch {
		case changed:
			add(pipeline.Line{Op: pipeline.LineRemoved, Old: n, Text: text})
			if with != "" {
				add(pipeline.Line{Op: pipeline.LineAdded, New: next, Text: with})
				next++
			}
		case open:
			add(pipeline.Line{Op: pipeline.LineContext, Old: n, New: next, Text: text})
			next++
		default:
			next++
		}
	}
	return f
}

// The diff of a modified file shows the lines near the changes, so it shows more lines from head to
// head. A dismissal does not depend on which unchanged lines the diff shows.
func TestDismissalWithPartialDiffs(t *testing.T) {
	base := numbered(80)
	for name, tt := range map[string]struct {
		also map[int]string // changes besides the bad line 40
		line int            // the place of the bad line after the changes
		held bool
	}{
		"nothing":                         {map[int]string{}, 40, true},
		"far above":                       {map[int]string{3: "x()"}, 40, true},
		"lines up to ten above are shown": {map[int]string{16: "x()"}, 40, true},
		"one line fewer far above":        {map[int]string{3: ""}, 39, true},
		"far below":                       {map[int]string{70: "x()"}, 40, true},
		"the line above":                  {map[int]string{39: "x()"}, 40, false},
		"the line above is removed":       {map[int]string{39: ""}, 39, false},
		"four above":                      {map[int]string{36: "x()"}, 40, false},
		"ten above":                       {map[int]string{30: "x()"}, 40, false},
		"ten below":                       {map[int]string{50: "x()"}, 40, false},
		"ten below is removed":            {map[int]string{50: ""}, 40, false},
		"a comment above":                 {map[int]string{39: "// why"}, 40, false}, // f39() is removed
		"several near lines":              {map[int]string{3: "x()", 38: "x()", 77: "x()"}, 40, false},
	} {
		bad := map[int]string{40: "bad()"}
		after := map[int]string{40: "bad()"}
		for n, text := range tt.also {
			after[n] = text
		}
		r := dismissing(shown(base, bad), shown(base, after), 40, tt.line)
		if held := len(r.Suppressed) == 1; held != tt.held {
			t.Errorf("%s: dismissed %t, want %t", name, held, tt.held)
		}
	}
}

// moved returns the diff of a base with lines added before one of its lines.
func moved(base []string, before int, lines ...string) pipeline.File {
	f := pipeline.File{Path: "c.go", Language: "Go", Status: pipeline.FileModified}
	from, to := max(1, before-3), min(len(base), before+2)
	h := pipeline.Hunk{OldStart: from, NewStart: from}
	next := from
	for n := from; n <= to; n++ {
		if n == before {
			for _, l := range lines {
				h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: next, Text: l})
				next++
			}
		}
		h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineContext, Old: n, New: next, Text: base[n-1]})
		next++
	}
	f.Hunks = append(f.Hunks, h)
	return f
}

// If a line moves elsewhere in its file, it has other code around it. The same is true if unchanged
// code beside it becomes a comment.
func TestDismissalIsBoundToThePlaceInTheFile(t *testing.T) {
	base := numbered(80)
	blanks := slices.Clone(base)
	for i := 38; i < 41; i++ {
		blanks[i-1] = ""
	}
	for name, tt := range map[string]struct {
		base  []string
		after pipeline.File
		line  int // the place of the bad line after the change
		held  bool
	}{
		"the same":                     {base, moved(base, 40, "bad()"), 40, true},
		"one line up":                  {base, moved(base, 39, "bad()"), 39, false},
		"far up":                       {base, moved(base, 20, "bad()"), 20, false},
		"to the top":                   {base, moved(base, 1, "bad()"), 1, false},
		"to the end":                   {base, moved(base, 80, "bad()"), 80, false},
		"below blank lines elsewhere":  {blanks, moved(blanks, 60, "bad()"), 60, false},
		"below the same blank lines":   {blanks, moved(blanks, 40, "bad()"), 40, true},
		"with a comment above":         {base, moved(base, 40, "// why", "bad()"), 41, true},
		"with an opened comment above": {base, moved(base, 40, "/* why", "bad()"), 41, false},
		"with an opened comment below": {base, moved(base, 40, "bad()", "/* why"), 40, false},
	} {
		if r := dismissing(moved(tt.base, 40, "bad()"), tt.after, 40, tt.line); (len(r.Suppressed) == 1) != tt.held {
			t.Errorf("%s: %d suppressed", name, len(r.Suppressed))
		}
	}
}

// If a copy of a dismissed line is added above it, the copy is not dismissed.
func TestDismissalDoesNotCoverACopy(t *testing.T) {
	base := numbered(80)
	first, second := moved(base, 20, "bad()"), moved(base, 40, "bad()")
	both := first
	h := second.Hunks[0]
	h.NewStart++
	h.Lines = slices.Clone(h.Lines)
	for i := range h.Lines {
		h.Lines[i].New++
	}
	both.Hunks = append(slices.Clone(both.Hunks), h)
	at := func(f pipeline.File, lines ...int) Input {
		var made []pipeline.Finding
		for _, l := range lines {
			made = append(made, ruled(l, pipeline.SeverityMajor))
		}
		in := world(map[string][]pipeline.Finding{"x": made})
		in.Facts.Files = append(in.Facts.Files, f)
		return in
	}
	known := Aggregate(at(second, 40)).Findings[0]
	in := at(both, 20, 41)
	in.Memory.Dismissed = append(in.Memory.Dismissed, pipeline.Dismissal{Fingerprint: known.ID, Path: "c.go", Reason: "harmless", By: "carol", Surroundings: known.Surroundings[0]})
	for _, f := range Aggregate(in).Suppressed {
		if f.Finding.StartLine == 20 {
			t.Error("the copy far above is dismissed")
		}
	}
}

// The place of a finding includes the file's directory and kind.
func TestDismissalIsBoundToTheKindOfFile(t *testing.T) {
	before := golang([]string{"bad()"})
	for name, tt := range map[string]struct {
		change func(*pipeline.File)
		held   bool
	}{
		"renamed in its directory": {func(f *pipeline.File) { f.Path, f.PreviousPath, f.Status = "d.go", "c.go", pipeline.FileRenamed }, true},
		"no longer an example": {func(f *pipeline.File) {
			f.Path, f.PreviousPath, f.Status = "c.production.go", "c.go", pipeline.FileRenamed
		}, false},
		"built for another operating system": {func(f *pipeline.File) {
			f.Path, f.PreviousPath, f.Status = "c_windows.go", "c.go", pipeline.FileRenamed
		}, false},
		"no longer left out of the build": {func(f *pipeline.File) { f.Path, f.PreviousPath, f.Status = "_c.go", "c.go", pipeline.FileRenamed }, false},
		"moved":                           {func(f *pipeline.File) { f.Path, f.PreviousPath, f.Status = "prod/c.go", "c.go", pipeline.FileRenamed }, false},
		"no longer a test":                {func(f *pipeline.File) { f.Test = !f.Test }, false},
		"no longer documentation":         {func(f *pipeline.File) { f.Documentation = !f.Documentation }, false},
		"no longer vendored":              {func(f *pipeline.File) { f.Vendored = !f.Vendored }, false},
		"no longer generated":             {func(f *pipeline.File) { f.Generated = !f.Generated }, false},
		"of another language":             {func(f *pipeline.File) { f.Language = "C" }, false},
	} {
		after := before
		tt.change(&after)
		in := one(ruled(1, pipeline.SeverityMajor))
		in.Facts.Files = append(in.Facts.Files, before)
		first := Aggregate(in).Findings[0]
		made := ruled(1, pipeline.SeverityMajor)
		made.Path = after.Path
		in = one(made)
		in.Facts.Files = append(in.Facts.Files, after)
		in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: first.ID, Path: "c.go", Reason: "harmless", By: "carol", Surroundings: first.Surroundings[0]}}
		r := Aggregate(in)
		if held := len(r.Suppressed) == 1; held != tt.held {
			t.Errorf("%s: dismissed %t", name, held)
		}
	}
}

// A dismissal of a finding outside files is bound to the text that the finding is about, or, if
// there is no such text, to the finding's own text.
func TestDismissalOutsideFiles(t *testing.T) {
	about := func(section string) pipeline.Finding {
		f := ruled(0, pipeline.SeverityMajor)
		f.Path, f.Section = "", section
		return f
	}
	// If a case gives a file name, the name holds a secret of the rule.
	inName := func(digest string) pipeline.List[pipeline.Redaction] {
		return pipeline.List[pipeline.Redaction]{{Source: pipeline.RedactedLine, Op: pipeline.LineAdded, RuleID: "x", Digest: digest}}
	}
	world := func(name string, f pipeline.Finding) Input {
		in := one(f)
		if strings.HasPrefix(name, "the name of a file") {
			in.Facts.Redactions = inName("1")
		}
		return in
	}
	for name, tt := range map[string]struct {
		section string
		change  func(*Input, *pipeline.Finding)
		held    bool
	}{
		"the title":                    {pipeline.SectionTitle, func(in *Input, _ *pipeline.Finding) { in.Facts.Title += "!" }, false},
		"the title, another body":      {pipeline.SectionTitle, func(in *Input, _ *pipeline.Finding) { in.Facts.Body += "!" }, true},
		"the description":              {pipeline.SectionDescription, func(in *Input, _ *pipeline.Finding) { in.Facts.Body += "!" }, false},
		"the description, other title": {pipeline.SectionDescription, func(in *Input, _ *pipeline.Finding) { in.Facts.Title += "!" }, true},
		"the change":                   {pipeline.SectionChange, func(*Input, *pipeline.Finding) {}, true},
		"the change, another message":  {pipeline.SectionChange, func(_ *Input, f *pipeline.Finding) { f.Message = "Deletes the backups." }, false},
		"dismissed for another base": {pipeline.SectionChange, func(in *Input, _ *pipeline.Finding) {
			in.Memory.Dismissed[0].Surroundings = pipeline.SurroundingsElsewhere
		}, false},
		"the name of a file, another secret": {pipeline.SectionChange, func(in *Input, _ *pipeline.Finding) { in.Facts.Redactions = inName("2") }, false},
		"the name of a file, a second secret": {pipeline.SectionChange, func(in *Input, _ *pipeline.Finding) {
			in.Facts.Redactions = append(inName("1"), inName("2")...)
		}, false},
		"the name of a file, the same secret": {pipeline.SectionChange, func(in *Input, _ *pipeline.Finding) { in.Facts.Head.SHA += "!" }, true},
		"a decision without stored surroundings": {pipeline.SectionChange, func(in *Input, _ *pipeline.Finding) {
			in.Memory.Dismissed[0].Surroundings = pipeline.SurroundingsUnknown
		}, false},
	} {
		f := about(tt.section)
		if strings.HasPrefix(name, "the name of a file") {
			f.RuleID = pipeline.SecretRulePrefix + "x"
		}
		first := Aggregate(world(name, f)).Findings[0]
		in := world(name, f)
		in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: first.ID, Reason: "harmless", By: "carol", Surroundings: first.Surroundings[0]}}
		tt.change(&in, &f)
		memory, facts := in.Memory, in.Facts
		in = one(f)
		in.Memory, in.Facts = memory, facts
		if r := Aggregate(in); (len(r.Suppressed) == 1) != tt.held {
			t.Errorf("%s: %d suppressed, %+v", name, len(r.Suppressed), r.Findings)
		}
	}
}

// A rule about the whole change reports the same finding for a harmless change and for a harmful
// one. So a decision about such a finding that may block is bound to the whole change.
func TestDismissalOfARuleAboutTheWholeChange(t *testing.T) {
	for _, tt := range []struct {
		severity pipeline.Severity
		path     string // where the finding is shown
		after    []string
		held     bool
	}{
		{pipeline.SeverityMajor, "", []string{"drop(old)"}, true},
		{pipeline.SeverityMajor, "", []string{"drop(old)", "// said why"}, true},
		{pipeline.SeverityMajor, "", []string{"drop(old)", "drop(customers)"}, false},
		{pipeline.SeverityWarning, "", []string{"drop(old)", "drop(customers)"}, true},
		{pipeline.SeverityMajor, "other.go", []string{"drop(old)", "// said why"}, true},
		{pipeline.SeverityMajor, "other.go", []string{"drop(old)", "drop(customers)"}, false},
		{pipeline.SeverityWarning, "other.go", []string{"drop(old)", "drop(customers)"}, true},
	} {
		at := func(lines ...string) Input {
			f := ruled(0, tt.severity)
			if f.Path = tt.path; f.Path == "" {
				f.Section = pipeline.SectionChange
			}
			in := one(f)
			other := golang([]string{"keep()"})
			other.Path = "other.go"
			in.Facts.Files = append(in.Facts.Files, golang(lines), other)
			in.Rules = map[string]*config.Rule{f.RuleID: {ID: f.RuleID, Agent: "x", When: "true"}}
			return in
		}
		first := Aggregate(at("drop(old)")).Findings[0]
		in := at(tt.after...)
		in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: first.ID, Path: tt.path, Reason: "harmless", By: "carol", Surroundings: first.Surroundings[0]}}
		if r := Aggregate(in); (len(r.Suppressed) == 1) != tt.held {
			t.Errorf("%s at %q, then %q: %d suppressed", tt.severity, tt.path, tt.after, len(r.Suppressed))
		}
	}
}

// A finding about a whole file is bound to everything that the change does to the file. If the
// file's diff is unknown, the finding is bound to the head.
func TestDismissalOfAWholeFile(t *testing.T) {
	code := numbered(60)
	for name, tt := range map[string]struct {
		after []string
		held  bool
	}{
		"nothing":   {code, true},
		"a comment": {append(slices.Clone(code), "// x"), true},
		"a line":    {append(slices.Clone(code), "x()"), false},
	} {
		if r := dismissing(golang(code), golang(tt.after), 0, 0); (len(r.Suppressed) == 1) != tt.held {
			t.Errorf("%s: %d suppressed", name, len(r.Suppressed))
		}
	}
	in := one(ruled(0, pipeline.SeverityMajor))
	in.Facts.Files = append(in.Facts.Files, pipeline.File{Path: "c.go"})
	first := Aggregate(in).Findings[0]
	in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: first.ID, Path: "c.go", Reason: "harmless", By: "carol", Surroundings: first.Surroundings[0]}}
	if r := Aggregate(in); len(r.Suppressed) != 1 {
		t.Error("not dismissed on the same head")
	}
	in.Facts.Head.SHA = strings.Repeat("9", 40)
	if r := Aggregate(in); len(r.Suppressed) != 0 {
		t.Error("dismissed on a head without a known diff of the file")
	}
}

// A decision from a version that stored no surroundings must be confirmed. In a stored review of
// that version it still counts.
func TestDismissalOfAnOlderVersion(t *testing.T) {
	in := one(ruled(1, pipeline.SeverityMajor))
	in.Facts.Files = append(in.Facts.Files, golang([]string{"bad()"}))
	first := Aggregate(in).Findings[0]
	for around, held := range map[string]bool{"": true, pipeline.SurroundingsUnknown: false} {
		in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: first.ID, Path: "c.go", Reason: "harmless", By: "carol", Surroundings: around}}
		if r := Aggregate(in); (len(r.Suppressed) == 1) != held {
			t.Errorf("%q: %d suppressed", around, len(r.Suppressed))
		}
	}
}

// The acceptance of an ignore comment lapses like a dismissal. The acceptance of a finding makes
// nothing milder, so it stays, and the finding says that the code has changed.
func TestAcceptanceIsBoundToTheCodeAround(t *testing.T) {
	with := func(above string) Input {
		in := one(ruled(2, pipeline.SeverityMajor))
		in.Facts.Files = append(in.Facts.Files, golang([]string{above, "bad() // reviewgate:ignore r1 a sandbox"}))
		return in
	}
	first := Aggregate(with("x()")).Findings[0]
	for above, held := range map[string]bool{"x()": true, "y()": false} {
		in := with(above)
		in.Memory.Accepted = pipeline.List[pipeline.Acceptance]{{Fingerprint: first.ID, By: "carol", Ignore: "a sandbox", Surroundings: first.Surroundings[0]}}
		if r := Aggregate(in); (len(r.Suppressed) == 1) != held {
			t.Errorf("%s above: %d suppressed", above, len(r.Suppressed))
		}
		in.Memory.Accepted[0].Ignore = ""
		r := Aggregate(in)
		want := pipeline.Reason{Kind: pipeline.ReasonAccepted, Text: "carol"}
		if !held {
			want.Text += ", and the code around it has changed since then"
		}
		if len(r.Findings) != 1 || r.Findings[0].Reasons[0] != want {
			t.Errorf("%s above: %+v", above, r.Findings)
		}
	}
}

// If any line of code within ten lines of the finding changes, the dismissal needs confirmation,
// until the line changes back.
func TestAnyChangeNearAsksForConfirmation(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "lines")
		code := numbered(n)
		for i := range code {
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				code[i] = rapid.SampledFrom([]string{"", "// why", "\t"}).Draw(t, "line")
			}
		}
		at := rapid.IntRange(1, n).Draw(t, "at")
		code[at-1] = "bad()"
		changed := rapid.IntRange(1, n).Filter(func(i int) bool { return i != at }).Draw(t, "changed")
		far := 1
		for i := min(at, changed) + 1; i < max(at, changed); i++ {
			if strings.HasSuffix(code[i-1], ")") {
				far++
			}
		}
		if !strings.HasSuffix(code[changed-1], ")") {
			return
		}
		r := dismissing(golang(code), golang(edited(code, changed, "other()")), at, at)
		if held := len(r.Suppressed) == 1; held != (far > aroundLines) {
			t.Fatalf("line %d of %q, %d from line %d: dismissed %t", changed, code, far, at, held)
		}
	})
}
