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

// Task is what an agent is asked to look at.
type Task struct {
	Entry          pipeline.ManifestEntry
	Facts          *pipeline.PRFacts // never changed
	Classification *pipeline.Classification
}
