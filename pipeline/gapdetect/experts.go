package gapdetect

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies"
)

// expert is an agent that should look at the files of a signal's domain.
type expert struct {
	agent    string
	read     bool // a policy that reads the domain sends it
	required bool // such a policy requires it
}

// expertsOf returns the agents that should look at the files of the signal's domain: those that policies
// send there, the signal's own, and those that ask a model about the rules of the signal's own, unless no
// policy uses them. It also returns the ids of the policies. A policy whose trigger needs more than the
// domain does not count: mapping a file to the domain would not make it hold.
func (d *Detector) expertsOf(s config.Signal) (experts []expert, policies []string) {
	add := func(e expert) bool {
		a := d.agents[e.agent]
		if a == nil || !sendable(a) {
			return false
		}
		i := slices.IndexFunc(experts, func(other expert) bool { return other.agent == e.agent })
		if i < 0 {
			experts = append(experts, e)
			return true
		}
		experts[i].read, experts[i].required = experts[i].read || e.read, experts[i].required || e.required
		return true
	}
	add(expert{agent: s.Agent})
	for i := range d.config.Agents {
		if a := &d.config.Agents[i]; a.LLM != nil && slices.Contains(a.LLM.Checklist, s.Agent) && d.isUsed(a.ID) {
			add(expert{agent: a.ID})
		}
	}
	for i := range d.config.Policies {
		p := &d.config.Policies[i]
		if !p.Enabled || !reads(&p.Trigger, s.Domain) {
			continue
		}
		sends := false
		for _, id := range p.Dispatch.Agents {
			sends = add(expert{agent: id, read: true, required: p.Dispatch.Required}) || sends
		}
		if sends {
			policies = append(policies, p.ID)
		}
	}
	return experts, policies
}

// isUsed reports whether a policy sends an agent. Whoever switches off the policy of an agent that asks a
// model wants to save its cost.
func (d *Detector) isUsed(agent string) bool {
	return slices.ContainsFunc(d.config.Policies, func(p config.Policy) bool { return p.Enabled && slices.Contains(p.Dispatch.Agents, agent) })
}

// reads reports whether a trigger holds for a change only because one of its files is in a domain.
func reads(t *policies.Trigger, domain string) bool {
	switch t.Type {
	case policies.TriggerDomain:
		return slices.Contains(t.Domains, domain) && (t.Match != "all" || len(t.Domains) == 1)
	case policies.TriggerAny:
		return slices.ContainsFunc(t.Triggers, func(t policies.Trigger) bool { return reads(&t, domain) })
	}
	return false
}
