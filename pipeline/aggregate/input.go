package aggregate

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// input is an Input with what the steps look up in it. The steps don't change it.
type input struct {
	Input
	agents map[string]*config.Agent  // by id
	files  map[string]*pipeline.File // by path
	failed map[string]bool           // see failedAgents
	lines  *lineIndex
	titles *titles
}

// newInput fills in defaults. It sorts the results by content, so that the order in which they came
// does not matter.
func newInput(given Input) *input {
	in := &input{Input: given, agents: map[string]*config.Agent{}, files: map[string]*pipeline.File{}, titles: newTitles()}
	if in.Manifest == nil {
		in.Manifest = &pipeline.AgentManifest{}
	}
	if in.Classification == nil {
		in.Classification = &pipeline.Classification{}
	}
	if in.Rules == nil {
		in.Rules = RulesByID(in.Config)
	}
	in.Results = slices.Clone(in.Results)
	slices.SortStableFunc(in.Results, byAgent)
	for i := range in.Config.Agents {
		in.agents[in.Config.Agents[i].ID] = &in.Config.Agents[i]
	}
	for i := range in.Facts.Files {
		in.files[in.Facts.Files[i].Path] = &in.Facts.Files[i]
	}
	in.lines, in.failed = newLineIndex(in.files), failedAgents(in.Results, in.Manifest)
	return in
}

// RulesByID returns the value for Input.Rules. A config may have thousands of rules, so callers
// compute it once.
func RulesByID(cfg *config.Config) map[string]*config.Rule {
	out := make(map[string]*config.Rule, len(cfg.Rules))
	for i := range cfg.Rules {
		out[cfg.Rules[i].ID] = &cfg.Rules[i]
	}
	return out
}

func byAgent(a, b pipeline.AgentResult) int {
	return cmp.Or(
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Run, b.Run),
		cmp.Compare(a.Status, b.Status), cmp.Compare(a.Note, b.Note),
	)
}

func (in *input) kind(agent string) string {
	if a := in.agents[agent]; a != nil {
		return a.Kind
	}
	return ""
}
