package store

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
)

// InlineComments implements ports.Store.
func (s inline) InlineComments(ctx context.Context, key string) ([]ports.InlineComment, error) {
	return listNow(ctx, s.db, "list the comments on lines of "+key, func(row scanner) (c ports.InlineComment, err error) {
		err = row.Scan(&c.Fingerprint, &c.RunID, &c.State, &c.RemoteID, &c.NodeID, &c.ThreadID, &c.Unpublished)
		return c, err
	}, `SELECT fingerprint, run_id, state, remote_id, node_id, thread_id,
			run_id <> '' AND NOT EXISTS (SELECT 1 FROM reviews r WHERE r.run_id = c.run_id AND r.published_at > 0)
		FROM inline_comments c WHERE target_key = ? ORDER BY fingerprint`, key)
}

// SaveInline implements ports.Store.
func (s inline) SaveInline(ctx context.Context, l ports.Lease, all []ports.InlineComment) error {
	err := s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		for _, c := range all {
			if _, err := t.exec(ctx, `
				INSERT INTO inline_comments (target_key, fingerprint, run_id, state, remote_id, node_id, thread_id) VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (target_key, fingerprint) DO UPDATE SET run_id = excluded.run_id, state = excluded.state,
					remote_id = excluded.remote_id, node_id = excluded.node_id, thread_id = excluded.thread_id`,
				l.Key, c.Fingerprint, c.RunID, string(c.State), c.RemoteID, c.NodeID, c.ThreadID); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "store the comments on lines of %s", l.Key)
}
