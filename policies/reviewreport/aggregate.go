package reviewreport

import (
	"path"

	"github.com/reviewgate/reviewgate/pipeline"
)

// MaxOutcomeRecommendations is the greatest number of recommendations in an outcome.
const MaxOutcomeRecommendations = 10

// Aggregate returns the outcome of the reports on one document. phase is pipeline.PhaseSpec or
// pipeline.PhasePlan. The outcome names the reports in the given order. The caller must set Place.
func Aggregate(phase string, reports []Report, t Thresholds) pipeline.ReviewReportOutcome {
	r := decide(phase, reports, t)
	list := Recommendations(reports)
	return pipeline.ReviewReportOutcome{
		Phase:           phase,
		Proceed:         r.proceed,
		Rationale:       r.rationale,
		Missing:         r.missing,
		Readiness:       readiness(reports),
		QualityScores:   Scores(reports),
		Recommendations: list[:min(len(list), MaxOutcomeRecommendations)],
		ReviewPaths:     agents(reports),
		Errors:          reportErrors(reports),
	}
}

// Reviewed returns the outcome after the mandatory review, the only thing that it lacked, was made
// elsewhere: work may continue.
func Reviewed(o pipeline.ReviewReportOutcome) pipeline.ReviewReportOutcome {
	o.Proceed, o.Rationale, o.Missing = true, passed+"; language models reviewed as "+o.Missing, ""
	return o
}

// SaysMissing reports whether a finding of [Findings] says that an outcome's mandatory review is
// missing.
func SaysMissing(f *pipeline.Finding, o *pipeline.ReviewReportOutcome) bool {
	at := pipeline.ReviewReportsInComments
	if f.Path != "" {
		at = path.Dir(f.Path)
	}
	return o.Missing != "" && f.Category == CategoryOutcome && f.Title == blockTitle(o) && f.Message == o.Rationale && at == o.Place
}

// readiness returns the worst readiness that a reviewer reports. A document without a review is not
// ready.
func readiness(reports []Report) pipeline.Readiness {
	if len(reports) == 0 {
		return pipeline.NotReady
	}
	worst := pipeline.Ready
	for i := range reports {
		r := &reports[i].Record
		switch {
		case r.SuccessEvidence.ValidationResults.QualityThresholdMet:
		case r.is(SeverityCritical):
			return pipeline.NotReady
		default:
			worst = pipeline.Conditional
		}
	}
	return worst
}

func agents(reports []Report) pipeline.List[string] {
	var list pipeline.List[string]
	for i := range reports {
		list = append(list, reports[i].Record.Agent)
	}
	return list
}

func reportErrors(reports []Report) pipeline.List[pipeline.ReviewReportError] {
	var list pipeline.List[pipeline.ReviewReportError]
	for i := range reports {
		if r := &reports[i].Record; r.Broken() {
			list = append(list, pipeline.ReviewReportError{Source: reports[i].Source, Error: r.Error, Recovery: r.Recovery})
		}
	}
	return list
}
