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
	secrets map[string]bool                 // the agents that look for secrets
	graded  map[string]bool                 // the agents with the scale pass/warn/fail
	failed  map[string]bool                 // see failedAgents
	pending map[string]pipeline.AgentStatus // of these, the remote reviewers that are awaited or were not asked
	files   map[string]*pipeline.File       // by path
	lines   *lineIndex
	titles  *titles
	memory  *remembered // nil if memory has no false positives
}

// newInput fills in defaults. It sorts the results by content, so that the order in which they came
// does not matter.
func newInput(given Input) *input {
	in := &input{Input: given, secrets: map[string]bool{}, graded: map[string]bool{}, files: filesByPath(given.Facts), titles: newTitles(), pending: map[string]pipeline.AgentStatus{}}
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
		a := &in.Config.Agents[i]
		in.secrets[a.ID], in.graded[a.ID] = a.Kind == config.KindSecrets, a.Scale == config.ScalePassWarnFail
	}
	in.lines, in.failed = newLineIndex(in.files), failedAgents(in.Results, in.Manifest)
	for _, r := range in.Results {
		if r.Status == pipeline.AgentWaiting || r.Status == pipeline.AgentNotAsked {
			in.pending[r.Agent] = r.Status
		}
	}
	in.memory = newRemembered(in.Memory.FalsePositives, in.Classification)
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

func filesByPath(facts *pipeline.PRFacts) map[string]*pipeline.File {
	out := make(map[string]*pipeline.File, len(facts.Files))
	for i := range facts.Files {
		out[facts.Files[i].Path] = &facts.Files[i]
	}
	return out
}

func byAgent(a, b pipeline.AgentResult) int {
	return cmp.Or(
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Run, b.Run),
		cmp.Compare(a.Status, b.Status), cmp.Compare(a.Note, b.Note),
	)
}
