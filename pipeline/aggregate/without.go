package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// WithoutModels ends the condition of a decision that would be milder with what models say.
const WithoutModels = ", without what models say"

// neverLooser decides again as if no model had been asked, and takes the stricter decision. A
// condition may hold because there is more of something, such as a warning that decides before the
// risk does, or less of something, such as files that nobody looked at. Whoever makes a model say
// the right thing could use such a condition to let a change pass.
func (w *work) neverLooser() {
	if w.report.Decision == pipeline.DecisionFail {
		return // no decision is stricter
	}
	in, asked := withoutModels(w.in.Input)
	if !asked {
		return
	}
	alone := newWork(in)
	alone.run()
	if r, other := &w.report, &alone.report; other.Decision.Rank() > r.Decision.Rank() {
		r.Decision, r.Gate.Condition = other.Decision, other.Gate.Condition+WithoutModels
	}
}

// withoutModels is the input as if no model had been asked: without their results, without the
// agents that are models, and without the files that other agents got because a model proposed so.
// asked reports whether a model was asked.
func withoutModels(in Input) (out Input, asked bool) {
	detectors, models, others := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range in.Results {
		switch {
		case r.Model == "":
			others[r.Agent] = true
		case r.Agent == pipeline.GapDetector:
			detectors[r.Model] = true
		default:
			models[r.Agent] = true
		}
	}
	if len(detectors)+len(models) == 0 {
		return in, false
	}
	out = in
	out.Memory.FalsePositives = nil // they are about models' findings
	var sent map[string][]string
	out.Gaps, sent = withoutProposed(in.Gaps, detectors)
	out.Manifest = &pipeline.AgentManifest{Skipped: in.Manifest.Skipped}
	gone := map[string]bool{}
	for _, e := range in.Manifest.Entries {
		e.Scope.Files = without(e.Scope.Files, sent[e.Agent])
		nowhere := len(sent[e.Agent]) > 0 && len(e.Scope.Files) == 0 && e.AddedBy == pipeline.AddedByGapDetect
		if nowhere || len(e.Models) > 0 || models[e.Agent] && !others[e.Agent] {
			gone[e.Agent] = true
			continue
		}
		out.Manifest.Entries = append(out.Manifest.Entries, e)
	}
	out.Results = nil
	for _, r := range in.Results {
		if r.Model != "" || gone[r.Agent] {
			continue
		}
		if files := sent[r.Agent]; len(files) > 0 {
			r.Output.Findings = slices.DeleteFunc(slices.Clone(r.Output.Findings), func(f pipeline.Finding) bool { return slices.Contains(files, f.Path) })
		}
		out.Results = append(out.Results, r)
	}
	return out, true
}

// withoutProposed removes the gaps that models proposed from a log, and returns where they sent
// agents. The patch tells them from the gaps that signals found, since a model may be named like a
// signal.
func withoutProposed(log pipeline.List[pipeline.GapLogEntry], detectors map[string]bool) (rest pipeline.List[pipeline.GapLogEntry], sent map[string][]string) {
	sent = map[string][]string{}
	for _, g := range log {
		if detectors[g.Source] && config.FileOf(g.Suggestion.File) == config.FileComposition {
			sent[g.Agent] = append(sent[g.Agent], g.Path)
			continue
		}
		rest = append(rest, g)
	}
	return rest, sent
}

func without(files pipeline.List[string], others []string) pipeline.List[string] {
	if len(others) == 0 {
		return files
	}
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return slices.Contains(others, f) })
}
