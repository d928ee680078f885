package rules_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
)

// These are the categories of the build reviewer's findings, and the dimensions that the design
// auditor grades. Three failed dimensions weigh more than one, so a new dimension must be added on
// purpose.
var (
	buildCategories = []string{
		"correctness", "duplication", "error-handling", "hard-coded-values", "leftovers", "type-safety",
	}
	designDimensions = []string{
		"colour", "design-tokens", "feedback", "focus", "forms", "images", "internationalisation", "keyboard", "layout",
		"motion", "responsiveness", "semantics", "states", "touch-targets", "typography",
	}
)

func TestCategoriesOfShippedRules(t *testing.T) {
	all, checked := map[string]map[string]bool{}, map[string]map[string]bool{}
	note := func(m map[string]map[string]bool, r config.Rule) {
		if m[r.Agent] == nil {
			m[r.Agent] = map[string]bool{}
		}
		m[r.Agent][r.Category] = true
	}
	cfg, _ := config.Load()
	for _, r := range slices.Concat(cfg.Rules, cfg.Strict) {
		note(all, r)
		if r.Match != nil {
			note(checked, r)
		}
	}
	for agent, want := range map[string][]string{"build-reviewer": buildCategories, "design-auditor": designDimensions} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(all[agent]))); diff != "" {
			t.Errorf("categories of %s (-want +got):\n%s", agent, diff)
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(checked[agent]))); diff != "" {
			t.Errorf("categories of %s with a machine-checkable rule (-want +got):\n%s", agent, diff)
		}
	}
}
