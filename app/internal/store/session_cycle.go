package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxInCycle is how many events a cycle is about, at most. More events than may wait can join a cycle only
// through people's commands and through earlier cycles that stalled.
const maxInCycle = 2 * ports.MaxSessionWaiting

// firedAtOnce is how many sessions one Fire looks at.
const firedAtOnce = 50

// Fire implements ports.Sessions. Each session has a transaction of its own. If one fails, the others
// still have their turn.
func (s sessions) Fire(ctx context.Context) (int, error) {
	keys, err := listNow(ctx, s.db, "look for sessions that are due", only[string],
		`SELECT target_key FROM sessions WHERE due_at > 0 AND due_at <= ? ORDER BY due_at, target_key LIMIT ?`, s.now(), firedAtOnce)
	if err != nil {
		return 0, err
	}
	n := 0
	var errs []error
	for _, key := range keys {
		var fired bool
		err := s.db.write(ctx, func(t tx) (err error) {
			fired, err = s.fire(ctx, t, key)
			return err
		})
		switch {
		case errors.Is(err, ports.ErrNotFound): // the target was deleted meanwhile
		case err != nil:
			errs = append(errs, fmt.Errorf("go on with the session of %s: %w", key, err))
		case fired:
			n++
		}
	}
	return n, errors.Join(errs...)
}

// fire acts on the timer of a session that is due. Another process may have done so since the session was
// listed.
func (s sessions) fire(ctx context.Context, t tx, key string) (fired bool, err error) {
	g, open, err := lockPull(ctx, t, key)
	if err != nil {
		return false, err
	}
	r, err := lockSession(ctx, t, key)
	if err != nil {
		return false, err
	}
	now := fromMicros(s.now())
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
	if !due(r.dueAt()) {
		return false, nil
	}
	// The agents need not run again: only what reviewers are told or answered is new.
	ask := ports.ReviewAsk{Target: g, Rerun: ports.Rerun{Decide: true}}
	switch {
	case !open:
		r.deadlineAt, r.GatherAt, r.FallbackAt = time.Time{}, time.Time{}, time.Time{}
		if _, err := t.exec(ctx, `DELETE FROM session_events WHERE target_key = ? AND cycle = 0`, key); err != nil {
			return false, fmt.Errorf("drop the events that wait: %w", err)
		}
	case due(r.deadlineAt):
		// The head may have moved since: then nobody waits for these reviewers.
		failed, err := failOverdue(ctx, t, &r, g.HeadSHA, now)
		if err != nil {
			return false, err
		}
		if failed {
			ask.Reason = "the reviewers' deadline has passed"
		}
	case due(r.GatherAt):
		events, err := r.gather(ctx, t, now)
		if err != nil {
			return false, err
		}
		if len(events) > 0 {
			ask.Reason = reasonOf(events)
		}
	case !r.GatherAt.IsZero(): // the events that wait begin a cycle soon
		return false, nil
	default:
		r.FallbackAt = time.Time{}
		if !r.State.Paused() && r.Cycle.Number > 0 {
			if err := r.fallBack(ctx, t, now); err != nil {
				return false, err
			}
			ask.Reason = "no agent has reported for a while"
		}
	}
	if open {
		if _, err := r.await(ctx, t); err != nil {
			return false, err
		}
	}
	if err := r.save(ctx, t); err != nil || ask.Reason == "" {
		return true, err
	}
	_, err = s.raise(ctx, t, ask)
	return true, err
}

// fallBack begins the fallback cycle. After a stalled cycle, it is about the events of that one.
func (r *sessionRow) fallBack(ctx context.Context, t tx, now time.Time) error {
	events, err := r.gather(ctx, t, now)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		r.begin(nextCycle(r, nil, fromMicros(micros(now))))
	}
	r.Cycle.Triggers = append(r.Cycle.Triggers, pipeline.TriggerFallback)
	slices.Sort(r.Cycle.Triggers)
	return nil
}

