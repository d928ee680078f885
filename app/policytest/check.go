package policytest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
	"github.com/reviewgate/reviewgate/policies/spelling"
)

// checker refuses cases that name agents, rules or places that don't exist: a test that a misspelt
// agent is not chosen could never fail.
type checker struct {
	config   *config.Config
	agents   map[string]*config.Agent // including those that are switched off
	ids      []string                 // of agents
	rules    map[string]*config.Rule  // that are not switched off
	ruleIDs  []string
	problems Problems
}

func newChecker(cfg *config.Config) *checker {
	k := &checker{config: cfg, agents: map[string]*config.Agent{}, rules: map[string]*config.Rule{}}
	for i := range cfg.Agents {
		k.agents[cfg.Agents[i].ID] = &cfg.Agents[i]
		k.ids = append(k.ids, cfg.Agents[i].ID)
	}
	for i := range cfg.Rules {
		k.rules[cfg.Rules[i].ID] = &cfg.Rules[i]
		k.ruleIDs = append(k.ruleIDs, cfg.Rules[i].ID)
	}
	slices.Sort(k.ids)
	return k
}

// good reports whether a case names only what there is.
func (k *checker) good(ctx context.Context, c *Case) bool {
	before := len(k.problems.List) + k.problems.More
	e := &c.expect
	for _, w := range slices.Concat(e.agents, e.notAgents) {
		if ctx.Err() != nil {
			return false
		}
		k.agent(w)
	}
	for _, w := range e.agents {
		if slices.ContainsFunc(e.notAgents, func(n word) bool { return n.text == w.text }) {
			k.refuse(w.node, "this agent is also in not_agents", "keep one of the two")
		}
	}
	for i := range c.outputs {
		k.output(c, &c.outputs[i])
	}
	for _, p := range slices.Concat(e.findings, e.notFound) {
		if ctx.Err() != nil {
			return false
		}
		if p.agent != "" {
			k.agent(word{p.agent, p.node.Get("agent")})
		}
		if p.rule != "" {
			k.rule(c, word{p.rule, p.node.Get("rule")})
		}
	}
	for i := range e.notFound {
		k.absent(c, &e.notFound[i])
	}
	return len(k.problems.List)+k.problems.More == before
}

func (k *checker) refuse(n *jsontree.Node, problem, remedy string) {
	k.problems.add(n, problem, func() string { return remedy })
}

// agent refuses an unknown agent.
func (k *checker) agent(w word) bool {
	if k.agents[w.text] != nil {
		return true
	}
	k.problems.add(w.node, "the config has no agent "+shortened(strconv.Quote(w.text), maxName), func() string {
		return suggestion(w.text, k.ids, "use "+strings.Join(k.ids, ", "))
	})
	return false
}

// output refuses an output of an agent that the test runs itself, and findings that would be dropped.
func (k *checker) output(c *Case, o *output) {
	if !k.agent(o.agent) {
		return
	}
	a := k.agents[o.agent.text]
	if !outside(a) {
		k.refuse(o.agent.node, fmt.Sprintf("the test runs the agent %q itself", a.ID), "leave out its output")
		return
	}
	graded := a.Scale == config.ScalePassWarnFail
	for i := range o.Findings {
		f := &o.Findings[i]
		if _, ok := pipeline.ParseSeverity(string(f.Severity)); !ok && !graded {
			k.refuse(o.agent.node, fmt.Sprintf("the agent %q does not grade by pass, warn and fail", a.ID), "use critical, major, warning or info")
			return
		}
		if f.Path != "" && c.change.byPath[f.Path] == nil {
			k.refuse(inside(o.node, fmt.Sprintf("/findings/%d/path", i)), "the change has no such file, so the finding would be dropped", "write the path as in the change")
		}
	}
}

// rule refuses a rule that neither the config nor an output of the case has. A case may expect that a
// rule that is switched off finds nothing.
func (k *checker) rule(c *Case, w word) {
	if k.config.LayerOf(config.FileRules, w.text) != "" || isSecretRule(w.text) || c.says(w.text, "") {
		return
	}
	k.problems.add(w.node, "the config has no rule "+shortened(strconv.Quote(w.text), maxName), func() string {
		return suggestion(w.text, k.ruleIDs, "reviewgate config show --only rules lists them")
	})
}

// says reports whether an output of the case has a finding of a rule. An empty agent means any.
func (c *Case) says(rule, agent string) bool {
	return slices.ContainsFunc(c.outputs, func(o output) bool {
		return (agent == "" || o.agent.text == agent) && slices.ContainsFunc(o.Findings, func(f pipeline.Finding) bool { return f.RuleID == rule })
	})
}

// absent refuses a finding that can't be there, so that a test without it could never fail.
func (k *checker) absent(c *Case, p *place) {
	if slices.ContainsFunc(c.expect.findings, func(f place) bool { f.node = p.node; return f == *p }) {
		k.refuse(p.node, "this finding is also in findings", "keep one of the two")
	}
	if p.path != "" {
		file := c.change.byPath[p.path]
		switch last, known := c.change.lines(file); {
		case file == nil:
			k.refuse(p.node.Get("path"), "the change has no such file, so nothing can be found in it", "write the path as in the change")
		case known && last == 0 && p.line > 0:
			k.refuse(p.node.Get("line"), "the file has no lines after the change, so nothing can be found in one", "leave out the line")
		case known && p.line > last:
			k.refuse(p.node.Get("line"), fmt.Sprintf("the file has %d lines, so nothing can be found in this one", last), "write a line of the file after the change")
		}
	}
	a := k.agents[p.agent]
	if p.rule == "" || a == nil || c.says(p.rule, p.agent) {
		return
	}
	if r := k.rules[p.rule]; r != nil && r.Agent != p.agent {
		k.refuse(p.node.Get("agent"), fmt.Sprintf("the rule belongs to the agent %q, so no other one reports it", r.Agent), "leave out the agent, or write that one")
	} else if isSecretRule(p.rule) && a.Kind != config.KindSecrets {
		k.refuse(p.node.Get("agent"), "the rule finds secrets, so no other agent reports it", "leave out the agent")
	}
}

func suggestion(of string, names []string, other string) string {
	near := spelling.Nearest(of, names, min(len(of)/4, 3))
	if longer := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, of) }); near == "" && longer >= 0 && len(of) > 2 {
		near = names[longer]
	}
	if near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return other
}

// isSecretRule reports whether the detector for secrets has a rule.
func isSecretRule(id string) bool {
	rule, ok := strings.CutPrefix(id, pipeline.SecretRulePrefix)
	detector, err := secrets.Default()
	return ok && err == nil && detector.HasRule(rule)
}

// outside reports whether an agent needs more than the facts, so that a test does not run it.
func outside(a *config.Agent) bool { return a.Kind != config.KindRules && a.Kind != config.KindSecrets }
