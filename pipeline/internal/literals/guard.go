package literals

import (
	"bytes"
	"slices"
	"strings"
)

// maxOneOf is how many literals are looked for one by one before the expression itself would be as
// fast.
const maxOneOf = 24

// Guard is a condition that text must meet to match an expression: it contains one of some
// literals, or meets all or one of some guards. It is far cheaper to check than the expression. A
// nil Guard holds for every text.
type Guard struct {
	oneOf []wanted
	all   []*Guard
	any   []*Guard
	from  []Literal // the source of oneOf
}

// wanted is a literal without its boundaries.
type wanted struct {
	text   string // as written
	folded []byte // in lower case, if case is ignored
}

// Text is a text that guards are checked against. Its zero value is ready for use.
type Text struct {
	text    string
	lower   []byte
	lowered bool
}

// Set sets the text.
func (t *Text) Set(text string) { t.text, t.lowered = text, false }

func (t *Text) folded() []byte {
	if !t.lowered {
		t.lowered = true
		t.lower = append(t.lower[:0], t.text...)
		lowerBytes(t.lower)
	}
	return t.lower
}

// Holds reports whether the text meets the guard.
func (g *Guard) Holds(t *Text) bool {
	if g == nil {
		return true
	}
	for i := range g.oneOf {
		if g.oneOf[i].isIn(t) {
			return true
		}
	}
	for _, sub := range g.any {
		if sub.Holds(t) {
			return true
		}
	}
	for _, sub := range g.all {
		if !sub.Holds(t) {
			return false
		}
	}
	return len(g.all) > 0
}

func (w *wanted) isIn(t *Text) bool {
	if w.folded != nil {
		return bytes.Contains(t.folded(), w.folded)
	}
	return strings.Contains(t.text, w.text)
}

// oneOf is the guard for text that contains one of the literals.
func oneOf(list []Literal) *Guard {
	g := &Guard{from: list}
	for i := range list {
		if list[i].Text == "" {
			return nil
		}
		redundant := false
		for j := range list {
			// If two cover each other, the first stays.
			if i != j && list[j].covers(&list[i]) && (j < i || !list[i].covers(&list[j])) {
				redundant = true
			}
		}
		if !redundant {
			g.oneOf = append(g.oneOf, want(list[i]))
		}
	}
	if len(g.oneOf) == 0 || len(g.oneOf) > maxOneOf {
		return nil
	}
	return g
}

func want(l Literal) wanted {
	if l.Folded && strings.ContainsFunc(l.Text, isLetter) {
		return wanted{folded: []byte(lower(l.Text))}
	}
	return wanted{text: l.Text}
}

// both is the guard for text that meets a and b.
func both(a, b *Guard) *Guard {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := &Guard{}
	for _, g := range []*Guard{a, b} {
		if g.all != nil {
			out.all = append(out.all, g.all...)
		} else {
			out.all = append(out.all, g)
		}
	}
	return out
}

// either is the guard for text that meets one of the guards.
func either(guards []*Guard) *Guard {
	if slices.Contains(guards, nil) {
		return nil
	}
	return &Guard{any: guards}
}

// without removes what the text is known to contain, and puts what is checked fastest first.
func (g *Guard) without(known []Literal) *Guard {
	if g == nil {
		return nil
	}
	all := g.all
	if all == nil {
		all = []*Guard{g}
	}
	var out []*Guard
	for _, sub := range all {
		if sub.from == nil || !slices.Equal(sub.from, known) {
			out = append(out, sub)
		}
	}
	if len(out) == 0 {
		return nil
	}
	slices.SortStableFunc(out, func(a, b *Guard) int { return a.cost() - b.cost() })
	return &Guard{all: out}
}

// cost is the largest number of literals that are looked for. Those that need the text in lower
// case count more.
func (g *Guard) cost() int {
	n := 0
	for i := range g.oneOf {
		n++
		if g.oneOf[i].folded != nil {
			n += 4
		}
	}
	for _, sub := range slices.Concat(g.all, g.any) {
		n += sub.cost()
	}
	return n
}
