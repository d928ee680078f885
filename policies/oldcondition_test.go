package policies

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// Before conditions were CEL, they had their own language: comparisons of a metric with a decimal
// number, joined by &&. This is how it was read and evaluated. Conditions in that form keep their
// meaning.

type oldComparison struct {
	metric, op string
	number     float64
}

var oldForm = regexp.MustCompile(`^\s*([a-z_]+)\s*(>=|<=|==|!=|>|<)\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*$`)

func readOld(t *rapid.T, when string) (list []oldComparison) {
	for part := range strings.SplitSeq(when, "&&") {
		m := oldForm.FindStringSubmatch(part)
		if m == nil {
			t.Fatalf("%q does not have the old form", when)
		}
		n, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, oldComparison{m[1], m[2], n})
	}
	return list
}

func oldHolds(list []oldComparison, metrics map[string]float64) bool {
	for _, c := range list {
		if !c.holds(metrics[c.metric]) {
			return false
		}
	}
	return len(list) > 0
}

func (c oldComparison) holds(v float64) bool {
	switch c.op {
	case ">":
		return v > c.number
	case ">=":
		return v >= c.number
	case "<":
		return v < c.number
	case "<=":
		return v <= c.number
	case "==":
		return v == c.number
	case "!=":
		return v != c.number
	}
	return false
}

// drawOld draws a condition in the old form.
func drawOld(t *rapid.T) string {
	var names []string
	for _, m := range Metrics() {
		names = append(names, m.Name)
	}
	space := rapid.StringMatching(`[ \t\n\f\r]{0,2}`)
	comparison := rapid.Custom(func(t *rapid.T) string {
		number := rapid.OneOf(rapid.SampledFrom([]string{"0", "1", "2", "00", "007", "0.5", "0.50", "1.0", "999999999.999999999"}), rapid.StringMatching(`[0-9]{1,9}(\.[0-9]{1,9})?`)).Draw(t, "number")
		return space.Draw(t, "before") + rapid.SampledFrom(names).Draw(t, "metric") + space.Draw(t, "between") +
			rapid.SampledFrom([]string{">", ">=", "<", "<=", "==", "!="}).Draw(t, "op") + space.Draw(t, "between") + number + space.Draw(t, "after")
	})
	return strings.Join(rapid.SliceOfN(comparison, 1, 8).Draw(t, "comparisons"), "&&")
}

func TestOldConditionsKeepTheirMeaning(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		when := drawOld(t)
		c, err := CompileCondition(when)
		if err != nil {
			t.Fatalf("%q: %v", when, err)
		}
		list := readOld(t, when)
		for range 20 {
			metrics := drawMetrics(t, list)
			want := oldHolds(list, metrics)
			if got, err := c.Holds(metrics, expression.NewBudget()); err != nil || got != want {
				t.Fatalf("%q with %v: %v, %v, but in the old language %v", when, metrics, got, err, want)
			}
		}
		if _, ok := c.Compared(); !ok {
			t.Fatalf("%q can't be compared with other conditions", when)
		}
	})
}

// drawMetrics draws values of some metrics, many of them at a boundary of a comparison.
func drawMetrics(t *rapid.T, list []oldComparison) map[string]float64 {
	metrics := map[string]float64{}
	for _, m := range Metrics() {
		near := []float64{0, 1, 0.5, 1e300, -1, math.Inf(1), math.SmallestNonzeroFloat64}
		for _, o := range list {
			if o.metric == m.Name {
				near = slices.Concat(near, []float64{o.number, o.number, math.Nextafter(o.number, -1), math.Nextafter(o.number, math.Inf(1))})
			}
		}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // the metric is missing
		case 1:
			metrics[m.Name] = rapid.Float64().Draw(t, m.Name)
		default:
			metrics[m.Name] = rapid.SampledFrom(near).Draw(t, m.Name)
		}
	}
	return metrics
}
