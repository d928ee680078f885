package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// work is a report in the making. The steps change it.
type work struct {
	in           *input
	texts        *texts
	rechecks     *rechecks
	paths        *pathHistory  // set by identify
	surroundings *surroundings // set by identify

	findings  []*item                     // after the confidence step, those above the confidence gate
	residuals []*item                     // those below it
	folded    int                         // the number of residuals merged into findings
	clusters  int                         // the number of clusters; see item
	reviews   []models.Review             // what the models' reviews found, by stage
	specFails bool                        // the spec stage has a finding that may block
	discarded bool                        // the quality stage was skipped, or some of its findings were dropped
	held      bool                        // the gate waits for a person
	known     bool                        // memory has a record that may count about some finding
	doubts    map[*pipeline.Finding]doubt // by the first member's original; nil without memory
	coverage  coverage
	report    pipeline.Report
}

func newWork(given Input) *work { return newWorkOn(newInput(given)) }

func newWorkOn(in *input) *work {
	f := in.Facts
	w := &work{
		in: in, texts: &texts{in: in, flaggedAt: map[flaggedLines]string{}}, rechecks: &rechecks{in: in}, coverage: coverage{},
		report: pipeline.Report{
			SchemaVersion: pipeline.ReportSchemaVersion, Repository: f.Repository.FullName(), Number: f.Number,
			HeadSHA: f.Head.SHA, ConfigVersion: f.Config.Version, GapLog: in.Gaps, Iteration: 1,
			Probation: in.Config.OnProbation(),
		},
	}
	if f.Head.WorkTree { // a work tree is not a commit
		w.report.HeadSHA = ""
	}
	w.addResults()
	return w
}

// addResults adds the agents' outputs.
func (w *work) addResults() {
	for answer, r := range w.in.Results {
		w.coverage.add(&r, w.in.Facts.Head.SHA)
		items := make([]item, len(r.Output.Findings))
		for i := range items {
			items[i] = item{Finding: r.Output.Findings[i], original: &r.Output.Findings[i], answer: answer, stage: r.Stage}
			items[i].Agent, items[i].Model, items[i].remote = r.Agent, r.Model, r.Remote
			w.findings = append(w.findings, &items[i])
		}
		for _, t := range r.Output.ResidualConcerns {
			w.report.ResidualConcerns = append(w.report.ResidualConcerns, pipeline.SourcedText{Text: t, Source: r.Agent})
		}
		for _, t := range r.Output.DeferredQuestions {
			w.report.DeferredQuestions = append(w.report.DeferredQuestions, pipeline.SourcedText{Text: t, Source: r.Agent})
		}
	}
	sortByContent(w.findings)
}

// keep removes the findings for which f returns false. f may change findings.
func (w *work) keep(f func(*item) bool) {
	w.findings = slices.DeleteFunc(w.findings, func(x *item) bool { return !f(x) })
}
