package eval

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// scoredCases are three cases, one of them clean, with their findings.
func scoredCases() ([]ExpectedCase, ReviewedCases) {
	cost := 0.75
	expected := []ExpectedCase{
		{"a", []Defect{
			{Path: "a.go", Lines: []Range{{10, 12}}, Words: []string{"race"}, Severity: pipeline.SeverityCritical, What: "a race"},
			{Path: "a.go", Lines: []Range{{40, 40}}, Severity: pipeline.SeverityMajor, What: "a leak"},
		}},
		{"b", []Defect{{Words: []string{"overflow"}, What: "an overflow"}}},
		{"clean", nil},
	}
	return expected, ReviewedCases{Cases: []Reviewed{
		{Case: "clean", Findings: []pipeline.Finding{{Path: "c.go", Title: "Long", Severity: pipeline.SeverityInfo}}},
		{Case: "a", CostUSD: &cost, Findings: []pipeline.Finding{
			{Path: "a.go", StartLine: 15, Title: "Data race", Severity: pipeline.SeverityMajor},
			{Path: "a.go", StartLine: 11, Title: "The race again", Severity: pipeline.SeverityMajor},
			{Path: "a.go", StartLine: 44, Title: "Too far away", Severity: pipeline.SeverityMajor},
			{Path: "a.go", StartLine: 11, Title: "Not that word", Severity: pipeline.SeverityWarning},
		}},
		{Case: "b", Status: CaseUnfinished, Findings: []pipeline.Finding{{Path: "any.go", Message: "It overflows.\nOften."}}},
		{Case: "other", Findings: []pipeline.Finding{{Title: "x"}}},
	}}
}

