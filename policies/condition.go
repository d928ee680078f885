package policies

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The bounds of a condition.
const (
	maxConditionLength = 256 // bytes
	maxComparisons     = 8
)

// Condition is a parsed GateCondition.When: comparisons of which all must
// hold.
type Condition struct {
	text        string
	comparisons []comparison
}

type comparison struct {
	metric string
	op     string
	number float64
}

// String is the condition with its white space made regular.
func (c Condition) String() string { return c.text }

// Holds reports whether every comparison holds. A metric that is missing
// counts as 0.
func (c Condition) Holds(metrics map[string]float64) bool {
	for _, cmp := range c.comparisons {
		if !cmp.holds(metrics[cmp.metric]) {
			return false
		}
	}
	return len(c.comparisons) > 0
}

func (c comparison) holds(v float64) bool {
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

var comparisonForm = regexp.MustCompile(`^\s*([a-z_]+)\s*(>=|<=|==|!=|>|<)\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*$`)

// ParseCondition reads a condition such as "critical > 0" or
// "risk_score >= 75 && new_findings > 0". The metrics are those of [Metrics];
// numbers are plain decimals, never negative.
func ParseCondition(when string) (Condition, error) {
	if strings.TrimSpace(when) == "" {
		return Condition{}, errors.New(`condition is empty: write one such as "critical > 0"`)
	}
	if len(when) > maxConditionLength {
		return Condition{}, fmt.Errorf("condition is %d bytes long, at most %d are allowed", len(when), maxConditionLength)
	}
	parts := strings.Split(when, "&&")
	if len(parts) > maxComparisons {
		return Condition{}, fmt.Errorf("condition has %d comparisons, at most %d are allowed", len(parts), maxComparisons)
	}
	var c Condition
	var texts []string
	for _, p := range parts {
		cmp, err := parseComparison(p)
		if err != nil {
			return Condition{}, err
		}
		c.comparisons = append(c.comparisons, cmp)
		texts = append(texts, cmp.metric+" "+cmp.op+" "+strconv.FormatFloat(cmp.number, 'f', -1, 64))
	}
	c.text = strings.Join(texts, " && ")
	return c, nil
}

func parseComparison(text string) (comparison, error) {
	m := comparisonForm.FindStringSubmatch(text)
	if m == nil {
		return comparison{}, fmt.Errorf(`condition %q is not "metric operator number": write one such as "critical > 0", with the operators > >= < <= == !=, joined by &&`, strings.TrimSpace(text))
	}
	if !knownMetric(m[1]) {
		var names []string
		for _, k := range Metrics() {
			names = append(names, k.Name)
		}
		return comparison{}, fmt.Errorf("condition reads the metric %q, which does not exist: the metrics are %s", m[1], strings.Join(names, ", "))
	}
	n, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return comparison{}, fmt.Errorf("read the number %q: %w", m[3], err)
	}
	return comparison{metric: m[1], op: m[2], number: n}, nil
}

// NoCondition is what [Decide] answers for the condition where none held.
const NoCondition = "no condition held"

// Decide returns the decision of the first condition that holds and its text.
// Where none holds the decision is pass. A condition that cannot be read
// decides needs_fixes, since it might have been the one that blocks; config
// that was validated has none.
func Decide(conditions []GateCondition, metrics map[string]float64) (decision pipeline.Decision, condition string) {
	for _, gc := range conditions {
		c, err := ParseCondition(gc.When)
		if err != nil || gc.Decision.Rank() == 0 {
			return pipeline.DecisionNeedsFixes, fmt.Sprintf("condition %q cannot be read", gc.When)
		}
		if c.Holds(metrics) {
			return gc.Decision, c.String()
		}
	}
	return pipeline.DecisionPass, NoCondition
}
