package commandrun

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// isOpinion reports whether a stored command is what a person's review on GitHub says.
func isOpinion(c ports.Command) bool {
	return c.Name == ports.OpinionApproved || c.Name == ports.OpinionChanges
}

// opinion notes in the audit log that a person's review on GitHub contradicts the review of
// the head that it is about, if the person may write. Nothing else comes of it, and nothing
// is said.
func (run *Runner) opinion(ctx context.Context, c ports.Command) error {
	cr := commandRun{Runner: run, Command: c}
	r, err := run.History.ReviewAsOf(ctx, c.Target.Key(), c.ReceivedAt)
	if err != nil {
		return fmt.Errorf("read the review that was shown: %w", err)
	}
	if r == nil || r.HeadSHA != c.Args || !contradicts(c.Name, &r.Review.Report) {
		return run.finishCommand(ctx, c, outcomeIgnored)
	}
	may, err := cr.mayWrite(ctx)
	if err != nil {
		return err
	}
	if !may {
		return run.finishCommand(ctx, c, outcomeIgnored)
	}
	entry := &ports.AuditEntry{At: run.Now(), RepoID: c.Target.RepoID, Key: c.Target.Key(), HeadSHA: r.HeadSHA, Actor: c.Sender, Action: c.Name}
	if m := r.Review.Report.Models; m != nil {
		entry.AutoDecision = m.AutoDecision
	}
	if err := run.Commands.Obey(ctx, c, ports.Effect{Audit: entry}, nil); err != nil {
		return fmt.Errorf("note the review of %s: %w", c.Sender, err)
	}
	run.told(c).Str("says", c.Name).Str("decision", string(r.Review.Report.Decision)).Msg("a person's review contradicts the decision")
	return run.finishCommand(ctx, c, outcomeDone)
}

// contradicts reports whether a person's review on GitHub is against what a report came to:
// by what would be decided without a person where models took part, and else by the gate.
func contradicts(opinion string, r *pipeline.Report) bool {
	rejects := r.Decision.Blocks()
	if m := r.Models; m != nil {
		switch m.AutoDecision {
		case pipeline.AutoReject:
			rejects = true
		case pipeline.AutoHuman:
			if !rejects {
				return false // it was left to people
			}
		}
	}
	return rejects == (opinion == ports.OpinionApproved)
}
