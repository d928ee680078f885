package literals

import (
	"bytes"
	"slices"
	"strings"
)

// maxOneOf is how many literals are looked for one after the other before the
// expression itself would be as fast.
const maxOneOf = 24

// Guard is what text must hold to match an expression: at least one of some
// literals, all of some guards or one of some. It is far cheaper to ask than
// the expression. Nil holds for every text.
type Guard struct {
	oneOf []wanted
	all   []*Guard
	any   []*Guard
	from  []Literal // that oneOf was made of
}

// wanted is a literal without what is known of its place.
type wanted struct {
	text   string // as it stands
	folded []byte // in lower case, where that is how it is looked for
}

// Text is a text that guards are asked about. Its zero value is ready for use.
type Text struct {
	text    string
	lower   []byte
	lowered bool
}

// Set turns to another text.
func (t *Text) Set(text string) { t.text, t.lowered = text, false }

func (t *Text) folded() []byte {
	if !t.lowered {
		t.lowered = true
		t.lower = append(t.lower[:0], t.text...)
		lowerBytes(t.lower)
	}
	return t.lower
}

// Holds reports whether the text has what the guard asks for.
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

// oneOf is the guard for text that holds one of the literals.
func oneOf(list []Literal) *Guard {
	g := &Guard{from: list}
	for i := range list {
		if list[i].Text == "" {
			return nil
		}
		redundant := false
		for j := range list {
			// Of two that cover each other, the first stays.
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

// both is the guard for text that a and b hold for.
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

// either is the guard for text that one of the guards holds for.
func either(guards []*Guard) *Guard {
	if slices.Contains(guards, nil) {
		return nil
	}
	return &Guard{any: guards}
}

// without leaves out what the text is known to hold, and asks first for what
// is found fastest.
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

// cost is how many literals are looked for at most, those that need a text in
// lower case counted more.
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
