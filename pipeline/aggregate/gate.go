package aggregate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// compare places the findings in the history of the pull request. A finding of
// the last report that is gone counts as resolved only if those who made it
// looked again, and at all of its file.
func (w *work) compare() {
	prev := w.in.Previous
	if prev == nil {
		for _, f := range w.findings {
			f.State = pipeline.StateNew
		}
		w.report.Changes.New = len(w.findings)
		return
	}
	w.report.Iteration = prev.Iteration + 1
	w.report.Changes.PreviousReport = prev.HeadSHA
	was := map[string]bool{}
	for i := range prev.Findings {
		was[prev.Findings[i].ID] = true
	}
	is := map[string]bool{}
	for _, f := range w.findings {
		is[f.ID] = true
		f.State = pipeline.StateNew
		if was[f.ID] {
			f.State = pipeline.StateOpen
			w.report.Changes.Open++
		} else {
			w.report.Changes.New++
		}
	}
	for _, i := range w.ignored {
		is[i.finding.ID] = true // it is there still
	}
	failed := w.failedAgents()
	for _, f := range prev.Findings {
		if !is[f.ID] && w.lookedAgain(&f, failed) {
			f.State = pipeline.StateResolved
			w.report.Changes.Resolved = append(w.report.Changes.Resolved, f)
		}
	}
}

// lookedAgain reports whether everybody who made a finding of the last report
// could have made it again.
func (w *work) lookedAgain(f *pipeline.Finding, failed map[string]bool) bool {
	if w.in.Failed != nil || failed[f.Agent] || slices.ContainsFunc(f.Reviewers, func(r string) bool { return failed[r] }) {
		return false
	}
	return !slices.ContainsFunc(w.in.Facts.Incomplete, func(i pipeline.Incompleteness) bool {
		return i.Gating && f.Path != "" && (i.Path == "" || i.Path == f.Path)
	})
}

func (w *work) failedAgents() map[string]bool {
	failed := map[string]bool{}
	for _, r := range w.in.Results {
		if !done(r.Status) {
			failed[r.Agent] = true
		}
	}
	return failed
}

func done(s pipeline.AgentStatus) bool { return s == pipeline.AgentOK || s == pipeline.AgentDiscarded }

// Incomplete is the gate's condition where no other decided worse and the
// review is not whole.
const Incomplete = "review incomplete"

// gate decides. First the settings' conditions, then what no setting can
// loosen: a review that is not whole is at least needs_fixes.
func (w *work) gate() {
	w.count()
	r := &w.report
	w.incomplete()
	r.Gate.Metrics = w.metrics()
	r.Decision, r.Gate.Condition = policies.Decide(w.in.Config.Settings.Gate.Conditions, r.Gate.Metrics)
	gating := slices.ContainsFunc(r.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating })
	if gating && r.Decision.Rank() < pipeline.DecisionNeedsFixes.Rank() {
		r.Decision, r.Gate.Condition = pipeline.DecisionNeedsFixes, Incomplete
	}
}

// count fills in the findings, the counts and the coverage, in which each
// finding stands under the agent it is attributed to.
func (w *work) count() {
	r := &w.report
	for _, f := range w.findings {
		r.Findings = append(r.Findings, *f)
		r.Counts.Add(f.GateSeverity)
		c := w.coverage[sourceOf(f)]
		c.Findings++
		if f.AutofixClass == pipeline.AutofixAuto {
			c.Auto++
		} else {
			c.Present++
		}
	}
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

func sortTexts(t []pipeline.SourcedText) {
	slices.SortFunc(t, func(a, b pipeline.SourcedText) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Text, b.Text))
	})
}

// incomplete lists all that could not be known: of the facts, of a stage, and
// of agents that did not finish. A required one keeps the gate from passing,
// unless its policy says warn.
func (w *work) incomplete() {
	r := &w.report
	r.Incomplete = append(r.Incomplete, w.in.Facts.Incomplete...)
	if w.in.Failed != nil {
		r.Incomplete = append(r.Incomplete, *w.in.Failed)
	}
	finished := map[string]bool{}
	for _, res := range w.in.Results {
		finished[res.Agent] = true
	}
	for _, res := range w.in.Results {
		if done(res.Status) {
			continue
		}
		e := w.in.Manifest.Entry(res.Agent)
		r.Incomplete = append(r.Incomplete, pipeline.Incompleteness{
			What: "agent", Why: fmt.Sprintf("%s %s: %s", res.Agent, ended(res.Status), res.Note), Gating: blocking(e),
		})
	}
	for i := range w.in.Manifest.Entries {
		e := &w.in.Manifest.Entries[i]
		if !finished[e.Agent] {
			r.Incomplete = append(r.Incomplete, pipeline.Incompleteness{What: "agent", Why: e.Agent + " did not run", Gating: blocking(e)})
		}
	}
}

// blocking reports whether the gate needs the agent. One that the manifest
// doesn't know is needed: nothing says that it isn't.
func blocking(e *pipeline.ManifestEntry) bool {
	return e == nil || e.Required && e.OnFailure != pipeline.OnFailureWarn
}

func ended(s pipeline.AgentStatus) string {
	switch s {
	case pipeline.AgentTimedOut:
		return "timed out"
	case pipeline.AgentMalformed:
		return "gave an answer that can't be read"
	case pipeline.AgentSkipped:
		return "was skipped"
	}
	return "failed"
}

// metrics are all that a gate condition may read.
func (w *work) metrics() map[string]float64 {
	r := &w.report
	m := map[string]float64{}
	for _, metric := range policies.Metrics() {
		m[metric.Name] = 0
	}
	m[policies.MetricMinConfidence] = 1
	for i := range r.Findings {
		f := &r.Findings[i]
		m[string(f.GateSeverity)]++
		m[policies.MetricFindings]++
		m[policies.MetricMinConfidence] = min(m[policies.MetricMinConfidence], f.Confidence)
		if f.State == pipeline.StateNew {
			m[policies.NewMetric(f.GateSeverity)]++
			m[policies.MetricNewFindings]++
		}
	}
	m[policies.MetricGaps] = float64(len(r.GapLog))
	m[policies.MetricUncoveredFiles] = float64(w.uncovered())
	m[policies.MetricRiskScore] = float64(w.in.Classification.Risk.Score)
	m[policies.MetricAgentsFailed] = float64(len(w.failedAgents()))
	m[policies.MetricIncomplete] = float64(len(r.Incomplete))
	return m
}

// uncovered counts the changed files that no agent finished looking at.
func (w *work) uncovered() int {
	failed := w.failedAgents()
	covered := map[string]bool{}
	for i := range w.in.Manifest.Entries {
		e := &w.in.Manifest.Entries[i]
		if failed[e.Agent] {
			continue
		}
		if e.Scope.All {
			return 0
		}
		for _, p := range e.Scope.Files {
			covered[p] = true
		}
	}
	n := 0
	for p := range w.files {
		if !covered[p] {
			n++
		}
	}
	return n
}
