package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
)

// target is what entries may refer to, such as the agents or the domains.
type target struct {
	noun  string
	file  string
	names map[string]bool
	hint  string // how to add one
}

// references checks that what entries name exists.
type references struct {
	*problems
	below   *stack
	roots   layerRoots
	unread  map[string]bool
	merged  *mergedEntries
	removed []removed
}

// check validates the references between entries of all files. Entries that are switched
// off may refer to anything.
func (r *references) check() {
	agents := target{"agent", FileAgents, r.merged.agentIDs(), `register it in review-agents.json`}
	domains := target{"domain", FileDomains, r.merged.mapped("domain"), `map globs to it in review-domains.json`}
	services := target{"service", FileDomains, r.merged.mapped("service"), `map globs to it in review-domains.json`}
	for _, e := range r.merged.entries(FileRules) {
		if enabled(e.node) {
			r.checkName(e.node.Get("agent"), agents, referrer{FileRules, e.id})
			r.checkSeverityIn(e.node.Get("severity_in"), domains)
		}
	}
	for _, e := range r.merged.entries(FileComposition) {
		if enabled(e.node) && !r.asksOnlyModels(e) {
			by := referrer{FileComposition, e.id}
			r.checkNames(e.node.Get("dispatch").Get("agents"), agents, by)
			r.checkTrigger(e.node.Get("trigger"), domains, services, by)
		}
	}
	for _, e := range r.merged.entries(FileAgents) {
		if enabled(e.node) {
			r.checkNames(e.node.Get("llm").Get("checklist"), agents, referrer{FileAgents, e.id})
		}
	}
	r.checkIgnored(agents)
	r.checkModels()
	for _, e := range r.merged.entries(FileDomains) {
		// Of the entries in the domains' file, only signals have an agent.
		if agent := e.node.Get("agent"); agent != nil && enabled(e.node) {
			by := referrer{FileDomains, e.id}
			r.checkName(agent, agents, by)
			r.checkName(e.node.Get("domain"), domains, by)
		}
		// A domain that was removed adds no points anyway.
		if n := e.node.Get("covers"); given(n) && r.owns(n) && enabled(e.node) {
			r.checkName(n, domains, referrer{FileDomains, e.id})
		}
	}
	r.reportRemoved()
}

// asksOnlyModels reports whether an entry is an unchanged policy of the defaults that
// dispatches only language models. Such a policy may name a removed domain: it then never
// holds, and whoever removed the domain need not know of models.
func (r *references) asksOnlyModels(e *entry) bool {
	p, ok := e.value.(*Policy)
	if !ok || r.layer == LayerDefaults || layerOf(e.node) != LayerDefaults || p.Dispatch.Required {
		return false
	}
	return !slices.ContainsFunc(p.Dispatch.Agents, func(id string) bool { return r.merged.stack.shipped[id] != KindLLM })
}

// enabled reports whether an entry is not switched off.
func enabled(n *jsontree.Node) bool {
	on := n.Get("enabled")
	return on == nil || on.Text != "false"
}

func isTrue(n *jsontree.Node) bool { return n != nil && n.Text == "true" }

func (r *references) checkTrigger(n *jsontree.Node, domains, services target, by referrer) {
	r.checkNames(n.Get("domains"), domains, by)
	r.checkNames(n.Get("services"), services, by)
	for _, sub := range elems(n.Get("triggers")) {
		r.checkTrigger(sub, domains, services, by)
	}
}

// referrer is an entry that names another.
type referrer struct{ file, id string }

// removed is something that the layer removed although entries of lower layers name it.
type removed struct {
	to   target
	name string
	by   []referrer // each once
}

// noteRemoved remembers an entry that names something removed.
func (r *references) noteRemoved(to target, name string, by referrer) {
	for i := range r.removed {
		g := &r.removed[i]
		if g.to.noun != to.noun || g.name != name {
			continue
		}
		if g.by[len(g.by)-1] != by {
			g.by = append(g.by, by)
		}
		return
	}
	r.removed = append(r.removed, removed{to, name, []referrer{by}})
}

// reportRemoved reports each removed thing once, with the first entries that name it.
func (r *references) reportRemoved() {
	const maxNamed = 3
	for _, g := range r.removed {
		var names []string
		for _, by := range g.by[:min(len(g.by), maxNamed)] {
			names = append(names, shown(by.id)+" in "+by.file)
		}
		list := strings.Join(names, ", ")
		if more := len(g.by) - maxNamed; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		r.of(r.roots.blame(g.to.file), fmt.Sprintf("the %s %s is gone, but entries of lower layers still name it: %s", g.to.noun, shown(g.name), list),
			"keep it, or switch those entries off too")
	}
}

// checkName checks that the thing which a value names exists.
func (r *references) checkName(n *jsontree.Node, to target, by referrer) {
	if !given(n) || to.names[n.Text] || r.unread[to.file] {
		return
	}
	if !r.owns(n) {
		r.noteRemoved(to, n.Text, by)
		return
	}
	r.of(n, fmt.Sprintf("there is no %s %s", to.noun, shown(n.Text)), r.didYouMean(n.Text, maps.Keys(to.names), to.hint+", or use one of those that exist"))
}

// checkSeverityIn checks the domains that the layer's rules name. A rule of a lower layer may name
// a domain that is gone: its severity then stays what it is elsewhere.
func (r *references) checkSeverityIn(n *jsontree.Node, domains target) {
	if n == nil || r.unread[domains.file] {
		return
	}
	for _, m := range n.Members {
		if r.owns(m.Value) && !domains.names[m.Key] {
			r.at(m.KeyPlace(), fmt.Sprintf("there is no %s %s", domains.noun, shown(m.Key)), r.didYouMean(m.Key, maps.Keys(domains.names), domains.hint+", or use one of those that exist"))
		}
	}
}