func TestScoreFindings(t *testing.T) {
	s, err := ScoreFindings(scoredCases())
	if err != nil {
		t.Fatal(err)
	}
	if s.Cases != 3 || s.CleanCases != 1 || s.CleanCasesWithFindings != 1 || s.Unreviewed != 1 || s.Duplicates != 1 || !slices.Equal(s.Unknown, []string{"other"}) {
		t.Errorf("%+v", s)
	}
	if s.TruePositives != 2 || s.FalsePositives != 4 || s.FalseNegatives != 1 || math.Abs(s.F1.Value-4.0/9) > 1e-9 {
		t.Errorf("%d, %d, %d, F1 %+v", s.TruePositives, s.FalsePositives, s.FalseNegatives, s.F1)
	}
	if *s.Cost.Total != 0.75 || *s.Cost.PerCase != 0.25 || *s.Cost.PerTruePositive != 0.375 {
		t.Errorf("cost %+v", s.Cost)
	}
	const want = `3 cases, 1 of them clean; defects in the others: 3

  severity  true positives  false positives  false negatives              precision                  recall                    F1
  critical               1                0                0  100.0 % (20.7 to 100.0)  100.0 % (20.7 to 100.0)  100.0 % (34.2 to 100.0)
     major               0                2                1     0.0 % (0.0 to 65.8)      0.0 % (0.0 to 79.3)      0.0 % (0.0 to 71.9)
   warning               0                1                0     0.0 % (0.0 to 79.3)                       –      0.0 % (0.0 to 88.5)
      info               0                1                0     0.0 % (0.0 to 79.3)                       –      0.0 % (0.0 to 88.5)
  not told               1                0                0  100.0 % (20.7 to 100.0)  100.0 % (20.7 to 100.0)  100.0 % (34.2 to 100.0)
       all               2                4                1    33.3 % (9.7 to 70.0)    66.7 % (20.8 to 93.9)   44.4 % (15.2 to 78.1)

clean cases with a finding: 1 of 1
false positives that repeat a true one: 1
not reviewed to the end: 1 cases, whose defects count as missed unless they were found
cost: $0.7500, $0.2500 a case, $0.3750 a true positive
`
	squeeze := func(s string) string {
		var out []string
		for line := range strings.Lines(s) {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(out, "\n")
	}
	if diff := cmp.Diff(squeeze(want), squeeze(ScoredText(s))); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if f := s.Defects[2].FoundAs; f == nil || f.Title != "It overflows." || s.Defects[1].FoundAs != nil || s.Defects[0].Line != 10 {
		t.Errorf("defects %+v", s.Defects)
	}
	if i := slices.IndexFunc(s.Others, func(f ScoredFinding) bool { return f.Duplicate }); i < 0 || !strings.Contains(s.Others[i].Title, "race") {
		t.Errorf("others %+v", s.Others)
	}
}

// The order of findings does not matter: as many defects as possible are matched.
func TestScoreIsAMaximumMatching(t *testing.T) {
	expected := []ExpectedCase{{"a", []Defect{{Path: "a", Lines: []Range{{10, 10}}}, {Path: "a", Lines: []Range{{14, 14}}}}}}
	both, one := pipeline.Finding{Path: "a", StartLine: 12, Title: "for both"}, pipeline.Finding{Path: "a", StartLine: 8, Title: "for one"}
	for _, list := range [][]pipeline.Finding{{both, one}, {one, both}} {
		s, err := ScoreFindings(expected, ReviewedCases{Cases: []Reviewed{{Case: "a", Findings: list}}})
		if err != nil || s.TruePositives != 2 || s.FalsePositives != 0 {
			t.Errorf("%v: %+v", err, s)
		}
	}
}

func TestScoreOfNothing(t *testing.T) {
	expected, found := scoredCases()
	if _, err := ScoreFindings(nil, ReviewedCases{}); err == nil || !strings.Contains(err.Error(), "nothing is expected") {
		t.Errorf("no case: %v", err)
	}
	if _, err := ScoreFindings(expected[:1], ReviewedCases{Cases: found.Cases[3:]}); err == nil || !strings.Contains(err.Error(), `such as "other", is expected: name the cases alike`) {
		t.Errorf("different case names: %v", err)
	}
	cost := 2.0
	s, err := ScoreFindings(expected[2:], ReviewedCases{CostUSD: &cost})
	if err != nil || s.F1 != nil || s.Precision != nil || s.Recall != nil || *s.Cost.PerCase != 2 || s.Cost.PerTruePositive != nil {
		t.Errorf("a clean case without findings: %+v, %v", s, err)
	}
	if text := ScoredText(s); !strings.Contains(text, "–") || strings.Contains(text, "NaN") {
		t.Errorf("text:\n%s", text)
	}
	if s, err := ScoreFindings(expected, ReviewedCases{}); err != nil || s.FalseNegatives != 3 || s.F1.Value != 0 || s.Cost.Total != nil || !strings.Contains(ScoredText(s), "the findings don't say") {
		t.Errorf("nothing found: %+v, %v", s, err)
	}
}

// The intervals match the literature: Wilson's interval of 8 in 10 is 0.490 to 0.943, and
// that of 0 in 10 ends at 0.278.
func TestIntervals(t *testing.T) {
	for _, tt := range []struct {
		part, of  int
		low, high float64
	}{{8, 10, 0.490, 0.943}, {0, 10, 0, 0.278}, {10, 10, 0.722, 1}, {1, 1, 0.207, 1}} {
		if m := wilson(tt.part, tt.of); math.Abs(m.Low-tt.low) > 0.001 || math.Abs(m.High-tt.high) > 0.001 {
			t.Errorf("%d of %d: %+v, want %v to %v", tt.part, tt.of, m, tt.low, tt.high)
		}
	}
	// With 8 true positives, 2 false positives and none missed, F1 is 16 of 18.
	if f := (counts{8, 2, 0}).agreement().F1; math.Abs(f.Value-16.0/18) > 1e-9 || math.Abs(f.Low-0.658) > 0.001 || math.Abs(f.High-0.971) > 0.001 {
		t.Errorf("F1 %+v", f)
	}
	if f := (counts{0, 5, 5}).agreement().F1; f.Value != 0 || f.Low != 0 || math.Abs(f.High-2*0.2775/1.2775) > 0.001 {
		t.Errorf("F1 without true positives %+v", f)
	}
}
