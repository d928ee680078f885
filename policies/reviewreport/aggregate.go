package reviewreport

import "github.com/reviewgate/reviewgate/pipeline"

// MaxOutcomeRecommendations is how many recommendations an outcome has.
const MaxOutcomeRecommendations = 10

// Aggregate is what the reports of one document come to. phase is
// pipeline.PhaseSpec or pipeline.PhasePlan. The reports are named in the order
// in which they are given; Place is left for the caller to say.
func Aggregate(phase string, reports []Report, t Thresholds) pipeline.ReportOutcome {
	r := decide(phase, reports, t)
	list := Recommendations(reports)
	return pipeline.ReportOutcome{
		Phase:           phase,
		Proceed:         r.proceed,
		Rationale:       r.rationale,
		Readiness:       readiness(reports),
		QualityScores:   Scores(reports),
		Recommendations: list[:min(len(list), MaxOutcomeRecommendations)],
		ReviewPaths:     agents(reports),
		Errors:          reportErrors(reports),
	}
}

// readiness is the worst that a reviewer says. Nothing is ready that nobody
// reviewed.
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

func reportErrors(reports []Report) pipeline.List[pipeline.ReportError] {
	var list pipeline.List[pipeline.ReportError]
	for i := range reports {
		if r := &reports[i].Record; r.Broken() {
			list = append(list, pipeline.ReportError{Source: reports[i].Source, Error: r.Error, Recovery: r.Recovery})
		}
	}
	return list
}
