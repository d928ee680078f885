package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// nesting is how deeply the end of the lines read so far is nested in parentheses and
// brackets. It is uncertain, since a seeming string may not be one. So there are three
// counts, and the statement continues if any of them is above zero.
type nesting struct {
	raw    int  // counts every bracket
	code   int  // leaves out brackets in strings
	wide   int  // as code, but where strings are uncertain, leaves out all between the first and the last quote
	braces int  // in code
	open   byte // the quote of a string that continues on the next line, or 0
	three  bool // three quotes end the string
	doubt  bool // one of the lines has uncertain strings
	lost   bool // from some line on, a string may continue on the next
}

// deep reports whether a string or a bracket is open.
func (n *nesting) deep() bool { return n.open != 0 || n.raw > 0 || n.code > 0 || n.wide > 0 }

// The kinds of bytes that matter for nesting.
const (
	kindOpen = 1 + iota
	kindClose
	kindQuote
	kindSlash
	kindBrace
	kindBlank
)

var nestingKinds = func() (k [256]byte) {
	for kind, bytes := range map[byte]string{kindOpen: "([", kindClose: ")]", kindQuote: "\"'`", kindSlash: "/", kindBrace: "{}", kindBlank: " \t"} {
		for i := range len(bytes) {
			k[bytes[i]] = kind
		}
	}
	return k
}()

// brackets is the depth after a text, given the depth before it.
func brackets(text string, depth int) int {
	for i := range len(text) {
		switch nestingKinds[text[i]] {
		case kindOpen:
			depth++
		case kindClose:
			depth = max(0, depth-1)
		}
	}
	return depth
}

// read reads the next line, which has no comments.
func (n *nesting) read(y *layout, text string) {
	raw := brackets(text, n.raw)
	if n.open == 0 && !strings.ContainsAny(text, y.shaky) {
		wide := raw
		if n.code != n.raw || n.wide != n.raw {
			n.code, wide = brackets(text, n.code), brackets(text, n.wide)
		} else {
			n.code = raw
		}
		if !n.lost || raw > n.raw {
			n.wide = wide
		}
		n.raw = raw
		n.braces = max(0, n.braces+strings.Count(text, "{")-strings.Count(text, "}"))
		return
	}
	n.raw = raw
	before, code, doubt := n.code, n.code, false
	var unclosed [256]bool // quotes that are never closed
	last := byte('(')      // the last character other than a space
	regex := y.regex       // until one has no end
	at := 0
	if n.open != 0 {
		at, doubt = n.after(y, text, 0)
	}
	for at < len(text) {
		c := text[at]
		switch nestingKinds[c] {
		case kindBlank:
			at++
			continue
		case kindOpen:
			code++
		case kindClose:
			code = max(0, code-1)
		case kindBrace:
			if c == '{' {
				n.braces++
			} else {
				n.braces = max(0, n.braces-1)
			}
		case kindQuote:
			if unclosed[c] {
				break
			}
			if at > 0 && strings.IndexByte("@#R$", text[at-1]) >= 0 {
				doubt = true
			}
			three := y.three && at+2 < len(text) && text[at+1] == c && text[at+2] == c
			size := 1
			if three {
				size = 3
			}
			n.open, n.three = c, three
			to, unsure := n.after(y, text, at+size)
			doubt = doubt || unsure
			if n.open != 0 && !three && strings.IndexByte(y.multi, c) < 0 && text[len(text)-1] != '\\' {
				n.open, unclosed[c], doubt = 0, true, true // it does not begin a string
				at++
			} else {
				at = to
			}
			last = c
			continue
		case kindSlash:
			if !y.regex {
				break
			}
			if begins, _ := comments.BeginsRegexp(text, at); regex && begins {
				to := comments.RegexpEnd(text, at)
				regex = to > 0
				at, last, doubt = max(to, at+1), '/', true
				continue
			}
			doubt = doubt || last != '<' && at+1 < len(text) && text[at+1] != '>'
		}
		last = c
		at++
	}
	n.code = code
	switch {
	case doubt:
		first, end := strings.IndexAny(text, y.shaky), strings.LastIndexAny(text, y.shaky)
		depth := brackets(text[:max(first, 0)], n.wide)
		if !n.lost {
			depth = brackets(text[end+1:], depth)
		}
		n.wide = max(depth, n.wide+code-before)
		n.lost = n.lost || y.multi != "" && strings.ContainsAny(text, y.multi) || y.three && (strings.Contains(text, `"""`) || strings.Contains(text, "'''"))
	case !n.lost || code > before:
		n.wide = max(0, n.wide+code-before)
	}
	n.doubt = n.doubt || doubt
}

// after returns the position after the string that continues at a position, or the end of
// the line if the string continues there. It also returns whether the string may end
// elsewhere: at a quote after a backslash, or at one in braces.
func (n *nesting) after(y *layout, text string, at int) (to int, doubt bool) {
	braces := 0
	for at < len(text) {
		switch c := text[at]; {
		case c == '\\':
			if y.plainTicks && n.open == '`' {
				break
			}
			doubt = doubt || at+1 < len(text) && nestingKinds[text[at+1]] == kindQuote
			at++
		case c == '{':
			braces++
		case c == '}':
			braces--
		case c != n.open:
		case !n.three:
			n.open = 0
			return at + 1, doubt || braces != 0
		case at+2 < len(text) && text[at+1] == c && text[at+2] == c:
			n.open, n.three = 0, false
			return at + 3, doubt || braces != 0
		}
		at++
	}
	return len(text), doubt || braces != 0
}
