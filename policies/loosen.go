package policies

import (
	"maps"
	"math"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/expression"
)

const (
	// maxText is how many bytes of conditions MayLoosen reads at most: two full lists of
	// conditions with 400 bytes each. Reading the 200,000 that the schemas allow would take
	// a second or two.
	maxText = 40_000
	// maxTried is how many reports MayLoosen tries at most.
	maxTried = 200_000
)

// MayLoosen reports whether the conditions above may decide more loosely about some report
// than those below. It tries every combination of values at and next to the numbers that
// the conditions compare with: no other values can make a difference, and no metric is
// negative. It says yes if a condition can't be read or does more than compare metrics with
// numbers, and if the search would take too long: if there are too many combinations or too
// long conditions, or if evaluating the conditions costs more than a budget.
func MayLoosen(below, above []GateCondition) bool {
	s := newSearch(below, above)
	return s == nil || s.looser(slices.Sorted(maps.Keys(s.values)), map[string]float64{})
}

// search looks for a report about which the conditions above decide more loosely than
// those below.
type search struct {
	below, above gate
	values       map[string][]float64 // to try, by metric
	budget       *expression.Budget
}

// newSearch returns nil if there is no answer, or if there is too much to try.
func newSearch(below, above []GateCondition) *search {
	text := 0
	for _, c := range slices.Concat(below, above) {
		if text += len(c.When); text > maxText {
			return nil
		}
	}
	s := &search{compileGate(below), compileGate(above), map[string][]float64{}, expression.NewBudget()}
	for _, c := range slices.Concat(s.below, s.above) {
		if c.when == nil {
			return nil
		}
		constants, ok := c.when.Compared()
		if !ok {
			return nil
		}
		for metric, list := range constants {
			for _, n := range list {
				s.values[metric] = append(s.values[metric], math.Nextafter(n, math.Inf(-1)), n, math.Nextafter(n, math.Inf(1)))
			}
		}
	}
	n := 1
	for name, list := range s.values {
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(v float64) bool { return v < 0 })
		if len(list) == 0 {
			list = []float64{0} // the metric is compared only with negative numbers, so all its values are above them
		}
		s.values[name] = list
		if n *= len(list); n > maxTried {
			return nil
		}
	}
	return s
}

// looser tries all values of the named metrics, beside those of the metrics in m. It says
// yes once the budget is spent.
func (s *search) looser(names []string, m map[string]float64) bool {
	if len(names) == 0 {
		return s.above.rank(m, s.budget) < s.below.rank(m, s.budget) || s.budget.Spent()
	}
	return slices.ContainsFunc(s.values[names[0]], func(v float64) bool {
		m[names[0]] = v
		return s.looser(names[1:], m)
	})
}

func (g gate) rank(m map[string]float64, budget *expression.Budget) int {
	d, _ := g.decide(m, budget)
	return max(d.Rank(), pipeline.DecisionPass.Rank())
}
