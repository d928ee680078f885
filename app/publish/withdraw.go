package publish

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
)

// withdraw dismisses a review of ours, if it was submitted at all. Where GitHub does
// not let it be, the comment says so, and it is tried again with the next review.
func (v *Verdicts) withdraw(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, why render.Withdrawn) error {
	err := v.dismissAll(ctx, lease, t, w, why)
	switch {
	case isFinal(err):
		return v.stuck(ctx, t, w, err)
	case err != nil:
		return err
	}
	w.State = ports.WriteCompleted
	return v.recordReview(context.WithoutCancel(ctx), w)
}

// dismissAll dismisses what stands of an intent: the review that is known, and then
// what came late under its marker, after it was looked for.
func (v *Verdicts) dismissAll(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, why render.Withdrawn) error {
	if w.RemoteID == 0 {
		found, err := v.findReview(ctx, t, w)
		if err != nil || found == nil {
			return err
		}
		w.RemoteID = found.ID
	}
	if err := v.dismiss(ctx, lease, t, w, w.RemoteID, why); err != nil {
		return err
	}
	all, err := v.ourReviews(ctx, t, render.ReviewMarker(w.ExternalID))
	if isFinal(err) {
		return nil // what can't be listed can't be found
	}
	for _, r := range all {
		if r.Dismissed || r.ID == w.RemoteID {
			continue
		}
		if err := v.dismiss(ctx, lease, t, w, r.ID, why); err != nil {
			return err
		}
	}
	return err
}

func (v *Verdicts) dismiss(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, id int64, why render.Withdrawn) error {
	if err := v.Leases.Fence(ctx, lease); err != nil {
		return err
	}
	if err := v.ReviewWriter.DismissReview(ctx, t, id, render.Dismissal(why, w.HeadSHA)); err != nil {
		return err
	}
	v.Log.Info().EmbedObject(t.At(w.HeadSHA)).Str("why", string(why)).Msg("review on GitHub dismissed")
	return nil
}

// stuck notes that a review can't be dismissed. Of one that was not even looked
// for the intent stays.
func (v *Verdicts) stuck(ctx context.Context, t ports.Target, w *ports.Write, err error) error {
	v.Log.Warn().EmbedObject(t.At(w.HeadSHA)).Err(err).Msg("the review on GitHub can't be dismissed")
	if w.RemoteID == 0 {
		return nil
	}
	w.State = ports.WriteStuck
	return v.recordReview(ctx, w)
}

// WithdrawOutdated dismisses a review of ours that is of another head or base than
// the pull request has by now, before what is there instead is looked at: GitHub
// may count it for that.
func (v *Verdicts) WithdrawOutdated(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	if state.Kind != ports.TargetPull {
		return nil
	}
	have, err := v.NewestReview(ctx, lease.Key)
	if err != nil {
		return err
	}
	switch {
	case !have.Stands():
		return v.withdrawForgotten(ctx, lease, state)
	case state.HeadSHA != "" && state.HeadSHA != have.HeadSHA:
		return v.withdraw(ctx, lease, state.Target, have, render.WithdrawnMoved)
	}
	now, err := v.PullReader.Pull(ctx, state.Target)
	switch {
	case isFinal(err): // the review meets the same, and ends by it
		return nil
	case err != nil, now.Closed:
		return err
	case now.HeadSHA != have.HeadSHA:
		return v.withdraw(ctx, lease, state.Target, have, render.WithdrawnMoved)
	case now.BaseRef != have.BaseRef:
		return v.withdraw(ctx, lease, state.Target, have, render.WithdrawnBase)
	}
	return nil
}

// withdrawForgotten dismisses reviews of ours that the store knows nothing of,
// since the database was lost, or restored as it was before. Which base they are
// for can't be known.
func (v *Verdicts) withdrawForgotten(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	if !v.Checks.mayHaveCheck(state, state.HeadSHA) {
		return nil
	}
	cfg, err := v.Configs.Known(ctx, state.Target)
	if err != nil || !cfg.Settings.Models.AutoApprove && !cfg.Settings.Models.AutoReject {
		return err
	}
	ours, err := v.ourReviews(ctx, state.Target, render.AnyReview)
	if isFinal(err) {
		return nil // as above
	}
	for _, r := range ours {
		if r.Dismissed {
			continue
		}
		if err := v.Leases.Fence(ctx, lease); err != nil {
			return err
		}
		err := v.ReviewWriter.DismissReview(ctx, state.Target, r.ID, render.Dismissal(render.WithdrawnUnknown, ""))
		switch {
		case isFinal(err):
			v.Log.Warn().EmbedObject(state.Target).Int64("review", r.ID).Err(err).Msg("a review of before the database was lost can't be dismissed")
		case err != nil:
			return err
		}
	}
	return err
}

// WithdrawAny dismisses the review of ours that stands, if one does: no review
// takes its place.
func (v *Verdicts) WithdrawAny(ctx context.Context, lease ports.Lease, state ports.TargetState, why render.Withdrawn) error {
	if state.Kind != ports.TargetPull {
		return nil
	}
	have, err := v.NewestReview(ctx, lease.Key)
	if err != nil || !have.Stands() {
		return err
	}
	return v.withdraw(ctx, lease, state.Target, have, why)
}
