package run

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Verifier tells whether a finding is right. Several are asked about side by side. The note
// says what it was not shown.
type Verifier interface {
	Verify(ctx context.Context, task dispatch.Task, doubt aggregate.Doubt) (opinion pipeline.Opinion, note string, err error)
}

const (
	// maxDoubts bounds how many findings of a review a model is asked about.
	maxDoubts = 20
	// doubtsAtOnce is how many it is asked about side by side.
	doubtsAtOnce = 4
)

// verifying asks a model whether single findings of another are right.
type verifying struct {
	aside
	verifier Verifier
	asked    int
	last     *LastReview
}

// verify asks about what one model alone found among the results. The error is that of ctx.
func (v *verifying) verify(ctx context.Context, in aggregate.Input, results pipeline.List[pipeline.AgentResult]) error {
	in.Results = results
	doubts := slices.DeleteFunc(aggregate.Unproven(in, v.model, maxDoubts-v.asked), func(d aggregate.Doubt) bool { return !v.mayTell(&d.Finding) })
	doubts = v.recall(in.Facts, doubts)
	if len(doubts) == 0 {
		return nil
	}
	v.asked += len(doubts)
	return v.ask(ctx, in, &verificationAsker{verifier: v.verifier, doubts: doubts, said: map[string]pipeline.Opinion{}})
}

// recall takes over what was said of findings in the last review, where their files are as
// they were, and returns the others.
func (v *verifying) recall(facts *pipeline.PRFacts, doubts []aggregate.Doubt) []aggregate.Doubt {
	known := map[string]pipeline.Verification{}
	for _, was := range v.last.results(pipeline.Verifier) {
		for _, said := range was.Verifications {
			if was.Model == v.model {
				known[said.Finding] = said
			}
		}
	}
	return slices.DeleteFunc(doubts, func(d aggregate.Doubt) bool {
		said, ok := known[d.Key]
		if ok = ok && sameFile(facts, &v.last.Review.Facts, d.Finding.Path); ok {
			v.result().Verifications = append(v.result().Verifications, said)
		}
		return ok
	})
}

// sameFile reports whether two heads change a file alike. Of what is in no file nothing is
// known.
func sameFile(a, b *pipeline.PRFacts, path string) bool {
	x, y := fileOf(a, path), fileOf(b, path)
	return x != nil && y != nil && sameJSON(x, y)
}

func fileOf(f *pipeline.PRFacts, path string) *pipeline.File {
	i := slices.IndexFunc(f.Files, func(f pipeline.File) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &f.Files[i]
}

// verificationAsker are questions about single findings as dispatch runs them.
type verificationAsker struct {
	verifier Verifier
	doubts   []aggregate.Doubt

	mu   sync.Mutex // an attempt that was given up may end at any time
	said map[string]pipeline.Opinion
}

// Review finds nothing: an opinion is no finding.
func (a *verificationAsker) Review(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
	out, _, err := a.ReviewAndNote(ctx, task)
	return out, err
}

// ReviewAndNote asks about what nothing was said of yet, and keeps what is said, also if
// another question fails.
func (a *verificationAsker) ReviewAndNote(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, string, error) {
	var g errgroup.Group
	g.SetLimit(doubtsAtOnce)
	notes := make([]string, len(a.doubts))
	for i, d := range a.doubts {
		a.mu.Lock()
		_, known := a.said[d.Key]
		a.mu.Unlock()
		if known {
			continue
		}
		g.Go(func() error {
			opinion, note, err := a.verifier.Verify(ctx, task, d)
			if err != nil {
				return err
			}
			notes[i] = note
			a.mu.Lock()
			defer a.mu.Unlock()
			a.said[d.Key] = opinion
			return nil
		})
	}
	err := g.Wait()
	slices.Sort(notes)
	note := a.counted()
	for _, n := range slices.Compact(notes) {
		note = joined(note, n)
	}
	return pipeline.AgentOutput{}, note, err
}

// counted says in words what was said.
func (a *verificationAsker) counted() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := map[pipeline.OpinionVerdict]int{}
	for _, o := range a.said {
		n[o.Verdict]++
	}
	return fmt.Sprintf("confirmed %d of %d, refuted %d", n[pipeline.OpinionConfirmed], len(a.doubts), n[pipeline.OpinionRefuted])
}

func (a *verificationAsker) put(row *pipeline.AgentResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.doubts {
		if opinion, ok := a.said[d.Key]; ok {
			row.Verifications = append(row.Verifications, pipeline.Verification{Finding: d.Key, Opinion: opinion})
		}
	}
}

// verifying is what asks whether findings are right, or nil where nobody is to be asked.
func (r *Runner) verifying(engine *Engine, o Options, each OutsideAgent, last *LastReview, options dispatch.Options) *verifying {
	by := engine.config.Settings.Models.Verify
	if o.Verifier == nil || by == "" {
		return nil
	}
	each = r.aside(engine, each, pipeline.Verifier)
	verifier := o.Verifier(each)
	if verifier == nil {
		return nil
	}
	return &verifying{aside: newAside(each, by, options), verifier: verifier, last: last}
}
