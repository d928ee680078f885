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

var errDigest = errors.New("its digest is that of something else")

// archived is a row's place in the order of the archive.
type archived struct {
	key string
	id  int64
}

// list lists the chosen reviews after another one.
func (s archive) list(ctx context.Context, which ports.ReviewFilter, after archived) ([]archived, error) {
	where, args := []string{`(target_key > ? OR target_key = ? AND id > ?)`}, []any{after.key, after.key, after.id}
	if which.RunID != "" {
		where, args = append(where, `run_id = ?`), append(args, which.RunID)
	}
	if !which.Since.IsZero() {
		where, args = append(where, `saved_at >= ?`), append(args, micros(which.Since))
	}
	if which.Repository != "" {
		where = append(where, `target_key IN (SELECT key FROM targets WHERE lower(owner || '/' || name) = ? AND (? = 0 OR number = ?))`)
		args = append(args, strings.ToLower(which.Repository), which.Number, which.Number)
	}
	return listNow(ctx, s.db, "list the stored reviews", func(row scanner) (a archived, err error) {
		err = row.Scan(&a.key, &a.id)
		return a, err
	}, `SELECT target_key, id FROM reviews WHERE `+strings.Join(where, ` AND `)+` ORDER BY target_key, id LIMIT ?`, append(args, archivedAtOnce)...)
}

// archivedReview reads a review and checks its digest.
func (s archive) archivedReview(ctx context.Context, row archived) (*ports.StoredReview, error) {
	review, as, err := s.readReview(ctx, `target_key = ? AND id = ?`, row.key, row.id)
	if as == nil {
		return nil, err
	}
	if err != nil { // what was saved can be read
		return nil, &ports.AlteredError{RunID: review.RunID, Err: err}
	}
	if review.Lacks != "" && len(as.digest) == 0 {
		return review, nil
	}
	facts, report := &review.Review.Facts, &review.Review.Report
	if as.decision != string(report.Decision) || as.baseRef != facts.Base.Ref || !bytes.Equal(as.digest, as.encoded.digest(review)) {
		return nil, &ports.AlteredError{RunID: review.RunID, Err: errDigest}
	}
	return review, nil
}

// Ended implements ports.Archive.
func (s archive) Ended(ctx context.Context, key string) (closed, merged bool, err error) {
	err = s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT closed = 1, merged = 1 FROM targets WHERE key = ?`, key).Scan(&closed, &merged)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return closed, merged, wrap(err, "read how %s ended", key)
}
