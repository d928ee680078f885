package aggregate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// sortByContent sorts findings by their content alone.
func sortByContent(findings []*item) { slices.SortFunc(findings, byContent) }

func byContent(a, b *item) int {
	// Place, title and agent differ for nearly all findings. The rest is compared only if they
	// don't.
	if c := byPlace(&a.Finding, &b.Finding); c != 0 {
		return c
	}
	if c := cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Agent, b.Agent), strings.Compare(a.Model, b.Model)); c != 0 {
		return c
	}
	return byTheRest(a, b)
}

func byTheRest(a, b *item) int {
	return cmp.Or(
		cmp.Compare(a.RuleID, b.RuleID),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(b.Confidence, a.Confidence),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Category, b.Category),
		cmp.Compare(a.WhyItMatters, b.WhyItMatters), cmp.Compare(a.Recommendation, b.Recommendation),
		cmp.Compare(a.SuggestedFix, b.SuggestedFix), slices.Compare(a.Evidence, b.Evidence),
		cmp.Compare(a.Action, b.Action), cmp.Compare(a.AutofixClass, b.AutofixClass),
		cmp.Compare(a.AutoClaim, b.AutoClaim), cmp.Compare(a.Citation, b.Citation),
		cmp.Compare(a.FindingType, b.FindingType), compareBool(a.Blocking, b.Blocking), cmp.Compare(a.stage, b.stage),
	)
}

// byPlace is document order: path by bytes, then line, then section.
func byPlace(a, b *pipeline.Finding) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if c := cmp.Compare(a.StartLine, b.StartLine); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.EndLine, b.EndLine), bySection(a.Section, b.Section))
}

// bySection compares the names of sections. It compares numbers in them as numbers: 2 is before 10.
func bySection(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits is the number of digits at the start of a text.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sort sorts the findings for the report: by gate severity, errors before omissions, sure before
// unsure, then in document order. The fingerprint makes the order total.
func (w *work) sort() {
	slices.SortFunc(w.findings, func(a, b *item) int {
		if c := cmp.Compare(b.GateSeverity.Rank(), a.GateSeverity.Rank()); c != 0 {
			return c
		}
		if c := cmp.Compare(typeRank(a.FindingType), typeRank(b.FindingType)); c != 0 {
			return c
		}
		if c := cmp.Compare(b.Confidence, a.Confidence); c != 0 {
			return c
		}
		if c := cmp.Or(byPlace(&a.Finding, &b.Finding), cmp.Compare(a.ID, b.ID)); c != 0 {
			return c
		}
		// Two agents may have found the same by one rule and given it different titles.
		return byContent(a, b)
	})
}

func typeRank(t pipeline.FindingType) int {
	if t == pipeline.FindingOmission {
		return 1
	}
	return 0
}
