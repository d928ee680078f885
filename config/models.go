package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// ModelEndpoint is a language model that agents may ask. Only the server's layer can have
// endpoints, because they name a host and asking costs money.
type ModelEndpoint struct {
	Name string `json:"name"` // the name that settings, policies, agents and reports use
	API  string `json:"api"`  // APIAnthropic or APIOpenAI
	// Model is the API's own name of the model.
	Model string `json:"model"`
	// BaseURL is the address of the API, such as http://127.0.0.1:11434/v1 for Ollama. The default
	// is the vendor's own API.
	BaseURL string `json:"base_url,omitempty"`
	// KeyEnv names the environment variable that holds the key. The default is ANTHROPIC_API_KEY or
	// OPENAI_API_KEY. With a BaseURL there is no default, and without KeyEnv no key is sent.
	KeyEnv          string `json:"key_env,omitempty"`
	ContextTokens   int    `json:"context_tokens,omitempty"`    // the most tokens that the model reads, default 128,000
	MaxOutputTokens int    `json:"max_output_tokens,omitempty"` // the most tokens of one answer, default 8,192
	// Prices are in US dollars for a million tokens. Reports use them to show what a review cost.
	// The default is 0, for models that cost nothing by the token.
	InputPrice float64 `json:"input_price,omitempty"`
	// CachedPrice is the price of input that the API had cached, and StoredPrice that of input that
	// it caches. Anthropic charges a quarter more for storing. 0 means InputPrice.
	CachedPrice float64 `json:"cached_price,omitempty"`
	StoredPrice float64 `json:"stored_price,omitempty"`
	OutputPrice float64 `json:"output_price,omitempty"`
}

// The protocols of models.
const (
	APIAnthropic = "anthropic" // Messages
	APIOpenAI    = "openai"    // Chat Completions, which many servers speak
)

// ModelBudget limits what models are asked, in tokens read and written together. A question over
// the budget is not asked, and the agent's row says so. Only the server's layer can have a budget.
type ModelBudget struct {
	PerAgent         int `json:"per_agent"`          // for one agent on one model in one review, default 200,000
	PerPull          int `json:"per_pull_request"`   // for all reviews of one pull request, default 2,000,000
	PerRepositoryDay int `json:"per_repository_day"` // for one repository in any 24 hours, default 20,000,000
}

// ModelReview says what an agent of kind [KindLLM] asks a language model.
type ModelReview struct {
	// Stage is pipeline.ReviewStageQuality (default) or ReviewStageSpec. Only agents of the
	// spec stage read the title, the description, the commits' messages and the
	// linked issues.
	Stage string `json:"stage,omitempty"`
	// Prompt names the file prompt-NAME.md; the highest layer that has one counts, see
	// Config.Prompt. The default is the agent's id.
	Prompt string `json:"prompt,omitempty"`
	// Output is OutputFindings (default), or OutputReport for an agent that reviews each whole
	// specification or plan in its scope and answers with a review report.
	Output string `json:"output,omitempty"`
	// ReportBy is the reviewer in whose name the agent writes reports, with OutputReport:
	// reviewreport.AgentSpecReviewer, AgentTechnicalPM or AgentArchitectureReview. The default is
	// the agent's id.
	ReportBy string `json:"report_by,omitempty"`
	// Checklist lists the agents whose rules it checks besides its own.
	Checklist []string `json:"checklist,omitzero"`
	// Models names the models that the agent asks, each as often as it is named. The default is
	// models.reviewers. A policy's own models take precedence over both.
	Models []string `json:"models,omitzero"`
}

// llmSection is the section of an agent of kind llm.
var llmSection = section{
	name: "llm", otherwise: "asks no language model",
	check: func(t *trial, e *entry) {
		t.values.checkReviewer(e)
		t.checkPromptOf(e)
	},
	stricter: map[string]change{"llm.checklist": mayGrow},
	defaults: map[string]any{"llm.stage": pipeline.ReviewStageQuality},
}

