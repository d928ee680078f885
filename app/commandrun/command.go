package commandrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
)

// SessionReader reads the sessions of coding agents. It is a part of ports.Sessions.
type SessionReader interface {
	Session(ctx context.Context, key string) (ports.SessionRow, error)
}

// Runner runs slash commands.
type Runner struct {
	Configs       *inforce.Configs
	Commands      ports.Commands
	Keeper        *memory.Keeper
	History       ports.History
	Targets       ports.Targets
	PullReader    ports.PullReader
	PeopleReader  ports.PeopleReader
	CommentWriter ports.CommentWriter
	Learning      ports.Learning
	Sessions      SessionReader
	// SessionSettings returns a config's settings for events of sessions.
	SessionSettings func(*config.Config) ports.SessionSettings
	Retry           retry.Policy
	Redact          func(string) string // removes secrets from stored text
	// Person returns a keyed hash of an account, which tells people apart and can't be turned back.
	Person func(login string, id int64) string
	Log    zerolog.Logger
	Now    func() time.Time
}

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
	OutcomeClosed  = "closed"
	outcomeIgnored = "ignored"
)

// Work obeys or refuses a slash command. It can safely run again: accepting is one
// transaction, and adding a reaction twice has no effect.
func (run *Runner) Work(ctx context.Context, job ports.CommandJob, _ int) error {
	c, done, err := run.Commands.Command(ctx, cmp.Or(job.Place, ports.PlaceConversation), job.CommentID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil // the command was deleted before its job ran
	}
	if err != nil {
		return fmt.Errorf("read command %d: %w", job.CommentID, err)
	}
	jobcontext.Of(ctx).SetAbout(c.Target)
	if done {
		return nil
	}
	if isOpinion(c) {
		return run.opinion(ctx, c)
	}
	cr := commandRun{Runner: run, Command: c}
	if cr.hour, err = run.Commands.CommandsSince(ctx, c, run.Now().Add(-time.Hour)); err != nil {
		return fmt.Errorf("count the commands of the last hour: %w", err)
	}
	if cr.config, err = run.Configs.Known(ctx, c.Target); err != nil {
		return err
	}
	// Judging and answering a command costs calls and comment edits, so even refusals are
	// limited. One person's commands must not block those of others, so the count of
	// ignored commands is by sender.
	off := cr.config.Mode(c.Target.Owner+"/"+c.Target.Name) == config.ModeOff
	if cr.hour.BySender > 2*cr.limit() || off && !cr.reruns() {
		return run.finishCommand(ctx, c, outcomeIgnored)
	}
	v, err := cr.judge(ctx)
	switch {
	case err != nil:
		return err
	case v.refusal != nil && (off || cr.hour.TurnedDown >= 2*cr.limit()):
		return run.finishCommand(ctx, c, outcomeIgnored)
	case v.refusal != nil:
		return run.refuse(ctx, c, *v.refusal)
	}
	if v.ask != nil && cr.reruns() {
		if v.ask.AtOnce, err = cr.endsQuarantine(ctx); err != nil {
			return err
		}
	}
	if !off { // else nothing is posted
		if err := run.react(ctx, c, reactionSeen); err != nil {
			return err
		}
	}
	if err := run.Commands.Obey(ctx, c, v.effect, v.ask); err != nil {
		return fmt.Errorf("obey command %d: %w", c.CommentID, err)
	}
	run.logLine(c).Str("command", string(cr.what.Name)).Msg("command obeyed")
	return nil
}

// logLine begins a log line about the result of a command.
func (run *Runner) logLine(c ports.Command) *zerolog.Event {
	return run.Log.Info().EmbedObject(c.Target).Str("place", string(c.Place)).Int64("comment", c.CommentID).Str("sender", c.Sender)
}

// verdict is the result of judging a command: a refusal, an effect with an ask for a
// review, or only an answer in the comment. The code that writes the answer also reacts to
// the sender's comment.
type verdict struct {
	refusal *render.Notice
	effect  ports.Effect
	ask     *ports.ReviewAsk
}

func refused(n render.Notice) verdict { return verdict{refusal: &n} }

func answered(n render.Notice) verdict { return verdict{effect: ports.Effect{Notice: n.String()}} }

func (run *Runner) refuse(ctx context.Context, c ports.Command, why render.Notice) error {
	run.logLine(c).Str("why", string(why.Kind)).Msg("command refused")
	if err := run.react(ctx, c, reactionRefused); err != nil {
		return err
	}
	if err := run.Commands.Refuse(ctx, c, outcomeRefused, why.String()); err != nil {
		return fmt.Errorf("refuse command %d: %w", c.CommentID, err)
	}
	return nil
}

func (run *Runner) finishCommand(ctx context.Context, c ports.Command, outcome string) error {
	if err := run.Commands.FinishCommand(ctx, c.Place, c.CommentID, outcome); err != nil {
		return fmt.Errorf("finish command %d: %w", c.CommentID, err)
	}
	return nil
}

// react adds a reaction. It ignores a comment that is gone.
func (run *Runner) react(ctx context.Context, c ports.Command, reaction string) error {
	err := run.CommentWriter.React(ctx, c.Target, c.Place, c.CommentID, reaction)
	if ports.IsFinal(err) {
		run.Log.Warn().Int64("comment", c.CommentID).Err(err).Msg("reaction not added")
		return nil
	}
	return err
}

// Answer tells the people whose commands asked for a finished review that it is done or was
// given up. The review counts even if they can't be told; a later run of the job then tells
// them.
func (run *Runner) Answer(ctx context.Context, key string, generation int64, gaveUp bool) error {
	reaction := reactionDone
	if gaveUp {
		reaction = reactionRefused // the check says why
	}
	cmds, err := run.Commands.AwaitingCommands(ctx, key, generation)
	for _, c := range cmds {
		if isOpinion(c) {
			continue // its own job finishes it, and it gets no answer
		}
		var off bool
		if err == nil {
			off, err = run.Configs.SwitchedOff(ctx, c.Target)
		}
		if err == nil && !off {
			word := reaction
			if isAnswered(c) { // in the comment, with any result of the review
				word = reactionDone
			}
			err = run.react(ctx, c, word)
			if err != nil && run.Now().Sub(c.ReceivedAt) > patience {
				run.Log.Warn().Int64("comment", c.CommentID).Err(err).Msg("command not answered")
				err = nil
			}
		}
		if err == nil {
			err = run.Commands.FinishCommand(ctx, c.Place, c.CommentID, outcomeDone)
		}
	}
	if err != nil {
		return &ports.RetryError{After: 6 * run.Retry.Base, Err: fmt.Errorf("answer the commands on %s: %w", key, err)}
	}
	return nil
}

// patience is how long after a command its answer is still useful.
const patience = 3 * time.Hour
