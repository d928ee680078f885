package aggregate

import "github.com/reviewgate/reviewgate/pipeline"

// contradictions combines findings that contradict one another into one. Such findings come
// from different agents or models, are at the same place, have titles that are equal or share
// half of their words, and take opposing sides. A section of a document has no lines that could
// tell the subject. So in one section the titles don't matter if one finding would remove what
// the other would keep, or one calls impossible what the other calls essential. Findings that
// deduplicate kept apart stay together: if one is part of a dispute, all are.
func (w *work) contradictions() {
	d := newDisputes(w.clusters + 1)
	d.joinApart(w.findings)
	newOpponents(w.in, w.findings).join(d)
	d.joinSections(w.findings)
	var disputed []*item
	w.keep(func(f *item) bool {
		if d.disputed[f.cluster] {
			disputed = append(disputed, f)
			return false
		}
		raiseCrowded(f)
		return true
	})
	for _, parts := range grouped(disputed, func(i int) int { return d.root(disputed[i].cluster) }) {
		w.findings = append(w.findings, tradeOff(w.in, parts))
	}
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

// known reports whether two findings are already in one dispute.
func (d *disputes) known(a, b *item) bool {
	return d.disputed[a.cluster] && d.root(a.cluster) == d.root(b.cluster)
}

// contradicts reports whether two findings oppose one another and do not have the same only maker.
func (f *item) contradicts(other *item) bool {
	return f.sides.opposes(other.sides) && (f.maker() != other.maker() || f.maker() == (source{}))
}

// maxInSection bounds the findings about one section that are compared with one another.
const maxInSection = 64

// joinSections joins findings about one section on opposing sides. Adding and removing don't
// oppose there: what one would add may differ from what the other would remove.
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
				whole := !adds(a) && !adds(b) || clash(a.sides|b.sides)
				if a.contradicts(b) && whole && !d.known(a, b) {
					d.between(a, b)
				}
			}
		}
	}
}

// joinApart joins findings that deduplicate kept apart, if different reviewers are on the
// opposing sides.
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
				if a.contradicts(b) {
					d.between(a, b)
				}
			}
		}
	}
}
