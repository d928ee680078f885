package aggregate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// deduplicate merges findings with the same normalised title at the same
// place. It sorts and sweeps, so that 10,000 findings in one file cost
// n log n.
func (w *work) deduplicate() {
	type group struct{ title, path string }
	groups := map[group][]*pipeline.Finding{}
	var order []group
	titles := map[string]string{} // many findings share a rule's title
	for _, f := range w.findings {
		title, ok := titles[f.Title]
		if !ok {
			title = normalised(f.Title)
			titles[f.Title] = title
		}
		g := group{title, f.Path}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], f)
	}
	var merged []*pipeline.Finding
	for _, g := range order {
		for _, same := range places(groups[g]) {
			for _, agreeing := range apart(same) {
				merged = append(merged, merge(agreeing))
			}
		}
	}
	w.findings = merged
}

// places splits findings of one title and path into those at the same place:
// the same section, or line ranges that overlap or are adjacent. Sameness is
// transitive.
func places(group []*pipeline.Finding) [][]*pipeline.Finding {
	sets := newSets(len(group))
	bySection := map[string]int{}
	byLine := make([]int, 0, len(group))
	for k, f := range group {
		if s := normalised(f.Section); s != "" {
			if first, ok := bySection[s]; ok {
				sets.join(first, k)
			} else {
				bySection[s] = k
			}
		}
		if f.Section == "" || f.StartLine > 0 {
			byLine = append(byLine, k)
		}
	}
	slices.SortStableFunc(byLine, func(a, b int) int {
		return cmp.Compare(group[a].StartLine, group[b].StartLine)
	})
	end, last := -1, -1
	for _, k := range byLine {
		f := group[k]
		// 0 is the whole file, which is no line's neighbour.
		if last >= 0 && f.StartLine <= end+1 && (f.StartLine == 0) == (end == 0) {
			sets.join(last, k)
			end = max(end, f.EndLine)
		} else {
			end = f.EndLine
		}
		last = k
	}
	return sets.split(group)
}

// apart splits findings at one place by what they recommend: those that would
// remove stand apart from those that would keep or add.
func apart(same []*pipeline.Finding) [][]*pipeline.Finding {
	var remove, other []*pipeline.Finding
	opposed := false
	for _, f := range same {
		switch direction(f) {
		case pipeline.ActionRemove:
			remove = append(remove, f)
		case pipeline.ActionKeep, pipeline.ActionAdd:
			opposed = true
			other = append(other, f)
		default:
			other = append(other, f)
		}
	}
	if !opposed || len(remove) == 0 {
		return [][]*pipeline.Finding{same}
	}
	return [][]*pipeline.Finding{remove, other}
}

// direction is what a finding recommends: its action, else the leading verb of
// its recommendation.
func direction(f *pipeline.Finding) pipeline.Action {
	if f.Action != pipeline.ActionNone && f.Action != "" {
		return f.Action
	}
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(f.Recommendation)), " ")
	switch strings.Trim(first, ".,;:!\"'`") {
	case "remove", "delete", "drop", "cut":
		return pipeline.ActionRemove
	case "keep", "retain", "preserve":
		return pipeline.ActionKeep
	case "add", "introduce", "insert":
		return pipeline.ActionAdd
	}
	return pipeline.ActionNone
}

// Agreement of n distinct agents or models adds agreement x (n-1) to the
// confidence, up to mostAgreed.
const (
	agreement  = 0.05
	mostAgreed = 0.99
)

// merge makes one finding of several that say the same. What can't be united
// is the most confident finding's, to whose agent the finding belongs.
func merge(same []*pipeline.Finding) *pipeline.Finding {
	if len(same) == 1 {
		return same[0]
	}
	f := *slices.MinFunc(same, surer)
	spread(&f, same)
	sources := map[source]bool{}
	reviewers := map[string]bool{}
	seen := map[string]bool{}
	var evidence pipeline.List[string]
	for _, other := range same {
		sources[sourceOf(other)] = true
		reviewers[other.Agent] = true
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
				because(&f, r)
			}
		}
	}
	f.Evidence = evidence
	f.Reviewers = sortedKeys(reviewers)
	because(&f, fmt.Sprintf("merged %d findings of %s", len(same), strings.Join(f.Reviewers, ", ")))
	if n := len(sources); n > 1 {
		if c := math.Min(f.Confidence+agreement*float64(n-1), mostAgreed); c > f.Confidence {
			because(&f, fmt.Sprintf("confidence raised from %.2f to %.2f: %d agree", f.Confidence, c, n))
			f.Confidence = c
		}
	}
	return &f
}

// surer orders by confidence, severity, agent, and then as they stand.
func surer(a, b *pipeline.Finding) int {
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

// route takes the auto class from findings that have no fix to apply. What
// counts in the gate is the severity.
func (w *work) route() {
	for _, f := range w.findings {
		if f.AutofixClass == pipeline.AutofixAuto && f.SuggestedFix == "" {
			f.AutofixClass = pipeline.AutofixPresent
			because(f, "not applied by itself: there is no suggested fix")
		}
		f.GateSeverity = f.Severity
	}
}

// sets are disjoint sets of the numbers 0 to n-1.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) root(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) {
	a, b = s.root(a), s.root(b)
	s[max(a, b)] = min(a, b)
}

// split returns the members of each set, in the order of their first.
func (s sets) split(members []*pipeline.Finding) [][]*pipeline.Finding {
	at := make(map[int]int, len(members))
	var out [][]*pipeline.Finding
	for k, m := range members {
		r := s.root(k)
		i, ok := at[r]
		if !ok {
			i = len(out)
			at[r] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], m)
	}
	return out
}
