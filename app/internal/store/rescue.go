package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// quiet is how long a target with work left may have no lease before Rescue makes sure
// that its job is alive. If a job waits longer in a full queue, Rescue looks for it once
// in that time.
const quiet = time.Minute

// Recover takes over the work of a dead process: it frees all leases, makes the
// jobs that were running available, and makes sure that each target with work
// left has a job. It returns the number of such targets. Call it before the
// queue is started. If other processes may use the database, Recover does nothing:
// then Rescue takes over from dead processes.
func (s *Store) Recover(ctx context.Context) (n int, err error) {
	if !s.db.lone() {
		return 0, nil
	}
	err = s.db.write(ctx, func(t tx) error {
		if _, err := t.adoptJobs(ctx); err != nil {
			return err
		}
		if _, err := t.exec(ctx, countCrash+` WHERE key IN (SELECT key FROM leases WHERE owner <> '')`); err != nil {
			return fmt.Errorf("count the interrupted runs: %w", err)
		}
		if _, err := t.exec(ctx, `UPDATE leases SET owner = '', until = 0 WHERE owner <> ''`); err != nil {
			return fmt.Errorf("free the leases: %w", err)
		}
		keys, err := list(ctx, t, only[string], `SELECT key FROM targets WHERE wanted > done OR notice <> '' ORDER BY asked_at`)
		if err != nil {
			return fmt.Errorf("list the targets with unfinished work: %w", err)
		}
		for _, key := range keys {
			if err := s.ensureJob(ctx, t, key); err != nil {
				return err
			}
		}
		n = len(keys)
		return nil
	})
	return n, wrap(err, "resume unfinished work")
}

// Rescue makes sure that a target with work left has a job, if its holder died or its
// job was lost. It returns the number of such targets. Queue calls it every few seconds.
func (s *Store) Rescue(ctx context.Context) (n int, err error) {
	dead, err := s.db.bury(ctx)
	if err != nil {
		return 0, err
	}
	if dead > 0 {
		s.log.Warn().Int("processes", dead).Msg("taking over from processes that died")
	}
	keys, err := s.stranded(ctx)
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		if err := s.rescue(ctx, key); err != nil {
			return n, fmt.Errorf("rescue %s: %w", key, err)
		}
		n++
	}
	return n, nil
}

func (s *core) stranded(ctx context.Context) (keys []string, err error) {
	now := s.Now()
	err = s.db.read(ctx, func(t tx) error {
		keys, err = list(ctx, t, only[string], `
			SELECT t.key FROM targets t LEFT JOIN leases l ON l.key = t.key AND l.owner <> ''
			WHERE (t.wanted > t.done OR t.notice <> '')
			AND (l.until <= ? OR l.until IS NULL AND t.retry_at <= ? AND t.job_checked_at <= ?)
			ORDER BY t.asked_at LIMIT 1000`, micros(now), micros(now), micros(now.Add(-quiet)))
		return err
	})
	return keys, wrap(err, "look for stranded targets")
}

func (s *core) rescue(ctx context.Context, key string) error {
	return s.db.write(ctx, func(t tx) error {
		freed, err := t.exec(ctx, `UPDATE leases SET owner = '', until = 0 WHERE key = ? AND owner <> '' AND until <= ?`, key, s.now())
		if err != nil {
			return fmt.Errorf("free the expired lease: %w", err)
		}
		if freed == 0 {
			return s.ensureJob(ctx, t, key)
		}
		if _, err := t.exec(ctx, countCrash+` WHERE key = ?`, key); err != nil {
			return fmt.Errorf("count the crash: %w", err)
		}
		// The dead holder's job may still be marked as running, so the target needs a
		// new one.
		return s.insertTargetJob(ctx, t, key, ports.JobReview)
	})
}

// ensureJob inserts the target's newest job again unless it is alive.
func (s *core) ensureJob(ctx context.Context, t tx, key string) error {
	var kind ports.JobKind
	var seq int64
	var line int
	err := t.row(ctx, `UPDATE targets SET job_checked_at = ? WHERE key = ? RETURNING job_kind, job_seq, job_low`, s.now(), key).Scan(&kind, &seq, &line)
	if err != nil {
		return fmt.Errorf("read the number of the target's job: %w", err)
	}
	_, err = t.insertJob(ctx, targetJob(kind, key, seq, line))
	return err
}

// putOff records when a target's job runs again. A new ask then inserts a job that is
// due at once, and Rescue leaves the target alone until that time.
func (s *core) putOff(ctx context.Context, key string, until time.Time) error {
	return s.db.write(ctx, func(t tx) error {
		if _, err := t.exec(ctx, `UPDATE targets SET retry_at = ? WHERE key = ? AND wanted > done AND attempts > 0`, micros(until), key); err != nil {
			return fmt.Errorf("record the next attempt at %s: %w", key, err)
		}
		return nil
	})
}

// depth counts the jobs by state and the quarantined targets. oldest is the time of the
// oldest unanswered ask that somebody waits for, and zero if every ask is answered.
func (s *core) depth(ctx context.Context) (jobs map[rivertype.JobState]int, oldest time.Time, quarantined int, err error) {
	jobs = map[rivertype.JobState]int{}
	err = s.db.read(ctx, func(t tx) error {
		err := t.each(ctx, func(row scanner) error {
			var state string
			var n int
			if err := row.Scan(&state, &n); err != nil {
				return err
			}
			jobs[rivertype.JobState(state)] = n
			return nil
		}, `SELECT CAST(state AS text), count(*) FROM river_job GROUP BY state`)
		if err != nil {
			return fmt.Errorf("count the jobs: %w", err)
		}
		var at int64
		err = t.row(ctx, `SELECT asked_at FROM targets WHERE wanted > done AND awaited = 1 ORDER BY asked_at LIMIT 1`).Scan(&at)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("find the oldest ask: %w", err)
		}
		oldest = fromMicros(at)
		if err := t.row(ctx, `SELECT count(*) FROM targets WHERE wanted > done AND deaths > 0 AND closed = 0`).Scan(&quarantined); err != nil {
			return fmt.Errorf("count the reviews in quarantine: %w", err)
		}
		return nil
	})
	return jobs, oldest, quarantined, err
}
