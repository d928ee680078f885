package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The functions below turn events into metrics and spans. Their attributes are ids and
// names. They never contain text that people or models wrote.

// agents returns the ids of the agents that metrics tell apart: the built-in agents and the
// agents of the server's config.
func (a *App) agents(loader *config.Loader) (ids []string) {
	var layers []config.Layer
	if len(a.settings.Config.Files) > 0 {
		layers = append(layers, a.settings.Config)
	}
	cfg, problems := loader.Load(layers...)
	if len(problems) > 0 {
		return nil // review.New reports the problems
	}
	for _, agent := range cfg.Agents {
		if !cfg.Absent(&agent) {
			ids = append(ids, agent.ID)
		}
	}
	return ids
}

// jobKinds returns all kinds of job, so that the metrics count the failures of each from 0.
func jobKinds() (kinds []string) {
	for _, r := range ports.AllJobs() {
		kinds = append(kinds, string(r.Kind))
	}
	return kinds
}

func (a *App) onDelivery(ctx context.Context, d ports.Delivery, target, outcome string, took time.Duration) {
	a.metrics.Delivery(d.Event, outcome, took)
	trouble := ""
	if outcome == "failed" {
		trouble = outcome
	}
	a.tracer.Past(ctx, "delivery", d.ReceivedAt, took, trouble,
		attribute.String("reviewgate.delivery", d.GUID), attribute.String("reviewgate.event", d.Event),
		attribute.String("reviewgate.target", target), attribute.String("reviewgate.outcome", outcome))
}

// onJob begins a job's span. The spans of the job's stages, agents and calls are its
// children.
func (a *App) onJob(ctx context.Context, job *jobcontext.Job) (context.Context, func(store.Outcome)) {
	begun, rest := time.Now(), a.rest.begun()
	ctx, end := a.tracer.Begin(ctx, "job "+job.Kind, attribute.Int64("reviewgate.job", job.ID), attribute.Int("reviewgate.attempt", job.Attempt),
		attribute.String("reviewgate.target", job.Target), attribute.String("reviewgate.delivery", job.Delivery))
	return ctx, func(outcome store.Outcome) {
		defer rest()
		a.metrics.Job(job.Kind, string(outcome), time.Since(begun))
		if outcome == store.OutcomeDone {
			a.done.Add(1)
		}
		trouble := ""
		if outcome == store.OutcomeGivenUp || outcome == store.OutcomePanicked {
			trouble = string(outcome)
		}
		end(trouble, attribute.String("reviewgate.run", job.Run()), attribute.String("reviewgate.outcome", string(outcome)))
	}
}

func (a *App) onStage(ctx context.Context, stage string, begun time.Time, took time.Duration) {
	a.metrics.Stage(stage, took)
	a.tracer.Past(ctx, "stage "+stage, begun, took, "", attribute.String("reviewgate.run", jobcontext.Of(ctx).Run()))
}

func (a *App) onAgent(ctx context.Context, agent, status string, begun time.Time, took time.Duration) {
	a.metrics.Agent(agent, status, took)
	trouble := ""
	switch pipeline.AgentStatus(status) {
	case pipeline.AgentFailed, pipeline.AgentTimedOut, pipeline.AgentMalformed:
		trouble = status
	}
	a.tracer.Past(ctx, "agent", begun, took, trouble, attribute.String("reviewgate.run", jobcontext.Of(ctx).Run()),
		attribute.String("reviewgate.agent", agent), attribute.String("reviewgate.status", status))
}

func (a *App) onCall(ctx context.Context, c gh.CallInfo) {
	a.metrics.Call(c.Route, fmt.Sprint(c.Status), fmt.Sprint(c.Installation), c.Duration, c.RateRemaining)
	if c.RateRemaining >= 0 && c.Status != http.StatusNotModified && a.service != nil { // 304 counts against no limit
		a.service.Called(c.Installation, jobcontext.Of(ctx).Author(), ports.Quota{Limit: c.RateLimit, Left: c.RateRemaining, Reset: c.RateReset})
	}
	trouble := ""
	if c.Status == 0 || c.Status >= 500 {
		trouble = fmt.Sprintf("status %d", c.Status)
	}
	a.tracer.Past(ctx, "GitHub "+c.Route, time.Now().Add(-c.Duration), c.Duration, trouble,
		attribute.Int("http.response.status_code", c.Status), attribute.Int64("reviewgate.installation", c.Installation),
		attribute.Int("reviewgate.try", c.Try), attribute.String("reviewgate.run", jobcontext.Of(ctx).Run()))
}
