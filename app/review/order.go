package review

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// order is a command while it is judged. What GitHub says of its sender is asked
// once.
type order struct {
	*Service
	ports.Command
	config *config.Config     // as far as it is known
	hour   ports.CommandCount // of the last one

	what       commands.Command
	permission ports.Permission // empty until it is asked
	maintains  bool             // the sender is known to be allowed what takes maintain
	authors    authorship       // what the sender is to the pull request
	finalIn    []string         // layers of which the sender has the named authority; see askAuthority
}

func (o *order) limit() int { return o.config.Settings.Limits.CommandsPerHour }

// left is how many commands may be obeyed yet in this hour, this one included.
func (o *order) left() int { return max(0, o.limit()-o.hour.Obeyed) }

// judgesOwn is what the sender lacks to judge the pull request. Its authors need maintain,
// or may not judge it at all if the settings say so; if a push was not seen, everybody
// needs maintain.
func (o *order) judgesOwn(ctx context.Context) (string, error) {
	if err := o.askAuthors(ctx); err != nil {
		return "", err
	}
	switch {
	case o.authors.own && o.config.Settings.Commands.SelfJudgement == config.SelfJudgementNever:
		return render.TakesOther, nil
	case o.authors.own:
		return o.unless(ctx, o.mayMaintain, render.TakesOwn)
	case o.authors.unseen:
		return o.unless(ctx, o.mayMaintain, render.TakesUnseen)
	}
	return "", nil
}

// decides reports whether the command says what a person decided: about the gate, or
// about a finding. Such a command runs no agents, and does not wait because others
// gave commands.
func (o *order) decides() bool {
	return slices.Contains([]commands.Name{commands.Override, commands.Reject, commands.Dismiss, commands.Accept, commands.Restore}, o.what.Name)
}

// reruns reports whether the command does nothing but ask for a review.
func (o *order) reruns() bool {
	what, err := commands.Parse(o.Name, o.Args)
	return err == nil && slices.Contains([]commands.Name{commands.Review, commands.Agent, commands.Full}, what.Name)
}

// isAnswered reports whether a command that was obeyed is answered in the
// comment, and asks for nothing.
func isAnswered(c ports.Command) bool {
	for _, name := range []commands.Name{commands.Explain, commands.Status, commands.Help} {
		if strings.EqualFold(c.Name, string(name)) {
			return true
		}
	}
	return false
}

// judge decides what becomes of the command. What it is comes first, then
// whether its sender may give it, and then what it is about.
func (o *order) judge(ctx context.Context) (verdict, error) {
	what, err := commands.Parse(o.Name, o.Args)
	if n := misunderstood(err); n != nil {
		return refused(*n), nil
	}
	o.what = what
	lacks, err := o.lacks(ctx)
	switch {
	case err != nil:
		return verdict{}, err
	case lacks != "":
		return o.notAllowed(lacks), nil
	case o.left() == 0 && !o.decides():
		return refused(render.Notice{Kind: render.NoticeRate, Command: what.Name, Limit: o.limit()}), nil
	}
	switch what.Name {
	case commands.Review:
		return o.rerun(ports.Rerun{}), nil
	case commands.Full:
		return o.rerun(ports.Rerun{Full: true}), nil
	case commands.Agent:
		return o.agents(), nil
	case commands.Dismiss, commands.Accept, commands.Restore:
		return o.onFinding(ctx)
	case commands.Override, commands.Reject:
		return o.byHand(ctx)
	case commands.Resume:
		return o.resume(ctx)
	case commands.Explain:
		return o.explain(ctx)
	case commands.Status:
		return o.status(ctx)
	}
	return answered(render.Notice{Kind: render.NoticeHelp}), nil
}

// misunderstood says what is wrong with what was typed; nil for no error.
func misunderstood(err error) *render.Notice {
	var unknown *commands.UnknownError
	var usage *commands.UsageError
	switch {
	case errors.As(err, &unknown):
		return &render.Notice{Kind: render.NoticeUnknown, Text: unknown.Name}
	case errors.As(err, &usage):
		return &render.Notice{Kind: render.NoticeUsage, Command: usage.Kind.Name, Wrong: string(usage.Wrong), Text: usage.Given}
	}
	return nil
}

func (o *order) notAllowed(lacks string) verdict {
	return refused(render.Notice{Kind: render.NoticePermission, By: o.Sender, Command: o.what.Name, Wrong: lacks})
}

