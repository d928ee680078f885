package aggregate

// sets are disjoint sets of the numbers 0 to n-1.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) root(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) {
	a, b = s.root(a), s.root(b)
	s[max(a, b)] = min(a, b)
}

// split returns the members of each set, in the order of their first members.
func (s sets) split(members []*item) [][]*item {
	return grouped(members, s.root)
}
