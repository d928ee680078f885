// Package compose is the third stage. It evaluates every policy and makes the manifest of the
// agents to dispatch. It is pure.
package compose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// Composer composes manifests with one config. It does not change after New, so any number of
// goroutines may use it.
type Composer struct {
	policies []config.Policy    // by priority, descending, then by id
	triggers *policies.Triggers // of the policies, in the same order
	agents   []config.Agent
	config   *config.Config
}

// New compiles the enabled policies.
func New(cfg *config.Config) (*Composer, error) {
	c := &Composer{agents: slices.Clone(cfg.Agents), config: cfg}
	slices.SortFunc(c.agents, func(a, b config.Agent) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range cfg.Policies {
		if p.Enabled {
			c.policies = append(c.policies, p)
		}
	}
	slices.SortFunc(c.policies, func(a, b config.Policy) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	})
	var triggers []policies.Trigger
	for _, p := range c.policies {
		triggers = append(triggers, p.Trigger)
	}
	var err error
	c.triggers, err = policies.CompileTriggers(triggers)
	var wrong *policies.TriggerError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("compile policy %s: %w", c.policies[wrong.Index].ID, err)
	case err != nil:
		return nil, err
	}
	return c, nil
}

// Compose returns one entry for each agent that a policy chose, and a skipped row with the nearest
// reason for every other registered agent.
func (c *Composer) Compose(facts *pipeline.PRFacts, classification *pipeline.Classification) pipeline.AgentManifest {
	in := policies.Input{Facts: facts, Classification: classification}
	outcomes := c.triggers.Evaluate(in)
	for i := range outcomes {
		outcomes[i] = decided(outcomes[i])
	}
	var m pipeline.AgentManifest
	for i := range c.agents {
		a := &c.agents[i]
		if entry, ok := c.entry(a, outcomes, classification); ok {
			m.Entries = append(m.Entries, entry)
		} else if !c.config.Absent(a) {
			m.Skipped = append(m.Skipped, pipeline.SkippedAgent{Agent: a.ID, Reason: c.whyNot(a, outcomes)})
		}
	}
	// Agents come by id, and the stable sort keeps that order among equal priorities.
	slices.SortStableFunc(m.Entries, func(a, b pipeline.ManifestEntry) int { return cmp.Compare(b.Priority, a.Priority) })
	return m
}

// decided makes an unknown outcome count as true for the whole change: a failed evaluation must not
// make a review looser.
func decided(o policies.Outcome) policies.Outcome {
	if !o.Unknown {
		return o
	}
	return policies.Outcome{Matched: true, Whole: true, Reason: "can't be evaluated: " + o.Reason + ", so it counts as holding"}
}

// ReadsLabels reports whether a change's labels can affect its manifest.
func (c *Composer) ReadsLabels() bool { return c.triggers.ReadsLabels() }

// ReadsType reports whether a change's type can affect its manifest.
func (c *Composer) ReadsType() bool { return c.triggers.ReadsType() }

// entry combines what the matching policies ask of an agent. It returns false if none asks for the
// agent.
func (c *Composer) entry(a *config.Agent, outcomes []policies.Outcome, cl *pipeline.Classification) (pipeline.ManifestEntry, bool) {
	e := pipeline.ManifestEntry{Agent: a.ID, OnFailure: pipeline.OnFailureWarn, AddedBy: pipeline.AddedByPolicy}
	if !a.Enabled {
		return e, false
	}
	for i := range c.policies {
		p, o := &c.policies[i], &outcomes[i]
		if !o.Matched || !slices.Contains(p.Dispatch.Agents, a.ID) {
			continue
		}
		e.Policies = append(e.Policies, pipeline.PolicyMatch{Policy: p.ID, Priority: p.Priority, Trigger: o.Reason})
		e.Priority = max(e.Priority, p.Priority)
		if p.Dispatch.Required {
			e.Required = true
			// If one policy tolerates a failure, that does not excuse it for another.
			if p.Dispatch.OnFailure != pipeline.OnFailureWarn {
				e.OnFailure = pipeline.OnFailureBlock
			}
		}
		for _, m := range p.Dispatch.Models {
			if !slices.Contains(e.Models, m) {
				e.Models = append(e.Models, m)
			}
		}
		if p.Dispatch.Scope != config.ScopeMatched || o.Whole {
			e.Scope.All = true
		}
		e.Scope.Files = append(e.Scope.Files, o.Files...)
	}
	if len(e.Policies) == 0 || !e.Required && c.config.Absent(a) {
		return e, false
	}
	e.Stage = a.StageOf()
	e.Models = c.config.ModelsOf(a, e.Models)
	e.Scope = finish(e.Scope, cl)
	return e, true
}

// finish removes the lists from a scope of everything, and adds to any other scope the domains of
// its files.
func finish(s pipeline.AgentScope, cl *pipeline.Classification) pipeline.AgentScope {
	if s.All {
		return pipeline.AgentScope{All: true}
	}
	slices.Sort(s.Files)
	s.Files = slices.Compact(s.Files)
	for _, d := range cl.Domains {
		if slices.ContainsFunc(d.Files, func(f pipeline.DomainFile) bool { return s.Has(f.Path) }) {
			s.Domains = append(s.Domains, d.ID)
		}
	}
	return s
}

// maxReasons bounds the reasons why an agent does not run, counted in policies.
const maxReasons = 3

// whyNot says why an agent does not run: what the policies that could have chosen it lacked, the
// one with the lowest priority first. Policies of higher priority escalate, and are further from
// matching.
func (c *Composer) whyNot(a *config.Agent, outcomes []policies.Outcome) string {
	switch {
	case a.Enabled:
	case a.Mode == config.ModeEvaluate:
		return "in evaluation only"
	default:
		return "switched off in config"
	}
	var reasons []string
	for i := len(c.policies) - 1; i >= 0; i-- {
		if o := outcomes[i]; slices.Contains(c.policies[i].Dispatch.Agents, a.ID) && !slices.Contains(reasons, o.Reason) {
			reasons = append(reasons, o.Reason)
		}
	}
	if len(reasons) == 0 {
		return "no policy dispatches it"
	}
	return strings.Join(reasons[:min(len(reasons), maxReasons)], "; ")
}
