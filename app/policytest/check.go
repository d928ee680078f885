package policytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
	"github.com/reviewgate/reviewgate/policies/spelling"
)

// Check returns the cases that name only agents, rules and files that exist, and the problems of
// the others: the absence of a misspelt agent would never fail.
func Check(cases []*Case, cfg *config.Config) ([]*Case, []pipeline.ConfigProblem) {
	k := known{config: cfg, agents: map[string]*config.Agent{}}
	for i := range cfg.Agents {
		k.agents[cfg.Agents[i].ID] = &cfg.Agents[i]
		k.ids = append(k.ids, cfg.Agents[i].ID)
	}
	for i := range cfg.Rules {
		k.rules = append(k.rules, cfg.Rules[i].ID)
	}
	slices.Sort(k.ids)
	var problems []pipeline.ConfigProblem
	good := slices.DeleteFunc(slices.Clone(cases), func(c *Case) bool {
		errs := k.check(c)
		for _, e := range errs {
			problems = append(problems, config.ProblemOf(e))
		}
		return len(errs) > 0
	})
	return good, problems
}

// known are the names that a config knows.
type known struct {
	config *config.Config
	agents map[string]*config.Agent // including those that are switched off
	ids    []string                 // of agents
	rules  []string                 // that are not switched off
}

func (k *known) check(c *Case) (errs []jsontree.Error) {
	add := func(e *jsontree.Error) {
		if e != nil {
			errs = append(errs, *e)
		}
	}
	e := &c.expect
	for _, w := range slices.Concat(e.agents, e.notAgents) {
		add(k.agent(w))
	}
	for _, w := range e.agents {
		if slices.ContainsFunc(e.notAgents, func(n word) bool { return n.text == w.text }) {
			add(w.node.Error("this agent is also in not_agents", "keep one of the two"))
		}
	}
	for i := range c.outputs {
		add(k.output(&c.outputs[i]))
	}
	for _, p := range slices.Concat(e.findings, e.notFound) {
		if p.agent != "" {
			add(k.agent(word{p.agent, p.node.Get("agent")}))
		}
		if p.rule != "" {
			add(k.rule(c, word{p.rule, p.node.Get("rule")}))
		}
	}
	for _, p := range e.notFound {
		if p.path != "" && !slices.ContainsFunc(c.change.files, func(f raw.ChangedFile) bool { return f.Path == p.path }) {
			add(p.node.Get("path").Error("the change has no such file, so nothing can be found in it", "write the path as in the change"))
		}
	}
	return errs
}

// agent refuses an unknown agent.
func (k *known) agent(w word) *jsontree.Error {
	if k.agents[w.text] != nil {
		return nil
	}
	return w.node.Error(fmt.Sprintf("the config has no agent %.120q", w.text), suggestion(w.text, k.ids, "use "+strings.Join(k.ids, ", ")))
}

// output refuses an output of an agent that the test runs itself.
func (k *known) output(o *output) *jsontree.Error {
	if err := k.agent(o.agent); err != nil {
		return err
	}
	a := k.agents[o.agent.text]
	if !outside(a) {
		return o.agent.node.Error(fmt.Sprintf("the test runs the agent %q itself", a.ID), "leave out its output")
	}
	graded := a.Scale == config.ScalePassWarnFail
	for i := range o.Findings {
		if _, ok := pipeline.ParseSeverity(string(o.Findings[i].Severity)); !ok && !graded {
			return o.agent.node.Error(fmt.Sprintf("the agent %q does not grade by pass, warn and fail", a.ID), "use critical, major, warning or info")
		}
	}
	return nil
}

// rule refuses a rule that neither the config nor an output of the case has. A rule that is
// switched off exists: that it finds nothing can be expected.
func (k *known) rule(c *Case, w word) *jsontree.Error {
	said := func(o output) bool {
		return slices.ContainsFunc(o.Findings, func(f pipeline.Finding) bool { return f.RuleID == w.text })
	}
	if k.config.LayerOf(config.FileRules, w.text) != "" || isSecretRule(w.text) || slices.ContainsFunc(c.outputs, said) {
		return nil
	}
	return w.node.Error(fmt.Sprintf("the config has no rule %.120q", w.text), suggestion(w.text, k.rules, "reviewgate config show --only rules lists them"))
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
