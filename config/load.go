package config

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/reviewgate/reviewgate/pipeline"
)

//go:embed review-*.json
var defaultFiles embed.FS

// Load merges the layers, lowest first, over the embedded defaults. A layer with a problem is left
// out as a whole, and the layers above it are merged over those below it. InForce.Layers has the
// layer with Used false. Its problems are returned, and InForce.Problems has them too. So the
// config is always valid.
//
// The config is shared and must not be changed.
func Load(layers ...Layer) (*Config, []pipeline.ConfigProblem) {
	s, inForce := layAll(defaults(), layers)
	return s.loaded(layers, inForce), inForce.Problems
}

// LoadOver is Load over other defaults than the embedded ones: another version of reviewgate has
// others, and a stored review needs those that it was made with. If this version can't read them,
// the config is nil and the problems say why.
func LoadOver(base Layer, layers ...Layer) (*Config, []pipeline.ConfigProblem) {
	base = base.normal()
	if sameFiles(base.Files, DefaultLayer().Files) {
		return Load(layers...)
	}
	s, p := lay(newStack(), base)
	if len(p.list) > 0 {
		return nil, p.ordered()
	}
	all, inForce := layAll(defaultStack{stack: s, layer: base.inForce(true)}, layers)
	c := all.loaded(layers, inForce)
	of := contentKey([]Layer{base})
	c.identify(sha256.Sum256(slices.Concat(c.Key[:], of[:])))
	return c, inForce.Problems
}

func sameFiles(a, b []File) bool {
	return slices.EqualFunc(a, b, func(x, y File) bool { return path.Base(x.Path) == path.Base(y.Path) && bytes.Equal(x.Text, y.Text) })
}

// laid is the result of merging layers, with the floors that some of them make: once with everything
// in evaluation switched off, and once with it enforced.
type laid struct {
	*stack
	floors, evaluated []Floor
}

// loaded returns the stack's config with the layers that it comes from.
func (s laid) loaded(layers []Layer, inForce pipeline.ConfigInForce) *Config {
	c := s.config()
	c.InForce, c.Floors = inForce, s.floors
	if c.Evaluation != nil {
		c.Evaluation.Floors = s.evaluated
	}
	c.fileNames = repositoryNames(inForce.Layers)
	c.DomainsForm = repositoryForm(FileDomains, layers, inForce.Layers[1:])
	c.CompositionForm = repositoryForm(FileComposition, layers, inForce.Layers[1:])
	c.identify(keyOf(layers, inForce.Layers[1:]))
	return c
}

// layAll merges the layers over defaults.
func layAll(base defaultStack, layers []Layer) (laid, pipeline.ConfigInForce) {
	inForce := pipeline.ConfigInForce{Layers: pipeline.List[pipeline.ConfigLayer]{base.layer}}
	current := laid{stack: base.stack}
	for _, l := range layers {
		l = l.normal()
		next, p := lay(current.stack, l)
		used := len(p.list) == 0
		if used {
			current.stack = next
			enforced := next.enforced()
			floor := enforced.floorOf(l.Name, (*stack).entries)
			current.floors = appended(current.floors, floor)
			if enforced != next {
				floor = next.floorOf(l.Name, (*stack).evaluation)
			}
			current.evaluated = appended(current.evaluated, floor)
		}
		inForce.Layers = append(inForce.Layers, l.inForce(used))
		inForce.Problems = append(inForce.Problems, p.ordered()...)
	}
	inForce.Version = version(inForce.Layers)
	return current, inForce
}

// appended adds a floor, unless it is nil.
func appended(floors []Floor, f *Floor) []Floor {
	if f == nil {
		return floors
	}
	return append(floors, *f)
}

// DefaultLayer returns the embedded defaults. Their prompts have the same form of name as those of
// other layers.
func DefaultLayer() Layer {
	l := Layer{Name: LayerDefaults, Source: "embedded"}
	for _, name := range FileNames() {
		text, err := defaultFiles.ReadFile(name)
		if err != nil {
			panic(fmt.Errorf("read the embedded defaults: %w", err))
		}
		l.Files = append(l.Files, File{Path: name, Text: text})
	}
	for _, name := range PromptNames() {
		text, err := DefaultPrompt(name)
		if err != nil {
			panic(err)
		}
		l.Files = append(l.Files, File{Path: promptPath(name), Text: []byte(text)})
	}
	return l.normal()
}

