package review

import (
	"context"

	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
)

// agentsOf returns the factory of the agents for a target's review. ctx is the job's
// context, which has the ID of the run.
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
