package review

import (
	"context"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// again returns the last report on the head, or nil if the newest review was of another
// head.
func again(ctx context.Context, h ports.History, key, headSHA string) (*pipeline.PreviousReport, error) {
	last, err := h.LatestReview(ctx, key)
	if err != nil || last == nil || last.Review.Facts.Head.SHA != headSHA {
		return nil, err
	}
	return last.Review.Report.AsPrevious(), nil
}

// carry returns which results of the last review may be reused.
func carry(h ports.History, key string, r ports.Rerun) run.Carry {
	if r.Full {
		return run.Carry{}
	}
	return run.Carry{
		SameHead: r.Decide || len(r.Agents) > 0, Rerun: r.Agents,
		Last: func(ctx context.Context) (*run.LastReview, error) {
			last, err := h.LatestReview(ctx, key)
			if err != nil || last == nil {
				return nil, err
			}
			return &run.LastReview{Review: &last.Review, Version: last.Record.Version}, nil
		},
	}
}
