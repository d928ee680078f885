package render

import (
	"slices"
	"sort"

	"github.com/reviewgate/reviewgate/pipeline"
)

// headLine is a line of the diff that exists at the head.
type headLine struct {
	number int
	text   string
	added  bool
	hunk   int
}

// diffIndex answers questions about the lines of the changed files. It indexes a file's
// lines when they are first needed, so that many findings in one file read it only once.
type diffIndex struct {
	files map[string]*pipeline.File
	lines map[string][]headLine
}

func newDiffIndex(files []pipeline.File) *diffIndex {
	d := &diffIndex{files: make(map[string]*pipeline.File, len(files)), lines: map[string][]headLine{}}
	for i := range files {
		d.files[files[i].Path] = &files[i]
	}
	return d
}

func (d *diffIndex) head(path string) []headLine {
	if lines, ok := d.lines[path]; ok {
		return lines
	}
	var lines []headLine
	if f := d.files[path]; f != nil {
		for h, hunk := range f.Hunks {
			for _, l := range hunk.Lines {
				if l.New > 0 && l.Op != pipeline.LineRemoved {
					lines = append(lines, headLine{l.New, l.Text, l.Op == pipeline.LineAdded, h})
				}
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b headLine) int { return a.number - b.number })
	d.lines[path] = lines
	return lines
}

// between returns the lines of the diff from start to end.
func (d *diffIndex) between(path string, start, end int) []headLine {
	lines := d.head(path)
	from := sort.Search(len(lines), func(i int) bool { return lines[i].number >= start })
	to := sort.Search(len(lines), func(i int) bool { return lines[i].number > end })
	if from >= to {
		return nil
	}
	return lines[from:to]
}

// removedBeside returns the lines that the change removes next to a line of the head: the lines before
// it, or after it at the end of a hunk. They have its number.
func (d *diffIndex) removedBeside(path string, number int) (lines []headLine) {
	f := d.files[path]
	if f == nil {
		return nil
	}
	for h, hunk := range f.Hunks {
		next := hunk.NewStart
		for _, l := range hunk.Lines {
			switch {
			case l.Op != pipeline.LineRemoved:
				next = l.New + 1
			case min(next, hunk.NewStart+hunk.NewLines-1) == number:
				lines = append(lines, headLine{number: number, text: l.Text, hunk: h})
			}
		}
	}
	return lines
}

// text returns the lines start to end. It returns false if the diff does not have all of
// them.
func (d *diffIndex) text(path string, start, end int) ([]string, bool) {
	lines := d.between(path, start, end)
	if start <= 0 || len(lines) != end-start+1 {
		return nil, false
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		if l.number != start+i {
			return nil, false
		}
		out[i] = l.text
	}
	return out, true
}

// changed returns the first and the last added line between start and end, within the
// first hunk that has one. It returns false if no line of the range was added.
func (d *diffIndex) changed(path string, start, end int) (from, to int, ok bool) {
	hunk := -1
	for _, l := range d.between(path, start, end) {
		switch {
		case !l.added || hunk >= 0 && l.hunk != hunk:
		case !ok:
			from, to, hunk, ok = l.number, l.number, l.hunk, true
		default:
			to = l.number
		}
	}
	return from, to, ok
}
