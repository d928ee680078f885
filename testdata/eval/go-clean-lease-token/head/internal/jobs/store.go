package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// What is no trouble: there is nothing to do, or somebody else does it by now.
var (
	ErrNone = errors.New("there is no job")
	ErrLost = errors.New("the lease was lost")
)

// Job is something to do.
type Job struct {
	ID      int64
	Attempt int64 // which lease of it this is: no two have the same
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
	RETURNING id, attempts, kind, payload`

const renew = `UPDATE jobs SET leased_until = $3
	WHERE id = $1 AND attempts = $2 AND done_at IS NULL`

const finish = `UPDATE jobs SET done_at = $3, error = $4
	WHERE id = $1 AND attempts = $2 AND done_at IS NULL`

// Store keeps jobs.
type Store struct {
	DB  *sql.DB
	Now func() time.Time
}

// Lease takes the oldest job that nobody works on.
func (s *Store) Lease(ctx context.Context, d time.Duration) (Job, error) {
	var j Job
	now := s.Now()
	err := s.DB.QueryRowContext(ctx, lease, now.Add(d), now).Scan(&j.ID, &j.Attempt, &j.Kind, &j.Payload)
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, ErrNone
	}
	if err != nil {
		return Job{}, fmt.Errorf("lease a job: %w", err)
	}
	return j, nil
}

// Renew keeps a job for longer, or returns ErrLost.
func (s *Store) Renew(ctx context.Context, j Job, d time.Duration) error {
	return s.held(ctx, j, renew, j.ID, j.Attempt, s.Now().Add(d))
}

// Finish says how a job ended, or returns ErrLost; failure is empty where it went
// well.
func (s *Store) Finish(ctx context.Context, j Job, failure string) error {
	return s.held(ctx, j, finish, j.ID, j.Attempt, s.Now(), failure)
}

// held changes a job that is still ours.
func (s *Store) held(ctx context.Context, j Job, statement string, args ...any) error {
	result, err := s.DB.ExecContext(ctx, statement, args...)
	if err != nil {
		return fmt.Errorf("change job %d: %w", j.ID, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("change job %d: %w", j.ID, err)
	}
	if n == 0 {
		return fmt.Errorf("change job %d: %w", j.ID, ErrLost)
	}
	return nil
}
