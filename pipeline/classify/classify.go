package classify

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Classifier classifies changes with one config. It does not change after New, so any number of
// goroutines may use it.
type Classifier struct {
	domains  owned[config.DomainMapping]
	services owned[config.ServiceMapping]
	kinds    kinds
	risk     []riskFactor
}

// owned is a compiled list of globs with the entry that each belongs to.
type owned[T any] struct {
	set   *glob.Set
	globs []string
	owner []T
}

func addGlobs[T any](o *owned[T], entry T, globs []string) {
	for _, g := range globs {
		o.globs = append(o.globs, g)
		o.owner = append(o.owner, entry)
	}
}

// New compiles the enabled mappings and risk factors.
func New(cfg *config.Config) (*Classifier, error) {
	c := &Classifier{}
	for _, m := range cfg.Domains {
		if m.Enabled {
			addGlobs(&c.domains, m, m.Globs)
		}
	}
	for _, m := range cfg.Services {
		if m.Enabled {
			addGlobs(&c.services, m, m.Globs)
		}
	}
	var err error
	if c.domains.set, err = glob.Compile(c.domains.globs); err != nil {
		return nil, fmt.Errorf("compile domain mappings: %w", err)
	}
	if c.services.set, err = glob.Compile(c.services.globs); err != nil {
		return nil, fmt.Errorf("compile service mappings: %w", err)
	}
	if c.kinds, err = compileKinds(); err != nil {
		return nil, err
	}
	if c.risk, err = compileRisk(cfg.Risk); err != nil {
		return nil, err
	}
	return c, nil
}

// Classify returns what a change touches, its type, its size and its risk.
func (c *Classifier) Classify(facts *pipeline.PRFacts) pipeline.Classification {
	var out pipeline.Classification
	w := c.mapFiles(facts, &out)
	s := c.survey(facts)
	out.Type, out.TypeSource = changeType(facts, s)
	out.Scope = scope(facts, len(out.Domains))
	out.Risk = c.score(facts, s, &out, w)
	return out
}

// weighed are the weights of the touched domains. A domain has the greatest weight of its matching
// mappings.
type weighed struct {
	weights map[string]int
	ledger  ledger
}

// mapFiles sets domains, unclassified files and services.
func (c *Classifier) mapFiles(facts *pipeline.PRFacts, out *pipeline.Classification) weighed {
	domains := map[string]*pipeline.Domain{}
	services := map[string]*pipeline.Service{}
	w := weighed{map[string]int{}, ledger{}}
	var covering []func() // run once all weights are known
	for i := range facts.Files {
		path := facts.Files[i].Path
		hits := c.domains.set.Match(path)
		if len(hits) == 0 {
			out.Unclassified = append(out.Unclassified, path)
		}
		for _, h := range hits {
			m := &c.domains.owner[h]
			d := domains[m.Domain]
			if d == nil {
				d = &pipeline.Domain{ID: m.Domain}
				domains[m.Domain] = d
			}
			addMapping(d, path, c.domains.globs[h])
			w.weights[m.Domain] = max(w.weights[m.Domain], m.Weight)
			if m.Covers != "" {
				covering = append(covering, func() { w.ledger.put(path, payer{domain: m.Domain}, w.weights[m.Domain], m.Covers) })
			}
		}
		for _, h := range c.services.set.Match(path) {
			id := c.services.owner[h].Service
			s := services[id]
			if s == nil {
				s = &pipeline.Service{ID: id}
				services[id] = s
			}
			if n := len(s.Files); n == 0 || s.Files[n-1] != path {
				s.Files = append(s.Files, path)
			}
		}
	}
	for _, id := range sortedKeys(domains) {
		out.Domains = append(out.Domains, *domains[id])
	}
	for _, id := range sortedKeys(services) {
		out.Services = append(out.Services, *services[id])
	}
	for _, put := range covering {
		put()
	}
	return w
}

// addMapping records that glob put path into d. Files come in order of path, so a file's mappings
// are adjacent.
func addMapping(d *pipeline.Domain, path, glob string) {
	if n := len(d.Files); n == 0 || d.Files[n-1].Path != path {
		d.Files = append(d.Files, pipeline.DomainFile{Path: path})
	}
	f := &d.Files[len(d.Files)-1]
	at, found := slices.BinarySearch(f.Mappings, glob)
	if !found {
		f.Mappings = slices.Insert(f.Mappings, at, glob)
	}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func scope(facts *pipeline.PRFacts, domains int) pipeline.Scope {
	lines := 0
	for i := range facts.Files {
		if f := &facts.Files[i]; !f.Generated && !f.Vendored {
			lines += f.ChangedLines()
		}
	}
	s := pipeline.Scope{Size: size(lines), ChangedLines: lines, Breadth: "several"}
	switch domains {
	case 0:
		s.Breadth = "none"
	case 1:
		s.Breadth = "single"
	}
	return s
}

func size(lines int) pipeline.Size {
	switch {
	case lines <= 10:
		return pipeline.SizeXS
	case lines <= 50:
		return pipeline.SizeS
	case lines <= 250:
		return pipeline.SizeM
	case lines <= 1000:
		return pipeline.SizeL
	}
	return pipeline.SizeXL
}
