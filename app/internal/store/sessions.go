package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// sessions is the role ports.Sessions. A change locks the target's row first, then the session's, and
// then writes the session's whole row.
type sessions struct {
	*core
	speaking chan struct{} // a place for each event that is being stored
}

// maxSpeaking is how many events are stored at a time. Others wait, so that a flood of them fills neither
// SQLite's transactions nor PostgreSQL's connections while deliveries come.
const maxSpeaking = 4

func newSessions(c *core) sessions { return sessions{c, make(chan struct{}, maxSpeaking)} }

var _ ports.Sessions = sessions{}

// sessionRow is a session as it is stored, without the number of events that wait.
type sessionRow struct {
	ports.SessionRow
	deadlineAt time.Time // the earliest deadline of the open requests that matter; zero means that nobody is awaited
	// The settings' defaults for the next cycle.
	focusAreas []string
	maxWords   int
}

const sessionColumns = `target_key, cycle, running, stalled, head_sha, state, resumes, resumed, spoke_at, gather_at, deadline_at, fallback_at, due_at, focus_areas, max_words`

// readSession returns a session, or ErrNotFound with an empty session of the target. how is the end of the
// query, which may lock the row.
func readSession(ctx context.Context, t tx, key, how string) (sessionRow, error) {
	r := sessionRow{SessionRow: ports.SessionRow{Key: key}}
	var cycle, state, resumed, focus string
	var spoke, gather, deadline, fallback int64
	err := t.row(ctx, `SELECT cycle, running = 1, stalled = 1, head_sha, state, resumes, resumed, spoke_at, gather_at, deadline_at, fallback_at, focus_areas, max_words
		FROM sessions WHERE target_key = ?`+how, key).
		Scan(&cycle, &r.Running, &r.Stalled, &r.HeadSHA, &state, &r.Resumes, &resumed, &spoke, &gather, &deadline, &fallback, &focus, &r.maxWords)
	if err == nil {
		err = errors.Join(decodeText(cycle, &r.Cycle), decodeText(state, &r.State), decodeText(resumed, &r.Resumed), decodeText(focus, &r.focusAreas))
	}
	if err != nil {
		return r, fmt.Errorf("read the session of %s: %w", key, notFound(err))
	}
	r.SpokeAt, r.GatherAt, r.deadlineAt, r.FallbackAt = fromMicros(spoke), fromMicros(gather), fromMicros(deadline), fromMicros(fallback)
	return r, nil
}

// lockSession is readSession, and locks the row.
func lockSession(ctx context.Context, t tx, key string) (sessionRow, error) {
	return readSession(ctx, t, key, t.lock())
}

