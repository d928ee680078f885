package config

import "slices"

// Floor is the config of the layers up to one that made entries final. On any change, a final entry
// acts at least as strictly as by this config. This covers the choice of agents and files, the
// gate's conditions and the mode.
type Floor struct {
	Layer string // the layer that made entries final
	// Authority lists the teams, each "org/team-slug", and the logins that this layer names under
	// final_authority. If it names none, nobody can take its final findings out of the gate.
	Authority []string
	Config    *Config // has no floors itself
}

// floorOf returns the floor of a layer and the layers below it. view makes its config. It returns nil
// if the layer made nothing final that affects reviews.
func (s *stack) floorOf(layer string, view func(*stack) *Config) *Floor {
	some := false
	for _, file := range listFiles() {
		for _, e := range s.lists[file].entries {
			some = some || e.final == layer && bearsOnReviews(e.value)
		}
	}
	if !some {
		return nil
	}
	f := &Floor{Layer: layer, Config: view(s)}
	if named := s.settings.Get("final_authority"); layerOf(named) == layer {
		f.Authority = s.decoded.FinalAuthority
	}
	return f
}

// bearsOnReviews reports whether an entry is enabled and brings findings or agents: mappings
// and weights alone have no effect.
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

// finalOf returns the layers that made rules and agents final, by id. It leaves out agents of the
// kind rules, because their findings are final if the rule is.
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

// FinalIn lists the layers that made an agent's finding by a rule final: the layer that made the
// rule final and, unless the agent's kind is rules, the layer that made the agent final. Both
// count: a layer that makes a rule final takes nothing away from a layer that made the agent final
// before.
func (c *Config) FinalIn(rule, agent string) []string {
	var layers []string
	for _, layer := range []string{c.finalRules[rule], c.finalAgents[agent]} {
		if layer != "" && !slices.Contains(layers, layer) {
			layers = append(layers, layer)
		}
	}
	return layers
}

// FinalLayers lists the layers that made the agent or any of its rules final.
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

// ThresholdsOf returns the thresholds for the reports that an agent reads. If a layer made the
// agent final, that layer's thresholds must be reached as well as the settings' own.
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

// AnyFinal reports whether one of the policies with these ids is final.
func (c *Config) AnyFinal(policies []string) bool {
	return slices.ContainsFunc(c.Policies, func(p Policy) bool { return p.Final && slices.Contains(policies, p.ID) })
}

// HeldAgents lists the agents that are final, or that a final policy or signal sends. Nothing that
// the repository says about its files makes them look at less.
func HeldAgents(c *Config) []string {
	var held []string
	for i := range c.Agents {
		if id := c.Agents[i].ID; c.finalAgents[id] != "" {
			held = append(held, id)
		}
	}
	for i := range c.Policies {
		if p := &c.Policies[i]; p.Final {
			held = append(held, p.Dispatch.Agents...)
		}
	}
	for i := range c.Signals {
		if s := &c.Signals[i]; s.Final {
			held = append(held, s.Agent)
		}
	}
	return held
}

// Floor returns the floor of a layer, or nil.
func (c *Config) Floor(layer string) *Floor {
	for i := range c.Floors {
		if c.Floors[i].Layer == layer {
			return &c.Floors[i]
		}
	}
	return nil
}

// modes lists the modes, the mildest first.
var modes = []string{ModeOff, ModeAdvisory, ModeEnforce}

// StricterMode returns the stricter of two modes.
func StricterMode(a, b string) string {
	if slices.Index(modes, b) > slices.Index(modes, a) {
		return b
	}
	return a
}
