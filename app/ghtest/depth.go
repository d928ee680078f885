package ghtest

import "slices"

// Depth returns how many of the calls must have waited for one another. That is the length of
// the longest chain in which each call started after the previous one was answered. Calls
// that follow each other by chance count as well, so the result is only meaningful if answers
// take longer than the time between calls.
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
