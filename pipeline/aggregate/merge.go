package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Agreement of n distinct agents or models adds agreement x (n-1) to the
// confidence, up to mostAgreed.
const (
	agreement  = 0.05
	mostAgreed = 0.99
)

// merge makes one finding of several that say the same. What can't be united
// is the most confident finding's, to whose agent the finding belongs.
func merge(same []*item) *item {
	if len(same) == 1 {
		return same[0]
	}
	f := *slices.MinFunc(same, surer)
	spread(&f, same)
	sources := map[source]bool{}
	reviewers := map[string]bool{}
	fingerprints := map[string]bool{}
	seen := map[string]bool{}
	var evidence pipeline.List[string]
	for _, other := range same {
		sources[other.source()] = true
		reviewers[other.Agent] = true
		fingerprints[other.ID] = true
		if other.Severity.Rank() > f.Severity.Rank() {
			f.Severity = other.Severity
		}
		f.Blocking = f.Blocking || other.Blocking
		for _, e := range other.Evidence {
			if !seen[e] {
				seen[e] = true
				evidence = append(evidence, e)
			}
		}
		for _, r := range other.Reasons {
			if !slices.Contains(f.Reasons, r) {
				f.because(r)
			}
		}
	}
	f.Evidence = evidence
	f.Reviewers, f.Fingerprints = sortedKeys(reviewers), sortedKeys(fingerprints)
	f.because(fmt.Sprintf("merged %d findings of %s", len(same), strings.Join(f.Reviewers, ", ")))
	if n := len(sources); n > 1 {
		if c := math.Min(f.Confidence+agreement*float64(n-1), mostAgreed); c > f.Confidence {
			f.because(fmt.Sprintf("confidence raised from %.2f to %.2f: %d agree", f.Confidence, c, n))
			f.Confidence = c
		}
	}
	return &f
}

// surer orders by confidence, severity, agent, and then as they stand.
func surer(a, b *item) int {
	return cmp.Or(
		cmp.Compare(b.Confidence, a.Confidence),
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model),
	)
}

func sortedKeys(m map[string]bool) pipeline.List[string] {
	keys := make(pipeline.List[string], 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
