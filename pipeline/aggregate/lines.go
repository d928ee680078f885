package aggregate

import "github.com/reviewgate/reviewgate/pipeline"

// lineIndex finds the head's lines and the comments in them that ignore
// findings. A file's lines are looked through once, when the first finding in
// it asks.
type lineIndex struct {
	files map[string]*pipeline.File
	lines map[string]map[int]headLine
}

type headLine struct {
	text   string // without a comment that ignores findings
	marker *marker
	added  bool // by the change
	cut    bool // the change removes lines right before it
}

func newLineIndex(files map[string]*pipeline.File) *lineIndex {
	return &lineIndex{files: files, lines: map[string]map[int]headLine{}}
}

// of returns the lines of a file that stand in the diff, by their numbers.
func (x *lineIndex) of(path string) map[int]headLine {
	lines, ok := x.lines[path]
	if ok || x.files[path] == nil {
		return lines
	}
	lines = map[int]headLine{}
	for _, h := range x.files[path].Hunks {
		cut := false
		for _, l := range h.Lines {
			if l.Op == pipeline.LineRemoved {
				cut = true
				continue
			}
			head := headLine{text: l.Text, marker: parseMarker(l), added: l.Op != pipeline.LineContext, cut: cut}
			cut = false
			if m := head.marker; m != nil && !m.quoted {
				head.text = l.Text[:m.start]
			}
			lines[l.New] = head
		}
	}
	x.lines[path] = lines
	return lines
}

func (x *lineIndex) marker(path string, line int) *marker { return x.of(path)[line].marker }
