package config

import (
	"crypto/sha256"
	"slices"
)

// A rule, policy or agent in evaluation runs, but it can't affect the gate or any finding that is
// enforced. So the config in force counts it as switched off, and Config.Evaluation is the config
// with it switched on. A review under both shows what it would add.

// evaluated reports whether an enabled entry is in evaluation.
func evaluated(value any) bool {
	switch v := value.(type) {
	case *Rule:
		return v.Enabled && v.Mode == ModeEvaluate
	case *Policy:
		return v.Enabled && v.Mode == ModeEvaluate
	case *Agent:
		return v.Enabled && v.Mode == ModeEvaluate
	}
	return false
}

// switchedOff returns a copy of an entry's value that is switched off.
func switchedOff(value any) any {
	switch v := value.(type) {
	case *Rule:
		off := *v
		off.Enabled = false
		return &off
	case *Policy:
		off := *v
		off.Enabled = false
		return &off
	case *Agent:
		off := *v
		off.Enabled = false
		return &off
	}
	return value
}

// enforced returns the stack with everything that is in evaluation switched off. It returns the
// stack itself if nothing is in evaluation.
func (s *stack) enforced() *stack {
	out := s
	for file, l := range s.lists {
		for i, e := range l.entries {
			if !evaluated(e.value) {
				continue
			}
			if out == s {
				out = s.clone()
			}
			off := *e
			off.value = switchedOff(e.value)
			out.lists[file].entries[i] = &off
		}
	}
	return out
}

// evaluation returns the config with everything in evaluation enforced. It leaves out enforced rules
// whose agents would not look at more files: they would find the same again. Rules on a model's
// checklist stay.
func (s *stack) evaluation() *Config {
	c := s.entries()
	more := map[string]bool{} // the agents that may look at more files
	for i := range c.Policies {
		if p := &c.Policies[i]; p.Mode == ModeEvaluate {
			for _, id := range p.Dispatch.Agents {
				more[id] = true
			}
		}
	}
	again := map[string]bool{}
	for i := range c.Agents {
		a := &c.Agents[i]
		again[a.ID] = a.Kind == KindRules && a.Mode != ModeEvaluate && !more[a.ID] && !slices.ContainsFunc(c.Agents, func(llm Agent) bool {
			return llm.Kind == KindLLM && llm.Enabled && !c.Absent(&llm) && llm.checks(a.ID)
		})
	}
	c.Rules = slices.DeleteFunc(c.Rules, func(r Rule) bool { return r.Mode != ModeEvaluate && again[r.Agent] })
	return c
}

// identify sets the key of the config, and that of its evaluation.
func (c *Config) identify(key [sha256.Size]byte) {
	c.Key = key
	if e := c.Evaluation; e != nil {
		e.InForce, e.DomainsForm, e.CompositionForm, e.fileNames = c.InForce, c.DomainsForm, c.CompositionForm, c.fileNames
		e.Key = sha256.Sum256(slices.Concat(key[:], []byte(ModeEvaluate)))
	}
}

// Evaluated lists the ids of the rules, policies and agents in evaluation.
func (c *Config) Evaluated() (ids []string) {
	if c.Evaluation == nil {
		return nil
	}
	for i := range c.Evaluation.Rules {
		if r := &c.Evaluation.Rules[i]; evaluated(r) {
			ids = append(ids, r.ID)
		}
	}
	for i := range c.Evaluation.Policies {
		if p := &c.Evaluation.Policies[i]; evaluated(p) {
			ids = append(ids, p.ID)
		}
	}
	for i := range c.Evaluation.Agents {
		if a := &c.Evaluation.Agents[i]; evaluated(a) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
