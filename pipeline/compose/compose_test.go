package compose

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

func testFacts() (*pipeline.PRFacts, *pipeline.Classification) {
	return &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "a.go"}, {Path: "pricing/b.go"}, {Path: "ui/c.tsx"}}},
		&pipeline.Classification{
			Domains: pipeline.List[pipeline.Domain]{
				{ID: "finance", Files: pipeline.List[pipeline.DomainFile]{{Path: "pricing/b.go", Mappings: pipeline.List[string]{"pricing/**"}}}},
				{ID: "ui", Files: pipeline.List[pipeline.DomainFile]{{Path: "ui/c.tsx", Mappings: pipeline.List[string]{"ui/**"}}}},
			},
			Risk: pipeline.Risk{Score: 10, Level: pipeline.RiskLow},
		}
}

func domain(id string) policies.Trigger {
	return policies.Trigger{Type: policies.TriggerDomain, Domains: []string{id}}
}

func composed(t *testing.T, list []config.Policy, agents ...config.Agent) pipeline.AgentManifest {
	t.Helper()
	for i := range list {
		list[i].Enabled = !list[i].Enabled // in these tests the zero value means enabled
	}
	c, err := New(&config.Config{Policies: list, Agents: agents})
	if err != nil {
		t.Fatal(err)
	}
	facts, cl := testFacts()
	m := c.Compose(facts, cl)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateData(config.SchemaAgentManifest, data); err != nil {
		t.Errorf("manifest against its schema: %v", err)
	}
	return m
}

func on(id string) config.Agent { return config.Agent{ID: id, Enabled: true} }

type (
	names   = pipeline.List[string]
	matches = pipeline.List[pipeline.PolicyMatch]
	skipped = pipeline.List[pipeline.SkippedAgent]
)

// The manifest has the models that an agent asks. An agent without a model is left out unless a
// policy requires it.
func TestModels(t *testing.T) {
	policy := func(required bool, names ...string) config.Policy {
		return config.Policy{ID: "p", Trigger: policies.Trigger{Type: policies.TriggerAlways}, Dispatch: config.Dispatch{Agents: []string{"sme"}, Required: required, Models: names}}
	}
	agent := func(l *config.ModelReview) config.Agent {
		return config.Agent{ID: "sme", Enabled: true, Kind: config.KindLLM, LLM: l}
	}
	endpoints := []config.ModelEndpoint{{Name: "small"}, {Name: "big"}, {Name: "other"}}
	reviewers := config.ModelSettings{Reviewers: []string{"small", "big"}}
	single := config.ModelSettings{Reviewers: []string{"small", "big"}, Strategy: models.StrategySingle}
	for name, test := range map[string]struct {
		policy   config.Policy
		agent    config.Agent
		settings config.Settings
		want     pipeline.AgentManifest
	}{
		"the reviewers in the settings": {
			policy(false), agent(nil), config.Settings{ModelEndpoints: endpoints, Models: reviewers},
			entered(pipeline.ReviewStageQuality, "small", "big"),
		},
		"only the stronger": {
			policy(false), agent(&config.ModelReview{Stage: pipeline.ReviewStageSpec}), config.Settings{ModelEndpoints: endpoints, Models: single},
			entered(pipeline.ReviewStageSpec, "big"),
		},
		"the agent's own": {
			policy(false), agent(&config.ModelReview{Models: []string{"other"}}), config.Settings{ModelEndpoints: endpoints, Models: reviewers},
			entered(pipeline.ReviewStageQuality, "other"),
		},
		"the policy's": {
			policy(false, "big", "small"), agent(&config.ModelReview{Models: []string{"other"}}), config.Settings{ModelEndpoints: endpoints, Models: reviewers},
			entered(pipeline.ReviewStageQuality, "small", "big"),
		},
		"none, and not required": {policy(false), agent(nil), config.Settings{Models: reviewers}, pipeline.AgentManifest{}},
		"none, but required": {
			policy(true), agent(nil), config.Settings{Models: reviewers},
			entered(pipeline.ReviewStageQuality),
		},
		"an agent without models": {
			policy(false, "big"), on("sme"), config.Settings{ModelEndpoints: endpoints, Models: reviewers},
			entered(""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(&config.Config{Policies: enabled(test.policy), Agents: []config.Agent{test.agent}, Settings: test.settings})
			if err != nil {
				t.Fatal(err)
			}
			facts, cl := testFacts()
			m := c.Compose(facts, cl)
			for i := range m.Entries {
				e := &m.Entries[i]
				*e = pipeline.ManifestEntry{Agent: e.Agent, Stage: e.Stage, Models: e.Models}
			}
			if diff := cmp.Diff(test.want, m); diff != "" {
				t.Errorf("manifest (-want +got):\n%s", diff)
			}
		})
	}
}

