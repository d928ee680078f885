package publish

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
)

// withdraw dismisses a review of ours, if it was submitted at all. If GitHub refuses, the
// comment says so, and the next review tries again.
func (v *Verdicts) withdraw(ctx context.Context, lease ports.Lease, t ports.Target, w *ports.Write, why render.Withdrawn) error {
	err := v.dismissAll(ctx, lease, t, w, why)
	switch {
	case ports.IsFinal(err):
		return v.stuck(ctx, t, w, err)
	case err != nil:
		return err
	}
	w.State = ports.WriteCompleted
	return v.recordReview(context.WithoutCancel(ctx), w)
}

// dismissAll dismisses everything that an intent led to: the known review, and any with the
// same marker that arrived after findReview had looked.
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
	if ports.IsFinal(err) {
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

// stuck records that a review can't be dismissed. If the review was never found, its intent
// stays as it is.
func (v *Verdicts) stuck(ctx context.Context, t ports.Target, w *ports.Write, err error) error {
	v.Log.Warn().EmbedObject(t.At(w.HeadSHA)).Err(err).Msg("the review on GitHub can't be dismissed")
	if w.RemoteID == 0 {
		return nil
	}
	w.State = ports.WriteStuck
	return v.recordReview(ctx, w)
}

// WithdrawOutdated dismisses our review if the pull request now has another head or base.
// This happens before the new head is reviewed, because GitHub may count the old review for
// it.
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
	case ports.IsFinal(err): // the review will fail with the same error, and report it
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

// withdrawForgotten dismisses our reviews that the store does not know, because the
// database was lost or restored from a backup. Their base is unknown.
func (v *Verdicts) withdrawForgotten(ctx context.Context, lease ports.Lease, state ports.TargetState) error {
	if !v.Checks.mayHaveCheck(state, state.HeadSHA) {
		return nil
	}
	cfg, err := v.Configs.Known(ctx, state.Target)
	if err != nil || !cfg.Settings.Models.AutoApprove && !cfg.Settings.Models.AutoReject {
		return err
	}
	ours, err := v.ourReviews(ctx, state.Target, render.AnyReview)
	if ports.IsFinal(err) {
		return nil // what can't be listed can't be found
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
		case ports.IsFinal(err):
			v.Log.Warn().EmbedObject(state.Target).Int64("review", r.ID).Err(err).Msg("a review from before the database was lost can't be dismissed")
		case err != nil:
			return err
		}
	}
	return err
}

// WithdrawAny dismisses our review on GitHub, if there is one. No other review replaces it.
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
