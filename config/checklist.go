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