// checkNames checks each name of a list.
func (r *references) checkNames(list *jsontree.Node, to target, by referrer) {
	for _, n := range elems(list) {
		r.checkName(n, to, by)
	}
}

// checkAlways demands a policy that holds for every change. Without one, a change for which
// no other policy holds would pass unreviewed. Language models don't count: the server may
// name no model, or the budget may be spent. Remote reviewers, which may not answer, and entries in
// evaluation don't count either.
func (t *trial) checkAlways() {
	enforced := t.stack.enforced()
	off, kinds := enforced.off(), enforced.kinds()
	switched := false
	counts := func(id string) bool { return kinds[id] != KindLLM && kinds[id] != KindWebhook }
	for _, p := range all[*Policy](enforced.lists[FileComposition]) {
		if !p.Enabled || p.Trigger.Type != policies.TriggerAlways {
			continue
		}
		if slices.ContainsFunc(p.Dispatch.Agents, func(id string) bool { return counts(id) && !off[id] }) {
			return
		}
		switched = switched || slices.ContainsFunc(p.Dispatch.Agents, counts)
	}
	if switched {
		t.of(t.roots.blame(FileAgents), `every agent of the policies with the trigger "always" is switched off or in evaluation`, "leave one on, or let such a policy dispatch another")
		return
	}
	t.of(t.roots.blame(FileComposition), `no policy with the trigger "always" is enforced`, `keep or add one: {"type": "always"}`)
}

// checkOrphans finds rules that can never run, since their agent runs no rules or nothing
// dispatches it. It ignores the rules of agents that are switched off.
func (t *trial) checkOrphans() {
	type stackOf struct{ dispatched, off map[string]bool }
	enforced := t.stack.enforced()
	inForce, all := stackOf{enforced.dispatched(), enforced.off()}, stackOf{t.stack.dispatched(), t.stack.off()}
	agents, kinds := t.merged.agentIDs(), t.stack.kinds()
	for _, e := range t.stack.lists[FileRules].entries {
		r, ok := e.value.(*Rule)
		if !ok {
			continue
		}
		in := inForce
		if evaluated(r) || in.off[r.Agent] { // the rules of an agent in evaluation are in evaluation, too
			in = all
		}
		if !r.Enabled || in.off[r.Agent] || !agents[r.Agent] {
			continue
		}
		if k := kindNamed(kinds[r.Agent]); k.Name != "" && !k.HasRules {
			t.of(t.ownOr(e.node.At("agent"), FileAgents), fmt.Sprintf("the agent %s is of kind %s and runs no rules, so the rule %s never runs", shown(r.Agent), k.Name, shown(r.ID)), "give the rule to an agent of kind rules or llm")
			continue
		}
		if in.dispatched[r.Agent] {
			continue
		}
		if all.dispatched[r.Agent] {
			t.of(t.blameForOrphans(r.Agent), fmt.Sprintf("only policies in evaluation dispatch the agent %s, so its enforced rules would not run", shown(r.Agent)),
				fmt.Sprintf(`put the agent in evaluation, too: {"id": %q, "mode": "evaluate"}`, r.Agent))
			continue
		}
		if n := e.node.At("agent"); t.owns(n) {
			t.of(n, fmt.Sprintf("no policy dispatches the agent %s, so the rule never runs", shown(r.Agent)), fmt.Sprintf("add %q to a policy of review-composition.json, or switch the rule off", r.Agent))
			continue
		}
		t.of(t.blameForOrphans(r.Agent), fmt.Sprintf("no policy dispatches the agent %s any more, so its rules never run", shown(r.Agent)),
			fmt.Sprintf(`dispatch it from another policy, or switch it off in review-agents.json: {"id": %q, "enabled": false}`, r.Agent))
	}
}

// ownOr returns the value if the layer wrote it, or else the part of the file to point at.
func (t *trial) ownOr(n *jsontree.Node, file string) *jsontree.Node {
	if t.owns(n) {
		return n
	}
	return t.roots.blame(file)
}

// kinds returns the kinds of agents, by id.
func (s *stack) kinds() map[string]string {
	kinds := map[string]string{}
	for _, a := range all[*Agent](s.lists[FileAgents]) {
		kinds[a.ID] = a.Kind
	}
	return kinds
}

// off says which agents are switched off, by id.
func (s *stack) off() map[string]bool {
	off := map[string]bool{}
	for _, a := range all[*Agent](s.lists[FileAgents]) {
		off[a.ID] = !a.Enabled
	}
	return off
}

// dispatched returns the agents that policies name, and whether an enabled policy does.
// Signals don't count: they dispatch an agent for the files with the signal only.
func (s *stack) dispatched() map[string]bool {
	agents := map[string]bool{}
	for _, p := range all[*Policy](s.lists[FileComposition]) {
		for _, id := range p.Dispatch.Agents {
			agents[id] = agents[id] || p.Enabled
		}
	}
	return agents
}

// blameForOrphans finds the layer's entry that removed the agent from a policy or signal.
func (t *trial) blameForOrphans(agent string) *jsontree.Node {
	for _, file := range []string{FileComposition, FileDomains} {
		for _, e := range t.own[file] {
			below := t.below.lists[file].get(e.id)
			if below == nil {
				continue
			}
			switch v := below.value.(type) {
			case *Policy:
				if slices.Contains(v.Dispatch.Agents, agent) {
					return e.node
				}
			case *Signal:
				if v.Agent == agent {
					return e.node
				}
			}
		}
	}
	return t.roots.blame(FileComposition)
}
