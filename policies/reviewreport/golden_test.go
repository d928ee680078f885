package reviewreport

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

var defaults = Thresholds{
	CompletenessScore: 0.7, TestabilityScore: 0.7, ClarityScore: 0.6, ConfidenceLevel: 0.7,
	MaxCriticalIssues: 0, MaxMajorIssues: 3,
}

// reportWith writes a report as a person would, and reads it.
func reportWith(t *testing.T, json string) Report {
	t.Helper()
	source := "docs/review/report.md"
	r := Read(source, source, []byte(Heading+"\n\n```json\n"+json+"\n```\n"))
	if r.Record.Broken() {
		t.Fatalf("%s\n%s", r.Record.Error, json)
	}
	return r
}

// number returns the double in a cell of the table, or nil.
func number(t *testing.T, cell string) *float64 {
	t.Helper()
	if cell == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

// Scores equal those of the published algorithm to the last digit, at every boundary.
// testdata/golden.py writes the table.
func TestScoresEqualThePublishedOnes(t *testing.T) {
	file, err := os.Open("testdata/scores.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		reports := []Report{{Record: Record{Agent: AgentSpecReviewer, SuccessEvidence: Evidence{QualityAssessment: &QualityAssessment{
			number(t, row[0]), number(t, row[1]), number(t, row[2]), number(t, row[3]),
		}}}}}
		if row[4] != "null" {
			reports = append(reports, Report{Record: Record{Agent: AgentTechnicalPM, SuccessEvidence: Evidence{ValidationResults: ValidationResults{PainPointAligned: degree(row[4] == "true")}}}})
		}
		if row[5] != "null" {
			reports = append(reports, Report{Record: Record{Agent: AgentArchitectureReview, SuccessEvidence: Evidence{ValidationResults: ValidationResults{ArchitectureFeasible: degree(row[5] == "true")}}}})
		}
		want := pipeline.QualityScores{
			OverallScore: *number(t, row[6]), Grade: row[7],
			Components: pipeline.ScoreComponents{SpecQuality: number(t, row[8]), BusinessAlignment: number(t, row[9]), TechnicalFeasibility: number(t, row[10])},
		}
		if diff := cmp.Diff(want, Scores(reports)); diff != "" {
			t.Errorf("row %d, %v (-want +got):\n%s", i+2, row[:6], diff)
		}
	}
	if len(rows) < 3000 {
		t.Errorf("only %d rows", len(rows))
	}
}

// Sets of reports have the same outcome as with the published algorithms, except where rules differ
// on purpose.
func TestOutcomesEqualThePublishedOnes(t *testing.T) {
	text, err := os.ReadFile("testdata/reviews.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Reviews []json.RawMessage `json:"reviews"`
		Want    struct {
			Proceed         bool                      `json:"proceed"`
			Rationale       string                    `json:"rationale"`
			Readiness       pipeline.Readiness        `json:"readiness"`
			QualityScores   json.RawMessage           `json:"quality_scores"`
			Recommendations []pipeline.Recommendation `json:"recommendations"`
		} `json:"want"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	passes, later := 0, 0
	for i, c := range cases {
		var reports []Report
		for _, r := range c.Reviews {
			reports = append(reports, reportWith(t, string(r)))
		}
		got := Aggregate(pipeline.PhaseSpec, reports, defaults)
		switch {
		case got.Rationale == c.Want.Rationale && got.Proceed == c.Want.Proceed:
			passes++
		case c.Want.Proceed && !got.Proceed && (strings.HasPrefix(got.Rationale, "Clarity score below") || got.Rationale == "Mandatory review missing: spec-reviewer"):
			later++
		default:
			t.Errorf("case %d: %v, %q, want %v, %q", i, got.Proceed, got.Rationale, c.Want.Proceed, c.Want.Rationale)
		}
		if got.Readiness != c.Want.Readiness {
			t.Errorf("case %d: %s, want %s", i, got.Readiness, c.Want.Readiness)
		}
		if diff := cmp.Diff(anyOf(t, c.Want.QualityScores), anyOf(t, got.QualityScores)); diff != "" {
			t.Errorf("case %d: scores (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(pipeline.List[pipeline.Recommendation](c.Want.Recommendations), append(pipeline.List[pipeline.Recommendation]{}, Recommendations(reports)...)); diff != "" {
			t.Errorf("case %d: recommendations (-want +got):\n%s", i, diff)
		}
		if n := len(got.Recommendations); n != min(10, len(c.Want.Recommendations)) {
			t.Errorf("case %d: %d recommendations", i, n)
		}
	}
	if passes < 50 || later < 5 {
		t.Errorf("%d cases agree, and %d differ as expected", passes, later)
	}
}

// anyOf returns a value as JSON represents it.
func anyOf(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
