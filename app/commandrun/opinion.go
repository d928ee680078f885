package commandrun

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// isOpinion reports whether a stored command is a person's review on GitHub.
func isOpinion(c ports.Command) bool {
	return c.Name == ports.OpinionApproved || c.Name == ports.OpinionChanges
}

// opinion adds an entry to the audit log if a person's review on GitHub contradicts our
// review of the same head and the person may write. It has no other effect, and nobody is
// told.
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
	action := learning.Approved
	if c.Name == ports.OpinionChanges {
		action = learning.Changes
	}
	effect := ports.Effect{Audit: entry, Entry: cr.decided(action, r.HeadSHA, r.Review.Facts.Base.Ref)}
	if err := run.Commands.Obey(ctx, c, effect, nil); err != nil {
		return fmt.Errorf("note the review of %s: %w", c.Sender, err)
	}
	run.logLine(c).Str("says", c.Name).Str("decision", string(r.Review.Report.Decision)).Msg("a person's review contradicts the decision")
	return run.finishCommand(ctx, c, outcomeDone)
}

// contradicts reports whether a person's review on GitHub contradicts a report. If models
// took part, it compares with the decision that would be made without a person, otherwise
// with the gate.
func contradicts(opinion string, r *pipeline.Report) bool {
	rejects := r.Decision.Blocks()
	if m := r.Models; m != nil {
		switch m.AutoDecision {
		case pipeline.AutoReject:
			rejects = true
		case pipeline.AutoHuman:
			if !rejects {
				return false // the decision was left to people
			}
		}
	}
	return rejects == (opinion == ports.OpinionApproved)
}
