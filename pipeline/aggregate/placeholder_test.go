package aggregate

import (
	"strings"
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

// A rule and the agent for secrets that see one secret in a line make one finding. The rule of a
// provider leads before another rule, and that before the generic one. Whatever else is wrong with
// the line stays a finding of its own. The name of a file that holds a private key adds nothing.
func TestOneSecretIsOneFinding(t *testing.T) {
	key := func(change func(*pipeline.Finding)) []pipeline.Finding {
		f := finding("a.go", 2, "A key stands in the code", pipeline.SeverityMajor)
		f.RuleID, f.Category, f.Evidence = "key", "secrets", pipeline.List[string]{`sign(x, "[redacted:generic-api-key]")`}
		change(&f)
		return []pipeline.Finding{f}
	}
	file := func(f *pipeline.Finding) {
		f.RuleID, f.StartLine, f.EndLine, f.Evidence = "sec-key-file-01", 0, 0, pipeline.List[string]{"a.go"}
	}
	for name, test := range map[string]struct {
		confidence float64 // of the agent for secrets
		rule       []pipeline.Finding
		want       string
	}{
		"file of a key":   {0.9, key(func(f *pipeline.Finding) { file(f); f.Confidence = 1 }), "secret-private-key"},
		"file of another": {0.95, key(file), "secret-jwt sec-key-file-01"},
		"another rule":    {0.95, key(func(f *pipeline.Finding) { file(f); f.RuleID = "sec-env-file-01" }), "secret-private-key sec-env-file-01"},
		"generic":         {0.7, key(func(*pipeline.Finding) {}), "key"},
		"provider":        {0.95, key(func(*pipeline.Finding) {}), "secret-jwt"},
		"another line":    {0.95, key(func(f *pipeline.Finding) { f.StartLine = 3 }), "secret-jwt key"},
		"another value":   {0.95, key(func(f *pipeline.Finding) { f.Evidence = pipeline.List[string]{`sign(x, "k")`} }), "secret-jwt key"},
		"another mistake": {0.95, key(func(f *pipeline.Finding) { f.Category = "transport" }), "secret-jwt key"},
		"another file":    {0.95, key(func(f *pipeline.Finding) { f.Path = "b.go" }), "secret-jwt key"},
	} {
		secret := finding("a.go", 2, "JWT in this line", pipeline.SeverityCritical)
		secret.RuleID, secret.Category, secret.Confidence, secret.Action = "secret-jwt", "secrets", test.confidence, pipeline.ActionRemove
		if strings.HasPrefix(test.want, "secret-private-key") {
			secret.RuleID = "secret-private-key"
		}
		report := Aggregate(world(map[string][]pipeline.Finding{"secrets": {secret}, "x": test.rule}))
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.RuleID)
		}
		if got := strings.Join(got, " "); got != test.want || report.Findings[0].Severity != pipeline.SeverityCritical {
			t.Errorf("%s: findings of %q, of severity %s first; want %q, critical first", name, got, report.Findings[0].Severity, test.want)
		}
	}
}
