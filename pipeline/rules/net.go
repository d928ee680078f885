package rules

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// settle adds what the rules that count net found in a hunk: the lines for
// which there is no counterpart on the other side.
func (p *pass) settle(h *pipeline.Hunk) {
	for len(p.pending) > 0 {
		r := p.pending[0].rule
		var texts []string
		for _, f := range p.pending {
			if f.rule == r {
				texts = append(texts, f.text)
			}
		}
		news := netOf(texts, p.otherSide(r, h))
		i := 0
		p.pending = slices.DeleteFunc(p.pending, func(f found) bool {
			if f.rule != r {
				return false
			}
			if news[i] {
				p.add(f)
			}
			i++
			return true
		})
	}
}

// otherSide returns the lines that match among those that the rule does not
// look at: the removed ones for added, the added ones for removed.
func (p *pass) otherSide(r *rule, h *pipeline.Hunk) []string {
	op := pipeline.LineRemoved
	if r.on == config.OnRemoved {
		op = pipeline.LineAdded
	}
	side, language := newSide(p.file.Language, h, op), p.view.language(r)
	var texts []string
	for i := range h.Lines {
		if l := &h.Lines[i]; l.Op == op && r.matches(side.code(r, language, i, bounded(l.Text, maxLine)), language) {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// maxCompared bounds the pairs of lines that are compared in a hunk. Beyond it
// the first lines are taken to be the old ones.
const maxCompared = 10_000

// netOf says of each line whether it is news. Each line of the other side takes
// one away: the one that begins most like it, the first among equals.
func netOf(lines, others []string) []bool {
	news := make([]bool, len(lines))
	for i := range news {
		news[i] = true
	}
	if len(others) >= len(lines) || len(others)*len(lines) > maxCompared {
		clear(news[:min(len(others), len(news))])
		return news
	}
	for _, o := range others {
		best, longest := -1, -1
		for i, l := range lines {
			if n := commonStart(l, o); news[i] && n > longest {
				best, longest = i, n
			}
		}
		news[best] = false
	}
	return news
}

// commonStart is how many bytes two lines have in common from their start, as
// far as it is worth looking.
func commonStart(a, b string) int {
	const most = 200
	n := min(len(a), len(b), most)
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
