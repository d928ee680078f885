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

// Verifier tells whether a finding is right. It may run for several findings side by side. The note
// says what the model was not shown.
type Verifier interface {
	Verify(ctx context.Context, task dispatch.Task, doubt aggregate.Doubt) (opinion pipeline.Opinion, note string, err error)
}

const (
	// maxDoubts bounds the findings of a review that a model is asked about.
	maxDoubts = 20
	// doubtsAtOnce is how many of them are asked about side by side.
	doubtsAtOnce = 4
)

// verifying asks a model whether single findings of another model are right.
type verifying struct {
	consultation
	verifier Verifier
	asked    int
	// before holds the answers of the last review by finding, and stands those that still hold.
	before map[string]pipeline.Verification
	stands func(*aggregate.Doubt) bool
}

// verify asks about findings in the results that only one model made. The error is that of ctx.
func (v *verifying) verify(ctx context.Context, in aggregate.Input, results pipeline.List[pipeline.AgentResult]) error {
	in.Results = results
	doubts := aggregate.Unproven(in, v.model, func(d *aggregate.Doubt) bool { return v.mayTell(&d.Finding) && !v.reuse(d) })
	if left := len(doubts) - (maxDoubts - v.asked); left > 0 {
		doubts = doubts[:len(doubts)-left]
		v.result().Note = joined(v.result().Note, fmt.Sprintf("%d more were not asked about", left))
	}
	if len(doubts) == 0 {
		return nil
	}
	v.asked += len(doubts)
	return v.ask(ctx, in, &verificationAsker{verifier: v.verifier, doubts: doubts, opinions: map[string]pipeline.Opinion{}})
}

// reuse copies the answer about a finding from the last review, and reports whether there was one.
func (v *verifying) reuse(d *aggregate.Doubt) bool {
	verification, ok := v.before[d.Key]
	if ok = ok && v.stands(d); ok {
		v.result().Verifications = append(v.result().Verifications, verification)
	}
	return ok
}

func fileOf(f *pipeline.PRFacts, path string) *pipeline.File {
	i := slices.IndexFunc(f.Files, func(f pipeline.File) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &f.Files[i]
}

// verificationAsker is questions about single findings, in the form that dispatch runs.
type verificationAsker struct {
	verifier Verifier
	doubts   []aggregate.Doubt

	mu       sync.Mutex // an abandoned attempt may end at any time
	opinions map[string]pipeline.Opinion
}

// Review asks about findings without an answer, and stores the answers, even if another
// question fails. It returns no findings.
func (a *verificationAsker) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	var g errgroup.Group
	g.SetLimit(doubtsAtOnce)
	var failed []error
	var panicked any // passed on to the caller, who handles panics
	notes := make([]string, len(a.doubts))
	for i, d := range a.doubts {
		a.mu.Lock()
		_, known := a.opinions[d.Key]
		a.mu.Unlock()
		if known {
			continue
		}
		g.Go(func() error {
			defer func() {
				if v := recover(); v != nil {
					a.mu.Lock()
					defer a.mu.Unlock()
					panicked = v
				}
			}()
			opinion, note, err := a.verifier.Verify(ctx, task, d)
			a.mu.Lock()
			defer a.mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return nil
			}
			notes[i], a.opinions[d.Key] = note, opinion
			return nil
		})
	}
	_ = g.Wait() // the errors are in failed
	if panicked != nil {
		panic(panicked)
	}
	var err error
	if len(failed) > 0 { // an error that a retry can help decides whether to ask again
		err = failed[max(0, slices.IndexFunc(failed, dispatch.Temporary))]
	}
	slices.Sort(notes)
	note := a.counted()
	for _, n := range slices.Compact(notes) {
		note = joined(note, n)
	}
	return dispatch.Answer{Note: note}, err
}

// counted summarises the answers.
func (a *verificationAsker) counted() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := map[pipeline.OpinionVerdict]int{}
	for _, o := range a.opinions {
		n[o.Verdict]++
	}
	return fmt.Sprintf("confirmed %d of %d, refuted %d", n[pipeline.OpinionConfirmed], len(a.doubts), n[pipeline.OpinionRefuted])
}

func (a *verificationAsker) put(row *pipeline.AgentResult) {
	if row.Status != pipeline.AgentOK {
		row.Note = joined(row.Note, a.counted())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.doubts {
		if opinion, ok := a.opinions[d.Key]; ok {
			row.Verifications = append(row.Verifications, pipeline.Verification{Finding: d.Key, Opinion: opinion})
		}
	}
}

// verifying asks whether findings are right. It is nil if nobody should be asked.
func (r *Runner) verifying(engine *Engine, o Options, each IOAgent, now *pipeline.Review, last *LastReview, options dispatch.Options) *verifying {
	by := engine.config.Settings.Models.Verify
	if o.Verifier == nil || by == "" {
		return nil
	}
	each = r.consultation(engine, each, pipeline.Verifier)
	verifier := o.Verifier(each)
	if verifier == nil {
		return nil
	}
	v := &verifying{consultation: newConsultation(each, by, options), verifier: verifier, before: map[string]pipeline.Verification{}}
	for _, lastRow := range r.lastRows(now, last, o.Carry, pipeline.Verifier, by) {
		for _, verification := range lastRow.Verifications {
			v.before[verification.Finding] = verification
		}
	}
	v.stands = func(d *aggregate.Doubt) bool {
		sameHead, stands := r.stillHolds(now, last, o.Carry)
		if d.Stage == pipeline.ReviewStageSpec || d.Finding.Path == "" { // its model read more than the file
			return stands && sameHead
		}
		x, y := fileOf(&now.Facts, d.Finding.Path), fileOf(&last.Review.Facts, d.Finding.Path)
		return (!sameHead || stands) && x != nil && y != nil && pipeline.SameJSON(x, y)
	}
	return v
}
