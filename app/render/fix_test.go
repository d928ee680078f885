package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A suggested fix is always shown as a diff. If the old lines are not known, the diff has
// only the new ones.
func TestAlwaysShowsTheFix(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(f *pipeline.Finding)
		want   string
	}{
		"lines of the diff":      {func(*pipeline.Finding) {}, "```diff\n"},
		"lines outside the diff": {func(f *pipeline.Finding) { f.StartLine, f.EndLine = 900, 901 }, "Suggested text:\n```diff\n+  const total = 0;\n```"},
		"no lines":               {func(f *pipeline.Finding) { f.StartLine, f.EndLine = 0, 0 }, "Suggested text:\n```diff\n+  const total = 0;\n```"},
		"a section": {func(f *pipeline.Finding) { f.Path, f.Section, f.StartLine, f.EndLine = "", "3. Scope", 0, 0 },
			"Suggested text:\n```diff\n+  const total = 0;\n```"},
	} {
		v := findingsView()
		f := v.Review.Report.Findings[1]
		f.SuggestedFix = "  const total = 0;"
		tt.change(&f)
		setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", f)
		if body := Comment(v).Body; !strings.Contains(body, tt.want) {
			t.Errorf("%s: no %q in\n%s", name, tt.want, body)
		}
		if text := Text(v, TextOptions{Width: 100}); !strings.Contains(text, "const total = 0;") {
			t.Errorf("%s: the terminal does not show the fix:\n%s", name, text)
		}
	}
}
