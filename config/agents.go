package config

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Agent is an entry of the registry of agents.
type Agent struct {
	ID             string   `json:"id"`
	Enabled        bool     `json:"enabled"` // default true
	Name           string   `json:"name"`
	Kind           string   `json:"kind"` // the name of one of Kinds
	Description    string   `json:"description"`
	Capabilities   []string `json:"capabilities,omitempty"`
	Scale          string   `json:"scale,omitempty"`           // ScaleSeverity (default) or ScalePassWarnFail
	TimeoutSeconds int      `json:"timeout_seconds,omitempty"` // default: limits.agent_timeout_seconds
	Retries        *int     `json:"retries,omitempty"`         // default: limits.agent_retries
	// Reports is for KindReport only.
	Reports *ReportSources `json:"reports,omitempty"`
	// Scanning is for KindCodeScanning only.
	Scanning *ScanSources `json:"scanning,omitempty"`
	// LLM is for KindLLM only.
	LLM   *ModelReview `json:"llm,omitempty"`
	Final bool         `json:"final"`
}

// The scales on which an agent's rules grade.
const (
	ScaleSeverity     = "severity"
	ScalePassWarnFail = "pass_warn_fail"
)

// The kinds of agent.
const (
	KindRules        = "rules"
	KindSecrets      = "secrets"
	KindReport       = "report"        // reads review reports
	KindCodeScanning = "code-scanning" // takes in what others found on the head
	KindLLM          = "llm"           // asks a language model
)

// Kind is a kind of agent, with what config and pipeline need to know of it.
type Kind struct {
	Name string // as agents name it by "kind"
	// HasRules says that rules may be of an agent of the kind.
	HasRules bool
	// FactsAlone says that its findings follow from the facts and the config, so that they
	// hold as long as these do.
	FactsAlone bool
	// TakesIn says that its findings are what others said of the change. Such an agent does
	// not look at files itself.
	TakesIn bool

	section section
}

// section is the part of an agent's entry that only agents of one kind have. Fields are
// named with the section, such as reports.comments.
type section struct {
	name string // empty if the kind has none
	// otherwise is what agents of other kinds do.
	otherwise string
	// check says what the schema can't of the section; nil if that is nothing.
	check func(t *trial, e *entry)
	// stricter is what may still be done to the fields of an agent that is final.
	stricter map[string]change
	// defaults is what leaving a field out means, unless that is its zero value.
	defaults map[string]any
}

// kinds are all kinds of agent. The schema of [FileAgents] names them too, and has their
// sections.
var kinds = []Kind{
	{Name: KindRules, HasRules: true, FactsAlone: true},
	{Name: KindSecrets, FactsAlone: true},
	{Name: KindReport, TakesIn: true, section: reportsSection},
	{Name: KindCodeScanning, TakesIn: true, section: scanningSection},
	{Name: KindLLM, HasRules: true, FactsAlone: true, section: llmSection},
}

// Kinds lists the kinds of agent.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf is the kind of an agent. It is the zero value for a kind that does not exist.
func (a *Agent) KindOf() Kind { return kindNamed(a.Kind) }

func kindNamed(name string) Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}
	}
	return kinds[i]
}

// kindNames lists the names of the kinds in words.
func kindNames() string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return choices(names)
}

// agentSections lists the names of the sections that kinds have.
func agentSections() (names []string) {
	for _, k := range kinds {
		if k.section.name != "" {
			names = append(names, k.section.name)
		}
	}
	return names
}

// checkAgent validates what the schema can't say of an agent.
func (t *trial) checkAgent(e *entry) {
	for i := range kinds {
		s := &kinds[i].section
		if s.name == "" {
			continue
		}
		t.checkOwnSection(e, &kinds[i])
		if s.check != nil {
			s.check(t, e)
		}
	}
	stands := map[string]string{
		pipeline.GapDetector: "the search for what the config misses",
		pipeline.Matcher:     "the question which findings are about one thing",
		pipeline.Verifier:    "the question whether findings are right",
	}[e.id]
	if stands != "" {
		t.of(e.node.At("id"), fmt.Sprintf("the id %s stands in reports for %s", shown(e.id), stands), "choose another id")
	}
}

// checkOwnSection refuses a kind's section in an agent of another kind.
func (t *trial) checkOwnSection(e *entry, own *Kind) {
	section, kind := e.node.Get(own.section.name), e.node.Get("kind")
	if section == nil || !given(kind) || kind.Text == own.Name {
		return
	}
	at := section
	if !t.owns(at) {
		at = kind // which the layer changed
	}
	t.of(at, fmt.Sprintf("an agent of kind %s %s", kind.Text, own.section.otherwise), fmt.Sprintf("remove %q, or set \"kind\" to %s", own.section.name, own.Name))
}