type defaultStack struct {
	stack *stack
	layer pipeline.ConfigLayer
}

// defaults reads the embedded defaults once. A binary with invalid defaults is broken.
// TestDefaultsAreValid checks them against their schemas and compiles their expressions, so the
// program need not do that at each start.
var defaults = sync.OnceValue(func() defaultStack {
	l := DefaultLayer()
	s, p := layTrusted(newStack(), l)
	if len(p.list) > 0 {
		var lines []error
		for _, x := range p.ordered() {
			lines = append(lines, errors.New(FormatProblem(x)))
		}
		panic(fmt.Errorf("read the embedded defaults: %w", errors.Join(lines...)))
	}
	return defaultStack{stack: s, layer: l.inForce(true)}
})

// config returns the config in force. Its Evaluation has what is in evaluation.
func (s *stack) config() *Config {
	enforced := s.enforced()
	c := enforced.entries()
	if enforced != s {
		c.Evaluation = s.evaluation()
	}
	return c
}

// entries returns the config of a stack. Entries that are switched off are left out, and so are
// entries that need an agent that is off. Agents that are off stay, so that a manifest can say why
// each does not run.
func (s *stack) entries() *Config {
	c := &Config{
		Settings: s.decoded.withReviewers(), modeLayer: layerOf(s.settings.Get("mode")), layers: map[string]map[string]string{},
		prompts: s.prompts, heldBy: s.heldBy(), wordedBy: map[string]string{}, ruledBy: map[string]string{}, modes: s.modesOf(),
		unused: map[string]bool{}, places: s.places(),
	}
	c.finalRules, c.finalAgents = s.finalOf()
	c.weakened = s.weakened
	for file, l := range s.lists {
		c.layers[file] = make(map[string]string, len(l.entries))
		for _, e := range l.entries {
			c.layers[file][e.id] = e.layer
		}
	}
	for _, e := range s.lists[FileRules].entries {
		c.wordedBy[e.id] = slices.MaxFunc([]string{layerOf(e.node.Get("name")), layerOf(e.node.Get("detection"))}, func(a, b string) int { return LayerRank(a) - LayerRank(b) })
	}
	off, kinds := s.off(), s.kinds()
	for _, e := range s.lists[FileAgents].entries {
		a, ok := e.value.(*Agent)
		if !ok {
			continue
		}
		c.Agents = append(c.Agents, *a)
		c.unused[a.ID] = !a.Enabled && c.modes[FileAgents][a.ID] == "" && layerOf(e.node.Get("enabled")) == LayerDefaults
	}
	for _, r := range all[*Rule](s.lists[FileRules]) {
		switch {
		case !r.Enabled || off[r.Agent]:
		case r.Profile == ProfileStrict && c.Settings.Profile != ProfileStrict && !r.Final:
			c.Strict = append(c.Strict, *r)
		default:
			c.Rules = append(c.Rules, *r)
		}
	}
	for _, p := range all[*Policy](s.lists[FileComposition]) {
		policy := *p
		policy.Dispatch.Agents = slices.DeleteFunc(slices.Clone(p.Dispatch.Agents), func(id string) bool { return off[id] || kinds[id] == "" })
		if p.Enabled && len(policy.Dispatch.Agents) > 0 {
			c.Policies = append(c.Policies, policy)
		}
	}
	for _, e := range s.lists[FileDomains].entries {
		if _, is := e.value.(*ServiceMapping); is {
			c.ruledBy[e.id] = layerOf(e.node.Get("rules"))
		}
		c.addItem(e.value, off)
	}
	return c
}

func (c *Config) addItem(item any, off map[string]bool) {
	switch v := item.(type) {
	case *DomainMapping:
		if v.Enabled {
			c.Domains = append(c.Domains, *v)
		}
	case *ServiceMapping:
		if v.Enabled {
			c.Services = append(c.Services, *v)
		}
	case *RiskFactor:
		if v.Enabled {
			c.Risk = append(c.Risk, *v)
		}
	case *Signal:
		if v.Enabled && !off[v.Agent] {
			c.Signals = append(c.Signals, *v)
		}
	}
}
