package render

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// fileGroup holds findings of one file that differ only in their line, sorted by line. A
// finding about the change as a whole is a group of its own.
type fileGroup struct {
	list  []*pipeline.Finding
	group int               // the index of the group that all files share
	like  *pipeline.Finding // the first finding of that group if it is in an earlier file, or nil
}

func (g *fileGroup) path() string { return g.list[0].Path }

// byFile splits the groups by file, for a terminal. Files with the worst findings come first,
// and the change as a whole comes last. The groups of a file are sorted by line.
func (fs *findings) byFile() []fileGroup {
	var out []fileGroup
	worst := map[string]int{}
	for n, group := range fs.groups {
		at := map[string]int{}
		for _, f := range group {
			i, ok := at[f.Path]
			if !ok {
				i = len(out)
				at[f.Path] = i
				out = append(out, fileGroup{group: n})
			}
			out[i].list = append(out[i].list, f)
			worst[f.Path] = max(worst[f.Path], weight(f))
		}
	}
	byLine := func(a, b *pipeline.Finding) int { return cmp.Compare(a.StartLine, b.StartLine) }
	for _, g := range out {
		slices.SortStableFunc(g.list, byLine)
	}
	slices.SortStableFunc(out, func(a, b fileGroup) int {
		p, q := a.path(), b.path()
		switch {
		case p == q:
			return byLine(a.list[0], b.list[0])
		case p == "":
			return 1
		case q == "":
			return -1
		}
		return cmp.Or(worst[q]-worst[p], cmp.Compare(p, q))
	})
	before := map[int]*pipeline.Finding{}
	for i := range out {
		g := &out[i]
		if g.like = before[g.group]; g.like == nil {
			before[g.group] = g.list[0]
		}
	}
	return out
}
