package run

import (
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// reconciled is an input in which review reports and models' reviews of the same documents replace
// one another: a review report replaces what models found before it, and a model's review replaces
// a missing mandatory report.
func reconciled(in aggregate.Input) aggregate.Input {
	in.Previous, in.SameHead = replacedByReports(in.Previous, in.Results), replacedByReports(in.SameHead, in.Results)
	in.Results = completed(in)
	return in
}

// replacedByReports is the previous report after review reports replaced models' findings. A
// finding that only the models of one reviewer made in a document loses its surroundings if a
// review report now replaces the models' review. As with changed lines, it is then gone unless
// somebody raises it again.
func replacedByReports(was *pipeline.PreviousReport, results []pipeline.AgentResult) *pipeline.PreviousReport {
	by := map[[2]string]bool{} // by agent and document
	for _, r := range results {
		for _, d := range r.Documents {
			if d.Report != "" && judged(results, path.Dir(d.Report)) {
				by[[2]string{r.Agent, d.Path}] = true
			}
		}
	}
	if was == nil || len(by) == 0 {
		return was
	}
	out := *was
	for _, list := range []*pipeline.List[pipeline.Finding]{&out.Findings, &out.Unconfirmed} {
		*list = slices.Clone(*list)
		for i := range *list {
			f := &(*list)[i]
			makers := f.FoundBy
			if len(makers) == 0 {
				makers = pipeline.List[pipeline.Maker]{{Agent: f.Agent, Model: f.Model}}
			}
			if !slices.ContainsFunc(makers, func(m pipeline.Maker) bool { return m.Model == "" || !by[[2]string{m.Agent, f.Path}] }) {
				f.Surroundings = nil
			}
		}
	}
	return &out
}

// judged reports whether the review reports in a directory were judged.
func judged(results []pipeline.AgentResult, place string) bool {
	return slices.ContainsFunc(results, func(r pipeline.AgentResult) bool {
		return r.Status == pipeline.AgentOK && slices.ContainsFunc(r.Reports, func(o pipeline.ReviewReportOutcome) bool { return o.Place == place })
	})
}

// completed returns the results with the outcomes of review reports completed: if an outcome lacks
// only a mandatory review and a model made it, the model's review counts.
func completed(in aggregate.Input) pipeline.List[pipeline.AgentResult] {
	reviewed := map[string][]string{} // the documents that models reviewed, by the reviewer that they stand in for
	for i := range in.Config.Agents {
		a := &in.Config.Agents[i]
		by, ok := a.Reviewer()
		if !ok {
			continue
		}
		for _, r := range in.Results {
			if r.Agent != a.ID || r.Model == "" {
				continue
			}
			for _, d := range r.Documents {
				if d.Report == "" {
					reviewed[by.Agent] = append(reviewed[by.Agent], d.Path)
				}
			}
		}
	}
	if len(reviewed) == 0 {
		return in.Results
	}
	out := slices.Clone(in.Results)
	for i := range out {
		r := &out[i]
		r.Reports = slices.Clone(r.Reports)
		for k := range r.Reports {
			o := &r.Reports[k]
			if o.Missing == "" || !slices.ContainsFunc(reviewed[o.Missing], func(doc string) bool { return about(o.Place, doc) }) {
				continue
			}
			r.Output.Findings = slices.DeleteFunc(slices.Clone(r.Output.Findings), func(f pipeline.Finding) bool { return reviewreport.SaysMissing(&f, o) })
			*o = reviewreport.Reviewed(*o)
		}
	}
	return out
}

// about reports whether the reports at a place are about a document.
func about(place, document string) bool {
	return place == pipeline.ReviewReportsInComments || strings.HasPrefix(place+"/", path.Dir(document)+"/")
}
