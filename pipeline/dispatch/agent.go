package dispatch

import (
	"context"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Agent is a reviewer. Review returns what it found in the task's scope, and must stop when ctx is
// done. For some kinds of agent the output comes from outside the process, so aggregate validates
// it.
type Agent interface {
	Review(ctx context.Context, task Task) (pipeline.AgentOutput, error)
}

// ReportReader is an agent that reads review reports. Dispatch calls ReviewReports instead of
// Review. It also returns the outcomes of the reports, which no external answer can contain.
type ReportReader interface {
	Agent
	ReviewReports(ctx context.Context, task Task) (pipeline.AgentOutput, []pipeline.ReviewReportOutcome, error)
}

// Noter is an agent that may add a note to a successful review, such as what it has not seen.
// Dispatch calls ReviewAndNote instead of Review.
type Noter interface {
	Agent
	ReviewAndNote(ctx context.Context, task Task) (output pipeline.AgentOutput, note string, err error)
}

// Task is what an agent is asked to review.
type Task struct {
	Entry          pipeline.ManifestEntry
	Model          string            // the model to ask, one of the entry's, or empty
	Run            int               // which of several runs with the model, from 0
	Facts          *pipeline.PRFacts // must not be changed
	Classification *pipeline.Classification
}
