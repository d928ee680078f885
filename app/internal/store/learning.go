package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// learn adds an entry to the log of a target. An event that the log has already changes nothing. A
// merge group has no log: the pull requests in it have theirs.
func learn(ctx context.Context, t tx, g ports.Target, e *learning.Entry) error {
	if e == nil || g.Kind == ports.TargetGroup {
		return nil
	}
	if e.Event == "" || e.At.IsZero() {
		return fmt.Errorf("add to the log of %s: an entry needs an event and a time", g.Key())
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("add to the log of %s: %w", g.Key(), err)
	}
	return wrap(addEntry(ctx, t, g.Key(), g.RepoID, e, body), "add to the log of %s", g.Key())
}

// addEntry adds an entry with its stored form.
func addEntry(ctx context.Context, t tx, key string, repoID int64, e *learning.Entry, body []byte) error {
	_, err := t.exec(ctx, `INSERT INTO learning (target_key, event, repo_id, at, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (target_key, event) DO NOTHING`,
		key, e.Event, repoID, micros(e.At), string(body))
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `
		INSERT INTO learning_logs (target_key, repo_id, repository, newest) VALUES (?, ?, ?, ?)
		ON CONFLICT (target_key) DO UPDATE SET repo_id = excluded.repo_id, repository = excluded.repository, newest = excluded.newest
		WHERE learning_logs.newest <= excluded.newest`, key, repoID, e.Repository, micros(e.At))
	return err
}

// ended returns the entry about the end of a pull request.
func (s *core) ended(c ports.Close) *learning.Entry {
	e := learning.Entry{Kind: learning.KindClosed, At: c.At, Repository: c.Target.Owner + "/" + c.Target.Name, Number: c.Target.Number}
	if c.At.IsZero() {
		e.At = s.Now()
	}
	e.Event = fmt.Sprintf("%s %d", e.Kind, e.At.Unix())
	if c.Merged { // which happens once
		e.Kind, e.Event = learning.KindMerged, string(learning.KindMerged)
	}
	return &e
}

// reopened returns the entry about a pull request that was opened again, or nil if the ask is about
// something else.
func reopened(ask ports.ReviewAsk) *learning.Entry {
	if ask.ReopenedAt.IsZero() {
		return nil
	}
	e := learning.Entry{Kind: learning.KindReopened, At: ask.ReopenedAt, Repository: ask.Target.Owner + "/" + ask.Target.Name, Number: ask.Target.Number}
	e.Event = reopenedEvent(e.At)
	return &e
}

// reopenedEvent is the event of a pull request that was opened again at a time.
func reopenedEvent(at time.Time) string {
	return fmt.Sprintf("%s %d", learning.KindReopened, at.Unix())
}

// encodeEntry returns the stored form of a review's entry. The review was saved at the time at.
func encodeEntry(e *learning.Entry, at int64) (string, error) {
	if e == nil {
		return "", nil
	}
	own := *e
	own.At = fromMicros(at)
	body, err := json.Marshal(own)
	if err != nil {
		return "", fmt.Errorf("encode its entry: %w", err)
	}
	return string(body), nil
}

// learnReview adds the entry of a review that is being published for the first time.
func learnReview(ctx context.Context, t tx, runID string) error {
	var key string
	var repoID int64
	var body []byte
	err := t.row(ctx, `SELECT target_key, repo_id, entry FROM reviews WHERE run_id = ? AND published_at = 0 AND entry <> ''`, runID).Scan(&key, &repoID, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var e struct { // a learning.Entry without its findings, which may be many
		Event      string    `json:"event"`
		At         time.Time `json:"at"`
		Repository string    `json:"repository"`
	}
	if err == nil {
		err = json.Unmarshal(body, &e)
	}
	if err == nil {
		err = addEntry(ctx, t, key, repoID, &learning.Entry{Event: e.Event, At: e.At, Repository: e.Repository}, body)
	}
	return wrap(err, "add review %s to the log", runID)
}

// learned reads logs.
type learned struct{ *core }

// Log implements ports.Learning.
func (s learned) Log(ctx context.Context, key string) ([]learning.Entry, error) {
	var decoder learning.Decoder
	return listNow(ctx, s.db, "read the log of "+key, func(row scanner) (learning.Entry, error) {
		var l logged
		if err := row.Scan(&l.repoID, &l.body); err != nil {
			return learning.Entry{}, err
		}
		return l.decode(&decoder)
	}, `SELECT repo_id, body FROM learning WHERE target_key = ? ORDER BY id`, key)
}

// logsAtOnce is how many entries are read at once. A log is read as a whole.
const logsAtOnce = 2000

// Logs implements ports.Learning. If only some repositories are chosen, it reads one after the other.
func (s learned) Logs(ctx context.Context, which ports.LogFilter) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		if which.Concerns == nil {
			s.logs(ctx, which)(yield)
			return
		}
		repos, err := s.concerned(ctx, which)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, id := range repos {
			for log, err := range s.logs(ctx, ports.LogFilter{RepoID: id, Since: which.Since}) {
				if !yield(log, err) || err != nil {
					return
				}
			}
		}
	}
}

