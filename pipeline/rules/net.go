package rules

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// netMatch is a match in line i of the current hunk of a rule that counts net.
type netMatch struct {
	match
	op pipeline.LineOp
	i  int
}

// settle adds the matches of rules that count net in a block of changed lines, with the indices from
// and, exclusive, to. A match counts if no line of the block on the other side is its counterpart.
func (p *pass) settle(h *pipeline.Hunk, from, to int) {
	for len(p.pending) > 0 && p.ctx.Err() == nil {
		r := p.pending[0].rule
		var texts []string
		for _, f := range p.pending {
			if f.rule == r {
				texts = append(texts, f.text)
			}
		}
		isNew := netOf(texts, p.otherSide(r, h, from, to))
		at := 0
		p.pending = slices.DeleteFunc(p.pending, func(f netMatch) bool {
			if f.rule != r {
				return false
			}
			switch {
			case !isNew[at]:
			case f.op == pipeline.LineAdded && p.stoodWithin(f.i, from, to):
				p.add(f.match) // its counterpart cancelled another line
			default:
				p.addNew(f.match, f.op, f.i)
			}
			at++
			return true
		})
	}
}

// stoodWithin reports whether line i of the current hunk stood before in a block of it, with the
// indices from and, exclusive, to.
func (p *pass) stoodWithin(i, from, to int) bool {
	at := p.at
	at.line = i
	origins := p.past.known()
	for _, of := range []map[spot]spot{origins.of, origins.blocks} {
		if o, ok := of[at]; ok && o.file == at.file && o.hunk == at.hunk && from <= o.line && o.line < to {
			return true
		}
	}
	return false
}

// otherSide returns the matching lines of a block on the side that the rule does not look at:
// removed lines for a rule on added lines, and the reverse.
func (p *pass) otherSide(r *rule, h *pipeline.Hunk, from, to int) []string {
	read := &p.removedBefore
	if r.on == config.OnRemoved {
		read = &p.addedBefore
	}
	if from > 0 {
		read.comment(from - 1) // blocks come in order, so each line is read once for all of them
	}
	side, language := *read, p.view.language(r)
	var texts []string
	for i := from; i < to; i++ {
		if l := &h.Lines[i]; l.Op == side.op && r.matches(side.code(r, language, i, bounded(l.Text, maxLine)), language) {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// maxCompared bounds the pairs of lines that are compared in a block. Above it, the
// first lines count as the old ones.
const maxCompared = 10_000

// netOf reports for each line whether it is new. Each line of the other side
// cancels one line: the one with the longest common start, or the first of several.
func netOf(lines, others []string) []bool {
	isNew := make([]bool, len(lines))
	for i := range isNew {
		isNew[i] = true
	}
	if len(others) >= len(lines) || len(others)*len(lines) > maxCompared {
		clear(isNew[:min(len(others), len(isNew))])
		return isNew
	}
	for _, o := range others {
		best, longest := -1, -1
		for i, l := range lines {
			if n := commonStart(l, o); isNew[i] && n > longest {
				best, longest = i, n
			}
		}
		isNew[best] = false
	}
	return isNew
}

// commonStart is the length of the common start of two lines, in bytes, up to a
// bound.
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