// gather begins a cycle with the events that wait and those of a stalled cycle, if there are any, and
// returns them.
func (r *sessionRow) gather(ctx context.Context, t tx, now time.Time) ([]ports.SessionEvent, error) {
	stalled := 0
	if r.Stalled {
		stalled = r.Cycle.Number
	}
	events, err := takeEvents(ctx, t, r.Key, stalled, r.Cycle.Number+1)
	if err != nil {
		return nil, err
	}
	r.GatherAt = time.Time{}
	if len(events) > 0 {
		r.begin(nextCycle(r, events, fromMicros(micros(now))))
	}
	return events, nil
}

// begin begins a cycle.
func (r *sessionRow) begin(c pipeline.SessionCycle) {
	r.Cycle, r.Running, r.Stalled, r.HeadSHA = c, true, false, ""
}

// takeEvents assigns the events that wait, and those of a stalled cycle, to a cycle. stalled is 0 if no
// cycle has stalled. takeEvents returns the newest of them, at most maxInCycle, in the order in which they
// came.
func takeEvents(ctx context.Context, t tx, key string, stalled, cycle int) ([]ports.SessionEvent, error) {
	events, err := list(ctx, t, func(row scanner) (e ports.SessionEvent, err error) {
		var body string
		if err = row.Scan(&body); err == nil {
			err = json.Unmarshal([]byte(body), &e)
		}
		return e, err
	}, `SELECT body FROM session_events WHERE target_key = ? AND cycle IN (0, ?) ORDER BY id DESC LIMIT ?`, key, stalled, maxInCycle)
	slices.Reverse(events)
	if err == nil {
		_, err = t.exec(ctx, `UPDATE session_events SET cycle = ? WHERE target_key = ? AND cycle IN (0, ?)`, cycle, key, stalled)
	}
	return events, wrap(err, "take the events that wait")
}

// nextCycle returns the cycle after the session's newest one. The events, in the order in which they came,
// start it; without events it is the fallback. If none of them is an agent's, the cycle is about the work
// of the same agents as the one before.
func nextCycle(r *sessionRow, events []ports.SessionEvent, now time.Time) pipeline.SessionCycle {
	last := &r.Cycle
	c := pipeline.SessionCycle{Number: last.Number + 1, BegunAt: now}
	summaries := map[string]string{}
	for _, e := range events {
		c.Triggers = append(c.Triggers, e.Kind)
		if e.Agent != "" {
			c.Events = append(c.Events, e.Agent+"/"+e.ID)
			summaries[e.Agent] = e.Summary // the newest one counts
		}
		c.Files = append(c.Files, e.Files...)
		for _, area := range e.FocusAreas {
			if len(c.FocusAreas) < ports.MaxSessionFocus && !slices.Contains(c.FocusAreas, area) {
				c.FocusAreas = append(c.FocusAreas, area)
			}
		}
		if e.MaxWords > 0 && (c.MaxWords == 0 || e.MaxWords < c.MaxWords) {
			c.MaxWords = e.MaxWords
		}
	}
	slices.Sort(c.Triggers)
	slices.Sort(c.Events)
	slices.Sort(c.Files)
	c.Triggers, c.Files = slices.Compact(c.Triggers), slices.Compact(c.Files)
	c.Files = c.Files[:min(len(c.Files), ports.MaxSessionFiles)]
	if len(c.FocusAreas) == 0 {
		c.FocusAreas = r.focusAreas
	}
	if c.MaxWords == 0 {
		c.MaxWords = r.maxWords
	}
	if len(summaries) == 0 {
		c.Targets, c.Context = last.Targets, last.Context
		return c
	}
	for _, agent := range slices.Sorted(maps.Keys(summaries)) {
		c.Targets = append(c.Targets, agent)
		c.Context = append(c.Context, pipeline.SessionSummary{Agent: agent, Text: summaries[agent]})
	}
	return c
}

// reasonOf says in words what starts a cycle.
func reasonOf(events []ports.SessionEvent) string {
	first := &events[0]
	reason := "/review by a person"
	if first.Kind != pipeline.TriggerPerson {
		reason = string(first.Kind) + " by " + first.Agent
	}
	if more := len(events) - 1; more > 0 {
		reason += " and " + plaintext.Count(more, "more event")
	}
	return reason
}

