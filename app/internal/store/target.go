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

// raised is the result of raising a target's generation.
type raised struct {
	wanted    int64
	headMoved bool
}

// remember stores a target. If the target is known, it updates what the ask knows of it.
func remember(ctx context.Context, t tx, g ports.Target) error {
	_, err := insertTarget(ctx, t, g, `DO UPDATE SET
		installation = excluded.installation, owner = excluded.owner, name = excluded.name,
		head_sha = CASE WHEN excluded.head_sha <> '' THEN excluded.head_sha ELSE targets.head_sha END,
		base_sha = CASE WHEN excluded.base_sha <> '' THEN excluded.base_sha ELSE targets.base_sha END,
		head_ref = CASE WHEN excluded.head_ref <> '' THEN excluded.head_ref ELSE targets.head_ref END`)
	return err
}

func insertTarget(ctx context.Context, t tx, g ports.Target, orElse string) (affected int64, err error) {
	n, err := t.exec(ctx, `
		INSERT INTO targets (key, kind, installation, repo_id, owner, name, number, head_sha, base_sha, head_ref)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) `+orElse,
		g.Key(), string(g.Kind), g.Installation, g.RepoID, g.Owner, g.Name, g.Number, g.HeadSHA, g.BaseSHA, g.HeadRef)
	return n, wrap(err, "store the target")
}

// raise asks for one more generation of a target. It inserts a job unless one is
// about to see the ask. An ask also marks the target as open. If the target was
// closed since, the run finds out when it reads the pull request.
func (s *core) raise(ctx context.Context, t tx, ask ports.ReviewAsk) (raised, error) {
	key := ask.Target.Key()
	was, err := s.lockTarget(ctx, t, ask.Target)
	if err != nil {
		return raised{}, err
	}
	if at := micros(ask.At); at != 0 && (at < was.headAt || at == was.headAt && ask.Before != was.head) {
		ask.Target.HeadSHA = "" // old news
	}
	rerun, err := was.rerunWith(ask)
	if err != nil {
		return raised{}, fmt.Errorf("merge how much of %s to redo: %w", key, err)
	}
	if err := remember(ctx, t, ask.Target); err != nil {
		return raised{}, err
	}
	if err := learn(ctx, t, ask.Target, reopened(ask)); err != nil {
		return raised{}, err
	}
	r := raised{headMoved: was.head != "" && ask.Target.HeadSHA != "" && was.head != ask.Target.HeadSHA}
	if r.headMoved {
		if err := s.askOthers(ctx, t, ask.Target.RepoID, was.head, key); err != nil {
			return raised{}, err
		}
	}
	err = t.row(ctx, `
		UPDATE targets SET wanted = wanted + 1, reason = ?, rerun = ?, closed = 0, merged = -1, attempts = 0, failed_since = 0, retry_at = 0,
			next_try = CASE WHEN ? = 1 THEN 0 ELSE next_try END,
			author = CASE WHEN ? <> 0 THEN ? ELSE author END,
			head_at = CASE WHEN head_at < ? THEN ? ELSE head_at END,
			fresh_generation = CASE WHEN ? = 1 THEN wanted + 1 ELSE fresh_generation END,
			asked_at = CASE WHEN wanted > done AND (awaited = 1 OR ? = 1) THEN asked_at ELSE ? END,
			awaited = CASE WHEN ? = 1 AND (wanted = done OR awaited = 0) THEN 0 ELSE 1 END
		WHERE key = ? RETURNING wanted`,
		ask.Reason, rerun, number(ask.AtOnce), ask.Author, ask.Author, micros(ask.At), micros(ask.At), number(ask.Fresh), number(ask.Low), s.now(), number(ask.Low), key).Scan(&r.wanted)
	if err != nil {
		return raised{}, fmt.Errorf("raise the target's generation: %w", err)
	}
	switch {
	case was.covered && (ask.Low || was.line == jobInOrder):
	case ask.Low:
		err = s.insertLateJob(ctx, t, key, jobLow)
	default:
		err = s.insertJobInTurn(ctx, t, key, was)
	}
	return r, err
}

