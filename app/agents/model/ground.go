package model

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// verdict says whether what a claim quotes was shown.
type verdict int

const (
	grounded verdict = iota
	ungrounded
	elsewhere
)

// grounds are what quotes can stand on: all that was shown.
type grounds struct {
	files map[string]*ground   // by name
	words map[string][]passage // by section
}

// ground is a file after the change, as far as it was shown.
type ground struct {
	path  string
	hunks []passage
}

func newGrounds(s *shown) *grounds {
	g := &grounds{files: map[string]*ground{}, words: map[string][]passage{}}
	for _, p := range s.parts {
		f := &ground{path: p.path}
		for _, h := range p.hunks {
			f.hunks = append(f.hunks, passageOf(h.lines))
		}
		g.files[p.name] = f
	}
	for _, w := range s.words {
		var lines []line
		for l := range strings.SplitSeq(w.text, "\n") {
			lines = append(lines, line{sign: ' ', text: l})
		}
		g.words[w.section] = append(g.words[w.section], passageOf(lines))
	}
	return g
}

// settle puts a claim where its quotes stand, and leaves those out that stand
// nowhere. A claim about a file rests on a quote from it; one that rests on words
// alone is about them.
func (g *grounds) settle(c *claim) verdict {
	file := g.files[strings.TrimPrefix(strings.TrimSpace(c.Path), "./")]
	if file != nil && g.onFile(c, file) {
		return grounded
	}
	if words := g.words[c.Section]; words != nil && g.onWords(c, words) {
		return grounded
	}
	if file != nil || c.Path == "" && g.words[c.Section] != nil {
		return ungrounded
	}
	return elsewhere
}

func (g *grounds) onFile(c *claim, f *ground) bool {
	var at *span
	var quotes []string
	for _, quote := range c.quotes {
		best := f.find(quote, c)
		if best == nil {
			continue
		}
		quotes = append(quotes, plaintext.Cut(best.text, maxQuote))
		if at == nil {
			at = best
		}
	}
	if at == nil {
		return false
	}
	c.Path, c.Section, c.Evidence = f.path, "", quotes
	f.anchor(c, *at)
	return true
}

// find is the place of a quote that is nearest to the lines which the claim names,
// or the first that the change added to.
func (f *ground) find(quote string, c *claim) (best *span) {
	for _, q := range readings(quote) {
		for i := range f.hunks {
			for _, s := range f.hunks[i].spans(q) {
				if best == nil || c.nearer(s, *best) {
					best = &s
				}
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// nearer reports whether a is nearer to the claimed lines than b.
func (c *claim) nearer(a, b span) bool {
	if c.StartLine > 0 {
		if x, y := c.distance(a), c.distance(b); x != y {
			return x < y
		}
	}
	return a.added && !b.added
}

func (c *claim) distance(s span) int {
	return max(s.from-max(c.EndLine, c.StartLine), c.StartLine-s.to, 0)
}

// anchor puts a claim on the lines that it names, where these are shown together
// and its quote stands in them, and else on the quote. A fix belongs to the lines
// that were named: on others it would be wrong.
func (f *ground) anchor(c *claim, at span) {
	c.EndLine = max(c.StartLine, c.EndLine)
	if c.StartLine > 0 && c.StartLine <= at.from && at.to <= c.EndLine && f.together(c.StartLine, c.EndLine) {
		return
	}
	if c.StartLine != at.from || c.EndLine != at.to {
		c.SuggestedFix = ""
	}
	c.StartLine, c.EndLine = at.from, at.to
}

// together reports whether one hunk shows both lines, neither of which is blank.
func (f *ground) together(from, to int) bool {
	for i := range f.hunks {
		first, last := false, false
		for _, n := range f.hunks[i].numbers {
			first, last = first || n == from, last || n == to
		}
		if first && last {
			return true
		}
	}
	return false
}

// onWords settles a claim about what people wrote.
func (g *grounds) onWords(c *claim, words []passage) bool {
	var quotes []string
	for _, quote := range c.quotes {
		for _, q := range readings(quote) {
			if stands(words, q) {
				quotes = append(quotes, plaintext.Cut(q, maxQuote))
				break
			}
		}
	}
	if len(quotes) == 0 {
		return false
	}
	switch c.Section {
	case inTitle:
		c.Section = pipeline.SectionTitle
	case inDescription:
		c.Section = pipeline.SectionDescription
	default:
		c.Section = pipeline.SectionChange
	}
	c.Path, c.StartLine, c.EndLine, c.Evidence, c.SuggestedFix = "", 0, 0, quotes, ""
	return true
}

func stands(words []passage, quote string) bool {
	for i := range words {
		if len(words[i].spans(quote)) > 0 {
			return true
		}
	}
	return false
}
