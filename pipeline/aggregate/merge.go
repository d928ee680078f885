package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// Agreement of n distinct agents or models adds agreement x (n-1) to the confidence, up to
// mostAgreed.
const (
	agreement  = 0.05
	mostAgreed = 0.99
)

// merge makes one finding of several about the same problem.
func merge(in *input, same []*item) *item {
	if len(same) == 1 {
		return same[0]
	}
	f := merged(in, same)
	spread(f, same)
	f.addReason(fmt.Sprintf("merged %d findings of %s", len(same), strings.Join(f.Reviewers, ", ")))
	sources := map[source]bool{}
	for _, other := range same {
		sources[other.source()] = true
	}
	if n := len(sources); n > 1 {
		if c := math.Min(f.Confidence+agreement*float64(n-1), mostAgreed); c > f.Confidence {
			f.addReason(fmt.Sprintf("confidence raised from %.2f to %.2f: %d agree", f.Confidence, c, n))
			f.Confidence = rounded(c)
		}
	}
	return f
}

// merged combines several findings. What can't be combined comes from the leading finding, and so
// does the agent. What the leading finding leaves empty comes from the next.
func merged(in *input, several []*item) *item {
	ordered := slices.SortedStableFunc(slices.Values(several), in.leading)
	f := *ordered[0]
	for _, next := range ordered[1:] {
		f.fill(next)
	}
	f.members = nil
	reviewers := map[string]bool{}
	fingerprints := map[string]string{} // the surroundings of each
	seen := map[string]bool{}
	reasons := map[pipeline.Reason]bool{}
	var evidence pipeline.List[string]
	var why pipeline.List[pipeline.Reason]
	for _, other := range append([]*item{&f}, several...) {
		why = appendNew(why, other.Reasons, reasons)
	}
	if id := knownID(ordered); id != "" {
		f.ID = id
	}
	for _, other := range several {
		f.members = append(f.members, other.each()...)
		for _, r := range other.Reviewers {
			reviewers[r] = true
		}
		for i, id := range other.Fingerprints {
			fingerprints[id] = other.Surroundings[i]
		}
		if other.Severity.Rank() > f.Severity.Rank() {
			f.Severity = other.Severity
		}
		f.Blocking = f.Blocking || other.Blocking
		f.sides |= other.sides
		f.proof = together(f.proof, other.proof)
		evidence = appendNew(evidence, other.Evidence, seen)
	}
	f.Evidence, f.Reasons = evidence, why
	f.Reviewers, f.Fingerprints = sortedKeys(reviewers), sortedKeys(fingerprints)
	f.Surroundings = nil
	for _, id := range f.Fingerprints {
		f.Surroundings = append(f.Surroundings, fingerprints[id])
	}
	return &f
}

// knownID is the id that one of the findings has from an earlier report, or "".
func knownID(findings []*item) string {
	for _, f := range findings {
		if f.keepsID {
			return f.ID
		}
	}
	return ""
}

// fill fills in what a finding leaves empty from another about the same problem. A fix brings its
// lines and its claims with it.
func (f *item) fill(from *item) {
	f.RuleID = or(f.RuleID, from.RuleID)
	f.Category = or(f.Category, from.Category)
	f.WhyItMatters = or(f.WhyItMatters, from.WhyItMatters)
	f.Recommendation = or(f.Recommendation, from.Recommendation)
	if f.Action == pipeline.ActionNone {
		f.Action = from.Action
	}
	if f.SuggestedFix == "" && from.SuggestedFix != "" {
		f.StartLine, f.EndLine = from.StartLine, from.EndLine
		f.SuggestedFix, f.AutofixClass, f.AutoClaim, f.Citation = from.SuggestedFix, from.AutofixClass, from.AutoClaim, from.Citation
	}
}

// appendNew appends the texts that are not in seen.
func appendNew[T comparable](to, texts pipeline.List[T], seen map[T]bool) pipeline.List[T] {
	for _, t := range texts {
		if !seen[t] {
			seen[t] = true
			to = append(to, t)
		}
	}
	return to
}

// together is the proof of findings about the same problem. They have already proven one another,
// so nothing is added up.
func together(a, b models.Proof) models.Proof {
	return models.Proof{Models: max(a.Models, b.Models), Others: a.Others || b.Others, Grounded: a.Grounded || b.Grounded, Accepted: a.Accepted || b.Accepted}
}

// rounded removes the noise of binary fractions from a computed confidence.
func rounded(c float64) float64 { return math.Round(c*1e6) / 1e6 }

// leading orders final findings first, so that a merged finding keeps the final rule. Findings that
// no model made come next, so that a model does not reword what is known without it, and those that
// name a line before those about a whole file. The rest is ordered as by surer.
func (in *input) leading(a, b *item) int {
	return cmp.Or(compareBool(!in.final(a), !in.final(b)), compareBool(a.Model != "", b.Model != ""),
		compareBool(a.StartLine == 0, b.StartLine == 0), surer(a, b))
}

// surer orders by confidence, severity and agent, and then by content.
func surer(a, b *item) int {
	return cmp.Or(
		cmp.Compare(b.Confidence, a.Confidence),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model),
	)
}

func sortedKeys[T any](m map[string]T) pipeline.List[string] {
	keys := make(pipeline.List[string], 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
