package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ErrNone says that there is nothing to do.
var ErrNone = errors.New("there is no job")

// Job is something to do.
type Job struct {
	ID      int64
	Kind    string
	Payload []byte
}

const lease = `UPDATE jobs SET leased_until = $1, attempts = attempts + 1
	WHERE id = (
		SELECT id FROM jobs
		WHERE done_at IS NULL AND (leased_until IS NULL OR leased_until < $2)
		ORDER BY id
		FOR UPDATE SKIP LOCKED
		LIMIT 1
	)
	RETURNING id, kind, payload`

const renew = `UPDATE jobs SET leased_until = $2 WHERE id = $1`

const finish = `UPDATE jobs SET done_at = $2, error = $3 WHERE id = $1`

// Store keeps jobs.
type Store struct {
	DB  *sql.DB
	Now func() time.Time
}

// Lease takes the oldest job that nobody works on.
func (s *Store) Lease(ctx context.Context, d time.Duration) (Job, error) {
	var j Job
	now := s.Now()
	err := s.DB.QueryRowContext(ctx, lease, now.Add(d), now).Scan(&j.ID, &j.Kind, &j.Payload)
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, ErrNone
	}
	if err != nil {
		return Job{}, fmt.Errorf("lease a job: %w", err)
	}
	return j, nil
}

// Renew keeps a job for longer.
func (s *Store) Renew(ctx context.Context, id int64, d time.Duration) error {
	if _, err := s.DB.ExecContext(ctx, renew, id, s.Now().Add(d)); err != nil {
		return fmt.Errorf("renew the lease of job %d: %w", id, err)
	}
	return nil
}

// Finish says how a job ended; failure is empty where it went well.
func (s *Store) Finish(ctx context.Context, id int64, failure string) error {
	if _, err := s.DB.ExecContext(ctx, finish, id, s.Now(), failure); err != nil {
		return fmt.Errorf("finish job %d: %w", id, err)
	}
	return nil
}
