package policies

import (
	"math"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxTried is how many reports MayLoosen tries at most. If there are more, it says yes.
const maxTried = 200_000

// maxCompared is how many comparisons MayLoosen makes at most. If there are more, it says
// yes. Two lists of 50 conditions with 8 comparisons each may try maxTried reports.
const maxCompared = maxTried * 2 * 50 * 8

// MayLoosen reports whether the conditions above may decide more loosely about some report
// than those below. It tries every combination of values at and next to the numbers that
// the conditions compare with: no other values can make a difference, and no metric is
// negative. It says yes if there are too many combinations, if a condition does more than
// compare metrics with numbers, or if one can't be read.
func MayLoosen(below, above []GateCondition) bool {
	b, a := compileGate(below), compileGate(above)
	values := map[string][]float64{}
	comparisons := 0
	for _, c := range slices.Concat(b, a) {
		if c.when == nil {
			return true
		}
		constants, ok := c.when.Compared()
		if !ok {
			return true
		}
		for metric, list := range constants {
			comparisons += len(list)
			for _, n := range list {
				values[metric] = append(values[metric], math.Nextafter(n, math.Inf(-1)), n, math.Nextafter(n, math.Inf(1)))
			}
		}
	}
	var names []string
	n := 1
	for name, list := range values {
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(v float64) bool { return v < 0 })
		if len(list) == 0 {
			list = []float64{0} // compared with negative numbers only: all values are above
		}
		values[name] = list
		names = append(names, name)
		if n *= len(list); n > maxTried || n*comparisons > maxCompared {
			return true
		}
	}
	slices.Sort(names)
	return looser(b, a, names, values, map[string]float64{})
}

// looser tries all values of the named metrics, beside those of the metrics in m.
func looser(below, above gate, names []string, values map[string][]float64, m map[string]float64) bool {
	if len(names) == 0 {
		return above.rank(m) < below.rank(m)
	}
	return slices.ContainsFunc(values[names[0]], func(v float64) bool {
		m[names[0]] = v
		return looser(below, above, names[1:], values, m)
	})
}

func (g gate) rank(m map[string]float64) int {
	d, _ := g.decide(m)
	return max(d.Rank(), pipeline.DecisionPass.Rank())
}
