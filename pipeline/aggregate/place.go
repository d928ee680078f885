package aggregate

import (
	"cmp"
	"slices"
)

// Findings are at the same place if they have the same path, and the same section or lines that
// overlap or are adjacent. A finding about a whole file is at the same place as other findings
// about the whole file.

// spot is a place of a finding: lines of a file, a section, or the whole file. The last two have no
// lines.
type spot struct {
	in          area
	first, last int
}

// area is a part of the change within which spots can touch.
type area struct {
	path    string
	section string // normalised
	kind    areaKind
}

type areaKind uint8

const (
	areaLines areaKind = iota
	areaSection
	areaWhole
)

// touches reports whether two spots are the same place.
func (s spot) touches(other spot) bool {
	return s.in == other.in && s.first <= other.last+1 && other.first <= s.last+1
}

// spots are the places of a finding: those of all findings merged into it, in the order of their
// lines.
func (f *item) spots() []spot {
	if f.members == nil {
		return appendSpots(nil, f)
	}
	var all []spot
	for _, m := range f.members {
		all = appendSpots(all, m)
	}
	seen := map[area]int{} // the index of the last spot in each area
	out := all[:0]
	for _, s := range all {
		if i, ok := seen[s.in]; ok && out[i].touches(s) {
			out[i].last = max(out[i].last, s.last)
			continue
		}
		seen[s.in] = len(out)
		out = append(out, s)
	}
	return out
}

// appendSpots appends the section of an unmerged finding, and its lines or the whole file.
func appendSpots(to []spot, f *item) []spot {
	if f.section != "" {
		to = append(to, spot{in: area{path: f.Path, section: f.section, kind: areaSection}})
	}
	switch {
	case f.StartLine > 0:
		to = append(to, spot{area{path: f.Path}, f.StartLine, f.EndLine})
	case f.section == "":
		to = append(to, spot{in: area{path: f.Path, kind: areaWhole}})
	}
	return to
}

// places groups findings of one path that are at the same place. Being at the same place is
// transitive.
func places(group []*item) [][]*item {
	if len(group) == 1 {
		return [][]*item{group}
	}
	sets := newSets(len(group))
	bySection := map[string]int{}
	byLine := make([]int, 0, len(group))
	for k, f := range group {
		if f.section != "" {
			if first, ok := bySection[f.section]; ok {
				sets.join(first, k)
			} else {
				bySection[f.section] = k
			}
		}
		if f.section == "" || f.StartLine > 0 {
			byLine = append(byLine, k)
		}
	}
	slices.SortStableFunc(byLine, func(a, b int) int {
		return cmp.Compare(group[a].StartLine, group[b].StartLine)
	})
	end, last := -1, -1
	for _, k := range byLine {
		f := group[k]
		// 0 is the whole file, which is not adjacent to any line.
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
