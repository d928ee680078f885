package aggregate

// deduplicate merges findings about the same problem. Findings that recommend opposing actions
// stay apart: merging must not decide which of them is right.
func (w *work) deduplicate() {
	all := grouped(w.findings, func(i int) int { return w.findings[i].class })
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

// grouped groups findings by key, in the order of each group's first finding. key gets the index of
// a finding.
func grouped[K comparable](findings []*item, key func(int) K) [][]*item {
	if len(findings) == 1 {
		return [][]*item{findings}
	}
	at := make(map[K]int, len(findings))
	var out [][]*item
	for k, f := range findings {
		id := key(k)
		i, ok := at[id]
		if !ok {
			i = len(out)
			at[id] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// byTitle groups findings of one path by title.
func byTitle(findings []*item) [][]*item {
	return grouped(findings, func(i int) [2]string { return [2]string{findings[i].Path, findings[i].title.norm} })
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

// bySides groups findings by the sides that they take.
func bySides(same []*item) [][]*item {
	return grouped(same, func(i int) sides { return same[i].sides })
}

func opposedWithin(classes [][]*item) bool {
	all := noSides
	for _, class := range classes {
		all |= class[0].sides
	}
	return all.opposes(all)
}
