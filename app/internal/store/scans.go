package store

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// maxScanNews bounds the news that a target keeps while a review is on its way. At
	// this limit SetScans asks for another review in any case.
	maxScanNews = 50
	// scanPatience is the time after which a job for such news counts as lost.
	scanPatience = 10 * time.Minute
)

// scanTarget is the state of a target that matters for news of other Apps' checks.
type scanTarget struct {
	ports.Target
	reads   ports.ScansRead
	news    []ports.ScanNews
	running bool // a review of it is wanted or on its way
	asked   int64
}

// acceptScans asks for a review of the targets that the news concern. If a review
// is on its way, nobody knows yet what it will read: acceptScans keeps the news until the
// review ends.
func (s intake) acceptScans(ctx context.Context, t tx, n ports.ScanNews) (asked bool, err error) {
	where, args := `repo_id = ? AND head_sha = ? AND closed = 0`, []any{n.RepoID, n.HeadSHA}
	if n.HeadSHA == "" {
		where, args = `key = ? AND closed = 0`, []any{ports.Target{Kind: ports.TargetPull, RepoID: n.RepoID, Number: n.Number}.Key()}
	}
	targets, err := scanTargetsWhere(ctx, t, where, args...)
	if err != nil {
		return false, err
	}
	for _, g := range targets {
		switch {
		case g.reads.Concerns(n):
			asked = true
			err = s.askLater(ctx, t, g)
		case g.running && len(g.news) < maxScanNews:
			err = storeScanNews(ctx, t, g.Key(), append(g.news, n))
		}
		if err != nil {
			return false, err
		}
	}
	return asked, nil
}

func scanTargetsWhere(ctx context.Context, t tx, where string, args ...any) (all []scanTarget, err error) {
	err = t.each(ctx, func(row scanner) error {
		var g scanTarget
		var reads, news string
		if err := row.Scan(append(targetDest(&g.Target), &reads, &news, &g.running, &g.asked)...); err != nil {
			return err
		}
		all = append(all, g)
		if err := decodeText(reads, &all[len(all)-1].reads); err != nil {
			return err
		}
		return decodeText(news, &all[len(all)-1].news)
	}, `SELECT `+targetColumns+`, scans, scan_news, wanted > done, scan_asked FROM targets WHERE `+where+` ORDER BY number, key`+t.lock(), args...)
	return all, wrap(err, "list the targets that read other Apps' results")
}

// encodeText encodes a value as JSON, and the zero value as "".
func encodeText(v any) (string, error) {
	if reflect.ValueOf(v).IsZero() {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), wrap(err, "encode %T", v)
}

// decodeText reads JSON that may be missing.
func decodeText(text string, into any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
}

// askLater inserts the job that asks for the review, unless one is on its way.
func (s *core) askLater(ctx context.Context, t tx, g scanTarget) error {
	now := s.now()
	if g.asked != 0 && now-g.asked < scanPatience.Microseconds() {
		return nil
	}
	if _, err := t.exec(ctx, `UPDATE targets SET scan_asked = ? WHERE key = ?`, now, g.Key()); err != nil {
		return fmt.Errorf("record events about other Apps' results: %w", err)
	}
	_, err := t.insertJob(ctx, ports.NewJob(ports.JobScans, ports.ScansJob{Key: g.Key(), Asked: now}))
	return err
}

func storeScanNews(ctx context.Context, t tx, key string, news []ports.ScanNews) error {
	text := ""
	if len(news) > 0 {
		b, err := json.Marshal(news)
		if err != nil {
			return fmt.Errorf("encode an event about other Apps' results: %w", err)
		}
		text = string(b)
	}
	if err := must(t.exec(ctx, `UPDATE targets SET scan_news = ? WHERE key = ?`, text, key)); err != nil {
		return fmt.Errorf("store an event about other Apps' results: %w", err)
	}
	return nil
}

// BeginScans implements ports.Store.
func (s scans) BeginScans(ctx context.Context, key string) error {
	return s.db.write(ctx, func(t tx) error { return storeScanNews(ctx, t, key, nil) })
}

// SetScans implements ports.Store.
func (s scans) SetScans(ctx context.Context, key string, reads ports.ScansRead) error {
	text := ""
	if len(reads.Agents) > 0 {
		b, err := json.Marshal(reads)
		if err != nil {
			return fmt.Errorf("encode what was read of other Apps' results: %w", err)
		}
		text = string(b)
	}
	return s.db.write(ctx, func(t tx) error {
		targets, err := scanTargetsWhere(ctx, t, `key = ?`, key)
		if err != nil {
			return err
		}
		if err := must(t.exec(ctx, `UPDATE targets SET scans = ?, scan_news = '' WHERE key = ?`, text, key)); err != nil {
			return fmt.Errorf("record what was read of other Apps' results: %w", err)
		}
		for _, g := range targets {
			missed := len(g.news) >= maxScanNews && text != ""
			for _, n := range g.news {
				missed = missed || reads.Concerns(n)
			}
			if missed {
				return s.askLater(ctx, t, g)
			}
		}
		return nil
	})
}

// AskScans implements ports.Store.
func (s scans) AskScans(ctx context.Context, key string, every time.Duration) (wait time.Duration, err error) {
	err = s.db.write(ctx, func(t tx) error {
		wait = 0
		targets, err := scanTargetsWhere(ctx, t, `key = ? AND closed = 0`, key)
		switch {
		case err != nil:
			return err
		case len(targets) == 0: // closed; when it is opened again it is reviewed
			if _, err := t.exec(ctx, `UPDATE targets SET scan_asked = 0 WHERE key = ?`, key); err != nil {
				return fmt.Errorf("delete events about other Apps' results: %w", err)
			}
			return nil
		case targets[0].asked == 0:
			return nil
		}
		g, now := targets[0], s.now()
		var last int64
		if err := t.row(ctx, `SELECT scanned_at FROM targets WHERE key = ?`, key).Scan(&last); err != nil {
			return fmt.Errorf("read the time of the last review for other Apps' results: %w", err)
		}
		if left := every.Microseconds() - (now - last); last != 0 && left > 0 {
			wait = time.Duration(left) * time.Microsecond
			return nil
		}
		if _, err := t.exec(ctx, `UPDATE targets SET scan_asked = 0, scanned_at = ? WHERE key = ?`, now, key); err != nil {
			return fmt.Errorf("record a review for other Apps' results: %w", err)
		}
		ask := ports.ReviewAsk{Target: g.Target, Reason: "another check ended", Rerun: ports.Rerun{Agents: g.reads.IDs()}}
		_, err = s.raise(ctx, t, ask)
		return err
	})
	return wait, err
}
