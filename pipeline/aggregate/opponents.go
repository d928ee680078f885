package aggregate

import (
	"cmp"
	"slices"
)

// opponents finds findings that contradict one another. It indexes findings that take sides by the
// words of their titles.
type opponents struct {
	list  []*contender
	areas map[area]int32
	kinds []kind
	by    map[opponentKey][]opponent
}

// kind separates findings in the index. Proven findings are separate, so that models' findings
// can't crowd them out.
type kind struct {
	sides  sides
	proven bool
}

// contender is a finding that takes sides, with its keys in the index.
type contender struct {
	f     *item
	title *title
	maker int32 // 0 if several made it
	spots []spot
	words []int32 // of the title, rarest first
	kind  kind
}

type opponentKey struct {
	area, word int32
	kind       kind
}

// opponent is a contender at a spot. reach is the last line of the opponents up to this one.
type opponent struct {
	*contender
	first, last, reach int
}

func newOpponents(in *input, findings []*item) *opponents {
	x := &opponents{areas: map[area]int32{}, by: map[opponentKey][]opponent{}}
	bySide := map[string]sides{}
	for _, f := range findings {
		bySide[f.Path] |= f.sides
	}
	words, makers := &wording{}, map[source]int32{{}: 0}
	for _, f := range findings {
		if bySide[f.Path].opposes(f.sides) {
			words.count(f.title)
			maker, ok := makers[f.maker()]
			if !ok {
				maker = int32(len(makers))
				makers[f.maker()] = maker
			}
			x.list = append(x.list, &contender{f: f, title: f.title, maker: maker, spots: f.spots(), kind: kind{f.sides, in.proven(f)}})
		}
	}
	for _, c := range x.list {
		c.words = words.rarest(c.title)
		x.index(c)
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

func (x *opponents) index(c *contender) {
	if !slices.Contains(x.kinds, c.kind) {
		x.kinds = append(x.kinds, c.kind)
	}
	for _, s := range c.spots {
		in, ok := x.areas[s.in]
		if !ok {
			in = int32(len(x.areas))
			x.areas[s.in] = in
		}
		for _, word := range c.words {
			key := opponentKey{in, word, c.kind}
			x.by[key] = append(x.by[key], opponent{contender: c, first: s.first, last: s.last})
		}
	}
}

// join finds the disputes. It compares each finding with a bounded number of proven findings, and
// with as many others. It marks a proven finding that calls something impossible or essential if
// more proven findings oppose it than can be compared.
func (x *opponents) join(d *disputes) {
	for _, c := range x.list {
		proven, rest := search{c, d, maxLooked, maxCompared}, search{c, d, maxLooked, maxCompared}
		for _, k := range x.kinds {
			switch {
			case !k.sides.opposes(c.kind.sides):
			case k.proven:
				x.search(&proven, k)
			default:
				x.search(&rest, k)
			}
		}
		c.f.crowded = proven.spent() && c.kind.proven && c.kind.sides&(sideImpossible|sideEssential) != 0
	}
}

func (x *opponents) search(s *search, k kind) {
	for _, at := range s.c.spots {
		for _, word := range s.c.words {
			s.among(x.by[opponentKey{x.areas[at.in], word, k}], at)
		}
	}
}

// search is the search for one finding's opponents, with the number of findings that may still be
// looked at and compared.
type search struct {
	c             *contender
	d             *disputes
	look, compare int
}

func (s *search) spent() bool { return s.look == 0 || s.compare == 0 }

// among looks at the opponents that touch a spot, from the last to the first.
func (s *search) among(list []opponent, at spot) {
	// All opponents before i begin at the spot, on the line after it, or earlier.
	i, _ := slices.BinarySearchFunc(list, at.last+2, func(o opponent, first int) int { return cmp.Compare(o.first, first) })
	for i--; i >= 0 && list[i].reach >= at.first-1 && !s.spent(); i-- {
		s.look--
		o := &list[i]
		one := o.maker == s.c.maker && o.maker != 0
		if one || o.last+1 < at.first || s.d.known(s.c.f, o.f) {
			continue // it has the same maker, is elsewhere, or is already in the same dispute
		}
		s.compare--
		if s.c.title.alike(o.title) {
			s.d.between(s.c.f, o.f)
		}
	}
}
