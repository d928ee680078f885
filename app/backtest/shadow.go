package backtest

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// shadowTime bounds the computation of a shadow, for which a review waits.
const shadowTime = 10 * time.Second

// noteNoShadow says why a review has no shadow.
const noteNoShadow = "the review could not be computed under the shadow config"

// Shadow returns how a review that is about to be stored would differ under the proposal. It returns
// nil if a stage of the review failed. Its error is for the log: what went wrong is a note, too,
// unless ctx ended.
func (b *Backtester) Shadow(ctx context.Context, s *ports.StoredReview) (*pipeline.Shadow, error) {
	if s.Review.Failed != "" {
		return nil, nil
	}
	bounded, cancel := context.WithTimeout(ctx, shadowTime)
	defer cancel()
	was, now, err := b.sides(bounded, s, newChain(s.Key), newTally())
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return &pipeline.Shadow{Note: noteNoShadow}, err
	}
	out := &pipeline.Shadow{
		Version: now.report.ConfigVersion, Decision: now.report.Decision, Condition: now.report.Gate.Condition,
		Unknown: now.unknown, Agents: now.agents, Either: now.either,
	}
	for _, f := range pipeline.OnlyIn(now.report.Findings, was.report.Findings) {
		if len(out.New) == pipeline.MaxShadow {
			out.NewMore++
			continue
		}
		out.New = append(out.New, f)
	}
	for _, f := range pipeline.OnlyIn(was.report.Findings, now.report.Findings) {
		if len(out.Gone) == pipeline.MaxShadow {
			out.GoneMore++
			continue
		}
		out.Gone = append(out.Gone, f.ID)
	}
	for _, f := range regraded(was.report.Findings, now.report.Findings) {
		if len(out.Regraded) < pipeline.MaxShadow {
			out.Regraded = append(out.Regraded, pipeline.Regraded{ID: f.ID, Severity: f.GateSeverity})
		}
	}
	return out, nil
}
