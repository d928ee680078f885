package aggregate

import "slices"

// deduplicate merges findings about the same problem. Findings that recommend opposing actions
// stay apart: merging must not decide which of them is right.
func (w *work) deduplicate() {
	classes := map[int]int{} // class to index in the result
	var all [][]*item
	for _, f := range w.findings {
		i, ok := classes[f.class]
		if !ok {
			i = len(all)
			classes[f.class] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], f)
	}
	w.findings = nil
	for _, same := range all {
		w.clusters++
		for _, agreeing := range apart(same) {
			f := merge(w.in, agreeing)
			f.cluster = w.clusters
			w.findings = append(w.findings, f)
		}
	}
}

func byTitle(f *item) string { return f.title.norm }

// grouped groups findings of one path by key, in the order of each group's first finding.
func grouped(findings []*item, key func(*item) string) [][]*item {
	type group struct{ path, key string }
	at := make(map[group]int, len(findings))
	var out [][]*item
	for _, f := range findings {
		g := group{f.Path, key(f)}
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

// apart splits findings about the same problem at one place by the sides that they take, if some
// oppose others.
func apart(same []*item) [][]*item {
	if len(same) == 1 {
		return [][]*item{same}
	}
	if classes := bySides(same); opposedWithin(classes) {
		return classes
	}
	return [][]*item{same}
}

// bySides groups findings by the sides that they take, in the order of each group's first
// finding.
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
