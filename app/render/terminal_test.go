package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// evidenceText is the text of a review of one file with the lines, and a finding of one rule for each
// quote, on the line with the same index.
func evidenceText(lines []string, quotes ...string) string {
	v := cleanView()
	v.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "a.go", Status: pipeline.FileModified, Hunks: pipeline.List[pipeline.Hunk]{addedLines(1, lines...)}}}
	var fs []pipeline.Finding
	for i, quote := range quotes {
		fs = append(fs, pipeline.Finding{RuleID: "rule-01", Title: "Odd", Severity: pipeline.SeverityWarning, Path: "a.go", StartLine: i + 1, EndLine: i + 1, Evidence: pipeline.List[string]{quote}})
	}
	setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0", fs...)
	return Text(v, TextOptions{Width: 100, Brief: true})
}

// Rules quote lines with control characters replaced. The code above shows the same line.
func TestEvidenceWithControlCharactersIsShownOnce(t *testing.T) {
	if text := evidenceText([]string{"a\x1b[2Jb\x00 = 1"}, "a\uFFFD[2Jb\uFFFD = 1"); strings.Contains(text, "Evidence") {
		t.Error(text)
	}
	if text := evidenceText([]string{"a\x1b[2Jb = 1"}, "a\uFFFD[3Jb = 1"); !strings.Contains(text, "Evidence") {
		t.Error(text)
	}
}

// A removed line is evidence that the head's code does not show, at each place of a rule.
func TestEachPlaceShowsItsEvidence(t *testing.T) {
	text := evidenceText([]string{"one", "two"}, "/orders:", "/users:")
	for _, want := range []string{"Evidence: /orders:\n", "Evidence: /users:\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

// A brief text names the files that were not read. Their names add no line and no control sequence.
func TestBriefTextNamesUnreadFiles(t *testing.T) {
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{"a.go"}, " · not read: a.go (see --verbose)\n"},
		{[]string{"a.go", "b.go", "a.go", "c.go", "d.go", "e.go"}, " · not read: a.go and 4 more (see --verbose)\n"},
		{[]string{"x\n\x1b[2J"}, " · not read: "},
	} {
		v := cleanView()
		for _, path := range tt.paths {
			v.Review.Report.Incomplete = append(v.Review.Report.Incomplete, pipeline.Incompleteness{What: "patch", Path: path, Why: "it was not read"})
		}
		text := Text(v, TextOptions{Width: 120, Brief: true})
		if !strings.Contains(text, tt.want) || strings.Count(text, "\n") != 1 || strings.Contains(text, "\x1b") {
			t.Errorf("%q: %q", tt.paths, text)
		}
	}
}

func TestLongGlobsAreShortened(t *testing.T) {
	for glob, want := range map[string]string{
		"**/{a,b,c,d}":                "**/{a,b,c,d}",
		"x is api (**/{a,b,c,d,e}.*)": "x is api (**/{a,b,c and 2 more}.*)",
		"{a,b,c,d,e}/{f,g,h,i,j,k}":   "{a,b,c and 2 more}/{f,g,h and 3 more}",
		"{unclosed, and more":         "{unclosed, and more",
	} {
		if got := shortGlobs(glob); got != want {
			t.Errorf("%s: %s, want %s", glob, got, want)
		}
	}
}
