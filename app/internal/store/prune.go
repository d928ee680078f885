package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// outdated is the condition for targets t that ended long ago and have no work left.
const outdated = `(t.closed = 1 AND t.closed_at < ? OR t.kind = ? AND t.job_checked_at < ?) AND t.wanted = t.done AND t.notice = ''
	AND NOT EXISTS (SELECT 1 FROM writes w WHERE w.target_key = t.key AND w.kind = ? AND w.state <> 'completed'
		AND NOT EXISTS (SELECT 1 FROM targets o WHERE o.repo_id = t.repo_id AND o.head_sha = w.head_sha AND o.closed = 0 AND o.key <> t.key))`

func outdatedArgs(before time.Time) []any {
	return []any{micros(before), string(ports.TargetGroup), micros(before), string(ports.WriteCheck)}
}

// Outdated implements ports.Store. A merge group whose end GitHub never reported counts
// as ended too.
func (s retention) Outdated(ctx context.Context, before time.Time, limit int) (keys []string, err error) {
	err = s.db.read(ctx, func(t tx) error {
		keys, err = list(ctx, t, only[string], `SELECT key FROM targets t WHERE `+outdated+` ORDER BY closed_at, key LIMIT ?`, append(outdatedArgs(before), limit)...)
		return err
	})
	return keys, wrap(err, "list the targets closed before %s", before)
}

// pruned describes a kind of row that Prune deletes. find lists the keys of rows that
// are no longer needed. If other rows can refer to them, delete checks again that none
// does.
type pruned struct {
	what   string
	find   string
	delete string // with a list of keys in the place of %s
	batch  int
}

