package report

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// Files reads files of the reviewed change.
type Files interface {
	// File reads a file as it is at a commit, or at least its first bytes up to
	// most; what is no file has no text. One that is not there is an error.
	File(ctx context.Context, commit, path string, most int64) ([]byte, error)
}

// Talk reads what people say on the reviewed change.
type Talk interface {
	// Comments lists the comments by people that have the words in them, oldest
	// first.
	Comments(ctx context.Context, words string) ([]Comment, error)
	// CanWrite asks whether a person may write to the repository now.
	CanWrite(ctx context.Context, login string) (bool, error)
}

// Comment is a comment on a change.
type Comment struct {
	ID     int64
	Author string // login
	Body   string
}

// Options are what an Agent is made from.
type Options struct {
	Sources    *config.ReportSources // nil for the defaults
	Thresholds config.ThresholdSettings
	Files      Files
	Talk       Talk // nil where nobody can comment
	// Redact takes secrets out of what is read. The facts have none.
	Redact func(text string) string
	// Audit is given the record of each aggregation.
	Audit func(reviewreport.Audit)
}

// Agent reads the review reports of one change.
type Agent struct{ Options }

// New returns an agent.
func New(o Options) *Agent { return &Agent{o} }

var _ dispatch.ReportReader = (*Agent)(nil)

// Review returns the findings of ReviewReports alone.
func (a *Agent) Review(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
	out, _, err := a.ReviewReports(ctx, task)
	return out, err
}

// ReviewReports returns what the reports of each document come to, by phase,
// then place, and a finding for each that blocks and for each recommendation. It
// reads the files in the task's scope. Reports by people without write
// permission do not count, which is said among the residual concerns.
func (a *Agent) ReviewReports(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, []pipeline.ReviewReportOutcome, error) {
	out := pipeline.AgentOutput{Agent: task.Entry.Agent}
	docs, err := a.inFiles(ctx, task)
	if err != nil {
		return out, nil, err
	}
	if a.Talk != nil && a.Sources.InComments() {
		said, ignored, err := a.inComments(ctx)
		if err != nil {
			return out, nil, err
		}
		docs = join(docs, said)
		out.ResidualConcerns = ignored
	}
	slices.SortStableFunc(docs, compareDocuments)
	thresholds := reviewreport.Thresholds(a.Thresholds)
	var outcomes []pipeline.ReviewReportOutcome
	for _, d := range docs {
		o := reviewreport.Aggregate(d.phase, d.reports, thresholds)
		o.Place = d.place
		a.Audit(reviewreport.AuditOf(&o, d.reports, thresholds))
		outcomes = append(outcomes, o)
		out.Findings = append(out.Findings, reviewreport.Findings(&o, d.reports, thresholds)...)
	}
	return out, outcomes, nil
}
