package analytics

import (
	"context"
	"math"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
)

// statusDays is how far back a status looks.
const statusDays = 90

// Lately says what became of a repository's findings in the last 90 days, for the answer to /review
// status. It is nil if the repository had no review.
func Lately(ctx context.Context, from ports.Learning, repoID int64, now time.Time) (*render.Lately, error) {
	since := now.Add(-statusDays * 24 * time.Hour)
	s, err := Summarise(ctx, from.Logs(ctx, ports.LogFilter{Since: since, RepoID: repoID}), Options{Since: since})
	if err != nil || s.Totals.Reviews == 0 {
		return nil, err
	}
	t := &s.Totals
	f := &t.Findings
	return &render.Lately{
		Days: statusDays, Reviews: t.Reviews, PullRequests: t.PullRequests, Blocked: t.Decisions.Blocked(), Overrides: t.Human.Override,
		Shown: f.Shown, Fixed: f.Outcomes.Fixed, Accepted: f.Outcomes.Accepted, Dismissed: f.Outcomes.Dismissed,
		Others: f.Shown - f.Addressed() - f.Outcomes.Dismissed, FalsePositives: f.Dismissals.FalsePositive,
		Blocking: judgedOf(t.Blocking), Other: judgedOf(t.Other),
	}, nil
}

func judgedOf(p Precision) render.Judged {
	j := render.Judged{Judged: p.Judged, Shown: p.Shown}
	if s := p.Share; s != nil {
		whole := func(share float64) int { return int(math.Round(100 * share)) }
		j.Enough, j.Right, j.Low, j.High = true, whole(s.Value), whole(s.Low), whole(s.High)
	}
	return j
}
