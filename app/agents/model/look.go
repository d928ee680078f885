package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxLine is how many characters of a line are shown: what has more was written
// by no person.
const maxLine = 2000

// seen is what of a change is to be shown.
type seen struct {
	files     []*file  // with text, the riskiest first
	generated []string // names of generated and vendored files, which are left out
	textless  []string // names of files of which the diff has no text
	moved     []string // names of files of which nothing but the name or mode changed
}

// file is a changed file as a model is to be shown it.
type file struct {
	path  string
	name  string // of which no other file has the same
	what  string // its status, and what kind of file it is
	was   string // its name before, if it had another
	hunks []hunk

	class, risk, changed int
}

type hunk struct {
	section string
	lines   []line
}

type line struct {
	sign   byte // '+', ' ' or '-'
	number int  // after the change; 0 of removed lines
	text   string
	cut    int // characters that are not shown
}

// Files of a lower class come first, whatever their risk.
const (
	classSource = iota
	classTest
	classDocumentation
	classRemoved
)

// look picks the files in the task's scope and sorts them by risk.
func (a *Agent) look(task dispatch.Task) *seen {
	s := &seen{}
	risk := a.Risk.of(task.Classification, task.Facts.Files)
	names := map[string]bool{}
	for i := range task.Facts.Files {
		f := &task.Facts.Files[i]
		if !task.Entry.Scope.Has(f.Path) {
			continue
		}
		unique := a.unique(names, f.Path)
		switch {
		case f.GeneratedByPath || f.Vendored:
			s.generated = append(s.generated, unique)
		case len(f.Hunks) == 0 && f.ChangedLines() == 0 && !f.Binary:
			s.moved = append(s.moved, unique)
		case len(f.Hunks) == 0:
			s.textless = append(s.textless, unique)
		default:
			s.files = append(s.files, a.file(f, unique, risk[f.Path]))
		}
	}
	slices.SortStableFunc(s.files, func(a, b *file) int {
		return cmp.Or(a.class-b.class, b.risk-a.risk, b.changed-a.changed, strings.Compare(a.path, b.path))
	})
	return s
}

// unique is a name for a path that no other file has: two paths may differ in
// what nobody sees.
func (a *Agent) unique(names map[string]bool, path string) string {
	first := a.RedactBeside(pathName(path))
	n := first
	for i := 2; names[n]; i++ {
		n = first + " (" + strconv.Itoa(i) + ")"
	}
	names[n] = true
	return n
}

func (a *Agent) file(f *pipeline.File, unique string, risk int) *file {
	out := &file{path: f.Path, name: unique, what: string(f.Status), class: classOf(f), risk: risk, changed: f.ChangedLines()}
	if f.Test {
		out.what += " test"
	}
	if f.PreviousPath != "" && f.PreviousPath != f.Path {
		out.was = a.RedactBeside(pathName(f.PreviousPath))
	}
	for _, h := range f.Hunks {
		out.hunks = append(out.hunks, hunkOf(&h, a.RedactBeside))
	}
	return out
}

func classOf(f *pipeline.File) int {
	switch {
	case f.Status == pipeline.FileRemoved:
		return classRemoved
	case f.Test:
		return classTest
	case f.Documentation:
		return classDocumentation
	}
	return classSource
}

func hunkOf(h *pipeline.Hunk, redact func(string) string) hunk {
	// Secrets go before anything is cut: what is left of one would not be known for it.
	out := hunk{section: plaintext.Cut(redact(plaintext.Line(cleaned(h.Section))), 200)}
	for _, l := range h.Lines {
		shown := line{sign: ' ', number: l.New, text: lineText(l.Text)}
		switch l.Op {
		case pipeline.LineAdded:
			shown.sign = '+'
		case pipeline.LineRemoved:
			shown.sign, shown.number = '-', 0
		}
		if len(shown.text) > maxLine {
			// As above. The facts have none, but for files that the detector passes over.
			shown.text = redact(shown.text)
			if r := []rune(shown.text); len(r) > maxLine {
				shown.text, shown.cut = string(r[:maxLine]), len(r)-maxLine
			}
		}
		out.lines = append(out.lines, shown)
	}
	return out
}

// lineText is a line of a file, on one line: a diff of a file with other line
// ends than ours has breaks in its lines.
func lineText(s string) string {
	return strings.ReplaceAll(cleaned(strings.TrimSuffix(s, "\r")), "\n", "[U+000A]")
}

// notes say what is not shown, whatever room there is.
func (s *seen) notes() (notes []string) {
	if n := len(s.generated); n > 0 {
		notes = append(notes, fmt.Sprintf("not looked at, since tools or others made them: %s", named(s.generated)))
	}
	if n := len(s.textless); n > 0 {
		notes = append(notes, fmt.Sprintf("without text to look at: %s", named(s.textless)))
	}
	return notes
}

// note is that of a change of which there is nothing to show.
func (s *seen) note() string {
	return note([]string{"nothing was asked, since there is no text to look at"}, s.notes())
}

// maxNamed is how many files a note names.
const maxNamed = 5

func named(list []string) string {
	shown := make([]string, 0, maxNamed)
	for _, n := range list[:min(len(list), maxNamed)] {
		shown = append(shown, plaintext.Cut(n, 60))
	}
	text := strings.Join(shown, ", ")
	if more := len(list) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// note joins notes, what matters most first: dispatch cuts what is too long.
func note(lists ...[]string) string { return strings.Join(slices.Concat(lists...), "; ") }
