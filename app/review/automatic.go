package review

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// What the models' reviews come to may become a review on GitHub without a
// person. It is decided from the report and the settings alone, is of one head and
// one base, and stands no longer than the review that it came from.

// mayAct reports whether anything is done on a pull request without a person:
// models took part, nobody decided by hand, and there is something to decide yet.
// Advisory mode does nothing that would have to be taken back.
func mayAct(r *pipeline.Review, cfg *config.Config, now *ports.PullState) bool {
	return r.Report.Models != nil && r.Report.ByHand == nil && cfg.Mode(r.Facts.Repository.FullName()) == config.ModeEnforce &&
		!now.Draft && !now.Locked && !now.Archived
}

// automatic is the verdict that a review comes to without a person, empty for
// none. The gate's word goes first: what blocks is not approved, and what does not
// is not rejected. Nor is anything approved that was not looked at in full, or that
// comes from a fork: who can't write there is let in by people only.
func automatic(r *pipeline.Review, cfg *config.Config, now *ports.PullState) ports.ReviewVerdict {
	if !mayAct(r, cfg, now) {
		return ""
	}
	report, settings := &r.Report, cfg.Settings.Models
	blocks := report.Decision.Blocks()
	switch report.Models.AutoDecision {
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

// isWhole reports whether all was looked at by every agent that should, and all
// that models said counts: one that was not shown everything, or whose word was
// dropped in part, says so in its note. What may be missing for the gate may not for
// an approval.
func isWhole(r *pipeline.Review) bool {
	return len(r.Report.Incomplete) == 0 &&
		!slices.ContainsFunc(r.Report.Coverage, func(c pipeline.Coverage) bool { return agentFailed(c.Status) }) &&
		!slices.ContainsFunc(r.Results, func(a pipeline.AgentResult) bool {
			return a.Model != "" && !pipeline.Auxiliary(a.Agent) && a.Note != ""
		})
}

// decide has the review on GitHub say what this one comes to, or none.
func (s *Service) decide(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) error {
	have, err := s.newestReview(ctx, lease.Key)
	if err != nil {
		return err
	}
	want := automatic(&r.Review, cfg, now)
	if r.FixLoop.Halted {
		want = "" // whatever a later head comes to
	}
	digest := string(want) + " " + r.Review.Facts.Base.Ref
	same := have != nil && have.HeadSHA == r.HeadSHA && have.Digest == digest
	switch {
	case have.Stands() && !same:
		if err := s.withdraw(ctx, lease, state.Target, have, whyWithdrawn(r, have)); err != nil {
			return err
		}
		if have.Stands() { // it can't be dismissed: nothing is submitted beside it
			return nil
		}
	case have != nil && have.State == ports.WriteRefused && want == "":
		have.State = ports.WriteCompleted // not asked for any more
		if err := s.recordReview(ctx, have); err != nil {
			return err
		}
	}
	switch {
	case want == "", same && have.State == ports.WriteOpen:
		return nil
	case same && have.State == ports.WriteStuck: // it is right again
		have.State = ports.WriteOpen
		return s.recordReview(ctx, have)
	case !same || have.State != ports.WriteIntended:
		have = nil
	}
	return s.submit(ctx, lease, state, r, have, want, digest)
}

// whyWithdrawn is why a review on GitHub does not go with the newest one here.
func whyWithdrawn(r *ports.StoredReview, have *ports.Write) render.Withdrawn {
	_, base, _ := strings.Cut(have.Digest, " ")
	switch {
	case have.HeadSHA != r.HeadSHA:
		return render.WithdrawnMoved
	case base != r.Review.Facts.Base.Ref:
		return render.WithdrawnBase
	case r.Review.Report.ByHand != nil:
		return render.WithdrawnByHand
	}
	return render.WithdrawnChanged
}

// submit submits a review, the intent first. An intent of an earlier run that has
// no outcome is resolved by looking: its review may be there.
func (s *Service) submit(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, have *ports.Write, verdict ports.ReviewVerdict, digest string) error {
	if have != nil {
		found, err := s.findReview(ctx, state.Target, have)
		if err != nil {
			return err
		}
		if found != nil {
			have.RemoteID, have.State = found.ID, ports.WriteOpen
			return s.recordReview(ctx, have)
		}
	} else {
		intent, err := s.Store.Intend(ctx, lease, ports.Write{
			Kind: ports.WriteReview, Subject: lease.Key, Key: lease.Key, HeadSHA: r.HeadSHA,
			ExternalID: strings.ToLower(rand.Text()), Digest: digest,
		})
		if err != nil {
			return fmt.Errorf("store the intent to submit a review: %w", err)
		}
		have = &intent
	}
	if err := s.leases.Fence(ctx, lease); err != nil {
		return err
	}
	// A push must not cut it short: what may be on its way could come after it was
	// looked for.
	id, err := s.GitHub.CreateReview(context.WithoutCancel(ctx), state.Target, ports.ReviewWrite{
		HeadSHA: r.HeadSHA, Verdict: verdict, Body: render.AutomaticReview(have.ExternalID, verdict == ports.ReviewApprove, &r.Review.Report),
	})
	switch {
	case isFinal(err): // it is told in the comment, and tried again with the next review
		s.Log.Warn().Str("target", lease.Key).Str("verdict", string(verdict)).Err(err).Msg("GitHub did not take the review")
		have.State = ports.WriteRefused
		return s.recordReview(ctx, have)
	case err != nil:
		return err
	}
	have.RemoteID, have.State = id, ports.WriteOpen
	// It is there: to lose its id because the run was just cancelled would cost a
	// search.
	if err := s.recordReview(context.WithoutCancel(ctx), have); err != nil {
		return err
	}
	s.Log.Info().Str("target", lease.Key).Str("head", r.HeadSHA).Str("verdict", string(verdict)).Msg("decided without a person")
	if verdict != ports.ReviewApprove {
		return nil
	}
	return s.approvedStill(ctx, lease, state, r, have)
}

// approvedStill looks whether a push came between the look at the head and its
// approval: GitHub may count that for the new head. A pull request that is closed
// by now was merged, as may be what the approval was for.
func (s *Service) approvedStill(ctx context.Context, lease ports.Lease, state ports.TargetState, r *ports.StoredReview, w *ports.Write) error {
	now, err := s.GitHub.Pull(ctx, state.Target)
	if err != nil || now.Closed || !movedFrom(r, &now) {
		return err
	}
	if err := s.withdraw(ctx, lease, state.Target, w, render.WithdrawnMoved); err != nil {
		return err
	}
	return s.supersede(ctx, lease, r, now.HeadSHA)
}

// isFinal reports whether GitHub refused for good.
func isFinal(err error) bool {
	var host *ports.HostError
	return errors.As(err, &host) && !host.Temporary()
}

func (s *Service) newestReview(ctx context.Context, key string) (*ports.Write, error) {
	w, err := s.Store.NewestWrite(ctx, ports.WriteReview, key)
	if err != nil {
		return nil, fmt.Errorf("look for the review on GitHub: %w", err)
	}
	return w, nil
}

func (s *Service) recordReview(ctx context.Context, w *ports.Write) error {
	if err := s.Store.Record(ctx, *w); err != nil {
		return fmt.Errorf("record what became of the review on GitHub: %w", err)
	}
	return nil
}

// findReview looks for a review by the marker that its intent holds, twice, since
// lists may lag behind a create.
func (s *Service) findReview(ctx context.Context, t ports.Target, w *ports.Write) (*ports.PullReview, error) {
	return twice(ctx, func() (*ports.PullReview, error) {
		ours, err := s.ourReviews(ctx, t, render.ReviewMarker(w.ExternalID))
		if err != nil || len(ours) == 0 {
			return nil, err
		}
		return &ours[0], nil
	})
}

// ourReviews lists the reviews of ours that begin with a marker, oldest first.
// GitHub does not tell which App a review is by but by its account: another one of
// reviewgate, or a bot that repeats what it reads, may have the same marker.
func (s *Service) ourReviews(ctx context.Context, t ports.Target, marker string) ([]ports.PullReview, error) {
	all, err := s.GitHub.Reviews(ctx, t)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r ports.PullReview) bool { return !r.Bot || !strings.HasPrefix(r.Body, marker) })
	if len(all) == 0 {
		return nil, nil
	}
	login, err := s.GitHub.Login(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(r ports.PullReview) bool { return !strings.EqualFold(r.Author, login) }), nil
}

