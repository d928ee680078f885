package review

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// taught is what people said that bears on a review. What they decided by hand
// holds for the pull request, its base and its head: another push ends it, and a
// push back to the very commit brings it back, as that is what they looked at.
func (s *Service) taught(ctx context.Context, t ports.Target, f *pipeline.PRFacts) (pipeline.Memory, error) {
	if t.Kind == ports.TargetGroup {
		return s.taughtOfGroup(ctx, t, f)
	}
	m, err := s.Store.Taught(ctx, t.Key(), f.Head.SHA, f.Base.Ref)
	if err != nil {
		return pipeline.Memory{}, fmt.Errorf("look for what people said of %s: %w", t.Key(), err)
	}
	return m, nil
}

// again is the last report on the head, or nil if the newest review was of another.
func (s *Service) again(ctx context.Context, key, headSHA string) (*pipeline.PreviousReport, error) {
	last, err := s.Store.LatestReview(ctx, key)
	if err != nil || last == nil || last.Review.Facts.Head.SHA != headSHA {
		return nil, err
	}
	return last.Review.Report.AsPrevious(), nil
}

// carry is what of the last review may stand.
func (s *Service) carry(key string, r ports.Rerun) run.Carry {
	if r.Full {
		return run.Carry{}
	}
	return run.Carry{
		SameHead: r.Decide || len(r.Agents) > 0, Anew: r.Agents,
		Last: func(ctx context.Context) (*run.LastReview, error) {
			last, err := s.Store.LatestReview(ctx, key)
			if err != nil || last == nil {
				return nil, err
			}
			return &run.LastReview{Review: &last.Review, Version: last.Record.Version}, nil
		},
	}
}
