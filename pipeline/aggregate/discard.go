package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

// SpecFails reports whether the spec stage has a finding that may block, so that models need not
// review the quality. It uses the results so far: those of the spec stage, and of agents that are
// not models.
func SpecFails(in Input) bool {
	return newWork(in).through(untilAgreed[:], untilDiscarded[:]).specFails
}

// discard reads what the models found in each stage. If the spec stage has a finding that may
// block, the quality does not matter, and discard suppresses what models found in the quality
// stage. It never suppresses findings of agents that are not models.
func (w *work) discard() {
	fails := map[[3]string]bool{} // by agent, model and stage
	for _, f := range w.findings {
		if f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			fails[[3]string{f.Agent, f.Model, f.stage}] = true
		}
	}
	w.specFails = specBlocks(w.in, w.findings)
	for _, r := range w.in.Results {
		w.discarded = w.discarded || w.specFails && r.Status == pipeline.AgentDiscarded
		// A skipped stage was not asked.
		if isReview(&r) && r.Status != pipeline.AgentDiscarded {
			w.reviews = append(w.reviews, models.Review{
				Model: r.Model, Stage: r.Stage, Finished: done(r.Status) && r.Output.Voided == 0, Fails: fails[[3]string{r.Agent, r.Model, r.Stage}],
			})
		}
	}
	if w.specFails {
		w.findings = w.withoutQuality(w.findings)
		w.residuals = w.withoutQuality(w.residuals)
		w.coverage.discard(w.in.Results)
	}
}

// specBlocks reports whether the spec stage has a finding that may block: one that waits for a
// person, or one that counts as critical or major if the settings' conditions block on this stage
// alone. If those conditions pass, the quality matters.
func specBlocks(in *input, findings []*item) bool {
	m := zeroMetrics()
	may := false
	for _, f := range findings {
		if f.stage != pipeline.ReviewStageSpec {
			continue
		}
		s, holds := in.gateOf(f)
		if holds {
			return true
		}
		may = may || s.Rank() >= pipeline.SeverityMajor.Rank()
		countFinding(m, s, f.Confidence, true)
	}
	if !may {
		return false
	}
	decision, _ := policies.Decide(in.Config.Settings.Gate.Conditions, m)
	return decision.Blocks()
}

// The reasons of a suppressed finding of the quality stage.
const (
	reasonDiscarded = "discarded"
	noteDiscarded   = "discarded: the spec stage failed"
)

// withoutQuality suppresses what models found in the quality stage, except what a person accepted
// and what is final.
func (w *work) withoutQuality(findings []*item) []*item {
	return slices.DeleteFunc(findings, func(f *item) bool {
		if f.Model == "" || f.stage == pipeline.ReviewStageSpec || f.proof.Accepted || w.in.final(f) {
			return false
		}
		w.discarded = true
		f.addReason(noteDiscarded)
		f.suppress(&w.report, pipeline.StateSuppressed, reasonDiscarded)
		return true
	})
}

// discard marks the rows of model reviews that were only about quality. A review that did not
// finish keeps its status.
func (c coverage) discard(results []pipeline.AgentResult) {
	spec := map[source]bool{}
	for _, r := range results {
		if !isReview(&r) || r.Stage == pipeline.ReviewStageSpec {
			spec[source{r.Agent, r.Model}] = true
		}
	}
	for s, row := range c {
		if !spec[s] && row.Status == pipeline.AgentOK {
			row.Status, row.Note = pipeline.AgentDiscarded, "the spec stage failed"
		}
	}
}
