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

const requestColumns = `id, kind, target_key, cycle, head_sha, agent, body, verdict, asked_at, deadline, state`

// selectRequests reads requests. listRequests reads them without their bodies, which may be large.
const (
	selectRequests = selectUntilBody + `body` + selectAfterBody
	listRequests   = selectUntilBody + `NULL` + selectAfterBody

	selectUntilBody = `SELECT id, kind, target_key, cycle, head_sha, agent, `
	selectAfterBody = `, verdict = 1, asked_at, deadline, state, note, answer, digest, late = 1, outdated = 1 FROM session_requests `
)

func scanRequest(row scanner) (q ports.SessionRequest, err error) {
	var asked, deadline int64
	var answer string
	err = row.Scan(&q.ID, &q.Kind, &q.Key, &q.Cycle, &q.HeadSHA, &q.Agent, &q.Body, &q.Session, &asked, &deadline, &q.State, &q.Note, &answer, &q.Digest, &q.Late, &q.Outdated)
	if err != nil {
		return q, err
	}
	q.AskedAt, q.Deadline = fromMicros(asked), fromMicros(deadline)
	if answer == "" {
		return q, nil
	}
	q.Answer = new(pipeline.SessionAnswer)
	return q, wrap(json.Unmarshal([]byte(answer), q.Answer), "decode the answer to request %s", q.ID)
}

// addRequest stores a request with the job that sends it, unless it is stored already. With Again, it
// reopens a request that failed without an answer.
func (s *core) addRequest(ctx context.Context, t tx, q ports.SessionRequest) (added bool, err error) {
	if q.ID == "" || q.Kind == "" {
		return false, errors.New("store a request: it has no id, or no kind")
	}
	asked := micros(q.AskedAt)
	if asked == 0 {
		asked = s.now()
	}
	body := q.Body
	if body == nil {
		body = []byte{}
	}
	n, err := t.exec(ctx, `INSERT INTO session_requests (`+requestColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		q.ID, string(q.Kind), q.Key, q.Cycle, q.HeadSHA, q.Agent, body, number(q.Session), asked, micros(q.Deadline), string(ports.RequestOpen))
	if err != nil {
		return false, fmt.Errorf("store request %s: %w", q.ID, err)
	}
	job := ports.RequestJob{ID: q.ID}
	if n == 0 {
		if !q.Again {
			return false, nil
		}
		if job, err = reopen(ctx, t, q, asked); err != nil || job.ID == "" {
			return false, err
		}
	}
	_, err = t.insertJob(ctx, ports.NewJob(ports.JobRequest, job))
	return true, err
}

// reopen reopens the stored request for the same review if that failed without an answer. It returns the
// job that sends the request again, or the zero value. The earlier job may still be ending, so this one
// differs from it.
func reopen(ctx context.Context, t tx, q ports.SessionRequest, asked int64) (job ports.RequestJob, err error) {
	err = t.row(ctx, `UPDATE session_requests SET state = ?, note = '', asked_at = ?, deadline = ?
		WHERE target_key = ? AND cycle = ? AND head_sha = ? AND agent = ? AND kind = ? AND state = ? AND answer = '' RETURNING id`,
		string(ports.RequestOpen), asked, micros(q.Deadline), q.Key, q.Cycle, q.HeadSHA, q.Agent, string(ports.RequestReview), string(ports.RequestFailed)).Scan(&job.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ports.RequestJob{}, nil
	case err != nil:
		return ports.RequestJob{}, fmt.Errorf("reopen the request to %s: %w", q.Agent, err)
	}
	job.Asked = asked
	return job, nil
}

