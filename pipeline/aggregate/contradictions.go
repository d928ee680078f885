package aggregate

// contradictions makes one finding of those that contradict one another: of
// different agents or models, at the same place, with titles that are equal or
// share half of their words, and on opposing sides. What deduplicate kept apart
// stays together: where one of it is part of a dispute, all of it is.
func (w *work) contradictions() {
	d := newDisputes(w.clusters + 1)
	d.joinApart(w.findings)
	newOpponents(w).join(d)
	groups := map[int][]*item{}
	var roots []int
	kept := w.findings[:0:0]
	for _, f := range w.findings {
		if !d.disputed[f.cluster] {
			w.raiseCrowded(f)
			kept = append(kept, f)
			continue
		}
		root := d.root(f.cluster)
		if groups[root] == nil {
			roots = append(roots, root)
		}
		groups[root] = append(groups[root], f)
	}
	for _, root := range roots {
		kept = append(kept, w.tradeOff(groups[root]))
	}
	w.findings = kept
}

// disputes are the clusters of findings that contradict one another.
type disputes struct {
	sets
	disputed []bool
}

func newDisputes(clusters int) *disputes { return &disputes{newSets(clusters), make([]bool, clusters)} }

func (d *disputes) between(a, b *item) {
	d.join(a.cluster, b.cluster)
	d.disputed[a.cluster], d.disputed[b.cluster] = true, true
}

// known reports whether two findings are in one dispute already.
func (d *disputes) known(a, b *item) bool {
	return d.disputed[a.cluster] && d.root(a.cluster) == d.root(b.cluster)
}

// joinApart joins what deduplicate kept apart, where different reviewers stand
// on the opposing sides.
func (d *disputes) joinApart(findings []*item) {
	byCluster := map[int][]*item{}
	for _, f := range findings {
		if f.sides != noSides {
			byCluster[f.cluster] = append(byCluster[f.cluster], f)
		}
	}
	for _, parts := range byCluster {
		for i, a := range parts {
			for _, b := range parts[:i] {
				oneMaker := a.maker() == b.maker() && a.maker() != (source{})
				if a.sides.opposes(b.sides) && !oneMaker {
					d.between(a, b)
				}
			}
		}
	}
}
