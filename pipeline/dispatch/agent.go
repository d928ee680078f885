package dispatch

import (
	"context"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Agent is a reviewer. Review returns what it found in the task's scope, and must stop when ctx is
// done. With an error, the answer does not count, unless the error is a [*PartError]. For some kinds
// of agent the answer comes from outside the process, so aggregate validates it.
type Agent interface {
	Review(ctx context.Context, task Task) (Answer, error)
}

// Answer is the result of an agent. Most agents have only an output.
type Answer struct {
	Output pipeline.AgentOutput
	// Note is for people. It adds to a successful review, such as what the agent has not seen.
	Note string
	// Reports are the outcomes of the review reports that the agent read.
	Reports []pipeline.ReviewReportOutcome
}

// Task is what an agent is asked to review.
type Task struct {
	Entry          pipeline.ManifestEntry
	Model          string            // the model to ask, one of the entry's, or empty
	Run            int               // which of several runs with the model, from 0
	Facts          *pipeline.PRFacts // must not be changed
	Classification *pipeline.Classification
}
