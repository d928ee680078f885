package run

import (
	"context"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Comparer tells which findings at one place are about the same problem. The note says what it
// could not tell.
type Comparer interface {
	Compare(ctx context.Context, task dispatch.Task, pairs []aggregate.Pair) (comparisons []pipeline.Comparison, note string, err error)
}

// maxPairs bounds how many pairs of findings a model is asked about at once: some 15,000 tokens.
const maxPairs = 40

// comparing asks a model about pairs of findings.
type comparing struct {
	consultation
	comparer Comparer
	before   []pipeline.Comparison // from the last review, whose findings may be carried
}

// compare asks about findings in the results that may be about the same problem. The error is that
// of ctx.
func (c *comparing) compare(ctx context.Context, in aggregate.Input, results pipeline.List[pipeline.AgentResult]) error {
	in.Results = results
	pairs := aggregate.Undecided(in, maxPairs, func(p *aggregate.Pair) bool {
		return c.mayTell(&p.One) && c.mayTell(&p.Other) && !c.reuse(p)
	})
	if len(pairs) == 0 {
		return nil
	}
	return c.ask(ctx, in, &comparisonAsker{comparer: c.comparer, pairs: pairs})
}

// reuse copies the answer about a pair from the last review, and reports whether there was one.
func (c *comparing) reuse(p *aggregate.Pair) bool {
	i := slices.IndexFunc(c.before, func(b pipeline.Comparison) bool { return b.One == p.OneKey && b.Other == p.OtherKey })
	if i >= 0 {
		c.result().Comparisons = append(c.result().Comparisons, c.before[i])
	}
	return i >= 0
}

// comparisonAsker is a question about pairs, in the form that dispatch runs.
type comparisonAsker struct {
	comparer Comparer
	pairs    []aggregate.Pair

	mu          sync.Mutex // an abandoned attempt may end at any time
	comparisons []pipeline.Comparison
}

// Review stores the answers. It returns no findings.
func (a *comparisonAsker) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	comparisons, note, err := a.comparer.Compare(ctx, task, a.pairs)
	if err == nil && ctx.Err() == nil {
		a.mu.Lock()
		a.comparisons = comparisons
		a.mu.Unlock()
	}
	return dispatch.Answer{Note: note}, err
}

func (a *comparisonAsker) put(row *pipeline.AgentResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	row.Comparisons = append(row.Comparisons, a.comparisons...)
}

// comparing asks which findings are about the same problem. It is nil if nobody should be asked.
func (r *Runner) comparing(engine *Engine, o Options, each IOAgent, v *pipeline.Review, last *LastReview, options dispatch.Options) *comparing {
	settings := engine.config.Settings.Models
	if o.Comparer == nil || settings.Agreement == config.AgreementWords || len(settings.Reviewers) == 0 {
		return nil
	}
	each = r.consultation(engine, each, pipeline.Matcher)
	comparer := o.Comparer(each)
	if comparer == nil {
		return nil
	}
	c := &comparing{consultation: newConsultation(each, settings.Reviewers[0], options), comparer: comparer}
	for _, lastRow := range r.lastRows(v, last, o.Carry, pipeline.Matcher, c.model) {
		c.before = append(c.before, lastRow.Comparisons...)
	}
	return c
}
