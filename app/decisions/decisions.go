package decisions

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Decisions reads what people decided about pull requests.
type Decisions struct {
	Targets    ports.Targets
	History    ports.History
	Commands   ports.Commands
	PullReader ports.PullReader
}

// Of is what people said that bears on a review. What they decided by hand
// holds for the pull request, its base and its head: another push ends it, and a
// push back to the very commit brings it back, as that is what they looked at.
func (d *Decisions) Of(ctx context.Context, t ports.Target, f *pipeline.PRFacts) (pipeline.Memory, error) {
	if t.Kind == ports.TargetGroup {
		return d.taughtOfGroup(ctx, t, f)
	}
	m, err := d.Commands.Taught(ctx, t.Key(), f.Head.SHA, f.Base.Ref)
	if err != nil {
		return pipeline.Memory{}, fmt.Errorf("look for what people said of %s: %w", t.Key(), err)
	}
	return m, nil
}
