package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	writeColumns   = `id, kind, subject, target_key, head_sha, ` + outcomeColumns
	outcomeColumns = `external_id, remote_id, state, digest, conclusion, sending, verdict, base_ref, asked, asking`
)

func scanWrite(row scanner) (w ports.Write, err error) {
	var asked, asking string
	err = row.Scan(&w.ID, &w.Kind, &w.Subject, &w.Key, &w.HeadSHA, &w.ExternalID, &w.RemoteID, &w.State, &w.Digest, &w.Conclusion, &w.Sending, &w.Verdict, &w.BaseRef, &asked, &asking)
	w.Asked, w.Asking = splitNames(asked), splitNames(asking)
	return w, err
}

// outcome returns a write's values for outcomeColumns.
func outcome(w *ports.Write) []any {
	return []any{
		w.ExternalID, w.RemoteID, string(w.State), w.Digest, w.Conclusion, w.Sending, string(w.Verdict), w.BaseRef,
		strings.Join(w.Asked, " "), strings.Join(w.Asking, " "),
	}
}

// NewestWrite implements ports.Store.
func (s writes) NewestWrite(ctx context.Context, kind ports.WriteKind, subject string) (*ports.Write, error) {
	var w ports.Write
	err := s.db.read(ctx, func(t tx) (err error) {
		w, err = scanWrite(t.row(ctx, `SELECT `+writeColumns+` FROM writes WHERE kind = ? AND subject = ? ORDER BY id DESC LIMIT 1`, string(kind), subject))
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for the newest %s of %s: %w", kind, subject, err)
	}
	return &w, nil
}

// OpenChecks implements ports.Store.
func (s writes) OpenChecks(ctx context.Context, repoID int64) ([]ports.Write, error) {
	return listNow(ctx, s.db, fmt.Sprintf("list the open checks of repository %d", repoID), scanWrite, `SELECT `+writeColumns+` FROM writes
		WHERE kind = ? AND state <> 'completed' AND subject = ? || '/' || head_sha
		AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.repo_id = ? AND t.head_sha = writes.head_sha AND t.closed = 0)
		ORDER BY id`, string(ports.WriteCheck), strconv.FormatInt(repoID, 10), repoID)
}

// Intend implements ports.Store.
func (s writes) Intend(ctx context.Context, l ports.Lease, w ports.Write) (ports.Write, error) {
	w.State = ports.WriteIntended
	err := s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		err := t.row(ctx, `
			INSERT INTO writes (kind, subject, target_key, head_sha, intended_at, `+outcomeColumns+`)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			append([]any{string(w.Kind), w.Subject, w.Key, w.HeadSHA, s.now()}, outcome(&w)...)...).Scan(&w.ID)
		if err != nil {
			return fmt.Errorf("store the intent to write a %s: %w", w.Kind, err)
		}
		return nil
	})
	if err != nil {
		return ports.Write{}, err
	}
	return w, nil
}

// Record implements ports.Store.
func (s writes) Record(ctx context.Context, w ports.Write) error {
	return s.change(ctx, fmt.Sprintf("record what became of %s %d", w.Kind, w.ID),
		`UPDATE writes SET (`+outcomeColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?`, append(outcome(&w), w.ID)...)
}
