package review

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// Reactions that answer a command.
const (
	reactionSeen    = "eyes"
	reactionDone    = "rocket"
	reactionRefused = "confused"
)

// Outcomes of a command, as they are stored.
const (
	outcomeDone    = "done"
	outcomeRefused = "refused"
	outcomeClosed  = "closed"
	outcomeIgnored = "ignored"
)

// workCommand obeys a slash command or refuses it. It is safe to do again:
// accepting is one transaction, and a reaction that is there stays one.
func (s *Service) workCommand(ctx context.Context, place ports.CommentPlace, commentID int64, attempt int) error {
	return s.retry.Job(attempt, s.command(ctx, place, commentID))
}

func (s *Service) command(ctx context.Context, place ports.CommentPlace, commentID int64) error {
	c, done, err := s.Store.Command(ctx, place, commentID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil // forgotten, and its job was not
	}
	if err != nil {
		return fmt.Errorf("read command %d: %w", commentID, err)
	}
	if done {
		return nil
	}
	if isOpinion(c) {
		return s.opinion(ctx, c)
	}
	o := order{Service: s, Command: c}
	if o.hour, err = s.Store.CommandsSince(ctx, c, s.Now().Add(-time.Hour)); err != nil {
		return fmt.Errorf("count the commands of the last hour: %w", err)
	}
	if o.config, err = s.configs.Known(ctx, c.Target); err != nil {
		return err
	}
	// To look at a command and to answer cost calls and comment edits, so that
	// even refusals are bounded. Nobody's commands keep others' from being obeyed:
	// what is not looked at is the sender's own doing.
	off := o.config.Mode(c.Target.Owner+"/"+c.Target.Name) == config.ModeOff
	if o.hour.BySender > 2*o.limit() || off && !o.reruns() {
		return s.finishCommand(ctx, c, outcomeIgnored)
	}
	v, err := o.judge(ctx)
	switch {
	case err != nil:
		return err
	case v.refusal != nil && (off || o.hour.TurnedDown >= 2*o.limit()):
		return s.finishCommand(ctx, c, outcomeIgnored)
	case v.refusal != nil:
		return s.refuse(ctx, c, *v.refusal)
	}
	if v.ask != nil && o.reruns() {
		if v.ask.AtOnce, err = o.endsQuarantine(ctx); err != nil {
			return err
		}
	}
	if !off { // nothing is said there
		if err := s.react(ctx, c, reactionSeen); err != nil {
			return err
		}
	}
	if err := s.Store.Obey(ctx, c, v.effect, v.ask); err != nil {
		return fmt.Errorf("obey command %d: %w", c.CommentID, err)
	}
	s.told(c).Str("command", string(o.what.Name)).Msg("command obeyed")
	return nil
}

// told begins the log's line of what became of a command.
func (s *Service) told(c ports.Command) *zerolog.Event {
	return s.Log.Info().Str("target", c.Target.Key()).Str("place", string(c.Place)).Int64("comment", c.CommentID).Str("sender", c.Sender)
}

// verdict is what becomes of a command: it is refused, or it changes something
// and asks for a review, or is answered in the comment alone: whoever says that
// tells the sender.
type verdict struct {
	refusal *render.Notice
	effect  ports.Effect
	ask     *ports.ReviewAsk
}

func refused(n render.Notice) verdict { return verdict{refusal: &n} }

func answered(n render.Notice) verdict { return verdict{effect: ports.Effect{Notice: n.String()}} }

func (s *Service) refuse(ctx context.Context, c ports.Command, why render.Notice) error {
	s.told(c).Str("why", string(why.Kind)).Msg("command refused")
	if err := s.react(ctx, c, reactionRefused); err != nil {
		return err
	}
	if err := s.Store.Refuse(ctx, c, outcomeRefused, why.String()); err != nil {
		return fmt.Errorf("refuse command %d: %w", c.CommentID, err)
	}
	return nil
}

func (s *Service) finishCommand(ctx context.Context, c ports.Command, outcome string) error {
	if err := s.Store.FinishCommand(ctx, c.Place, c.CommentID, outcome); err != nil {
		return fmt.Errorf("finish command %d: %w", c.CommentID, err)
	}
	return nil
}

// react adds a reaction. A comment that is gone needs none.
func (s *Service) react(ctx context.Context, c ports.Command, reaction string) error {
	err := s.GitHub.React(ctx, c.Target, c.Place, c.CommentID, reaction)
	var host *ports.HostError
	if errors.As(err, &host) && !host.Temporary() {
		s.Log.Warn().Int64("comment", c.CommentID).Err(err).Msg("reaction not added")
		return nil
	}
	return err
}

// answerCommands tells the people whose command asked for a finished review
// that it is done, or was given up. The review stands whether or not they can
// be told; a later run of the job tells them then.
func (s *Service) answerCommands(ctx context.Context, key string, done finished) error {
	reaction := reactionDone
	if done.gaveUp {
		reaction = reactionRefused // the check says why
	}
	cmds, err := s.Store.AwaitingCommands(ctx, key, done.generation)
	for _, c := range cmds {
		if isOpinion(c) {
			continue // which is finished by its own job, and not answered
		}
		var off bool
		if err == nil {
			off, err = s.configs.SwitchedOff(ctx, c.Target)
		}
		if err == nil && !off {
			word := reaction
			if isAnswered(c) { // in the comment, whatever became of a review
				word = reactionDone
			}
			err = s.react(ctx, c, word)
			if err != nil && s.Now().Sub(c.ReceivedAt) > patience {
				s.Log.Warn().Int64("comment", c.CommentID).Err(err).Msg("command not answered")
				err = nil
			}
		}
		if err == nil {
			err = s.Store.FinishCommand(ctx, c.Place, c.CommentID, outcomeDone)
		}
	}
	if err != nil {
		return &ports.RetryError{After: 6 * s.RetryBase, Err: fmt.Errorf("answer the commands on %s: %w", key, err)}
	}
	return nil
}

// patience is how long after a command its answer is still of use.
const patience = 3 * time.Hour
