package aggregate

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
)

// drawn makes findings that often agree, touch and oppose each other.
func drawn(t *rapid.T) map[string][]pipeline.Finding {
	outputs := map[string][]pipeline.Finding{"x": nil, "y": nil, "grader": nil}
	n := rapid.IntRange(0, 12).Draw(t, "n")
	for i := range n {
		f := pipeline.Finding{
			Title:      rapid.SampledFrom([]string{"T", "t!", "U", ""}).Draw(t, "title"),
			Severity:   rapid.SampledFrom([]pipeline.Severity{"critical", "major", "warning", "info", "P1", "fail", "no"}).Draw(t, "severity"),
			Message:    fmt.Sprintf("m%d", i%3),
			Confidence: float64(rapid.IntRange(0, 10).Draw(t, "confidence")) / 10,
			Path:       rapid.SampledFrom([]string{"a.go", "b.go", "docs/plans/p.md", "z.go", ""}).Draw(t, "path"),
			StartLine:  rapid.IntRange(0, 6).Draw(t, "line"),
			Action:     rapid.SampledFrom([]pipeline.Action{"", "remove", "keep", "change"}).Draw(t, "action"),
			Category:   rapid.SampledFrom([]string{"c1", "c2", "c3"}).Draw(t, "category"),
		}
		f.EndLine = f.StartLine + rapid.IntRange(0, 1).Draw(t, "more")
		if f.Path == "" {
			f.Section = "description"
		}
		agent := rapid.SampledFrom([]string{"x", "y", "grader"}).Draw(t, "agent")
		outputs[agent] = append(outputs[agent], f)
	}
	return outputs
}

func encoded(t *rapid.T, r pipeline.ReviewReport) string {
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outputs := drawn(t)
		want := encoded(t, Aggregate(world(outputs)))
		for agent, findings := range outputs {
			outputs[agent] = rapid.Permutation(findings).Draw(t, "findings of "+agent)
		}
		in := world(outputs)
		in.Results = rapid.Permutation(in.Results).Draw(t, "results")
		if got := encoded(t, Aggregate(in)); got != want {
			t.Errorf("another order, another report:\n%s\n%s", want, got)
		}
	})
}

func TestInputIsNotChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := world(drawn(t))
		before, _ := json.Marshal(in.Results)
		Aggregate(in)
		if after, _ := json.Marshal(in.Results); string(before) != string(after) {
			t.Errorf("input changed:\n%s\n%s", before, after)
		}
	})
}

// What came in is kept, merged into what is kept, dropped, residual,
// suppressed, or a passed dimension; and coverage adds up.
func TestNothingVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outputs := drawn(t)
		r := Aggregate(world(outputs))
		came := 0
		for _, f := range outputs {
			came += len(f)
		}
		kept, merged, dropped := len(r.Findings), 0, 0
		for _, f := range r.Findings {
			for _, reason := range f.Reasons {
				var n int
				if _, err := fmt.Sscanf(reason, "merged %d findings", &n); err == nil {
					merged += n - 1
				}
			}
		}
		attributed := 0
		for _, c := range r.Coverage {
			dropped += c.Dropped
			attributed += c.Findings
			if c.Findings != c.Auto+c.Present {
				t.Errorf("coverage %+v does not add up", c)
			}
		}
		if sum := kept + merged + dropped + len(r.ResidualConcerns) + len(r.Suppressed); sum != came {
			t.Errorf("%d came, %d accounted for: kept %d, merged %d, dropped %d, residual %d, suppressed %d",
				came, sum, kept, merged, dropped, len(r.ResidualConcerns), len(r.Suppressed))
		}
		if attributed != kept || r.Counts.Total() != kept {
			t.Errorf("%d kept, %d in the coverage, %d counted", kept, attributed, r.Counts.Total())
		}
	})
}

func TestMergedSeverityIsTheHighest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outputs := drawn(t)
		worst := 0
		for agent, findings := range outputs {
			for i := range findings {
				f := &findings[i]
				f.Title, f.Path, f.Section, f.StartLine, f.EndLine, f.Action, f.Confidence = "T", "a.go", "", 2, 2, "", 0.9
				if agent == "grader" {
					f.Category = "one" // or three failed dimensions would raise it
				}
				if s, ok := pipeline.ParseSeverity(string(f.Severity)); ok {
					worst = max(worst, s.Rank())
				} else if agent == "grader" && f.Severity == "fail" {
					worst = max(worst, pipeline.SeverityMajor.Rank())
				}
			}
		}
		r := Aggregate(world(outputs))
		if worst == 0 {
			return
		}
		if len(r.Findings) != 1 || r.Findings[0].Severity.Rank() != worst {
			t.Errorf("want one finding of rank %d: %+v", worst, r.Findings)
		}
	})
}

func TestAFindingMoreNeverUnblocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outputs, more := drawn(t), drawn(t)
		before := Aggregate(world(outputs))
		for agent, f := range more {
			outputs[agent] = slices.Concat(outputs[agent], f)
		}
		if after := Aggregate(world(outputs)); before.Decision.Blocks() && !after.Decision.Blocks() {
			t.Errorf("%s became %s", before.Decision, after.Decision)
		}
	})
}
