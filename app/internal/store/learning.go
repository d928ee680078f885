package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

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
	_, err = t.exec(ctx, `
		INSERT INTO learning (target_key, event, repo_id, repository, at, body) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (target_key, event) DO NOTHING`,
		g.Key(), e.Event, g.RepoID, e.Repository, micros(e.At), string(body))
	return wrap(err, "add to the log of %s", g.Key())
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
	e.Event = fmt.Sprintf("%s %d", e.Kind, e.At.Unix())
	return &e
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
	_, err := t.exec(ctx, `
		INSERT INTO learning (target_key, event, repo_id, repository, at, body)
		SELECT r.target_key, r.run_id, r.repo_id, t.owner || '/' || t.name, r.saved_at, r.entry FROM reviews r JOIN targets t ON t.key = r.target_key
		WHERE r.run_id = ? AND r.published_at = 0 AND r.entry <> ''
		ON CONFLICT (target_key, event) DO NOTHING`, runID)
	return wrap(err, "add review %s to the log", runID)
}

// learned reads logs.
type learned struct{ *core }

// Log implements ports.Learning.
func (s learned) Log(ctx context.Context, key string) ([]learning.Entry, error) {
	return listNow(ctx, s.db, "read the log of "+key, scanEntry, `SELECT body FROM learning WHERE target_key = ? ORDER BY id`, key)
}

func scanEntry(row scanner) (e learning.Entry, err error) {
	var body []byte
	if err := row.Scan(&body); err != nil {
		return e, err
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("decode an entry: %w", err)
	}
	return e, nil
}

// logsAtOnce is how many entries are read at once. A log is read as a whole.
const logsAtOnce = 2000

// Logs implements ports.Learning. It reads pages in the order of the targets, so that a log of any
// length is in memory alone.
func (s learned) Logs(ctx context.Context, which ports.LogFilter) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		give := func(log []learning.Entry) bool {
			n := len(log)
			return n == 0 || which.Concerns != nil && !which.Concerns(log[n-1].Repository) || yield(log, nil)
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
				e, err := decoder.Decode(row.body)
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

// logged is a row of a log.
type logged struct {
	key  string
	id   int64
	body []byte
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

// page lists the chosen entries after another one.
func (s learned) page(ctx context.Context, which ports.LogFilter, after logged) ([]logged, error) {
	where, args := []string{`(l.target_key, l.id) > (?, ?)`}, []any{after.key, after.id}
	if !which.Since.IsZero() {
		where, args = append(where, `EXISTS (SELECT 1 FROM learning n WHERE n.target_key = l.target_key AND n.at >= ?)`), append(args, micros(which.Since))
	}
	if which.RepoID != 0 {
		where, args = append(where, `l.repo_id = ?`), append(args, which.RepoID)
	}
	return listNow(ctx, s.db, "read the logs", func(row scanner) (l logged, err error) {
		err = row.Scan(&l.key, &l.id, &l.body)
		return l, err
	}, `SELECT l.target_key, l.id, l.body FROM learning l WHERE `+strings.Join(where, ` AND `)+` ORDER BY l.target_key, l.id LIMIT ?`, append(args, logsAtOnce)...)
}
