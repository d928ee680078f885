package config

import "slices"

// Checklist are the rules that an agent of kind llm checks, in the order of the config: its own and
// those of the agents that it names, which a model can judge by. Rules over the whole change, its
// title, description or commits are left out: the engine knows all of that; and so are those that
// the config doesn't let it be told.
func (c *Config) Checklist(a *Agent) (rules []Rule) {
	for _, r := range c.Rules {
		if r.Enabled && a.checks(r.Agent) && ofCode(&r) && c.MayTell(a, r.ID) {
			rules = append(rules, r)
		}
	}
	return rules
}

// checks reports whether an agent of kind llm checks the rules of an agent.
func (a *Agent) checks(agent string) bool {
	return a.ID == agent || a.LLM != nil && slices.Contains(a.LLM.Checklist, agent)
}

// Unchecked returns the rules that nothing checks, in the order of the config: the engine can't,
// because they have neither a match nor a condition, and no language model is asked about them.
func (c *Config) Unchecked() (rules []*Rule) {
	kinds := map[string]string{}
	for i := range c.Agents {
		kinds[c.Agents[i].ID] = c.Agents[i].Kind
	}
	for i := range c.Rules {
		r := &c.Rules[i]
		ours := kinds[r.Agent] == KindRules || kinds[r.Agent] == KindLLM
		if r.Enabled && r.Match == nil && r.When == "" && ours && !askedAbout(c, r) {
			rules = append(rules, r)
		}
	}
	return rules
}

// OwnUnchecked returns the rules that nothing checks without those of the defaults, which nobody
// here wrote and may rely on.
func (c *Config) OwnUnchecked() []*Rule {
	return slices.DeleteFunc(c.Unchecked(), func(r *Rule) bool { return c.LayerOf(FileRules, r.ID) == LayerDefaults })
}

// askedAbout reports whether an agent may ask a model about a rule.
func askedAbout(c *Config, r *Rule) bool {
	return slices.ContainsFunc(c.Agents, func(a Agent) bool {
		return a.Enabled && a.checks(r.Agent) && c.MayTell(&a, r.ID) && asksModels(c, &a)
	})
}

// asksModels reports whether an agent has a model to ask, by its own section, the settings or a
// policy.
func asksModels(c *Config, a *Agent) bool {
	return len(c.ModelsOf(a, nil)) > 0 || slices.ContainsFunc(c.Policies, func(p Policy) bool {
		return p.Enabled && slices.Contains(p.Dispatch.Agents, a.ID) && len(c.ModelsOf(a, p.Dispatch.Models)) > 0
	})
}

func ofCode(r *Rule) bool {
	if r.Match == nil {
		return r.When == ""
	}
	switch r.Match.On {
	case OnTitle, OnBody, OnCommitMessage, OnPath, OnFile:
		return false
	}
	return true
}
