package model

import (
	"fmt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Risk weighs files by a config, so that those that can do most harm are shown
// first. It is never changed after NewRisk, so that any number of goroutines may
// use it.
type Risk struct {
	domains   map[string]int
	sensitive []sensitive
}

type sensitive struct {
	points int
	globs  *glob.Set
}

// NewRisk compiles the weights of a config's domains and sensitive paths.
func NewRisk(cfg *config.Config) (*Risk, error) {
	r := &Risk{domains: map[string]int{}}
	for _, m := range cfg.Domains {
		if m.Enabled {
			r.domains[m.Domain] = max(r.domains[m.Domain], m.Weight)
		}
	}
	for _, f := range cfg.Risk {
		if !f.Enabled || f.Factor != config.RiskSensitivePath {
			continue
		}
		set, err := glob.Compile(f.Globs)
		if err != nil {
			return nil, fmt.Errorf("compile risk factor %s: %w", f.ID, err)
		}
		r.sensitive = append(r.sensitive, sensitive{f.Points, set})
	}
	return r, nil
}

// of weighs the files of a change, by path: what its domains weigh, and its path.
func (r *Risk) of(c *pipeline.Classification, files []pipeline.File) map[string]int {
	weights := map[string]int{}
	if r == nil {
		return weights
	}
	if c != nil {
		for _, d := range c.Domains {
			for _, f := range d.Files {
				weights[f.Path] += r.domains[d.ID]
			}
		}
	}
	for i := range files {
		for _, s := range r.sensitive {
			if s.globs.Any(files[i].Path) {
				weights[files[i].Path] += s.points
			}
		}
	}
	return weights
}
