package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/review"
)

// A target's notices that wait to be said are kept in its row, as a list in
// JSON: whoever finishes its generation sees them under the same lock. Without
// any the column is empty.

// decodeNotices reads them. What is no list is the one notice that was kept
// before there were several.
func decodeNotices(kept string) []string {
	if kept == "" {
		return nil
	}
	var all []string
	if err := json.Unmarshal([]byte(kept), &all); err != nil {
		return []string{kept}
	}
	return all
}

func encodeNotices(all []string) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	kept, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("encode notices: %w", err)
	}
	return string(kept), nil
}

// changeNotices stores what change makes of a target's notices.
func (s *Store) changeNotices(ctx context.Context, t tx, key string, change func([]string) ([]string, error)) error {
	var was string
	if err := t.row(ctx, `SELECT notice FROM targets WHERE key = ?`+t.lock(), key).Scan(&was); err != nil {
		return fmt.Errorf("read the notices for %s: %w", key, notFound(err))
	}
	all, err := change(decodeNotices(was))
	if err != nil {
		return fmt.Errorf("keep a notice for %s: %w", key, err)
	}
	kept, err := encodeNotices(all)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE targets SET notice = ? WHERE key = ?`, kept, key); err != nil {
		return fmt.Errorf("keep the notices for %s: %w", key, err)
	}
	return nil
}

// addNotice keeps one more notice, with a job that says it.
func (s *Store) addNotice(ctx context.Context, t tx, key, notice string) error {
	err := s.changeNotices(ctx, t, key, func(all []string) ([]string, error) {
		switch {
		case slices.Contains(all, notice):
			return all, nil
		case len(all) >= review.MaxNotices:
			return nil, review.ErrManyNotices
		}
		return append(all, notice), nil
	})
	if err != nil {
		return err
	}
	return s.insertTargetJob(ctx, t, key, review.JobReview)
}

// AddNotice implements review.Store.
func (s *Store) AddNotice(ctx context.Context, key, notice string) error {
	return s.db.write(ctx, func(t tx) error { return s.addNotice(ctx, t, key, notice) })
}

// NoticesSaid implements review.Store. Of a target that was forgotten there are
// none.
func (s *Store) NoticesSaid(ctx context.Context, key string, said []string) error {
	return s.db.write(ctx, func(t tx) error {
		err := s.changeNotices(ctx, t, key, func(all []string) ([]string, error) {
			return slices.DeleteFunc(all, func(n string) bool { return slices.Contains(said, n) }), nil
		})
		if errors.Is(err, review.ErrNotFound) {
			return nil
		}
		return err
	})
}
