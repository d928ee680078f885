package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// twoModels is a server's layer with two models. More settings are added before its last brace.
func twoModels(more string) Layer {
	return named(layer(FileSettings, `{"model_endpoints": [{"name": "small", "api": "openai", "model": "s"}, {"name": "big", "api": "anthropic", "model": "b"}]`+more+`}`), LayerServer)
}

// Endpoints are refused if no model could be asked with them, or if they would disclose more than
// the question.
func TestProblemsOfEndpoints(t *testing.T) {
	endpoint := func(name, more string) string {
		return `{"name": "` + name + `", "api": "openai", "model": "m"` + more + `}`
	}
	url := func(s string) string { return `[` + endpoint("a", `, "base_url": "`+s+`"`) + `]` }
	// The message does not quote the URL, because it may hold a key.
	const noURL = `/model_endpoints/0/base_url: base_url is not an http or https URL; write one such as http://127.0.0.1:11434/v1`
	const more = `/model_endpoints/0/base_url: base_url has a query or a fragment; remove the ? or # and everything after it`
	for _, tt := range []struct {
		endpoints string
		want      []string
	}{
		{`[]`, nil},
		{url("http://127.0.0.1:11434/v1"), nil},
		{url("https://models.example.com:8443"), nil},
		{url("http://[::1]:8080/v1/"), nil},
		{url("127.0.0.1:11434/v1"), []string{noURL}},
		{url("ftp://example.com"), []string{noURL}},
		{url("https:///v1"), []string{noURL}},
		{url("https://:443/v1"), []string{noURL}},
		{url("http://a b/"), []string{noURL}},
		{url("https://me:%zz-secret@example.com/v1"), []string{noURL}},
		{url("me:secret@example.com/v1"), []string{noURL}},
		{url("http://localhost:99999/v1"), []string{noURL}},
		{url("http://localhost:0/v1"), []string{noURL}},
		{url("https://me:secret@example.com/v1"), []string{`/model_endpoints/0/base_url: base_url holds a user name or password; remove the part before the @; the key is read from the variable that "key_env" names`}},
		{url("https://example.com/v1?key=1"), []string{more}},
		{url("https://example.com/v1?"), []string{more}},
		{url("https://example.com/v1#a"), []string{more}},
		{`[` + endpoint("a", "") + `, ` + endpoint("b", `, "base_url": "http://b"`) + `, ` + endpoint("a", `, "base_url": "http://c"`) + `]`, []string{`/model_endpoints/2/name: the name "a" is used twice, first on line 1; give one of the two another name, or remove it`}},
		{`[` + endpoint("signals", "") + `]`, []string{`/model_endpoints/0/name: reports use the name "signals" for the search for gaps without a model; choose another name`}},
		{`[` + endpoint("a", `, "key_env": "sk-secret"`) + `]`, []string{`/model_endpoints/0/key_env: key_env is not a name of a variable; use capital letters, digits and _: the environment variable that holds the key, never the key itself. Left out: ANTHROPIC_API_KEY or OPENAI_API_KEY; with base_url none, and no key is sent`}},
		{`[` + endpoint("a", `, "key": "sk-secret"`) + `]`, []string{`/model_endpoints/0/key: "key" is not a field of an endpoint; use api, base_url, cached_price, context_tokens, input_price, key_env, max_output_tokens, model, name, output_price or stored_price`}},
		{`[{"name": "a b", "api": "magic", "model": ""}]`, []string{
			`/model_endpoints/0/name: "a b" is not a name of a model; use letters, digits and . _ : / -, starting with a letter or digit, at most 80 characters: what settings, policies, agents and reports call it`,
			`/model_endpoints/0/api: "magic" is not a protocol; use anthropic or openai`,
			`/model_endpoints/0/model: model is empty; write something, or remove the entry`,
		}},
	} {
		_, problems := Load(named(layer(FileSettings, `{"model_endpoints": `+tt.endpoints+`}`), LayerServer))
		var got []string
		for _, p := range formatted(problems) {
			got = append(got, p[strings.Index(p, ": ")+2:])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", tt.endpoints, diff)
		}
		if strings.Contains(strings.Join(got, ""), "secret") {
			t.Errorf("%s: a message quotes a secret: %q", tt.endpoints, got)
		}
	}
}

