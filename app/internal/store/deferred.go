package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	deferredColumns = `id, repo_id, kind, key, state, changed = 1, number, path, subject, title, body, seen, pulls, resolved_in, digest, intended_at`
	// deferredLive is the condition for rows that are neither resolved nor left alone.
	deferredLive = `state IN ('waiting', 'intended', 'open')`
	// deferredToTell is the condition for rows that must be written to GitHub.
	deferredToTell = `changed = 1 AND state <> 'left'`
)

func scanDeferred(row scanner) (d ports.Deferred, err error) {
	var pulls string
	var intended int64
	err = row.Scan(&d.ID, &d.RepoID, &d.Kind, &d.Key, &d.State, &d.Changed, &d.Number, &d.Path, &d.Subject, &d.Title, &d.Body,
		&d.Seen, &pulls, &d.ResolvedIn, &d.Digest, &intended)
	if err != nil {
		return d, err
	}
	d.IntendedAt = fromMicros(intended)
	if err := json.Unmarshal([]byte(pulls), &d.Pulls); err != nil {
		return d, fmt.Errorf("decode the pull requests of a deferred item: %w", err)
	}
	return d, nil
}

func listDeferred(ctx context.Context, t tx, where string, args ...any) (all []ports.Deferred, err error) {
	all, err = list(ctx, t, scanDeferred, `SELECT `+deferredColumns+` FROM deferred WHERE `+where+` ORDER BY id`, args...)
	return all, wrap(err, "list the deferred items")
}

// LiveDeferred implements ports.Store.
func (s deferrals) LiveDeferred(ctx context.Context, repoID int64) (all []ports.Deferred, err error) {
	err = s.db.read(ctx, func(t tx) error {
		all, err = listDeferred(ctx, t, `repo_id = ? AND `+deferredLive, repoID)
		return err
	})
	return all, err
}

// ChangedDeferred implements ports.Store.
func (s deferrals) ChangedDeferred(ctx context.Context, repoID int64) (all []ports.Deferred, newest time.Time, err error) {
	var at int64
	err = s.db.read(ctx, func(t tx) error {
		if all, err = listDeferred(ctx, t, `repo_id = ? AND `+deferredToTell, repoID); err != nil {
			return err
		}
		return t.row(ctx, `SELECT coalesce(max(intended_at), 0) FROM deferred WHERE repo_id = ? AND number > 0`, repoID).Scan(&at)
	})
	return all, fromMicros(at), err
}

// NoteDeferred implements ports.Store.
func (s deferrals) NoteDeferred(ctx context.Context, l ports.Lease, news ports.DeferredNews) (dropped int, err error) {
	err = s.db.write(ctx, func(t tx) error {
		dropped = 0
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		for id, path := range news.Moved {
			if _, err := t.exec(ctx, `UPDATE deferred SET path = ? WHERE id = ? AND repo_id = ?`, path, id, news.RepoID); err != nil {
				return fmt.Errorf("record a renamed file: %w", err)
			}
		}
		for _, id := range news.Gone {
			if err := resolveDeferred(ctx, t, news, id); err != nil {
				return err
			}
		}
		var live int
		if err := t.row(ctx, `SELECT count(*) FROM deferred WHERE repo_id = ? AND `+deferredLive, news.RepoID).Scan(&live); err != nil {
			return fmt.Errorf("count the deferred items: %w", err)
		}
		for _, d := range news.Seen {
			added, err := seeDeferred(ctx, t, news, d, live < ports.MaxDeferred)
			if err != nil {
				return err
			}
			if added == wasAdded {
				live++
			}
			if added == wasDropped {
				dropped++
			}
		}
		return nil
	})
	return dropped, err
}

// resolveDeferred notes that a merge resolved a row. It deletes the row if nothing was
// written to GitHub about it.
func resolveDeferred(ctx context.Context, t tx, news ports.DeferredNews, id int64) error {
	if _, err := t.exec(ctx, `DELETE FROM deferred WHERE id = ? AND repo_id = ? AND state = ?`, id, news.RepoID, string(ports.DeferredWaiting)); err != nil {
		return fmt.Errorf("delete a resolved item: %w", err)
	}
	_, err := t.exec(ctx, `UPDATE deferred SET resolved_in = ?, changed = 1 WHERE id = ? AND repo_id = ? AND resolved_in = 0 AND `+deferredLive, cmp.Or(news.Number, ports.ResolvedOtherwise), id, news.RepoID)
	return wrap(err, "record a resolved item")
}

// The results of seeDeferred.
const (
	wasKnown = iota
	wasAdded
	wasDropped
)

