package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// authorShare and repositoryShare are how many reviews of one author, and of one
	// repository, wait or run in the order in which they came. Further reviews wait behind
	// everybody else's until one of these is done. Nobody waits while workers are idle.
	authorShare     = 4
	repositoryShare = 8
	// maxNext bounds the authors, or repositories, that promote chooses from.
	maxNext = 50
)

// The values of targets.job_low: the place in line of the target's newest job.
const (
	jobInOrder   = 0
	jobLow       = 1 // nobody waits for it
	jobOverShare = 2
)

// inShare is the condition for targets that count towards a share. Targets that were put
// off or are quarantined don't.
const inShare = `wanted > done AND job_low = 0 AND attempts = 0 AND deaths = 0`

// hasShare reports whether the shares of the author and of the repository have room for
// one more target. The author 0 is unknown, and has no limit.
func hasShare(ctx context.Context, t tx, key string, author, repo int64) (bool, error) {
	for _, share := range []struct {
		column string
		value  int64
		most   int
	}{{"author", author, authorShare}, {"repo_id", repo, repositoryShare}} {
		if share.value == 0 {
			continue
		}
		n := 0
		err := t.row(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM targets WHERE `+share.column+` = ? AND `+inShare+` AND key <> ? LIMIT ?) AS used`, share.value, key, share.most).Scan(&n)
		if err != nil {
			return false, fmt.Errorf("count the reviews of one %s: %w", share.column, err)
		}
		if n >= share.most {
			return false, nil
		}
	}
	return true, nil
}

// insertJobInTurn inserts a review job. The job is in order if the target's author and
// repository have not used up their shares, and waits behind all others otherwise. A
// merge group is always in order: only people with write permission make one, and the
// merge queue waits for it.
func (s *core) insertJobInTurn(ctx context.Context, t tx, key string, was before) error {
	var author, repo int64
	var kind ports.TargetKind
	if err := t.row(ctx, `SELECT author, repo_id, kind FROM targets WHERE key = ?`, key).Scan(&author, &repo, &kind); err != nil {
		return fmt.Errorf("read the author of %s: %w", key, err)
	}
	room, err := hasShare(ctx, t, key, author, repo)
	switch {
	case err != nil:
		return err
	case room || kind == ports.TargetGroup:
		return s.insertTargetJob(ctx, t, key, ports.JobReview)
	case was.covered && was.line == jobOverShare:
		return nil // its job waits already
	}
	return s.insertLateJob(ctx, t, key, jobOverShare)
}

// promote gives the place of a finished target to one that waits for its share. It
// prefers targets of the same repository, by the author with the fewest reviews in order
// there. If there are none, it takes a target of the same author.
func (s leases) promote(ctx context.Context, t tx, done string) error {
	var author, repo int64
	if err := t.row(ctx, `SELECT author, repo_id FROM targets WHERE key = ?`, done).Scan(&author, &repo); err != nil {
		return fmt.Errorf("read the author of %s: %w", done, err)
	}
	next, err := nextOfRepository(ctx, t, repo)
	if err == nil && next == "" && author != 0 {
		next, err = nextOfAuthor(ctx, t, author)
	}
	if err != nil || next == "" {
		return err
	}
	return s.insertTargetJob(ctx, t, next, ports.JobReview)
}

// waitsForShare is the condition for targets whose job waits for its share.
const waitsForShare = `wanted > done AND job_low = 2`

func nextOfRepository(ctx context.Context, t tx, repo int64) (string, error) {
	var authors []int64
	err := t.each(ctx, func(row scanner) error {
		var author, since int64
		err := row.Scan(&author, &since)
		authors = append(authors, author)
		return err
	}, `SELECT author, MIN(asked_at) AS since FROM targets WHERE repo_id = ? AND `+waitsForShare+` GROUP BY author ORDER BY since LIMIT ?`, repo, maxNext)
	if err != nil {
		return "", fmt.Errorf("list the waiting authors in repository %d: %w", repo, err)
	}
	best, fewest := int64(0), -1
	for _, author := range authors {
		n := 0
		if err := t.row(ctx, `SELECT COUNT(*) FROM targets WHERE author = ? AND repo_id = ? AND `+inShare, author, repo).Scan(&n); err != nil {
			return "", fmt.Errorf("count the reviews of the author: %w", err)
		}
		if fewest >= 0 && n >= fewest {
			continue
		}
		room, err := hasShare(ctx, t, "", author, repo)
		if err != nil {
			return "", err
		}
		if room {
			best, fewest = author, n
		}
	}
	if fewest < 0 {
		return "", nil
	}
	return firstKey(ctx, t, `SELECT key FROM targets WHERE repo_id = ? AND author = ? AND `+waitsForShare+` ORDER BY asked_at LIMIT 1`, repo, best)
}

func nextOfAuthor(ctx context.Context, t tx, author int64) (string, error) {
	var repos []int64
	err := t.each(ctx, func(row scanner) error {
		var repo, since int64
		err := row.Scan(&repo, &since)
		repos = append(repos, repo)
		return err
	}, `SELECT repo_id, MIN(asked_at) AS since FROM targets WHERE author = ? AND `+waitsForShare+` GROUP BY repo_id ORDER BY since LIMIT ?`, author, maxNext)
	if err != nil {
		return "", fmt.Errorf("list the waiting targets of author %d: %w", author, err)
	}
	for _, repo := range repos {
		room, err := hasShare(ctx, t, "", author, repo)
		if err != nil {
			return "", err
		}
		if room {
			return firstKey(ctx, t, `SELECT key FROM targets WHERE repo_id = ? AND author = ? AND `+waitsForShare+` ORDER BY asked_at LIMIT 1`, repo, author)
		}
	}
	return "", nil
}

// firstKey returns the target that a query finds, and locks it. It returns "" if another
// transaction holds the lock: two targets that finish at once must not wait for each
// other's.
func firstKey(ctx context.Context, t tx, query string, args ...any) (key string, err error) {
	err = t.row(ctx, query+t.lockFree(), args...).Scan(&key)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("choose the next target: %w", err)
	}
	return key, nil
}
