package commandrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// commandRun is a command while it is judged. It asks GitHub about the sender only once.
type commandRun struct {
	*Runner
	ports.Command
	config *config.Config     // the newest known one
	hour   ports.CommandCount // of the last hour

	what       commands.Command
	permission ports.Permission // empty until it was read
	maintains  bool             // the sender is known to have a maintainer's rights
	approves   bool             // the sender is known to be named under memory.approvers
	authors    authorship       // the sender's part in the pull request
	finalIn    []string         // layers that name the sender as final authority; see askAuthority
}

func (cr *commandRun) limit() int { return cr.config.Settings.Limits.CommandsPerHour }

// left returns how many more commands may be obeyed in this hour, including this one.
func (cr *commandRun) left() int { return max(0, cr.limit()-cr.hour.Obeyed) }

// judgesOwn returns what the sender lacks to judge the pull request. Its authors need
// maintain, or may not judge it at all if the settings say so. If a push was not seen,
// everybody needs maintain.
func (cr *commandRun) judgesOwn(ctx context.Context) (string, error) {
	if err := cr.askAuthors(ctx); err != nil {
		return "", err
	}
	switch {
	case cr.authors.own && cr.config.Settings.Commands.SelfJudgement == config.SelfJudgementNever:
		return render.TakesOther, nil
	case cr.authors.own:
		return cr.unless(ctx, cr.mayMaintain, render.TakesOwn)
	case cr.authors.unknownPush:
		return cr.unless(ctx, cr.mayMaintain, render.TakesUnknownPusher)
	}
	return "", nil
}

// decides reports whether the command records a person's decision about the gate or about a
// finding. Such a command runs no agents, and other people's commands must not delay it.
func (cr *commandRun) decides() bool {
	return slices.Contains([]commands.Name{commands.Override, commands.Reject, commands.Dismiss, commands.Accept, commands.Restore, commands.Remember, commands.Forget}, cr.what.Name)
}

// reruns reports whether the command only asks for a review.
func (cr *commandRun) reruns() bool {
	what, err := commands.Parse(cr.Name, cr.Args)
	return err == nil && slices.Contains([]commands.Name{commands.Review, commands.Agent, commands.Full}, what.Name)
}

// isAnswered reports whether the command is only answered in the comment and asks for
// nothing.
func isAnswered(c ports.Command) bool {
	return slices.ContainsFunc([]commands.Name{commands.Explain, commands.Status, commands.Help, commands.Remember, commands.Forget}, func(name commands.Name) bool {
		return strings.EqualFold(c.Name, string(name))
	})
}

// judge decides what happens to the command. It first parses the command, then checks
// whether the sender may give it, and then looks at what it is about.
func (cr *commandRun) judge(ctx context.Context) (verdict, error) {
	what, err := commands.Parse(cr.Name, cr.Args)
	if n := parseNotice(err); n != nil {
		return refused(*n), nil
	}
	cr.what = what
	lacks, err := cr.lacks(ctx)
	switch {
	case err != nil:
		return verdict{}, err
	case lacks != "":
		return cr.notAllowed(lacks), nil
	case cr.left() == 0 && !cr.decides():
		return refused(render.Notice{Kind: render.NoticeRate, Command: what.Name, Limit: cr.limit()}), nil
	}
	switch what.Name {
	case commands.Review:
		return inSession(cr, cr.rerun(ports.Rerun{})), nil
	case commands.Full:
		return inSession(cr, cr.rerun(ports.Rerun{Full: true})), nil
	case commands.Agent:
		return cr.agents(), nil
	case commands.Dismiss, commands.Accept, commands.Restore:
		return cr.onFinding(ctx)
	case commands.Override, commands.Reject:
		return cr.byHand(ctx)
	case commands.Remember:
		return memoryRun{cr}.remember(ctx)
	case commands.Forget:
		return memoryRun{cr}.forget(ctx)
	case commands.Resume:
		return cr.resume(ctx)
	case commands.Explain:
		return cr.explain(ctx)
	case commands.Status:
		return cr.status(ctx)
	}
	return answered(render.Notice{Kind: render.NoticeHelp}), nil
}

