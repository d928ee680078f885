package store

import (
	"context"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// apiTokens is the role ports.APITokens.
type apiTokens struct{ *core }

var _ ports.APITokens = apiTokens{}

const tokenColumns = `id, hash, repo_id, installation, owner, name, agent, created_at, expires_at, revoked_at, used_at`

func scanToken(row scanner) (a ports.APIToken, err error) {
	g := &a.Repository
	g.Kind = ports.TargetPull
	var created, expires, revoked, used int64
	err = row.Scan(&a.ID, &a.Hash, &g.RepoID, &g.Installation, &g.Owner, &g.Name, &a.Agent, &created, &expires, &revoked, &used)
	a.CreatedAt, a.ExpiresAt, a.RevokedAt, a.UsedAt = fromMicros(created), fromMicros(expires), fromMicros(revoked), fromMicros(used)
	return a, err
}

// AddToken implements ports.APITokens. An installation that is gone is ErrNotFound.
func (s apiTokens) AddToken(ctx context.Context, a ports.APIToken) (id int64, err error) {
	g := a.Repository
	created := a.CreatedAt
	if created.IsZero() {
		created = s.Now()
	}
	err = s.db.write(ctx, func(t tx) error {
		if err := installed(ctx, t, g.Installation); err != nil {
			return err
		}
		if err := t.alone(ctx, fmt.Sprintf("tokens of repository %d", g.RepoID)); err != nil {
			return err
		}
		var valid int
		err := t.row(ctx, `SELECT count(*) FROM api_tokens WHERE repo_id = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)`, g.RepoID, s.now()).Scan(&valid)
		if err != nil {
			return err
		}
		if valid >= ports.MaxAPITokens {
			return ports.ErrManyTokens
		}
		return t.row(ctx, `INSERT INTO api_tokens (hash, repo_id, installation, owner, name, agent, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			a.Hash, g.RepoID, g.Installation, g.Owner, g.Name, a.Agent, micros(created), micros(a.ExpiresAt)).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("store a token of repository %d: %w", g.RepoID, err)
	}
	return id, nil
}

// TokenByHash implements ports.APITokens.
func (s apiTokens) TokenByHash(ctx context.Context, hash []byte) (a ports.APIToken, err error) {
	err = s.db.read(ctx, func(t tx) (err error) {
		a, err = scanToken(t.row(ctx, `SELECT `+tokenColumns+` FROM api_tokens WHERE hash = ?`, hash))
		return err
	})
	if err != nil {
		return ports.APIToken{}, fmt.Errorf("look for a token: %w", notFound(err))
	}
	return a, nil
}

// ListTokens implements ports.APITokens.
func (s apiTokens) ListTokens(ctx context.Context) ([]ports.APIToken, error) {
	return listNow(ctx, s.db, "list the tokens", scanToken, `SELECT `+tokenColumns+` FROM api_tokens ORDER BY id`)
}

// RevokeToken implements ports.APITokens. The time of the first revocation stays.
func (s apiTokens) RevokeToken(ctx context.Context, id int64) error {
	return s.change(ctx, fmt.Sprintf("revoke token %d", id), `UPDATE api_tokens SET revoked_at = CASE WHEN revoked_at = 0 THEN ? ELSE revoked_at END WHERE id = ?`, s.now(), id)
}

// UseToken implements ports.APITokens. It writes at most once an hour, since requests are many.
func (s apiTokens) UseToken(ctx context.Context, id int64, at time.Time) error {
	hour := micros(at.Truncate(time.Hour))
	var used int64
	err := s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT used_at FROM api_tokens WHERE id = ?`, id).Scan(&used)
	})
	if err != nil || used >= hour {
		return wrap(notFound(err), "note the use of token %d", id)
	}
	return s.change(ctx, fmt.Sprintf("note the use of token %d", id), `UPDATE api_tokens SET used_at = ? WHERE id = ?`, hour, id)
}
