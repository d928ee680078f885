package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Accept implements ports.Store. It may return an error although the delivery was
// stored, for example after a timeout: then a redelivery is a duplicate.
func (s intake) Accept(ctx context.Context, d ports.Delivery) (a ports.Accepted, err error) {
	err = s.db.writeFirst(ctx, func(t tx) (err error) {
		a, err = s.accept(ctx, t, d)
		return err
	})
	if err != nil {
		return ports.Accepted{}, err
	}
	return a, nil
}

// accept stores one delivery and what it asks for.
func (s intake) accept(ctx context.Context, t tx, d ports.Delivery) (ports.Accepted, error) {
	if d.GUID == "" {
		return ports.Accepted{}, errors.New("accept a delivery: it has no GUID")
	}
	if d.ReceivedAt.IsZero() {
		d.ReceivedAt = s.Now()
	}
	inserted, err := t.exec(ctx, `
		INSERT INTO deliveries (guid, event, action, installation, repo_id, received_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (guid) DO NOTHING`,
		d.GUID, d.Event, d.Action, d.Installation, d.RepoID, micros(d.ReceivedAt))
	if err != nil {
		return ports.Accepted{}, fmt.Errorf("store the delivery: %w", err)
	}
	again := false
	if inserted == 0 {
		if again, err = wasGivenUp(ctx, t, d.GUID); err != nil || !again {
			return ports.Accepted{Duplicate: err == nil}, err
		}
	}

	a := ports.Accepted{NoOp: true}
	gone, err := installationGone(ctx, t, d.Installation)
	if err != nil {
		return a, err
	}
	for _, ask := range d.Asks {
		if _, forget := ask.(ports.Forget); gone && !forget {
			continue
		}
		asked, err := s.acceptAsk(ctx, t, acceptance{Delivery: d, again: again, Accepted: &a}, ask)
		if err != nil {
			return a, err
		}
		a.NoOp = a.NoOp && !asked
	}
	return a, nil
}

// acceptance is a delivery and the result of accepting it.
type acceptance struct {
	ports.Delivery
	again bool // it came before, and what it asked for was given up
	*ports.Accepted
}

// acceptAsk stores one ask, and reports whether it asks for any work.
func (s intake) acceptAsk(ctx context.Context, t tx, d acceptance, ask ports.Ask) (asked bool, err error) {
	switch ask := ask.(type) {
	case ports.Push:
		return false, savePush(ctx, t, ask)
	case ports.ReviewAsk:
		return s.acceptReview(ctx, t, d, ask)
	case ports.Close:
		return s.acceptClose(ctx, t, d, ask)
	case ports.Command:
		return s.acceptCommand(ctx, t, d, ask)
	case ports.ScanNews:
		return s.acceptScans(ctx, t, ask)
	case ports.Forget:
		if len(ask.Repos) == 0 {
			// The mark keeps out deliveries that come before all data is deleted.
			if err := s.markGone(ctx, t, ask.Installation); err != nil {
				return false, err
			}
		}
	}
	job, ok := ask.(ports.JobAsk)
	if !ok {
		return false, fmt.Errorf("accept a delivery: unknown ask %T", ask)
	}
	_, err = t.insertJob(ctx, job.Job(d.GUID))
	return true, err
}

// wasGivenUp reports whether a delivery that was seen before counts again: what it
// asked for was given up, and nothing has asked for it since.
func wasGivenUp(ctx context.Context, t tx, guid string) (bool, error) {
	// Both rows are locked before they are compared: if two redeliveries come at once,
	// the second must see what the first asked for.
	var key string
	if err := t.row(ctx, `SELECT target_key FROM deliveries WHERE guid = ?`+t.lock(), guid).Scan(&key); err != nil {
		return false, fmt.Errorf("read the delivery stored before: %w", err)
	}
	if _, err := list(ctx, t, only[string], `SELECT key FROM targets WHERE key = ?`+t.lock(), key); err != nil {
		return false, fmt.Errorf("read the target of the delivery stored before: %w", err)
	}
	var givenUp bool
	err := t.row(ctx, `SELECT `+deliveryGivenUp+` FROM deliveries d WHERE d.guid = ?`, guid).Scan(&givenUp)
	if err != nil {
		return false, fmt.Errorf("read the delivery stored before: %w", err)
	}
	if givenUp {
		if _, err := t.exec(ctx, `UPDATE deliveries SET gave_up = 0 WHERE guid = ?`, guid); err != nil {
			return false, fmt.Errorf("ask again for the delivery: %w", err)
		}
	}
	return givenUp, nil
}

// deliveryGivenUp is the condition for a delivery d that counts again: see wasGivenUp.
const deliveryGivenUp = `(d.gave_up = 1 OR EXISTS (
	SELECT 1 FROM targets t WHERE t.key = d.target_key
	AND t.gave_up = 1 AND t.wanted = t.done AND d.generation > t.gave_up_after))`

