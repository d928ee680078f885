package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
	"github.com/reviewgate/reviewgate/policies/spelling"
)

// Only limits a review to some agents and rules. An agent of which only rules are named runs, and
// its findings by other rules are dropped. An agent that no policy chooses does not run.
type Only struct {
	ids    []string        // agents and rules, as they were named
	agents map[string]bool // those named by their own ids
	rules  map[string]bool
	runs   map[string]bool // these agents, and those that look for the rules
}

// NewOnly finds the agents and rules with these ids, also those in evaluation. Its error names an id
// that the config does not have, or has switched off, and the nearest ones.
func NewOnly(cfg *config.Config, ids []string) (*Only, error) {
	o := &Only{agents: map[string]bool{}, rules: map[string]bool{}, runs: map[string]bool{}}
	configs := []*config.Config{cfg}
	if cfg.Evaluation != nil {
		configs = append(configs, cfg.Evaluation)
	}
	for _, id := range ids {
		id = strings.TrimSpace(id)
		if slices.Contains(o.ids, id) {
			continue
		}
		o.ids = append(o.ids, id)
		for _, c := range configs {
			o.add(c, id)
		}
		if !o.agents[id] && !o.rules[id] && slices.ContainsFunc(cfg.Strict, func(r config.Rule) bool { return r.ID == id }) {
			return nil, fmt.Errorf(`the rule %q runs only in the profile strict; set "profile": "strict" in review-settings.json, or "profile": "default" in the rule`, id)
		}
		if !o.agents[id] && !o.rules[id] {
			return nil, fmt.Errorf("the config has no agent or rule %q that is switched on; %s", id, suggestion(id, configs))
		}
	}
	return o, nil
}

// add finds an id in a config.
func (o *Only) add(cfg *config.Config, id string) {
	agents := cfg.Runnable()
	if slices.Contains(agents, id) {
		o.agents[id], o.runs[id] = true, true
		return
	}
	rule := cfg.Rule(id)
	secret := rule == nil && isSecretRule(id)
	if !secret && (rule == nil || !rule.Enabled) {
		return
	}
	o.rules[id] = true
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; secret && a.Kind == config.KindSecrets || !secret && looksFor(cfg, a, rule) {
			o.runs[a.ID] = true
		}
	}
}

// looksFor reports whether an agent looks for what a rule describes.
func looksFor(cfg *config.Config, a *config.Agent, rule *config.Rule) bool {
	return a.ID == rule.Agent ||
		rule.Match == nil && a.Kind == config.KindLLM && slices.ContainsFunc(cfg.Checklist(a), func(r config.Rule) bool { return r.ID == rule.ID })
}

// isSecretRule reports whether the detector for secrets has a rule with an id.
func isSecretRule(id string) bool {
	rule, ok := strings.CutPrefix(id, pipeline.SecretRulePrefix)
	detector, err := secrets.Default()
	return ok && err == nil && detector.HasRule(rule)
}

// maxSuggested bounds how many ids a refusal names.
const maxSuggested = 5

// suggestion says which id was probably meant, or else which agents there are.
func suggestion(id string, configs []*config.Config) string {
	var agents, all []string
	for _, c := range configs {
		agents = append(agents, c.Runnable()...)
		for i := range c.Rules {
			if c.Rules[i].Enabled {
				all = append(all, c.Rules[i].ID)
			}
		}
	}
	slices.Sort(agents)
	slices.Sort(all)
	agents, all = slices.Compact(agents), slices.Compact(all)
	all = append(slices.Clone(agents), all...)
	near := slices.DeleteFunc(slices.Clone(all), func(known string) bool { return len(id) < 3 || !strings.HasPrefix(known, id) })
	if nearest := spelling.Nearest(id, all, max(1, min(len(id)/4, 3))); len(near) == 0 && nearest != "" {
		near = []string{nearest}
	}
	if len(near) > 0 {
		for i := range near {
			near[i] = fmt.Sprintf("%q", near[i])
		}
		return "did you mean " + strings.Join(near[:min(len(near), maxSuggested)], " or ") + "?"
	}
	return "the agents are " + strings.Join(agents, ", ")
}

// limit returns a manifest with the agents that run, and says what the review lacks.
func (o *Only) limit(m pipeline.AgentManifest) (pipeline.AgentManifest, pipeline.Incompleteness) {
	out := pipeline.AgentManifest{Skipped: slices.Clone(m.Skipped)}
	others, chosen, rules := 0, map[string]bool{}, false
	for i := range m.Entries {
		e := m.Entries[i]
		chosen[e.Agent] = true
		if o.runs[e.Agent] {
			out.Entries = append(out.Entries, e)
			rules = rules || !o.agents[e.Agent]
			continue
		}
		others++
		out.Skipped = append(out.Skipped, pipeline.SkippedAgent{Agent: e.Agent, Reason: "left out of this review"})
	}
	slices.SortFunc(out.Skipped, func(a, b pipeline.SkippedAgent) int { return cmp.Compare(a.Agent, b.Agent) })
	var lacks []string
	if rules {
		lacks = append(lacks, "other rules")
	}
	switch {
	case others == 1:
		lacks = append(lacks, "1 other agent")
	case others > 1:
		lacks = append(lacks, fmt.Sprintf("%d other agents", others))
	}
	why := "only " + strings.Join(o.ids, ", ")
	if len(lacks) > 0 {
		why += ": " + strings.Join(lacks, " and ") + " did not run"
	}
	for _, agent := range slices.Sorted(maps.Keys(o.runs)) {
		if !chosen[agent] {
			why += fmt.Sprintf("; no policy chose %s", agent)
		}
	}
	return out, pipeline.Incompleteness{What: pipeline.IncompleteOnly, Why: why}
}

// limited is an agent of which only some rules count.
type limited struct {
	dispatch.Agent
	only *Only
}

// Review returns the findings by the rules that count.
func (l limited) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	answer, err := l.Agent.Review(ctx, task)
	answer.Output.Findings = slices.DeleteFunc(slices.Clone(answer.Output.Findings), func(f pipeline.Finding) bool { return !l.only.rules[f.RuleID] })
	answer.Output.ResidualConcerns, answer.Output.DeferredQuestions = nil, nil
	return answer, err
}
