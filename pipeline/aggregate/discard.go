package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

// SpecFails reports whether the spec stage holds a finding that may block, so
// that the models need not look how well the change is made. It goes by what is
// known so far: the results of the spec stage, and of agents that are no models.
func SpecFails(in Input) bool {
	w := newWork(in)
	for _, step := range slices.Concat(untilAgreed[:], untilDiscarded[:]) {
		step(w)
	}
	return w.specFails
}

// discard reads what the models' reviews found in each stage. Where the spec
// stage holds a finding that may block, it is moot how well the change is made:
// what the models found in the quality stage is set aside. What agents that are
// no models found never is.
func (w *work) discard() {
	fails := map[[3]string]bool{} // by agent, model and stage
	for _, f := range w.findings {
		if f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			fails[[3]string{f.Agent, f.Model, f.stage}] = true
		}
	}
	w.specFails = w.specBlocks()
	for _, r := range w.in.Results {
		w.discarded = w.discarded || w.specFails && r.Status == pipeline.AgentDiscarded
		// A stage that was left out was not asked for.
		if reviews(&r) && r.Status != pipeline.AgentDiscarded {
			w.reviews = append(w.reviews, models.Review{
				Model: r.Model, Stage: r.Stage, Finished: done(r.Status) && r.Output.Voided == 0, Fails: fails[[3]string{r.Agent, r.Model, r.Stage}],
			})
		}
	}
	if w.specFails {
		w.findings = w.withoutQuality(w.findings)
		w.residuals = w.withoutQuality(w.residuals)
		w.coverDiscarded()
	}
}

// specBlocks reports whether the spec stage holds a finding that may block: one
// that waits for a person, or that counts as critical or major where the settings'
// conditions block if there is nothing but the stage. Where they let those pass it
// is not moot how well the change is made.
func (w *work) specBlocks() bool {
	m := zeroMetrics()
	may := false
	for _, f := range w.findings {
		if f.stage != pipeline.StageSpec {
			continue
		}
		s, holds := w.gateOf(f)
		if holds {
			return true
		}
		may = may || s.Rank() >= pipeline.SeverityMajor.Rank()
		tell(m, s, f.Confidence, true)
	}
	if !may {
		return false
	}
	decision, _ := policies.Decide(w.in.Config.Settings.Gate.Conditions, m)
	return decision.Blocks()
}

// What a finding that was set aside says of it.
const (
	reasonDiscarded = "discarded"
	noteDiscarded   = "discarded: the spec stage failed"
)

// withoutQuality sets aside what models found in the quality stage, but for what
// a person accepted and what is final.
func (w *work) withoutQuality(findings []*item) []*item {
	var kept []*item
	for _, f := range findings {
		if f.Model == "" || f.stage == pipeline.StageSpec || f.proof.Accepted || w.final(f) {
			kept = append(kept, f)
			continue
		}
		w.discarded = true
		f.because(noteDiscarded)
		w.setAside(f, pipeline.StateSuppressed, reasonDiscarded)
	}
	return kept
}

// coverDiscarded marks the rows of those models' reviews that were only about
// quality. One that did not finish stays what it was.
func (w *work) coverDiscarded() {
	spec := map[source]bool{}
	for _, r := range w.in.Results {
		if !reviews(&r) || r.Stage == pipeline.StageSpec {
			spec[source{r.Agent, r.Model}] = true
		}
	}
	for s, c := range w.coverage {
		if !spec[s] && c.Status == pipeline.AgentOK {
			c.Status, c.Note = pipeline.AgentDiscarded, "the spec stage failed"
		}
	}
}