// publishSession applies what a review changes in its session, if the review is being published for
// the first time. The caller has locked the target.
func (s reviews) publishSession(ctx context.Context, t tx, runID string) error {
	var key, text string
	err := t.row(ctx, `SELECT target_key, session FROM reviews WHERE run_id = ? AND published_at = 0 AND session <> ''`, runID).Scan(&key, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var o ports.SessionOutcome
	if err == nil {
		err = json.Unmarshal([]byte(text), &o)
	}
	if err != nil {
		return fmt.Errorf("read what the review changes in its session: %w", err)
	}
	r, err := lockSession(ctx, t, key)
	switch {
	case err == nil:
		was := r.State.Paused()
		if err := r.decided(ctx, t, o, s.Now()); err != nil {
			return err
		}
		if r.State.Paused() != was {
			if err := s.askGroups(ctx, t, key); err != nil {
				return err
			}
		}
	case !errors.Is(err, ports.ErrNotFound):
		return err
	}
	now := s.Now()
	for i := range o.Requests { // their time begins now, not when the review was made
		q := &o.Requests[i]
		q.Key = key
		if !q.Deadline.IsZero() && !q.AskedAt.IsZero() {
			q.Deadline = now.Add(q.Deadline.Sub(q.AskedAt))
		}
		q.AskedAt = now
	}
	_, err = s.addRequests(ctx, t, o.Requests)
	return err
}

// askGroups asks for new decisions about the merge groups in a pull request's repository. One of them may
// contain the pull request, whose session was paused or goes on.
func (s *core) askGroups(ctx context.Context, t tx, key string) error {
	groups, err := scanTargets(ctx, t, `SELECT `+targetColumns+` FROM targets
		WHERE kind = ? AND closed = 0 AND repo_id = (SELECT repo_id FROM targets WHERE key = ?) ORDER BY key`+t.lock(), string(ports.TargetGroup), key)
	if err != nil {
		return fmt.Errorf("look for merge groups: %w", err)
	}
	for _, g := range groups {
		ask := ports.ReviewAsk{Target: g, Reason: "the session of a pull request was paused or resumed", Rerun: ports.Rerun{Decide: true}}
		if _, err := s.raise(ctx, t, ask); err != nil {
			return err
		}
	}
	return nil
}

// decided stores what a published review decided.
func (r *sessionRow) decided(ctx context.Context, t tx, o ports.SessionOutcome, now time.Time) error {
	if r.Running && o.Cycle == r.Cycle.Number {
		if err := r.endCycle(ctx, t, now); err != nil {
			return err
		}
	}
	if o.State != nil && o.State.Cycle >= r.State.Cycle {
		r.State = *o.State
	}
	switch {
	case o.Fallback < 0:
		r.FallbackAt = time.Time{}
	case o.Fallback > 0 && !r.SpokeAt.IsZero():
		r.FallbackAt = now.Add(o.Fallback)
	}
	if _, err := r.await(ctx, t); err != nil {
		return err
	}
	return r.save(ctx, t)
}

// StallCycle implements ports.Sessions.
func (s sessions) StallCycle(ctx context.Context, l ports.Lease) error {
	err := s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		return s.stallIf(ctx, t, l.Key, func(time.Time) bool { return true })
	})
	return wrap(err, "stall the cycle of %s", l.Key)
}

// stallUndecided stalls the running cycle of a target that has no pending review, unless reviewers still
// have time to answer. The caller has locked the target.
func (s leases) stallUndecided(ctx context.Context, t tx, key string) error {
	return s.stallIf(ctx, t, key, func(deadline time.Time) bool { return deadline.IsZero() })
}

// stallIf stalls the running cycle of a session if stalls says so. stalls gets the earliest deadline of the
// reviewers who may still answer in the cycle, which is zero if nobody may. stallIf also stores the
// session's next deadline. After a stall, the events that wait begin another cycle at once.
func (s *core) stallIf(ctx context.Context, t tx, key string, stalls func(deadline time.Time) bool) error {
	r, err := lockSession(ctx, t, key)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	was := r.deadlineAt
	inCycle, err := r.await(ctx, t)
	if err != nil {
		return err
	}
	stall := r.UnderReview() && stalls(inCycle)
	if !stall && was.Equal(r.deadlineAt) {
		return nil
	}
	if stall {
		r.Stalled = true
		if err := r.gatherNow(ctx, t, s.Now()); err != nil {
			return err
		}
	}
	return r.save(ctx, t)
}
