package commandrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/analytics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// explain answers why agents ran or did not. The answer is rendered from the review that
// the comment shows at that time.
func (cr *commandRun) explain(ctx context.Context) (verdict, error) {
	r, err := cr.History.LatestReview(ctx, cr.Target.Key())
	if err != nil {
		return verdict{}, fmt.Errorf("read the newest review: %w", err)
	}
	if r == nil {
		return refused(render.Notice{Kind: render.NoticeNoReview}), nil
	}
	n := render.Notice{Kind: render.NoticeExplain, Text: cr.what.Subject}
	if !knownTo(&r.Review, cr.what.Subject) {
		return refused(n), nil
	}
	return answered(n), nil
}

// knownTo reports whether a name is an agent or a changed file of a review. An empty name
// is always known.
func knownTo(r *pipeline.Review, name string) bool {
	is := func(agent string) bool { return strings.EqualFold(agent, name) }
	return name == "" ||
		slices.ContainsFunc(r.Manifest.Entries, func(e pipeline.ManifestEntry) bool { return is(e.Agent) }) ||
		slices.ContainsFunc(r.Manifest.Skipped, func(a pipeline.SkippedAgent) bool { return is(a.Agent) }) ||
		slices.ContainsFunc(r.Facts.Files, func(f pipeline.File) bool { return f.Path == name })
}

// maxStatusDecisions is how many decisions about findings a status lists.
const maxStatusDecisions = 20

// status answers with the state of the pull request.
func (cr *commandRun) status(ctx context.Context) (verdict, error) {
	key := cr.Target.Key()
	state, err := cr.Targets.Target(ctx, key)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return verdict{}, fmt.Errorf("read the target's state: %w", err)
	}
	r, err := cr.History.LatestReview(ctx, key)
	if err != nil {
		return verdict{}, fmt.Errorf("read the newest review: %w", err)
	}
	st := render.Status{At: cr.Now(), GaveUp: state.GaveUp, Left: max(0, cr.left()-1), Limit: cr.limit()}
	if state.Wanted > state.Done {
		st.Asked, st.Since, st.Attempts = state.Reason, state.AskedAt, state.Attempts
	}
	head, base, all := state.HeadSHA, "", []subject(nil)
	if r != nil {
		st.Decision, st.HeadSHA = r.Review.Report.Decision, r.HeadSHA
		base, all = r.Review.Facts.Base.Ref, subjects(&r.Review.Report)
	}
	m, err := cr.Commands.Taught(ctx, key, head, base)
	if err != nil {
		return verdict{}, fmt.Errorf("read what was said of findings: %w", err)
	}
	st.ByHand = m.ByHand
	if l := state.FixLoop; l.Begun() || l.Status != fixloop.Pending {
		st.Loop = &render.LoopStatus{Status: l.Status, Attempt: l.Attempt, Max: l.Max, Turns: l.Turns}
	}
	if st.Session, err = cr.sessionStatus(ctx, key, r); err != nil {
		return verdict{}, err
	}
	st.Lately = cr.lately(ctx)
	st.Decisions = verdicts(decidedOn(all, m), m)
	if more := len(st.Decisions) - maxStatusDecisions; more > 0 {
		st.Decisions, st.More = st.Decisions[:maxStatusDecisions], more
	}
	return answered(render.Notice{Kind: render.NoticeStatus, Status: &st}), nil
}

// sessionStatus returns the status of the session of coding agents, or nil without a session. r is the
// newest review, or nil; it says whose answers are still to come.
func (run *Runner) sessionStatus(ctx context.Context, key string, r *ports.StoredReview) (*render.SessionStatus, error) {
	row, err := run.Sessions.Session(ctx, key)
	if errors.Is(err, ports.ErrNotFound) || err == nil && row.SpokeAt.IsZero() && row.Cycle.Number == 0 && row.Pending == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	st := &render.SessionStatus{
		Cycle: row.Cycle.Number, Running: row.Running, Stalled: row.Stalled, Decided: row.State.Cycle, Rule: row.State.Rule, Pending: row.Pending, FallbackAt: row.FallbackAt,
		Escalation: withoutPrompt(row.State.Escalation), Pause: withoutPrompt(row.State.Pause),
	}
	for _, c := range row.State.Concerns {
		st.Concerned = append(st.Concerned, c.Reviewer)
	}
	if r != nil && r.HeadSHA == row.HeadSHA && row.Running {
		if rep := r.Review.Report.Session; rep != nil && rep.Cycle == row.Cycle.Number {
			st.Waiting, st.Deadline = rep.Waiting, rep.Deadline
		}
	}
	return st, nil
}

// withoutPrompt returns a pause without the prompt for the agents, which is long.
func withoutPrompt(p *pipeline.SessionPause) *pipeline.SessionPause {
	if p == nil {
		return nil
	}
	short := *p
	short.Clarification = ""
	return &short
}

// latelyTime is how long a status waits for what became of the repository's findings.
const latelyTime = 2 * time.Second

// lately returns what became of the repository's findings, or nil if that can't be read in time: the
// rest of the status is worth more.
func (cr *commandRun) lately(ctx context.Context) *render.Lately {
	ctx, cancel := context.WithTimeout(ctx, latelyTime)
	defer cancel()
	l, err := analytics.Lately(ctx, cr.Learning, cr.Target.RepoID, cr.Now())
	if err != nil {
		cr.Log.Warn().EmbedObject(cr.Target).Err(err).Msg("status without what became of the repository's findings")
	}
	return l
}

// verdicts returns the decisions about findings, one for each finding.
func verdicts(of []subject, m pipeline.Memory) []render.FindingDecision {
	var out []render.FindingDecision
	for _, s := range of {
		v := render.FindingDecision{Named: named(s.id, s.title)}
		for _, d := range m.Dismissed {
			if slices.Contains(s.fingerprints, d.Fingerprint) {
				v.By, v.Reason, v.Class = d.By, d.Reason, d.Class
			}
		}
		for _, a := range m.Accepted {
			if slices.Contains(s.fingerprints, a.Fingerprint) {
				v.By, v.Reason, v.Accepted = a.By, "", true
			}
		}
		out = append(out, v)
	}
	return out
}
