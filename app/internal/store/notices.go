package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// A target's row holds its notices as a list in JSON, or "" if there are none. So Finish
// sees under the target's lock whether a notice waits.

// writtenNotice is a notice that was posted.
type writtenNotice struct {
	Text string `json:"text"`
	Head string `json:"head"` // the target's head at that time
	At   int64  `json:"at"`   // in microseconds
}

// stays reports whether a comment about the head still shows the notice.
func (n *writtenNotice) stays(head string, now time.Time) bool {
	return n.Head == head && now.Sub(fromMicros(n.At)) < ports.NoticeStay
}

// decodeNotices reads the notices that wait. A text that is not a list is a single
// notice, in the format of earlier versions.
func decodeNotices(text string) []string {
	if text == "" {
		return nil
	}
	var all []string
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return []string{text}
	}
	return all
}

// encodeList encodes a list as JSON, and an empty list as "".
func encodeList[T any](all []T) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("encode notices: %w", err)
	}
	return string(text), nil
}

// addNotice stores one more notice, and inserts a job that posts it.
func (s *core) addNotice(ctx context.Context, t tx, key, notice string) error {
	var was string
	if err := t.row(ctx, `SELECT notice FROM targets WHERE key = ?`+t.lock(), key).Scan(&was); err != nil {
		return fmt.Errorf("read the notices for %s: %w", key, notFound(err))
	}
	all := decodeNotices(was)
	if !slices.Contains(all, notice) {
		if len(all) >= ports.MaxNotices {
			return fmt.Errorf("store a notice for %s: %w", key, ports.ErrManyNotices)
		}
		all = append(all, notice)
	}
	encoded, err := encodeList(all)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE targets SET notice = ? WHERE key = ?`, encoded, key); err != nil {
		return fmt.Errorf("store a notice for %s: %w", key, err)
	}
	return s.insertTargetJob(ctx, t, key, ports.JobReview)
}

// AddNotice implements ports.Store.
func (s targets) AddNotice(ctx context.Context, key, notice string) error {
	return s.db.write(ctx, func(t tx) error { return s.addNotice(ctx, t, key, notice) })
}

// NoticesWritten implements ports.Store. It does nothing if the target was deleted.
func (s targets) NoticesWritten(ctx context.Context, key string, written []string) error {
	err := s.db.write(ctx, func(t tx) error { return s.noticesWritten(ctx, t, key, written) })
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	return err
}

func (s targets) noticesWritten(ctx context.Context, t tx, key string, written []string) error {
	var waits, stood, head string
	err := t.row(ctx, `SELECT notice, notices_said, head_sha FROM targets WHERE key = ?`+t.lock(), key).Scan(&waits, &stood, &head)
	if err != nil {
		return fmt.Errorf("read the notices for %s: %w", key, notFound(err))
	}
	left := slices.DeleteFunc(decodeNotices(waits), func(n string) bool { return slices.Contains(written, n) })
	var stand []writtenNotice
	if err := decodeText(stood, &stand); err != nil {
		return fmt.Errorf("decode the written notices for %s: %w", key, err)
	}
	now := s.Now()
	stand = slices.DeleteFunc(stand, func(n writtenNotice) bool { return !n.stays(head, now) || slices.Contains(written, n.Text) })
	for _, text := range written {
		stand = append(stand, writtenNotice{text, head, micros(now)})
	}
	stand = stand[max(0, len(stand)-ports.MaxNotices):]
	encodedLeft, err := encodeList(left)
	if err != nil {
		return err
	}
	encodedWritten, err := encodeList(stand)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE targets SET notice = ?, notices_said = ? WHERE key = ?`, encodedLeft, encodedWritten, key); err != nil {
		return fmt.Errorf("record the written notices for %s: %w", key, err)
	}
	return nil
}

// readNotices sets the notices of a target from its row's columns.
func (s targets) readNotices(st *ports.TargetState, waits, stood string) error {
	st.Notices = decodeNotices(waits)
	var stand []writtenNotice
	if err := decodeText(stood, &stand); err != nil {
		return fmt.Errorf("decode the written notices: %w", err)
	}
	now := s.Now()
	for _, n := range stand {
		if n.stays(st.HeadSHA, now) && !slices.Contains(st.Notices, n.Text) {
			st.WrittenNotices = append(st.WrittenNotices, n.Text)
		}
	}
	return nil
}