// lacks is what the sender lacks for the command, whatever it is about: one of
// render's Takes constants, or empty.
func (o *order) lacks(ctx context.Context) (string, error) {
	switch {
	case o.what.Name == commands.Override && o.config.Settings.Commands.SelfJudgement == config.SelfJudgementNever:
		if lacks, err := o.unless(ctx, o.mayMaintain, render.TakesMaintain); err != nil || lacks != "" {
			return lacks, err
		}
		return o.judgesOwn(ctx)
	case o.what.Who == commands.Maintainers:
		return o.unless(ctx, o.mayMaintain, render.TakesMaintain)
	case o.what.Own && !o.what.Accepted:
		if lacks, err := o.unless(ctx, o.mayWrite, render.TakesWrite); err != nil || lacks != "" && !o.own() {
			return lacks, err
		}
		return o.judgesOwn(ctx)
	case o.what.Who == commands.Authors && o.own():
		return "", nil
	case o.what.Who == commands.Authors:
		return o.unless(ctx, o.mayWrite, render.TakesAuthor)
	}
	return o.unless(ctx, o.mayWrite, render.TakesWrite)
}

func (o *order) unless(ctx context.Context, may func(context.Context) (bool, error), lacks string) (string, error) {
	ok, err := may(ctx)
	if ok || err != nil {
		return "", err
	}
	return lacks, nil
}

func (o *order) mayWrite(ctx context.Context) (bool, error) {
	err := o.askPermission(ctx)
	return err == nil && o.permission.CanWrite(), err
}

// mayMaintain reports whether the sender may do what takes maintain: by GitHub's
// permission, or as a member of a team that the settings name.
func (o *order) mayMaintain(ctx context.Context) (bool, error) {
	if err := o.askPermission(ctx); err != nil || o.maintains {
		return err == nil, err
	}
	for _, team := range o.config.Settings.Commands.OverrideTeams {
		in, err := o.GitHub.TeamMember(ctx, o.Target, team, o.Sender)
		if err != nil {
			return false, err
		}
		if in {
			o.maintains = true
			return true, nil
		}
	}
	return false, nil
}

func (o *order) askPermission(ctx context.Context) (err error) {
	if o.permission == "" {
		o.permission, err = o.GitHub.Permission(ctx, o.Target, o.Sender)
		o.maintains = err == nil && o.permission.CanMaintain()
	}
	return err
}

// rerun asks for a review.
func (o *order) rerun(r ports.Rerun) verdict {
	name := "/review"
	if o.what.Name != commands.Review {
		name += " " + string(o.what.Name)
	}
	return verdict{ask: &ports.ReviewAsk{Target: o.Target, Reason: name + " by " + o.Sender, Rerun: r}}
}

// agents asks for the agents that are named, which must be in the config.
func (o *order) agents() verdict {
	var known []string
	for _, a := range o.config.Agents {
		if a.Enabled && !o.config.Absent(&a) {
			known = append(known, a.ID)
		}
	}
	for _, id := range o.what.Agents {
		if !slices.Contains(known, id) {
			slices.Sort(known)
			n := render.Notice{Kind: render.NoticeNoAgent, Text: id, More: max(0, len(known)-maxAgentNames)}
			for _, k := range known[:min(len(known), maxAgentNames)] {
				n.Names = append(n.Names, render.Named{ID: k})
			}
			return refused(n)
		}
	}
	return o.rerun(ports.Rerun{Agents: o.what.Agents})
}

// maxAgentNames is how many agents a refusal lists: the defaults have fewer.
const maxAgentNames = 30

// What is kept of a command, in characters. Real names are shorter.
const maxCommandName = 40

// presentable is a command without secrets in what was typed, and no longer than
// is kept.
func (s *Service) presentable(c ports.Command) ports.Command {
	known := misunderstood(errOf(commands.Parse(c.Name, ""))) == nil
	if !known || c.Args != "" {
		c.Name, c.Args = s.Pipeline.Redact(c.Name), s.Pipeline.Redact(c.Args)
	}
	c.Name, c.Args = clip(c.Name, maxCommandName), clip(c.Args, ports.MaxCommandArgs)
	return c
}

func errOf[T any](_ T, err error) error { return err }

// clip cuts a text to at most n characters, the last of which says so.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

// named is how a finding is listed.
func named(id, title string) render.Named {
	return render.Named{ID: id, Title: clip(cmp.Or(title, id), maxNamedTitle)}
}

// maxNamedTitle keeps what is stored of a notice small, in characters.
const maxNamedTitle = 120