// seeDeferred counts up a row that is known, or adds a new one if there is room.
func seeDeferred(ctx context.Context, t tx, news ports.DeferredNews, d ports.Deferred, room bool) (became int, err error) {
	have, err := scanDeferred(t.row(ctx, `SELECT `+deferredColumns+` FROM deferred WHERE repo_id = ? AND kind = ? AND key = ?`+t.lock(), news.RepoID, string(d.Kind), d.Key))
	switch {
	case errors.Is(err, sql.ErrNoRows) && !room:
		return wasDropped, nil
	case errors.Is(err, sql.ErrNoRows):
		_, err := t.exec(ctx, `
			INSERT INTO deferred (repo_id, kind, key, state, changed, path, subject, title, body, pulls) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`,
			news.RepoID, string(d.Kind), d.Key, string(ports.DeferredWaiting), d.Path, d.Subject, d.Title, d.Body, pullsJSON(news.Number))
		if err != nil {
			return wasAdded, fmt.Errorf("store a deferred item: %w", err)
		}
		return wasAdded, nil
	case err != nil:
		return wasKnown, fmt.Errorf("look for a deferred item: %w", err)
	case news.Number == 0 && have.ResolvedIn == 0 && have.Title == d.Title && have.Body == d.Body, slices.Contains(have.Pulls, news.Number):
		return wasKnown, nil // the same news again
	case news.Number == 0:
		_, err = t.exec(ctx, `UPDATE deferred SET title = ?, body = ?, resolved_in = 0, changed = 1 WHERE id = ?`, d.Title, d.Body, have.ID)
		return wasKnown, wrap(err, "renew a deferred item")
	}
	pulls := slices.Concat(have.Pulls, []int{news.Number})
	pulls = pulls[max(0, len(pulls)-ports.MaxDeferredPulls):]
	_, err = t.exec(ctx, `UPDATE deferred SET seen = seen + 1, pulls = ?, path = ?, subject = ?, title = ?, body = ?, resolved_in = 0, changed = 1 WHERE id = ?`,
		pullsJSON(pulls...), d.Path, d.Subject, d.Title, d.Body, have.ID)
	return wasKnown, wrap(err, "count the deferred items")
}

// pullsJSON returns the stored form of the numbers of pull requests. It leaves out 0.
func pullsJSON(pulls ...int) string {
	text, _ := json.Marshal(slices.DeleteFunc(pulls, func(n int) bool { return n == 0 })) // numbers: this can't fail
	return string(text)
}

// IntendDeferred implements ports.Store.
func (s deferrals) IntendDeferred(ctx context.Context, l ports.Lease, d ports.Deferred, limit int, since time.Time) (ok bool, err error) {
	err = s.db.write(ctx, func(t tx) error {
		ok = false
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		var intended int
		if err := t.row(ctx, `SELECT count(*) FROM deferred WHERE repo_id = ? AND intended_at >= ?`, d.RepoID, micros(since)).Scan(&intended); err != nil {
			return fmt.Errorf("count the issues of the day: %w", err)
		}
		if intended >= limit {
			return nil
		}
		ok = true
		return wrap(must(t.exec(ctx, `UPDATE deferred SET state = ?, intended_at = ? WHERE id = ?`, string(ports.DeferredIntended), s.now(), d.ID)), "store the intent to open an issue")
	})
	return ok, err
}

// RecordDeferred implements ports.Store.
func (s deferrals) RecordDeferred(ctx context.Context, d ports.Deferred) error {
	return s.change(ctx, fmt.Sprintf("record what became of issue %d", d.Number),
		`UPDATE deferred SET state = ?, changed = ?, number = ?, digest = ?, intended_at = ? WHERE id = ?`,
		string(d.State), number(d.Changed), d.Number, d.Digest, micros(d.IntendedAt), d.ID)
}

// DeferredRepositories implements ports.Store.
func (s deferrals) DeferredRepositories(ctx context.Context) ([]ports.Target, error) {
	all, err := s.repositories(ctx, `SELECT repo_id FROM deferred WHERE `+deferredToTell)
	return all, wrap(err, "list the repositories with issues to write")
}

// repositories lists one target without a number for each of the repositories that a query names. It
// takes a repository's owner and name from the newest pull request, where they are most likely still
// right. If no target is left, it takes them from what rememberRepository stored.
func (s *core) repositories(ctx context.Context, which string, args ...any) ([]ports.Target, error) {
	pulls := string(ports.TargetPull)
	all, err := s.targets(ctx, `SELECT `+targetColumns+` FROM targets
		WHERE kind = ? AND repo_id IN (`+which+`)
		AND number = (SELECT max(o.number) FROM targets o WHERE o.repo_id = targets.repo_id AND o.kind = targets.kind)
		UNION ALL SELECT ?, r.installation, r.repo_id, r.owner, r.name, 0, '', '', '' FROM repositories r
		WHERE r.repo_id IN (`+which+`)
		AND NOT EXISTS (SELECT 1 FROM targets o WHERE o.repo_id = r.repo_id AND o.kind = ?)
		ORDER BY repo_id`, slices.Concat([]any{pulls}, args, []any{pulls}, args, []any{pulls})...)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Number, all[i].HeadSHA, all[i].HeadRef = 0, "", ""
	}
	return all, nil
}

// AskIssues implements ports.Store.
func (s deferrals) AskIssues(ctx context.Context, a ports.IssuesAsk) error {
	return s.db.write(ctx, func(t tx) error {
		_, err := t.insertJob(ctx, ports.NewJob(ports.JobIssues, ports.IssuesJob{Ask: a}))
		return err
	})
}
