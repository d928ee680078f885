package aggregate

import (
	"cmp"
	"slices"
)

// places splits findings of one title and path into those at the same place:
// the same section, or line ranges that overlap or are adjacent. Sameness is
// transitive.
func places(group []*item) [][]*item {
	sets := newSets(len(group))
	bySection := map[string]int{}
	byLine := make([]int, 0, len(group))
	for k, f := range group {
		if s := normalised(f.Section); s != "" {
			if first, ok := bySection[s]; ok {
				sets.join(first, k)
			} else {
				bySection[s] = k
			}
		}
		if f.Section == "" || f.StartLine > 0 {
			byLine = append(byLine, k)
		}
	}
	slices.SortStableFunc(byLine, func(a, b int) int {
		return cmp.Compare(group[a].StartLine, group[b].StartLine)
	})
	end, last := -1, -1
	for _, k := range byLine {
		f := group[k]
		// 0 is the whole file, which is no line's neighbour.
		if last >= 0 && f.StartLine <= end+1 && (f.StartLine == 0) == (end == 0) {
			sets.join(last, k)
			end = max(end, f.EndLine)
		} else {
			end = f.EndLine
		}
		last = k
	}
	return sets.split(group)
}
