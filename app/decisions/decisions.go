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
	Sessions   ports.Sessions
	PullReader ports.PullReader
}

// Of returns people's decisions that affect a review. A decision by hand holds for one pull
// request, base and head. Another push ends it. A push back to the same commit restores it,
// because that commit is what the person saw.
func (d *Decisions) Of(ctx context.Context, t ports.Target, f *pipeline.PRFacts) (pipeline.Memory, error) {
	if t.Kind == ports.TargetGroup {
		return d.taughtOfGroup(ctx, t, f)
	}
	m, err := d.Commands.Taught(ctx, t.Key(), f.Head.SHA, f.Base.Ref)
	if err != nil {
		return pipeline.Memory{}, fmt.Errorf("read people's decisions about %s: %w", t.Key(), err)
	}
	return m, nil
}
