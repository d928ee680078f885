package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// aside asks a model about what agents found. It does so as dispatch asks agents: within the
// same limits, and as little able to take a review down.
type aside struct {
	id, model string
	options   dispatch.Options
	mayTell   func(*pipeline.Finding) bool // whether the model may read a finding

	row *pipeline.AgentResult // of what was asked so far, or nil
}

// question is what an aside has dispatch run.
type question interface {
	dispatch.Noter
	// put adds what was said so far to a row. An attempt may be running still.
	put(row *pipeline.AgentResult)
}

// aside makes each the agent that stands for an aside.
func (r *Runner) aside(engine *Engine, each OutsideAgent, id string) OutsideAgent {
	each.Agent, each.Config, each.Redact = config.Agent{ID: id}, engine.config, r.Redact
	return each
}

func newAside(of OutsideAgent, model string, options dispatch.Options) aside {
	return aside{id: of.Agent.ID, model: model, options: options, mayTell: func(f *pipeline.Finding) bool {
		return f.RuleID == "" || of.Config.MayTell(&of.Agent, f.RuleID)
	}}
}

// ask adds a question and what is said to it to the row. The error is that of ctx.
func (a *aside) ask(ctx context.Context, in aggregate.Input, q question) error {
	asked := pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{
		Agent: a.id, Scope: pipeline.AgentScope{All: true}, OnFailure: pipeline.OnFailureWarn, Models: pipeline.List[string]{a.model},
	}}}
	made, err := dispatch.Dispatch(ctx, asked, in.Facts, in.Classification, agents{a.id: q}, a.options)
	if err != nil {
		return fmt.Errorf("ask the %s: %w", a.id, err)
	}
	if len(made) != 1 {
		return errors.New("ask the " + a.id + ": no result")
	}
	row := a.result()
	if row.Status == pipeline.AgentOK {
		row.Status, row.Note = made[0].Status, joined(row.Note, made[0].Note)
	}
	q.put(row)
	return nil
}

// result is the row, which there is once anything is put into it.
func (a *aside) result() *pipeline.AgentResult {
	if a.row == nil {
		a.row = &pipeline.AgentResult{Agent: a.id, Model: a.model, Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Agent: a.id, Model: a.model}}
	}
	return a.row
}

// said are the rows of an aside in the last review, if it was asked by the same version of
// reviewgate and the same config, and need not be asked anew.
func (r *Runner) said(v *pipeline.Review, last *LastReview, c Carry, id, model string) (out []pipeline.AgentResult) {
	if last == nil || last.Version != r.Version || last.Review.Facts.Config.Version != v.Facts.Config.Version || c.anew(id) {
		return nil
	}
	for _, was := range last.Review.Results {
		if was.Agent == id && was.Model == model {
			out = append(out, was)
		}
	}
	return out
}
