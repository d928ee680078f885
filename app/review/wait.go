package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/render"
)

// putOff has the check say that the change waits for memory, where it is time for
// that. It returns err, with which the job is put off: the wait holds no worker.
func (s *Service) putOff(ctx context.Context, lease Lease, state TargetState, err error) error {
	var wait *memoryWait
	if !errors.As(err, &wait) || state.HeadSHA == "" {
		return err
	}
	s.openMeanwhile(ctx, lease, state)
	if !wait.tell {
		return err
	}
	s.memory.told(lease.Key) // what fails is tried again after a while, too
	if terr := guard(func() error { return s.tellWait(ctx, lease, state, wait) }); terr != nil {
		s.Log.Warn().Str("target", lease.Key).Err(terr).Msg("the check can't say that the review waits for memory")
	}
	return err
}

func (s *Service) tellWait(ctx context.Context, lease Lease, state TargetState, wait *memoryWait) error {
	return s.intoOpenCheck(ctx, lease, state, render.WaitingCheck(render.Waiting{HeadSHA: state.HeadSHA, Since: wait.since, Before: wait.before}))
}

// openMeanwhile opens a new check where the one that stands on the head does not answer
// for the target, since its review waits. Otherwise a green check for another base
// would let it be merged until then. Where it fails the next try opens it.
func (s *Service) openMeanwhile(ctx context.Context, lease Lease, state TargetState) {
	err := guard(func() error {
		newest, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(state.RepoID, state.HeadSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if newest != nil && newest.State == WriteOpen {
			return nil
		}
		if off, err := s.switchedOff(ctx, state.Target); err != nil || off {
			return err
		}
		return s.openCheck(ctx, lease, state, state.HeadSHA)
	})
	if err != nil {
		s.Log.Warn().Str("target", lease.Key).Err(err).Msg("no check could be opened while the review waits")
	}
}

// intoOpenCheck writes into the open check of the head. One that is complete answers for
// the head meanwhile, and stays as it is.
func (s *Service) intoOpenCheck(ctx context.Context, lease Lease, state TargetState, out render.CheckOutput) error {
	return s.onHead(ctx, state.RepoID, state.HeadSHA, func(ctx context.Context) error {
		w, err := s.Store.NewestWrite(ctx, WriteCheck, checkSubject(state.RepoID, state.HeadSHA))
		if err != nil {
			return fmt.Errorf("look for the head's check: %w", err)
		}
		if w == nil || w.State != WriteOpen {
			return nil
		}
		name, err := s.checkName(ctx, state.Target)
		if err != nil {
			return err
		}
		if err := s.fence(ctx, lease); err != nil {
			return err
		}
		return s.GitHub.UpdateCheck(ctx, state.Target, w.RemoteID, CheckWrite{
			Name: name, HeadSHA: state.HeadSHA, ExternalID: w.ExternalID, DetailsURL: s.detailsURL(ctx, state.Target),
			Output: out,
		})
	})
}