// logs is Logs without Concerns. It reads pages in the order of the targets, so that one log is in
// memory at a time, whatever its length.
func (s learned) logs(ctx context.Context, which ports.LogFilter) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		give := func(log []learning.Entry) bool {
			return len(log) == 0 || yield(log, nil)
		}
		var log []learning.Entry
		var last logged
		var decoder learning.Decoder
		pending := s.pageAhead(ctx, which, last)
		defer func() {
			if pending != nil {
				<-pending
			}
		}()
		for pending != nil {
			page := <-pending
			pending = nil
			if page.err != nil {
				yield(nil, page.err)
				return
			}
			if n := len(page.rows); n == logsAtOnce {
				pending = s.pageAhead(ctx, which, page.rows[n-1])
			}
			for _, row := range page.rows {
				if row.key != last.key {
					if !give(log) {
						return
					}
					log = nil
				}
				last = row
				e, err := row.decode(&decoder)
				if err != nil {
					yield(nil, fmt.Errorf("read the log of %s: %w", row.key, err))
					return
				}
				log = append(log, e)
			}
		}
		give(log)
	}
}

// concerned lists the repositories that a filter chooses by their newest name, in order.
func (s learned) concerned(ctx context.Context, which ports.LogFilter) ([]int64, error) {
	type named struct {
		id   int64
		name string
	}
	all, err := listNow(ctx, s.db, "list the repositories with logs", func(row scanner) (n named, err error) {
		err = row.Scan(&n.id, &n.name)
		return n, err
	}, `SELECT repo_id, repository FROM learning_logs GROUP BY repo_id, repository ORDER BY max(newest)`)
	chosen := map[int64]bool{}
	for _, n := range all { // the newest name comes last
		chosen[n.id] = (which.RepoID == 0 || which.RepoID == n.id) && which.Concerns(n.name)
	}
	maps.DeleteFunc(chosen, func(_ int64, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(chosen)), err
}

// logged is a row of a log.
type logged struct {
	key        string
	id, repoID int64
	body       []byte
}

func (l *logged) decode(d *learning.Decoder) (learning.Entry, error) {
	e, err := d.Decode(l.body)
	e.RepositoryID = l.repoID
	return e, err
}

// logPage is a page of entries, or why it can't be read.
type logPage struct {
	rows []logged
	err  error
}

// pageAhead reads the page after an entry while the one before it is decoded: of a summary of many
// logs, both take about half of the time.
func (s learned) pageAhead(ctx context.Context, which ports.LogFilter, after logged) <-chan logPage {
	out := make(chan logPage, 1)
	go func() {
		rows, err := s.page(ctx, which, after)
		out <- logPage{rows, err}
	}()
	return out
}

// page lists the chosen entries after another one. It finds those of one repository through its logs, and
// those of all repositories in the order of an index.
func (s learned) page(ctx context.Context, which ports.LogFilter, after logged) ([]logged, error) {
	query := `SELECT l.target_key, l.id, l.repo_id, l.body FROM learning l WHERE (l.target_key, l.id) > (?, ?)`
	args := []any{after.key, after.id}
	// Not EXISTS: PostgreSQL would join all logs anew for each page.
	newer := ` AND (SELECT p.newest FROM learning_logs p WHERE p.target_key = l.target_key) >= ?`
	order := ` ORDER BY l.target_key, l.id LIMIT ?`
	if which.RepoID != 0 {
		query = `SELECT p.target_key, l.id, l.repo_id, l.body FROM learning_logs p JOIN learning l ON l.target_key = p.target_key
			WHERE p.repo_id = ? AND p.target_key >= ? AND (p.target_key > ? OR l.id > ?)`
		args = []any{which.RepoID, after.key, after.key, after.id}
		newer, order = ` AND p.newest >= ?`, ` ORDER BY p.target_key, l.id LIMIT ?`
	}
	if !which.Since.IsZero() {
		query, args = query+newer, append(args, micros(which.Since))
	}
	return listNow(ctx, s.db, "read the logs", func(row scanner) (l logged, err error) {
		err = row.Scan(&l.key, &l.id, &l.repoID, &l.body)
		return l, err
	}, query+order, append(args, logsAtOnce)...)
}
