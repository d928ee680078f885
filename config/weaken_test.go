package config

import (
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// What an organisation takes away of agents' time, tries and models would loosen what
// the server says, and what it adds would not.
func TestOrganisationTakesNoTimeAndNoModelAway(t *testing.T) {
	server := named(layer(
		FileSettings, `{"models": {"gap_detector": "strong", "verify": "strong", "auto_reject": true}, "limits": {"agent_timeout_seconds": 60},
			"model_endpoints": [{"name": "strong", "api": "openai", "model": "m"}, {"name": "cheap", "api": "openai", "model": "n"}]}`,
		FileAgents, `[{"id": "docs-reviewer", "timeout_seconds": 90}, {"id": "mm", "name": "M", "kind": "llm", "description": "d", "llm": {"models": ["strong"]}}]`,
		FileComposition, `[{"id": "mm", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["mm"], "required": true}},
			{"id": "quick", "description": "d", "priority": 10, "trigger": {"type": "label", "labels": ["quick"]}, "dispatch": {"agents": ["mm"], "models": ["cheap"]}},
			{"id": "tried", "mode": "evaluate", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["mm"], "models": ["cheap"]}},
			{"id": "never", "enabled": false, "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["mm"], "models": ["cheap"]}},
			{"id": "docs-only", "description": "d", "priority": 10, "trigger": {"type": "domain", "domains": ["docs"]}, "dispatch": {"agents": ["docs-reviewer"], "models": ["cheap"]}}]`,
		FileRules, `[{"id": "build-conflict-01", "mode": "evaluate"}]`,
		"prompt-mm.md", "Look for mistakes.\n",
	), LayerServer)
	policy := func(dispatch string) string {
		return `[{"id": "mine", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": ` + dispatch + `}]`
	}
	for name, c := range map[string]struct {
		file, text string
		weaker     int
	}{
		"no model for gaps": {FileSettings, `{"models": {"gap_detector": ""}}`, 1},
		"no verifier":       {FileSettings, `{"models": {"verify": ""}}`, 1},
		"no rejection":      {FileSettings, `{"models": {"auto_reject": false}}`, 1},
		"less time":         {FileSettings, `{"limits": {"agent_timeout_seconds": 59, "agent_retries": 1}}`, 2},
		"more time":         {FileSettings, `{"limits": {"agent_timeout_seconds": 61, "agent_retries": 3}}`, 0},
		"less for one":      {FileAgents, `[{"id": "docs-reviewer", "timeout_seconds": 89, "retries": 1}]`, 2},
		"no tries for one":  {FileAgents, `[{"id": "docs-reviewer", "retries": 0}]`, 1},
		"more for one":      {FileAgents, `[{"id": "docs-reviewer", "timeout_seconds": 91, "retries": 3}]`, 0},
		"for another":       {FileAgents, `[{"id": "test-reviewer", "timeout_seconds": 59}]`, 1},
		"a linter is asked": {FileRules, `[{"id": "build-any-01", "linters": {"eslint": ["@typescript-eslint/no-explicit-any", "a"]}}]`, 1},
		"it is style":       {FileRules, `[{"id": "build-java-throwable-01", "style": true}]`, 1},
		"it is not style":   {FileRules, `[{"id": "build-any-01", "style": false}]`, 0},
		"no linter is":      {FileRules, `[{"id": "build-any-01", "linters": {}}]`, 0},
		"a rule is tried":   {FileRules, `[{"id": "build-any-01", "mode": "evaluate"}]`, 1},
		"a policy is tried": {FileComposition, `[{"id": "mm", "mode": "evaluate"}]`, 1},
		"an agent is tried": {FileAgents, `[{"id": "mm", "mode": "evaluate"}]`, 1},
		"a trial ends":      {FileRules, `[{"id": "build-conflict-01", "mode": "enforce"}]`, 0},
		"of other models":   {FileComposition, `[{"id": "tried", "mode": "enforce"}]`, 1},
		"the same":          {FileAgents, `[{"id": "test-reviewer", "timeout_seconds": 60, "retries": 2}]`, 0},

		"another model by a new policy":     {FileComposition, policy(`{"agents": ["mm"], "models": ["cheap"]}`), 1},
		"another beside its own":            {FileComposition, policy(`{"agents": ["docs-reviewer", "mm"], "models": ["strong", "cheap"]}`), 1},
		"a new policy without models":       {FileComposition, policy(`{"agents": ["mm"], "required": true}`), 0},
		"models of whom no model is asked":  {FileComposition, policy(`{"agents": ["docs-reviewer"], "models": ["cheap"]}`), 0},
		"another model by an old policy":    {FileComposition, `[{"id": "mm", "dispatch": {"models": ["cheap"]}}]`, 1},
		"a policy with models always":       {FileComposition, `[{"id": "quick", "trigger": {"type": "always"}}]`, 1},
		"a policy with models switched on":  {FileComposition, `[{"id": "never", "enabled": true}]`, 1},
		"the agent in one with models":      {FileComposition, `[{"id": "docs-only", "dispatch": {"agents": ["docs-reviewer", "mm"]}}]`, 1},
		"another agent in one with models":  {FileComposition, `[{"id": "quick", "dispatch": {"agents": ["mm", "docs-reviewer"]}}]`, 0},
		"more priority for one with models": {FileComposition, `[{"id": "quick", "priority": 11, "dispatch": {"required": true}}]`, 0},
	} {
		organisation := named(layer(c.file, c.text), LayerOrganisation)
		organisation.Organisation = "acme"
		cfg, problems := Load(server, organisation)
		if len(problems) > 0 || len(cfg.Weakened()) != c.weaker {
			t.Errorf("%s: %d would loosen, want %d: %+v %+v", name, len(cfg.Weakened()), c.weaker, cfg.Weakened(), problems)
		}
		for _, p := range cfg.Policies {
			if p.Trigger.Type == policies.TriggerAlways && slices.Contains(p.Dispatch.Agents, "mm") && len(p.Dispatch.Models) > 0 {
				t.Errorf("%s: the policy %s has the agent asked on %v", name, p.ID, p.Dispatch.Models)
			}
		}
	}
}

// A mapping of an organisation hides files from nothing that the server's config says.
func TestOrganisationMapsNothingAway(t *testing.T) {
	policy := func(trigger string) string {
		return `[{"id": "p", "description": "d", "priority": 10, "trigger": ` + trigger + `, "dispatch": {"agents": ["docs-reviewer"]}}]`
	}
	for name, c := range map[string]struct {
		file, server, mapping string
		weaker                int
	}{
		"nothing reads it":         {FileComposition, policy(`{"type": "domain", "domains": ["docs"]}`), `"type": "domain", "weight": 1, "domain": "docs"`, 0},
		"a signal with its policy": {FileComposition, policy(`{"type": "always"}`), `"type": "domain", "weight": 1, "domain": "finance"`, 0},
		"a domain under a not":     {FileComposition, policy(`{"type": "not", "triggers": [{"type": "any", "triggers": [{"type": "domain", "domains": ["docs"]}]}]}`), `"type": "domain", "weight": 1, "domain": "docs"`, 1},
		"another domain":           {FileComposition, policy(`{"type": "not", "triggers": [{"type": "domain", "domains": ["docs"]}]}`), `"type": "domain", "weight": 1, "domain": "ui"`, 0},
		"a service under a not":    {FileComposition, policy(`{"type": "not", "triggers": [{"type": "service", "services": ["shop"]}]}`), `"type": "service", "service": "shop"`, 1},
		"an expression":            {FileComposition, policy(`{"type": "expression", "when": "!classification.domains.exists(d, d.id == 'docs')"}`), `"type": "domain", "weight": 1, "domain": "docs"`, 1},
		"a signal alone":           {FileDomains, `[{"id": "s", "type": "signal", "concern": "words", "description": "d", "pattern": "x", "domain": "scripts", "agent": "docs-reviewer"}]`, `"type": "domain", "weight": 1, "domain": "scripts"`, 1},
	} {
		files := []string{c.file, c.server}
		if c.mapping == `"type": "service", "service": "shop"` {
			files = append(files, FileDomains, `[{"id": "shop", "type": "service", "service": "shop", "description": "d", "globs": ["shop/**"]}]`)
		}
		organisation := named(layer(FileDomains, `[{"id": "more", "description": "d", "globs": ["**"], `+c.mapping+`}]`), LayerOrganisation)
		organisation.Organisation = "acme"
		cfg, problems := Load(named(layer(files...), LayerServer), organisation)
		if len(problems) > 0 || len(cfg.Weakened()) != c.weaker {
			t.Errorf("%s: %d would loosen, want %d: %+v %+v", name, len(cfg.Weakened()), c.weaker, cfg.Weakened(), problems)
		}
	}
}

// Nor does an organisation make a change seem riskier where what the server's config says
// holds for less risk only, or less risky by what covers what.
func TestOrganisationMovesNoRiskAgainstTheServer(t *testing.T) {
	policy := func(trigger string) string {
		return `[{"id": "p", "description": "d", "priority": 10, "trigger": ` + trigger + `, "dispatch": {"agents": ["docs-reviewer"], "scope": "matched"}}]`
	}
	const (
		low      = `{"type": "not", "triggers": [{"type": "risk", "at_least": "high"}]}`
		deep     = `{"type": "not", "triggers": [{"type": "any", "triggers": [{"type": "size", "at_least": "L"}, {"type": "risk", "at_least": "high"}]}]}`
		narrowed = `{"type": "all", "triggers": [{"type": "path", "globs": ["a/**"]}, {"type": "any", "triggers": [{"type": "path", "globs": ["b/**"]}, {"type": "risk", "at_least": "high"}]}]}`
		high     = `{"type": "all", "triggers": [{"type": "path", "globs": ["a/**"]}, {"type": "risk", "at_least": "high"}]}`
		spoken   = `{"type": "expression", "when": "classification.risk.score < 50"}`
		loose    = `{"type": "expression", "when": "size(classification.unclassified) > 0"}`
		broad    = `{"type": "expression", "when": "classification.scope.breadth == 'single'"}`
	)
	raised, added := `[{"id": "mine", "points": 100}]`, `[{"id": "more", "type": "risk", "factor": "fork", "description": "d", "points": 100}]`
	mapped := `[{"id": "more", "type": "domain", "domain": "docs", "description": "d", "globs": ["**"], "weight": 9}]`
	for name, c := range map[string]struct {
		trigger, domains string
		weaker           int
	}{
		"points under a not":              {low, raised, 1},
		"a factor under a not":            {low, added, 1},
		"a factor switched on":            {low, `[{"id": "idle", "enabled": true}]`, 1},
		"a weight under a not":            {low, `[{"id": "money", "weight": 100}]`, 1},
		"a mapping under a not":           {low, mapped, 1},
		"deep under a not":                {deep, raised, 1},
		"a part that names fewer files":   {narrowed, raised, 1},
		"an expression":                   {spoken, raised, 1},
		"an expression of files in none":  {loose, mapped, 1},
		"an expression of how many":       {broad, mapped, 1},
		"another word for it":             {low, `[{"id": "mine", "description": "other"}, {"id": "money", "description": "other"}]`, 0},
		"nothing reads less risk":         {high, `[{"id": "mine", "points": 100}, {"id": "idle", "enabled": true}, {"id": "money", "weight": 100}]`, 0},
		"a new factor for high risk":      {high, added, 0},
		"a mapping that covers":           {high, `[{"id": "more", "type": "domain", "domain": "docs", "description": "d", "globs": ["**"], "weight": 1, "covers": "money"}]`, 1},
		"a factor that covers":            {high, `[{"id": "more", "type": "risk", "factor": "workflow", "description": "d", "points": 1, "covers": "money"}]`, 1},
		"more files that cover":           {high, `[{"id": "cash", "globs": ["cash/**", "money/**"]}]`, 1},
		"a weight that begins to cover":   {high, `[{"id": "cash", "weight": 1}]`, 1},
		"points that begin to cover":      {high, `[{"id": "till", "points": 1}]`, 1},
		"a mapping that begins to cover":  {high, `[{"id": "more", "type": "domain", "domain": "cash", "description": "d", "globs": ["x/**"], "weight": 1}]`, 1},
		"a mapping that covers its own":   {high, `[{"id": "own", "type": "domain", "domain": "own", "description": "d", "globs": ["o/**"], "weight": 1}, {"id": "more", "type": "domain", "domain": "docs", "description": "d", "globs": ["o/**"], "weight": 1, "covers": "own"}]`, 0},
		"more points of one that covered": {high, `[{"id": "risk-workflow", "points": 40}]`, 0},
	} {
		server := named(layer(FileComposition, policy(c.trigger), FileDomains, `[
			{"id": "mine", "type": "risk", "factor": "fork", "description": "d", "points": 1},
			{"id": "idle", "type": "risk", "factor": "fork", "description": "d", "points": 90, "enabled": false},
			{"id": "till", "type": "risk", "factor": "workflow", "description": "d", "points": 0, "covers": "money"},
			{"id": "money", "type": "domain", "domain": "money", "description": "d", "globs": ["money/**"], "weight": 9},
			{"id": "cash", "type": "domain", "domain": "cash", "description": "d", "globs": ["cash/**"], "weight": 0, "covers": "money"}]`), LayerServer)
		organisation := named(layer(FileDomains, c.domains), LayerOrganisation)
		organisation.Organisation = "acme"
		cfg, problems := Load(server, organisation)
		if len(problems) > 0 || len(cfg.Weakened()) != c.weaker {
			t.Errorf("%s: %d would loosen, want %d: %+v %+v", name, len(cfg.Weakened()), c.weaker, cfg.Weakened(), problems)
		}
	}
}

// An organisation can't write a mode that is looser than what the server chose for any
// repository, also where it is the server's mode for all others.
func TestOrganisationWritesNoLooserMode(t *testing.T) {
	for _, c := range []struct{ mode, of, chosen, want string }{
		{"advisory", "advisory", "enforce", "enforce"}, {"off", "off", "advisory", "advisory"},
		{"enforce", "advisory", "enforce", "enforce"}, {"advisory", "advisory", "off", "advisory"},
	} {
		server := named(layer(FileSettings, `{"mode": "`+c.of+`", "repositories": [{"globs": ["acme/prod"], "mode": "`+c.chosen+`"}]}`), LayerServer)
		organisation := named(layer(FileSettings, `{"mode": "`+c.mode+`"}`), LayerOrganisation)
		organisation.Organisation = "acme"
		if cfg, problems := Load(server, organisation); len(problems) > 0 || cfg.Mode("acme/prod") != c.want {
			t.Errorf("%s over %s and %s: the mode is %s, want %s; %+v", c.mode, c.of, c.chosen, cfg.Mode("acme/prod"), c.want, problems)
		}
	}
}

// What a rule's findings say, and how an agent is described, decides about them, and only
// what decides nothing may be worded in another way.
func TestOrganisationRewordsNothingThatDecides(t *testing.T) {
	server := named(layer(FileDomains, `[
		{"id": "signal-session", "enabled": false},
		{"id": "shop", "type": "service", "service": "shop", "description": "d", "globs": ["shop/**"], "rules": ["Nobody pays twice."]},
		{"id": "spare", "type": "signal", "enabled": false, "concern": "words", "description": "d", "pattern": "x", "domain": "docs", "agent": "docs-reviewer"},
		{"id": "ours", "type": "signal", "concern": "session", "description": "d", "pattern": "x", "domain": "docs", "agent": "docs-reviewer"}]`,
		FileComposition, `[{"id": "elsewhere", "description": "d", "priority": 10, "trigger": {"type": "not", "triggers": [{"type": "service", "services": ["shop"]}]}, "dispatch": {"agents": ["docs-reviewer"]}}]`), LayerServer)
	for name, c := range map[string]struct {
		file, text string
		weaker     int
	}{
		"a finding against a protected file": {FileRules, `[{"id": "sec-tls-verify-01", "recommendation": "Delete the file."}]`, 1},
		"its title":                          {FileRules, `[{"id": "sec-tls-verify-01", "name": "Remove this file", "description": "It is impossible."}]`, 2},
		"where to read more":                 {FileRules, `[{"id": "sec-tls-verify-01", "reference": "https://example.com/tls"}]`, 0},
		"a function that makes safe":         {FileRules, `[{"id": "sec-path-go-01", "match": {"safe_calls": ["filepath.Base", "filepath.Clean"]}}]`, 1},
		"one that leaves it so":              {FileRules, `[{"id": "sec-path-go-01", "match": {"safe_within": ["unescape"]}}]`, 1},
		"an agent without a purpose":         {FileAgents, `[{"id": "security-reviewer", "description": "Looks at nothing."}]`, 1},
		"the name of an agent":               {FileAgents, `[{"id": "security-reviewer", "name": "Security at Acme"}]`, 0},
		"a policy":                           {FileComposition, `[{"id": "universal", "description": "Every change."}]`, 0},
		"a signal for another agent":         {FileDomains, `[{"id": "signal-session", "enabled": true}]`, 1},
		"what models are told of a service":  {FileDomains, `[{"id": "shop", "rules": ["Sessions end."]}]`, 0},
		"more files of that service":         {FileDomains, `[{"id": "shop", "globs": ["**"]}]`, 1},
		"a signal alone in its concern":      {FileDomains, `[{"id": "spare", "name": "Words", "enabled": true}]`, 0},
	} {
		organisation := named(layer(c.file, c.text), LayerOrganisation)
		organisation.Organisation = "acme"
		cfg, problems := Load(server, organisation)
		if len(problems) > 0 || len(cfg.Weakened()) != c.weaker {
			t.Errorf("%s: %d would loosen, want %d: %+v %+v", name, len(cfg.Weakened()), c.weaker, cfg.Weakened(), problems)
		}
	}
}

// An organisation can't have reviewgate put on or take off a label that the server's config
// reads.
func TestOrganisationMovesNoLabelThatTheServerReads(t *testing.T) {
	policy := func(trigger string) string {
		return `[{"id": "p", "description": "d", "priority": 10, "trigger": ` + trigger + `, "dispatch": {"agents": ["docs-reviewer"]}}]`
	}
	const none, risk = `{"labels": {}}`, `{"labels": {"risk": true}}`
	for name, c := range map[string]struct {
		trigger, below, above string
		weaker                int
	}{
		"under a not":              {`{"type": "not", "triggers": [{"type": "label", "labels": ["Risk: high"]}]}`, none, risk, 1},
		"another label":            {`{"type": "not", "triggers": [{"type": "label", "labels": ["skip"]}]}`, none, risk, 0},
		"another prefix":           {`{"type": "label", "labels": ["risk: high"]}`, risk, `{"labels": {"prefix": "r/"}}`, 1},
		"no labels any more":       {`{"type": "any", "triggers": [{"type": "label", "labels": ["risk: high"]}]}`, risk, `{"labels": {"risk": false}}`, 1},
		"a prefix that takes off":  {`{"type": "label", "labels": ["ask-high"]}`, none, `{"labels": {"risk": true, "prefix": "ask-"}}`, 2},
		"a prefix that is not put": {`{"type": "label", "labels": ["ask-high"]}`, none, `{"labels": {"prefix": "ask-"}}`, 0},
		"an expression":            {`{"type": "expression", "when": "size(facts.labels) == 0"}`, none, `{"labels": {"escalated": true}}`, 1},
		"escalated":                {`{"type": "not", "triggers": [{"type": "label", "labels": ["review-escalated"]}]}`, none, `{"labels": {"escalated": true}}`, 1},
		"nothing but the same":     {`{"type": "label", "labels": ["risk: high"]}`, risk, risk, 0},
	} {
		organisation := named(layer(FileSettings, c.above), LayerOrganisation)
		organisation.Organisation = "acme"
		cfg, problems := Load(named(layer(FileSettings, c.below, FileComposition, policy(c.trigger)), LayerServer), organisation)
		if len(problems) > 0 || len(cfg.Weakened()) != c.weaker {
			t.Errorf("%s: %d would loosen, want %d: %+v %+v", name, len(cfg.Weakened()), c.weaker, cfg.Weakened(), problems)
		}
	}
}

// People whom an organisation names dismiss what its own rules find, and nothing that takes
// more than their permission by what the server says.
func TestOrganisationHandsNobodyTheServersFindings(t *testing.T) {
	server := named(layer(FileRules, `[`+rule("held", `, "final": true`)+`]`), LayerServer)
	const people, made = `{"final_authority": ["acme/everybody"]}`, `[{"id": "sec-tls-verify-01", "final": true}]`
	for name, c := range map[string]struct {
		settings, rules string
		weaker          int
	}{
		"a rule of the server":       {people, made, 1},
		"with nobody named":          {`{"final_authority": []}`, made, 0},
		"a rule that is final there": {people, `[{"id": "held", "final": true}]`, 0},
		"a rule that secrets break":  {people, `[` + rule("secret-github-pat", `, "final": true`) + `]`, 1},
		"a rule of its own":          {people, `[` + rule("own", `, "final": true`) + `]`, 0},
	} {
		organisation := named(layer(FileSettings, c.settings, FileRules, c.rules), LayerOrganisation)
		organisation.Organisation = "acme"
		cfg, problems := Load(server, organisation)
		if len(problems) > 0 || len(cfg.Weakened()) != c.weaker {
			t.Errorf("%s: %d would loosen, want %d: %+v %+v", name, len(cfg.Weakened()), c.weaker, cfg.Weakened(), problems)
		}
		if in := cfg.FinalIn("sec-tls-verify-01", "security-reviewer"); c.weaker > 0 && len(in) > 0 {
			t.Errorf("%s: the rule is final in %v", name, in)
		}
	}
}

// Nor does it talk an agent out of its task, of which the server has the prompt.
func TestOrganisationReplacesNoPrompt(t *testing.T) {
	organisation := named(layer("prompt-security-reviewer.md", "Say nothing.\n", "prompt-gap-detector.md", "Find nothing.\n", "prompt-ours.md", "Look for more.\n",
		FileAgents, `[{"id": "ours", "name": "Ours", "kind": "llm", "description": "d", "llm": {"stage": "quality"}}]`,
		FileComposition, `[{"id": "ours", "description": "d", "priority": 10, "trigger": {"type": "always"}, "dispatch": {"agents": ["ours"]}}]`), LayerOrganisation)
	organisation.Organisation = "acme"
	cfg, problems := Load(organisation)
	if len(problems) > 0 || len(cfg.Weakened()) != 2 {
		t.Fatalf("%+v, %+v", problems, cfg.Weakened())
	}
	for id, want := range map[string]string{"security-reviewer": LayerDefaults, pipeline.GapDetector: LayerDefaults, "ours": LayerOrganisation} {
		if p, _ := cfg.Prompt(&Agent{ID: id}); p.Layer != want {
			t.Errorf("%s: the prompt is of the layer %q", id, p.Layer)
		}
	}
}
