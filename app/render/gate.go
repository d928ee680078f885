package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/policies"
)

var metricName = regexp.MustCompile(`[a-z][a-z_]*`)

// metricNames returns the metrics that the gate's condition reads.
func metricNames(g *pipeline.Gate) []string {
	var names []string
	for _, name := range metricName.FindAllString(g.Condition, -1) {
		if _, ok := g.Metrics[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// metricsRead lists the metrics that the gate's condition read, with their values.
func metricsRead(g *pipeline.Gate, p pen) []safe {
	const maxMetrics = 6
	return first(metricNames(g), maxMetrics, func(name string) safe {
		value := strconv.FormatFloat(g.Metrics[name], 'f', -1, 64)
		return say("metric", struct{ Name, Value safe }{p.text(name, maxName), p.text(value, maxName)})
	})
}

// decidedBy names the gate condition that decided. It is empty for an incomplete
// review: the head of the comment says that the review is incomplete.
func (s sections) decidedBy() safe {
	if bySession(&s.r.Report) {
		return say("decided by the session", nil)
	}
	if s.r.Report.ByHand != nil {
		return say("decided by hand", nil)
	}
	g := &s.r.Report.Gate
	condition := strings.TrimSpace(g.Condition)
	if condition == "" || isIncomplete(&s.r.Report) {
		return ""
	}
	switch condition {
	case policies.NoCondition:
		return say("decided by none", nil)
	case aggregate.PersonDecides:
		return say("decided by a person", nil)
	}
	return say("decided by", struct {
		Condition safe
		Metrics   []safe
	}{s.p.code(condition, maxReason), metricsRead(g, s.p)})
}
