package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Comparer tells which findings at one place are about one thing. The note says what it
// could not tell.
type Comparer interface {
	Compare(ctx context.Context, task dispatch.Task, pairs []aggregate.Pair) (comparisons []pipeline.Comparison, note string, err error)
}

// maxPairs bounds how many pairs of findings a model is asked about at a time: some 15,000
// tokens.
const maxPairs = 40

// comparing asks a model about pairs of findings as dispatch asks agents: within the same
// limits, and as little able to take a review down.
type comparing struct {
	comparer Comparer
	model    string // empty where nobody is asked
	options  dispatch.Options
	mayTell  func(*pipeline.Finding) bool // whether the model may read a finding

	row *pipeline.AgentResult // of what was asked so far, or nil
	// before are the comparisons of the last review, whose findings may be carried over.
	before []pipeline.Comparison
}

// compare asks about the findings among the results that may be about one thing. The error is
// that of ctx.
func (c *comparing) compare(ctx context.Context, in aggregate.Input, results pipeline.List[pipeline.AgentResult]) error {
	if c == nil || c.model == "" {
		return nil
	}
	in.Results = c.with(results)
	pairs := slices.DeleteFunc(aggregate.Undecided(in, maxPairs), func(p aggregate.Pair) bool { return !c.mayTell(&p.One) || !c.mayTell(&p.Other) })
	pairs = c.recall(pairs)
	if len(pairs) == 0 {
		return nil
	}
	asker := &comparisonAsker{comparer: c.comparer, pairs: pairs}
	asked := pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{
		Agent: pipeline.Matcher, Scope: pipeline.AgentScope{All: true}, OnFailure: pipeline.OnFailureWarn, Models: pipeline.List[string]{c.model},
	}}}
	made, err := dispatch.Dispatch(ctx, asked, in.Facts, in.Classification, agents{pipeline.Matcher: asker}, c.options)
	if err != nil {
		return fmt.Errorf("compare findings: %w", err)
	}
	if len(made) != 1 {
		return errors.New("compare findings: no result")
	}
	made[0].Output = pipeline.AgentOutput{Agent: pipeline.Matcher, Model: c.model}
	c.add(made[0], asker.answer())
	return nil
}

// recall takes over what was said of pairs in the last review, and returns the others.
func (c *comparing) recall(pairs []aggregate.Pair) []aggregate.Pair {
	var known []pipeline.Comparison
	pairs = slices.DeleteFunc(pairs, func(p aggregate.Pair) bool {
		i := slices.IndexFunc(c.before, func(b pipeline.Comparison) bool { return b.One == p.OneKey && b.Other == p.OtherKey })
		if i >= 0 {
			known = append(known, c.before[i])
		}
		return i >= 0
	})
	if len(known) > 0 {
		c.add(pipeline.AgentResult{Agent: pipeline.Matcher, Model: c.model, Status: pipeline.AgentOK, Output: pipeline.AgentOutput{Agent: pipeline.Matcher, Model: c.model}}, known)
	}
	return pairs
}

// add adds comparisons to the row. What was said stays when a later question fails.
func (c *comparing) add(made pipeline.AgentResult, said []pipeline.Comparison) {
	if made.Status != pipeline.AgentOK {
		said = nil
	}
	if c.row == nil {
		made.Comparisons = said
		c.row = &made
		return
	}
	if c.row.Status == pipeline.AgentOK {
		c.row.Status, c.row.Note = made.Status, joined(c.row.Note, made.Note)
	}
	c.row.Comparisons = append(c.row.Comparisons, said...)
}

// with is results with the row.
func (c *comparing) with(results pipeline.List[pipeline.AgentResult]) pipeline.List[pipeline.AgentResult] {
	if c == nil || c.row == nil {
		return results
	}
	return append(slices.Clip(results), *c.row)
}

// comparisonAsker is a question about pairs as dispatch runs it.
type comparisonAsker struct {
	comparer Comparer
	pairs    []aggregate.Pair

	mu   sync.Mutex // an attempt that was given up may end at any time
	said []pipeline.Comparison
}

// Review finds nothing: a comparison is no finding.
func (a *comparisonAsker) Review(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
	out, _, err := a.ReviewAndNote(ctx, task)
	return out, err
}

// ReviewAndNote keeps what is said.
func (a *comparisonAsker) ReviewAndNote(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, string, error) {
	said, note, err := a.comparer.Compare(ctx, task, a.pairs)
	if err == nil && ctx.Err() == nil {
		a.mu.Lock()
		a.said = said
		a.mu.Unlock()
	}
	return pipeline.AgentOutput{}, note, err
}

func (a *comparisonAsker) answer() []pipeline.Comparison {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said
}

// comparing is what asks which findings are about one thing, or nil where nobody is to be
// asked.
func (r *Runner) comparing(engine *Engine, o Options, each OutsideAgent, last *LastReview, options dispatch.Options) *comparing {
	settings := engine.config.Settings.Models
	if o.Comparer == nil || settings.Agreement == config.AgreementWords || len(settings.Reviewers) == 0 {
		return nil
	}
	each.Agent, each.Config, each.Redact = config.Agent{ID: pipeline.Matcher}, engine.config, r.Redact
	c := &comparing{comparer: o.Comparer(each), model: settings.Reviewers[0], options: options}
	if c.comparer == nil {
		return nil
	}
	c.mayTell = func(f *pipeline.Finding) bool {
		return f.RuleID == "" || engine.config.MayTell(&each.Agent, f.RuleID)
	}
	if last != nil {
		for _, was := range last.Review.Results {
			if was.Agent == pipeline.Matcher {
				c.before = append(c.before, was.Comparisons...)
			}
		}
	}
	return c
}
