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

// postponer postpones reviews that would use too much of this process's memory or of
// GitHub's calls, and says so in their checks.
type postponer struct {
	checks *publish.Checks
	memory *admission.Room
	calls  *admission.Calls
	log    zerolog.Logger
	now    func() time.Time
}

// putOff says in the check that the change waits for memory, once it has waited long
// enough. It returns err, which postpones the job, so that the wait keeps no worker busy.
func (p *postponer) putOff(ctx context.Context, held *heldTarget, err error) error {
	var wait *admission.MemoryWait
	if !errors.As(err, &wait) || held.state.HeadSHA == "" {
		return err
	}
	p.checks.OpenMeanwhile(ctx, held.lease, held.state)
	if !wait.Tell {
		return err
	}
	p.memory.WaitShown(held.lease.Key) // even if the write fails, so that it is not tried again at once
	if terr := panics.Guard(func() error { return p.tellMemory(ctx, held, wait) }); terr != nil {
		p.log.Warn().EmbedObject(held.state.Target).Err(terr).Msg("the check can't say that the review waits for memory")
	}
	return err
}

func (p *postponer) tellMemory(ctx context.Context, held *heldTarget, wait *admission.MemoryWait) error {
	return p.checks.UpdateOpen(ctx, held.lease, held.state, render.WaitingCheck(render.Waiting{HeadSHA: held.state.HeadSHA, Since: wait.Since, Before: wait.Before}))
}

// waitForCalls postpones a review until its author has calls again, and says so in the
// check. It returns nil if the review may begin.
func (p *postponer) waitForCalls(ctx context.Context, held *heldTarget) error {
	wait := p.calls.Wait(held.state.Target, held.state.Author, p.now())
	if wait == nil {
		return nil
	}
	if held.state.HeadSHA == "" {
		return wait
	}
	p.checks.OpenMeanwhile(ctx, held.lease, held.state)
	if wait.Tell {
		if err := panics.Guard(func() error { return p.tellCalls(ctx, held, wait) }); err != nil {
			p.log.Warn().EmbedObject(held.state.Target).Err(err).Msg("the check can't say that the review waits for GitHub's rate limit")
		}
	}
	return wait
}

func (p *postponer) tellCalls(ctx context.Context, held *heldTarget, wait *admission.CallWait) error {
	return p.checks.UpdateOpen(ctx, held.lease, held.state, render.CallsCheck(render.Calls{HeadSHA: held.state.HeadSHA, Used: wait.Used, Limit: wait.Quota.Limit, Reset: wait.Quota.Reset}))
}

// Called counts a call that was made for a pull request of an author.
func (s *Service) Called(installation, author int64, q ports.Quota) {
	s.postponer.calls.Called(installation, author, q)
}
