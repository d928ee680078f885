package report

import (
	"context"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// Files reads files of the reviewed change.
type Files interface {
	// File reads a file as it is at a commit, or at least its first bytes up to
	// most; a directory or a submodule has no text. One that is not there is an error.
	File(ctx context.Context, commit, path string, most int64) ([]byte, error)
}

// Discussion reads what people say on the reviewed change. It is a part of
// [ports.Discussion].
type Discussion interface {
	Remarks(ctx context.Context, words string) ([]ports.Remark, error)
	Permission(ctx context.Context, login string) (ports.Permission, error)
}

// Options are what an Agent is made from.
type Options struct {
	Sources    *config.ReportSources // nil for the defaults
	Thresholds config.ThresholdSettings
	Files      Files
	Discussion Discussion // nil where nobody can comment
	// Redact takes secrets out of what is read. The facts have none.
	Redact func(text string) string
	// Audit is given the record of each aggregation.
	Audit func(reviewreport.Audit)
}

// Agent reads the review reports of one change.
type Agent struct{ Options }

// New returns an agent.
func New(o Options) *Agent { return &Agent{o} }

var _ dispatch.Agent = (*Agent)(nil)

// Review returns what the reports of each document come to, by phase,
// then place, and a finding for each that blocks and for each recommendation. It
// reads the files in the task's scope. Reports by people without write
// permission do not count, which is said among the residual concerns.
func (a *Agent) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	docs, err := a.inFiles(ctx, task)
	if err != nil {
		return dispatch.Answer{}, err
	}
	out := pipeline.AgentOutput{Agent: task.Entry.Agent}
	if a.Discussion != nil && a.Sources.InComments() {
		inComments, ignored, err := a.inComments(ctx)
		if err != nil {
			return dispatch.Answer{}, err
		}
		docs = join(docs, inComments)
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
	return dispatch.Answer{Output: out, Reports: outcomes}, nil
}
