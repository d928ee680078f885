package rules

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// A line that the change adds is not new if the change also removes it, and the same rule matches it
// where it stood. Each removed line stands for one added line, the nearest: one of the same
// changed block, of the same hunk, of the same file, or of another file of the same kind.

// spot is a line of the change, by its indexes.
type spot struct{ file, hunk, line int }

// origins tells where the added lines of a change stood before.
type origins struct {
	of map[spot]spot
	// blocks has the first removed line of a block of changed lines that differs only in white
	// space, by the block's added lines. The lines themselves may be split and joined.
	blocks map[spot]spot
}

// occurrence is a changed line, and what decides which other lines can be the same.
type occurrence struct {
	spot
	block int    // the number of the block of changed lines in the hunk
	kind  string // of the file; files of different kinds have no lines in common
}

// reach is how far a line of a language can move without a change of its meaning.
type reach int

const (
	inBlock reach = iota
	inHunk
	inFile
	inChange
)

// reaches says how far a line may move in languages where its place decides what it does. In others a
// line may move to another file.
var reaches = map[string]reach{
	"JSON": inBlock, "JSON with Comments": inBlock, "TOML": inBlock, "XML": inBlock, "Maven POM": inBlock, "INI": inBlock,
	"Dockerfile": inFile, "Makefile": inFile, "HCL": inFile,
}

// reachOf returns how far the lines of a file can move. If ok is false, each added line is new:
// nobody knows the language, or the indentation decides what a line belongs to. A renamed or copied
// file is one of these, since its removed lines stood under another path, or still do.
func reachOf(f *pipeline.File) (r reach, ok bool) {
	switch {
	case f.Language == "", f.Language == "YAML", f.Language == "Pip Requirements", normalize.Ambiguous(f),
		f.PreviousPath != "" && f.PreviousPath != f.Path, f.Status == pipeline.FileCopied:
		return 0, false
	}
	if r, listed := reaches[f.Language]; listed {
		return r, true
	}
	return inChange, true
}

// kindOfFile returns what files have in common between which lines can move.
func kindOfFile(f *pipeline.File) string {
	kind := []byte(normalize.Family(f.Language))
	for _, flag := range []bool{f.Test, f.Documentation, f.Vendored, f.Generated, f.GeneratedByPath, f.ByBase} {
		mark := byte('-')
		if flag {
			mark = '+'
		}
		kind = append(kind, mark)
	}
	return string(kind)
}

// originsOf pairs the added lines of a change with its removed lines.
func originsOf(files []pipeline.File) *origins {
	o := &origins{of: map[spot]spot{}, blocks: map[spot]spot{}}
	type sides struct{ added, removed []occurrence }
	lines := map[string]*sides{}
	for f := range files {
		file := &files[f]
		if _, ok := reachOf(file); !ok {
			continue
		}
		kind := kindOfFile(file)
		for h := range file.Hunks {
			hunk := &file.Hunks[h]
			block, start := 0, 0
			for i := range hunk.Lines {
				l := &hunk.Lines[i]
				if l.Op == pipeline.LineContext {
					o.block(file.Language, hunk, spot{f, h, start}, i)
					block, start = block+1, i+1
					continue
				}
				key := squeeze(bounded(l.Text, maxLine))
				s := lines[key]
				if s == nil {
					s = &sides{}
					lines[key] = s
				}
				at := occurrence{spot{f, h, i}, block, kind}
				if l.Op == pipeline.LineAdded {
					s.added = append(s.added, at)
				} else {
					s.removed = append(s.removed, at)
				}
			}
			o.block(file.Language, hunk, spot{f, h, start}, len(hunk.Lines))
		}
	}
	for _, s := range lines {
		o.pair(files, s.added, s.removed)
	}
	return o
}

// pair pairs equal lines, the nearest first.
func (o *origins) pair(files []pipeline.File, added, removed []occurrence) {
	if len(added) == 0 || len(removed) == 0 {
		return
	}
	type group struct {
		file, hunk, block int
		kind              string
	}
	for _, far := range []reach{inBlock, inHunk, inFile, inChange} {
		groupOf := func(c *occurrence) group {
			switch far {
			case inBlock:
				return group{file: c.file, hunk: c.hunk, block: c.block}
			case inHunk:
				return group{file: c.file, hunk: c.hunk}
			case inFile:
				return group{file: c.file}
			}
			return group{kind: c.kind}
		}
		within := func(c *occurrence) bool { r, ok := reachOf(&files[c.file]); return ok && r >= far }
		left := map[group][]spot{}
		for i := range removed {
			if c := &removed[i]; within(c) {
				g := groupOf(c)
				left[g] = append(left[g], c.spot)
			}
		}
		used := map[spot]bool{}
		added = slices.DeleteFunc(added, func(c occurrence) bool {
			g := groupOf(&c)
			if !within(&c) || len(left[g]) == 0 {
				return false
			}
			o.of[c.spot] = left[g][0]
			used[left[g][0]] = true
			left[g] = left[g][1:]
			return true
		})
		removed = slices.DeleteFunc(removed, func(c occurrence) bool { return used[c.spot] })
	}
}

