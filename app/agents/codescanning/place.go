package codescanning

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// places tells where in the change a line is.
type places struct {
	filter string
	scope  pipeline.AgentScope
	files  map[string]*place
}

// place is one changed file.
type place struct {
	file         *pipeline.File
	added, shown []int // lines of the head, ascending; nil until they are asked for
	known        bool
}

func newPlaces(facts *pipeline.PRFacts, scope pipeline.AgentScope, filter string) *places {
	p := &places{filter: filter, scope: scope, files: make(map[string]*place, len(facts.Files))}
	for i := range facts.Files {
		if f := &facts.Files[i]; f.Status != pipeline.FileRemoved {
			p.files[f.Path] = &place{file: f}
		}
	}
	return p
}

// of is where a finding on lines of a file is shown: the part of them that the
// filter wants. 0 is the file as a whole. ok is false where it is not shown.
// inFile is false where that is only because nothing is filtered.
func (p *places) of(path string, start, end int) (from, to int, inFile, ok bool) {
	f := p.files[path]
	if f == nil || !p.scope.Has(path) {
		return 0, 0, false, p.filter == config.FilterNone && p.scope.All
	}
	f.count()
	start, end = max(start, 0), max(start, end, 0)
	added := f.file.Status == pipeline.FileAdded
	if start == 0 {
		return 0, 0, true, added || p.filter == config.FilterFile || p.filter == config.FilterNone
	}
	if from, to, ok := within(f.added, start, end); ok {
		return from, to, true, true
	}
	if p.filter == config.FilterAdded {
		return 0, 0, true, false
	}
	if from, to, ok := within(f.shown, start, end); ok {
		return from, to, true, true
	}
	switch {
	case p.filter == config.FilterContext:
		return 0, 0, true, false
	case added:
		return 0, 0, true, true // the file has no such line
	}
	return start, end, true, true
}

// count lists the file's lines that the diff shows.
func (f *place) count() {
	if f.known {
		return
	}
	f.known = true
	for _, h := range f.file.Hunks {
		for _, l := range h.Lines {
			if l.New == 0 {
				continue
			}
			f.shown = append(f.shown, l.New)
			if l.Op == pipeline.LineAdded {
				f.added = append(f.added, l.New)
			}
		}
	}
	slices.Sort(f.added) // as they are, in a diff that is as it should be
	slices.Sort(f.shown)
}

// within is the first run of neighbouring lines in a range.
func within(lines []int, start, end int) (from, to int, ok bool) {
	i, _ := slices.BinarySearch(lines, start)
	if i == len(lines) || lines[i] > end {
		return 0, 0, false
	}
	from, to = lines[i], lines[i]
	for i++; i < len(lines) && lines[i] <= to+1 && lines[i] <= end; i++ {
		to = lines[i]
	}
	return from, to, true
}