// parseNotice returns a notice about the error in what was typed, or nil without an
// error.
func parseNotice(err error) *render.Notice {
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

func (cr *commandRun) notAllowed(lacks string) verdict {
	return refused(render.Notice{Kind: render.NoticePermission, By: cr.Sender, Command: cr.what.Name, Wrong: lacks})
}

// lacks returns what the sender lacks for the command, independent of its subject: one of
// render's Takes constants, or an empty string.
func (cr *commandRun) lacks(ctx context.Context) (string, error) {
	switch {
	case cr.what.Name == commands.Override && cr.config.Settings.Commands.SelfJudgement == config.SelfJudgementNever:
		if lacks, err := cr.unless(ctx, cr.mayMaintain, render.TakesMaintain); err != nil || lacks != "" {
			return lacks, err
		}
		return cr.judgesOwn(ctx)
	case cr.what.Who == commands.Maintainers:
		return cr.unless(ctx, cr.mayMaintain, render.TakesMaintain)
	case cr.what.Who == commands.Approvers:
		return cr.unless(ctx, cr.mayApprove, render.TakesApprover)
	case cr.what.Own && !cr.what.Accepted:
		if lacks, err := cr.unless(ctx, cr.mayWrite, render.TakesWrite); err != nil || lacks != "" && !cr.own() {
			return lacks, err
		}
		return cr.judgesOwn(ctx)
	case cr.what.Who == commands.Authors && cr.own():
		return "", nil
	case cr.what.Who == commands.Authors:
		return cr.unless(ctx, cr.mayWrite, render.TakesAuthor)
	}
	return cr.unless(ctx, cr.mayWrite, render.TakesWrite)
}

func (cr *commandRun) unless(ctx context.Context, may func(context.Context) (bool, error), lacks string) (string, error) {
	ok, err := may(ctx)
	if ok || err != nil {
		return "", err
	}
	return lacks, nil
}

func (cr *commandRun) mayWrite(ctx context.Context) (bool, error) {
	err := cr.askPermission(ctx)
	return err == nil && cr.permission.CanWrite(), err
}

// mayMaintain reports whether the sender has a maintainer's rights: by GitHub's permission,
// or as a member of a team in the settings.
func (cr *commandRun) mayMaintain(ctx context.Context) (bool, error) {
	if err := cr.askPermission(ctx); err != nil || cr.maintains {
		return err == nil, err
	}
	for _, team := range cr.config.Settings.Commands.OverrideTeams {
		in, err := cr.PeopleReader.TeamMember(ctx, cr.Target, team, cr.Sender)
		if err != nil {
			return false, err
		}
		if in {
			cr.maintains = true
			return true, nil
		}
	}
	return false, nil
}

// mayApprove reports whether the sender may approve records of memory: with a maintainer's rights, or
// as somebody whom the settings name. A yes is remembered for the rest of the command.
func (cr *commandRun) mayApprove(ctx context.Context) (bool, error) {
	if write, err := cr.mayWrite(ctx); err != nil || !write {
		return false, err
	}
	if cr.approves {
		return true, nil
	}
	if maintains, err := cr.mayMaintain(ctx); err != nil || maintains {
		return maintains, err
	}
	var err error
	cr.approves, err = cr.among(ctx, cr.config.Settings.Memory.Approvers)
	return cr.approves, err
}

func (cr *commandRun) askPermission(ctx context.Context) (err error) {
	if cr.permission == "" {
		cr.permission, err = cr.PeopleReader.Permission(ctx, cr.Target, cr.Sender)
		cr.maintains = err == nil && cr.permission.CanMaintain()
	}
	return err
}

// rerun asks for a review.
func (cr *commandRun) rerun(r ports.Rerun) verdict {
	name := "/review"
	if cr.what.Name != commands.Review {
		name += " " + string(cr.what.Name)
	}
	return verdict{ask: &ports.ReviewAsk{Target: cr.Target, Reason: name + " by " + cr.Sender, Rerun: r}}
}

// agents asks for the agents that the command names, which must be in the config.
func (cr *commandRun) agents() verdict {
	known := cr.config.Runnable()
	for _, id := range cr.what.Agents {
		if !slices.Contains(known, id) {
			n := render.Notice{Kind: render.NoticeNoAgent, Text: id, More: max(0, len(known)-maxAgentNames)}
			for _, k := range known[:min(len(known), maxAgentNames)] {
				n.Names = append(n.Names, render.Named{ID: k})
			}
			return refused(n)
		}
	}
	return cr.rerun(ports.Rerun{Agents: cr.what.Agents})
}

// maxAgentNames is how many agents a refusal lists: the defaults have fewer.
const maxAgentNames = 30

// maxCommandName is how much of a command's name is stored, in characters. Real names are
// shorter.
const maxCommandName = 40

// Presentable returns a command in the form in which it is stored: without secrets, and
// shortened.
func (run *Runner) Presentable(c ports.Command) ports.Command {
	known := parseNotice(errOf(commands.Parse(c.Name, ""))) == nil
	if !known || c.Args != "" {
		c.Name, c.Args = run.Redact(c.Name), run.Redact(c.Args)
	}
	c.Name, c.Args = plaintext.Cut(c.Name, maxCommandName), plaintext.Cut(c.Args, ports.MaxCommandArgs)
	return c
}

func errOf[T any](_ T, err error) error { return err }

// named returns a finding's entry in a list.
func named(id, title string) render.Named {
	return render.Named{ID: id, Title: plaintext.Cut(cmp.Or(title, id), maxNamedTitle)}
}

// maxNamedTitle is the maximum length of a title in a stored notice, in characters.
const maxNamedTitle = 120

// lacksForFinal returns what the sender lacks to take a finding out of the gate that is
// final in some layers. People whom each of these layers names need only write permission,
// except on their own pull requests.
func (cr *commandRun) lacksForFinal(ctx context.Context, layers []string) (string, error) {
	if err := cr.askAuthority(ctx); err != nil {
		return "", err
	}
	switch {
	case slices.ContainsFunc(layers, func(layer string) bool { return !slices.Contains(cr.finalIn, layer) }):
		return render.TakesFinal, nil
	case cr.what.Own:
		return cr.judgesOwn(ctx)
	}
	return "", nil
}

// askAuthority finds the layers that name the sender under final_authority. It asks GitHub
// about teams each time, but only if a layer names one.
func (cr *commandRun) askAuthority(ctx context.Context) error {
	cr.finalIn = nil
	for i := range cr.config.Floors {
		floor := &cr.config.Floors[i]
		has, err := cr.among(ctx, floor.Authority)
		if err != nil {
			return err
		}
		if has {
			cr.finalIn = append(cr.finalIn, floor.Layer)
		}
	}
	return nil
}

// among reports whether a list of the config names the sender or one of the sender's teams. Only
// teams of the repository's own organisation count, because anybody may have taken the name
// of another account.
func (cr *commandRun) among(ctx context.Context, people []string) (bool, error) {
	for _, who := range people {
		org, _, team := strings.Cut(who, "/")
		if !team {
			if strings.EqualFold(who, cr.Sender) {
				return true, nil
			}
			continue
		}
		if !strings.EqualFold(org, cr.Target.Owner) {
			continue
		}
		if in, err := cr.PeopleReader.TeamMember(ctx, cr.Target, who, cr.Sender); in || err != nil {
			return in, err
		}
	}
	return false, nil
}

// resume lets an escalated fix loop and a paused session of coding agents continue. The fix loop's
// report on the head becomes attempt 1 of a new count. No agent runs for this. To resume the session, an
// author of the change needs what judgesOwn asks for.
func (cr *commandRun) resume(ctx context.Context) (verdict, error) {
	state, err := cr.Targets.Target(ctx, cr.Target.Key())
	if errors.Is(err, ports.ErrNotFound) {
		return refused(render.Notice{Kind: render.NoticeNotPaused}), nil
	}
	if err != nil {
		return verdict{}, fmt.Errorf("read the target's state: %w", err)
	}
	row, err := cr.Sessions.Session(ctx, cr.Target.Key())
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return verdict{}, fmt.Errorf("read the session: %w", err)
	}
	n := render.Notice{Kind: render.NoticeResumed, By: cr.Sender, Loop: state.FixLoop.Paused(state.Resumes)}
	var saw *pipeline.SessionResume
	if row.State.Paused() && row.Resumes == row.State.Resumes {
		switch lacks, err := cr.judgesOwn(ctx); {
		case err != nil:
			return verdict{}, err
		case lacks != "" && !n.Loop:
			return cr.notAllowed(lacks), nil
		case lacks == "":
			n.Escalation, n.Pause = withoutPrompt(row.State.Escalation), withoutPrompt(row.State.Pause)
			saw = &pipeline.SessionResume{By: cr.Sender, Escalation: n.Escalation, Pause: n.Pause, Answers: row.State.Answers}
		}
	}
	if !n.Loop && n.Escalation == nil && n.Pause == nil {
		return refused(render.Notice{Kind: render.NoticeNotPaused}), nil
	}
	v := cr.rerun(ports.Rerun{Decide: true})
	v.effect = ports.Effect{
		Resume: n.Loop, ResumeSession: saw,
		Audit: cr.audit(state.HeadSHA, ""), Notice: n.String(),
	}
	return v, nil
}

// inSession makes a request for a review begin a cycle of the session if the config has reviewers of
// sessions.
func inSession(cr *commandRun, v verdict) verdict {
	if slices.ContainsFunc(cr.config.Agents, func(a config.Agent) bool { return a.Enabled && a.Session }) {
		v.effect.Event = &ports.SessionEvent{
			ID: fmt.Sprintf("%s-%d", cr.Place, cr.CommentID), Kind: pipeline.TriggerPerson, Target: cr.Target,
		}
		v.effect.SessionSettings = cr.SessionSettings(cr.config)
		v.effect.SessionSettings.Join = 0 // the review that the person asked for is the cycle
	}
	return v
}

// endsQuarantine reports whether the command makes a quarantined target run at once. This
// takes write permission. An author without it may only ask for a review.
func (cr *commandRun) endsQuarantine(ctx context.Context) (bool, error) {
	state, err := cr.Targets.Target(ctx, cr.Target.Key())
	switch {
	case errors.Is(err, ports.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the target's state: %w", err)
	case state.Quarantine.Deaths == 0:
		return false, nil
	}
	return cr.mayWrite(ctx)
}
