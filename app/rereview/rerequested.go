package rereview

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Rerequested asks for fresh reviews of the targets on a head whose check somebody ran
// again.
type Rerequested struct {
	Targets    ports.Targets
	Intake     ports.Intake
	PullReader ports.PullReader
}

// Work asks for a fresh review of each target on the head.
func (n *Rerequested) Work(ctx context.Context, job ports.RerequestJob, _ int) error {
	targets, err := n.onRerequestedHead(ctx, job.Rerequest)
	if err != nil {
		return err
	}
	for _, t := range targets {
		ask := ports.ReviewAsk{Target: t, Reason: "asked for again", Fresh: true, AtOnce: true, Once: job.Delivery + " " + t.Key()}
		if err := n.Intake.Ask(ctx, ask); err != nil {
			return fmt.Errorf("ask for a review of %s: %w", t.Key(), err)
		}
	}
	return nil
}

// onRerequestedHead finds the targets on a head. If the store knows none, or fewer than the
// event names, it asks GitHub. The event of a fork's pull request names no pull request.
func (n *Rerequested) onRerequestedHead(ctx context.Context, r ports.Rerequest) ([]ports.Target, error) {
	base := ports.Target{Kind: ports.TargetPull, Installation: r.Installation, RepoID: r.RepoID, Owner: r.Owner, Name: r.Name, HeadSHA: r.HeadSHA}
	targets, err := n.Targets.TargetsOnHead(ctx, r.RepoID, r.HeadSHA)
	if err != nil {
		return nil, fmt.Errorf("list the pull requests on the head: %w", err)
	}
	group := base
	group.Kind = ports.TargetGroup
	switch known, err := n.Targets.Target(ctx, group.Key()); {
	case err == nil && !known.Closed:
		targets = append(targets, known.Target)
	case err != nil && !errors.Is(err, ports.ErrNotFound):
		return nil, fmt.Errorf("look for a merge group: %w", err)
	}
	if len(targets) > 0 && len(targets) >= len(r.Numbers) {
		return targets, nil
	}
	there, err := n.PullReader.PullsOnHead(ctx, base, r.HeadSHA)
	if err != nil {
		return nil, err
	}
	for _, t := range there {
		if !slices.ContainsFunc(targets, func(known ports.Target) bool { return known.Key() == t.Key() }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}
