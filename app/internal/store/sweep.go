package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// AskSweep implements ports.Store. A running sweep does not count: it may already have
// passed the pull requests that matter now.
func (s recovery) AskSweep(ctx context.Context, sw ports.Sweep) error {
	return s.db.write(ctx, func(t tx) error {
		for seq := int64(0); ; seq++ {
			state, err := t.insertJob(ctx, ports.NewJob(ports.JobSweep, ports.SweepJob{Installation: sw.Installation, Granted: sw.Granted, Seq: seq}))
			if err != nil || state != rivertype.JobStateRunning {
				return err
			}
		}
	})
}

// Mark implements ports.Store.
func (s marks) Mark(ctx context.Context, name string) (time.Time, error) {
	var at int64
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT at FROM marks WHERE name = ?`, name).Scan(&at)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("read the mark %s: %w", name, err)
	}
	return fromMicros(at), nil
}

// SetMark implements ports.Store.
func (s marks) SetMark(ctx context.Context, name string, at time.Time) error {
	err := s.db.write(ctx, func(t tx) error { return setMark(ctx, t, name, at) })
	return wrap(err, "set the mark %s", name)
}

func setMark(ctx context.Context, t tx, name string, at time.Time) error {
	_, err := t.exec(ctx, `INSERT INTO marks (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at`, name, micros(at))
	return err
}

// RefusedScans implements ports.Store.
func (s recovery) RefusedScans(ctx context.Context, installation int64) ([]ports.TargetState, error) {
	all, err := listNow(ctx, s.db, fmt.Sprintf("list the targets where GitHub refused other Apps' results to installation %d", installation), func(row scanner) (st ports.TargetState, err error) {
		var scans string
		if err = row.Scan(append(targetDest(&st.Target), &scans)...); err == nil {
			err = decodeText(scans, &st.Scans)
		}
		return st, err
	}, `SELECT `+targetColumns+`, scans FROM targets WHERE installation = ? AND closed = 0 AND wanted = done AND scans <> '' ORDER BY key`, installation)
	return slices.DeleteFunc(all, func(st ports.TargetState) bool { return len(st.Scans.Refused()) == 0 }), err
}

// ScanRepositories implements ports.Store.
func (s recovery) ScanRepositories(ctx context.Context) (map[int64]bool, error) {
	ids, err := listNow(ctx, s.db, "list the repositories that read other Apps' results", only[int64], `SELECT DISTINCT repo_id FROM targets WHERE closed = 0 AND scans <> ''`)
	all := map[int64]bool{}
	for _, id := range ids {
		all[id] = true
	}
	return all, err
}

// Orphans implements ports.Store. For each repository it returns the target with the
// newest orphaned check: its owner and name are most likely still right.
func (s recovery) Orphans(ctx context.Context) ([]ports.Target, error) {
	all, err := listNow(ctx, s.db, "list the repositories with orphaned checks", readTarget, `
		SELECT t.kind, t.installation, t.repo_id, t.owner, t.name, t.number, t.head_sha, t.base_sha, t.head_ref
		FROM writes w JOIN targets t ON t.key = w.target_key
		WHERE w.kind = ? AND w.state <> 'completed'
		AND NOT EXISTS (SELECT 1 FROM targets o WHERE o.repo_id = t.repo_id AND o.head_sha = w.head_sha AND o.closed = 0)
		ORDER BY w.id DESC`, string(ports.WriteCheck))
	seen := map[int64]bool{}
	return slices.DeleteFunc(all, func(t ports.Target) bool {
		again := seen[t.RepoID]
		seen[t.RepoID] = true
		return again
	}), err
}

// SetRefused implements ports.Store. The latest time wins: if GitHub refuses two calls
// at the same time, it may tell one of them a shorter wait.
func (s rateLimits) SetRefused(ctx context.Context, installation int64, until time.Time) error {
	err := s.db.write(ctx, func(t tx) error {
		if _, err := t.exec(ctx, `DELETE FROM refusals WHERE until <= ?`, s.now()); err != nil {
			return err
		}
		_, err := t.exec(ctx, `
			INSERT INTO refusals (installation, until) VALUES (?, ?)
			ON CONFLICT (installation) DO UPDATE SET until = excluded.until WHERE refusals.until < excluded.until`, installation, micros(until))
		return err
	})
	return wrap(err, "store until when GitHub refuses installation %d", installation)
}

// Refusals implements ports.Store.
func (s rateLimits) Refusals(ctx context.Context) (map[int64]time.Time, error) {
	all := map[int64]time.Time{}
	err := s.db.read(ctx, func(t tx) error {
		return t.each(ctx, func(row scanner) error {
			var installation, until int64
			if err := row.Scan(&installation, &until); err != nil {
				return err
			}
			all[installation] = fromMicros(until)
			return nil
		}, `SELECT installation, until FROM refusals WHERE until > ?`, s.now())
	})
	return all, wrap(err, "list the installations that GitHub refuses")
}