func entered(stage string, of ...string) pipeline.AgentManifest {
	return pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{Agent: "sme", Stage: stage, Models: of}}}
}

func enabled(p config.Policy) []config.Policy {
	p.Enabled = true
	return []config.Policy{p}
}

func TestPoliciesOfOneAgentAreUnited(t *testing.T) {
	m := composed(t, []config.Policy{
		{ID: "ui", Priority: 40, Trigger: domain("ui"), Dispatch: config.Dispatch{Agents: []string{"sme"}, Scope: config.ScopeMatched, Models: []string{"m2", "m1"}}},
		{ID: "finance", Priority: 80, Trigger: domain("finance"), Dispatch: config.Dispatch{Agents: []string{"sme"}, Scope: config.ScopeMatched, Required: true, OnFailure: pipeline.OnFailureWarn, Models: []string{"m1"}}},
		{ID: "a-finance", Priority: 80, Trigger: domain("finance"), Dispatch: config.Dispatch{Agents: []string{"sme"}, Scope: config.ScopeMatched}},
	}, on("sme"))
	want := pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{
		Agent: "sme",
		Scope: pipeline.AgentScope{Files: names{"pricing/b.go", "ui/c.tsx"}, Domains: names{"finance", "ui"}},
		Policies: matches{
			{Policy: "a-finance", Priority: 80, Trigger: "pricing/b.go is finance (pricing/**)"},
			{Policy: "finance", Priority: 80, Trigger: "pricing/b.go is finance (pricing/**)"},
			{Policy: "ui", Priority: 40, Trigger: "ui/c.tsx is ui (ui/**)"},
		},
		Priority: 80, Required: true, OnFailure: pipeline.OnFailureWarn, AddedBy: pipeline.AddedByPolicy,
	}}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

func TestScopeOfTheWholeChangeWins(t *testing.T) {
	always := policies.Trigger{Type: policies.TriggerAlways}
	tests := map[string]config.Dispatch{
		"asked for":                        {Agents: []string{"a"}, Scope: config.ScopeAll},
		"the default":                      {Agents: []string{"a"}},
		"trigger holds for no single file": {Agents: []string{"a"}, Scope: config.ScopeMatched},
	}
	for name, d := range tests {
		m := composed(t, []config.Policy{
			{ID: "narrow", Trigger: domain("ui"), Dispatch: config.Dispatch{Agents: []string{"a"}, Scope: config.ScopeMatched}},
			{ID: "wide", Trigger: always, Dispatch: d},
		}, on("a"))
		if diff := cmp.Diff(pipeline.AgentScope{All: true}, m.Entries[0].Scope); diff != "" {
			t.Errorf("%s: scope (-want +got):\n%s", name, diff)
		}
	}
}

func TestOneBlockingPolicyIsEnoughToBlock(t *testing.T) {
	dispatch := func(required bool, f pipeline.OnFailure) config.Policy {
		return config.Policy{ID: "p-" + string(f), Trigger: domain("ui"), Dispatch: config.Dispatch{Agents: []string{"a"}, Required: required, OnFailure: f}}
	}
	tests := []struct {
		list     []config.Policy
		required bool
		want     pipeline.OnFailure
	}{
		{[]config.Policy{dispatch(true, ""), dispatch(true, pipeline.OnFailureWarn)}, true, pipeline.OnFailureBlock},
		{[]config.Policy{dispatch(true, pipeline.OnFailureWarn), dispatch(false, pipeline.OnFailureBlock)}, true, pipeline.OnFailureWarn},
		{[]config.Policy{dispatch(false, "")}, false, pipeline.OnFailureWarn},
	}
	for i, tt := range tests {
		e := composed(t, tt.list, on("a")).Entries[0]
		if e.Required != tt.required || e.OnFailure != tt.want {
			t.Errorf("%d: required %v, on failure %s, want %v, %s", i, e.Required, e.OnFailure, tt.required, tt.want)
		}
	}
}

