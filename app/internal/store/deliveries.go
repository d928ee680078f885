package store

import (
	"context"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// maxLostDeliveries bounds the stored list of missing deliveries: some 5 MB.
	maxLostDeliveries = 20_000
	// lostChunk is how many deliveries one transaction stores.
	lostChunk = 500
)

// AddLostDeliveries implements ports.Store. After a failure all chunks are stored again: the mark
// moves only after the last one.
func (s recovery) AddLostDeliveries(ctx context.Context, read ports.LogRead) (dropped int64, err error) {
	fail := func(err error) (int64, error) {
		return 0, fmt.Errorf("store the entries of the delivery log: %w", err)
	}
	for lost := read.Lost; len(lost) > 0; {
		chunk := lost[:min(lostChunk, len(lost))]
		lost = lost[len(chunk):]
		if err := s.db.write(ctx, func(t tx) error { return insertLostDeliveries(ctx, t, chunk) }); err != nil {
			return fail(err)
		}
	}
	err = s.db.write(ctx, func(t tx) error {
		if err := execAll(ctx, t, []statementArgs{
			{`DELETE FROM lost_deliveries WHERE at < ?`, []any{micros(read.Before)}},
			{`DELETE FROM lost_deliveries WHERE EXISTS (
				SELECT 1 FROM deliveries d WHERE d.guid = lost_deliveries.guid AND NOT (` + deliveryGivenUp + `))`, nil},
		}); err != nil {
			return err
		}
		var err error
		dropped, err = t.exec(ctx, `DELETE FROM lost_deliveries WHERE guid IN (
			SELECT guid FROM lost_deliveries ORDER BY urgency DESC, at, guid LIMIT ? OFFSET ?)`, 1<<31, maxLostDeliveries)
		if err != nil {
			return err
		}
		return setMark(ctx, t, ports.MarkDeliveries, read.UpTo)
	})
	if err != nil {
		return fail(err)
	}
	return dropped, nil
}

func insertLostDeliveries(ctx context.Context, t tx, lost []ports.LostDelivery) error {
	for _, d := range lost {
		if _, err := t.exec(ctx, `
			INSERT INTO lost_deliveries (guid, attempt, event, action, status, at, installation, repo_id, urgency)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (guid) DO UPDATE SET attempt = excluded.attempt, status = excluded.status WHERE excluded.attempt > lost_deliveries.attempt`,
			d.GUID, d.ID, d.Event, d.Action, d.Status, micros(d.At), d.Installation, d.RepoID, d.Urgency); err != nil {
			return err
		}
	}
	return nil
}

// LostDeliveries implements ports.Store.
func (s recovery) LostDeliveries(ctx context.Context, now time.Time, limit int) ([]ports.LostDelivery, error) {
	return listNow(ctx, s.db, "list the missing deliveries", func(row scanner) (d ports.LostDelivery, err error) {
		var at int64
		err = row.Scan(&d.GUID, &d.ID, &d.Event, &d.Action, &d.Status, &at, &d.Installation, &d.RepoID, &d.Urgency, &d.Looks)
		d.At = fromMicros(at)
		return d, err
	}, `SELECT guid, attempt, event, action, status, at, installation, repo_id, urgency, looks FROM lost_deliveries
		WHERE next_at <= ? ORDER BY urgency DESC, at, guid LIMIT ?`, micros(now), limit)
}

// LookedFor implements ports.Store. It does nothing if the delivery is no longer missing.
func (s recovery) LookedFor(ctx context.Context, guid string, next time.Time) error {
	err := s.db.write(ctx, func(t tx) error {
		_, err := t.exec(ctx, `UPDATE lost_deliveries SET looks = looks + 1, next_at = ? WHERE guid = ?`, micros(next), guid)
		return err
	})
	return wrap(err, "record the search for delivery %s", guid)
}
