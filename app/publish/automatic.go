package publish

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/once"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Verdicts submits pull request reviews that approve or request changes without a person,
// and dismisses those that no longer hold.
type Verdicts struct {
	Checks       *Checks
	Configs      *inforce.Configs
	Writes       ports.Writes
	PullReader   ports.PullReader
	ReviewWriter ports.ReviewWriter
	Leases       lease.Keeper
	Log          zerolog.Logger
}

// MovedError says that the head or the base moved while a review of the old head was being
// submitted. The review has been dismissed.
type MovedError struct{ HeadSHA string }

func (e *MovedError) Error() string { return "the head is " + e.HeadSHA + " by now" }

// mayAct reports whether reviewgate may act on a pull request in the state now without a
// person: models took part, and nobody decided by hand. Advisory mode takes no action that
// would have to be undone.
func (p *Publication) mayAct(now *ports.PullState) bool {
	report := &p.Review.Review.Report
	return report.Models != nil && report.ByHand == nil && p.mode() == config.ModeEnforce &&
		!now.Draft && !now.Locked && !now.Archived
}

// verdict returns the verdict that a review leads to without a person, or an empty one.
// The gate takes precedence: a review that blocks is never approved, and one that does not
// block is never rejected. A change that was not reviewed completely is not approved. Nor
// is a change from a fork: only people may let in authors who can't write to the
// repository.
func (p *Publication) verdict(now *ports.PullState) ports.ReviewVerdict {
	if !p.mayAct(now) {
		return ""
	}
	r, settings := &p.Review.Review, p.Config.Settings.Models
	blocks := r.Report.Decision.Blocks()
	switch r.Report.Models.AutoDecision {
	case pipeline.AutoApprove, pipeline.AutoApproveWithNotes:
		if settings.AutoApprove && !blocks && isWhole(r) && !r.Facts.Head.Fork {
			return ports.ReviewApprove
		}
	case pipeline.AutoReject:
		if settings.AutoReject && blocks {
			return ports.ReviewReject
		}
	}
	return ""
}

// isWhole reports whether every required agent looked at everything and every answer of a
// model counts in full. A model that was not shown everything, or whose answer was dropped
// in part, has a note that says so. The gate may accept such gaps, but an approval may not.
func isWhole(r *pipeline.Review) bool {
	return len(r.Report.Incomplete) == 0 &&
		!slices.ContainsFunc(r.Report.Coverage, func(c pipeline.Coverage) bool { return AgentFailed(c.Status) }) &&
		!slices.ContainsFunc(r.Results, func(a pipeline.AgentResult) bool {
			return a.Model != "" && !pipeline.Auxiliary(a.Agent) && a.Note != ""
		})
}

// Decide makes the review on GitHub match this review's verdict: it submits one, dismisses
// one, or does nothing.
func (v *Verdicts) Decide(ctx context.Context, p *Publication) error {
	have, err := v.NewestReview(ctx, p.Lease.Key)
	if err != nil {
		return err
	}
	r, want := p.Review, p.verdict(p.Pull)
	if r.FixLoop.Halted {
		want = "" // regardless of the result for a later head
	}
	same := have != nil && have.HeadSHA == r.HeadSHA && have.Verdict == want && have.BaseRef == r.Review.Facts.Base.Ref
	switch {
	case have.Stands() && !same:
		if err := v.withdraw(ctx, p.Lease, p.State.Target, have, whyWithdrawn(r, have)); err != nil {
			return err
		}
		if have.Stands() { // it can't be dismissed, so don't add a second one
			return nil
		}
	case have != nil && have.State == ports.WriteRefused && want == "":
		have.State = ports.WriteCompleted // no longer wanted
		if err := v.recordReview(ctx, have); err != nil {
			return err
		}
	}
	switch {
	case want == "", same && have.State == ports.WriteOpen:
		return nil
	case same && have.State == ports.WriteStuck: // the verdict is right again
		have.State = ports.WriteOpen
		return v.recordReview(ctx, have)
	case !same || have.State != ports.WriteIntended:
		have = nil
	}
	return v.submit(ctx, p, have, want)
}

// whyWithdrawn returns why the review on GitHub does not match the newest review here.
func whyWithdrawn(r *ports.StoredReview, have *ports.Write) render.Withdrawn {
	switch {
	case have.HeadSHA != r.HeadSHA:
		return render.WithdrawnMoved
	case have.BaseRef != r.Review.Facts.Base.Ref:
		return render.WithdrawnBase
	case r.Review.Report.ByHand != nil:
		return render.WithdrawnByHand
	}
	return render.WithdrawnChanged
}

