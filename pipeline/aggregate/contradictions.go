package aggregate

import (
	"cmp"
	"slices"
)

// contradictions makes one finding of those that contradict one another: of
// different agents or models, at the same place, with titles that are equal or
// share half of their words, and on opposing sides. What deduplicate kept apart
// stays together: where one of it is part of a dispute, all of it is.
func (w *work) contradictions() {
	disputes := newSets(w.clusters + 1)
	disputed := make([]bool, w.clusters+1)
	join := func(a, b *item) {
		disputes.join(a.cluster, b.cluster)
		disputed[a.cluster], disputed[b.cluster] = true, true
	}
	w.joinApart(join)
	x := newOpponents(w)
	for _, f := range x.findings {
		x.of(f, join)
	}
	groups := map[int][]*item{}
	var roots []int
	kept := w.findings[:0:0]
	for _, f := range w.findings {
		if !disputed[f.cluster] {
			w.raiseCrowded(f)
			kept = append(kept, f)
			continue
		}
		root := disputes.root(f.cluster)
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

// joinApart joins what deduplicate kept apart, where different reviewers stand
// on the opposing sides.
func (w *work) joinApart(join func(a, b *item)) {
	byCluster := map[int][]*item{}
	for _, f := range w.findings {
		if f.sides != noSides {
			byCluster[f.cluster] = append(byCluster[f.cluster], f)
		}
	}
	for _, parts := range byCluster {
		for i, a := range parts {
			for _, b := range parts[:i] {
				if a.sides.opposes(b.sides) && differentMakers(a, b) {
					join(a, b)
				}
			}
		}
	}
}

// differentMakers reports whether somebody made the one finding who is not the
// only one to have made the other.
func differentMakers(a, b *item) bool {
	s := a.source()
	return !a.onlyBy(s) || !b.onlyBy(s)
}

// opponents finds the findings that contradict one, among those that take
// sides. They are indexed by the rarest words of their titles: two titles that
// share half of their words share one of these.
type opponents struct {
	w        *work
	words    *wording
	findings []*item
	areas    map[area]int32
	by       map[opponentKey][]opponent
}

type opponentKey struct {
	area   int32
	word   int32
	side   sides // one
	proven bool  // apart, so that what models say can't crowd out others
}

// opponent is a finding at a spot; reach is how far those up to it reach.
type opponent struct {
	spot
	f     *item
	reach int
}

func newOpponents(w *work) *opponents {
	x := &opponents{w: w, words: &wording{}, areas: map[area]int32{}, by: map[opponentKey][]opponent{}}
	for _, f := range w.findings {
		if f.sides != noSides {
			x.findings = append(x.findings, f)
			x.words.count(f.title)
		}
	}
	for _, f := range x.findings {
		rarest := x.words.rarest(f.title)
		for _, s := range f.spots() {
			in, ok := x.areas[s.in]
			if !ok {
				in = int32(len(x.areas))
				x.areas[s.in] = in
			}
			for _, word := range rarest {
				for _, side := range f.sides.each() {
					key := opponentKey{in, word, side, w.proven(f)}
					x.by[key] = append(x.by[key], opponent{spot: s, f: f})
				}
			}
		}
	}
	for _, list := range x.by {
		slices.SortStableFunc(list, func(a, b opponent) int { return cmp.Compare(a.first, b.first) })
		reach := 0
		for i := range list {
			reach = max(reach, list[i].last)
			list[i].reach = reach
		}
	}
	return x
}

// of joins f with the findings that contradict it. Those of each kind and word
// are looked at in document order, backwards, up to maxLooked of them, and up
// to maxCompared titles are compared in all.
func (x *opponents) of(f *item, join func(a, b *item)) {
	for _, proven := range []bool{true, false} {
		b := budget{maxLooked, maxCompared}
		for _, s := range f.spots() {
			for _, word := range x.words.rarest(f.title) {
				for _, side := range f.sides.against().each() {
					x.among(x.by[opponentKey{x.areas[s.in], word, side, proven}], f, s, &b, join)
				}
			}
		}
		if proven && b.spent() && x.w.proven(f) && f.sides&(sideImpossible|sideEssential) != 0 {
			f.crowded = true
		}
	}
}

// budget is what is left of looking and comparing.
type budget struct{ look, compare int }

func (b *budget) spent() bool { return b.look == 0 || b.compare == 0 }

func (x *opponents) among(list []opponent, f *item, s spot, b *budget, join func(a, b *item)) {
	// All before i begin where s or the line after it is, or before.
	i, _ := slices.BinarySearchFunc(list, s.last+2, func(o opponent, first int) int { return cmp.Compare(o.first, first) })
	for i--; i >= 0 && list[i].reach >= s.first-1 && !b.spent(); i-- {
		b.look--
		if o := list[i]; o.touches(s) && differentMakers(f, o.f) {
			b.compare--
			if f.title.alike(o.f.title) {
				join(f, o.f)
			}
		}
	}
}
