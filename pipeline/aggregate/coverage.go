package aggregate

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// count fills in the findings, the counts and the coverage. The coverage counts each finding for
// the agent that it is attributed to.
func (w *work) count() {
	r := &w.report
	for _, f := range w.findings {
		w.rows.foundBy(f)
		r.Findings = append(r.Findings, f.Finding)
		r.Counts.Add(f.GateSeverity)
		c := w.rows.coverage[f.source()]
		c.Findings++
		if f.AutofixClass == pipeline.AutofixAuto {
			c.Auto++
		} else {
			c.Present++
		}
	}
	for _, f := range w.residuals {
		r.ResidualConcerns = append(r.ResidualConcerns, f.concern())
	}
	for _, res := range w.in.Results {
		r.ReviewReports = append(r.ReviewReports, res.Reports...)
	}
	slices.SortStableFunc(r.ReviewReports, func(a, b pipeline.ReviewReportOutcome) int {
		// The specification comes before the plan.
		return cmp.Or(compareBool(a.Phase != pipeline.PhaseSpec, b.Phase != pipeline.PhaseSpec), cmp.Compare(a.Place, b.Place))
	})
	for _, c := range w.rows.coverage {
		r.Coverage = append(r.Coverage, *c)
	}
	slices.SortFunc(r.Coverage, func(a, b pipeline.Coverage) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	sortTexts(r.ResidualConcerns)
	sortTexts(r.DeferredQuestions)
	slices.SortStableFunc(r.Suppressed, func(a, b pipeline.Suppressed) int { return byPlace(&a.Finding, &b.Finding) })
}

// foundBy records who made a finding, and counts it as shared for those whom it is not
// attributed to.
func (rows *coverageRows) foundBy(f *item) {
	makers := map[source]bool{}
	models := false
	for _, m := range f.each() {
		makers[m.source()] = true
		models = models || m.Model != ""
	}
	for m := range makers {
		if m != f.source() {
			rows.coverage[m].Shared++
		}
		if models {
			f.FoundBy = append(f.FoundBy, pipeline.Maker{Agent: m.agent, Model: m.model})
		}
	}
	slices.SortFunc(f.FoundBy, func(a, b pipeline.Maker) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	f.Opinions, f.Cited = opinionsOf(f), ""
	if models {
		f.Cited = rows.last.cited(&f.Finding)
	}
}

func sortTexts(t []pipeline.SourcedText) {
	slices.SortFunc(t, func(a, b pipeline.SourcedText) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Text, b.Text))
	})
}
