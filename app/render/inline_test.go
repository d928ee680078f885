package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

func unknown(string) bool { return false }

// The texts beside lines, when they are new and when their findings are gone.
func TestInlineTexts(t *testing.T) {
	var b strings.Builder
	add := func(what, body string) { fmt.Fprintf(&b, "%s\n\n%s\n\n---\n\n", what, body) }
	for _, r := range OnLines(findingsView()).New(false, unknown) {
		add(fmt.Sprintf("%s:%d-%d", r.Path, r.StartLine, r.EndLine), r.Body)
	}
	now := func(v View, f *pipeline.Finding) {
		state, body := OnLines(v).Now(f.ID)
		add(string(state), body)
	}
	v := resolvedView()
	now(v, &v.Review.Report.Changes.Resolved[1])
	now(v, &v.Review.Report.Changes.Resolved[0]) // a secret
	aside := asideView()
	for i := range aside.Review.Report.Suppressed {
		now(aside, &aside.Review.Report.Suppressed[i].Finding)
	}
	state, body := OnLines(v).Gone("0a1b2c3d4e5f6071")
	add(string(state), body)
	golden(t, "inline.md", b.String())
}

// places returns the lines of the comments to add.
func places(remarks []InlineRemark) (all []string) {
	for _, r := range remarks {
		all = append(all, fmt.Sprintf("%s:%d-%d", r.Path, r.StartLine, r.EndLine))
	}
	return all
}

// Comments are for findings on lines of the diff, the worst first.
func TestWhichFindingsAreInline(t *testing.T) {
	line := func(n int, op pipeline.LineOp) pipeline.Line { return pipeline.Line{Op: op, New: n, Text: "x"} }
	v := cleanView()
	v.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "a.go", Hunks: pipeline.List[pipeline.Hunk]{
		{Lines: pipeline.List[pipeline.Line]{line(10, pipeline.LineContext), line(11, pipeline.LineAdded), {Op: pipeline.LineRemoved, Old: 11, Text: "y"}, line(12, pipeline.LineAdded)}},
		{Lines: pipeline.List[pipeline.Line]{line(30, pipeline.LineAdded)}},
	}}}
	at := func(id, path string, from, to int, s pipeline.Severity) pipeline.Finding {
		return pipeline.Finding{Title: "T", Severity: s, Path: path, StartLine: from, EndLine: to, ID: id}
	}
	setFindings(&v, pipeline.DecisionFail, "critical > 0",
		at("a0", "a.go", 11, 11, pipeline.SeverityWarning),
		at("a1", "a.go", 10, 10, pipeline.SeverityMajor), // beside the change
		at("a2", "a.go", 5, 30, pipeline.SeverityCritical),
		at("a3", "a.go", 20, 25, pipeline.SeverityCritical), // outside the diff
		at("a4", "a.go", 0, 0, pipeline.SeverityCritical),
		at("a5", "b.go", 11, 11, pipeline.SeverityCritical),
		at("a6", "", 0, 0, pipeline.SeverityCritical),
		at("a7", "a.go", 30, 0, pipeline.SeverityInfo),
		at("not hexadecimal -->", "a.go", 12, 12, pipeline.SeverityCritical),
	)
	c := OnLines(v)
	for name, tt := range map[string]struct {
		got  []InlineRemark
		want []string
	}{
		"all":      {c.New(false, unknown), []string{"a.go:10-12", "a.go:10-10", "a.go:11-11", "a.go:30-30"}},
		"blocking": {c.New(true, unknown), []string{"a.go:10-12", "a.go:10-10"}},
		"known":    {c.New(false, func(id string) bool { return id == "a2" || id == "a0" }), []string{"a.go:10-10", "a.go:30-30"}},
	} {
		if diff := cmp.Diff(tt.want, places(tt.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	v.Review.Report.Findings[2].Fingerprints = pipeline.List[string]{"a2", "b2"}
	if got := places(OnLines(v).New(true, func(id string) bool { return id == "b2" })); len(got) != 1 {
		t.Errorf("a finding that is known by another fingerprint: %v", got)
	}
	if state, _ := OnLines(v).Now("b2"); state != ports.InlineOpen {
		t.Errorf("by another fingerprint it is %q", state)
	}
	if state, body := c.Now("ff"); state != "" || body != "" {
		t.Errorf("an unknown finding is %q:\n%s", state, body)
	}
	for i := range 12 {
		v.Review.Report.Findings = append(v.Review.Report.Findings, at(fmt.Sprintf("c%d", i), "a.go", 12, 12, pipeline.SeverityCritical))
	}
	if got := places(OnLines(v).New(false, unknown)); len(got) != 10 || slices.Contains(got, "a.go:11-11") {
		t.Errorf("of many: %v", got)
	}
}

// Only the first line of a text is a marker.
func TestInlineMarker(t *testing.T) {
	for body, want := range map[string]string{
		"<!-- reviewgate:inline 0a1b -->\ntext":     "0a1b",
		"text\n<!-- reviewgate:inline 0a1b -->":     "",
		" <!-- reviewgate:inline 0a1b -->":          "",
		"<!-- reviewgate:inline  -->":               "",
		"<!-- reviewgate:inline 0a 1b -->":          "",
		"<!-- reviewgate:report -->":                "",
		"<!-- reviewgate:inline ../x --><b>hi</b>":  "",
		"<!-- reviewgate:inline 0a1b --> and text ": "0a1b",
	} {
		if got := InlineFingerprint(body); got != want {
			t.Errorf("%q has %q, want %q", body, got, want)
		}
	}
}

// A finding with a comment on its lines has no annotation, one line in the comment, and its
// full text in the check.
func TestInlineFindingsInCommentAndCheck(t *testing.T) {
	plain, v := findingsView(), inlineView()
	if was, is := len(Check(plain).Annotations), len(Check(v).Annotations); was-is != len(v.Inline) {
		t.Errorf("%d annotations, %d with comments on lines", was, is)
	}
	if Check(plain).Text != Check(v).Text {
		t.Error("the check's text changes")
	}
	if Comment(plain).Digest == Comment(v).Digest {
		t.Error("the digest does not change")
	}
	hostile := v
	hostile.Inline = map[string]string{"fedcba9876543210": "https://github.example/x) <img> [y](http://a.example"}
	if bad := inert(Comment(hostile).Body); bad != "" {
		t.Error(bad)
	}
}

// inlineTexts returns the texts of the comments on lines of a view, whose findings get fingerprints of
// the right form.
func inlineTexts(v View) (texts []string) {
	rep := &v.Review.Report
	rep.Findings, rep.Suppressed, rep.Changes.Resolved = slices.Clone(rep.Findings), slices.Clone(rep.Suppressed), slices.Clone(rep.Changes.Resolved)
	var ids []string
	name := func(f *pipeline.Finding) {
		f.ID = fmt.Sprintf("%x", len(ids)+1)
		ids = append(ids, f.ID)
	}
	for i := range rep.Findings {
		name(&rep.Findings[i])
	}
	for i := range rep.Suppressed {
		name(&rep.Suppressed[i].Finding)
	}
	for i := range rep.Changes.Resolved {
		name(&rep.Changes.Resolved[i])
	}
	c := OnLines(v)
	for _, r := range c.New(false, unknown) {
		texts = append(texts, r.Body)
	}
	for _, id := range ids {
		if state, body := c.Now(id); state != "" {
			texts = append(texts, body)
		}
	}
	return texts
}
