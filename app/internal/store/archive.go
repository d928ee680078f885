package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// archivedAtOnce is how many reviews are listed at once. Only one of them is read at a time.
const archivedAtOnce = 100

// Archived implements ports.Archive.
func (s archive) Archived(ctx context.Context, which ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		var last archived
		for {
			page, err := s.list(ctx, which, last)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range page {
				if which.Concerns != nil && !which.Concerns(row.repository) {
					continue
				}
				review, err := s.archivedReview(ctx, row)
				if review == nil && err == nil { // it was deleted meanwhile
					continue
				}
				var altered *ports.AlteredError
				if !yield(review, err) || err != nil && !errors.As(err, &altered) {
					return
				}
			}
			if len(page) < archivedAtOnce {
				return
			}
			last = page[len(page)-1]
		}
	}
}

// archived is a row's place in the order of the archive.
type archived struct {
	key        string
	id         int64
	repository string // its full name, or empty if the target is unknown
}

// list lists the chosen reviews after another one.
func (s archive) list(ctx context.Context, which ports.ReviewFilter, after archived) ([]archived, error) {
	where, args := []string{`(r.target_key, r.id) > (?, ?)`}, []any{after.key, after.id}
	if which.RunID != "" {
		where, args = append(where, `r.run_id = ?`), append(args, which.RunID)
	}
	if which.Key != "" {
		where, args = append(where, `r.target_key = ?`), append(args, which.Key)
	}
	if !which.Since.IsZero() {
		where, args = append(where, `r.saved_at >= ?`), append(args, micros(which.Since))
	}
	if which.OnlyPulls {
		where, args = append(where, `(t.kind IS NULL OR t.kind = ?)`), append(args, string(ports.TargetPull))
	}
	if which.Repository != "" {
		where = append(where, `lower(t.owner || '/' || t.name) = ? AND (? = 0 OR t.number = ?)`)
		args = append(args, strings.ToLower(which.Repository), which.Number, which.Number)
	}
	return listNow(ctx, s.db, "list the stored reviews", func(row scanner) (a archived, err error) {
		err = row.Scan(&a.key, &a.id, &a.repository)
		return a, err
	}, `SELECT r.target_key, r.id, coalesce(t.owner || '/' || t.name, '') FROM reviews r LEFT JOIN targets t ON t.key = r.target_key
		WHERE `+strings.Join(where, ` AND `)+` ORDER BY r.target_key, r.id LIMIT ?`, append(args, archivedAtOnce)...)
}

var errDigest = errors.New("its digest does not match")

// archivedReview reads a review and checks its digest.
func (s archive) archivedReview(ctx context.Context, row archived) (*ports.StoredReview, error) {
	review, as, err := s.readReview(ctx, `target_key = ? AND id = ?`, row.key, row.id)
	if as == nil {
		return nil, err
	}
	altered := &ports.AlteredError{RunID: review.RunID, Err: errDigest}
	if err != nil { // what was saved can be read
		altered.Err = errors.Unwrap(err)
		return nil, altered
	}
	old := len(as.digest) == 0
	if old != (review.Lacks != "") {
		return nil, altered
	}
	facts, report := &review.Review.Facts, &review.Review.Report
	if !old && (as.decision != string(report.Decision) || as.baseRef != facts.Base.Ref || !bytes.Equal(as.digest, as.encoded.digest(review, as.savedAt))) {
		return nil, altered
	}
	return review, nil
}

// Ended implements ports.Archive.
func (s archive) Ended(ctx context.Context, key string) (ports.PullEnd, error) {
	var closed bool
	var merged int
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT closed = 1, merged FROM targets WHERE key = ?`, key).Scan(&closed, &merged)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ports.PullOpen, nil
	case err != nil:
		return "", wrap(err, "read how %s ended", key)
	}
	return pullEnd(closed, merged), nil
}

// pullEnd reads the columns closed and merged of a target.
func pullEnd(closed bool, merged int) ports.PullEnd {
	switch {
	case !closed:
		return ports.PullOpen
	case merged < 0:
		return ports.PullEnded
	case merged == 0:
		return ports.PullClosed
	}
	return ports.PullMerged
}
