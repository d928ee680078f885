package config

import "slices"

// Floor is the config of the layers up to one that made entries final. What a
// final entry comes to on a change must not be looser than by this config,
// whatever the layers above say: which agents look at what, the gate's
// conditions, the mode.
type Floor struct {
	Layer string // that made entries final
	// Authority are the teams, each "org/team-slug", and logins that this layer
	// names under final_authority. Without any, what it made final stands.
	Authority []string
	Config    *Config // without floors of its own
}

// floorOf is the floor that a layer makes with those below it, or nil where it
// made nothing final that a review could come to.
func (s *stack) floorOf(layer string) *Floor {
	some := false
	for _, file := range listFiles() {
		for _, e := range s.lists[file].entries {
			some = some || e.final == layer && bearsOnReviews(e.value)
		}
	}
	if !some {
		return nil
	}
	f := &Floor{Layer: layer, Config: s.config()}
	if named := s.settings.Get("final_authority"); layerOf(named) == layer {
		f.Authority = s.decoded.FinalAuthority
	}
	return f
}

// bearsOnReviews reports whether an entry is switched on and brings findings or
// agents: mappings and weights come to nothing by themselves.
func bearsOnReviews(value any) bool {
	switch v := value.(type) {
	case *Rule:
		return v.Enabled
	case *Policy:
		return v.Enabled
	case *Agent:
		return v.Enabled
	case *Signal:
		return v.Enabled
	}
	return false
}

// finalOf lists the layers that made the rules and the agents final. Agents of
// the kind rules are left out: of their findings those of final rules are final.
func (s *stack) finalOf() (rules, agents map[string]string) {
	rules, agents = map[string]string{}, map[string]string{}
	for _, file := range []string{FileRules, FileAgents} {
		for _, e := range s.lists[file].entries {
			switch v := e.value.(type) {
			case *Rule:
				if e.final != "" && v.Enabled {
					rules[v.ID] = e.final
				}
			case *Agent:
				if e.final != "" && v.Enabled && v.Kind != KindRules {
					agents[v.ID] = e.final
				}
			}
		}
	}
	return rules, agents
}

// FinalIn lists the layers that made an agent's finding by a rule final: the one
// that made the rule final, and the one that made the agent final where its findings
// come without rules of the config. Each of them has a say: a layer that makes a rule
// final takes nothing from one that made the agent final before.
func (c *Config) FinalIn(rule, agent string) []string {
	var layers []string
	for _, layer := range []string{c.finalRules[rule], c.finalAgents[agent]} {
		if layer != "" && !slices.Contains(layers, layer) {
			layers = append(layers, layer)
		}
	}
	return layers
}

// FinalLayers are the layers that made the agent, or rules of it, final.
func (c *Config) FinalLayers(agent string) []string {
	var layers []string
	add := func(layer string) {
		if layer != "" && !slices.Contains(layers, layer) {
			layers = append(layers, layer)
		}
	}
	add(c.finalAgents[agent])
	for i := range c.Rules {
		if c.Rules[i].Agent == agent {
			add(c.finalRules[c.Rules[i].ID])
		}
	}
	return layers
}

// ThresholdsOf are the thresholds that reports read by an agent have to reach: the
// settings', and where a layer made the agent final, that layer's as well.
func (c *Config) ThresholdsOf(agent string) ThresholdSettings {
	t := c.Settings.Thresholds
	for _, layer := range c.FinalIn("", agent) {
		if f := c.Floor(layer); f != nil {
			t = t.stricter(f.Config.Settings.Thresholds)
		}
	}
	return t
}

func (t ThresholdSettings) stricter(u ThresholdSettings) ThresholdSettings {
	return ThresholdSettings{
		CompletenessScore: max(t.CompletenessScore, u.CompletenessScore),
		TestabilityScore:  max(t.TestabilityScore, u.TestabilityScore),
		ClarityScore:      max(t.ClarityScore, u.ClarityScore),
		ConfidenceLevel:   max(t.ConfidenceLevel, u.ConfidenceLevel),
		MaxCriticalIssues: min(t.MaxCriticalIssues, u.MaxCriticalIssues),
		MaxMajorIssues:    min(t.MaxMajorIssues, u.MaxMajorIssues),
	}
}

// AnyFinal reports whether a policy among those with these ids is final.
func (c *Config) AnyFinal(policies []string) bool {
	return slices.ContainsFunc(c.Policies, func(p Policy) bool { return p.Final && slices.Contains(policies, p.ID) })
}

// Floor is the floor of a layer, or nil.
func (c *Config) Floor(layer string) *Floor {
	for i := range c.Floors {
		if c.Floors[i].Layer == layer {
			return &c.Floors[i]
		}
	}
	return nil
}

// The modes in the order of what their checks can block.
var modes = []string{ModeOff, ModeAdvisory, ModeEnforce}

// StricterMode is the stricter of two modes.
func StricterMode(a, b string) string {
	if slices.Index(modes, b) > slices.Index(modes, a) {
		return b
	}
	return a
}