// Prune implements ports.Store. It looks for old rows in a read transaction. Only the
// deletion of a batch makes other writes wait.
func (s retention) Prune(ctx context.Context, before ports.Ages) (n int, err error) {
	if n, err = s.expireMemory(ctx, before.Memory); err != nil || n > 0 {
		return n, err
	}
	reviews, deliveries := before.Reviews, before.Deliveries
	for _, p := range []struct {
		pruned
		args []any
	}{
		{oldReviews, []any{micros(reviews)}},
		{oldBacktests, []any{micros(reviews)}},
		{oldWrites, []any{micros(reviews)}},
		{oldEvents, []any{micros(reviews)}},
		{oldRequests, []any{micros(reviews)}},
		{oldDeliveries, []any{micros(deliveries)}},
		{oldMarks, []any{goneMarks + "%", micros(deliveries)}},
		{oldLogs, []any{micros(before.Learning)}},
		{oldEntries, nil},
		{freeLeases, nil},
		{orphanedTexts, nil},
		{orphanedFiles, nil},
	} {
		n, err := s.pruneOne(ctx, p.pruned, p.args)
		if err != nil {
			return 0, fmt.Errorf("delete %s: %w", p.what, err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, nil
}

func (s retention) pruneOne(ctx context.Context, p pruned, args []any) (int, error) {
	keys, err := listNow(ctx, s.db, "look for old rows", only[any], p.find+fmt.Sprintf(` LIMIT %d`, p.batch), args...)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	for len(keys) < p.batch { // one statement to prepare, whatever their number
		keys = append(keys, keys[0])
	}
	var n int64
	err = s.db.write(ctx, func(t tx) (err error) {
		n, err = t.exec(ctx, fmt.Sprintf(p.delete, `(?`+strings.Repeat(`, ?`, len(keys)-1)+`)`), keys...)
		return err
	})
	return int(n), err
}

var (
	// oldReviews keeps three kinds of reviews of each target: the newest published one,
	// which its check and comment show; the newest published one on another head, which
	// the next review is compared with; and those that are still to be published.
	oldReviews = pruned{
		what: "old reviews",
		find: `
			SELECT r.id FROM reviews r WHERE r.saved_at < ?
			AND EXISTS (SELECT 1 FROM reviews n WHERE n.target_key = r.target_key AND n.published_at > 0 AND n.id > r.id)
			AND (r.published_at = 0 OR r.id < (
				SELECT max(o.id) FROM reviews o WHERE o.target_key = r.target_key AND o.published_at > 0 AND o.head_sha <> (
					SELECT l.head_sha FROM reviews l WHERE l.id = (SELECT max(m.id) FROM reviews m WHERE m.target_key = r.target_key AND m.published_at > 0)))
				OR r.head_sha = (
					SELECT l.head_sha FROM reviews l WHERE l.id = (SELECT max(m.id) FROM reviews m WHERE m.target_key = r.target_key AND m.published_at > 0)))
			ORDER BY r.id`,
		delete: `DELETE FROM reviews WHERE id IN %s`,
		batch:  reviewsAtOnce,
	}
	// oldBacktests quote reviews of other targets, which are deleted, too.
	oldBacktests = pruned{
		what:   "old backtests of proposed config",
		find:   `SELECT target_key FROM config_backtests WHERE saved_at < ?`,
		delete: `DELETE FROM config_backtests WHERE target_key IN %s`,
		batch:  200,
	}
	// oldWrites are writes for targets that are deleted, on heads that no open target has.
	oldWrites = pruned{
		what: "old writes",
		find: `
			SELECT w.id FROM writes w WHERE w.intended_at < ?
			AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.key = w.target_key)
			AND NOT EXISTS (SELECT 1 FROM targets o WHERE w.subject = CAST(o.repo_id AS TEXT) || '/' || o.head_sha AND o.head_sha = w.head_sha AND o.closed = 0)
			ORDER BY w.id`,
		delete: `DELETE FROM writes WHERE id IN %s`,
		batch:  200,
	}
	// oldEvents are forgotten: a later event with the id of one counts as new.
	oldEvents = pruned{
		what:   "old events of sessions",
		find:   `SELECT id FROM session_events WHERE at < ? AND cycle > 0 ORDER BY at`,
		delete: `DELETE FROM session_events WHERE id IN %s`,
		batch:  200,
	}
	// oldRequests are so old that nobody awaits their answers.
	oldRequests = pruned{
		what:   "old requests to reviewers",
		find:   `SELECT id FROM session_requests WHERE asked_at < ? ORDER BY asked_at`,
		delete: `DELETE FROM session_requests WHERE id IN %s`,
		batch:  50,
	}
	oldDeliveries = pruned{
		what:   "old deliveries",
		find:   `SELECT guid FROM deliveries WHERE received_at < ?`,
		delete: `DELETE FROM deliveries WHERE guid IN %s`,
		batch:  200,
	}
	// oldMarks are of asks that count once, and of installations that are gone.
	oldMarks = pruned{
		what:   "old marks",
		find:   `SELECT name FROM marks WHERE (name LIKE 'asked %' OR name LIKE ?) AND at < ?`,
		delete: `DELETE FROM marks WHERE name IN %s`,
		batch:  200,
	}
	// oldLogs are of pull requests without a newer entry, and none of them is open.
	oldLogs = pruned{
		what: "old logs",
		find: `
			SELECT l.target_key FROM learning_logs l WHERE l.newest < ?
			AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.key = l.target_key AND t.closed = 0)`,
		delete: `DELETE FROM learning_logs WHERE target_key IN %s`,
		batch:  50,
	}
	// oldEntries no longer belong to a log.
	oldEntries = pruned{
		what:   "entries of old logs",
		find:   `SELECT DISTINCT l.target_key FROM learning l WHERE NOT EXISTS (SELECT 1 FROM learning_logs p WHERE p.target_key = l.target_key)`,
		delete: `DELETE FROM learning WHERE target_key IN %s`,
		batch:  50,
	}
	// freeLeases are the leases that nobody holds and that belong to no target, such as
	// those of heads and sweeps. If one is taken again, its token is greater than before.
	freeLeases = pruned{
		what:   "free leases",
		find:   `SELECT l.key FROM leases l WHERE l.owner = '' AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.key = l.key)`,
		delete: `DELETE FROM leases WHERE owner = '' AND key IN %s`,
		batch:  200,
	}
	orphanedTexts = pruned{
		what: "texts that nothing refers to",
		find: `
			SELECT t.sha256 FROM texts t WHERE NOT EXISTS (SELECT 1 FROM review_configs c WHERE c.sha256 = t.sha256)
			AND NOT EXISTS (SELECT 1 FROM good_layer_files f WHERE f.sha256 = t.sha256)`,
		delete: `
			DELETE FROM texts WHERE NOT EXISTS (SELECT 1 FROM review_configs c WHERE c.sha256 = texts.sha256)
			AND NOT EXISTS (SELECT 1 FROM good_layer_files f WHERE f.sha256 = texts.sha256) AND sha256 IN %s`,
		batch: 50,
	}
	// orphanedFiles are found by the hash alone, since a key must be one value. If
	// another target has the same files, delete keeps those that a review refers to.
	orphanedFiles = pruned{
		what: "changed files that nothing refers to",
		find: `
			SELECT f.sha256 FROM changed_files f
			WHERE NOT EXISTS (SELECT 1 FROM review_files r WHERE r.target_key = f.target_key AND r.sha256 = f.sha256)`,
		delete: `
			DELETE FROM changed_files WHERE sha256 IN %s
			AND NOT EXISTS (SELECT 1 FROM review_files r WHERE r.target_key = changed_files.target_key AND r.sha256 = changed_files.sha256)`,
		batch: reviewsAtOnce,
	}
)
