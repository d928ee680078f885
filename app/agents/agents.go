// Package agents makes the agents of a review. It has a row for each kind of agent that
// reads more than the facts; the pipeline itself has the kinds rules, secrets and webhook. The
// server and the command line share the rows. What a review can offer to its agents, such
// as comments or the checks of other Apps, is in its [Review].
package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/agents/codescanning"
	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// kinds are the kinds of agent by name. Each row makes an agent of its kind, or says why
// it can't.
var kinds = map[string]func(*Review, run.IOAgent) (dispatch.Agent, error){
	config.KindReport:       (*Review).report,
	config.KindCodeScanning: (*Review).codeScanning,
	config.KindLLM:          (*Review).llm,
}

// Models are the language models of a server's config.
type Models = model.Server

// Options are what a review offers to its agents. All of them may be left out.
type Options struct {
	Target     ports.Target
	Models     *Models
	NoModels   bool               // agents that ask models skip
	Files      report.Files       // nil if files at the head can't be read
	Discussion ports.Discussion   // nil if nobody can comment
	Scanners   ports.Scanners     // nil if no other App can check the change
	Scans      codescanning.Store // nil if news of other Apps' checks are not kept
	Tokens     ports.Tokens       // nil if nothing but the agents' own budgets is kept
	Log        zerolog.Logger     // names the job and the target

	// Used is called with the tokens and cost of each question to a model as soon as they
	// are known: they are paid even if the review fails. Unanswered is called with the
	// reason why a model did not answer, and Audited with the result of review reports.
	// They may be called from several goroutines at the same time.
	Used       func(pipeline.ModelUse)
	Unanswered func(model string, err error)
	Audited    func(reviewreport.Audit)
}

// Review makes the agents of one review, and holds what they share.
type Review struct {
	Options
	round model.Round
	reads codescanning.Reads

	mu      sync.Mutex
	trouble map[string]error // temporary error of each question's last attempt
}

// New returns a Review.
func New(o Options) *Review {
	if o.Models == nil {
		o.Models = &Models{}
	}
	return &Review{
		Options: o, trouble: map[string]error{},
		reads: codescanning.Reads{Store: o.Scans, Key: o.Target.Key()},
	}
}

// Agent makes an agent. If the agent can't be made, it returns one that fails. It returns
// nil for an unknown kind.
func (r *Review) Agent(spec run.IOAgent) dispatch.Agent {
	row := kinds[spec.Agent.Kind]
	if row == nil {
		return nil
	}
	agent, err := row(r, spec)
	if err != nil {
		return failing{err}
	}
	return agent
}

// failing is an agent that could not be made.
type failing struct{ err error }

// Review fails.
func (f failing) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	return dispatch.Answer{}, f.err
}

// report makes an agent that reads review reports.
func (r *Review) report(spec run.IOAgent) (dispatch.Agent, error) {
	return r.watch(spec, report.New(report.Options{
		Sources: spec.Agent.Reports, Thresholds: spec.Config.ThresholdsOf(spec.Agent.ID),
		Files: r.Files, Discussion: r.Discussion, Redact: spec.Redact,
		Audit: func(a reviewreport.Audit) {
			r.Log.Info().Interface("audit", a).Msg("review reports aggregated")
			if r.Audited != nil {
				r.Audited(a)
			}
		},
	})), nil
}

// codeScanning makes an agent that reads the findings of other Apps.
func (r *Review) codeScanning(spec run.IOAgent) (dispatch.Agent, error) {
	if r.Scanners == nil {
		return unscanned{}, nil
	}
	return r.watch(spec, codescanning.New(codescanning.Options{
		Sources: spec.Agent.Scanning, Host: r.Scanners, Reads: &r.reads, Redact: spec.Redact, Evaluation: spec.Evaluation,
	})), nil
}

// unscanned replaces an agent that reads the findings of other Apps, in reviews without
// GitHub.
type unscanned struct{}

// Review returns only a note.
func (unscanned) Review(context.Context, dispatch.Task) (dispatch.Answer, error) {
	return dispatch.Answer{Note: "what other Apps found is on GitHub, and was not looked at"}, nil
}

// ScansRead returns which findings of other Apps a finished review has read. For an agent
// that did not run again it returns the entries of before.
func (r *Review) ScansRead(o *run.Outcome, before ports.ScansRead) ports.ScansRead {
	return r.reads.Of(o.Config, &o.Review, before)
}

// Trouble returns the temporary errors of GitHub that made agents fail, or nil.
// They postpone the review, like a change that can't be read.
func (r *Review) Trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(slices.Collect(maps.Values(r.trouble))...)
}

// watch watches an agent, unless the agent runs in evaluation: trouble there postpones no review.
func (r *Review) watch(spec run.IOAgent, agent dispatch.Agent) dispatch.Agent {
	if spec.Evaluation {
		return agent
	}
	return watched{agent, r}
}

// watched is an agent that reads from GitHub. The review notes how its last attempt at each
// question ended.
type watched struct {
	dispatch.Agent
	by *Review
}

// Review notes how the attempt ended.
func (w watched) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	answer, err := w.Agent.Review(ctx, task)
	question := fmt.Sprintf("%s %s %d", task.Entry.Agent, task.Model, task.Run)
	w.by.mu.Lock()
	defer w.by.mu.Unlock()
	var host *ports.HostError
	if errors.As(err, &host) && host.Temporary() && ctx.Err() == nil {
		w.by.trouble[question] = err
	} else {
		delete(w.by.trouble, question)
	}
	return answer, err
}

// tokens is one agent's budget for models, which the store keeps.
type tokens struct {
	store ports.Tokens
	log   zerolog.Logger
	ask   ports.TokenAsk
}

var _ model.Budget = (*tokens)(nil)

// Take implements model.Budget.
func (t *tokens) Take(ctx context.Context, name string, n int) (func(llm.Use), error) {
	ask := t.ask
	ask.Model, ask.Tokens = name, n
	id, over, err := t.store.TakeTokens(ctx, ask)
	switch {
	case err != nil:
		return nil, fmt.Errorf("take %d tokens from the budget: %w", n, err)
	case over == ports.BudgetPull:
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: this pull request's reviews have %d tokens in all (model_budget.per_pull_request)", ask.PerPull)}
	case over == ports.BudgetRepository:
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: the repository has %d tokens a day (model_budget.per_repository_day)", ask.PerRepositoryDay)}
	}
	return func(use llm.Use) {
		// The tokens were spent, even if ctx has ended.
		if err := t.store.SettleTokens(context.WithoutCancel(ctx), id, use.Total()); err != nil && !errors.Is(err, ports.ErrNotFound) {
			t.log.Error().Err(err).Msg("what a model took can't be noted: what it may have taken counts")
		}
	}, nil
}
