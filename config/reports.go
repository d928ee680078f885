package config

import "github.com/reviewgate/reviewgate/pipeline"

// ReportSources say where an agent of kind report finds review reports. Nil means the defaults.
type ReportSources struct {
	// Spec and Plan are globs of the files with reports on specifications and on plans. The default
	// is DefaultReports of the phase. An empty list means no files.
	Spec []string `json:"spec,omitzero"`
	Plan []string `json:"plan,omitzero"`
	// Comments says whether reports in comments by people with write permission count too. Default
	// true.
	Comments *bool `json:"comments,omitempty"`
}

// DefaultReports returns the globs of files with reports of a phase, for agents of kind report that
// name none.
func DefaultReports(phase string) []string {
	switch phase {
	case pipeline.PhaseSpec:
		return []string{"docs/01-planning/specifications/*/review/*-report.md"}
	case pipeline.PhasePlan:
		return []string{"docs/02-plans/*/review/*-report.md"}
	}
	return nil
}

// Globs returns the globs of files with reports of a phase.
func (r *ReportSources) Globs(phase string) []string {
	var own []string
	switch {
	case r == nil:
	case phase == pipeline.PhaseSpec:
		own = r.Spec
	case phase == pipeline.PhasePlan:
		own = r.Plan
	}
	if own == nil {
		return DefaultReports(phase)
	}
	return own
}

// InComments reports whether comments are read.
func (r *ReportSources) InComments() bool { return r == nil || r.Comments == nil || *r.Comments }

// reportsSection is the section of an agent of kind report.
var reportsSection = section{
	name: "reports", otherwise: "reads no review reports",
	check: func(t *trial, e *entry) {
		t.values.checkGlobs(e.node.Get("reports").Get(pipeline.PhaseSpec))
		t.values.checkGlobs(e.node.Get("reports").Get(pipeline.PhasePlan))
	},
	stricter: map[string]change{"reports.spec": mayGrow, "reports.plan": mayGrow, "reports.comments": mayBecome(true)},
	defaults: map[string]any{
		"reports.spec": DefaultReports(pipeline.PhaseSpec), "reports.plan": DefaultReports(pipeline.PhasePlan), "reports.comments": true,
	},
}
