package policies

import (
	"math"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxTried is how many reports MayLoosen tries at most. If there are more, it says yes.
const maxTried = 200_000

// MayLoosen reports whether the conditions above may decide more loosely about some report
// than those below. It tries every combination of values at and next to the numbers that
// the conditions compare with: no other values can make a difference, and no condition
// compares with a negative one. It says yes if there are too many combinations, or if a
// condition can't be read.
func MayLoosen(below, above []GateCondition) bool {
	values := map[string][]float64{}
	for _, gc := range slices.Concat(below, above) {
		c, err := ParseCondition(gc.When)
		if err != nil {
			return true
		}
		for _, x := range c.comparisons {
			values[x.metric] = append(values[x.metric], math.Nextafter(x.number, -1), x.number, math.Nextafter(x.number, math.Inf(1)))
		}
	}
	var names []string
	n := 1
	for name, list := range values {
		slices.Sort(list)
		values[name] = slices.DeleteFunc(slices.Compact(list), func(v float64) bool { return v < 0 })
		names = append(names, name)
		if n *= len(values[name]); n > maxTried {
			return true
		}
	}
	slices.Sort(names)
	return looser(below, above, names, values, map[string]float64{})
}

// looser tries all values of the named metrics, beside those of the metrics in m.
func looser(below, above []GateCondition, names []string, values map[string][]float64, m map[string]float64) bool {
	if len(names) == 0 {
		return rankOf(above, m) < rankOf(below, m)
	}
	return slices.ContainsFunc(values[names[0]], func(v float64) bool {
		m[names[0]] = v
		return looser(below, above, names[1:], values, m)
	})
}

func rankOf(conditions []GateCondition, m map[string]float64) int {
	d, _ := Decide(conditions, m)
	return max(d.Rank(), pipeline.DecisionPass.Rank())
}
