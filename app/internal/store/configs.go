package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
)

// storeText stores a config file's text once and returns its hash. The reviews of
// one repository share its config, and all reviews share the defaults.
func storeText(ctx context.Context, t tx, body []byte) ([]byte, error) {
	sum := sha256.Sum256(body)
	if body == nil {
		body = []byte{} // nil would be stored as NULL
	}
	if _, err := t.exec(ctx, `INSERT INTO texts (sha256, body) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING`, sum[:], body); err != nil {
		return nil, fmt.Errorf("store a text: %w", err)
	}
	return sum[:], nil
}

// readTexts reads rows of layer, path, blob SHA and text.
func readTexts(ctx context.Context, t tx, query string, args ...any) ([]ports.ConfigBlob, error) {
	return list(ctx, t, func(row scanner) (c ports.ConfigBlob, err error) {
		err = row.Scan(&c.Layer, &c.Path, &c.BlobSHA, &c.Text)
		return c, err
	}, query, args...)
}

// GoodLayer implements ports.Store.
func (s layers) GoodLayer(ctx context.Context, repoID int64, layer string) (*ports.GoodLayer, error) {
	var g ports.GoodLayer
	err := s.db.read(ctx, func(t tx) error {
		err := t.row(ctx, `SELECT source FROM good_layers WHERE repo_id = ? AND layer = ?`, repoID, layer).Scan(&g.Source)
		if err != nil {
			return err
		}
		g.Files, err = readTexts(ctx, t, `
			SELECT f.file_layer, f.path, f.blob_sha, t.body FROM good_layer_files f JOIN texts t ON t.sha256 = f.sha256
			WHERE f.repo_id = ? AND f.layer = ? ORDER BY f.position`, repoID, layer)
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the last good %s layer: %w", layer, err)
	}
	return &g, nil
}

// GoodLayerNames implements ports.Store.
func (s layers) GoodLayerNames(ctx context.Context, repoID int64) ([]string, error) {
	return listNow(ctx, s.db, "list the last good layers", only[string], `SELECT layer FROM good_layers WHERE repo_id = ? ORDER BY layer`, repoID)
}

// SaveGoodLayer implements ports.Store.
func (s layers) SaveGoodLayer(ctx context.Context, repoID int64, layer string, g ports.GoodLayer) error {
	err := s.db.write(ctx, func(t tx) error {
		_, err := t.exec(ctx, `
			INSERT INTO good_layers (repo_id, layer, source) VALUES (?, ?, ?)
			ON CONFLICT (repo_id, layer) DO UPDATE SET source = excluded.source`, repoID, layer, g.Source)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `DELETE FROM good_layer_files WHERE repo_id = ? AND layer = ?`, repoID, layer); err != nil {
			return err
		}
		for i, c := range g.Files {
			sum, err := storeText(ctx, t, c.Text)
			if err != nil {
				return err
			}
			_, err = t.exec(ctx, `INSERT INTO good_layer_files (repo_id, layer, position, file_layer, path, blob_sha, sha256) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				repoID, layer, i, c.Layer, c.Path, c.BlobSHA, sum)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "save the last good %s layer", layer)
}

// ConfigBranch implements ports.Store.
func (s layers) ConfigBranch(ctx context.Context, key string) (branch string, err error) {
	err = s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT config_branch FROM targets WHERE key = ?`, key).Scan(&branch)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the config branch of %s: %w", key, err)
	}
	return branch, nil
}

// SetConfigBranch implements ports.Store.
func (s layers) SetConfigBranch(ctx context.Context, key, branch string) error {
	return s.change(ctx, "keep the target's branch", `UPDATE targets SET config_branch = ? WHERE key = ?`, branch, key)
}

// RepositoryNames implements ports.Store.
func (s layers) RepositoryNames(ctx context.Context, repoID int64) ([]string, error) {
	return listNow(ctx, s.db, "read the repository's names", only[string], `SELECT name FROM repository_names WHERE repo_id = ? ORDER BY position, name`, repoID)
}

// AddRepositoryNames implements ports.Store.
func (s layers) AddRepositoryNames(ctx context.Context, repoID int64, names []string) error {
	err := s.db.write(ctx, func(t tx) error {
		for _, name := range names {
			_, err := t.exec(ctx, `
				INSERT INTO repository_names (repo_id, name, position)
				VALUES (?, ?, (SELECT coalesce(max(position), 0) + 1 FROM repository_names WHERE repo_id = ?))
				ON CONFLICT (repo_id, name) DO NOTHING`, repoID, name, repoID)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return wrap(err, "store the repository's names")
}
