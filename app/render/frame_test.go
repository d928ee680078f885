package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// codeView has findings about all kinds of code.
func codeView() View {
	v := cleanView()
	long := strings.Repeat("padding, ", 12)
	v.Review.Facts.Files = pipeline.List[pipeline.File]{
		{Path: "web/app.ts", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{
			addedLines(7, "const 注文 = \"日本語のコメント\"; eval(name);", "\tconst e\u0301te\u0301 = \"👍🏽 🎉\"; eval(name);", "", "\t\tif (ab) {\teval(a); }"),
			addedLines(998, "load([", "  first,", "  second,", "  eval(third),", "  fourth,", "]);"),
		}},
		{Path: "client/http.go", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{
			addedLines(17, "\tkey := \"[redacted: aws-access-token]\"",
				"\tcall("+long+"eval(x), "+long+")", "\tcall("+long+"eval(x))", "\teval(x, "+long+")", "\teval("+long+strings.TrimSpace(long)+")"),
		}},
		{Path: "hostile.js", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{
			addedLines(1, "\x1b[31mred\x1b[0m \x1b]8;;http://x\a eval(x)\r", "a\u202eb\u2066c\u200bd\u00ade eval(x)\x00\b\x7f", strings.Repeat("x", 10_000)+" eval(x)"+strings.Repeat("y", 10_000),
				"z"+strings.Repeat("\u0300", 40)+" eval(x)", "a\vb\u2028c\u0085d eval(x)", "\xff\xfe eval(x)", "\tno call\x1b[2J\u202e here\r"),
		}},
		{Path: "gone.go", Status: pipeline.FileRemoved},
	}
	at := func(rule, path string, severity pipeline.Severity, start, end int) pipeline.Finding {
		return pipeline.Finding{
			RuleID: rule, Title: "Code is made from a value and run", Severity: severity, Path: path, StartLine: start, EndLine: end,
			Message: "Whoever controls the value runs code.", Recommendation: "Parse the value.", Agent: "security-reviewer", ID: fmt.Sprintf("%08x", start),
		}
	}
	var fs []pipeline.Finding
	for _, line := range []int{10, 8, 7} {
		fs = append(fs, at("sec-eval-01", "web/app.ts", pipeline.SeverityWarning, line, line))
	}
	for i := range 5 {
		fs = append(fs, at("sec-eval-01", "client/http.go", pipeline.SeverityWarning, 17+i, 17+i))
	}
	for i := range 7 {
		fs = append(fs, at("", "hostile.js", pipeline.SeverityInfo, i+1, i+1))
		fs[len(fs)-1].Title = "`eval` runs code"
	}
	secret := at("secret-aws-access-token", "client/http.go", pipeline.SeverityCritical, 17, 17)
	secret.Title, secret.Agent = "AWS access token in this line", "secrets"
	long6 := at("", "web/app.ts", pipeline.SeverityWarning, 998, 1003)
	long6.Title, long6.Evidence = "The third value is run", pipeline.List[string]{"`eval(third),`", "said in the issue"}
	short := at("", "web/app.ts", pipeline.SeverityMajor, 9, 10)
	short.Title, short.SuggestedFix = "The branch is never taken", "\n\t\ta && run(a);"
	whole := at("", "", pipeline.SeverityMajor, 0, 0)
	whole.Title = "The change has no test"
	gone := at("", "gone.go", pipeline.SeverityInfo, 3, 8)
	gone.Title = "It was documented"
	file := at("", "client/http.go", pipeline.SeverityInfo, 0, 0)
	file.Title = "The file has no license"
	setFindings(&v, pipeline.DecisionFail, "critical > 0", append(fs, secret, long6, short, whole, gone, file)...)
	v.Rules = map[string]RuleNote{"sec-eval-01": {Reference: "https://cwe.mitre.org/data/definitions/95.html", Pattern: `\seval\([^)]*\)`}}
	return v
}

func TestCodeFrames(t *testing.T) {
	for _, width := range []int{100, 60} {
		golden(t, fmt.Sprintf("text/code-%d.txt", width), Text(codeView(), TextOptions{Width: width, Brief: true}))
	}
}

// The code frames have no control sequences, and no row is wider than the terminal.
func TestCodeFramesAreSafe(t *testing.T) {
	for _, width := range []int{40, 60, 100, 120} {
		for line := range strings.Lines(Text(codeView(), TextOptions{Width: width})) {
			line = strings.TrimSuffix(line, "\n")
			if bad := hiddenIn(line, false); bad != "" {
				t.Errorf("%s in %q", bad, line)
			}
			if strings.Contains(line, " │") && columns(line) > width {
				t.Errorf("%d columns of %d: %s", columns(line), width, line)
			}
		}
	}
}

