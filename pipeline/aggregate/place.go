package aggregate

import (
	"cmp"
	"slices"
)

// Findings are at the same place if they have the same path and the same
// section, or the same path and lines that overlap or are adjacent. A finding
// about a whole file is at the place of others about the whole file.

// spot is a place that a finding is at: lines of a file, or a section or the
// whole of it, which have no lines.
type spot struct {
	in          area
	first, last int
}

// area is where spots can touch.
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

// spots are the places of a finding: those of all findings merged into it.
func (f *item) spots() []spot {
	var out []spot
	members := f.members
	if members == nil {
		members = []*item{f}
	}
	for _, m := range members {
		if m.section != "" {
			out = withSpot(out, spot{in: area{path: m.Path, section: m.section, kind: areaSection}})
		}
		switch {
		case m.StartLine > 0:
			out = withSpot(out, spot{area{path: m.Path}, m.StartLine, m.EndLine})
		case m.section == "":
			out = withSpot(out, spot{in: area{path: m.Path, kind: areaWhole}})
		}
	}
	return out
}

// withSpot widens the spot in the same area, or adds one. Lines of findings
// that were merged have no gaps between them.
func withSpot(spots []spot, s spot) []spot {
	for i := range spots {
		if t := &spots[i]; t.touches(s) {
			t.first, t.last = min(t.first, s.first), max(t.last, s.last)
			return spots
		}
	}
	return append(spots, s)
}

// places splits findings of one path into those at the same place. Sameness is
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