// If the server has models, every name of a model must be one of theirs, in any file and layer.
func TestNamesOfModels(t *testing.T) {
	agents := `[` + llmAgent("a", `, "llm": {"prompt": "build-reviewer", "models": ["smal"]}`) + `]`
	policy := `[{"id": "universal-llm", "dispatch": {"models": ["biggest-of-all"]}}]`
	settings := `{"models": {"reviewers": ["small", "bigg"], "gap_detector": "small-one", "verify": "bigone"}}`
	const hint = `; have it added to model_endpoints of the server's settings, or use one of those that exist`
	for _, name := range []string{LayerOrganisation, LayerRepository} {
		_, problems := Load(twoModels(""), named(layer(FileAgents, agents, FileComposition, policy, FileSettings, settings), name))
		if diff := cmp.Diff([]string{
			`review-composition.json:1:50: /0/dispatch/models/0: there is no model "biggest-of-all"` + hint,
			`review-agents.json:1:109: /0/llm/models/0: there is no model "smal"; did you mean "small"?`,
			`review-settings.json:1:36: /models/reviewers/1: there is no model "bigg"; did you mean "big"?`,
			`review-settings.json:1:61: /models/gap_detector: there is no model "small-one"` + hint,
			`review-settings.json:1:84: /models/verify: there is no model "bigone"` + hint,
		}, formatted(problems)); diff != "" {
			t.Errorf("problems of the %s (-want +got):\n%s", name, diff)
		}
	}
	for name, layers := range map[string][]Layer{
		"a server without models":             {layer(FileAgents, agents, FileComposition, policy, FileSettings, settings)},
		"names that exist":                    {twoModels(""), layer(FileSettings, `{"models": {"reviewers": ["big"], "gap_detector": "small"}}`)},
		"empty names":                         {twoModels(""), layer(FileSettings, `{"models": {"reviewers": [], "gap_detector": ""}}`)},
		"names in entries that are off":       {twoModels(""), layer(FileAgents, `[`+llmAgent("a", `, "enabled": false, "llm": {"models": ["x"]}`)+`]`, FileComposition, `[{"id": "ui-llm", "enabled": false, "dispatch": {"models": ["x"]}}]`)},
		"the server's own names, in one file": {twoModels(`, "models": {"reviewers": ["big", "small"], "gap_detector": "big"}`)},
		"an agent that names both models":     {twoModels(""), layer(FileAgents, `[`+llmAgent("a", `, "llm": {"prompt": "build-reviewer", "models": ["big", "small"]}`)+`]`)},
	} {
		if _, problems := Load(layers...); len(problems) > 0 {
			t.Errorf("%s: %v", name, formatted(problems))
		}
	}
	_, problems := Load(twoModels(`, "models": {"gap_detector": "bigg"}`))
	if diff := cmp.Diff([]string{`review-settings.json:1:151: /models/gap_detector: there is no model "bigg"; did you mean "big"?`}, formatted(problems)); diff != "" {
		t.Errorf("problems of the server (-want +got):\n%s", diff)
	}
}

