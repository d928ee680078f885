package reviewreport

import (
	"strconv"

	"github.com/reviewgate/reviewgate/pipeline"
)

// noSpecReviewer is the error if there is no report to compute scores from.
const noSpecReviewer = "No spec-reviewer found"

// These are the weights of the parts of a score.
const (
	specWeight      = 0.7
	businessWeight  = 0.15
	technicalWeight = 0.15
)

// Scores returns the weighted scores of a document: 70 % are the first spec-reviewer's, 15 % say
// that the first technical-pm considers the pain points met, and 15 % that the first
// architecture-review considers the architecture feasible.
//
// Every product and sum is rounded to a double of its own. A machine that fuses them would get
// another last digit, which can move a score over a boundary.
func Scores(reports []Report) pipeline.QualityScores {
	spec := firstOf(reports, AgentSpecReviewer)
	if spec == nil {
		return pipeline.QualityScores{Error: noSpecReviewer}
	}
	q := spec.assessment()
	for _, s := range []struct {
		name  string
		value *float64
	}{
		{"completeness_score", q.CompletenessScore}, {"testability_score", q.TestabilityScore},
		{"clarity_score", q.ClarityScore}, {"pain_point_alignment", q.PainPointAlignment},
	} {
		if s.value == nil {
			return pipeline.QualityScores{Error: "No " + s.name + " in spec-reviewer's quality_assessment"}
		}
	}
	base := float64(*q.CompletenessScore * 0.3)
	base = float64(base + float64(*q.TestabilityScore*0.3))
	base = float64(base + float64(*q.ClarityScore*0.2))
	base = float64(base + float64(*q.PainPointAlignment*0.2))
	base = float64(base * specWeight)

	business := part(firstOf(reports, AgentTechnicalPM), businessWeight, func(v ValidationResults) Degree { return v.PainPointAligned })
	technical := part(firstOf(reports, AgentArchitectureReview), technicalWeight, func(v ValidationResults) Degree { return v.ArchitectureFeasible })
	overall := float64(float64(base+business) + technical)
	quality := rounded(base / specWeight)
	return pipeline.QualityScores{
		OverallScore: rounded(overall),
		Grade:        grade(overall),
		Components: pipeline.ScoreComponents{
			SpecQuality:          &quality,
			BusinessAlignment:    component(business, businessWeight),
			TechnicalFeasibility: component(technical, technicalWeight),
		},
	}
}

// part returns what a reviewer adds to the score: the whole weight for yes, or a share of it for a
// degree.
func part(r *Record, weight float64, says func(ValidationResults) Degree) float64 {
	if r == nil {
		return 0
	}
	return float64(float64(says(r.SuccessEvidence.ValidationResults)) * weight)
}

// component returns a part by itself, or nil if it adds nothing.
func component(part, weight float64) *float64 {
	if part == 0 {
		return nil
	}
	c := rounded(part / weight)
	return &c
}

// rounded returns the decimal with two places that is nearest to the exact double: the double 2.675
// is slightly less than 2.675, and becomes 2.67.
func rounded(x float64) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 2, 64), 64)
	if err != nil {
		// Scores are from 0 to 1, and printed numbers can be parsed.
		panic(err)
	}
	return f
}

// grade returns the grade of a score before it is rounded.
func grade(score float64) string {
	switch {
	case score >= 0.9:
		return "A"
	case score >= 0.8:
		return "B"
	case score >= 0.7:
		return "C"
	case score >= 0.6:
		return "D"
	}
	return "F"
}
