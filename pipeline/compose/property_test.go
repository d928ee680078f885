package compose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies"
)

// drawnTrigger makes triggers that hold, don't hold, or can't be evaluated.
func drawnTrigger(t *rapid.T, depth int) policies.Trigger {
	leaves := []policies.Trigger{
		{Type: policies.TriggerAlways},
		{Type: policies.TriggerDomain, Domains: []string{"finance", "ui"}, Match: "all"},
		domain("ui"), domain("infra"),
		{Type: policies.TriggerPath, Globs: []string{"ui/**", "**/*.go"}},
		{Type: policies.TriggerLabel, Labels: []string{"urgent", "ui"}},
		{Type: policies.TriggerRisk, AtLeast: "high"},
		{Type: policies.TriggerExpression, When: `facts.files.exists(f, f.path.endsWith(".tsx"))`},
		{Type: policies.TriggerExpression, When: `"urgent" in facts.labels`},
		{Type: policies.TriggerExpression, When: `facts.files.filter(f, glob(f.path, "pricing/**")).size() > 5`},
		{Type: policies.TriggerExpression, When: `facts.files[99].binary`},
	}
	kind := rapid.SampledFrom([]policies.TriggerType{"", "", policies.TriggerAny, policies.TriggerAll, policies.TriggerNot}).Draw(t, "kind")
	if depth == 0 || kind == "" {
		return rapid.SampledFrom(leaves).Draw(t, "trigger")
	}
	n := 1
	if kind != policies.TriggerNot {
		n = rapid.IntRange(1, 3).Draw(t, "parts")
	}
	trigger := policies.Trigger{Type: kind}
	for range n {
		trigger.Triggers = append(trigger.Triggers, drawnTrigger(t, depth-1))
	}
	return trigger
}

func drawnConfig(t *rapid.T) *config.Config {
	cfg := &config.Config{}
	agents := []string{"a", "b", "c", "d"}
	for _, id := range agents {
		cfg.Agents = append(cfg.Agents, config.Agent{ID: id, Enabled: rapid.Bool().Draw(t, "agent")})
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "policies") {
		cfg.Policies = append(cfg.Policies, config.Policy{
			ID: fmt.Sprintf("p%d", i), Enabled: rapid.Bool().Draw(t, "on"), Priority: rapid.IntRange(0, 2).Draw(t, "priority"),
			Trigger: drawnTrigger(t, 2),
			Dispatch: config.Dispatch{
				Agents:    rapid.SliceOfNDistinct(rapid.SampledFrom(agents), 1, 3, rapid.ID).Draw(t, "agents"),
				Required:  rapid.Bool().Draw(t, "required"),
				OnFailure: rapid.SampledFrom([]pipeline.OnFailure{"", pipeline.OnFailureBlock, pipeline.OnFailureWarn}).Draw(t, "on failure"),
				Scope:     rapid.SampledFrom([]string{"", config.ScopeAll, config.ScopeMatched}).Draw(t, "scope"),
			},
		})
	}
	return cfg
}

// The facts list files by path, and the classification lists domains by id. The order of names in a
// policy, and of labels and policies, does not matter.
func TestOrderDoesNotMatter(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		cfg := drawnConfig(t)
		facts, cl := testFacts()
		facts.Labels = pipeline.List[string]{"urgent", "ui", "later"}
		want := withoutWords(manifest(t, cfg, facts, cl))

		facts.Labels = rapid.Permutation(facts.Labels).Draw(t, "labels")
		facts.Files = rapid.Permutation(facts.Files).Draw(t, "files")
		cfg.Policies = rapid.Permutation(cfg.Policies).Draw(t, "order of policies")
		cfg.Agents = rapid.Permutation(cfg.Agents).Draw(t, "order of agents")
		for i := range cfg.Policies {
			d := &cfg.Policies[i].Dispatch
			d.Agents = rapid.Permutation(d.Agents).Draw(t, "order of dispatched")
		}
		if got := withoutWords(manifest(t, cfg, facts, cl)); got != want {
			t.Errorf("the order of the input changes the manifest:\n%s\n%s", want, got)
		}
	})
}

func manifest(t *rapid.T, cfg *config.Config, facts *pipeline.PRFacts, cl *pipeline.Classification) pipeline.AgentManifest {
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c.Compose(facts, cl)
}

// withoutWords removes the reasons, which name the first matching file or label. Facts are sorted,
// so in a review it is always the same one.
func withoutWords(m pipeline.AgentManifest) string {
	for i := range m.Entries {
		m.Entries[i].Policies = slices.Clone(m.Entries[i].Policies)
		for j := range m.Entries[i].Policies {
			m.Entries[i].Policies[j].Trigger = ""
		}
	}
	for i := range m.Skipped {
		m.Skipped[i].Reason = ""
	}
	data, _ := json.Marshal(m)
	return string(data)
}

// With facts in the order of normalize, the whole manifest is the same bytes, including reasons.
func TestOrderOfConfigChangesNoByte(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		cfg := drawnConfig(t)
		facts, cl := testFacts()
		want, _ := json.Marshal(manifest(t, cfg, facts, cl))
		cfg.Policies = rapid.Permutation(cfg.Policies).Draw(t, "order of policies")
		cfg.Agents = rapid.Permutation(cfg.Agents).Draw(t, "order of agents")
		if got, _ := json.Marshal(manifest(t, cfg, facts, cl)); string(got) != string(want) {
			t.Errorf("the order of the input changes the manifest:\n%s\n%s", want, got)
		}
	})
}

// Each agent has either one entry or one skipped row.
func TestEachAgentHasOneRow(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		cfg := drawnConfig(t)
		facts, cl := testFacts()
		m := manifest(t, cfg, facts, cl)
		rows := map[string]int{}
		for _, e := range m.Entries {
			rows[e.Agent]++
			if len(e.Policies) == 0 || !e.Scope.All && len(e.Scope.Files) == 0 {
				t.Errorf("entry without a policy or a scope: %+v", e)
			}
			if !slices.IsSortedFunc(e.Policies, func(a, b pipeline.PolicyMatch) int {
				if a.Priority != b.Priority {
					return b.Priority - a.Priority
				}
				return strings.Compare(a.Policy, b.Policy)
			}) {
				t.Errorf("policies by priority, then id: %+v", e.Policies)
			}
		}
		for _, s := range m.Skipped {
			rows[s.Agent]++
			if s.Reason == "" {
				t.Errorf("%s is skipped without a reason", s.Agent)
			}
		}
		for _, a := range cfg.Agents {
			if rows[a.ID] != 1 {
				t.Errorf("%s has %d rows in %+v", a.ID, rows[a.ID], m)
			}
		}
	})
}
