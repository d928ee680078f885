package aggregate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// buttons is a change with equal lines in two files, and the findings of a rule about each.
func buttons(change func(*Input, []pipeline.Finding)) Input {
	const button = "<button onClick={save}>"
	at := func(path string, line int) pipeline.Finding {
		f := finding(path, line, "Button without a type", pipeline.SeverityWarning)
		f.RuleID, f.Evidence = "r1", pipeline.List[string]{button}
		return f
	}
	found := []pipeline.Finding{at("a.tsx", 1), at("a.tsx", 3), at("a.tsx", 5), at("b.tsx", 1)}
	in := world(map[string][]pipeline.Finding{"x": found})
	in.Facts.Files = pipeline.List[pipeline.File]{
		file("a.tsx", button, "<p>", "    "+button, "<p>", button),
		file("b.tsx", button),
	}
	if change != nil {
		change(&in, found)
	}
	return in
}

// linesOf lists the lines of each finding.
func linesOf(r pipeline.Report) (all [][]int) {
	for i := range r.Findings {
		var lines []int
		for _, f := range r.Findings[i].Places() {
			lines = append(lines, f.StartLine)
		}
		all = append(all, lines)
	}
	return all
}

func TestEqualLinesOfAFileAreOneFinding(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Input, []pipeline.Finding)
		want   [][]int
	}{
		"equal":            {nil, [][]int{{1, 3, 5}, {1}}},
		"a different line": {func(in *Input, _ []pipeline.Finding) { in.Facts.Files[0].Hunks[0].Lines[2].Text = "<button>" }, [][]int{{1, 5}, {3}, {1}}},
		"another severity": {func(_ *Input, f []pipeline.Finding) { f[0].Severity = pipeline.SeverityMajor }, [][]int{{1}, {3, 5}, {1}}},
		"other words":      {func(_ *Input, f []pipeline.Finding) { f[1].Message = "Other." }, [][]int{{1, 5}, {3}, {1}}},
		"another rule":     {func(_ *Input, f []pipeline.Finding) { f[2].RuleID = "r2" }, [][]int{{1, 3}, {5}, {1}}},
		"no rule":          {func(_ *Input, f []pipeline.Finding) { f[1].RuleID, f[2].RuleID = "", "" }, [][]int{{1}, {3}, {5}, {1}}},
		"a different fix":  {func(_ *Input, f []pipeline.Finding) { f[1].SuggestedFix, f[2].SuggestedFix = "one", "two" }, [][]int{{1}, {3}, {5}, {1}}},
		"redacted evidence": {func(_ *Input, f []pipeline.Finding) {
			f[1].Evidence[0] = "key = " + pipeline.RedactionMark
			f[2].Evidence[0] = f[1].Evidence[0]
		}, [][]int{{1}, {3}, {5}, {1}}},
		"dismissed once": {func(in *Input, _ []pipeline.Finding) {
			first := Aggregate(buttons(nil)).Findings[0]
			in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: first.Also[0].ID, By: "lena", Reason: "meant"}}
		}, [][]int{{1, 5}, {1}}},
	} {
		r := Aggregate(buttons(tt.change))
		got := linesOf(r)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: lines of the findings (-want +got):\n%s", name, diff)
		}
		if n := len(tt.want); r.Counts.Total() != n || r.Changes.New != n {
			t.Errorf("%s: %d findings counted, %d of them new, want %d", name, r.Counts.Total(), r.Changes.New, n)
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			if places := f.Places(); len(f.Fingerprints) != len(places) || len(f.Surroundings) != len(places) || places[0] != f {
				t.Errorf("%s: %d fingerprints and %d surroundings of %d places", name, len(f.Fingerprints), len(f.Surroundings), len(places))
			}
			for _, p := range f.Places() {
				if !slices.Contains(f.Fingerprints, p.ID) {
					t.Errorf("%s: the fingerprint of line %d is not among those of the finding", name, p.StartLine)
				}
			}
		}
	}
}

// A line that equals one of an old finding is new, and no decision about the old one covers it.
func TestAnEqualLineThatComesLaterIsNew(t *testing.T) {
	in := buttons(func(in *Input, f []pipeline.Finding) { in.Results[0].Output.Findings = f[:2] })
	before := Aggregate(in)
	next := buttons(nil)
	next.Previous = previous(before)
	after := Aggregate(next)
	if diff := cmp.Diff([][]int{{1, 3}, {5}, {1}}, linesOf(after)); diff != "" || after.Changes.Open != 1 || after.Changes.New != 2 {
		t.Errorf("%d open and %d new findings; lines (-want +got):\n%s", after.Changes.Open, after.Changes.New, diff)
	}
	next = buttons(nil)
	for _, id := range before.Findings[0].Fingerprints {
		next.Memory.Dismissed = append(next.Memory.Dismissed, pipeline.Dismissal{Fingerprint: id, By: "lena", Reason: "meant"})
	}
	if diff := cmp.Diff([][]int{{5}, {1}}, linesOf(Aggregate(next))); diff != "" {
		t.Errorf("lines of findings after a dismissal (-want +got):\n%s", diff)
	}
	// A finding that lost some of its lines is neither new nor resolved.
	next = buttons(func(in *Input, f []pipeline.Finding) { in.Results[0].Output.Findings = f[1:2] })
	next.Facts.Files[0].Hunks[0].Lines[0].Text = "<p>"
	next.Previous = previous(before)
	if r := Aggregate(next); r.Changes.New != 0 || len(r.Changes.Resolved) != 0 || len(r.Findings) != 1 {
		t.Errorf("%d new and %d resolved findings of %d", r.Changes.New, len(r.Changes.Resolved), len(r.Findings))
	}
}
