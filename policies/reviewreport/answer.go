package reviewreport

import "github.com/reviewgate/reviewgate/pipeline"

// Answer is an outcome as `reviewgate aggregate` prints it. Exactly one of the first two fields is
// set: the next phase is the plan for a specification, and the tasks for a plan.
type Answer struct {
	ProceedToPlan   *bool                                     `json:"proceed_to_plan,omitempty"`
	ProceedToTasks  *bool                                     `json:"proceed_to_tasks,omitempty"`
	Rationale       string                                    `json:"rationale"`
	Readiness       pipeline.Readiness                        `json:"readiness"`
	QualityScores   pipeline.QualityScores                    `json:"quality_scores"`
	Recommendations pipeline.List[pipeline.Recommendation]    `json:"recommendations"`
	ReviewPaths     pipeline.List[string]                     `json:"review_paths"` // the agents
	Errors          pipeline.List[pipeline.ReviewReportError] `json:"errors"`
}

// AnswerOf returns an outcome as it is printed.
func AnswerOf(o *pipeline.ReviewReportOutcome) Answer {
	a := Answer{
		Rationale: o.Rationale, Readiness: o.Readiness, QualityScores: o.QualityScores,
		Recommendations: o.Recommendations, ReviewPaths: o.ReviewPaths, Errors: o.Errors,
	}
	if o.Phase == pipeline.PhasePlan {
		a.ProceedToTasks = &o.Proceed
	} else {
		a.ProceedToPlan = &o.Proceed
	}
	return a
}
