package render

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// The limits of a summary.
const (
	maxSummaryRecommendations = 5
	maxSummaryErrors          = 20
)

// Aggregate renders the summary of review reports in markdown: the decision, the scores,
// the most pressing recommendations, and what to do next.
func Aggregate(o *pipeline.ReviewReportOutcome) string {
	p := markdownPen{}
	s := reportSummary{
		Proceed: o.Proceed, Plan: o.Phase == pipeline.PhasePlan,
		Rationale: p.text(o.Rationale, maxMessage),
		Cautious:  o.Readiness != pipeline.Ready,
		Errors:    first(o.Errors, maxSummaryErrors, func(e pipeline.ReviewReportError) safe { return reportProblem(p, &e) }),
	}
	if q := o.QualityScores; q.Error != "" {
		s.NoScore = p.text(q.Error, maxReason)
	} else {
		s.Score, s.Grade = decimal(&q.OverallScore), p.text(q.Grade, maxName)
		s.Spec, s.Business, s.Technical = decimal(q.Components.SpecQuality), decimal(q.Components.BusinessAlignment), decimal(q.Components.TechnicalFeasibility)
	}
	for i, r := range o.Recommendations[:min(len(o.Recommendations), maxSummaryRecommendations)] {
		s.Recommendations = append(s.Recommendations, summaryRecommendation{
			Number: i + 1, Priority: p.text(r.Priority, maxName), Reviewer: p.text(r.Reviewer, maxName), Category: p.text(r.Category, maxName),
			Finding: p.para(r.Finding, maxMessage), Recommendation: p.para(r.Recommendation, maxMessage), Location: p.text(r.Location, maxPath),
		})
	}
	s.More = len(o.Recommendations) > 0
	return strings.TrimSpace(string(say("md report summary", s))) + "\n"
}

type reportSummary struct {
	Proceed, Plan, Cautious, More    bool
	Rationale, Score, Grade, NoScore safe
	Spec, Business, Technical        safe // empty without a score
	Recommendations                  []summaryRecommendation
	Errors                           []safe
}

type summaryRecommendation struct {
	Number                                                          int
	Priority, Reviewer, Category, Finding, Recommendation, Location safe
}

// decimal writes a score with at least one decimal place: 1.0 and 0.85.
func decimal(x *float64) safe {
	if x == nil {
		return ""
	}
	s := strconv.FormatFloat(*x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return safe(s)
}

// ReportProblem says in one line of plain text why a review report can't be used, and
// what to do about it.
func ReportProblem(e *pipeline.ReviewReportError) string { return string(reportProblem(plainPen{}, e)) }

func reportProblem(p pen, e *pipeline.ReviewReportError) safe {
	return say("report problem", struct{ Source, Error, Recovery safe }{
		p.code(e.Source, maxPath), p.text(e.Error, maxMessage), p.text(e.Recovery, maxReason),
	})
}

// AggregateJSON returns the answer of `reviewgate aggregate` as indented JSON. It escapes
// characters that are invisible or control a terminal.
func AggregateJSON(o *pipeline.ReviewReportOutcome) ([]byte, error) {
	b, err := json.MarshalIndent(reviewreport.AnswerOf(o), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the answer as JSON: %w", err)
	}
	return append(escaped(b), '\n'), nil
}

// AuditLine returns an audit record as one line of JSON.
func AuditLine(a *reviewreport.Audit) ([]byte, error) {
	return JSONLine(a)
}