// block finds out whether the block of changed lines from a line to the one before end differs only
// in white space. A block with what may be comments does not count: they end with their line.
func (o *origins) block(language string, h *pipeline.Hunk, from spot, end int) {
	var was, is strings.Builder
	removed, added := -1, 0
	for i := from.line; i < end; i++ {
		if l := &h.Lines[i]; l.Op == pipeline.LineAdded {
			added++
		} else if removed < 0 {
			removed = i
		}
	}
	if removed < 0 || added == 0 || !comments.Known(language) {
		return
	}
	for i := from.line; i < end; i++ {
		l := &h.Lines[i]
		text := bounded(l.Text, maxLine)
		if comments.Bare(language, text) != text {
			return
		}
		b := &was
		if l.Op == pipeline.LineAdded {
			b = &is
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	if squeeze(was.String()) != squeeze(is.String()) {
		return
	}
	for i := from.line; i < end; i++ {
		if h.Lines[i].Op == pipeline.LineAdded {
			o.blocks[spot{from.file, from.hunk, i}] = spot{from.file, from.hunk, removed}
		}
	}
}

// squeeze removes the white space of code that has no meaning in most languages: at the start and
// the end, and outside of strings beside anything but letters and digits. It also removes the
// commas that formatters write before a closing bracket.
func squeeze(text string) string {
	text = strings.TrimSpace(text)
	if !strings.ContainsAny(text, " \t\r\n,") {
		return text
	}
	out := make([]byte, 0, len(text))
	var quote byte
	blank := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if quote != 0 {
			out = append(out, c)
			switch {
			case c == '\\' && i+1 < len(text):
				i++
				out = append(out, text[i])
			case c == quote:
				quote = 0
			}
			continue
		}
		if isBlank(c) || c == '\r' || c == '\n' {
			blank = true
			continue
		}
		last := byte(0)
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		if blank && (wordLike(last) && wordLike(c) || last == c) {
			out = append(out, ' ')
		}
		blank = false
		if last == ',' && in(")]}", c) {
			out = out[:len(out)-1]
		}
		if in("\"'`", c) {
			quote = c
		}
		out = append(out, c)
	}
	return string(out)
}

// wordLike reports whether a character may be part of a name or a number.
func wordLike(c byte) bool { return isWord(c) || c == '$' || c >= 0x80 }

// past is a change as it was before, for the rules that ask.
type past struct {
	files   []pipeline.File
	ignored func(path string) bool // the config ignores the path; may be nil
	origins *origins               // nil until a rule asks
	asked   int                    // how often
	view    *view
	before  sideAt // the side that was read last
	after   sideAt
	texts   oldTexts // of the hunk that was read last
}

// oldTexts are the lines and statements of a hunk before the change.
type oldTexts struct {
	hunk          *pipeline.Hunk
	language      string
	all, squeezed []string
}

// sideAt is a side of a hunk.
type sideAt struct {
	file, hunk int
	side       *side
}

// commentEnd returns how much of a line is certainly a comment at its start.
func (s *sideAt) commentEnd(files []pipeline.File, at spot, op pipeline.LineOp) int {
	if s.side == nil || s.file != at.file || s.hunk != at.hunk || s.side.next > at.line {
		f := &files[at.file]
		fresh := newSide(f.Language, &f.Hunks[at.hunk], op)
		*s = sideAt{at.file, at.hunk, &fresh}
	}
	return s.side.comment(at.line)
}

// known returns the origins of the change's lines.
func (p *past) known() *origins {
	if p.origins == nil {
		p.origins = originsOf(p.files)
	}
	return p.origins
}

// maxStood bounds how many matches of a change are looked up in its base, since each takes a look at
// the whole change. Further matches are new.
const maxStood = 100

// canBlock reports whether the rule's findings can be major or critical. What such a rule matches may
// depend on the lines around it, so a line that moved is new to it.
func (r *rule) canBlock() bool {
	if r.serious() || r.Final {
		return true
	}
	for _, s := range r.SeverityIn {
		if s.Rank() >= pipeline.SeverityMajor.Rank() {
			return true
		}
	}
	return false
}

// stood reports whether what a rule matches in an added line stood in the change's base, and the
// path of the file. The base's line must have had the same severity and must have been reviewed.
func (p *pass) stood(r *rule, at spot) (path string, ok bool) {
	if p.past.asked == maxStood || r.canBlock() {
		return "", false
	}
	p.past.asked++
	from, moved := p.past.known().of[at]
	if moved {
		if path, ok := p.stoodAt(r, at, from, false); ok {
			return path, true
		}
	}
	if from, moved = p.past.known().blocks[at]; moved {
		return p.stoodAt(r, at, from, true)
	}
	return "", false
}

func (p *pass) stoodAt(r *rule, at, from spot, block bool) (path string, ok bool) {
	f := &p.past.files[from.file]
	elsewhere := at.file != from.file
	if elsewhere && (len(r.SeverityIn) > 0 || p.past.ignored != nil && p.past.ignored(f.Path)) {
		return "", false
	}
	if p.past.view == nil {
		p.past.view = newView(p.engine.scopes)
	}
	v := p.past.view
	if v.file != f {
		v.setFile(f)
	}
	if !v.applies(r) || p.refutedBefore(r, f) {
		return "", false
	}
	h := &f.Hunks[from.hunk]
	if askedBefore(r, h, from.line) {
		return "", false
	}
	language := v.language(r)
	if block {
		return f.Path, p.blockStood(r, at, from, language)
	}
	return f.Path, p.lineStood(r, at, from, language)
}

// lineStood reports whether the rule matches the removed line, as code if the added line is code.
func (p *pass) lineStood(r *rule, at, from spot, language string) bool {
	text := bounded(p.past.files[from.file].Hunks[from.hunk].Lines[from.line].Text, maxLine)
	comment := min(p.past.before.commentEnd(p.past.files, from, pipeline.LineRemoved), len(text))
	now := p.past.files[at.file].Hunks[at.hunk].Lines[at.line].Text
	if comment == len(text) && p.past.after.commentEnd(p.past.files, at, pipeline.LineAdded) < len(now) {
		return false
	}
	code := text
	if !r.comments && language != "" {
		code = text[comment:]
	}
	return r.matches(code, language)
}

// blockStood reports whether the rule matches code of the removed line's hunk that holds the added line,
// apart from white space.
func (p *pass) blockStood(r *rule, at, from spot, language string) bool {
	t := &p.past.texts
	if f := &p.past.files[from.file]; t.hunk != &f.Hunks[from.hunk] || t.language != language {
		*t = textsBefore(&f.Hunks[from.hunk], language, dialectOf(f.Language, false))
	}
	line := squeeze(bounded(p.past.files[at.file].Hunks[at.hunk].Lines[at.line].Text, maxLine))
	line = strings.TrimSuffix(line, ",") // formatters add and remove the last one
	for i := range t.all {
		if strings.Contains(t.squeezed[i], line) && r.matches(t.all[i], language) {
			return true
		}
	}
	return false
}

// textsBefore returns the lines of the old side of a hunk, and its statements in all their forms.
func textsBefore(h *pipeline.Hunk, language string, d dialect) oldTexts {
	old := before(h)
	t := oldTexts{hunk: h, language: language}
	var shapes scratch
	shapes.setShapes(&old)
	for i := range old.Lines {
		t.all = append(t.all, bounded(old.Lines[i].Text, maxLine))
	}
	for _, s := range statements(language, &old, shapes.shapes) {
		if !s.maybeComment {
			t.all = append(t.all, readingsIn(s.text, d)...)
		}
	}
	for _, text := range t.all {
		t.squeezed = append(t.squeezed, squeeze(text))
	}
	return t
}

// before returns the old side of a hunk, with the removed lines as added ones.
func before(h *pipeline.Hunk) pipeline.Hunk {
	old := pipeline.Hunk{OldStart: h.OldStart, NewStart: h.OldStart, NewLines: h.OldLines}
	for _, l := range h.Lines {
		switch l.Op {
		case pipeline.LineAdded:
			continue
		case pipeline.LineRemoved:
			l.Op = pipeline.LineAdded
		}
		l.New = l.Old
		old.Lines = append(old.Lines, l)
	}
	return old
}

// askedBefore reports whether a comment in the base may ask to ignore what the rule matches in a
// removed line. Nobody has accepted that for another place.
func askedBefore(r *rule, h *pipeline.Hunk, line int) bool {
	if asksToIgnore(h.Lines[line].Text, r.ID) {
		return true
	}
	for i := line - 1; i >= 0; i-- {
		if l := &h.Lines[i]; l.Op != pipeline.LineAdded {
			return asksToIgnore(l.Text, r.ID)
		}
	}
	return false
}

// refutedBefore reports whether a line of the file, or of the change, spoke against the rule's
// matches in the base.
func (p *pass) refutedBefore(r *rule, f *pipeline.File) bool {
	if r.notInFile != nil && p.shows(f, r.notInFile, pipeline.LineAdded) {
		return true
	}
	return r.notInChange != nil && slices.ContainsFunc(p.past.files, func(f pipeline.File) bool {
		return !f.Documentation && p.shows(&f, r.notInChange, pipeline.LineAdded)
	})
}
