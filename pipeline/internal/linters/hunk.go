package linters

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Suppression asks a linter to be silent about a line.
type Suppression struct {
	By    string // the linter, as people call it
	Line  int    // its own line in the head
	Block bool   // it is about all lines up to another comment
	// Old says that it was there before the change: its line is unchanged or replaces one with the
	// same suppression, and it is about code that was there or that replaces other code.
	Old bool
}

// Hunk has the suppressions of a hunk.
type Hunk struct {
	lines  map[int][]about // by the index of the line that they are about
	blocks []about         // that open or close, in order
}

// about is a suppression, and what it asks.
type about struct {
	Suppression
	asked
	index int // of its own line
}

// The bounds of one hunk. Further suppressions don't count.
const (
	maxBlocks  = 100
	maxCommand = 50 // lines of a command that continues after a backslash
)

// Read reads the suppressions of a hunk of a file in the language.
func Read(language string, h *pipeline.Hunk) *Hunk {
	r := &reader{Hunk: &Hunk{lines: map[int][]about{}}, h: h, language: language}
	for from := 0; from < len(h.Lines); {
		to := from + 1
		for h.Lines[from].Op != pipeline.LineContext && to < len(h.Lines) && h.Lines[to].Op != pipeline.LineContext {
			to++
		}
		r.block(from, to)
		from = to
	}
	return r.Hunk
}

// Of returns the suppression that is about a line, by its index in the hunk, and about one of a
// rule's checks. The rule names them by linter. One that is old goes first.
func (h *Hunk) Of(i int, rule map[string][]string) (Suppression, bool) {
	var found Suppression
	ok := false
	for _, a := range h.lines[i] {
		if a.silences(rule) && (!ok || a.Old && !found.Old) {
			found, ok = a.Suppression, true
		}
	}
	for n := len(h.blocks) - 1; n >= 0 && !found.Old; n-- {
		a := &h.blocks[n]
		if a.index >= i || !a.silences(rule) {
			continue
		}
		if a.reach == closes {
			break
		}
		if !ok || a.Old {
			found, ok = a.Suppression, true
		}
	}
	return found, ok
}

type reader struct {
	*Hunk
	h        *pipeline.Hunk
	language string
	replaces []bool // by index, whether the line's block of changed lines removes any; made when needed
}

// block reads an unchanged line, or a block of changed lines, from one index to the one before to.
// Each suppression that the block removes stands for one that it adds.
func (r *reader) block(from, to int) {
	var gone map[string]int
	for i := from; i < to; i++ {
		if l := &r.h.Lines[i]; l.Op == pipeline.LineRemoved {
			for _, a := range reads(r.language, l.Text) {
				if gone == nil {
					gone = map[string]int{}
				}
				gone[a.key()]++
			}
		}
	}
	for i := from; i < to; i++ {
		l := &r.h.Lines[i]
		if l.Op == pipeline.LineRemoved {
			continue
		}
		for _, a := range reads(r.language, l.Text) {
			old := l.Op == pipeline.LineContext
			if key := a.key(); !old && gone[key] > 0 {
				gone[key]--
				old = true
			}
			r.add(about{Suppression{By: a.by, Line: l.New, Old: old}, a, i})
		}
	}
}

// add puts a suppression to the lines that it is about.
func (r *reader) add(a about) {
	switch {
	case a.reach == opens || a.reach == closes:
		if a.Block = true; len(r.blocks) < maxBlocks {
			r.blocks = append(r.blocks, a)
		}
	case a.reach == ofLine || a.reach == ofEither && !a.alone:
		r.lines[a.index] = append(r.lines[a.index], a)
	default:
		i := r.next(a.index)
		for range maxCommand {
			if i == len(r.h.Lines) {
				return
			}
			own := a
			own.Old = a.Old && (r.h.Lines[i].Op == pipeline.LineContext || r.replaced(i))
			r.lines[i] = append(r.lines[i], own)
			if a.reach != ofCommand || !strings.HasSuffix(strings.TrimRight(r.h.Lines[i].Text, " \t\r"), `\`) {
				return
			}
			i = r.next(i)
		}
	}
}

// next is the index of the next line of the head.
func (r *reader) next(i int) int {
	for i++; i < len(r.h.Lines) && r.h.Lines[i].Op == pipeline.LineRemoved; i++ {
	}
	return i
}

// replaced reports whether the block of changed lines around a line removes any.
func (r *reader) replaced(i int) bool {
	if r.replaces == nil {
		r.replaces = make([]bool, len(r.h.Lines))
		for from := 0; from < len(r.h.Lines); from++ {
			to, removes := from, false
			for ; to < len(r.h.Lines) && r.h.Lines[to].Op != pipeline.LineContext; to++ {
				removes = removes || r.h.Lines[to].Op == pipeline.LineRemoved
			}
			for ; from < to; from++ {
				r.replaces[from] = removes
			}
		}
	}
	return r.replaces[i]
}