// The reviewers and an agent's models say how often each model is asked, and name at most two
// different ones. A policy's models only say which models are asked.
func TestModelsNamedSeveralTimes(t *testing.T) {
	const several = `["big", "small", "big", "big"]`
	c := mustLoad(t, twoModels(""), layer(
		FileAgents, `[`+llmAgent("a", `, "llm": {"prompt": "build-reviewer", "models": ["small", "small"]}`)+`]`,
		FileSettings, `{"models": {"reviewers": `+several+`}}`,
	))
	for id, want := range map[string][]string{"a": {"small", "small"}, "build-reviewer-llm": {"small", "big", "big", "big"}} {
		if got := c.ModelsOf(agentOf(c, id), nil); !slices.Equal(got, want) {
			t.Errorf("%s asks %v, want %v", id, got, want)
		}
	}
	c = mustLoad(t, twoModels(""), layer(FileSettings, `{"models": {"strategy": "single", "reviewers": ["small", "big", "big"]}}`))
	if got := c.ModelsOf(agentOf(c, "build-reviewer-llm"), nil); !slices.Equal(got, []string{"big", "big"}) {
		t.Errorf("with the strategy single it asks %v", got)
	}
	three := twoModels("")
	three.Files[0].Text = bytes.Replace(three.Files[0].Text, []byte(`"model_endpoints": [`), []byte(`"model_endpoints": [{"name": "third", "api": "openai", "model": "t"}, `), 1)
	_, problems := Load(three, layer(
		FileAgents, `[`+llmAgent("a", `, "llm": {"prompt": "build-reviewer", "models": ["big", "big", "third", "small"]}`)+`]`,
		FileComposition, `[{"id": "universal-llm", "dispatch": {"models": ["big", "big"]}}]`,
		FileSettings, `{"models": {"reviewers": ["third", "big", "third", "small"]}}`,
	))
	const hint = ` is a third model; name at most two models, each as often as it is to be asked`
	if diff := cmp.Diff([]string{
		`review-composition.json:1:57: /0/dispatch/models/1: the model "big" is named twice; name it once; models.reviewers and an agent's llm.models say how often a model is asked`,
		`review-agents.json:1:132: /0/llm/models/3: "small"` + hint,
		`review-settings.json:1:52: /models/reviewers/3: "small"` + hint,
	}, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func agentOf(c *Config, id string) *Agent {
	return &c.Agents[slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == id })]
}

