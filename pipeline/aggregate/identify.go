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
// equals, never from a line number.
func (w *work) identify() {
	lines := newLineIndex(w.files)
	equals := map[string]int{}
	sortByContent(w.findings) // equals are counted in document order
	for _, f := range w.findings {
		what := f.RuleID
		if what == "" {
			what = normalised(f.Title)
		}
		where := f.Path
		if file := w.files[f.Path]; file != nil && file.PreviousPath != "" && file.Status == pipeline.FileRenamed {
			where = file.PreviousPath
		}
		if where == "" {
			where = normalised(f.Section)
		}
		key := what + "\x00" + where + "\x00" + lines.text(f)
		n := equals[key]
		equals[key]++
		sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n)))
		f.ID = hex.EncodeToString(sum[:8])
	}
}

// lineIndex finds the text of the head's lines. A file's lines are looked
// through once, when the first finding in it asks.
type lineIndex struct {
	files map[string]*pipeline.File
	lines map[string]map[int]string
}

func newLineIndex(files map[string]*pipeline.File) *lineIndex {
	return &lineIndex{files: files, lines: map[string]map[int]string{}}
}

// maxFlagged bounds how many lines of a finding count for its fingerprint: a
// finding about a whole file is told by its rule and path.
const maxFlagged = 50

// text is that of the flagged lines, with white space collapsed. Facts hold
// placeholders where secrets stood, so no secret counts.
func (x *lineIndex) text(f *pipeline.Finding) string {
	if f.StartLine == 0 || x.files[f.Path] == nil {
		return ""
	}
	lines, ok := x.lines[f.Path]
	if !ok {
		lines = map[int]string{}
		for _, h := range x.files[f.Path].Hunks {
			for _, l := range h.Lines {
				if l.Op != pipeline.LineRemoved {
					lines[l.New] = l.Text
				}
			}
		}
		x.lines[f.Path] = lines
	}
	var b strings.Builder
	for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxFlagged; n++ {
		b.WriteString(collapsed(lines[n]))
		b.WriteByte('\n')
	}
	return b.String()
}
