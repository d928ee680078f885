package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Trouble returns the temporary errors of GitHub because of which agents failed, or nil.
// They postpone the review, like a change that can't be read.
func (r *Review) Trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(slices.Collect(maps.Values(r.trouble))...)
}

// watched is an agent that reads from GitHub. The review notes how its last attempt at each
// question ended.
type watched struct {
	dispatch.Agent
	by *Review
}

// Review notes how the attempt ended.
func (w watched) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	answer, err := w.Agent.Review(ctx, task)
	question := fmt.Sprintf("%s %s %d", task.Entry.Agent, task.Model, task.Run)
	w.by.mu.Lock()
	defer w.by.mu.Unlock()
	var host *ports.HostError
	if errors.As(err, &host) && host.Temporary() && ctx.Err() == nil {
		w.by.trouble[question] = err
	} else {
		delete(w.by.trouble, question)
	}
	return answer, err
}
