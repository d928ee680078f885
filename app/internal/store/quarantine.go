package store

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Died implements ports.Store.
func (s leases) Died(ctx context.Context, l ports.Lease, next time.Time) error {
	return s.fenced(ctx, l, "note that a review ended its process", `
		UPDATE targets SET deaths = deaths + 1, next_try = ?, crashes = CASE WHEN crashes = 0 THEN 1 ELSE crashes END,
			quarantined_at = CASE WHEN quarantined_at = 0 THEN ? ELSE quarantined_at END
		WHERE key = ?`, micros(next), s.now(), l.Key)
}

// Rest implements ports.Store.
func (s leases) Rest(ctx context.Context, l ports.Lease) error {
	return s.fenced(ctx, l, "let a quarantined review rest", `UPDATE targets SET deaths = 0, next_try = 0, quarantined_at = 0 WHERE key = ?`, l.Key)
}

func (s leases) fenced(ctx context.Context, l ports.Lease, what, query string, args ...any) error {
	return s.db.write(ctx, func(t tx) error {
		if err := fence(ctx, t, l); err != nil {
			return err
		}
		return wrap(must(t.exec(ctx, query, args...)), "%s", what)
	})
}

// maxQuarantined is how many quarantined targets are listed.
const maxQuarantined = 1000

// Quarantined lists the open targets whose review ended its process and is tried again
// later. It lists at most maxQuarantined, those with the earliest next try first.
func (r *Reader) Quarantined(ctx context.Context) ([]ports.Quarantined, error) {
	return listNow(ctx, r.from, "list the reviews in quarantine", func(row scanner) (q ports.Quarantined, err error) {
		var since, next int64
		err = row.Scan(append(targetDest(&q.Target), &q.Deaths, &since, &next)...)
		q.Since, q.Next = fromMicros(since), fromMicros(next)
		return q, err
	}, `SELECT `+targetColumns+`, deaths, quarantined_at, next_try FROM targets WHERE deaths > 0 AND closed = 0 AND wanted > done ORDER BY next_try LIMIT ?`, maxQuarantined)
}
