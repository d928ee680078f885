package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// identify gives each finding its fingerprint, which outlives line shifts,
// rebases, renames and force pushes: it is made from the rule (or title), the
// oldest known path (or the section), the flagged text, and the place among
// equals, never from a line number. Findings at one place, of two agents or of
// one that repeats itself, have the same place among equals.
//
// All findings count among the equals, those too that are then suppressed, so
// that ignoring one leaves the others theirs.
func (w *work) identify() {
	type counted struct {
		n    int
		last *item
	}
	equals := map[string]counted{}
	sortByContent(w.findings) // equals are counted in document order
	for _, f := range w.findings {
		key := w.identity(f)
		c, again := equals[key]
		if again && byPlace(&f.Finding, &c.last.Finding) != 0 {
			c.n++
		}
		c.last = f
		equals[key] = c
		sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(c.n)))
		f.ID = hex.EncodeToString(sum[:8])
		f.Fingerprints = pipeline.List[string]{f.ID}
	}
}

// identity is what a finding shares with its equals.
func (w *work) identity(f *item) string {
	what := f.RuleID
	if what == "" {
		what = f.title.norm
	}
	where := f.Path
	if file := w.files[f.Path]; file != nil && file.PreviousPath != "" && file.Status == pipeline.FileRenamed {
		where = file.PreviousPath
	}
	if where == "" {
		where = normalised(f.Section)
	}
	return what + "\x00" + where + "\x00" + w.lines.text(f)
}

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
		for _, l := range h.Lines {
			if l.Op == pipeline.LineRemoved {
				continue
			}
			head := headLine{text: l.Text, marker: parseMarker(l)}
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

// maxFlagged bounds how many lines of a finding count for its fingerprint: a
// finding about a whole file is told by its rule and path.
const maxFlagged = 50

// text is that of the flagged lines, with white space collapsed and without
// comments that ignore findings, so that writing one makes no finding another.
// Facts hold placeholders where secrets stood, so no secret counts.
func (x *lineIndex) text(f *item) string {
	if f.StartLine == 0 || x.files[f.Path] == nil {
		return ""
	}
	lines := x.of(f.Path)
	var b strings.Builder
	for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxFlagged; n++ {
		b.WriteString(collapsed(lines[n].text))
		b.WriteByte('\n')
	}
	return b.String()
}
