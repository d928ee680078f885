package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// dialect is a set of forms that mean the same in a language.
type dialect uint8

const (
	withKeys      dialect = 1 << iota // a key means the same with and without quotes
	withWords                         // a word means the same with and without quotes in it
	withUnpacking                     // an unpacked key means the same as a keyword of a call
)

// worded are languages that allow quotes within a word.
var worded = map[string]bool{"": true, "Shell": true, "Dockerfile": true, "Makefile": true, "YAML": true, "Pip Requirements": true}

// dialectOf is the dialect of a language, or of all languages if any is set.
func dialectOf(language string, any bool) dialect {
	var d dialect
	if any || keyed[language] {
		d |= withKeys
	}
	if any || worded[language] {
		d |= withWords
	}
	if any || language == "Python" {
		d |= withUnpacking
	}
	return d
}

// mayHaveForms reports whether a line may have other forms. It checks the shape
// first.
func (d dialect) mayHaveForms(s shape, text string) bool {
	switch {
	case s&unusualShape != 0, d&(withKeys|withUnpacking) != 0 && s&shapeKey != 0:
		return true
	case d&withUnpacking != 0 && s&shapeText != 0 && hasUnpacked(text):
		return true
	}
	return d&withWords != 0 && (s&shapeText != 0 || strings.IndexByte(text, '$') >= 0) && hasWords(text)
}

// more adds the forms of a text that only some languages have.
func (d dialect) more(forms []string, text string) []string {
	if d&withKeys != 0 {
		if bare := bareKeys(text); bare != text {
			forms = append(forms, bare)
		}
	}
	if d&withWords != 0 && hasWords(text) {
		if words := wordsOf(text); words != text {
			forms = append(forms, words)
		}
	}
	if d&withUnpacking != 0 && hasUnpacked(text) {
		forms = append(forms, unpacked(text))
	}
	return forms
}

// inWord reports whether a character is usual within a word of a command.
func inWord(c byte) bool { return c != '$' && isWord(c) || c == '-' }

// hasWords reports whether a text may hold words that contain quotes or expansions.
func hasWords(text string) bool {
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\'':
			if next := at(text, i+1); i > 0 && inWord(text[i-1]) && (inWord(next) || next == c) {
				return true
			}
		case '$':
			if emptyEnd(text, i) > 0 {
				return true
			}
		}
	}
	return false
}

// wordsOf removes quotes around parts of words, and expansions within words that
// are most likely empty.
func wordsOf(text string) string {
	out := make([]byte, 0, len(text))
	texts, close := comments.TextsOf(text), -1
	for i := 0; i < len(text); i++ {
		c, n := text[i], 0
		switch {
		case i == close:
			continue
		case i > close && (c == '"' || c == '\''):
			n = texts.At(i)
		case c == '$':
			if end := emptyEnd(text, i); end > 0 {
				i = end - 1
				continue
			}
		}
		if n > 0 {
			partly := i > 0 && inWord(text[i-1]) || inWord(at(text, i+n))
			if partly && !strings.ContainsAny(text[i:i+n], " \t|;&<>()$\\") {
				close = i + n - 1
				continue
			}
			close = i + n - 1
			out = append(out, text[i:i+n]...)
			i = close
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// emptyEnd returns the end of the expansion at position i if it stands within a
// word or before an option, as an empty one may. Otherwise it returns 0.
func emptyEnd(text string, i int) int {
	end := i + 1
	switch c := at(text, end); {
	case c == '{':
		for end++; end-i < maxLook && isWord(at(text, end)); end++ {
		}
		if at(text, end) != '}' {
			return 0
		}
		end++
	case c == '(':
		if end++; at(text, end) == ':' {
			end++
		}
		if at(text, end) != ')' {
			return 0
		}
		end++
	case c == '@' || c == '*' || isDigit(c):
		end++
	case isName(c):
		for end < len(text) && end-i < maxLook && isWord(text[end]) && text[end] != '$' {
			end++
		}
	}
	if end == i+1 {
		return 0
	}
	before, next := byte(' '), at(text, end)
	if i > 0 {
		before = text[i-1]
	}
	if isBlank(before) && next == '-' || inWord(before) && before != '-' && before != '_' && inWord(next) && next != '-' && next != '_' {
		return end
	}
	return 0
}

// hasUnpacked reports whether a text may hold a dictionary literal that is unpacked
// into keywords. Its first key must be in quotes, or unpacked has no keyword to
// write.
func hasUnpacked(text string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], "**")
		if i < 0 {
			return false
		}
		from += i + 2
		brace := from + blanks(text, from)
		if at(text, brace) == '{' && quotes(at(text, brace+1+blanks(text, brace+1))) {
			return true
		}
	}
}

// unpacked replaces dictionaries that are unpacked into keywords by the keywords:
// **{"a": b} becomes a=b.
func unpacked(text string) string {
	out := make([]byte, 0, len(text))
	texts := comments.TextsOf(text)
	var open []bool // the open brackets, and whether each is unpacked
	for i := 0; i < len(text); i++ {
		c := text[i]
		within := len(open) > 0 && open[len(open)-1]
		switch {
		case quotes(c):
			n := max(1, texts.At(i))
			name, m := quotedName(text[i : i+n])
			if colon := i + n + blanks(text, i+n); within && m == n && at(text, colon) == ':' {
				out = append(append(out, name...), '=')
				i = colon + blanks(text, colon+1)
				continue
			}
			out = append(out, text[i:i+n]...)
			i += n - 1
		case c == '*' && at(text, i+1) == '*' && at(text, i+2+blanks(text, i+2)) == '{':
			open = append(open, true)
			i += 2 + blanks(text, i+2)
		case c == '{' || c == '(' || c == '[':
			open = append(open, false)
			out = append(out, c)
		case c == '}' || c == ')' || c == ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			if c != '}' || !within {
				out = append(out, c)
			}
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
