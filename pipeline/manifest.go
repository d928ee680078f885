package pipeline

import "slices"

// AgentManifest says which agents run on a change and why, and why the others don't.
type AgentManifest struct {
	Entries List[ManifestEntry] `json:"entries"` // by priority, descending, then agent id
	Skipped List[SkippedAgent]  `json:"skipped"` // by agent id
}

// Entry returns the entry of an agent, or nil.
func (m AgentManifest) Entry(agent string) *ManifestEntry {
	for i := range m.Entries {
		if m.Entries[i].Agent == agent {
			return &m.Entries[i]
		}
	}
	return nil
}

// ManifestEntry is one agent to dispatch.
type ManifestEntry struct {
	Agent     string            `json:"agent"`
	Scope     AgentScope        `json:"scope"`
	Policies  List[PolicyMatch] `json:"policies"` // by priority, descending, then id; empty for AddedByGapDetect
	Priority  int               `json:"priority"` // the highest of its policies
	Required  bool              `json:"required"`
	OnFailure OnFailure         `json:"on_failure"`
	Stage     string            `json:"stage"`    // spec, quality, or empty for deterministic agents
	Models    List[string]      `json:"models"`   // each as many times as the agent asks it
	AddedBy   string            `json:"added_by"` // AddedByPolicy or AddedByGapDetect
}

// Question is one run of an entry's agent: with which model, and for which time.
type Question struct {
	Model string // empty for an agent without a model
	Run   int    // 0 for the first run with this model, 1 for the second
}

// Questions are the runs of the entry. An agent without a model has one.
func (e *ManifestEntry) Questions() []Question {
	if len(e.Models) == 0 {
		return []Question{{}}
	}
	var out []Question
	runs := map[string]int{}
	for _, model := range e.Models {
		out = append(out, Question{model, runs[model]})
		runs[model]++
	}
	return out
}

// Who added a manifest entry.
const (
	AddedByPolicy    = "policy"
	AddedByGapDetect = "gap-detect"
)

// GapDetector represents, in the coverage, the model that looks for what the config misses. No
// agent has this id, and it is never required.
const GapDetector = "gap-detector"

// Matcher represents, in the coverage, the model that is asked which findings at one place are
// about the same problem.
const Matcher = "matcher"

// Verifier represents, in the coverage, the model that is asked whether findings of other models
// are right.
const Verifier = "verifier"

// Auxiliary reports whether the id represents a question to a model and not an agent.
func Auxiliary(agent string) bool {
	return agent == GapDetector || agent == Matcher || agent == Verifier
}

// GapSignals is the source, in the log, of gaps that no model found. No endpoint has this name.
const GapSignals = "signals"

// OnFailure says what a required agent's failure does to the gate.
type OnFailure string

// A required agent that fails blocks, unless its policy says warn.
const (
	OnFailureBlock OnFailure = "block"
	OnFailureWarn  OnFailure = "warn"
)

// AgentScope is what an agent is asked to review. If All is true, that is the whole change, and
// Files and Domains are empty.
type AgentScope struct {
	All     bool         `json:"all"`
	Files   List[string] `json:"files"`   // sorted
	Domains List[string] `json:"domains"` // sorted
}

// Has reports whether the agent is asked to review a file.
func (s *AgentScope) Has(path string) bool {
	_, named := slices.BinarySearch(s.Files, path)
	return s.All || named
}

// PolicyMatch is a policy that chose an agent, and what in the change triggered it, in words.
type PolicyMatch struct {
	Policy   string `json:"policy"`
	Priority int    `json:"priority"`
	Trigger  string `json:"trigger"`
}

// SkippedAgent is a registered agent that does not run, and the nearest reason.
type SkippedAgent struct {
	Agent  string `json:"agent"`
	Reason string `json:"reason"`
}

// GapLogEntry is a concern that the config missed, with the change to the config that would cover
// it. The changes of several entries can be made in any order.
type GapLogEntry struct {
	Concern    string      `json:"concern"`
	Name       string      `json:"name,omitempty"` // of the concern, for people
	Path       string      `json:"path"`
	Line       int         `json:"line"`
	Quote      string      `json:"quote"` // added text that shows the concern
	Missed     string      `json:"missed"`
	Suggestion ConfigPatch `json:"suggestion"`
	Agent      string      `json:"agent"` // the agent dispatched for it, or empty if all ran anyway
	// Others are the agents that were dispatched with Agent, such as its twin that asks a model.
	Others     List[string] `json:"others,omitempty"`
	Source     string       `json:"source"` // signals, or a model's name
	Confidence float64      `json:"confidence"`
}

// ID returns the id of the gap, or "" if it has no suggestion. It is the id of the config entry that
// the suggestion adds, so a gap has the same id in every review.
func (g *GapLogEntry) ID() string {
	for _, op := range g.Suggestion.Operations {
		if entry, ok := op.Value.(map[string]any); ok {
			if id, ok := entry["id"].(string); ok {
				return id
			}
		}
	}
	return ""
}

// ConfigPatch is an RFC 6902 JSON Patch for one of the config files. An operation that appends to the
// list of entries also makes the file and the list, if there is none.
type ConfigPatch struct {
	File       string               `json:"file"` // such as review-domains.json
	Operations List[PatchOperation] `json:"operations"`
}

// PatchOperation is one operation of an RFC 6902 JSON Patch.
type PatchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}
