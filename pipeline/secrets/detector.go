package secrets

import (
	"fmt"
	"sync"

	gitleaks "github.com/zricethezav/gitleaks/v8/config"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// Detector finds and replaces secrets. It does not change after it is made, so any number of
// goroutines may use it.
type Detector struct {
	ids        []string // of all of gitleaks' rules, in its order
	rules      []*rule  // in the same order
	paths      []*rule  // those that look only at a file's path
	privateKey *rule
	allowed    []*gitleaks.Allowlist
	matcher    *literals.Matcher
	literals   []literal
}

// Default returns the detector with gitleaks' rules. The first call compiles them, once in a
// process.
var Default = sync.OnceValues(compile)

func compile() (*Detector, error) {
	cfg, err := defaultConfig()
	if err != nil {
		return nil, err
	}
	d := &Detector{ids: cfg.OrderedRules, allowed: cfg.Allowlists}
	values, err := withoutPaths(cfg.Allowlists)
	if err != nil {
		return nil, err
	}
	global := sync.OnceValue(func() []*allowList { return allowLists(values) })
	for _, id := range cfg.OrderedRules {
		r := newRule(cfg.Rules[id], global)
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

// withoutPaths returns the lists without their paths, which cost half of a search.
// [Detector.skips] checks the paths once for each file.
func withoutPaths(lists []*gitleaks.Allowlist) ([]*gitleaks.Allowlist, error) {
	var out []*gitleaks.Allowlist
	for _, a := range lists {
		if a.MatchCondition != gitleaks.AllowlistMatchOr || len(a.Regexes)+len(a.StopWords) == 0 {
			return nil, fmt.Errorf("read gitleaks' rules: the allow list %q has an unknown type", a.Description)
		}
		b := &gitleaks.Allowlist{Description: a.Description, RegexTarget: a.RegexTarget, Regexes: a.Regexes, StopWords: a.StopWords}
		if err := b.Validate(); err != nil {
			return nil, fmt.Errorf("read gitleaks' allow list %q: %w", a.Description, err)
		}
		out = append(out, b)
	}
	return out, nil
}

// skips reports whether gitleaks skips every file with this path.
func (d *Detector) skips(path string) bool {
	for _, a := range d.allowed {
		if a.PathAllowed(path) {
			return true
		}
	}
	return false
}
