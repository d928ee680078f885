package ghtest

import "slices"

// Depth returns how many of the calls must have waited for one another: the
// length of the longest chain of which each began after the one before was
// answered. Calls made one after the other by chance count as well, so that it
// only tells where answers take longer than what lies between them.
func Depth(calls []Call) int {
	byEnd := slices.SortedFunc(slices.Values(calls), func(a, b Call) int { return a.End.Compare(b.End) })
	n := 0
	var last Call
	for _, c := range byEnd {
		if n == 0 || !c.Start.Before(last.End) {
			n, last = n+1, c
		}
	}
	return n
}
