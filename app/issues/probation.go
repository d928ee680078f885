package issues

import (
	"context"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// noteProbation stores which rules and agents are to have an issue because people judge them wrong too
// often, and which no longer are.
func (k *Tracker) noteProbation(ctx context.Context, l ports.Lease, t ports.Target) error {
	live, err := k.Deferrals.LiveDeferred(ctx, t.RepoID)
	if err != nil {
		return err
	}
	news := ports.DeferredNews{RepoID: t.RepoID}
	if news.Seen, err = k.onProbation(ctx, t); err != nil {
		return err
	}
	for i := range live {
		d := &live[i]
		if d.Kind == ports.DeferredProbation && !slices.ContainsFunc(news.Seen, func(n ports.Deferred) bool { return n.Key == d.Key }) {
			news.Gone = append(news.Gone, d.ID)
		}
	}
	if len(news.Seen)+len(news.Gone) == 0 {
		return nil
	}
	if _, err := k.Deferrals.NoteDeferred(ctx, l, news); err != nil {
		return fmt.Errorf("record the rules that are often wrong: %w", err)
	}
	return nil
}

// onProbation returns the rules and agents that should have an issue. It leaves out those that people
// have answered about, and those that the repository's config can't put in evaluation.
func (k *Tracker) onProbation(ctx context.Context, t ports.Target) (all []ports.Deferred, err error) {
	rows, err := k.Probations.OnProbation(ctx, t.RepoID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	cfg, err := k.Configs.Known(ctx, t)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		p := &rows[i]
		file := config.FileRules
		if p.Kind == ports.ProbationAgent {
			file = config.FileAgents
		}
		if cfg.Settled(file, p.ID) {
			continue
		}
		patch, ok, err := k.Configs.PatchToEvaluate(ctx, t, file, p.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		auto := len(cfg.ProbationLayer(inforce.ProbationRules(rows[i:i+1])).Files) > 0
		text := render.ProbationText(p, cfg.Settings.ProbationBar, patch, auto)
		all = append(all, ports.Deferred{
			Kind: ports.DeferredProbation, Key: sum(string(p.Kind), p.ID), Subject: p.ID, Title: text.Title, Body: text.About,
		})
	}
	return all, nil
}
