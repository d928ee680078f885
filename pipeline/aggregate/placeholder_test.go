package aggregate

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// No fix in a report holds a placeholder, in any spelling and from any agent. All outputs are made
// from reports.
func TestNoFixWritesAPlaceholder(t *testing.T) {
	for _, fix := range []string{
		`token := "[redacted:github-pat]"`, "a\nb = [REDACTED:jwt]\nc", "[ redacted : private-key]", `\[redacted:aws-access-token\]`,
		"&#91;redacted:jwt]", "&lbrack;redacted&colon;jwt]", "url?key=%5Bredacted%3Ajwt%5D", `"\u005bredacted:jwt\u005d"`, "[redacted",
	} {
		for _, class := range []pipeline.AutofixClass{pipeline.AutofixAuto, pipeline.AutofixPresent} {
			f := finding("a.go", 2, "T", pipeline.SeverityMajor)
			f.SuggestedFix, f.AutofixClass = fix, class
			got := Aggregate(one(f)).Findings[0]
			if want := fix == "[redacted"; (got.SuggestedFix != "") != want {
				t.Errorf("%q of class %s: fix %q", fix, class, got.SuggestedFix)
			}
			if fix != "[redacted" && got.AutofixClass != pipeline.AutofixPresent {
				t.Errorf("%q is applied automatically", fix)
			}
		}
	}
}

// The fixes of two lines, joined, must not form a placeholder either.
func TestNoJoinedFixWritesAPlaceholder(t *testing.T) {
	a, b := finding("a.go", 2, "T", pipeline.SeverityMajor), finding("a.go", 3, "T", pipeline.SeverityMajor)
	a.RuleID, b.RuleID = "r1", "r1"
	a.SuggestedFix, b.SuggestedFix = "x = [redacted", ":jwt]"
	for _, f := range Aggregate(world(map[string][]pipeline.Finding{"x": {a, b}})).Findings {
		if placeholder.MatchString(f.SuggestedFix) {
			t.Errorf("fix %q", f.SuggestedFix)
		}
	}
}

// If one reviewer's fix holds a placeholder, another reviewer's fix for the same place is still
// offered.
func TestAnotherFixIsOffered(t *testing.T) {
	a, b := finding("a.go", 2, "T", pipeline.SeverityMajor), finding("a.go", 2, "T", pipeline.SeverityMajor)
	a.SuggestedFix, b.SuggestedFix = "[redacted:jwt]", "token := os.Getenv(\"TOKEN\")"
	offered := false
	for _, f := range Aggregate(world(map[string][]pipeline.Finding{"x": {a}, "y": {b}})).Findings {
		if placeholder.MatchString(f.SuggestedFix) {
			t.Errorf("fix %q", f.SuggestedFix)
		}
		offered = offered || f.SuggestedFix == b.SuggestedFix
	}
	if !offered {
		t.Error("the fix without a placeholder is not offered")
	}
}
