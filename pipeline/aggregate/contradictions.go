package aggregate

import "github.com/reviewgate/reviewgate/pipeline"

// contradictions makes one finding of those that contradict one another: of
// different agents or models, at the same place, with titles that are equal or
// share half of their words, and on opposing sides. Of one section of a document, which
// has no lines to tell what they are about, they do so whatever their titles are, if one
// would remove what the other would keep, or one holds it to be impossible and the other to
// be essential. What deduplicate kept apart stays together: where one of it is part of a
// dispute, all of it is.
func (w *work) contradictions() {
	d := newDisputes(w.clusters + 1)
	d.joinApart(w.findings)
	newOpponents(w).join(d)
	d.joinSections(w.findings)
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

// maxInSection bounds how many findings about one section are compared with one another.
const maxInSection = 64

// joinSections joins findings about one section that are on opposing sides. What one would
// add may be something else than what the other would remove.
func (d *disputes) joinSections(findings []*item) {
	in := map[area][]*item{}
	for _, f := range findings {
		if f.StartLine > 0 || f.section == "" || f.sides == noSides || f.parts != nil {
			continue
		}
		at := area{path: f.Path, section: f.section, kind: areaSection}
		if len(in[at]) < maxInSection {
			in[at] = append(in[at], f)
		}
	}
	adds := func(f *item) bool { return direction(&f.Finding) == pipeline.ActionAdd }
	for _, list := range in {
		for i, a := range list {
			for _, b := range list[:i] {
				oneMaker := a.maker() == b.maker() && a.maker() != (source{})
				whole := !adds(a) && !adds(b) || clash(a.sides|b.sides)
				if a.sides.opposes(b.sides) && !oneMaker && whole && !d.known(a, b) {
					d.between(a, b)
				}
			}
		}
	}
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
