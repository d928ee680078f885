package aggregate

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestOneAgentsNeighbouringLinesBecomeOneFinding(t *testing.T) {
	at := func(start, end int, fix string, confidence float64) pipeline.Finding {
		f := finding("a.go", start, "T", pipeline.SeverityWarning)
		f.EndLine, f.SuggestedFix, f.Confidence = end, fix, confidence
		if fix != "" {
			f.AutofixClass = pipeline.AutofixAuto
		}
		return f
	}
	present := at(3, 3, "three", 0.9)
	present.AutofixClass = pipeline.AutofixPresent
	sectioned := func(f pipeline.Finding) pipeline.Finding { f.Section = "S"; return f }
	tests := []struct {
		name       string
		x, y       []pipeline.Finding
		start, end int
		fix        string
	}{
		{"lines in a row", []pipeline.Finding{at(2, 2, "", 0.9), at(3, 3, "", 0.8), at(4, 5, "", 0.7)}, nil, 2, 5, ""},
		{"two lines in a row", []pipeline.Finding{at(2, 2, "", 0.9), at(3, 3, "", 0.8)}, nil, 2, 3, ""},
		{"fixes in a row", []pipeline.Finding{at(3, 3, "three", 0.9), at(2, 2, "two", 0.9), at(4, 4, "four", 0.9)}, nil, 2, 4, "two\nthree\nfour"},
		{"the same twice", []pipeline.Finding{at(2, 3, "fix", 0.9), at(2, 3, "fix", 0.8)}, nil, 2, 3, "fix"},
		{"a line without a fix", []pipeline.Finding{at(2, 2, "two", 0.9), at(3, 3, "", 0.8)}, nil, 2, 2, "two"},
		{"overlapping fixes", []pipeline.Finding{at(2, 3, "two, three", 0.9), at(3, 4, "three, four", 0.8)}, nil, 2, 3, "two, three"},
		{"a fix that needs a person", []pipeline.Finding{at(2, 2, "two", 0.95), present}, nil, 2, 2, "two"},
		{"another agent's lines", []pipeline.Finding{at(3, 3, "", 0.9)}, []pipeline.Finding{at(2, 5, "", 0.8)}, 3, 3, ""},
		{"a section and a line in it", []pipeline.Finding{sectioned(at(0, 0, "", 0.8)), sectioned(at(1, 1, "", 0.9))}, nil, 1, 1, ""},
		{"connected only by another agent's lines", []pipeline.Finding{at(1, 1, "", 0.9), at(5, 5, "", 0.8)}, []pipeline.Finding{at(1, 5, "", 0.7)}, 1, 1, ""},
	}
	for _, tt := range tests {
		r := Aggregate(world(map[string][]pipeline.Finding{"x": tt.x, "y": tt.y}))
		if len(r.Findings) != 1 {
			t.Errorf("%s: %d findings, want 1", tt.name, len(r.Findings))
			continue
		}
		f := r.Findings[0]
		if f.StartLine != tt.start || f.EndLine != tt.end || f.SuggestedFix != tt.fix {
			t.Errorf("%s: lines %d-%d with fix %q, want %d-%d with %q", tt.name, f.StartLine, f.EndLine, f.SuggestedFix, tt.start, tt.end, tt.fix)
		}
	}
}

func TestUnreadFindingsAreNotResolved(t *testing.T) {
	first := Aggregate(world(map[string][]pipeline.Finding{
		"x": {finding("a.go", 1, "in a", pipeline.SeverityMajor), finding("b.go", 1, "in b", pipeline.SeverityMajor)},
		"y": {finding("b.go", 1, "in b", pipeline.SeverityMajor)},
	}))
	tests := []struct {
		name       string
		change     func(*Input)
		unresolved string
	}{
		{"a file's diff is unknown", func(in *Input) {
			in.Facts.Incomplete = pipeline.List[pipeline.Incompleteness]{{What: "patch", Path: "a.go", Gating: true}}
		}, "in a"},
		{"an agent that agreed failed", func(in *Input) { in.Results[1].Status = pipeline.AgentFailed }, "in b"},
	}
	for _, tt := range tests {
		in := world(map[string][]pipeline.Finding{"x": nil, "y": nil})
		in.Previous = &pipeline.PreviousReport{HeadSHA: "old", Findings: first.Findings, Iteration: 1}
		tt.change(&in)
		r := Aggregate(in)
		if len(r.Changes.Resolved) != 1 || r.Changes.Resolved[0].Title == tt.unresolved {
			t.Errorf("%s: resolved %+v, want all but %q", tt.name, r.Changes.Resolved, tt.unresolved)
		}
	}
}
