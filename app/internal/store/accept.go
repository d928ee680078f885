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

// Accept implements ports.Store. An error after a while may come from a
// delivery that was stored all the same: a redelivery of it is then a
// duplicate.
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
func (s *core) accept(ctx context.Context, t tx, d ports.Delivery) (ports.Accepted, error) {
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

	var a ports.Accepted
	gone, err := installationGone(ctx, t, d.Installation)
	if err != nil {
		return a, err
	}
	if gone && d.Forget == nil {
		a.NoOp = true
		return a, nil
	}
	if d.Forget != nil && len(d.Forget.Repos) == 0 {
		// What comes after this, and before all is deleted, must not stay.
		if err := s.markGone(ctx, t, d.Forget.Installation); err != nil {
			return a, err
		}
	}
	if d.Push != nil {
		if err := savePush(ctx, t, *d.Push); err != nil {
			return a, err
		}
	}
	asked := false
	if d.Review != nil {
		ok, err := s.acceptReview(ctx, t, d.GUID, *d.Review, &a)
		if err != nil {
			return a, err
		}
		asked = asked || ok
	}
	if d.Close != nil {
		if a.Closed, err = s.closeTarget(ctx, t, *d.Close); err != nil {
			return a, err
		}
		a.Key = d.Close.Key()
		asked = asked || a.Closed
		if a.Closed && d.Merged {
			if _, err := t.insertJob(ctx, issuesArgs{Ask: ports.IssuesAsk{Target: *d.Close}, Delivery: d.GUID}); err != nil {
				return a, err
			}
		}
	}
	if d.Command != nil {
		ok, err := s.acceptCommand(ctx, t, d, again)
		if err != nil {
			return a, err
		}
		asked = asked || ok
	}
	if d.Rerequest != nil {
		if _, err := t.insertJob(ctx, rerequestArgs{Rerequest: *d.Rerequest, Delivery: d.GUID}); err != nil {
			return a, err
		}
		asked = true
	}
	if d.Report != nil {
		if _, err := t.insertJob(ctx, reportArgs{Report: *d.Report, Delivery: d.GUID}); err != nil {
			return a, err
		}
		asked = true
	}
	if d.Scans != nil {
		ok, err := s.acceptScans(ctx, t, *d.Scans)
		if err != nil {
			return a, err
		}
		asked = asked || ok
	}
	if d.Config != nil {
		if _, err := t.insertJob(ctx, configArgs{News: *d.Config, Delivery: d.GUID}); err != nil {
			return a, err
		}
		asked = true
	}
	if d.Forget != nil {
		if _, err := t.insertJob(ctx, forgetArgs{Forget: *d.Forget, Delivery: d.GUID}); err != nil {
			return a, err
		}
		asked = true
	}
	if d.Sweep != nil {
		if _, err := t.insertJob(ctx, sweepArgs{Installation: d.Sweep.Installation, Granted: d.Sweep.Granted, Delivery: d.GUID}); err != nil {
			return a, err
		}
		asked = true
	}
	a.NoOp = !asked
	return a, nil
}

// wasGivenUp reports whether a delivery that was seen before counts again:
// what it asked for was given up, and nothing was asked since.
func wasGivenUp(ctx context.Context, t tx, guid string) (bool, error) {
	// Both rows are locked before they are judged: of two redeliveries at once
	// the second has to see what the first asked for.
	var key string
	if err := t.row(ctx, `SELECT target_key FROM deliveries WHERE guid = ?`+t.lock(), guid).Scan(&key); err != nil {
		return false, fmt.Errorf("look at the delivery seen before: %w", err)
	}
	if _, err := texts(ctx, t, `SELECT key FROM targets WHERE key = ?`+t.lock(), key); err != nil {
		return false, fmt.Errorf("look at the target of the delivery seen before: %w", err)
	}
	var givenUp bool
	err := t.row(ctx, `SELECT `+deliveryGivenUp+` FROM deliveries d WHERE d.guid = ?`, guid).Scan(&givenUp)
	if err != nil {
		return false, fmt.Errorf("look at the delivery seen before: %w", err)
	}
	if givenUp {
		if _, err := t.exec(ctx, `UPDATE deliveries SET gave_up = 0 WHERE guid = ?`, guid); err != nil {
			return false, fmt.Errorf("ask for the delivery again: %w", err)
		}
	}
	return givenUp, nil
}

// deliveryGivenUp tells of a delivery d whether what it asked for was given up
// and not asked for since.
const deliveryGivenUp = `(d.gave_up = 1 OR EXISTS (
	SELECT 1 FROM targets t WHERE t.key = d.target_key
	AND t.gave_up = 1 AND t.wanted = t.done AND d.generation > t.gave_up_after))`

func (s *core) acceptReview(ctx context.Context, t tx, guid string, ask ports.ReviewAsk, a *ports.Accepted) (asked bool, err error) {
	if ask.LabelsOnly {
		var reads pipeline.LabelsRead // none of a target that is not known
		err := t.row(ctx, `SELECT reads_labels FROM targets WHERE key = ?`, ask.Target.Key()).Scan(&reads)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, fmt.Errorf("look which labels the target reads: %w", err)
		}
		if reads == pipeline.LabelsNone || reads == pipeline.LabelsOfTypes && !ask.TypeLabel {
			return false, nil
		}
	}
	r, err := s.raise(ctx, t, ask, false)
	if err != nil {
		return false, err
	}
	a.Key, a.HeadMoved = ask.Target.Key(), r.headMoved
	if _, err := t.exec(ctx, `UPDATE deliveries SET target_key = ?, generation = ? WHERE guid = ?`, a.Key, r.wanted, guid); err != nil {
		return false, fmt.Errorf("note what the delivery raised: %w", err)
	}
	return true, nil
}

func (s *core) closeTarget(ctx context.Context, t tx, g ports.Target) (known bool, err error) {
	var head string
	err = t.row(ctx, `UPDATE targets SET closed = 1, closed_at = CASE WHEN closed = 1 THEN closed_at ELSE ? END WHERE key = ? RETURNING head_sha`, s.now(), g.Key()).Scan(&head)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("close the target: %w", err)
	}
	return true, s.askOthers(ctx, t, g.RepoID, head, g.Key())
}

// acceptCommand stores a command and its job, unless the comment's command is
// known: GUIDs aren't signed, comment ids are.
func (s *core) acceptCommand(ctx context.Context, t tx, d ports.Delivery, again bool) (asked bool, err error) {
	c := *d.Command
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
		INSERT INTO commands (place, comment_id, target_key, target, sender, sender_id, author, author_id, name, args, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (place, comment_id) DO NOTHING`,
		string(c.Place), c.CommentID, c.Target.Key(), string(target), c.Sender, c.SenderID, c.Author, c.AuthorID, c.Name, c.Args, micros(c.ReceivedAt))
	if err != nil {
		return false, fmt.Errorf("store the command: %w", err)
	}
	if inserted == 0 && !again {
		return false, nil
	}
	_, err = t.insertJob(ctx, commandArgs{Place: c.Place, CommentID: c.CommentID, Delivery: d.GUID})
	return true, err
}

// giveUpDelivery records that the job of a delivery was given up, so
// that a redelivery asks again.
func (s *core) giveUpDelivery(ctx context.Context, guid string) error {
	return s.db.write(ctx, func(t tx) error {
		if _, err := t.exec(ctx, `UPDATE deliveries SET gave_up = 1 WHERE guid = ?`, guid); err != nil {
			return fmt.Errorf("note that a delivery was given up: %w", err)
		}
		return nil
	})
}