// If a layer holds the reviewers, no later layer can name models that are asked instead of them.
func TestHeldReviewers(t *testing.T) {
	own := []string{
		FileAgents, `[` + llmAgent("a", `, "llm": {"prompt": "build-reviewer", "models": ["small"]}`) + `]`,
		FileComposition, `[{"id": "universal-llm", "dispatch": {"models": ["small"]}}, {"id": "ui-llm", "enabled": false, "dispatch": {"models": ["small"]}}]`,
	}
	mustLoad(t, twoModels(`, "models": {"reviewers": ["big"]}, "final": ["models.strategy"]`), layer(own...))
	for _, final := range []string{"models", "models.reviewers"} {
		server := twoModels(`, "models": {"reviewers": ["big"]}, "final": ["` + final + `"]`)
		_, problems := Load(server, layer(own...))
		if diff := cmp.Diff([]string{
			`review-composition.json:1:49: /0/dispatch/models: dispatch.models can't be set: ` + final + ` is final in the server's layer; leave it out`,
			`review-agents.json:1:108: /0/llm/models: llm.models can't be set: ` + final + ` is final in the server's layer; leave it out`,
		}, formatted(problems)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		// The server's own agents and policies may name any models, and a layer may repeat what
		// they name.
		server.Files = append(server.Files, layer(own...).Files...)
		mustLoad(t, server, layer(own...))
	}
}

// The problems of agents of kind llm have the expected words.
func TestProblemsOfModelAgents(t *testing.T) {
	for _, tt := range []struct {
		agents string
		want   []string
	}{
		{llmAgent("a", ""), []string{`/0/kind: there is no prompt "a" for the agent "a"; write prompt-a.md beside this file, or name one of those that exist by "prompt" in "llm"`}},
		{llmAgent("a", `, "llm": {"prompt": "finance"}`), []string{`/0/llm/prompt: there is no prompt "finance" for the agent "a"; write prompt-finance.md beside this file, or name one of those that exist by "prompt" in "llm"`}},
		{llmAgent("a", `, "llm": {"prompt": "finance-sm"}`), []string{`/0/llm/prompt: there is no prompt "finance-sm" for the agent "a"; did you mean "finance-sme"?`}},
		{llmAgent("spec-reviewer", ""), nil}, // the entry that ships, with its stage
		{`{"id": "secrets", "kind": "llm"}`, []string{`/0/kind: there is no prompt "secrets" for the agent "secrets"; write prompt-secrets.md beside this file, or name one of those that exist by "prompt" in "llm"`}},
		{llmAgent("a", `, "enabled": false`), nil},
		{llmAgent("gap-detector", ""), []string{`/0/id: reports use the id "gap-detector" for the search for gaps in the config; choose another id`}},
		{llmAgent("a", `, "llm": {"prompt": "build-reviewer", "checklist": ["build-reviwer"]}`), []string{`/0/llm/checklist/0: there is no agent "build-reviwer"; did you mean "build-reviewer"?`}},
		{llmAgent("a", `, "llm": {"prompt": "build-reviewer", "base_url": "https://evil.example", "key_env": "X", "budget": 1}`), []string{
			`/0/llm/base_url: "base_url" is not a field of an llm section; use checklist, models, output, prompt, report_by or stage`,
			`/0/llm/key_env: "key_env" is not a field of an llm section; use checklist, models, output, prompt, report_by or stage`,
			`/0/llm/budget: "budget" is not a field of an llm section; use checklist, models, output, prompt, report_by or stage`,
		}},
		{llmAgent("a", `, "llm": {"prompt": "../../etc/passwd"}`), []string{`/0/llm/prompt: "../../etc/passwd" is not a name of a prompt; use small letters, digits and dashes: the NAME of the file prompt-NAME.md beside this one, of the highest layer that has one. Left out: the agent's id`}},
		{llmAgent("a", `, "llm": {"prompt": "technical-pm", "output": "report", "report_by": "technical-pm"}`), nil},
		{llmAgent("a", `, "llm": {"prompt": "technical-pm", "output": "report"}`), []string{`/0/llm/output: "a" does not say in whose name it writes reports; name the reviewer by "report_by": spec-reviewer, technical-pm or architecture-review`}},
		{llmAgent("a", `, "llm": {"prompt": "technical-pm", "report_by": "technical-pm"}`), []string{`/0/llm/report_by: "a" writes no reports; remove "report_by", or set "output" to report`}},
		{`{"id": "spec-quality-reviewer", "llm": {"output": "findings"}}`, []string{`/0/llm/output: "spec-quality-reviewer" writes no reports; remove "report_by", or set "output" to report`}},
		{llmAgent("a", `, "llm": {"prompt": "technical-pm", "output": "report", "report_by": "me"}`), []string{`/0/llm/report_by: "me" is not a reviewer; use spec-reviewer, technical-pm or architecture-review`}},
		{`{"id": "build-reviewer", "llm": {"stage": "spec"}}`, []string{`/0/llm: an agent of kind rules asks no language model; remove "llm", or set "kind" to llm`}},
	} {
		_, problems := Load(layer(FileAgents, `[`+tt.agents+`]`))
		var got []string
		for _, p := range formatted(problems) {
			got = append(got, p[strings.Index(p, ": ")+2:])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", tt.agents, diff)
		}
	}
	// The rules of such an agent are its checklist.
	c := mustLoad(t, layer(FileRules, `[`+strings.Replace(rule("mine", ""), "build-reviewer", "spec-reviewer", 1)+`]`))
	if ruleOf(c, "mine") == nil {
		t.Error("a rule of an agent that asks models is missing")
	}
}

// Each agent that asks models ships beside the agent whose rules it checks. It is dispatched like
// that agent, and no review waits for it.
func TestShippedModelAgents(t *testing.T) {
	c := mustLoad(t)
	agents := map[string]*Agent{}
	for i := range c.Agents {
		agents[c.Agents[i].ID] = &c.Agents[i]
	}
	policiesOf := func(agent string) (found []Policy) {
		for _, p := range c.Policies {
			if slices.Contains(p.Dispatch.Agents, agent) {
				found = append(found, p)
			}
		}
		return found
	}
	for id, stage := range map[string]string{
		"build-reviewer-llm": pipeline.ReviewStageQuality, "finance-sme-llm": pipeline.ReviewStageQuality, "design-auditor-llm": pipeline.ReviewStageQuality,
		"security-reviewer-llm": pipeline.ReviewStageQuality, "spec-reviewer": pipeline.ReviewStageSpec,
	} {
		a := agents[id]
		if a == nil || a.Kind != KindLLM || !a.Enabled || a.StageOf() != stage || !c.Absent(a) {
			t.Fatalf("%s: %+v", id, a)
		}
		name, _, isTwin := strings.Cut(id, "-llm")
		if p, ok := c.Prompt(a); !ok || p.Name != name || p.Layer != LayerDefaults {
			t.Errorf("%s has the prompt %s of the %s", id, p.Name, p.Layer)
		}
		own := policiesOf(id)
		if len(own) != 1 || own[0].Dispatch.Required || own[0].Dispatch.OnFailure != pipeline.OnFailureWarn {
			t.Fatalf("%s: policies %+v", id, own)
		}
		if !isTwin {
			continue
		}
		if twin := policiesOf(name); !slices.Equal(a.LLM.Checklist, []string{name}) || len(twin) != 1 || !cmp.Equal(twin[0].Trigger, own[0].Trigger) || twin[0].Dispatch.Scope != own[0].Dispatch.Scope {
			t.Errorf("%s is not dispatched like %s, or its checklist is %v", id, name, a.LLM.Checklist)
		}
	}
}

// A config without a domain, or with its own agents only, has no problem with the shipped policies
// of models. Models alone don't count as an agent that looks at every change.
func TestShippedModelPoliciesCauseNoProblems(t *testing.T) {
	withoutFinance := layer(
		FileAgents, `[{"id": "finance-sme", "enabled": false}]`, FileComposition, `[{"id": "finance", "enabled": false}]`,
		FileDomains, `[`+offDomains(t, "finance")+`]`,
	)
	mustLoad(t, withoutFinance)
	c := mustLoad(t, twoModels(""), layer(
		FileAgents, `{"extends": [], "items": [{"id": "mine", "name": "A", "kind": "secrets", "description": "d"}]}`,
		FileRules, `{"extends": []}`, FileDomains, `{"extends": []}`,
		FileComposition, `[`+offPolicies(t)+`, {"id": "all", "description": "d", "priority": 1, "trigger": {"type": "always"}, "dispatch": {"agents": ["mine"]}}]`,
	))
	if len(c.Policies) != 1 || len(c.Agents) != 1 {
		t.Errorf("policies %+v and agents %+v are in force", c.Policies, c.Agents)
	}
	_, problems := Load(twoModels(""), layer(FileComposition, `[{"id": "universal-llm", "priority": 1}, {"id": "finance-llm", "trigger": {"type": "domain", "domains": ["finances"]}}]`))
	if diff := cmp.Diff([]string{`review-composition.json:1:106: /1/trigger/domains/0: there is no domain "finances"; did you mean "finance"?`}, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	_, problems = Load(twoModels(""), layer(FileComposition, `[`+offPolicies(t)+`]`))
	if !slices.ContainsFunc(formatted(problems), func(s string) bool { return strings.Contains(s, `no policy with the trigger "always" is enforced`) }) {
		t.Errorf("a config in which only models look at every change has no such problem: %v", formatted(problems))
	}
}

// offDomains switches off the mappings to a domain and the signals that name it.
func offDomains(t *testing.T, domain string) string {
	t.Helper()
	var off []string
	c := mustLoad(t)
	for _, d := range c.Domains {
		if d.Domain == domain {
			off = append(off, `{"id": "`+d.ID+`", "enabled": false, "domain": "unused"}`)
		}
	}
	for _, s := range c.Signals {
		if s.Domain == domain {
			off = append(off, `{"id": "`+s.ID+`", "enabled": false}`)
		}
	}
	return strings.Join(off, ", ")
}

// offPolicies switches off the shipped policies except those of models.
func offPolicies(t *testing.T) string {
	t.Helper()
	off := []string{`{"id": "code-scanning", "enabled": false}`} // its agent ships switched off
	for _, p := range mustLoad(t).Policies {
		if !strings.HasSuffix(p.ID, "-llm") {
			off = append(off, `{"id": "`+p.ID+`", "enabled": false}`)
		}
	}
	return strings.Join(off, ", ")
}

// The server can hold the settings of models and of the fix loop.
func TestFinalSettingsOfModels(t *testing.T) {
	final := `, "final": ["models.auto_approve", "models.auto_reject", "models.people", "models.hold_for_person", "models.gap_detector", "models.reviewers", "models.model_blocking", "models.strategy", "models.speculative_quality", "fix_loop", "labels.escalated"]`
	own := layer(FileSettings, `{"models": {"auto_approve": true, "auto_reject": true, "people": ["me"], "hold_for_person": "never", "gap_detector": "small", "reviewers": ["small"], "model_blocking": "grounded", "strategy": "single", "speculative_quality": false},
		"fix_loop": {"when": "never", "team": "me", "max_fix_iterations": 5, "fix_timeout_turns": 30}, "labels": {"escalated": true, "risk": true}}`)
	if c := mustLoad(t, twoModels(""), own); !c.Settings.Models.AutoApprove || c.Settings.FixLoop.When != FixLoopNever {
		t.Errorf("without final settings, the settings are %+v", c.Settings)
	}
	_, problems := Load(twoModels(final), own)
	var got []string
	for _, p := range problems {
		got = append(got, p.Pointer)
		if !strings.HasSuffix(p.Problem, "is final in the server's layer") {
			t.Error(FormatProblem(p))
		}
	}
	slices.Sort(got)
	want := []string{
		"/fix_loop/fix_timeout_turns", "/fix_loop/max_fix_iterations", "/fix_loop/team", "/fix_loop/when", "/labels/escalated",
		"/models/auto_approve", "/models/auto_reject", "/models/gap_detector", "/models/hold_for_person", "/models/model_blocking",
		"/models/people", "/models/reviewers", "/models/speculative_quality", "/models/strategy",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems at (-want +got):\n%s", diff)
	}
	for _, text := range []string{`{"model_endpoints": []}`, `{"model_budget": {"per_agent": 5000}}`} {
		if _, problems := Load(layer(FileSettings, text)); len(problems) != 1 {
			t.Errorf("%s of a repository: %v", text, formatted(problems))
		}
	}
}

// One model with two names would count as two voices.
func TestOneModelWithTwoNames(t *testing.T) {
	endpoint := func(name, more string) string { return fmt.Sprintf(`{"name": %q, "api": "openai", %s}`, name, more) }
	for name, tt := range map[string]struct {
		other string
		want  int
	}{
		"the same endpoint":                {`"model": "m", "base_url": "http://h/v1"`, 1},
		"with another key":                 {`"model": "m", "base_url": "http://h/v1/", "key_env": "OTHER"`, 1},
		"on another server":                {`"model": "m", "base_url": "http://g/v1"`, 0},
		"another model on the same server": {`"model": "n", "base_url": "http://h/v1"`, 0},
	} {
		text := `{"model_endpoints": [` + endpoint("one", `"model": "m", "base_url": "http://h/v1"`) + ", " + endpoint("two", tt.other) + `]}`
		_, problems := Load(named(layer(FileSettings, text), LayerServer))
		if len(problems) != tt.want || tt.want == 1 && !strings.Contains(FormatProblem(problems[0]), `/model_endpoints/1/model: "m" is already the model of "one"`) {
			t.Errorf("%s: %q", name, formatted(problems))
		}
	}
}