func TestEntriesAreSortedAndOthersSkippedWithReasons(t *testing.T) {
	always := policies.Trigger{Type: policies.TriggerAlways}
	m := composed(t, []config.Policy{
		{ID: "p1", Priority: 10, Trigger: always, Dispatch: config.Dispatch{Agents: []string{"z", "b", "off"}}},
		{ID: "p2", Priority: 90, Trigger: domain("finance"), Dispatch: config.Dispatch{Agents: []string{"y"}}},
		{ID: "p3", Priority: 50, Trigger: domain("infra"), Dispatch: config.Dispatch{Agents: []string{"infra"}}},
		{ID: "p4", Priority: 60, Trigger: policies.Trigger{Type: policies.TriggerRisk, AtLeast: "high"}, Dispatch: config.Dispatch{Agents: []string{"infra"}}},
		{ID: "p5", Enabled: true, Trigger: always, Dispatch: config.Dispatch{Agents: []string{"idle"}}},
	}, on("z"), on("idle"), on("y"), on("b"), config.Agent{ID: "off"}, on("infra"))
	var order []string
	for _, e := range m.Entries {
		order = append(order, e.Agent)
	}
	if diff := cmp.Diff([]string{"y", "b", "z"}, order); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	want := skipped{
		{Agent: "idle", Reason: "no policy dispatches it"},
		{Agent: "infra", Reason: "no file is infra; risk is low (10 of 100), below high"},
		{Agent: "off", Reason: "switched off in config"},
	}
	if diff := cmp.Diff(want, m.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestNewNamesThePolicyThatDoesNotCompile(t *testing.T) {
	_, err := New(&config.Config{Policies: []config.Policy{
		{ID: "sound", Enabled: true, Priority: 90, Trigger: policies.Trigger{Type: policies.TriggerAlways}},
		{ID: "broken", Enabled: true},
	}})
	if err == nil || !strings.Contains(err.Error(), "compile policy broken: ") {
		t.Errorf("New = %v, want an error that names the policy", err)
	}
}

// An expression that can't be evaluated neither keeps an agent from running nor narrows its scope.
func TestUnevaluatedExpressionCountsAsTrue(t *testing.T) {
	open := policies.Trigger{Type: policies.TriggerExpression, When: "facts.files[99].binary"}
	for name, trigger := range map[string]policies.Trigger{
		"expression": open,
		"not":        {Type: policies.TriggerNot, Triggers: []policies.Trigger{open}},
		"all":        {Type: policies.TriggerAll, Triggers: []policies.Trigger{domain("ui"), open}},
	} {
		m := composed(t, []config.Policy{{ID: "p", Trigger: trigger, Dispatch: config.Dispatch{Agents: []string{"a"}, Required: true, Scope: config.ScopeMatched}}}, on("a"))
		want := pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{
			Agent: "a", Scope: pipeline.AgentScope{All: true},
			Policies: matches{{Policy: "p", Trigger: "can't be evaluated: index out of bounds: 99, so it counts as holding"}},
			Required: true, OnFailure: pipeline.OnFailureBlock, AddedBy: pipeline.AddedByPolicy,
		}}}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("%s: manifest (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadsLabelsOfEnabledPolicies(t *testing.T) {
	label := policies.Trigger{Type: policies.TriggerAll, Triggers: []policies.Trigger{
		{Type: policies.TriggerLabel, Labels: []string{"x"}}, {Type: policies.TriggerChange, Types: []string{"fix"}},
	}}
	for _, enabled := range []bool{true, false} {
		c, err := New(&config.Config{Policies: []config.Policy{
			{ID: "a", Enabled: true, Trigger: policies.Trigger{Type: policies.TriggerAlways}},
			{ID: "p", Enabled: enabled, Trigger: label},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if c.ReadsLabels() != enabled || c.ReadsType() != enabled {
			t.Errorf("reads labels = %v, the type = %v, with the policy on = %v", c.ReadsLabels(), c.ReadsType(), enabled)
		}
	}
}

// By the shipped policies, a feature or a fix brings test-reviewer if a file other than documentation
// changes, whatever the title says.
func TestDocumentationAloneBringsNoTestReviewer(t *testing.T) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	composer, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	page, code := pipeline.File{Path: "docs/a.md", Documentation: true}, pipeline.File{Path: "src/a.ts"}
	for name, test := range map[string]struct {
		files []pipeline.File
		kind  string
		want  bool
	}{
		"documentation":          {[]pipeline.File{page}, "feature", false},
		"code":                   {[]pipeline.File{code}, "feature", true},
		"code and documentation": {[]pipeline.File{page, code}, "fix", true},
		"code of another type":   {[]pipeline.File{code}, "chore", false},
	} {
		m := composer.Compose(&pipeline.PRFacts{Files: test.files}, &pipeline.Classification{Type: test.kind})
		e := m.Entry("test-reviewer")
		if (e != nil) != test.want || e != nil && !e.Scope.All {
			t.Errorf("%s: the entry is %+v", name, e)
		}
	}
}
