package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// What differs in its place only is one item; anything else stays apart.
func TestGroups(t *testing.T) {
	like := func(change func(f *pipeline.Finding)) pipeline.Finding {
		f := pipeline.Finding{RuleID: "a-01", Title: "Title", Message: "Message", Severity: pipeline.SeverityMajor, Path: "a.go", StartLine: 2, ID: "ffff0002"}
		change(&f)
		return f
	}
	for name, tt := range map[string]struct {
		second  pipeline.Finding
		history bool
		items   int
	}{
		"another line":              {like(func(f *pipeline.Finding) { f.StartLine = 9 }), false, 1},
		"another file":              {like(func(f *pipeline.Finding) { f.Path = "b.go" }), false, 1},
		"another rule":              {like(func(f *pipeline.Finding) { f.RuleID = "a-02" }), false, 2},
		"no rule":                   {like(func(f *pipeline.Finding) { f.RuleID = "" }), false, 2},
		"another severity":          {like(func(f *pipeline.Finding) { f.Severity = pipeline.SeverityCritical }), false, 2},
		"another title":             {like(func(f *pipeline.Finding) { f.Title = "x" }), false, 2},
		"another message":           {like(func(f *pipeline.Finding) { f.Message = "x" }), false, 2},
		"another recommendation":    {like(func(f *pipeline.Finding) { f.Recommendation = "x" }), false, 2},
		"another agent":             {like(func(f *pipeline.Finding) { f.Agent = "x" }), false, 2},
		"new, and that is not said": {like(func(f *pipeline.Finding) { f.State = pipeline.StateOpen }), false, 1},
		"still open":                {like(func(f *pipeline.Finding) { f.State = pipeline.StateOpen }), true, 2},
		"no file":                   {like(func(f *pipeline.Finding) { f.Path = "" }), false, 2},
		"a contradiction":           {like(func(f *pipeline.Finding) { f.Perspectives = pipeline.List[pipeline.Perspective]{{Agent: "x"}} }), false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", like(func(*pipeline.Finding) {}), tt.second)
			if tt.history {
				v.Review.Report.Changes.PreviousReport = prevSHA
			}
			comment := Comment(v).Body
			if got := strings.Count(comment, "**1 · ") + strings.Count(comment, "**2 · "); got != tt.items {
				t.Errorf("%d items, want %d:\n%s", got, tt.items, comment)
			}
			if n := len(newFindings(v, plainPen{}, linker{}).list); n != 2 {
				t.Errorf("%d findings for other programs, want 2", n)
			}
		})
	}
}

// Places are bounded and counted, each with its id.
func TestPlacesOfAGroup(t *testing.T) {
	v := cleanView()
	var fs []pipeline.Finding
	for i := range 12 {
		fs = append(fs, pipeline.Finding{RuleID: "a-01", Title: "T", Severity: pipeline.SeverityWarning, Path: "a.go", StartLine: i + 1, ID: fmt.Sprintf("%08d", i)})
	}
	setFindings(&v, pipeline.DecisionPassWithWarnings, "warning > 0", fs...)
	text := Text(v, TextOptions{Width: 1000})
	for _, want := range []string{"a.go:1 and 11 more places", "Also at a.go:2 (id 00000001), a.go:3", "a.go:6 (id 00000005), …and 6 more"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
}

func TestReferences(t *testing.T) {
	for ref, shown := range map[string]bool{
		"https://cwe.mitre.org/data/definitions/295.html":       true,
		"https://owasp.org/Top10/A01_2021-Access/#how?x=1&y=2":  true,
		"https://example.com":                                   true,
		"http://example.com/a":                                  false,
		"https://user:secret@example.com/a":                     false,
		"https://user@example.com":                              false,
		"https:///path":                                         false,
		"javascript:alert(1)":                                   false,
		"https://example.com/a b":                               false,
		"https://example.com/)[x](https://evil.example":         false,
		"https://example.com/*bold*":                            false,
		"https://github.com/acme/shop/issues/5":                 false,
		"https://github.com/acme/shop/pull/5":                   false,
		"https://github.com/acme/shop/commit/a1b2c3d":           false,
		"https://github.com/acme/shop/blob/main/docs/errors.md": true,
		"https://example.com/" + strings.Repeat("a", 300):       false,
		"": false,
	} {
		v := findingsView()
		v.Rules = map[string]RuleNote{"sec-tls-verify-01": {Reference: ref}}
		if got := strings.Contains(Comment(v).Body, "[`sec-tls-verify-01`]("); got != shown {
			t.Errorf("%q linked: %v, want %v", ref, got, shown)
		}
		if got := strings.Contains(Text(v, TextOptions{Width: 1000}), "See http"); got != shown {
			t.Errorf("%q in the text: %v, want %v", ref, got, shown)
		}
	}
}
