package store

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

func savePush(ctx context.Context, t tx, p ports.Push) error {
	_, err := t.exec(ctx, `INSERT INTO pushes (target_key, head_sha, before_sha, sender, sender_id) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		p.Target.Key(), p.Target.HeadSHA, p.Before, p.Sender, p.SenderID)
	if err != nil {
		return fmt.Errorf("keep who sent a push: %w", err)
	}
	return nil
}

// Pushes implements ports.Store.
func (s commands) Pushes(ctx context.Context, t ports.Target) (all []ports.Push, err error) {
	err = s.db.read(ctx, func(x tx) error {
		return x.each(ctx, func(row scanner) error {
			p := ports.Push{Target: t}
			err := row.Scan(&p.Target.HeadSHA, &p.Before, &p.Sender, &p.SenderID)
			all = append(all, p)
			return err
		}, `SELECT head_sha, before_sha, sender, sender_id FROM pushes WHERE target_key = ? ORDER BY head_sha, before_sha, sender`, t.Key())
	})
	if err != nil {
		return nil, fmt.Errorf("read who sent the pushes of %s: %w", t.Key(), err)
	}
	return all, nil
}
