package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Held implements ports.Store.
func (s retention) Held(ctx context.Context, f ports.Forget) ([]ports.Holding, error) {
	var held []ports.Holding
	err := s.db.read(ctx, func(t tx) error {
		repos := f.Repos
		if len(repos) == 0 {
			var err error
			if repos, err = reposOf(ctx, t, f.Installation); err != nil {
				return err
			}
		}
		for _, repo := range repos {
			h, any, err := holding(ctx, t, repo, f)
			if err != nil {
				return err
			}
			if any {
				held = append(held, h)
			}
		}
		return nil
	})
	return held, wrap(err, "list the stored repositories")
}

// reposOf lists the repositories of an installation that the database has data about.
func reposOf(ctx context.Context, t tx, installation int64) ([]int64, error) {
	return list(ctx, t, only[int64], `SELECT repo_id FROM targets WHERE installation = ?
		UNION SELECT repo_id FROM repositories WHERE installation = ?
		UNION SELECT repo_id FROM deliveries WHERE installation = ? AND repo_id <> 0 ORDER BY repo_id`, installation, installation, installation)
}

// holding returns what the database holds about one repository. If an installation is
// gone, only its own targets count: the repository may belong to another one now.
func holding(ctx context.Context, t tx, repo int64, f ports.Forget) (h ports.Holding, any bool, err error) {
	h.Repository = ports.Target{Kind: ports.TargetPull, Installation: f.Installation, RepoID: repo}
	err = t.each(ctx, func(row scanner) error {
		var key string
		if err := row.Scan(&key, &h.Repository.Installation, &h.Repository.Owner, &h.Repository.Name); err != nil {
			return err
		}
		h.Keys = append(h.Keys, key)
		return nil
	}, `SELECT key, installation, owner, name FROM targets WHERE repo_id = ? AND (installation = ? OR ? = 1) ORDER BY key`,
		repo, f.Installation, number(len(f.Repos) > 0))
	if err != nil || len(h.Keys) > 0 {
		return h, true, err
	}
	err = t.row(ctx, `SELECT installation, owner, name FROM repositories WHERE repo_id = ?`, repo).
		Scan(&h.Repository.Installation, &h.Repository.Owner, &h.Repository.Name)
	if !errors.Is(err, sql.ErrNoRows) {
		return h, true, err
	}
	err = t.row(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries WHERE repo_id = ?) OR EXISTS (SELECT 1 FROM good_layers WHERE repo_id = ?)
		OR EXISTS (SELECT 1 FROM repository_names WHERE repo_id = ?) OR EXISTS (SELECT 1 FROM memory_records WHERE repo_id = ?)
		OR EXISTS (SELECT 1 FROM api_tokens WHERE repo_id = ?)`, repo, repo, repo, repo, repo).Scan(&any)
	return h, any, err
}

// reviewsAtOnce is how many reviews are deleted in one transaction. It takes some
// milliseconds, in which nothing else can write to SQLite.
const reviewsAtOnce = 20

// ForgetTarget implements ports.Store.
func (s retention) ForgetTarget(ctx context.Context, l ports.Lease) error {
	return s.forgetWhile(ctx, l, func(tx) (bool, error) { return true, nil })
}

// ForgetOutdated implements ports.Store. An ask may have come since the target
// was listed. Its job may have ended because the caller holds the lease: then the
// lease is handed over to a new job.
func (s retention) ForgetOutdated(ctx context.Context, l ports.Lease, before time.Time) (gone bool, err error) {
	gone = true
	err = s.forgetWhile(ctx, l, func(t tx) (bool, error) {
		if _, err := list(ctx, t, only[string], `SELECT key FROM targets WHERE key = ?`+t.lock(), l.Key); err != nil {
			return false, err
		}
		err := t.row(ctx, `SELECT EXISTS (SELECT 1 FROM targets t WHERE t.key = ? AND `+outdated+`)`,
			append([]any{l.Key}, outdatedArgs(before)...)...).Scan(&gone)
		if err != nil {
			return false, err
		}
		if gone {
			return true, rememberRepository(ctx, t, l.Key)
		}
		var left bool
		err = t.row(ctx, `SELECT EXISTS (SELECT 1 FROM targets WHERE key = ? AND (wanted > done OR notice <> ''))`, l.Key).Scan(&left)
		if err != nil || !left {
			return false, err
		}
		return false, s.handOver(ctx, t, l, ports.JobReview)
	})
	return gone && err == nil, err
}

// rememberRepository stores the owner and name of a target's repository: the target may
// be the last row that has them.
func rememberRepository(ctx context.Context, t tx, key string) error {
	_, err := t.exec(ctx, `
		INSERT INTO repositories (repo_id, installation, owner, name) SELECT repo_id, installation, owner, name FROM targets WHERE key = ?
		ON CONFLICT (repo_id) DO UPDATE SET installation = excluded.installation, owner = excluded.owner, name = excluded.name`, key)
	return wrap(err, "record its repository")
}

// forgetWhile deletes a target, unless mayGo returns false. It deletes the reviews
// first, a few in each transaction.
func (s retention) forgetWhile(ctx context.Context, l ports.Lease, mayGo func(tx) (bool, error)) error {
	for more := true; more; {
		err := s.db.write(ctx, func(t tx) error {
			more = false
			if err := fence(ctx, t, l); err != nil {
				return err
			}
			if ok, err := mayGo(t); err != nil || !ok {
				return err
			}
			n, err := t.exec(ctx, `DELETE FROM reviews WHERE id IN (SELECT id FROM reviews WHERE target_key = ? ORDER BY id LIMIT ?)`, l.Key, reviewsAtOnce)
			if more = n == reviewsAtOnce; err != nil || more {
				return err
			}
			return forgetTarget(ctx, t, l.Key)
		})
		if err != nil {
			return fmt.Errorf("delete %s: %w", l.Key, err)
		}
	}
	return nil
}

func forgetTarget(ctx context.Context, t tx, key string) error {
	var repo int64
	err := t.row(ctx, `SELECT repo_id FROM targets WHERE key = ?`+t.lock(), key).Scan(&repo)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := endOfTaught(ctx, t, key); err != nil {
		return err
	}
	for _, table := range targetTables {
		query := `DELETE FROM ` + table + ` WHERE target_key = ?`
		args := []any{key}
		if table == "writes" { // another target on this head may still use the check
			query += ` AND NOT EXISTS (SELECT 1 FROM targets o WHERE o.repo_id = ? AND o.head_sha = writes.head_sha AND o.closed = 0 AND o.key <> ?)`
			args = append(args, repo, key)
		}
		if _, err := t.exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return execAll(ctx, t, []statementArgs{
		{`DELETE FROM targets WHERE key = ?`, []any{key}},
		{`DELETE FROM leases WHERE key = ?`, []any{key}},
	})
}

type statementArgs struct {
	query string
	args  []any
}

func execAll(ctx context.Context, t tx, all []statementArgs) error {
	for _, st := range all {
		if _, err := t.exec(ctx, st.query, st.args...); err != nil {
			return err
		}
	}
	return nil
}

// ForgetRepository implements ports.Store. It deletes nothing if the repository has a
// target: that one came meanwhile, from an installation that has the repository now.
func (s retention) ForgetRepository(ctx context.Context, repoID int64) error {
	err := s.db.write(ctx, func(t tx) error {
		var has bool
		if err := t.row(ctx, `SELECT EXISTS (SELECT 1 FROM targets WHERE repo_id = ?)`, repoID).Scan(&has); err != nil || has {
			return err
		}
		pulls, groups := fmt.Sprintf("pull/%d/%%", repoID), fmt.Sprintf("group/%d/%%", repoID)
		var all []statementArgs
		for _, table := range targetTables {
			all = append(all, statementArgs{`DELETE FROM ` + table + ` WHERE target_key LIKE ? OR target_key LIKE ?`, []any{pulls, groups}})
		}
		for _, table := range repositoryTables {
			all = append(all, statementArgs{`DELETE FROM ` + table + ` WHERE repo_id = ?`, []any{repoID}})
		}
		all = append(all,
			statementArgs{`DELETE FROM leases WHERE owner = '' AND (key LIKE ? OR key LIKE ? OR key LIKE ? OR key = ? OR key = ?)`,
				[]any{pulls, groups, fmt.Sprintf("check/%d/%%", repoID), fmt.Sprintf("sweep/%d", repoID), fmt.Sprintf("issues/%d", repoID)}},
			statementArgs{`DELETE FROM marks WHERE name LIKE ? OR name LIKE ? OR name = ?`,
				[]any{"asked %" + pulls, "asked %" + groups, fmt.Sprintf("issues refused/%d", repoID)}},
			statementArgs{`DELETE FROM audit WHERE target_key LIKE ?`, []any{memoryKeys(repoID) + "%"}},
			statementArgs{`UPDATE deliveries SET action = '', installation = 0, repo_id = 0, target_key = '', generation = 0 WHERE repo_id = ?`, []any{repoID}},
			statementArgs{`DELETE FROM lost_deliveries WHERE repo_id = ?`, []any{repoID}},
		)
		return execAll(ctx, t, all)
	})
	return wrap(err, "delete the rest of repository %d", repoID)
}

// ForgetInstallation implements ports.Store. It notes that the installation is gone, and
// the note is kept as long as deliveries are.
func (s retention) ForgetInstallation(ctx context.Context, id int64) error {
	err := s.db.write(ctx, func(t tx) error {
		organisation := ports.OrganisationLayer(id, "%")
		if err := s.markGone(ctx, t, id); err != nil {
			return err
		}
		return execAll(ctx, t, []statementArgs{
			{`DELETE FROM good_layer_files WHERE repo_id = 0 AND layer LIKE ?`, []any{organisation}},
			{`DELETE FROM good_layers WHERE repo_id = 0 AND layer LIKE ?`, []any{organisation}},
			{`DELETE FROM marks WHERE name = ? OR name LIKE ?`, []any{fmt.Sprintf("sweep/%d", id), fmt.Sprintf("config %d/%%", id)}},
			{`DELETE FROM refusals WHERE installation = ?`, []any{id}},
			// Tokens stay with a repository that moved to another installation.
			{`DELETE FROM api_tokens WHERE installation = ? AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.repo_id = api_tokens.repo_id)`, []any{id}},
			{`DELETE FROM repositories WHERE installation = ?`, []any{id}}, // left from repositories that moved to another installation
			{`UPDATE deliveries SET action = '', installation = 0, repo_id = 0, target_key = '', generation = 0 WHERE installation = ?`, []any{id}},
			{`DELETE FROM lost_deliveries WHERE installation = ?`, []any{id}},
		})
	})
	return wrap(err, "delete the rest of installation %d", id)
}

// goneMark names the mark of an installation that is gone. GitHub never reuses an id.
func goneMark(id int64) string { return fmt.Sprintf("%s%d", goneMarks, id) }

const goneMarks = "gone installation/"

// markGone notes that an installation is gone: nothing more is asked for it.
func (s *core) markGone(ctx context.Context, t tx, id int64) error {
	if err := setMark(ctx, t, goneMark(id), s.Now()); err != nil {
		return fmt.Errorf("record that the installation was removed: %w", err)
	}
	return nil
}

func installationGone(ctx context.Context, t tx, id int64) (gone bool, err error) {
	if id == 0 {
		return false, nil
	}
	if err := t.row(ctx, `SELECT EXISTS (SELECT 1 FROM marks WHERE name = ?)`, goneMark(id)).Scan(&gone); err != nil {
		return false, fmt.Errorf("check whether the installation was removed: %w", err)
	}
	return gone, nil
}

// installed returns ErrNotFound if an installation is gone.
func installed(ctx context.Context, t tx, id int64) error {
	gone, err := installationGone(ctx, t, id)
	if err == nil && gone {
		err = ports.ErrNotFound
	}
	return err
}

// KnownPulls implements ports.Store.
func (s configUse) KnownPulls(ctx context.Context, repo ports.Target, limit int) ([]ports.Target, error) {
	where, args := `repo_id = ?`, []any{repo.RepoID}
	if strings.EqualFold(repo.Name, ports.OrganisationRepo) {
		where, args = `installation = ? AND lower(owner) = ?`, []any{repo.Installation, strings.ToLower(repo.Owner)}
	}
	all, err := s.targets(ctx, `SELECT `+targetColumns+` FROM targets
		WHERE `+where+` AND kind = ? AND closed = 0 ORDER BY head_at DESC, number DESC, key LIMIT ?`, append(args, string(ports.TargetPull), limit)...)
	return all, wrap(err, "list the open pull requests of repository %d", repo.RepoID)
}

// ConfigUsed implements ports.Store.
func (s configUse) ConfigUsed(ctx context.Context, key string) (files []ports.ConfigBlob, ok bool, err error) {
	err = s.db.read(ctx, func(t tx) error {
		var run string
		err := t.row(ctx, `SELECT r.run_id FROM reviews r JOIN targets t ON t.key = r.target_key
			WHERE r.target_key = ? AND r.published_at > 0 AND t.wanted = t.done ORDER BY r.id DESC LIMIT 1`, key).Scan(&run)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		files, err = list(ctx, t, func(row scanner) (c ports.ConfigBlob, err error) {
			err = row.Scan(&c.Layer, &c.Path, &c.BlobSHA)
			return c, err
		}, `SELECT layer, path, blob_sha FROM review_configs WHERE run_id = ? AND layer <> ? ORDER BY position`, run, ports.LayerProposed)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read the config that judged %s: %w", key, err)
	}
	return files, ok, nil
}
