package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// keyed are languages in which a key often means the same with and without quotes.
var keyed = map[string]bool{
	"": true, "JavaScript": true, "TypeScript": true, "TSX": true, "CoffeeScript": true, "Vue": true, "Svelte": true, "Astro": true, "HTML": true, "HTML+ERB": true, "EJS": true,
	"Handlebars": true, "Blade": true, "Jinja": true, "Twig": true, "MDX": true, "YAML": true, "Ruby": true,
}

// bareKeys removes the quotes from keys: {"a": b} becomes {a: b}. Outside calls, a
// key whose value is a long string keeps its quotes, as keys of data do.
func bareKeys(text string) string {
	if !hasKey(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	texts := comments.TextsOf(text)
	before, called := byte('{'), false
	for i := 0; i < len(text); i++ {
		c, n := text[i], 0
		if quotes(c) {
			n = texts.At(i)
		}
		if n > 0 {
			name, m := quotedName(text[i : i+n])
			if m == n && c != '`' && beforeKey(before) && isValue(text, i+n, called) {
				out = append(out, name...)
			} else {
				out = append(out, text[i:i+n]...)
			}
			i += n - 1
			before = c
			continue
		}
		out = append(out, c)
		called = called || c == '('
		if !isBlank(c) {
			before = c
		}
	}
	return string(out)
}

// beforeKey reports whether a key may follow the character.
func beforeKey(c byte) bool { return in("{,(-", c) }

// isValue reports whether position i has a colon and a value that matters.
func isValue(text string, i int, called bool) bool {
	i += blanks(text, i)
	if at(text, i) != ':' {
		return false
	}
	i += 1 + blanks(text, i+1)
	c := at(text, i)
	switch {
	case isWord(c) || in("(!<`", c):
		return true
	case c == '"' || c == '\'':
		end := i + 1
		for isWord(at(text, end)) && end-i < 10 {
			end++
		}
		return called || at(text, end) == c // an empty string may stand for a constant
	}
	return called && c != 0 && c != ':'
}

// hasKey reports whether bareKeys may change a text.
func hasKey(text string) bool {
	called := -1 // the position of the first parenthesis, computed when needed
	for from := 0; ; from++ {
		i := strings.IndexByte(text[from:], ':')
		if i < 0 {
			return false
		}
		from += i
		end := trimmed(text, from) - 1
		if end < 1 || text[end] != '"' && text[end] != '\'' {
			continue
		}
		start := end - 1
		for start >= 0 && end-start < 100 && isWord(text[start]) {
			start--
		}
		if start < 0 || text[start] != text[end] {
			continue
		}
		if before := trimmed(text, start); before > 0 && !beforeKey(text[before-1]) {
			continue
		}
		if called < 0 {
			if called = strings.IndexByte(text, '('); called < 0 {
				called = len(text)
			}
		}
		if isValue(text, from, called < start) {
			return true
		}
	}
}
