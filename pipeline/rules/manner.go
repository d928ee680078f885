package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// manner is what a language takes for the same.
type manner uint8

const (
	withKeys      manner = 1 << iota // a key in quotes, and one without
	withWords                        // a word with quotes in it, and one without
	withUnpacking                    // a keyword of a call, and an unpacked key
)

// worded are languages in which quotes may stand within a word.
var worded = map[string]bool{"": true, "Shell": true, "Dockerfile": true, "Makefile": true, "YAML": true, "Pip Requirements": true}

// mannerOf is the manner of a language, or of any.
func mannerOf(language string, any bool) manner {
	var m manner
	if any || keyed[language] {
		m |= withKeys
	}
	if any || worded[language] {
		m |= withWords
	}
	if any || language == "Python" {
		m |= withUnpacking
	}
	return m
}

// mayHaveForms reports whether a line may have other forms, by its shape first.
func (m manner) mayHaveForms(s shape, text string) bool {
	switch {
	case s&unusualShape != 0, m&(withKeys|withUnpacking) != 0 && s&shapeKey != 0:
		return true
	case m&withUnpacking != 0 && s&shapeText != 0 && hasUnpacked(text):
		return true
	}
	return m&withWords != 0 && (s&shapeText != 0 || strings.IndexByte(text, '$') >= 0) && hasWords(text)
}

// more adds the forms of a text that only some languages know.
func (m manner) more(forms []string, text string) []string {
	if m&withKeys != 0 {
		if bare := bareKeys(text); bare != text {
			forms = append(forms, bare)
		}
	}
	if m&withWords != 0 && hasWords(text) {
		if words := wordsOf(text); words != text {
			forms = append(forms, words)
		}
	}
	if m&withUnpacking != 0 && hasUnpacked(text) {
		forms = append(forms, unpacked(text))
	}
	return forms
}

// inWord reports whether a character is usual within a word of a command.
func inWord(c byte) bool { return c != '$' && isWord(c) || c == '-' }

// hasWords reports whether a text may hold words in which quotes or expansions stand.
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

// wordsOf is a text without quotes around a part of a word, and without what most likely
// expands to nothing within a word.
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

// emptyEnd is where an expansion ends that starts at a place, if it stands within a word or
// before an option, as what is empty may, or 0.
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

// hasUnpacked reports whether a text may hold a dictionary that is unpacked into keywords: one
// whose first key is in quotes, without which unpacked has no keyword to write.
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

// unpacked is a text with keywords in place of the dictionaries that are unpacked into them:
// **{"a": b} is a=b.
func unpacked(text string) string {
	out := make([]byte, 0, len(text))
	texts := comments.TextsOf(text)
	var open []bool // the braces that are open, and whether they are unpacked
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
