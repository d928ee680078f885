package dispatch

import (
	"context"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Agent is a reviewer. Review returns what it found in the task's scope. It
// must stop when ctx is done. Output comes from outside the process for some
// kinds of agent, so nothing in it is trusted: aggregate validates it.
type Agent interface {
	Review(ctx context.Context, task Task) (pipeline.AgentOutput, error)
}

// ReportReader is an agent that reads review reports. ReviewReports is asked in
// Review's stead, and says what they come to as well: no answer from outside has
// a place for that.
type ReportReader interface {
	Agent
	ReviewReports(ctx context.Context, task Task) (pipeline.AgentOutput, []pipeline.ReportOutcome, error)
}

// Noter is an agent that has something to tell of a review that went well, such as
// what it has not seen. ReviewAndNote is asked in Review's stead.
type Noter interface {
	Agent
	ReviewAndNote(ctx context.Context, task Task) (output pipeline.AgentOutput, note string, err error)
}

// Task is what an agent is asked to look at.
type Task struct {
	Entry          pipeline.ManifestEntry
	Model          string            // of the entry's models the one to ask, or empty
	Run            int               // of several times that it is asked, from 0
	Facts          *pipeline.PRFacts // never changed
	Classification *pipeline.Classification
}