// before is the state of a target before an ask. It is the zero value for a new target.
type before struct {
	head    string
	headAt  int64 // the time of the event that reported the head
	covered bool  // a job that is due, or the holder of the lease, will see the ask
	pending bool  // a wanted generation is not done
	gaveUp  bool  // the last generation was given up
	line    int   // the place in line of its newest job: see jobInOrder
	rerun   string
}

// rerunWith returns how much is done again after the ask, in its stored form.
// It includes what earlier asks wanted done again if they are pending or were given
// up. A decision by hand does not wait again for what was given up.
func (b before) rerunWith(ask ports.ReviewAsk) (string, error) {
	asked := ask.Rerun
	if b.pending || b.gaveUp && !ask.ByHand {
		was, err := decodeRerun(b.rerun)
		if err != nil {
			return "", err
		}
		asked = was.And(asked)
	}
	asked = asked.Simple()
	if !asked.Full && !asked.Decide && asked.Agents == nil {
		return "", nil
	}
	text, err := json.Marshal(asked)
	return string(text), err
}

func decodeRerun(text string) (r ports.Rerun, err error) {
	if text == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("decode how much to redo: %w", err)
	}
	return r, nil
}

// lockTarget returns the state of a target before an ask, and locks the target
// until the transaction ends.
func (s *core) lockTarget(ctx context.Context, t tx, g ports.Target) (b before, err error) {
	look := func() error {
		return t.row(ctx, `SELECT head_sha, head_at, wanted > done AND attempts = 0 AND retry_at = 0 AND next_try = 0, wanted > done, gave_up = 1, job_low, rerun FROM targets WHERE key = ?`+t.lock(), g.Key()).
			Scan(&b.head, &b.headAt, &b.covered, &b.pending, &b.gaveUp, &b.line, &b.rerun)
	}
	err = look()
	if errors.Is(err, sql.ErrNoRows) {
		// If two first asks come at once, the second waits here for the first,
		// and must then read what the first stored.
		var inserted int64
		if inserted, err = insertTarget(ctx, t, g, `DO NOTHING`); err == nil && inserted == 0 {
			err = look()
		}
	}
	return b, wrap(err, "read the target")
}

// insertTargetJob inserts a new job for a target.
func (s *core) insertTargetJob(ctx context.Context, t tx, key string, kind ports.JobKind) error {
	return s.insertJobInLine(ctx, t, key, kind, jobInOrder)
}

// insertLateJob inserts a review job that lets others go first. The next ask that need
// not wait inserts a job in order.
func (s *core) insertLateJob(ctx context.Context, t tx, key string, line int) error {
	return s.insertJobInLine(ctx, t, key, ports.JobReview, line)
}

func (s *core) insertJobInLine(ctx context.Context, t tx, key string, kind ports.JobKind, line int) error {
	var seq int64
	err := t.row(ctx, `UPDATE targets SET job_seq = job_seq + 1, job_kind = ?, job_low = ?, job_checked_at = ? WHERE key = ? RETURNING job_seq`,
		string(kind), line, s.now(), key).Scan(&seq)
	if err != nil {
		return fmt.Errorf("number the job of %s: %w", key, notFound(err))
	}
	_, err = t.insertJob(ctx, targetJob(kind, key, seq, line))
	return err
}

