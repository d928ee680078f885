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
	LLM *ModelReview `json:"llm,omitempty"`
	// Webhook is for KindWebhook only.
	Webhook *RemoteReviewer `json:"webhook,omitempty"`
	// Session says that the agent is a reviewer of sessions: it is asked in each cycle, and its verdict
	// counts in the four rules. It is for KindLLM and KindWebhook. Default false.
	Session bool   `json:"session,omitempty"`
	Mode    string `json:"mode,omitempty"` // ModeEnforce (default) or ModeEvaluate
	Final   bool   `json:"final"`
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
	KindCodeScanning = "code-scanning" // takes in findings of other Apps on the head
	KindLLM          = "llm"           // asks a language model
	KindWebhook      = "webhook"       // asks a remote reviewer
)

// Kind is a kind of agent, with everything that config and pipeline need to know about it.
type Kind struct {
	Name string // the value of "kind" in an agent's entry
	// HasRules says that agents of the kind can have rules.
	HasRules bool
	// FactsAlone says that the findings follow from the facts and the config. They hold as long as
	// these do not change.
	FactsAlone bool
	// TakesIn says that the findings come from others who looked at the change. An agent of the
	// kind does not look at files itself.
	TakesIn bool
	// Session says that agents of the kind can be reviewers of sessions.
	Session bool

	section section
}

// section is the part of an agent's entry that only agents of one kind have. The names of its
// fields begin with the section's name, such as reports.comments.
type section struct {
	name string // empty if the kind has none
	// otherwise says what agents of other kinds do, for messages.
	otherwise string
	// check validates what the schema can't check in the section. It is nil if there is nothing to
	// check.
	check func(t *trial, e *entry)
	// stricter lists the changes that later layers may make to fields of a final agent.
	stricter map[string]change
	// defaults has the meaning of each field that is left out, unless that is its zero value.
	defaults map[string]any
}

// kinds are all kinds of agent. The schema of [FileAgents] has the same kinds and sections.
var kinds = []Kind{
	{Name: KindRules, HasRules: true, FactsAlone: true},
	{Name: KindSecrets, FactsAlone: true},
	{Name: KindReport, TakesIn: true, section: reportsSection},
	{Name: KindCodeScanning, TakesIn: true, section: scanningSection},
	{Name: KindLLM, HasRules: true, FactsAlone: true, Session: true, section: llmSection},
	{Name: KindWebhook, Session: true, section: webhookSection},
}

// Kinds lists the kinds of agent.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf returns the kind of an agent. If the kind does not exist, it returns the zero value.
func (a *Agent) KindOf() Kind { return kindNamed(a.Kind) }

func kindNamed(name string) Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}
	}
	return kinds[i]
}

// kindNames lists the kinds of agent that a layer may define, as text.
func kindNames(layer string) string {
	var names []string
	for _, k := range kinds {
		if k.Name != KindWebhook || layer == LayerServer {
			names = append(names, k.Name)
		}
	}
	return choices(names)
}

// agentSections lists the names of all kinds' sections.
func agentSections() (names []string) {
	for _, k := range kinds {
		if k.section.name != "" {
			names = append(names, k.section.name)
		}
	}
	return names
}

// checkAgent validates what the schema can't check in an agent's entry.
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
	t.checkSession(e)
	stands := map[string]string{
		pipeline.GapDetector: "the search for gaps in the config",
		pipeline.Matcher:     "the comparison of findings",
		pipeline.Verifier:    "the verification of findings",
	}[e.id]
	if stands != "" {
		t.of(e.node.At("id"), fmt.Sprintf("reports use the id %s for %s", shown(e.id), stands), "choose another id")
	}
}

// checkOwnSection refuses a section that belongs to another kind of agent.
func (t *trial) checkOwnSection(e *entry, own *Kind) {
	section, kind := e.node.Get(own.section.name), e.node.Get("kind")
	if section == nil || !given(kind) || kind.Text == own.Name {
		return
	}
	at := section
	if !t.owns(at) {
		at = kind // the layer changed the kind
	}
	t.of(at, fmt.Sprintf("an agent of kind %s %s", kind.Text, own.section.otherwise), fmt.Sprintf("remove %q, or set \"kind\" to %s", own.section.name, own.Name))
}
