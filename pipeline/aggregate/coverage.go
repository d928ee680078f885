package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// coverage has a row for each agent and model.
type coverage map[source]*pipeline.Coverage

// add adds a result on the head. An agent that reviews in two stages or asks a model several times
// has one row. If one of its reviews did not finish, the row shows the first such review.
func (c coverage) add(r *pipeline.AgentResult, head string) {
	s := source{r.Agent, r.Model}
	row := c[s]
	if row == nil {
		row = &pipeline.Coverage{Agent: r.Agent, Model: r.Model, Status: r.Status, Note: note(r, head)}
		c[s] = row
	} else if done(row.Status) && !done(r.Status) {
		row.Status, row.Note = r.Status, note(r, head)
	}
	row.Dropped += r.Dropped
	row.WithoutRule = max(row.WithoutRule, r.WithoutRule)
	row.Unlisted += r.Unlisted
	if r.Run > 0 {
		row.Runs = max(row.Runs, r.Run+1)
	}
}

// note is what a person has to know about a result.
func note(r *pipeline.AgentResult, head string) string {
	from := r.CarriedFrom
	if from == "" {
		return r.Note
	}
	carried := fmt.Sprintf("carried over from %s, whose change is equal", from[:min(7, len(from))])
	if from == head {
		carried = "its last result on this head stands"
	}
	if r.Note != "" {
		return r.Note + "; " + carried
	}
	return carried
}

// count fills in the findings, the counts and the coverage. The coverage counts each finding for
// the agent that it is attributed to.
func (w *work) count() {
	r := &w.report
	for _, f := range w.findings {
		w.coverage.foundBy(f)
		if f.Opinions, f.Cited = opinionsOf(f), ""; len(f.FoundBy) > 0 {
			f.Cited = w.surroundings.cited(&f.Finding)
		}
		r.Findings = append(r.Findings, f.Finding)
		r.Counts.Add(f.GateSeverity)
		c := w.coverage[f.source()]
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
	for _, c := range w.coverage {
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
func (c coverage) foundBy(f *item) {
	makers := map[source]bool{}
	for _, m := range f.each() {
		makers[m.source()] = true
	}
	for m := range makers {
		if m != f.source() {
			c[m].Shared++
		}
	}
	f.FoundBy = f.madeBy()
}

// madeBy is the value of FoundBy.
func (f *item) madeBy() (out pipeline.List[pipeline.Maker]) {
	if !slices.ContainsFunc(f.each(), func(m *item) bool { return m.Model != "" }) {
		return nil
	}
	for _, m := range f.each() {
		i := slices.IndexFunc(out, func(known pipeline.Maker) bool { return known.Agent == m.Agent && known.Model == m.Model })
		if i < 0 {
			i = len(out)
			out = append(out, pipeline.Maker{Agent: m.Agent, Model: m.Model})
		}
		out[i].Stated = max(out[i].Stated, m.stated())
	}
	slices.SortFunc(out, func(a, b pipeline.Maker) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return out
}

func sortTexts(t []pipeline.SourcedText) {
	slices.SortFunc(t, func(a, b pipeline.SourcedText) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Text, b.Text))
	})
}
