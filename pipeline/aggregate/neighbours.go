package aggregate

import (
	"cmp"
	"slices"
)

// neighbours finds a finding of somebody else at a place.
type neighbours map[area][]neighbour

// neighbour is a finding at a spot. far is the one that reaches furthest of
// those up to this one, and next the one that does so among those of others
// than far's maker.
type neighbour struct {
	spot
	f         *item
	maker     source // who alone made it, or nobody
	far, next *neighbour
}

func newNeighbours(findings []*item) neighbours {
	out := neighbours{}
	for _, f := range findings {
		maker := f.maker()
		for _, s := range f.spots() {
			out[s.in] = append(out[s.in], neighbour{spot: s, f: f, maker: maker})
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b neighbour) int { return cmp.Compare(a.first, b.first) })
		var far, next *neighbour
		for i := range list {
			n := &list[i]
			switch {
			case far == nil || n.last > far.last:
				if far != nil && far.maker != n.maker {
					next = far
				}
				far = n
			case n.maker != far.maker && (next == nil || n.last > next.last):
				next = n
			}
			n.far, n.next = far, next
		}
	}
	return out
}

// of returns a finding that somebody else than f's agent and model made at the
// place of f, or nil.
func (ns neighbours) of(f *item) *item {
	for _, s := range f.spots() {
		list := ns[s.in]
		// All up to i begin where s or the line after it is, or before.
		i, _ := slices.BinarySearchFunc(list, s.last+2, func(n neighbour, first int) int { return cmp.Compare(n.first, first) })
		if i == 0 {
			continue
		}
		for _, n := range []*neighbour{list[i-1].far, list[i-1].next} {
			if n != nil && n.touches(s) && n.maker != f.source() {
				return n.f
			}
		}
	}
	return nil
}