// An agent of kind [KindLLM] answers with one of these.
const (
	OutputFindings = "findings"
	OutputReport   = "report"
)

// Reviewer returns the reviewer of specifications or plans in whose name an agent writes reports,
// if it writes any.
func (a *Agent) Reviewer() (r reviewreport.Reviewer, ok bool) {
	if a.Kind != KindLLM || a.LLM == nil || a.LLM.Output != OutputReport {
		return r, false
	}
	return reviewreport.ReviewerOf(cmp.Or(a.LLM.ReportBy, a.ID))
}

// checkReviewer validates the reviewer in whose name an agent writes reports.
func (c *valueChecks) checkReviewer(e *entry) {
	a, ok := e.value.(*Agent)
	if !ok || a.LLM == nil {
		return
	}
	output, by := e.node.Get("llm").Get("output"), e.node.Get("llm").Get("report_by")
	_, known := reviewreport.ReviewerOf(cmp.Or(a.LLM.ReportBy, a.ID))
	switch {
	case a.LLM.Output == OutputReport && !known:
		c.of(output, fmt.Sprintf("%s does not say in whose name it writes reports", shown(a.ID)), `name the reviewer by "report_by": spec-reviewer, technical-pm or architecture-review`)
	case a.LLM.Output != OutputReport && given(by):
		at := by
		if !c.owns(at) {
			at = output // the layer changed the output
		}
		c.of(at, fmt.Sprintf("%s writes no reports", shown(a.ID)), `remove "report_by", or set "output" to report`)
	}
}

// StageOf returns the stage that an agent reviews in. Agents of kinds other than [KindLLM] have
// none.
func (a *Agent) StageOf() string {
	switch {
	case a.Kind != KindLLM:
		return ""
	case a.LLM == nil || a.LLM.Stage == "":
		return pipeline.ReviewStageQuality
	}
	return a.LLM.Stage
}

// ModelsOf returns the names of the models that an agent of kind [KindLLM] asks, the stronger last.
// They are those that policies name, else the agent's own, else the reviewers in the settings. A
// model that is named several times is asked as often. With the strategy single, only the last
// model is asked. A server without endpoints has no models.
func (c *Config) ModelsOf(a *Agent, named []string) []string {
	reviewers := c.Settings.Models.Reviewers
	if len(named) == 0 && a.LLM != nil {
		named = a.LLM.Models
	}
	if len(named) == 0 {
		named = reviewers
	}
	if a.Kind != KindLLM || len(c.Settings.ModelEndpoints) == 0 || len(named) == 0 {
		return nil
	}
	ordered := models.Order(named, reviewers)
	if c.Settings.Models.Strategy == models.StrategySingle {
		return ordered[slices.Index(ordered, ordered[len(ordered)-1]):]
	}
	return ordered
}

// Absent reports whether an agent needs a language model and the server has none, or whether only the
// defaults switch an agent off. Reports don't mention such an agent, unless a policy requires it: then
// it can't finish.
func (c *Config) Absent(a *Agent) bool {
	return a.Kind == KindLLM && len(c.Settings.ModelEndpoints) == 0 || c.unused[a.ID]
}

// Runnable returns the ids of the agents that can run, sorted: those that are enabled and not absent.
func (c *Config) Runnable() (ids []string) {
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Enabled && !c.Absent(a) {
			ids = append(ids, a.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Endpoint returns the endpoint with a model's name, or nil.
func (c *Config) Endpoint(name string) *ModelEndpoint {
	for i := range c.Settings.ModelEndpoints {
		if e := &c.Settings.ModelEndpoints[i]; e.Name == name {
			return e
		}
	}
	return nil
}

// withReviewers returns the settings. If they name no reviewers, the first two endpoints become the
// reviewers.
func (s Settings) withReviewers() Settings {
	if len(s.Models.Reviewers) > 0 {
		return s
	}
	for _, e := range s.ModelEndpoints[:min(len(s.ModelEndpoints), 2)] {
		s.Models.Reviewers = append(s.Models.Reviewers, e.Name)
	}
	return s
}
