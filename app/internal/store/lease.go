package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Acquire implements ports.Leases. The owner shows people which process holds a lease.
// The token is unique for each holder, so a process can't take its own lease twice. The
// first token is the time in microseconds, and each new holder adds one. Holders change
// less than once a microsecond, so a token never overtakes the clock. So if a lease is deleted and taken
// again, its token is greater than before.
func (s leases) Acquire(ctx context.Context, key, owner string, ttl time.Duration) (ports.Lease, bool, error) {
	if owner == "" {
		return ports.Lease{}, false, errors.New("take a lease: the owner is missing")
	}
	l := ports.Lease{Key: key, Owner: owner}
	taken := false
	err := s.db.write(ctx, func(t tx) error {
		now := s.Now()
		taken = false // this function may run again
		var died bool // the last holder didn't release the lease
		err := t.row(ctx, `SELECT owner <> '' FROM leases WHERE key = ?`+t.lock(), key).Scan(&died)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		err = t.row(ctx, `
			INSERT INTO leases (key, owner, token, until) VALUES (?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, token = leases.token + 1, until = excluded.until
			WHERE leases.owner = '' OR leases.until <= ?
			RETURNING token`, key, owner, micros(now), micros(now.Add(ttl)), micros(now)).Scan(&l.Token)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		taken = err == nil
		if taken && died {
			_, err = t.exec(ctx, countCrash+` WHERE key = ?`, key)
		}
		return err
	})
	if err != nil {
		return ports.Lease{}, false, fmt.Errorf("take the lease of %s: %w", key, err)
	}
	if !taken {
		return ports.Lease{}, false, nil
	}
	return l, true, nil
}

// countCrash notes that a holder died while it worked on a target. From then on the
// target is a suspect: nobody knows which of the running jobs caused the crash.
const countCrash = `UPDATE targets SET crashes = crashes + CASE WHEN wanted > done THEN 1 ELSE 0 END`

// Renew implements ports.Leases. It can also renew an expired lease that nobody else has
// taken.
func (s leases) Renew(ctx context.Context, l ports.Lease, ttl time.Duration) error {
	return s.db.write(ctx, func(t tx) error {
		n, err := t.exec(ctx, `UPDATE leases SET until = ? WHERE key = ? AND owner = ? AND token = ?`,
			micros(s.Now().Add(ttl)), l.Key, l.Owner, l.Token)
		switch {
		case err != nil:
			return fmt.Errorf("renew the lease of %s: %w", l.Key, err)
		case n == 0:
			return ports.ErrLeaseLost
		}
		return nil
	})
}

// Release implements ports.Leases.
func (s leases) Release(ctx context.Context, l ports.Lease) error {
	return s.db.write(ctx, func(t tx) error {
		_, err := release(ctx, t, l)
		return err
	})
}

func release(ctx context.Context, t tx, l ports.Lease) (held bool, err error) {
	n, err := t.exec(ctx, `UPDATE leases SET owner = '', until = 0 WHERE key = ? AND owner = ? AND token = ?`, l.Key, l.Owner, l.Token)
	if err != nil {
		return false, fmt.Errorf("release the lease of %s: %w", l.Key, err)
	}
	return n > 0, nil
}

// fence returns ErrLeaseLost unless l is held. Nobody else can take the lease before the
// transaction ends.
func fence(ctx context.Context, t tx, l ports.Lease) error {
	var one int
	err := t.row(ctx, `SELECT 1 FROM leases WHERE key = ? AND owner = ? AND token = ?`+t.lock(), l.Key, l.Owner, l.Token).Scan(&one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ports.ErrLeaseLost
	case err != nil:
		return fmt.Errorf("read the lease of %s: %w", l.Key, err)
	}
	return nil
}

// Finish implements ports.Leases.
func (s leases) Finish(ctx context.Context, l ports.Lease, generation int64, gaveUp bool) (more bool, err error) {
	err = s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		// The row is locked before it is compared, so a concurrent ask takes effect
		// either before this transaction or after it.
		var wanted, done int64
		var notice string
		err := t.row(ctx, `SELECT wanted, done, notice FROM targets WHERE key = ?`+t.lock(), l.Key).Scan(&wanted, &done, &notice)
		if err != nil {
			return fmt.Errorf("read the wanted generation of %s: %w", l.Key, notFound(err))
		}
		if generation > wanted {
			return fmt.Errorf("finish generation %d of %s: the wanted generation is only %d", generation, l.Key, wanted)
		}
		if generation > done {
			if err := finish(ctx, t, l.Key, generation, gaveUp, s.Now()); err != nil {
				return err
			}
			done = generation
		}
		if wanted == done {
			if err := s.stallUndecided(ctx, t, l.Key); err != nil {
				return err
			}
		}
		more = wanted > done || notice != ""
		if more {
			return nil
		}
		if _, err = release(ctx, t, l); err != nil {
			return err
		}
		return s.promote(ctx, t, l.Key)
	})
	return more && err == nil, err
}

func finish(ctx context.Context, t tx, key string, generation int64, gaveUp bool, now time.Time) error {
	_, err := t.exec(ctx, `
		UPDATE targets SET done = ?, attempts = 0, failed_since = 0, retry_at = 0,
			crashes = CASE WHEN ? = 0 THEN 0 ELSE crashes END, deaths = CASE WHEN ? = 0 THEN 0 ELSE deaths END,
			next_try = CASE WHEN ? = 0 THEN 0 ELSE next_try END, quarantined_at = CASE WHEN ? = 0 THEN 0 ELSE quarantined_at END,
			gave_up_after = CASE WHEN ? = 0 THEN 0 WHEN gave_up = 1 THEN gave_up_after ELSE done END,
			result = CASE WHEN ? = 0 THEN '' ELSE result END, overdue_generation = 0, overdue_attempts = 0, gave_up = ?, gave_up_at = ?
		WHERE key = ?`, generation, number(gaveUp), number(gaveUp), number(gaveUp), number(gaveUp), number(gaveUp), number(gaveUp), number(gaveUp), micros(now), key)
	return wrap(err, "finish generation %d of %s", generation, key)
}

// HandOver implements ports.Leases.
func (s leases) HandOver(ctx context.Context, l ports.Lease, to ports.JobKind) error {
	if to != ports.JobReview && to != ports.JobPublish {
		return fmt.Errorf("hand over %s: targets have no jobs of kind %q", l.Key, to)
	}
	return s.db.write(ctx, func(t tx) error { return s.handOver(ctx, t, l, to) })
}

func (s *core) handOver(ctx context.Context, t tx, l ports.Lease, to ports.JobKind) error {
	held, err := release(ctx, t, l)
	switch {
	case err != nil:
		return err
	case !held:
		return ports.ErrLeaseLost
	}
	return s.insertTargetJob(ctx, t, l.Key, to)
}

// Failed implements ports.Leases.
func (s leases) Failed(ctx context.Context, l ports.Lease) (attempts int, err error) {
	err = s.db.write(ctx, func(t tx) error {
		held, err := release(ctx, t, l)
		if err != nil {
			return err
		}
		if !held {
			return ports.ErrLeaseLost
		}
		err = t.row(ctx, `UPDATE targets SET attempts = attempts + 1,
			failed_since = CASE WHEN failed_since = 0 THEN ? ELSE failed_since END WHERE key = ? RETURNING attempts`, s.now(), l.Key).Scan(&attempts)
		if err != nil {
			return fmt.Errorf("count a failed attempt at %s: %w", l.Key, notFound(err))
		}
		return nil
	})
	return attempts, err
}
