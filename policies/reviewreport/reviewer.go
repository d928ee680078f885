package reviewreport

import "github.com/reviewgate/reviewgate/pipeline"

// Reviewer has what the reviews of a specification or a plan by one agent have in common, whoever
// writes them.
type Reviewer struct {
	Agent     string // the agent's name in reports
	Phase     string // the phase of its reports
	Operation string // the reports' operation_type
	File      string // the file name of its report in the directory "review" beside the document
	// Blocks is the title of the finding that a blocking report makes. The titles of different
	// reviewers have no words in common, so that they never count as agreeing.
	Blocks string
	// Checklist has the questions of the reports' validation_checklist.
	Checklist []string
	// Categories are the categories of its recommendations.
	Categories []string
}

var reviewers = []Reviewer{
	{
		Agent: AgentSpecReviewer, Phase: pipeline.PhaseSpec, Operation: "spec_quality_review", File: "spec-review-report.md",
		Blocks:     "Requirements are not ready for planning",
		Checklist:  []string{"requirements_clear", "requirements_testable", "acceptance_criteria_present", "scope_defined", "free_of_implementation_details"},
		Categories: append(expertise[AgentSpecReviewer], "completeness"),
	},
	{
		Agent: AgentTechnicalPM, Phase: pipeline.PhaseSpec, Operation: "business_review", File: "business-review-report.md",
		Blocks:     "Business case is too weak",
		Checklist:  []string{"pain_points_named", "requirements_trace_to_pain_points", "value_stated", "success_measurable", "cost_in_proportion"},
		Categories: append(expertise[AgentTechnicalPM], "scope"),
	},
	{
		Agent: AgentArchitectureReview, Phase: pipeline.PhasePlan, Operation: "technical_review", File: "technical-review-report.md",
		Blocks:     "Architecture can't be built as described",
		Checklist:  []string{"architecture_feasible", "technology_choices_justified", "scales_to_stated_load", "failures_handled", "security_considered"},
		Categories: append(expertise[AgentArchitectureReview], "technology", "operations"),
	},
}

// ReviewerOf returns the reviewer with an agent's name. There are three reviewers.
func ReviewerOf(agent string) (r Reviewer, ok bool) {
	for _, r := range reviewers {
		if r.Agent == agent {
			return r, true
		}
	}
	return Reviewer{}, false
}
