package secrets

import (
	gitleaks "github.com/zricethezav/gitleaks/v8/config"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// Detector finds and replaces secrets. It is never changed after NewDetector,
// so that any number of goroutines may use it.
type Detector struct {
	rules      []*rule // in gitleaks' order
	paths      []*rule // those that look at a file's path only
	privateKey *rule
	allowed    []*gitleaks.Allowlist
	matcher    *literals.Matcher
	literals   []literal
}

// NewDetector compiles gitleaks' rules.
func NewDetector() (*Detector, error) {
	cfg, err := defaultConfig()
	if err != nil {
		return nil, err
	}
	d := &Detector{allowed: cfg.Allowlists}
	for _, id := range cfg.OrderedRules {
		r := newRule(cfg.Rules[id], cfg.Allowlists)
		if r.regex == nil {
			d.paths = append(d.paths, r)
			continue
		}
		if id == rulePrivateKey {
			d.privateKey = r
		}
		d.rules = append(d.rules, r)
	}
	d.matcher, d.literals = index(d.rules)
	return d, nil
}

// passesOver reports whether gitleaks looks into no file of this path.
func (d *Detector) passesOver(path string) bool {
	for _, a := range d.allowed {
		if a.PathAllowed(path) {
			return true
		}
	}
	return false
}
