package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// modelsPage returns docs/models.md and the config that it shows, by the language of the code
// blocks.
func modelsPage(t *testing.T) (page string, pieces map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	pieces = map[string][]string{}
	for i, part := range strings.Split(string(text), "```") {
		if kind, piece, _ := strings.Cut(part, "\n"); i%2 == 1 {
			pieces[kind] = append(pieces[kind], piece)
		}
	}
	return string(text), pieces
}

// The config that docs/models.md shows is valid and does what the page says.
func TestModelsPage(t *testing.T) {
	page, pieces := modelsPage(t)
	if len(pieces["json"]) != 5 || len(pieces["markdown"]) != 1 {
		t.Fatalf("the page shows %d pieces of JSON and %d of Markdown", len(pieces["json"]), len(pieces["markdown"]))
	}
	server := named(layer(FileSettings, pieces["json"][0]), LayerServer)
	c := mustLoad(t, server)

	agent := func(c *Config, id string) *Agent {
		i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == id })
		if i < 0 {
			t.Fatalf("there is no agent %s", id)
		}
		return &c.Agents[i]
	}
	if got := c.ModelsOf(agent(c, "spec-reviewer"), nil); !slices.Equal(got, []string{"gpt", "claude"}) {
		t.Errorf("the models are %q", got)
	}
	single := mustLoad(t, server, layer(FileSettings, `{"models": {"strategy": "`+models.StrategySingle+`"}}`))
	if got := single.ModelsOf(agent(single, "spec-reviewer"), nil); !slices.Equal(got, []string{"claude"}) {
		t.Errorf("with the strategy single the models are %q", got)
	}
	if e := c.Endpoint(c.Settings.Models.GapDetector); e == nil || e.BaseURL == "" {
		t.Errorf("the gap detector is %+v", e)
	}
	without := mustLoad(t, named(layer(FileSettings, strings.Replace(pieces["json"][0], `"reviewers": ["gpt", "claude"],`, "", 1)), LayerServer))
	if got := without.Settings.Models.Reviewers; !slices.Equal(got, []string{"gpt", "claude"}) {
		t.Errorf("without reviewers in the settings they are %q", got)
	}
	if got := c.Settings.ModelBudget; got != mustLoad(t).Settings.ModelBudget {
		t.Errorf("the budget shown is %+v, not the default", got)
	}
	if problems := problemsOf(server, layer(FileSettings, pieces["json"][0])); len(problems) == 0 {
		t.Error("a repository can name endpoints")
	}
	if off := mustLoad(t, server, layer(FileComposition, pieces["json"][1])); policyOf(off, "ui-llm") != nil || policyOf(c, "ui-llm") == nil {
		t.Error("the policy for user interfaces is not switched off")
	}
	if got := mustLoad(t, server, layer(FileDomains, pieces["json"][4])).ServiceRules(agent(c, "spec-reviewer"), "ledger"); len(got) != 2 {
		t.Errorf("the rules of the service are %q", got)
	}
	for _, a := range c.Agents {
		if a.Kind == KindLLM && !strings.Contains(page, "`"+a.ID+"`") {
			t.Errorf("the page does not name %s", a.ID)
		}
	}
}

func problemsOf(layers ...Layer) []pipeline.ConfigProblem {
	_, problems := Load(layers...)
	return problems
}

// A repository's own reviewer gets the prompt that the page shows. What the guide says about final
// agents and settings is true.
func TestGuideOnPrompts(t *testing.T) {
	_, pieces := modelsPage(t)
	files := []string{FileAgents, pieces["json"][2], FileComposition, pieces["json"][3], "prompt-queues.md", pieces["markdown"][0]}
	server := named(layer(FileSettings, strings.Replace(pieces["json"][0], `"models": {`, `"final": ["models", "fix_loop"], "models": {`, 1)), LayerServer)
	own := layer(files...)
	c := mustLoad(t, server, own)
	if text, layer := promptOf(t, c, "queue-reviewer"); layer != LayerRepository || text != pieces["markdown"][0] {
		t.Errorf("the prompt is %q of the %s", text, layer)
	}
	if p := policyOf(c, "queues"); p == nil || p.Dispatch.Required {
		t.Errorf("the policy is %+v", p)
	}
	for _, text := range []string{`{"models": {"auto_approve": true}}`, `{"fix_loop": {"when": "never"}}`} {
		if len(problemsOf(server, layer(FileSettings, text))) != 1 {
			t.Errorf("a repository can set %s", text)
		}
	}
	files[1] = strings.Replace(files[1], `"id"`, `"final": true, "id"`, 1)
	above := layer("prompt-queues.md", "Say nothing of queues.")
	if text, layer := promptOf(t, mustLoad(t, named(layer(files...), LayerOrganisation), above), "queue-reviewer"); layer != LayerOrganisation {
		t.Errorf("the prompt is %q of the %s", text, layer)
	}
	if diff := cmp.Diff(1, len(problemsOf(named(layer(files...), LayerOrganisation), layer(FileAgents, `[{"id": "queue-reviewer", "llm": {"stage": "spec"}}]`)))); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
