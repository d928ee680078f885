package aggregate

import "slices"

// deduplicate merges findings with the same normalised title at the same
// place. Those that recommend opposing actions are kept apart: which of them is
// right is not for merging to decide. It sorts and sweeps, so that 10,000
// findings in one file cost n log n.
func (w *work) deduplicate() {
	var merged []*item
	for _, group := range grouped(w.findings, byTitle) {
		for _, same := range places(group) {
			w.clusters++
			for _, agreeing := range apart(same) {
				f := w.merge(agreeing)
				f.cluster = w.clusters
				merged = append(merged, f)
			}
		}
	}
	w.findings = merged
}

func byTitle(f *item) (string, bool) { return f.title.norm, true }

func byRule(f *item) (string, bool) { return f.RuleID, f.RuleID != "" }

// grouped puts findings of one path with the same key together, in the order
// of their first. Those that have no key are left out.
func grouped(findings []*item, key func(*item) (string, bool)) [][]*item {
	type group struct{ path, key string }
	at := make(map[group]int, len(findings))
	var out [][]*item
	for _, f := range findings {
		k, ok := key(f)
		if !ok {
			continue
		}
		g := group{f.Path, k}
		i, ok := at[g]
		if !ok {
			i = len(out)
			at[g] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// apart splits findings that say the same at one place by the sides they take,
// where some oppose others.
func apart(same []*item) [][]*item {
	if len(same) == 1 {
		return [][]*item{same}
	}
	if classes := bySides(same); opposedWithin(classes) {
		return classes
	}
	return [][]*item{same}
}

// bySides puts findings that take the same sides together, in the order of
// their first.
func bySides(same []*item) [][]*item {
	var out [][]*item
	for _, f := range same {
		i := slices.IndexFunc(out, func(class []*item) bool { return class[0].sides == f.sides })
		if i < 0 {
			i = len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

func opposedWithin(classes [][]*item) bool {
	all := noSides
	for _, class := range classes {
		all |= class[0].sides
	}
	return all.opposes(all)
}
