package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

const commandColumns = `place, comment_id, target, sender, sender_id, author, author_id, name, args, received_at, written_at`

func scanCommand(row scanner, more ...any) (c ports.Command, err error) {
	var target string
	var received, written int64
	if err := row.Scan(append([]any{&c.Place, &c.CommentID, &target, &c.Sender, &c.SenderID, &c.Author, &c.AuthorID, &c.Name, &c.Args, &received, &written}, more...)...); err != nil {
		return c, err
	}
	c.ReceivedAt, c.WrittenAt = fromMicros(received), fromMicros(written)
	if err := json.Unmarshal([]byte(target), &c.Target); err != nil {
		return c, fmt.Errorf("decode the target of command %d: %w", c.CommentID, err)
	}
	return c, nil
}

// Command implements ports.Store.
func (s commands) Command(ctx context.Context, place ports.CommentPlace, commentID int64) (c ports.Command, done bool, err error) {
	err = s.db.read(ctx, func(t tx) (err error) {
		c, err = scanCommand(t.row(ctx, `SELECT `+commandColumns+`, accepted = 1 OR outcome <> '' FROM commands WHERE place = ? AND comment_id = ?`, string(place), commentID), &done)
		return err
	})
	if err != nil {
		return ports.Command{}, false, fmt.Errorf("read command %s %d: %w", place, commentID, notFound(err))
	}
	return c, done, nil
}

// theCommand is the condition that picks a command's row, with its parameters.
func theCommand(c ports.Command) (where string, args []any) {
	return `place = ? AND comment_id = ?`, []any{string(c.Place), c.CommentID}
}

// Obey implements ports.Store.
func (s commands) Obey(ctx context.Context, c ports.Command, e ports.Effect, ask *ports.ReviewAsk) error {
	where, which := theCommand(c)
	return s.db.write(ctx, func(t tx) error {
		var done bool
		err := t.row(ctx, `SELECT accepted = 1 OR outcome <> '' FROM commands WHERE `+where+t.lock(), which...).Scan(&done)
		if err != nil {
			return fmt.Errorf("store the effect of command %d: %w", c.CommentID, notFound(err))
		}
		if done {
			return nil
		}
		var r raised
		if ask != nil {
			fresh := *ask
			fresh.Fresh = true
			if r, err = s.raise(ctx, t, fresh); err != nil {
				return err
			}
		}
		if err := s.apply(ctx, t, c, e); err != nil {
			return fmt.Errorf("store the effect of command %d: %w", c.CommentID, err)
		}
		if _, err := t.exec(ctx, `UPDATE commands SET accepted = 1, generation = ? WHERE `+where, append([]any{r.wanted}, which...)...); err != nil {
			return fmt.Errorf("store the effect of command %d: %w", c.CommentID, err)
		}
		return nil
	})
}

// AwaitingCommands implements ports.Store.
func (s commands) AwaitingCommands(ctx context.Context, key string, generation int64) ([]ports.Command, error) {
	return listNow(ctx, s.db, "list the waiting commands on "+key, func(row scanner) (ports.Command, error) { return scanCommand(row) },
		`SELECT `+commandColumns+` FROM commands
		WHERE target_key = ? AND accepted = 1 AND generation <= ? AND outcome = '' ORDER BY received_at, place, comment_id`, key, generation)
}

// FinishCommand implements ports.Store. A command keeps its first outcome.
func (s commands) FinishCommand(ctx context.Context, place ports.CommentPlace, commentID int64, outcome string) error {
	if outcome == "" {
		return fmt.Errorf("finish command %d: it needs an outcome", commentID)
	}
	return s.change(ctx, fmt.Sprintf("finish command %d", commentID),
		`UPDATE commands SET outcome = CASE WHEN outcome = '' THEN ? ELSE outcome END WHERE place = ? AND comment_id = ?`, outcome, string(place), commentID)
}

// Refuse implements ports.Store.
func (s commands) Refuse(ctx context.Context, c ports.Command, outcome, why string) error {
	where, which := theCommand(c)
	return s.db.write(ctx, func(t tx) error {
		n, err := t.exec(ctx, `UPDATE commands SET outcome = ? WHERE accepted = 0 AND outcome = '' AND `+where, append([]any{outcome}, which...)...)
		if err != nil {
			return fmt.Errorf("refuse command %d: %w", c.CommentID, err)
		}
		if n == 0 {
			return nil
		}
		if err := s.addNotice(ctx, t, c.Target.Key(), why); !errors.Is(err, ports.ErrNotFound) {
			return err
		}
		return nil
	})
}

// CommandsSince implements ports.Store.
func (s commands) CommandsSince(ctx context.Context, c ports.Command, since time.Time) (n ports.CommandCount, err error) {
	err = s.db.read(ctx, func(t tx) error {
		return t.row(ctx, `SELECT count(CASE WHEN accepted = 1 THEN 1 END), count(CASE WHEN accepted = 0 AND outcome <> '' THEN 1 END),
				count(CASE WHEN sender = ? AND received_at <= ? THEN 1 END)
			FROM commands WHERE target_key = ? AND received_at >= ? AND name NOT IN (?, ?)`, c.Sender, micros(c.ReceivedAt), c.Target.Key(), micros(since),
			ports.OpinionApproved, ports.OpinionChanges).
			Scan(&n.Obeyed, &n.TurnedDown, &n.BySender)
	})
	return n, wrap(err, "count the commands on %s", c.Target.Key())
}
