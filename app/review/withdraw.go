package review

import (
	"context"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
)

// withdraw dismisses a review of ours, if it was submitted at all. Where GitHub does
// not let it be, the comment says so, and it is tried again with the next review.
func (s *Service) withdraw(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, why render.Withdrawn) error {
	err := s.dismissAll(ctx, lease, t, w, why)
	switch {
	case isFinal(err):
		return s.stuck(ctx, w, err)
	case err != nil:
		return err
	}
	w.State = ports.WriteCompleted
	return s.recordReview(context.WithoutCancel(ctx), w)
}

// dismissAll dismisses what stands of an intent: the review that is known, and then
// what came late under its marker, after it was looked for.
func (s *Service) dismissAll(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, why render.Withdrawn) error {
	if w.RemoteID == 0 {
		found, err := s.findReview(ctx, t, w)
		if err != nil || found == nil {
			return err
		}
		w.RemoteID = found.ID
	}
	if err := s.dismiss(ctx, lease, t, w, w.RemoteID, why); err != nil {
		return err
	}
	all, err := s.ourReviews(ctx, t, render.ReviewMarker(w.ExternalID))
	if isFinal(err) {
		return nil // what can't be listed can't be found
	}
	for _, r := range all {
		if r.Dismissed || r.ID == w.RemoteID {
			continue
		}
		if err := s.dismiss(ctx, lease, t, w, r.ID, why); err != nil {
			return err
		}
	}
	return err
}

func (s *Service) dismiss(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, id int64, why render.Withdrawn) error {
	if err := s.leases.Fence(ctx, lease); err != nil {
		return err
	}
	if err := s.GitHub.DismissReview(ctx, t, id, render.Dismissal(why, w.HeadSHA)); err != nil {
		return err
	}
	s.Log.Info().Str("target", lease.Key).Str("head", w.HeadSHA).Str("why", string(why)).Msg("review on GitHub dismissed")
	return nil
}

// stuck notes that a review can't be dismissed. Of one that was not even looked
// for the intent stays.
func (s *Service) stuck(ctx context.Context, w *ports.Write, err error) error {
	s.Log.Warn().Str("target", w.Key).Str("head", w.HeadSHA).Err(err).Msg("the review on GitHub can't be dismissed")
	if w.RemoteID == 0 {
		return nil
	}
	w.State = ports.WriteStuck
	return s.recordReview(ctx, w)
}

// withdrawOutdated dismisses a review of ours that is of another head or base than
// the pull request has by now, before what is there instead is looked at: GitHub
// may count it for that.
func (s *Service) withdrawOutdated(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	if state.Kind != ports.TargetPull {
		return nil
	}
	have, err := s.newestReview(ctx, lease.Key)
	if err != nil {
		return err
	}
	switch {
	case !have.Stands():
		return s.withdrawForgotten(ctx, lease, state)
	case state.HeadSHA != "" && state.HeadSHA != have.HeadSHA:
		return s.withdraw(ctx, lease, state.Target, have, render.WithdrawnMoved)
	}
	now, err := s.GitHub.Pull(ctx, state.Target)
	_, base, _ := strings.Cut(have.Digest, " ")
	switch {
	case isFinal(err): // the review meets the same, and ends by it
		return nil
	case err != nil, now.Closed:
		return err
	case now.HeadSHA != have.HeadSHA:
		return s.withdraw(ctx, lease, state.Target, have, render.WithdrawnMoved)
	case now.BaseRef != base:
		return s.withdraw(ctx, lease, state.Target, have, render.WithdrawnBase)
	}
	return nil
}

// withdrawForgotten dismisses reviews of ours that the store knows nothing of,
// since the database was lost, or restored as it was before. Which base they are
// for can't be known.
func (s *Service) withdrawForgotten(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	if !s.mayHaveCheck(state, state.HeadSHA) {
		return nil
	}
	cfg, err := s.configs.Known(ctx, state.Target)
	if err != nil || !cfg.Settings.Models.AutoApprove && !cfg.Settings.Models.AutoReject {
		return err
	}
	ours, err := s.ourReviews(ctx, state.Target, render.AnyReview)
	if isFinal(err) {
		return nil // as above
	}
	for _, r := range ours {
		if r.Dismissed {
			continue
		}
		if err := s.leases.Fence(ctx, lease); err != nil {
			return err
		}
		err := s.GitHub.DismissReview(ctx, state.Target, r.ID, render.Dismissal(render.WithdrawnUnknown, ""))
		switch {
		case isFinal(err):
			s.Log.Warn().Str("target", lease.Key).Int64("review", r.ID).Err(err).Msg("a review of before the database was lost can't be dismissed")
		case err != nil:
			return err
		}
	}
	return err
}

// withdrawAny dismisses the review of ours that stands, if one does: no review
// takes its place.
func (s *Service) withdrawAny(ctx context.Context, lease ports.Lease, state ports.TargetState, why render.Withdrawn) error {
	if state.Kind != ports.TargetPull {
		return nil
	}
	have, err := s.newestReview(ctx, lease.Key)
	if err != nil || !have.Stands() {
		return err
	}
	return s.withdraw(ctx, lease, state.Target, have, why)
}
