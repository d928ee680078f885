package policies

import (
	"math"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxTried is how many reports MayLoosen tries before it takes the answer to be yes.
const maxTried = 200_000

// MayLoosen reports whether there may be a report about which the conditions above
// decide more loosely than those below. It tries every combination of values at and
// around the numbers that the conditions compare with, which are all that can make a
// difference, also such as no report has. Where these are too many, or a condition
// can't be read, it says yes.
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

// looser tries the values of the metrics that are named beside those in m.
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