// dueAt returns when Fire has something to do; zero means never. While a cycle is under review, the next
// one and the fallback wait for its end.
func (r *sessionRow) dueAt() (due time.Time) {
	timers := []time.Time{r.deadlineAt}
	if !r.UnderReview() {
		timers = append(timers, r.GatherAt, r.FallbackAt)
	}
	for _, at := range timers {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// save stores a session. The caller holds the lock of the session's row or, for a new one, of the
// target's.
func (r *sessionRow) save(ctx context.Context, t tx) error {
	cycle, err := encodeText(r.Cycle)
	if err != nil {
		return err
	}
	state, err := encodeText(r.State)
	if err != nil {
		return err
	}
	resumed, err := encodeText(r.Resumed)
	if err != nil {
		return err
	}
	focus, err := encodeList(r.focusAreas)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO sessions (`+sessionColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (target_key) DO UPDATE SET cycle = excluded.cycle, running = excluded.running, stalled = excluded.stalled, head_sha = excluded.head_sha, state = excluded.state,
			resumes = excluded.resumes, resumed = excluded.resumed, spoke_at = excluded.spoke_at, gather_at = excluded.gather_at,
			deadline_at = excluded.deadline_at, fallback_at = excluded.fallback_at, due_at = excluded.due_at, focus_areas = excluded.focus_areas, max_words = excluded.max_words`,
		r.Key, cycle, number(r.Running), number(r.Stalled), r.HeadSHA, state, r.Resumes, resumed, micros(r.SpokeAt), micros(r.GatherAt),
		micros(r.deadlineAt), micros(r.FallbackAt), micros(r.dueAt()), focus, r.maxWords)
	return wrap(err, "store the session of %s", r.Key)
}

// waitingEvents counts the events that wait for the next cycle.
func waitingEvents(ctx context.Context, t tx, key string) (n int, err error) {
	err = t.row(ctx, `SELECT count(*) FROM session_events WHERE target_key = ? AND cycle = 0`, key).Scan(&n)
	return n, wrap(err, "count the events that wait")
}

// endCycle ends the running cycle. The events that came meanwhile begin the next one at once.
func (r *sessionRow) endCycle(ctx context.Context, t tx, now time.Time) error {
	r.Running, r.Stalled = false, false
	return r.gatherNow(ctx, t, now)
}

// gatherNow lets the events that wait begin the next cycle at once.
func (r *sessionRow) gatherNow(ctx context.Context, t tx, now time.Time) error {
	waiting, err := waitingEvents(ctx, t, r.Key)
	if err == nil && waiting > 0 {
		r.GatherAt = now
	}
	return err
}

// lockPull locks a target. open says that the target may be reviewed: it is not closed, and its
// installation is not gone.
func lockPull(ctx context.Context, t tx, key string) (g ports.Target, open bool, err error) {
	err = t.row(ctx, `SELECT `+targetColumns+`, closed = 0 FROM targets WHERE key = ?`+t.lock(), key).Scan(append(targetDest(&g), &open)...)
	if err != nil {
		return g, false, fmt.Errorf("read target %s: %w", key, notFound(err))
	}
	gone, err := installationGone(ctx, t, g.Installation)
	return g, open && !gone, err
}

// Session implements ports.Sessions.
func (s sessions) Session(ctx context.Context, key string) (ports.SessionRow, error) {
	var r sessionRow
	err := s.db.read(ctx, func(t tx) (err error) {
		if r, err = readSession(ctx, t, key, ``); err == nil {
			r.Pending, err = waitingEvents(ctx, t, key)
		}
		return err
	})
	if err != nil {
		return ports.SessionRow{}, err
	}
	return r.SessionRow, nil
}

// Speak implements ports.Sessions.
func (s sessions) Speak(ctx context.Context, e ports.SessionEvent, settings ports.SessionSettings) (said ports.Spoken, err error) {
	select {
	case s.speaking <- struct{}{}:
		defer func() { <-s.speaking }()
	case <-ctx.Done():
		return ports.Spoken{}, fmt.Errorf("wait to store an event about %s: %w", e.Target.Key(), ctx.Err())
	}
	err = s.db.write(ctx, func(t tx) (err error) {
		said, err = s.speak(ctx, t, e, settings)
		return err
	})
	if err != nil {
		return ports.Spoken{}, fmt.Errorf("store an event about %s: %w", e.Target.Key(), err)
	}
	return said, nil
}

// speak stores an event. If it returns ErrManyEvents or ErrTargetClosed, it has changed at most what is
// known about the target.
func (s *core) speak(ctx context.Context, t tx, e ports.SessionEvent, settings ports.SessionSettings) (said ports.Spoken, err error) {
	switch {
	case e.ID == "":
		return said, errors.New("the event has no id")
	case e.Target.Kind != ports.TargetPull:
		return said, errors.New("events are about pull requests only")
	}
	if err := installed(ctx, t, e.Target.Installation); err != nil {
		return said, err
	}
	// Only an ask for a review may move the head. The review reads a head that is unknown.
	g, key := e.Target.At(""), e.Target.Key()
	g.BaseSHA, g.HeadRef = "", ""
	if err := remember(ctx, t, g); err != nil {
		return said, err
	}
	_, open, err := lockPull(ctx, t, key)
	if err != nil {
		return said, err
	}
	r, err := lockSession(ctx, t, key)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return said, err
	}
	if said, err = known(ctx, t, e, r.Cycle.Number+1); err != nil || said.Known {
		return said, err
	}
	if !open {
		return said, ports.ErrTargetClosed
	}
	waiting, err := waitingEvents(ctx, t, key)
	if err != nil {
		return said, err
	}
	if waiting >= ports.MaxSessionWaiting && e.Kind != pipeline.TriggerPerson { // people's commands have a limit of their own
		return said, ports.ErrManyEvents
	}
	now := s.Now()
	if said, err = addEvent(ctx, t, e, r.Cycle.Number+1, now); err != nil || said.Known {
		return said, err
	}
	r.focusAreas, r.maxWords = settings.FocusAreas, settings.MaxWords
	if e.Agent != "" {
		r.SpokeAt, r.FallbackAt = now, after(now, settings.Fallback)
	}
	switch {
	case r.UnderReview():
	case settings.Join == 0:
		if _, err := r.gather(ctx, t, now); err != nil {
			return said, err
		}
		if _, err := r.await(ctx, t); err != nil {
			return said, err
		}
	case r.GatherAt.IsZero():
		r.GatherAt = now.Add(settings.Join)
	}
	return said, r.save(ctx, t)
}

// after returns the time after a while, or the zero time for 0.
func after(now time.Time, d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return now.Add(d)
}

// addEvent stores an event that waits for the cycle next. Another transaction may have stored it
// about another pull request since known looked.
func addEvent(ctx context.Context, t tx, e ports.SessionEvent, next int, now time.Time) (ports.Spoken, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return ports.Spoken{}, fmt.Errorf("encode the event: %w", err)
	}
	n, err := t.exec(ctx, `INSERT INTO session_events (repo_id, agent, event_id, target_key, cycle, body, at) VALUES (?, ?, ?, ?, 0, ?, ?)
		ON CONFLICT (repo_id, agent, event_id) DO NOTHING`, e.Target.RepoID, e.Agent, e.ID, e.Target.Key(), string(body), micros(now))
	switch {
	case err != nil:
		return ports.Spoken{}, err
	case n == 0:
		return known(ctx, t, e, next)
	}
	return ports.Spoken{Cycle: next}, nil
}

