package review

import (
	"context"

	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
)

// agentsOf is what makes the agents of a target's review. ctx is that of the job, with the
// name of its run.
func (s *Service) agentsOf(ctx context.Context, t ports.Target, src ports.PullSource) *agents.Review {
	log := s.Log.With()
	if job := trail.Of(ctx); job != nil {
		log = log.EmbedObject(job)
	}
	return agents.New(agents.Options{
		Target: t, Models: s.Models, Files: src, Discussion: src, Scanners: src, Scans: s.Store.Scans, Tokens: s.Store.Tokens,
		Log: log.Str("target", t.Key()).Logger(), Used: s.Observe.ModelUse,
	})
}
