package store

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
)

const pushColumns = `before_sha, sender, sender_id, retargeted, from_base, to_base`

func savePush(ctx context.Context, t tx, p ports.Push) error {
	_, err := t.exec(ctx, `INSERT INTO pushes (target_key, head_sha, `+pushColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		p.Target.Key(), p.Target.HeadSHA, p.Before, p.Sender, p.SenderID, number(p.Retargeted), p.FromBase, p.ToBase)
	return wrap(err, "store the sender of a push")
}

// Pushes implements ports.Store.
func (s commands) Pushes(ctx context.Context, t ports.Target) ([]ports.Push, error) {
	return listNow(ctx, s.db, "read the senders of the pushes to "+t.Key(), func(row scanner) (p ports.Push, err error) {
		p.Target = t
		var retargeted int
		err = row.Scan(&p.Target.HeadSHA, &p.Before, &p.Sender, &p.SenderID, &retargeted, &p.FromBase, &p.ToBase)
		p.Retargeted = retargeted == 1
		return p, err
	}, `SELECT head_sha, `+pushColumns+` FROM pushes WHERE target_key = ? ORDER BY head_sha, before_sha, sender, retargeted, from_base, to_base`, t.Key())
}
