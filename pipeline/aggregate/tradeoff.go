package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// tradeOffPrefix begins the title of a trade-off. The title of one of its sides follows.
const tradeOffPrefix = "Trade-off: "

// tradeOff combines findings that contradict one another into one. It presents all sides and
// decides for none, and counts in the gate at least as much as the strictest of them.
func tradeOff(in *input, parts []*item) *item {
	f := merged(in, parts)
	f.parts = parts
	f.Title = tradeOffPrefix + strings.TrimPrefix(f.Title, tradeOffPrefix)
	f.title = in.titles.of(f.Title)
	f.Message = dispute(parts)
	f.WhyItMatters = "The reviewers want opposite things at one place, so that following one goes against another."
	f.Recommendation = "A person weighs the perspectives and decides."
	f.Action, f.AutofixClass, f.FindingType = pipeline.ActionNone, pipeline.AutofixPresent, pipeline.FindingError
	f.SuggestedFix, f.AutoClaim, f.Citation = "", "", ""
	for _, p := range parts {
		f.Perspectives = append(f.Perspectives, pipeline.Perspective{
			Agent: p.Agent, Model: p.Model, Action: direction(&p.Finding), Severity: p.Severity, Message: p.Message, Recommendation: p.Recommendation,
		})
	}
	f.addReason(fmt.Sprintf("combined %d findings that contradict one another", len(parts)))
	if clash(f.sides) && f.Severity.Rank() < pipeline.SeverityMajor.Rank() {
		f.Severity = pipeline.SeverityMajor
		f.addReason("raised to major: one side holds it to be impossible, another to be essential")
	}
	return f
}

// clash reports whether something is called both impossible and essential.
func clash(s sides) bool { return s&sideImpossible != 0 && s&sideEssential != 0 }

// The bounds of the quotes in a trade-off's message.
const (
	maxQuotedSides = 6
	maxQuoted      = 300 // characters of each
)

// dispute quotes each side.
func dispute(parts []*item) string {
	var b strings.Builder
	b.WriteString("Reviewers disagree. This is a trade-off, and no verdict on who is right:")
	for i, p := range parts {
		if i == maxQuotedSides {
			fmt.Fprintf(&b, "\nand %d more.", len(parts)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s %s: %s", p.makers(), stance(p), plaintext.Cut(plaintext.Line(p.Message), maxQuoted))
	}
	return b.String()
}

// makers names those who made a finding: agents, with the models that they ran on.
func (f *item) makers() string {
	names := map[string]bool{}
	for _, m := range f.each() {
		name := m.Agent
		if m.Model != "" {
			name += " (" + m.Model + ")"
		}
		names[name] = true
	}
	return strings.Join(sortedKeys(names), ", ")
}

// stance describes the sides that a finding takes.
func stance(f *item) string {
	var words []string
	for _, s := range f.sides.each() {
		switch s {
		case sideRemove:
			words = append(words, "would remove it")
		case sideKeep:
			if direction(&f.Finding) == pipeline.ActionAdd {
				words = append(words, "would add to it")
			} else {
				words = append(words, "would keep it")
			}
		case sideImpossible:
			words = append(words, "holds it to be impossible")
		case sideEssential:
			words = append(words, "holds it to be essential")
		}
	}
	if len(words) == 0 {
		return "takes no side"
	}
	return strings.Join(words, " and ")
}

// disputeGate is what a trade-off counts in the gate: as much as its strictest part. If something
// is proven to be impossible and proven to be essential, that counts as major.
func (in *input) disputeGate(f *item) (s pipeline.Severity, holds bool) {
	s = pipeline.SeverityInfo
	impossible, essential := false, false
	for _, p := range f.parts {
		of, held := in.gateOf(p)
		if holds = holds || held; of.Rank() > s.Rank() {
			s = of
		}
		if in.proven(p) {
			impossible = impossible || p.sides&sideImpossible != 0
			essential = essential || p.sides&sideEssential != 0
		}
	}
	if impossible && essential && s.Rank() < pipeline.SeverityMajor.Rank() {
		s = pipeline.SeverityMajor
	}
	return s, holds
}

// raiseCrowded raises a finding to major that calls something impossible or essential, if more
// findings oppose it than can be compared: one of them might have made it a clash.
func raiseCrowded(f *item) {
	if f.crowded && f.Severity.Rank() < pipeline.SeverityMajor.Rank() {
		f.Severity = pipeline.SeverityMajor
		f.addReason("raised to major: more findings oppose it than are compared with it")
	}
}

// disputedByModels reports whether different models take opposing sides of a trade-off.
func (f *item) disputedByModels() bool {
	for i, a := range f.parts {
		for _, b := range f.parts[:i] {
			if a.sides.opposes(b.sides) && twoModels(a, b) {
				return true
			}
		}
	}
	return false
}

func twoModels(a, b *item) bool {
	for _, x := range a.each() {
		if x.Model != "" && slices.ContainsFunc(b.each(), func(y *item) bool { return y.Model != "" && y.Model != x.Model }) {
			return true
		}
	}
	return false
}