// AskReviewers implements ports.Sessions.
func (s sessions) AskReviewers(ctx context.Context, l ports.Lease, cycle int, headSHA string, deadline time.Time, requests []ports.SessionRequest) (all []ports.SessionRequest, err error) {
	var inCycle, outside []ports.SessionRequest
	for _, q := range requests {
		switch {
		case q.Key != l.Key || q.HeadSHA != headSHA || q.Cycle != 0 && q.Cycle != cycle:
			return nil, fmt.Errorf("ask %s: the request is about head %s of %s in cycle %d, but the run about head %s of %s in cycle %d", q.Agent, q.HeadSHA, q.Key, q.Cycle, headSHA, l.Key, cycle)
		case q.Cycle != 0:
			inCycle = append(inCycle, q)
		default:
			outside = append(outside, q)
		}
	}
	err = s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		g, _, err := lockPull(ctx, t, l.Key)
		if err == nil && g.HeadSHA == "" { // no delivery has named it yet, and answers are compared with it
			_, err = t.exec(ctx, `UPDATE targets SET head_sha = ? WHERE key = ?`, headSHA, l.Key)
		}
		if err != nil {
			return err
		}
		r, err := lockSession(ctx, t, l.Key)
		none := errors.Is(err, ports.ErrNotFound)
		if err != nil && !none {
			return err
		}
		if _, err := s.addRequests(ctx, t, outside); err != nil {
			return err
		}
		if cycle != 0 && r.Running && r.Cycle.Number == cycle {
			if err := s.askInCycle(ctx, t, &r, headSHA, deadline, inCycle); err != nil {
				return err
			}
		} else if _, err := r.await(ctx, t); err != nil {
			return err
		}
		if !none || !r.deadlineAt.IsZero() {
			if err := r.save(ctx, t); err != nil {
				return err
			}
		}
		listed := cycle
		if cycle == 0 && r.HeadSHA == headSHA {
			listed = r.Cycle.Number
		}
		all, err = list(ctx, t, scanRequest, listRequests+`WHERE target_key = ? AND head_sha = ? AND kind = ? AND cycle IN (?, 0) ORDER BY cycle, agent, id`,
			l.Key, headSHA, string(ports.RequestReview), listed)
		return wrap(err, "list the requests to reviewers of %s", l.Key)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// askInCycle stores the requests of the running cycle about a head. Reviewers who are asked again about
// the same head keep their deadline. Reviewers who are asked later have their own.
func (s sessions) askInCycle(ctx context.Context, t tx, r *sessionRow, headSHA string, deadline time.Time, requests []ports.SessionRequest) error {
	added, err := s.addRequests(ctx, t, requests)
	if err != nil {
		return err
	}
	r.Stalled = false
	inCycle, err := r.await(ctx, t)
	switch {
	case err != nil:
		return err
	case r.HeadSHA != headSHA:
		r.HeadSHA, r.Cycle.Deadline = headSHA, fromMicros(micros(deadline))
	case added && !inCycle.IsZero():
		r.Cycle.Deadline = inCycle
	}
	return nil
}

// addRequests stores requests, and reports whether any of them is new or reopened.
func (s *core) addRequests(ctx context.Context, t tx, requests []ports.SessionRequest) (added bool, err error) {
	for _, q := range requests {
		one, err := s.addRequest(ctx, t, q)
		if err != nil {
			return false, err
		}
		added = added || one
	}
	return added, nil
}

// await sets when Fire must look at the target's open requests: at the earliest deadline of those about
// the newest head, in the newest cycle or outside of sessions. A closed target waits for nobody. await
// also returns the earliest deadline in the newest cycle. A time is zero if there is no such deadline.
func (r *sessionRow) await(ctx context.Context, t tx) (inCycle time.Time, err error) {
	var next, ofCycle int64
	err = t.row(ctx, `SELECT coalesce(min(q.deadline), 0), coalesce(min(CASE WHEN q.cycle > 0 THEN q.deadline END), 0)
		FROM session_requests q JOIN targets t ON t.key = q.target_key AND t.head_sha = q.head_sha AND t.closed = 0
		WHERE q.target_key = ? AND q.cycle IN (0, ?) AND q.kind = ? AND q.state = ? AND q.deadline > 0`,
		r.Key, r.Cycle.Number, string(ports.RequestReview), string(ports.RequestOpen)).Scan(&next, &ofCycle)
	if err != nil {
		return time.Time{}, fmt.Errorf("look for the reviewers' next deadline: %w", err)
	}
	r.deadlineAt = fromMicros(next)
	return fromMicros(ofCycle), nil
}

// failOverdue ends the overdue requests about a head, in a session's newest cycle and outside of
// sessions, and reports whether there were any. So a review that decides need not compare deadlines
// with its own clock, which may differ.
func failOverdue(ctx context.Context, t tx, r *sessionRow, headSHA string, now time.Time) (failed bool, err error) {
	n, err := t.exec(ctx, `UPDATE session_requests SET state = ?, note = ?
		WHERE target_key = ? AND head_sha = ? AND cycle IN (0, ?) AND kind = ? AND state = ? AND deadline > 0 AND deadline <= ?`,
		string(ports.RequestFailed), "did not answer in time", r.Key, headSHA, r.Cycle.Number, string(ports.RequestReview), string(ports.RequestOpen), micros(now))
	return n > 0, wrap(err, "end the overdue requests")
}

// Requests implements ports.Sessions.
func (s sessions) Requests(ctx context.Context, key string, limit int) ([]ports.SessionRequest, error) {
	return listNow(ctx, s.db, "list the requests to reviewers of "+key, scanRequest,
		listRequests+`WHERE target_key = ? AND kind = ? ORDER BY asked_at DESC, cycle DESC, agent, id LIMIT ?`, key, string(ports.RequestReview), limit)
}

// Request implements ports.Sessions.
func (s sessions) Request(ctx context.Context, id string) (q ports.SessionRequest, err error) {
	err = s.db.read(ctx, func(t tx) (err error) {
		q, err = scanRequest(t.row(ctx, selectRequests+`WHERE id = ?`, id))
		return err
	})
	if err != nil {
		return ports.SessionRequest{}, fmt.Errorf("read request %s: %w", id, notFound(err))
	}
	return q, nil
}

// EndRequest implements ports.Sessions. A request for a review that was sent stays open: it waits for
// its answer.
func (s sessions) EndRequest(ctx context.Context, id string, done bool, note string) error {
	err := s.db.write(ctx, func(t tx) error {
		q, err := lockRequest(ctx, t, id)
		switch {
		case err != nil:
			return err
		case q.State != ports.RequestOpen || done && q.Kind == ports.RequestReview:
			return nil
		}
		state := ports.RequestFailed
		if done {
			state = ports.RequestAnswered
		}
		if _, err := t.exec(ctx, `UPDATE session_requests SET state = ?, note = ? WHERE id = ?`, string(state), note, id); err != nil {
			return err
		}
		if q.Kind != ports.RequestReview || !q.matters() {
			return nil
		}
		if err := q.awaitRest(ctx, t); err != nil {
			return err
		}
		return s.askWhenComplete(ctx, t, q, q.Agent+" can't answer")
	})
	return wrap(err, "end request %s", id)
}

// Answer implements ports.Sessions.
func (s sessions) Answer(ctx context.Context, a ports.RequestAnswer) (outcome ports.AnswerOutcome, err error) {
	answer, err := json.Marshal(a.Answer)
	if err != nil {
		return "", fmt.Errorf("encode the answer to request %s: %w", a.ID, err)
	}
	err = s.db.write(ctx, func(t tx) (err error) {
		outcome, err = s.answer(ctx, t, a, answer)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("store the answer to request %s: %w", a.ID, err)
	}
	return outcome, nil
}

func (s sessions) answer(ctx context.Context, t tx, a ports.RequestAnswer, answer []byte) (ports.AnswerOutcome, error) {
	if a.Signature != "" { // before rows are locked, so that two requests never get one signature
		if err := t.alone(ctx, "signature "+a.Signature); err != nil {
			return "", err
		}
	}
	q, err := lockRequest(ctx, t, a.ID)
	if err != nil {
		return "", err
	}
	var replayed bool
	err = t.row(ctx, `SELECT EXISTS (SELECT 1 FROM session_requests WHERE signature = ? AND signature <> '' AND id <> ?)`, a.Signature, a.ID).Scan(&replayed)
	switch {
	case err != nil:
		return "", err
	case q.Kind != ports.RequestReview:
		return "", fmt.Errorf("a %s has no answer: %w", q.Kind, ports.ErrNotFound)
	case replayed:
		return ports.AnswerReplayed, nil
	case q.Answer != nil && q.Digest == a.Digest:
		return ports.AnswerKnown, nil
	case q.Answer != nil:
		return ports.AnswerConflict, nil
	}
	late := q.late(s.Now())
	_, err = t.exec(ctx, `UPDATE session_requests SET state = ?, note = '', answer = ?, digest = ?, signature = ?, late = ?, outdated = ? WHERE id = ?`,
		string(ports.RequestAnswered), string(answer), a.Digest, a.Signature, number(late), number(!q.current), a.ID)
	if err != nil || !q.matters() {
		return ports.AnswerStored, err
	}
	if err := q.awaitRest(ctx, t); err != nil {
		return "", err
	}
	reason := q.Agent + " answered"
	if late || a.Answer.Verdict == pipeline.SessionBlocker {
		return ports.AnswerStored, s.askDecision(ctx, t, q.target, reason)
	}
	return ports.AnswerStored, s.askWhenComplete(ctx, t, q, reason)
}

// lockedRequest is a request with what it belongs to, all of which are locked.
type lockedRequest struct {
	ports.SessionRequest
	target  ports.Target
	open    bool       // the target may be reviewed
	session sessionRow // has only its key if there is no session
	// current says that the request is about the newest head and, if it belongs to a cycle, that this
	// is the newest one.
	current bool
}

// matters reports whether a review would take the answer into account.
func (q *lockedRequest) matters() bool { return q.open && q.current }

func (q *lockedRequest) late(now time.Time) bool {
	return !q.Deadline.IsZero() && now.After(q.Deadline)
}

// awaitRest stores the next deadline of the reviewers who have not answered.
func (q *lockedRequest) awaitRest(ctx context.Context, t tx) error {
	was := q.session.deadlineAt
	if _, err := q.session.await(ctx, t); err != nil || was.Equal(q.session.deadlineAt) {
		return err
	}
	return q.session.save(ctx, t)
}

func lockRequest(ctx context.Context, t tx, id string) (q *lockedRequest, err error) {
	var key string
	if err := t.row(ctx, `SELECT target_key FROM session_requests WHERE id = ?`, id).Scan(&key); err != nil {
		return nil, notFound(err)
	}
	q = &lockedRequest{}
	if q.target, q.open, err = lockPull(ctx, t, key); err != nil {
		return nil, err
	}
	if q.session, err = lockSession(ctx, t, key); err != nil && !errors.Is(err, ports.ErrNotFound) {
		return nil, err
	}
	if q.SessionRequest, err = scanRequest(t.row(ctx, selectRequests+`WHERE id = ?`+t.lock(), id)); err != nil {
		return nil, notFound(err)
	}
	q.current = q.HeadSHA == q.target.HeadSHA && (q.Cycle == 0 || q.Cycle == q.session.Cycle.Number)
	return q, nil
}

// askWhenComplete asks for the review that reads the answers to a request and to the others of its cycle
// and head, unless one of these is still open. Once that one is overdue, Fire asks for the review.
func (s sessions) askWhenComplete(ctx context.Context, t tx, q *lockedRequest, reason string) error {
	var awaited bool
	err := t.row(ctx, `SELECT EXISTS (SELECT 1 FROM session_requests
		WHERE target_key = ? AND cycle = ? AND head_sha = ? AND kind = ? AND id <> ? AND state = ?)`,
		q.Key, q.Cycle, q.HeadSHA, string(ports.RequestReview), q.ID, string(ports.RequestOpen)).Scan(&awaited)
	if err != nil || awaited {
		return err
	}
	return s.askDecision(ctx, t, q.target, reason)
}

// askDecision asks for a review that only decides again.
func (s sessions) askDecision(ctx context.Context, t tx, g ports.Target, reason string) error {
	_, err := s.raise(ctx, t, ports.ReviewAsk{Target: g, Reason: reason, Rerun: ports.Rerun{Decide: true}})
	return err
}
