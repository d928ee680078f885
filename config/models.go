package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// ModelEndpoint is a language model that agents may ask. Only the server's layer
// has any: it names a host, and what is sent costs money.
type ModelEndpoint struct {
	Name string `json:"name"` // by which settings, policies, agents and reports call it
	API  string `json:"api"`  // APIAnthropic or APIOpenAI
	// Model is the API's own name of the model.
	Model string `json:"model"`
	// BaseURL is where the API is, such as http://127.0.0.1:11434/v1 for Ollama.
	// Default: the vendor's own.
	BaseURL string `json:"base_url,omitempty"`
	// KeyEnv names the environment variable that holds the key. Default:
	// ANTHROPIC_API_KEY or OPENAI_API_KEY; with a BaseURL none, and no key is sent.
	KeyEnv          string `json:"key_env,omitempty"`
	ContextTokens   int    `json:"context_tokens,omitempty"`    // what the model reads at most, default 128,000
	MaxOutputTokens int    `json:"max_output_tokens,omitempty"` // of one answer, default 8,192
	// Prices in US dollars for a million tokens, for what a review is said to
	// cost. Default 0, for models that cost nothing by the token.
	InputPrice float64 `json:"input_price,omitempty"`
	// CachedPrice is that of input that the API had cached, StoredPrice that of
	// input that it puts there: Anthropic's takes a quarter more. 0 is InputPrice.
	CachedPrice float64 `json:"cached_price,omitempty"`
	StoredPrice float64 `json:"stored_price,omitempty"`
	OutputPrice float64 `json:"output_price,omitempty"`
}

// The protocols of models.
const (
	APIAnthropic = "anthropic" // Messages
	APIOpenAI    = "openai"    // Chat Completions, which many servers speak
)

// ModelBudget bounds what models are asked, in tokens read and written together.
// What is over it is not asked, and the agent's row says so. For the server's
// layer only.
type ModelBudget struct {
	PerAgent         int `json:"per_agent"`          // of one agent on one model in one review, default 200,000
	PerPull          int `json:"per_pull_request"`   // in all of its reviews, default 2,000,000
	PerRepositoryDay int `json:"per_repository_day"` // in any 24 hours, default 20,000,000
}

// ModelReview says what a language model is asked to be: an agent of kind
// [KindLLM].
type ModelReview struct {
	// Stage is pipeline.ReviewStageQuality (default) or ReviewStageSpec. Only agents of the
	// spec stage read the title, the description, the commits' messages and the
	// linked issues.
	Stage string `json:"stage,omitempty"`
	// Prompt names the file prompt-NAME.md, of the highest layer that has one; see
	// Config.Prompt. Default: the agent's id.
	Prompt string `json:"prompt,omitempty"`
	// Output is OutputFindings (default), or OutputReport for an agent that reviews each
	// specification or plan in its scope whole and answers with a review report.
	Output string `json:"output,omitempty"`
	// ReportBy is the reviewer that the reports of OutputReport are by:
	// reviewreport.AgentSpecReviewer, AgentTechnicalPM or AgentArchitectureReview.
	// Default: the agent's id.
	ReportBy string `json:"report_by,omitempty"`
	// Checklist are the agents whose rules it checks besides its own.
	Checklist []string `json:"checklist,omitzero"`
	// Models are the models that it is asked of, by name, each as often as it is named.
	// Default: models.reviewers; a policy's own come before both.
	Models []string `json:"models,omitzero"`
}

// llmSection is what an agent of kind llm asks of language models.
var llmSection = section{
	name: "llm", otherwise: "asks no language model",
	check: func(t *trial, e *entry) {
		t.values.checkReviewer(e)
		t.checkPromptOf(e)
	},
	stricter: map[string]change{"llm.checklist": mayGrow},
	defaults: map[string]any{"llm.stage": pipeline.ReviewStageQuality},
}

// What agents of kind [KindLLM] answer with.
const (
	OutputFindings = "findings"
	OutputReport   = "report"
)

// Reviewer is the reviewer of specifications or plans that an agent is, if it is one.
func (a *Agent) Reviewer() (r reviewreport.Reviewer, ok bool) {
	if a.Kind != KindLLM || a.LLM == nil || a.LLM.Output != OutputReport {
		return r, false
	}
	return reviewreport.ReviewerOf(cmp.Or(a.LLM.ReportBy, a.ID))
}

// checkReviewer validates whom an agent's reports are by.
func (c *valueChecks) checkReviewer(e *entry) {
	a, ok := e.value.(*Agent)
	if !ok || a.LLM == nil {
		return
	}
	output, by := e.node.Get("llm").Get("output"), e.node.Get("llm").Get("report_by")
	_, known := reviewreport.ReviewerOf(cmp.Or(a.LLM.ReportBy, a.ID))
	switch {
	case a.LLM.Output == OutputReport && !known:
		c.of(output, fmt.Sprintf("nothing says whose reports %s writes", shown(a.ID)), `name the reviewer by "report_by": spec-reviewer, technical-pm or architecture-review`)
	case a.LLM.Output != OutputReport && given(by):
		at := by
		if !c.owns(at) {
			at = output // which the layer changed
		}
		c.of(at, fmt.Sprintf("%s writes no reports", shown(a.ID)), `remove "report_by", or set "output" to report`)
	}
}

// StageOf is the stage that an agent reviews in: none for kinds other than
// [KindLLM].
func (a *Agent) StageOf() string {
	switch {
	case a.Kind != KindLLM:
		return ""
	case a.LLM == nil || a.LLM.Stage == "":
		return pipeline.ReviewStageQuality
	}
	return a.LLM.Stage
}

// ModelsOf are the names of the models that an agent of kind [KindLLM] is asked
// of, the stronger last: those that policies name, else its own, else the
// reviewers of the settings. A model that is named several times is asked as often. By the
// strategy single it is the last of them alone. A server without endpoints has none.
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

// Absent reports whether an agent needs a language model where the server has
// none. Nobody is told of those, unless a policy requires one: it can't finish.
func (c *Config) Absent(a *Agent) bool {
	return a.Kind == KindLLM && len(c.Settings.ModelEndpoints) == 0
}

// Endpoint is the endpoint of a model's name, or nil.
func (c *Config) Endpoint(name string) *ModelEndpoint {
	for i := range c.Settings.ModelEndpoints {
		if e := &c.Settings.ModelEndpoints[i]; e.Name == name {
			return e
		}
	}
	return nil
}

// withReviewers are the settings with the first endpoints for reviewers where
// none are named.
func (s Settings) withReviewers() Settings {
	if len(s.Models.Reviewers) > 0 {
		return s
	}
	for _, e := range s.ModelEndpoints[:min(len(s.ModelEndpoints), 2)] {
		s.Models.Reviewers = append(s.Models.Reviewers, e.Name)
	}
	return s
}
