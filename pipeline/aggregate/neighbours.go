package aggregate

import (
	"cmp"
	"slices"
)

// neighbours finds findings of other makers at a place.
type neighbours map[area][]neighbour

// neighbour is a finding at a spot. Of the findings up to this one, far is the one that reaches
// furthest, and next is the one that reaches furthest among those of other makers than far's.
type neighbour struct {
	spot
	f         *item
	maker     source // empty if several made it
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

// of returns a finding at the place of f that another agent or model made, or nil.
func (ns neighbours) of(f *item) *item {
	for _, s := range f.spots() {
		list := ns[s.in]
		// All findings up to i begin at s, on the line after it, or earlier.
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