// The carets are below the marked code, whatever stands before it.
func TestCaretsAreBelowTheCode(t *testing.T) {
	piece := rapid.StringOf(rapid.SampledFrom([]rune("ab \t日🎉é\u0301\u202e\x1b\x00…")))
	sample.Check(t, func(t *rapid.T) {
		before := strings.Repeat(piece.Draw(t, "before"), rapid.SampledFrom([]int{1, 1, 50}).Draw(t, "times"))
		after := strings.Repeat(piece.Draw(t, "after"), rapid.SampledFrom([]int{1, 1, 50}).Draw(t, "times"))
		width := rapid.IntRange(20, 120).Draw(t, "width")
		const code = "eval(x)"
		shown, lead, marked := cutAround(before+code+after, len(before), len(before+code), width)
		if columns(shown) > width {
			t.Fatalf("%d columns of %d: %q", columns(shown), width, shown)
		}
		if bad := hiddenIn(shown, false); bad != "" {
			t.Fatalf("%s in %q", bad, shown)
		}
		left, _, ok := strings.Cut(shown, code)
		if !ok || columns(left) != lead || marked != len(code) {
			t.Fatalf("carets from %d, %d columns, for %q", lead, marked, shown)
		}
	})
}

// Each name in a title is searched in each line, so their number is bounded.
func TestManyNamesInATitle(t *testing.T) {
	if n := len(namesIn(strings.Repeat("`eval` ", 1000))); n != maxNames {
		t.Errorf("%d names are searched, want %d", n, maxNames)
	}
}

// A marked part that is too long is shown from its start, and only what is shown is marked.
func TestLongMarkedCode(t *testing.T) {
	shown, lead, marked := cutAround("if x { "+strings.Repeat("y", 500), 7, 507, 50)
	if want := "if x { " + strings.Repeat("y", 42) + "…"; shown != want || lead != 7 || marked != 42 {
		t.Errorf("%q, %d, %d", shown, lead, marked)
	}
}

var titleLine = regexp.MustCompile(`(?m)^(?:✗ ?(\d+)|   )  (critical|major   |warning |info    )  `)

// The numbers in the text are those that its last lines tell to fix. They count the blocking
// findings in the order in which these are shown.
func TestNumbersToFix(t *testing.T) {
	v := codeView()
	text := Text(v, TextOptions{Brief: true})
	var numbers []string
	for _, m := range titleLine.FindAllStringSubmatch(text, -1) {
		if serious := m[2] == "critical" || m[2] == "major   "; serious != (m[1] != "") {
			t.Errorf("%q", m[0])
		}
		if m[1] != "" {
			numbers = append(numbers, m[1])
		}
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, numbers); diff != "" || !strings.Contains(text, "\nNext: fix 1 to 3, then run the review again.\n") {
		t.Errorf("%s%s", diff, text)
	}
	v.Review.Report.Decision = pipeline.DecisionPass
	if text := Text(v, TextOptions{Brief: true}); strings.Contains(text, "✗") {
		t.Errorf("nothing blocks:\n%s", text)
	}
}

// The files with the worst findings come first, and the change as a whole last. Within a file,
// findings are in the order of their lines.
func TestFindingsByFile(t *testing.T) {
	finding := func(path string, line int, s pipeline.Severity) pipeline.Finding {
		return pipeline.Finding{Title: "T", Severity: s, Path: path, StartLine: line}
	}
	v := cleanView()
	setFindings(&v, pipeline.DecisionFail, "critical > 0",
		finding("", 0, pipeline.SeverityCritical), finding("b.go", 9, pipeline.SeverityMajor), finding("c.go", 5, pipeline.SeverityInfo),
		finding("a.go", 1, pipeline.SeverityWarning), finding("d.go", 8, pipeline.SeverityCritical), finding("d.go", 2, pipeline.SeverityInfo), finding("a.go", 2, pipeline.SeverityMajor))
	var got []string
	for _, g := range newFindings(v, plainPen{}, linker{}).byFile() {
		got = append(got, fmt.Sprintf("%s:%d", g.path(), g.list[0].StartLine))
	}
	if diff := cmp.Diff([]string{"d.go:2", "d.go:8", "a.go:1", "a.go:2", "b.go:9", "c.go:5", ":0"}, got); diff != "" {
		t.Error(diff)
	}
}

// A rule that finds the same in several places explains it once, and shows each place.
func TestExplainsARuleOnce(t *testing.T) {
	text := Text(codeView(), TextOptions{Width: 120})
	if n := strings.Count(text, "See client/http.go:17 above for the reason and the fix."); n != 1 {
		t.Errorf("refers %d times to the explanation:\n%s", n, text)
	}
	for _, place := range []string{
		"client/http.go:17 and 4 more places\n", "client/http.go:18 · id 00000012\n", "Also at client/http.go:21 (id 00000015)\n",
		"web/app.ts:7 and 2 more places\n", "web/app.ts:8 · id 00000008\n", "web/app.ts:10 · id 0000000a\n",
	} {
		if strings.Count(text, place) != 1 {
			t.Errorf("lacks %q:\n%s", place, text)
		}
	}
}