// Ask implements ports.Store. It stores nothing for an installation that is gone:
// the caller may have begun before that.
func (s intake) Ask(ctx context.Context, ask ports.ReviewAsk) error {
	return s.db.write(ctx, func(t tx) error {
		if gone, err := installationGone(ctx, t, ask.Target.Installation); err != nil || gone {
			return err
		}
		if ask.Once != "" {
			n, err := t.exec(ctx, `INSERT INTO marks (name, at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, "asked "+ask.Once, s.now())
			if err != nil {
				return fmt.Errorf("record the ask: %w", err)
			}
			if n == 0 {
				return nil
			}
		}
		if ask.Asked != nil {
			if since, err := s.askedSince(ctx, t, ask); err != nil || since {
				return err
			}
		}
		_, err := s.raise(ctx, t, ask)
		return err
	})
}

// askedSince reports whether the target's generation differs from the one that the
// ask knows. It locks the target until the transaction ends.
func (s intake) askedSince(ctx context.Context, t tx, ask ports.ReviewAsk) (bool, error) {
	if _, err := s.lockTarget(ctx, t, ask.Target); err != nil {
		return false, err
	}
	var wanted int64
	if err := t.row(ctx, `SELECT wanted FROM targets WHERE key = ?`, ask.Target.Key()).Scan(&wanted); err != nil {
		return false, fmt.Errorf("read the target's generation: %w", err)
	}
	return wanted != *ask.Asked, nil
}

const targetColumns = `kind, installation, repo_id, owner, name, number, head_sha, base_sha, head_ref`

func targetDest(g *ports.Target) []any {
	return []any{&g.Kind, &g.Installation, &g.RepoID, &g.Owner, &g.Name, &g.Number, &g.HeadSHA, &g.BaseSHA, &g.HeadRef}
}

// Target implements ports.Store.
func (s targets) Target(ctx context.Context, key string) (ports.TargetState, error) {
	var st ports.TargetState
	var failed, asked, since, next, gaveUp int64
	var rerun, notices, written, scans, loop string
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `
			SELECT `+targetColumns+`, wanted, done, author, reason, rerun, fresh_generation > done, closed = 1, gave_up = 1, gave_up_at, attempts, crashes, failed_since, asked_at, notice, notices_said, result, overdue_generation, overdue_attempts, scans, fix_loop, fix_resumes, deaths, quarantined_at, next_try
			FROM targets WHERE key = ?`, key).
			Scan(append(targetDest(&st.Target), &st.Wanted, &st.Done, &st.Author, &st.Reason, &rerun, &st.Fresh, &st.Closed, &st.GaveUp, &gaveUp, &st.Attempts, &st.Crashes, &failed, &asked, &notices, &written, &st.Result, &st.Overdue.Generation, &st.Overdue.Attempts, &scans, &loop, &st.Resumes, &st.Quarantine.Deaths, &since, &next)...)
	})
	if err == nil {
		st.Rerun, err = decodeRerun(rerun)
	}
	if err == nil {
		err = decodeText(scans, &st.Scans)
	}
	if err == nil {
		err = decodeText(loop, &st.FixLoop)
	}
	if err == nil {
		err = s.readNotices(&st, notices, written)
	}
	if err != nil {
		return ports.TargetState{}, fmt.Errorf("read target %s: %w", key, notFound(err))
	}
	st.Quarantine.Since, st.Quarantine.Next = fromMicros(since), fromMicros(next)
	if failed != 0 {
		st.FailedSince = fromMicros(failed)
	}
	if st.GaveUp && gaveUp != 0 {
		st.GaveUpAt = fromMicros(gaveUp)
	}
	if st.Wanted > st.Done {
		st.AskedAt = fromMicros(asked)
	}
	return st, nil
}

// TargetsOnHead implements ports.Store.
func (s targets) TargetsOnHead(ctx context.Context, repoID int64, headSHA string) ([]ports.Target, error) {
	all, err := s.targets(ctx, `SELECT `+targetColumns+` FROM targets
		WHERE repo_id = ? AND head_sha = ? AND kind = ? AND closed = 0 ORDER BY number`, repoID, headSHA, string(ports.TargetPull))
	return all, wrap(err, "list the targets on head %s", headSHA)
}

// Unanswered implements ports.Store.
func (s recovery) Unanswered(ctx context.Context, installation int64) ([]ports.Target, error) {
	all, err := s.targets(ctx, `SELECT `+targetColumns+` FROM targets
		WHERE installation = ? AND closed = 0 AND wanted = done AND gave_up = 1 AND result <> '' ORDER BY key`, installation)
	return all, wrap(err, "list the refused targets of installation %d", installation)
}

// targets returns the rows of a query for targetColumns.
func (s *core) targets(ctx context.Context, query string, args ...any) (all []ports.Target, err error) {
	err = s.db.read(ctx, func(t tx) error {
		all, err = scanTargets(ctx, t, query, args...)
		return err
	})
	return all, err
}

func scanTargets(ctx context.Context, t tx, query string, args ...any) ([]ports.Target, error) {
	return list(ctx, t, readTarget, query, args...)
}

func readTarget(row scanner) (g ports.Target, err error) {
	err = row.Scan(targetDest(&g)...)
	return g, err
}

// SetHead implements ports.Store.
func (s targets) SetHead(ctx context.Context, key, headSHA string) error {
	return s.leave(ctx, "set the head", key, func(ctx context.Context, t tx) error {
		return must(t.exec(ctx, `UPDATE targets SET head_sha = ? WHERE key = ?`, headSHA, key))
	})
}

// SetReadsLabels implements ports.Store.
func (s targets) SetReadsLabels(ctx context.Context, key string, reads pipeline.LabelsRead) error {
	return s.change(ctx, "note which labels matter", `UPDATE targets SET reads_labels = ? WHERE key = ?`, int(reads), key)
}

// SetClosed implements ports.Store.
func (s targets) SetClosed(ctx context.Context, c ports.Close) error {
	key := c.Target.Key()
	return s.leave(ctx, "note that the target is closed", key, func(ctx context.Context, t tx) error {
		read := c
		read.At = time.Time{} // a read is newer than any event
		if _, err := s.closeTarget(ctx, t, read); err != nil {
			return err
		}
		return learn(ctx, t, c.Target, s.ended(c))
	})
}

// leave runs a change after which the target may no longer be on its head. If it is
// not, leave asks for reviews of the other targets on that head in the same
// transaction: their common check may have waited for this target, or may show its
// decision.
func (s targets) leave(ctx context.Context, what, key string, change func(context.Context, tx) error) error {
	return s.db.write(ctx, func(t tx) error {
		var repoID int64
		var head string
		err := t.row(ctx, `SELECT repo_id, head_sha FROM targets WHERE key = ?`+t.lock(), key).Scan(&repoID, &head)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", what, key, notFound(err))
		}
		if err := change(ctx, t); err != nil {
			return fmt.Errorf("%s of %s: %w", what, key, err)
		}
		var stays bool
		if err := t.row(ctx, `SELECT head_sha = ? AND closed = 0 FROM targets WHERE key = ?`, head, key).Scan(&stays); err != nil {
			return fmt.Errorf("%s of %s: %w", what, key, err)
		}
		if stays {
			return nil
		}
		return s.askOthers(ctx, t, repoID, head, key)
	})
}

// askOthers asks for a review of the other open pull requests on a head that
// the target left. A review with the same result writes nothing to GitHub. Other work
// goes first, so that a person who opens many pull requests on one head can't fill the
// queue. The query locks the others: if one of them is leaving the head too, it is not
// asked for with its old head.
func (s *core) askOthers(ctx context.Context, t tx, repoID int64, head, key string) error {
	if head == "" {
		return nil
	}
	others, err := scanTargets(ctx, t, `SELECT `+targetColumns+` FROM targets
		WHERE repo_id = ? AND head_sha = ? AND kind = ? AND closed = 0 AND key <> ? ORDER BY number`+t.lock(), repoID, head, string(ports.TargetPull), key)
	if err != nil {
		return fmt.Errorf("list the other targets on head %s: %w", head, err)
	}
	for _, o := range others {
		if _, err := s.raise(ctx, t, ports.ReviewAsk{Target: o, Reason: "another pull request left this head", Low: true}); err != nil {
			return err
		}
	}
	return nil
}

// SetResult implements ports.Store.
func (s targets) SetResult(ctx context.Context, key, result string) error {
	return s.change(ctx, "keep how the review ended", `UPDATE targets SET result = ?, overdue_generation = 0, overdue_attempts = 0 WHERE key = ?`, result, key)
}

// SetOverdue implements ports.Store.
func (s targets) SetOverdue(ctx context.Context, key string, o ports.Overdue) error {
	return s.change(ctx, "note that the generation is overdue", `UPDATE targets SET overdue_generation = ?, overdue_attempts = ? WHERE key = ?`, o.Generation, o.Attempts, key)
}

// change runs one statement. It returns ErrNotFound if the statement found no row.
func (s *core) change(ctx context.Context, what, query string, args ...any) error {
	return s.db.write(ctx, func(t tx) error {
		return wrap(must(t.exec(ctx, query, args...)), "%s", what)
	})
}

// must turns a statement that found no row into ErrNotFound.
func must(affected int64, err error) error {
	if err == nil && affected == 0 {
		return ports.ErrNotFound
	}
	return err
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ports.ErrNotFound
	}
	return err
}

// number returns the stored form of a bool.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
