package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// supersede drops a review whose head is no longer the newest.
func (p *Publisher) supersede(ctx context.Context, key string, r *ports.StoredReview, headSHA string) error {
	if err := p.Targets.SetHead(ctx, key, headSHA); err != nil {
		return fmt.Errorf("note the newer head: %w", err)
	}
	if err := p.Reviews.DropReview(ctx, r.RunID); err != nil {
		return fmt.Errorf("drop a superseded review: %w", err)
	}
	return ErrSuperseded
}

// Reasons why a run stops before it is done.
var (
	ErrSuperseded = errors.New("superseded by a newer head")
	ErrClosed     = errors.New("the pull request was closed")
)

// FollowHead records the head that was read, if it differs from the head that the events
// reported. The run then starts again, because its check is on another head.
func (p *Publisher) FollowHead(ctx context.Context, key string, state ports.TargetState, headSHA string) error {
	if headSHA == state.HeadSHA {
		return nil
	}
	if err := p.Targets.SetHead(ctx, key, headSHA); err != nil {
		return fmt.Errorf("note the head %s: %w", headSHA, err)
	}
	if state.HeadSHA == "" {
		return nil
	}
	p.Checks.Followed.Set(key, headSHA)
	return ErrSuperseded
}