// The terminal leaves out evidence that is in the code above it.
func TestEvidenceInTheCode(t *testing.T) {
	text := Text(codeView(), TextOptions{Width: 100})
	if strings.Contains(text, "eval(third),`") || !strings.Contains(text, "Evidence: said in the issue\n") {
		t.Error(text)
	}
}

// Each place of a finding has its own evidence below its code.
func TestEvidenceOfPlaces(t *testing.T) {
	v := codeView()
	var places pipeline.List[pipeline.Finding]
	for i, said := range []string{"said first", "said second"} {
		places = append(places, pipeline.Finding{
			RuleID: "a-01", Title: "One value is run", Message: "Nobody checks it.", Severity: pipeline.SeverityMajor, Path: "client/http.go", StartLine: 17 + i, EndLine: 17 + i,
			Evidence: pipeline.List[string]{said}, ID: fmt.Sprintf("%08x", i+1), Agent: "api-reviewer",
		})
	}
	v.Review.Report.Findings = places
	text := Text(v, TextOptions{Width: 100})
	first, second, why := strings.Index(text, "Evidence: said first"), strings.Index(text, "Evidence: said second"), strings.Index(text, "Nobody checks it.")
	if first < 0 || second < first || why < second {
		t.Error(text)
	}
}

// The carets mark the secret that a finding is about, and not another one in its line.
func TestCaretsMarkTheSecret(t *testing.T) {
	fs := &findings{}
	f := &pipeline.Finding{Agent: "secrets", RuleID: pipeline.SecretRulePrefix + "b"}
	at, from, to := fs.spot(f, []headLine{{text: "A=[redacted:a] B=[redacted:b]"}})
	if at != 0 || from != 17 || to != 29 {
		t.Errorf("line %d, from %d to %d", at, from, to)
	}
}

// A finding about a removed line shows that line, and not the one beside it.
func TestRemovedLineIsShown(t *testing.T) {
	v := cleanView()
	removed := func(text string) pipeline.Line { return pipeline.Line{Op: pipeline.LineRemoved, Old: 1, Text: text} }
	kept := func(number int, text string) pipeline.Line {
		return pipeline.Line{Op: pipeline.LineContext, Old: number, New: number, Text: text}
	}
	v.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "api/openapi.yaml", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{
		{NewStart: 11, NewLines: 2, Lines: pipeline.List[pipeline.Line]{kept(11, "paths:"), removed("  /carts:"), removed("  /carts/{id}:"), removed("    get: {}"), kept(12, "  /orders:")}},
		{NewStart: 30, NewLines: 1, Lines: pipeline.List[pipeline.Line]{kept(30, "  /last:"), removed("  /end:")}},
	}}}
	v.Rules = map[string]RuleNote{"api-path": {Removed: true}}
	at := func(line int, quote string) pipeline.Finding {
		return pipeline.Finding{
			RuleID: "api-path", Title: "A path is removed", Severity: pipeline.SeverityWarning, GateSeverity: pipeline.SeverityWarning, Path: "api/openapi.yaml",
			StartLine: line, EndLine: line, Evidence: pipeline.List[string]{quote}, ID: fmt.Sprintf("%08x", line), Agent: "api-reviewer",
		}
	}
	v.Review.Report.Findings = pipeline.List[pipeline.Finding]{at(12, "/carts/{id}:"), at(30, "/end:")}
	text := Text(v, TextOptions{Width: 80, Brief: true})
	for _, want := range []string{
		"A path is removed  api/openapi.yaml:12 and 1 more place\n      - │   /carts/{id}:\n        │   ^^^^^^^^^^^^\n",
		"api/openapi.yaml:30 · id 0000001e\n      - │   /end:\n        │   ^^^^^\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks\n%s\nit is\n%s", want, text)
		}
	}
	if strings.Contains(text, "/orders") || strings.Contains(text, "Evidence") {
		t.Errorf("the text shows the line beside, or repeats the removed line:\n%s", text)
	}
}

// A quote of several lines is shown on one line, without escapes.
func TestQuoteOfSeveralLines(t *testing.T) {
	v := cleanView()
	setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", pipeline.Finding{
		RuleID: "a-01", Title: "Title", Severity: pipeline.SeverityMajor, Path: "a.html", StartLine: 2, Evidence: pipeline.List[string]{"<meta a=\"1\"\n    b=\"2\">"},
	})
	if comment := Comment(v).Body; !strings.Contains(comment, "`<meta a=\"1\" b=\"2\">`") {
		t.Errorf("the comment does not show the quote on one line:\n%s", comment)
	}
}
