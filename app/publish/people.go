package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/sessions"
)

// Requests asks people for their reviews. It asks each person once for a pull request, and the teams and
// people whom an escalation calls once for each escalation.
type Requests struct {
	Writes       ports.Writes
	ReviewWriter ports.ReviewWriter
	Leases       lease.Keeper
	Log          zerolog.Logger
}

// personDecides reports whether a person must decide: because the models' reviews say so,
// or because a finding holds the gate.
func personDecides(r *pipeline.Report) bool {
	return r.Models != nil && r.Models.AutoDecision == pipeline.AutoHuman ||
		slices.ContainsFunc(r.Findings, func(f pipeline.Finding) bool { return f.HasReason(pipeline.ReasonHeld) })
}

// AskPeople requests reviews from the people in the settings if a person must decide. It
// asks nobody twice for one pull request: a person who is no longer on GitHub's list has
// reviewed, or was removed from it.
func (q *Requests) AskPeople(ctx context.Context, p *Publication) error {
	r, key := p.Review, p.Lease.Key
	people := p.Config.Settings.Models.People
	if len(people) == 0 || !p.mayAct(p.Pull) || !personDecides(&r.Review.Report) {
		return nil
	}
	have, err := q.newestRequests(ctx, key)
	if err != nil {
		return err
	}
	var asked, tried []string // tried: in an intent without an outcome
	if have != nil {
		asked, tried = have.Asked, have.Asking
		if have.HeadSHA == r.HeadSHA && have.State == ports.WriteCompleted {
			return nil
		}
	}
	ask := without(people, slices.Concat(p.Pull.Requested, []string{r.Review.Facts.Author.Login}, asked))
	if len(ask) > 0 {
		if ask, err = q.notReviewed(ctx, p.State.Target, ask); err != nil {
			return err
		}
	}
	if len(ask)+len(tried) == 0 {
		return nil
	}
	asked = union(asked, without(tried, ask)) // the tried requests that took effect
	w, err := q.Writes.Intend(ctx, p.Lease, ports.Write{
		Kind: ports.WriteRequests, Subject: key, Key: key, HeadSHA: r.HeadSHA, Asked: asked, Asking: ask,
	})
	if err != nil {
		return fmt.Errorf("store the intent to request reviews: %w", err)
	}
	did, err := q.requestReviews(ctx, p.Lease, p.State.Target, ask)
	if err != nil {
		return err
	}
	w.State, w.Asked, w.Asking = ports.WriteCompleted, union(asked, did), nil
	return record(context.WithoutCancel(ctx), q.Writes, &w)
}

func (q *Requests) newestRequests(ctx context.Context, key string) (*ports.Write, error) {
	w, err := q.Writes.NewestWrite(ctx, ports.WriteRequests, key)
	if err != nil {
		return nil, fmt.Errorf("read whose reviews were requested: %w", err)
	}
	return w, nil
}

// notReviewed returns those who have not reviewed the pull request yet. It can't tell for
// teams: GitHub removes a team from the list when a member reviews.
func (q *Requests) notReviewed(ctx context.Context, t ports.Target, people []string) ([]string, error) {
	all, err := q.ReviewWriter.Reviews(ctx, t)
	if ports.IsFinal(err) {
		q.Log.Warn().EmbedObject(t).Err(err).Msg("reviews can't be listed, so nobody is asked for one")
		return nil, nil
	}
	var reviewed []string
	for _, r := range all {
		reviewed = append(reviewed, r.Author)
	}
	return without(people, reviewed), err
}

// requestReviews asks people to review, and returns those whom GitHub accepted. If GitHub
// rejects one of them, the others are asked one by one.
func (q *Requests) requestReviews(ctx context.Context, lease ports.Lease, t ports.Target, people []string) (asked []string, err error) {
	if len(people) == 0 {
		return nil, nil
	}
	if err := q.Leases.Fence(ctx, lease); err != nil {
		return nil, err
	}
	err = q.ReviewWriter.RequestReviews(ctx, t, people)
	var host *ports.HostError
	switch {
	case err == nil:
		return people, nil
	case !ports.IsFinal(err):
		return nil, err
	case len(people) == 1 || !errors.As(err, &host) || host.Kind != ports.HostInvalid:
		q.Log.Warn().EmbedObject(t).Strs("people", people).Err(err).Msg("reviews can't be requested")
		return nil, nil
	}
	for _, who := range people {
		one, err := q.requestReviews(ctx, lease, t, []string{who})
		if err != nil {
			return nil, err
		}
		asked = append(asked, one...)
	}
	return asked, nil
}

// without returns people except those in not. It ignores case, as GitHub does.
func without(people, not []string) []string {
	return slices.DeleteFunc(slices.Clone(people), func(who string) bool {
		return slices.ContainsFunc(not, func(other string) bool { return strings.EqualFold(who, other) })
	})
}

// union returns the names in a or b, each once.
func union(a, b []string) []string { return append(slices.Clone(a), without(b, a)...) }

// CallTeam requests a review from the team in the settings if this review escalated the
// pull request. It asks nobody in advisory mode. If GitHub refuses, for example because the
// team may not see the repository, the rest is still published.
func (q *Requests) CallTeam(ctx context.Context, p *Publication) error {
	team := p.Config.Settings.FixLoop.Team
	if !p.Review.FixLoop.JustEscalated || team == "" || p.Pull.Archived || p.mode() != config.ModeEnforce {
		return nil
	}
	_, err := q.requestReviews(ctx, p.Lease, p.State.Target, without([]string{team}, append(slices.Clone(p.Pull.Requested), p.Review.Review.Facts.Author.Login)))
	return err
}

// CallForSession requests reviews from the people in the settings if this review escalated the session
// of coding agents. It asks nobody in advisory mode.
func (q *Requests) CallForSession(ctx context.Context, p *Publication) error {
	people := p.Config.Settings.Sessions.People
	if len(people) == 0 || !p.escalatesSession() || p.Pull.Archived || p.mode() != config.ModeEnforce {
		return nil
	}
	_, err := q.requestReviews(ctx, p.Lease, p.State.Target, without(people, append(slices.Clone(p.Pull.Requested), p.Review.Review.Facts.Author.Login)))
	return err
}

// escalatesSession reports whether this review escalated its session.
func (p *Publication) escalatesSession() bool {
	r := &p.Review.Review
	return r.Session != nil && r.Report.Session != nil && sessions.Escalates(&r.Session.Before, &r.Report.Session.State)
}
