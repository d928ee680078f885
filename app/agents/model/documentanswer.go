package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// What a report shows of a model's texts, in characters, and of its recommendations.
const (
	maxSummary         = 1000
	maxAdvice          = 1000
	maxLocation        = 200
	maxCategory        = 60
	maxRecommendations = 20
)

// read reads an answer and corrects nothing in it: if a field is missing, has the wrong type
// or is out of range, the answer is malformed. Fields that the model was not asked for are
// ignored, since code writes who reviewed what, and when. left counts the recommendations
// beyond maxRecommendations; the most pressing are kept.
func (d *Documents) read(answer string, at time.Time) (r reviewreport.Record, left int, err error) {
	f, err := fieldsOf(answer)
	if err != nil {
		return r, 0, err
	}
	at = at.UTC()
	r = reviewreport.Record{
		Agent: d.Reviewer.Agent, OperationType: d.Reviewer.Operation,
		TaskID: "review-" + at.Format("20060102150405"), ExecutionTimestamp: at.Format(time.RFC3339),
		Status:  closed(f, "status", statuses),
		Summary: d.shown(f, "summary", maxSummary), Severity: closed(f, "severity", severities), Confidence: new(f.Share("confidence")),
		ValidationChecklist: map[string]any{},
	}
	checklist := f.Within("validation_checklist")
	for _, name := range d.Reviewer.Checklist {
		r.ValidationChecklist[name] = checklist.NeededBool(name)
	}
	f.Take(checklist)
	evidence := f.Within("success_evidence")
	left = d.readEvidence(evidence, &r.SuccessEvidence)
	f.Take(evidence)
	if len(f.Wrong) > 0 {
		return r, 0, errors.New(f.Wrong[0].Problem)
	}
	return r, left, nil
}

func (d *Documents) readEvidence(f *jsontree.Fields, e *reviewreport.Evidence) (left int) {
	findings := f.Within("review_findings")
	for _, n := range findings.NeededList("recommendations") {
		if len(e.ReviewFindings.Recommendations) == maxClaims {
			left++
			continue
		}
		rec := jsontree.FieldsOf(n, "a recommendation")
		e.ReviewFindings.Recommendations = append(e.ReviewFindings.Recommendations, reviewreport.Recommendation{
			Priority: closed(rec, "priority", priorities), Category: d.agent.line(rec.Needed("category"), maxCategory),
			Finding: d.shown(rec, "finding", maxAdvice), Recommendation: d.shown(rec, "recommendation", maxAdvice),
			Location: d.agent.line(rec.Needed("location"), maxLocation),
		})
		findings.Take(rec)
	}
	f.Take(findings)
	if list := e.ReviewFindings.Recommendations; len(list) > maxRecommendations {
		slices.SortStableFunc(list, func(a, b reviewreport.Recommendation) int {
			return cmp.Compare(slices.Index(priorities, a.Priority), slices.Index(priorities, b.Priority))
		})
		left += len(list) - maxRecommendations
		e.ReviewFindings.Recommendations = list[:maxRecommendations]
	}
	results := f.Within("validation_results")
	e.ValidationResults.QualityThresholdMet = results.NeededBool("quality_threshold_met")
	switch d.Reviewer.Agent {
	case reviewreport.AgentSpecReviewer:
		scores := f.Within("quality_assessment")
		e.QualityAssessment = &reviewreport.QualityAssessment{
			CompletenessScore: new(scores.Share("completeness_score")), TestabilityScore: new(scores.Share("testability_score")),
			ClarityScore: new(scores.Share("clarity_score")), PainPointAlignment: new(scores.Share("pain_point_alignment")),
		}
		f.Take(scores)
	case reviewreport.AgentTechnicalPM:
		e.ValidationResults.PainPointAligned = degree(results.NeededBool(fieldAligned))
	case reviewreport.AgentArchitectureReview:
		e.ValidationResults.ArchitectureFeasible = degree(results.NeededBool(fieldFeasible))
	}
	f.Take(results)
	return left
}

// shown is a text that has to be there, as a report shows it.
func (d *Documents) shown(f *jsontree.Fields, key string, most int) string {
	return strings.TrimSpace(d.agent.text(f.Needed(key), most))
}

// closed is a string of a closed set that has to be there, however it is spelled.
func closed(f *jsontree.Fields, key string, set []string) string {
	value := f.Needed(key)
	for _, s := range set {
		if strings.EqualFold(s, strings.TrimSpace(value)) {
			return s
		}
	}
	if value != "" {
		f.Refuse(key, fmt.Sprintf("%s is %.40q, and must be one of %s", key, plaintext.Line(cleaned(value)), strings.Join(set, ", ")), "use one of these")
	}
	return ""
}

func degree(yes bool) reviewreport.Degree {
	if yes {
		return 1
	}
	return 0
}
