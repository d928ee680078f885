package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

const (
	// linesAtOnce is how many lines of a hunk are taken or left together.
	linesAtOnce = 50
	// listShare is the part of the room that the names of files which are not shown
	// may take: a twentieth of it.
	listShare = 20
	// heading is what a heading takes besides the name in it, in tokens: codes
	// don't make long tokens.
	heading = 30
)

// shown is what a model is shown.
type shown struct {
	words     []words
	parts     []*part
	left, cut []string // names of files of which nothing, or not all, is shown for want of room
	seen      *seen
	notesOn   *notes // on the services of the files, or nil
	session   *brief // what the question says about the session; nil if nothing
	listRoom  int    // tokens for the names of files that are not shown

	wordsLeft int // texts that people wrote, of which a part is not shown
	lines     int // lines of which a part is not shown
	withheld  int // hunks from which secrets could not be taken out line by line
}

// part is what is shown of a file.
type part struct {
	*file
	at    int // in order of risk
	hunks []hunk
}

// pack chooses what is shown in so many tokens: words first, which take at most
// half of them, then whole files by risk, then parts of others.
func (a *Agent) pack(s *seen, all []words, room int) (*shown, error) {
	out := &shown{seen: s}
	room -= out.packWords(all, room/2)
	out.listRoom = room / listShare
	if listCost(s, out.listRoom)+costOfFiles(s.files) > room {
		room -= out.listRoom // for the names of those that don't fit, too
	} else {
		out.listRoom = listCost(s, out.listRoom)
		room -= out.listRoom
	}
	var rest []*part
	for i, f := range s.files {
		p := &part{file: f, at: i}
		if cost := f.cost(); cost <= room {
			p.hunks, room = f.hunks, room-cost
			out.parts = append(out.parts, p)
		} else {
			rest = append(rest, p)
		}
	}
	for _, p := range rest {
		room -= p.fill(room)
		if len(p.hunks) == 0 {
			out.left = append(out.left, p.name)
			continue
		}
		out.cut = append(out.cut, p.name)
		out.parts = append(out.parts, p)
	}
	if len(out.parts) == 0 {
		return nil, &dispatch.SkippedError{Why: fmt.Sprintf("over budget: no part of the change fits into the %d tokens that are left", max(room, 0))}
	}
	slices.SortFunc(out.parts, func(a, b *part) int { return cmp.Compare(a.at, b.at) })
	for _, p := range out.parts {
		a.redact(p, out)
	}
	return out, nil
}

// packWords takes words as long as there is room.
func (s *shown) packWords(all []words, room int) (taken int) {
	for _, w := range all {
		if strings.TrimSpace(w.text) == "" {
			continue
		}
		whole := w.text
		w.text = plaintext.Cut(whole, maxWords)
		for Tokens(w.text)+heading > room-taken && len(w.text) > 200 {
			w.text = plaintext.Cut(w.text, max(1, len([]rune(w.text))/2))
		}
		cost := Tokens(w.text) + heading
		if cost > room-taken {
			s.wordsLeft++
			continue
		}
		if w.text != whole {
			s.wordsLeft++
		}
		taken += cost
		s.words = append(s.words, w)
	}
	return taken
}

// fill takes as many lines of the file's hunks as there is room for.
func (p *part) fill(room int) (taken int) {
	taken = p.file.headCost()
	for _, h := range p.file.hunks {
		last := -1 // the end in h of the lines that were taken last
		for from := 0; from < len(h.lines); from += linesAtOnce {
			to := min(from+linesAtOnce, len(h.lines))
			some := hunk{section: h.section, lines: h.lines[from:to]}
			cost := some.cost()
			if cost > room-taken {
				continue
			}
			taken += cost
			if last == from { // they go on where the last ended
				p.hunks[len(p.hunks)-1].lines = h.lines[from-len(p.hunks[len(p.hunks)-1].lines) : to]
			} else {
				p.hunks = append(p.hunks, some)
			}
			last = to
		}
	}
	if len(p.hunks) == 0 {
		return 0
	}
	return taken
}

func costOfFiles(files []*file) (n int) {
	for _, f := range files {
		n += f.cost()
	}
	return n
}

// cost is what all of the file takes, in tokens.
func (f *file) cost() int {
	n := f.headCost()
	for _, h := range f.hunks {
		n += h.cost()
	}
	return n
}

func (f *file) headCost() int { return 2*heading + Tokens(f.name) + Tokens(f.was) }

func (h *hunk) cost() int {
	n := Tokens(h.section) + 4
	for _, l := range h.lines {
		n += Tokens(l.text) + lineSign
	}
	return n
}

// lineSign is what the sign, number and end of a line take, in tokens.
const lineSign = 4

// listCost is what the list of what is not shown takes, or most.
func listCost(s *seen, most int) int {
	n := 0
	for _, list := range [][]string{s.generated, s.textless, s.moved} {
		if len(list) > 0 {
			n += heading
		}
		for _, name := range list {
			n += Tokens(name) + lineSign
		}
	}
	return min(n, most)
}

// redact takes the secrets out of what is shown of a file. The facts have had
// theirs taken out; what is shown otherwise than it stands there may be read
// otherwise. A hunk whose lines don't come back as many as they were is not shown.
func (a *Agent) redact(p *part, s *shown) {
	hunks := make([]hunk, 0, len(p.hunks))
	for _, h := range p.hunks {
		texts := make([]string, len(h.lines))
		for i, l := range h.lines {
			texts[i] = l.text
		}
		clean := strings.Split(a.RedactBeside(strings.Join(texts, "\n")), "\n")
		if len(clean) != len(texts) {
			s.withheld++
			continue
		}
		lines := slices.Clone(h.lines)
		for i := range lines {
			lines[i].text = clean[i]
			if lines[i].cut > 0 {
				s.lines++
			}
		}
		hunks = append(hunks, hunk{section: h.section, lines: lines})
	}
	p.hunks = hunks
}

// notes say what there was no room for.
func (s *shown) notes() (notes []string) {
	if len(s.left) > 0 {
		notes = append(notes, "not shown for want of room: "+named(s.left))
	}
	if len(s.cut) > 0 {
		notes = append(notes, "shown in part: "+named(s.cut))
	}
	if s.withheld > 0 {
		notes = append(notes, fmt.Sprintf("not shown, since secrets run across their lines: %s", count(s.withheld, "part of a file", "parts of files")))
	}
	if s.wordsLeft > 0 {
		notes = append(notes, fmt.Sprintf("not shown to the end: %s", count(s.wordsLeft, "text that people wrote", "texts that people wrote")))
	}
	if s.lines > 0 {
		notes = append(notes, fmt.Sprintf("shown up to %d characters: %s", maxLine, count(s.lines, "line", "lines")))
	}
	return notes
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
