package publish

import (
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// movedFrom reports whether the pull request now has another head or base than the review.
func movedFrom(r *ports.StoredReview, now *ports.PullState) bool {
	return now.HeadSHA != r.HeadSHA || now.BaseRef != r.Review.Facts.Base.Ref
}

// View returns what the renderer needs from a stored review.
func View(webURL string, t ports.Target, r *ports.StoredReview, cfg *config.Config, notices []string, shared []render.SharedHead) render.View {
	return render.View{
		Review: r.Review, Record: r.Record, Mode: cfg.Mode(r.Review.Facts.Repository.FullName()), Notices: notices, Shared: shared, FixLoop: r.FixLoop,
		Rules: render.RuleNotes(&r.Review.Report, cfg),
		Links: render.Links{WebURL: webURL, Repository: t.Owner + "/" + t.Name},
	}
}
