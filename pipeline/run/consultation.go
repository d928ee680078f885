package run

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// consultation asks a model about what agents found. Dispatch runs it like an agent, so it has the
// same limits and can't make a review fail.
type consultation struct {
	id, model string
	options   dispatch.Options
	mayTell   func(*pipeline.Finding) bool // whether the model may see a finding

	row *pipeline.AgentResult // the result so far, or nil
}

// question is what a consultation lets dispatch run.
type question interface {
	dispatch.Agent
	// put adds the answers so far to a row. An attempt may still be running.
	put(row *pipeline.AgentResult)
}

// consultation returns each as the agent that represents a consultation.
func (r *Runner) consultation(engine *Engine, each IOAgent, id string) IOAgent {
	each.Agent, each.Config, each.Redact = config.Agent{ID: id}, engine.config, r.Redact
	return each
}

func newConsultation(of IOAgent, model string, options dispatch.Options) consultation {
	return consultation{id: of.Agent.ID, model: model, options: options, mayTell: func(f *pipeline.Finding) bool {
		return f.RuleID == "" || of.Config.MayTell(&of.Agent, f.RuleID)
	}}
}

// ask adds a question and its answers to the row. The error is that of ctx.
func (a *consultation) ask(ctx context.Context, in aggregate.Input, q question) error {
	asked, err := askModel(ctx, a.id, a.model, q, in.Facts, in.Classification, a.options)
	if err != nil {
		return err
	}
	row := a.result()
	if row.Status == pipeline.AgentOK {
		row.Status, row.Note = asked.Status, joined(row.Note, asked.Note)
	}
	q.put(row)
	return nil
}

// askModel lets dispatch ask a model, as an agent with the id. The error is that of ctx.
func askModel(ctx context.Context, id, model string, asker dispatch.Agent, facts *pipeline.PRFacts, c *pipeline.Classification, o dispatch.Options) (row pipeline.AgentResult, err error) {
	manifest := pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{
		Agent: id, Scope: pipeline.AgentScope{All: true}, OnFailure: pipeline.OnFailureWarn, Models: pipeline.List[string]{model},
	}}}
	results, err := dispatch.Dispatch(ctx, manifest, facts, c, agents{id: asker}, o)
	if err != nil {
		return row, fmt.Errorf("ask the %s: %w", id, err)
	}
	return results[0], nil // there is one question
}

// result returns the row. It creates the row if there is none yet.
func (a *consultation) result() *pipeline.AgentResult {
	if a.row == nil {
		a.row = &pipeline.AgentResult{Agent: a.id, Model: a.model, Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Agent: a.id, Model: a.model}}
	}
	return a.row
}

// lastRows returns the rows of a consultation in the last review. There are none if another version
// of reviewgate or another config made them, or if the agent must be asked again.
func (r *Runner) lastRows(v *pipeline.Review, last *LastReview, c Carry, id, model string) (out []pipeline.AgentResult) {
	if last == nil || last.Version != r.Version || last.Review.Facts.Config.Version != v.Facts.Config.Version || c.reruns(id) {
		return nil
	}
	for _, lastResult := range last.Review.Results {
		if lastResult.Agent == id && lastResult.Model == model {
			out = append(out, lastResult)
		}
	}
	return out
}
