package model

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// asked returns the lines at the head that a question showed of the change, context included, since
// a finding may be about any of them. They are sorted, and ranges that overlap or touch are one.
func (s *shown) asked() []pipeline.AskedLines {
	var all []pipeline.AskedLines
	for _, p := range s.parts {
		for _, h := range p.hunks {
			for _, l := range h.lines {
				if l.number == 0 { // removed
					continue
				}
				if n := len(all) - 1; n >= 0 && all[n].Path == p.path && all[n].Last+1 == l.number {
					all[n].Last++
					continue
				}
				all = append(all, pipeline.AskedLines{Path: p.path, First: l.number, Last: l.number})
			}
		}
	}
	slices.SortFunc(all, func(a, b pipeline.AskedLines) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), a.First-b.First)
	})
	merged := all[:0]
	for _, r := range all {
		if n := len(merged) - 1; n >= 0 && merged[n].Path == r.Path && merged[n].Last+1 >= r.First {
			merged[n].Last = max(merged[n].Last, r.Last)
			continue
		}
		merged = append(merged, r)
	}
	return slices.Clip(merged[:min(len(merged), pipeline.MaxAsked)])
}
