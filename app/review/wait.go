package review

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/render"
)

// holder postpones reviews that would use too much of this process's memory or of GitHub's
// calls, and says so in their checks.
type holder struct {
	checks *publish.Checks
	memory *admission.Room
	calls  *admission.Calls
	log    zerolog.Logger
	now    func() time.Time
}

// putOff says in the check that the change waits for memory, once it has waited long
// enough. It returns err, which postpones the job, so that the wait keeps no worker busy.
func (h *holder) putOff(ctx context.Context, g *generation, err error) error {
	var wait *admission.MemoryWait
	if !errors.As(err, &wait) || g.state.HeadSHA == "" {
		return err
	}
	h.checks.OpenMeanwhile(ctx, g.lease, g.state)
	if !wait.Tell {
		return err
	}
	h.memory.WaitShown(g.lease.Key) // even if the write fails, so that it is not tried again at once
	if terr := panics.Guard(func() error { return h.tellMemory(ctx, g, wait) }); terr != nil {
		h.log.Warn().EmbedObject(g.state.Target).Err(terr).Msg("the check can't say that the review waits for memory")
	}
	return err
}

func (h *holder) tellMemory(ctx context.Context, g *generation, wait *admission.MemoryWait) error {
	return h.checks.UpdateOpen(ctx, g.lease, g.state, render.WaitingCheck(render.Waiting{HeadSHA: g.state.HeadSHA, Since: wait.Since, Before: wait.Before}))
}

// waitForCalls postpones a review until its author has calls again, and says so in the
// check. It returns nil if the review may begin.
func (h *holder) waitForCalls(ctx context.Context, g *generation) error {
	wait := h.calls.Wait(g.state.Target, g.state.Author, h.now())
	if wait == nil {
		return nil
	}
	if g.state.HeadSHA == "" {
		return wait
	}
	h.checks.OpenMeanwhile(ctx, g.lease, g.state)
	if wait.Tell {
		if err := panics.Guard(func() error { return h.tellCalls(ctx, g, wait) }); err != nil {
			h.log.Warn().EmbedObject(g.state.Target).Err(err).Msg("the check can't say that the review waits for GitHub's rate limit")
		}
	}
	return wait
}

func (h *holder) tellCalls(ctx context.Context, g *generation, wait *admission.CallWait) error {
	return h.checks.UpdateOpen(ctx, g.lease, g.state, render.CallsCheck(render.Calls{HeadSHA: g.state.HeadSHA, Used: wait.Used, Limit: wait.Quota.Limit, Reset: wait.Quota.Reset}))
}

// Called counts a call that was made for a pull request of an author.
func (s *Service) Called(installation, author int64, q ports.Quota) {
	s.holder.calls.Called(installation, author, q)
}