func (s intake) acceptReview(ctx context.Context, t tx, d acceptance, ask ports.ReviewAsk) (asked bool, err error) {
	if ask.LabelsOnly {
		var reads pipeline.LabelsRead // LabelsNone for an unknown target
		err := t.row(ctx, `SELECT reads_labels FROM targets WHERE key = ?`, ask.Target.Key()).Scan(&reads)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, fmt.Errorf("read which labels the target's review used: %w", err)
		}
		if reads == pipeline.LabelsNone || reads == pipeline.LabelsOfTypes && !ask.TypeLabel {
			return false, nil
		}
	}
	r, err := s.raise(ctx, t, ask)
	if err != nil {
		return false, err
	}
	d.Key, d.HeadMoved = ask.Target.Key(), r.headMoved
	if _, err := t.exec(ctx, `UPDATE deliveries SET target_key = ?, generation = ? WHERE guid = ?`, d.Key, r.wanted, d.GUID); err != nil {
		return false, fmt.Errorf("record the generation that the delivery raised: %w", err)
	}
	return true, nil
}

// acceptClose closes the target if it is known. A close that came late asks for a run if the target
// is open, and for nothing if it is closed already. A merge asks for a job that brings the
// repository's issues up to date.
func (s intake) acceptClose(ctx context.Context, t tx, d acceptance, ask ports.Close) (asked bool, err error) {
	d.Key = ask.Target.Key()
	var head string
	var closed bool
	err = t.row(ctx, `SELECT head_sha, closed = 1 FROM targets WHERE key = ?`+t.lock(), d.Key).Scan(&head, &closed)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		d.Closed, err = s.closeTarget(ctx, t, ask)
	}
	if err != nil {
		return false, fmt.Errorf("close the target: %w", err)
	}
	switch {
	case d.Closed:
		err = s.askOthers(ctx, t, ask.Target.RepoID, head, d.Key)
	case !closed: // GitHub's times have no fractions, so a run looks which event was the last
		_, err = s.raise(ctx, t, ports.ReviewAsk{Target: ask.Target.At(""), Reason: "closed and reopened", Rerun: ports.Rerun{Decide: true}})
	}
	if err != nil {
		return false, err
	}
	if err := learn(ctx, t, ask.Target, s.ended(ask)); err != nil || !ask.Merged {
		return d.Closed || !closed, err
	}
	_, err = t.insertJob(ctx, ports.NewJob(ports.JobIssues, ports.IssuesJob{Ask: ports.IssuesAsk{Target: ask.Target}, Delivery: d.GUID}))
	return true, err
}

// closeTarget marks a known target as closed. It changes nothing, and returns false, if the target was
// reopened since, because a delivery may come late. A merged pull request can't be reopened. The caller
// has locked the target.
func (s *core) closeTarget(ctx context.Context, t tx, c ports.Close) (closed bool, err error) {
	last := c.Merged || c.At.IsZero()
	n, err := t.exec(ctx, `UPDATE targets SET closed = 1, merged = ?, closed_at = CASE WHEN closed = 1 THEN closed_at ELSE ? END
		WHERE key = ? AND (? = 1 OR head_at <= ? AND NOT EXISTS (SELECT 1 FROM learning l WHERE l.target_key = targets.key AND l.event = ?))`,
		number(c.Merged), s.now(), c.Target.Key(), number(last), micros(c.At), reopenedEvent(c.At))
	if err == nil && c.Merged {
		err = s.countMerged(ctx, t, c.Target.Key())
	}
	return n > 0, err
}

// acceptCommand stores a command and its job, unless the comment's command is
// known already. GitHub signs comment ids, but not GUIDs.
func (s intake) acceptCommand(ctx context.Context, t tx, d acceptance, c ports.Command) (asked bool, err error) {
	if c.ReceivedAt.IsZero() {
		c.ReceivedAt = d.ReceivedAt
	}
	// The target must be known for a notice, even if it is never reviewed.
	if err := remember(ctx, t, c.Target); err != nil {
		return false, err
	}
	target, err := json.Marshal(c.Target)
	if err != nil {
		return false, fmt.Errorf("encode the command's target: %w", err)
	}
	inserted, err := t.exec(ctx, `
		INSERT INTO commands (place, comment_id, target_key, target, sender, sender_id, author, author_id, name, args, received_at, written_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (place, comment_id) DO NOTHING`,
		string(c.Place), c.CommentID, c.Target.Key(), string(target), c.Sender, c.SenderID, c.Author, c.AuthorID, c.Name, c.Args, micros(c.ReceivedAt), micros(c.WrittenAt))
	if err != nil {
		return false, fmt.Errorf("store the command: %w", err)
	}
	if inserted == 0 && !d.again {
		return false, nil
	}
	_, err = t.insertJob(ctx, ports.NewJob(ports.JobCommand, ports.CommandJob{Place: c.Place, CommentID: c.CommentID, Delivery: d.GUID}))
	return true, err
}

// giveUpDelivery records that the job of a delivery was given up, so
// that a redelivery asks again.
func (s *core) giveUpDelivery(ctx context.Context, guid string) error {
	return s.db.write(ctx, func(t tx) error {
		if _, err := t.exec(ctx, `UPDATE deliveries SET gave_up = 1 WHERE guid = ?`, guid); err != nil {
			return fmt.Errorf("record that a delivery was given up: %w", err)
		}
		return nil
	})
}