// known reports whether an event is stored already. next is the cycle that waiting events are for.
func known(ctx context.Context, t tx, e ports.SessionEvent, next int) (said ports.Spoken, err error) {
	var key, body string
	err = t.row(ctx, `SELECT target_key, cycle, body FROM session_events WHERE repo_id = ? AND agent = ? AND event_id = ?`, e.Target.RepoID, e.Agent, e.ID).
		Scan(&key, &said.Cycle, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ports.Spoken{}, nil
	case err != nil:
		return ports.Spoken{}, fmt.Errorf("look for the event: %w", err)
	}
	var stored ports.SessionEvent
	if err := json.Unmarshal([]byte(body), &stored); err != nil {
		return ports.Spoken{}, fmt.Errorf("decode the event: %w", err)
	}
	if key != e.Target.Key() || stored.Kind != e.Kind || stored.Summary != e.Summary {
		return ports.Spoken{}, ports.ErrOtherEvent
	}
	if said.Cycle == 0 {
		said.Cycle = next
	}
	said.Known = true
	return said, nil
}

// applySession stores what a command changes in the session of its target.
func (s commands) applySession(ctx context.Context, t tx, key string, e ports.Effect) error {
	if e.ResumeSession != nil {
		if _, _, err := lockPull(ctx, t, key); err != nil {
			return err
		}
		resumed, err := encodeText(e.ResumeSession)
		if err != nil {
			return err
		}
		if err := must(t.exec(ctx, `UPDATE sessions SET resumes = resumes + 1, resumed = ? WHERE target_key = ?`, resumed, key)); err != nil {
			return fmt.Errorf("resume the session: %w", err)
		}
	}
	if e.Event == nil {
		return nil
	}
	_, err := s.speak(ctx, t, *e.Event, e.SessionSettings)
	if errors.Is(err, ports.ErrManyEvents) || errors.Is(err, ports.ErrTargetClosed) {
		return nil
	}
	return wrap(err, "store the event")
}