// acts is what the comment tells of what was done without a person, and of what
// GitHub did not let be done.
func (s *Service) acts(ctx context.Context, r *ports.StoredReview, cfg *config.Config) (a render.Acts, notices []string, err error) {
	w, err := s.newestReview(ctx, r.Key)
	if err != nil {
		return a, nil, err
	}
	if w != nil {
		approval := strings.HasPrefix(w.Digest, string(ports.ReviewApprove))
		switch {
		case w.State == ports.WriteStuck:
			notices = append(notices, render.ReviewStuck(w.HeadSHA, approval))
		case w.HeadSHA != r.HeadSHA:
		case w.State == ports.WriteRefused:
			notices = append(notices, render.ReviewRefused(approval))
		case w.State == ports.WriteOpen:
			a.Approved, a.Rejected = approval, !approval
		}
	}
	if r.Review.Report.Models == nil {
		return a, notices, nil
	}
	// Where it is escalated the comment says so already.
	a.Halted = r.FixLoop.Halted && r.FixLoop.Status != fixloop.Escalated && automatic(&r.Review, cfg, &ports.PullState{}) != ""
	asked, err := s.newestRequests(ctx, r.Key)
	if err != nil {
		return a, notices, err
	}
	if asked != nil {
		a.People, _ = askedOf(asked)
	}
	return a, notices, nil
}
