package publish

import (
	"context"
	"slices"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// Labels sets the labels that the settings ask for on pull requests.
type Labels struct {
	LabelWriter ports.LabelWriter
	Leases      lease.Keeper
	Log         zerolog.Logger
}

// Publish adds the labels that the settings ask for, and removes those of ours that no
// longer apply. It leaves all other labels alone. If GitHub refuses, the check and the
// comment stay without the labels.
func (b *Labels) Publish(ctx context.Context, p *Publication) error {
	if p.State.Kind == ports.TargetGroup || p.Pull.Archived {
		return nil
	}
	remove, add := labelChanges(p.Config.Settings.Labels, p.Review)
	err := b.relabel(ctx, p.Lease, p.State.Target, remove, add)
	if ports.IsFinal(err) {
		b.Log.Warn().EmbedObject(p.State.Target).Err(err).Msg("label not written")
		return nil
	}
	return err
}

// labelChanges returns which labels to remove and which to add.
func labelChanges(want config.LabelSettings, r *ports.StoredReview) (remove, add []string) {
	have := r.Review.Facts.Labels
	if want.Risk {
		remove, add = riskLabels(want.Prefix, r.Review.Classification.Risk.Level, have)
	}
	if want.Escalated {
		switch there, escalated := slices.Contains(have, labelEscalated), r.FixLoop.Status == fixloop.Escalated; {
		case there && !escalated:
			remove = append(remove, labelEscalated)
		case !there && escalated:
			add = append(add, labelEscalated)
		}
	}
	return remove, add
}

func riskLabels(prefix string, level pipeline.RiskLevel, have []string) (remove, add []string) {
	for _, l := range []pipeline.RiskLevel{pipeline.RiskLow, pipeline.RiskMedium, pipeline.RiskHigh, pipeline.RiskCritical} {
		label := prefix + string(l)
		switch there := slices.Contains(have, label); {
		case there && l != level:
			remove = append(remove, label)
		case !there && l == level:
			add = append(add, label)
		}
	}
	return remove, add
}

func (b *Labels) relabel(ctx context.Context, lease ports.Lease, t ports.Target, remove, add []string) error {
	for _, label := range remove {
		if err := b.Leases.Fence(ctx, lease); err != nil {
			return err
		}
		if err := b.LabelWriter.RemoveLabel(ctx, t, label); err != nil {
			return err
		}
	}
	for _, label := range add {
		if err := b.Leases.Fence(ctx, lease); err != nil {
			return err
		}
		if err := b.LabelWriter.AddLabel(ctx, t, label); err != nil {
			return err
		}
	}
	return nil
}

// labelEscalated is on pull requests that the fix loop escalated, if the settings
// want it.
const labelEscalated = "review-escalated"
