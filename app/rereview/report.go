package rereview

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// Reported asks for a review after a comment with a review report was added, changed or
// removed.
type Reported struct {
	Configs      *inforce.Configs
	Targets      ports.Targets
	History      ports.History
	Intake       ports.Intake
	PeopleReader ports.PeopleReader
}

// Work asks for a review if the comment can make a difference: reviews of the pull request
// read such comments, and the comment's author has write permission.
func (n *Reported) Work(ctx context.Context, job ports.ReportJob, _ int) error {
	t, key := job.Report.Target, job.Report.Target.Key()
	jobcontext.Of(ctx).SetAbout(t)
	reads, err := n.readsReports(ctx, key)
	if err != nil || !reads {
		return err
	}
	p, err := n.PeopleReader.Permission(ctx, t, job.Report.Author)
	if err != nil || !p.CanWrite() {
		return err
	}
	ask := ports.ReviewAsk{Target: t, Reason: "review report by " + job.Report.Author, Once: job.Delivery + " " + key}
	if err := n.Intake.Ask(ctx, ask); err != nil {
		return fmt.Errorf("ask for a review of %s: %w", key, err)
	}
	return nil
}

// readsReports reports whether a review of the target would read comments, judging by its
// last review. A review under way may have read them already, so it counts as yes. An
// unknown target has no review that could be out of date.
func (n *Reported) readsReports(ctx context.Context, key string) (bool, error) {
	state, err := n.Targets.Target(ctx, key)
	if errors.Is(err, ports.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the target's state: %w", err)
	}
	if state.Closed || state.Wanted > state.Done {
		return !state.Closed, nil
	}
	r, err := n.History.LatestReview(ctx, key)
	if err != nil || r == nil {
		return false, err
	}
	cfg, err := n.Configs.ConfigOf(ctx, r)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(cfg.Agents, func(a config.Agent) bool {
		return a.Kind == config.KindReport && a.Reports.InComments() && r.Review.Manifest.Entry(a.ID) != nil
	}), nil
}