// submit submits a review, unless have is an intent that already led to one.
func (v *Verdicts) submit(ctx context.Context, p *Publication, have *ports.Write, verdict ports.ReviewVerdict) error {
	r, t, key := p.Review, p.State.Target, p.Lease.Key
	there, err := once.Ensure(ctx, func(ctx context.Context) error { return v.Leases.Fence(ctx, p.Lease) }, once.Creation{
		Intended: have != nil,
		Look: func(ctx context.Context) (bool, error) {
			found, err := v.findReview(ctx, t, have)
			if err != nil || found == nil {
				return false, err
			}
			have.RemoteID, have.State = found.ID, ports.WriteOpen
			return true, v.recordReview(ctx, have)
		},
		Intend: func(ctx context.Context) error {
			intent, err := v.Writes.Intend(ctx, p.Lease, ports.Write{
				Kind: ports.WriteReview, Subject: key, Key: key, HeadSHA: r.HeadSHA,
				ExternalID: strings.ToLower(rand.Text()), Verdict: verdict, BaseRef: r.Review.Facts.Base.Ref,
			})
			if err != nil {
				return fmt.Errorf("store the intent to submit a review: %w", err)
			}
			have = &intent
			return nil
		},
		Create: func(ctx context.Context) (func(context.Context) error, error) {
			// A push must not cancel the request: a review on its way could arrive after
			// findReview has looked for it.
			id, err := v.ReviewWriter.CreateReview(context.WithoutCancel(ctx), t, ports.ReviewWrite{
				HeadSHA: r.HeadSHA, Verdict: verdict, Body: render.AutomaticReview(have.ExternalID, verdict == ports.ReviewApprove, &r.Review.Report),
			})
			switch {
			case ports.IsFinal(err): // the comment reports this, and the next review tries again
				v.Log.Warn().EmbedObject(t.At(r.HeadSHA)).Str("verdict", string(verdict)).Err(err).Msg("GitHub did not take the review")
				have.State = ports.WriteRefused
			case err != nil:
				return nil, err
			default:
				have.RemoteID, have.State = id, ports.WriteOpen
			}
			return recorded(v.Writes, have), nil
		},
	})
	if err != nil || there || have.State == ports.WriteRefused {
		return err
	}
	v.Log.Info().EmbedObject(t.At(r.HeadSHA)).Str("verdict", string(verdict)).Msg("decided without a person")
	if verdict != ports.ReviewApprove {
		return nil
	}
	return v.dismissIfMoved(ctx, p, have)
}

// dismissIfMoved dismisses an approval if a push came after the head was read: GitHub may
// count the approval for the new head. It leaves a closed pull request alone, because the
// approval may have been what allowed the merge.
func (v *Verdicts) dismissIfMoved(ctx context.Context, p *Publication, w *ports.Write) error {
	now, err := v.PullReader.Pull(ctx, p.State.Target)
	if err != nil || now.Closed || !movedFrom(p.Review, &now) {
		return err
	}
	if err := v.withdraw(ctx, p.Lease, p.State.Target, w, render.WithdrawnMoved); err != nil {
		return err
	}
	return &MovedError{HeadSHA: now.HeadSHA}
}

// NewestReview returns the newest review that was submitted without a person, or nil.
func (v *Verdicts) NewestReview(ctx context.Context, key string) (*ports.Write, error) {
	w, err := v.Writes.NewestWrite(ctx, ports.WriteReview, key)
	if err != nil {
		return nil, fmt.Errorf("look for the review on GitHub: %w", err)
	}
	return w, nil
}

func (v *Verdicts) recordReview(ctx context.Context, w *ports.Write) error {
	if err := v.Writes.Record(ctx, *w); err != nil {
		return fmt.Errorf("record what became of the review on GitHub: %w", err)
	}
	return nil
}

// findReview looks for a review by the marker that its intent holds. It looks twice,
// because GitHub's lists may lag behind a create.
func (v *Verdicts) findReview(ctx context.Context, t ports.Target, w *ports.Write) (*ports.PullReview, error) {
	return once.LookTwice(ctx, func() (*ports.PullReview, error) {
		ours, err := v.ourReviews(ctx, t, render.ReviewMarker(w.ExternalID))
		if err != nil || len(ours) == 0 {
			return nil, err
		}
		return &ours[0], nil
	})
}

// ourReviews lists our reviews that begin with a marker, oldest first. GitHub identifies
// the App behind a review only by its account. Another instance of reviewgate, or a bot
// that repeats what it reads, may use the same marker, so the account is compared, too.
func (v *Verdicts) ourReviews(ctx context.Context, t ports.Target, marker string) ([]ports.PullReview, error) {
	all, err := v.ReviewWriter.Reviews(ctx, t)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r ports.PullReview) bool { return !r.Bot || !strings.HasPrefix(r.Body, marker) })
	if len(all) == 0 {
		return nil, nil
	}
	login, err := v.ReviewWriter.Login(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r ports.PullReview) bool { return !strings.EqualFold(r.Author, login) }), nil
}

// AgentFailed reports whether an agent did not finish its work.
func AgentFailed(s pipeline.AgentStatus) bool {
	return s == pipeline.AgentFailed || s == pipeline.AgentTimedOut || s == pipeline.AgentMalformed
}
