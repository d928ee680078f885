package review

import (
	"context"
	"errors"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// publishLabels puts the label of its risk level on a pull request, and takes
// those of the other levels off. What other labels there are is no business of
// ours. Where GitHub refuses, the check and the comment stand without it.
func (s *Service) publishLabels(ctx context.Context, lease Lease, state TargetState, r *StoredReview, cfg *config.Config, talk *Conversation) error {
	if !cfg.Settings.Labels.Risk || state.Kind == TargetGroup || talk.Archived {
		return nil
	}
	remove, add := riskLabels(cfg.Settings.Labels.Prefix, r.Review.Classification.Risk.Level, r.Review.Facts.Labels)
	err := s.relabel(ctx, lease, state.Target, remove, add)
	var host *HostError
	if errors.As(err, &host) && !host.Temporary() {
		s.Log.Warn().Str("target", lease.Key).Err(err).Msg("label not written")
		return nil
	}
	return err
}

// riskLabels says which labels are to go, and which is to come or "".
func riskLabels(prefix string, level pipeline.RiskLevel, have []string) (remove []string, add string) {
	for _, l := range []pipeline.RiskLevel{pipeline.RiskLow, pipeline.RiskMedium, pipeline.RiskHigh, pipeline.RiskCritical} {
		label := prefix + string(l)
		switch there := slices.Contains(have, label); {
		case there && l != level:
			remove = append(remove, label)
		case !there && l == level:
			add = label
		}
	}
	return remove, add
}

func (s *Service) relabel(ctx context.Context, lease Lease, t Target, remove []string, add string) error {
	for _, label := range remove {
		if err := s.fence(ctx, lease); err != nil {
			return err
		}
		if err := s.GitHub.RemoveLabel(ctx, t, label); err != nil {
			return err
		}
	}
	if add == "" {
		return nil
	}
	if err := s.fence(ctx, lease); err != nil {
		return err
	}
	return s.GitHub.AddLabel(ctx, t, add)
}
