package comments

import "strings"

// Texts finds the texts in quotes of a line. It remembers which quotes nothing closes, so
// that all of a line's quotes together take a time linear in its length: in \'\'\' nothing
// closes any of them, and each would be read to the line's end.
type Texts struct {
	line     string
	raw      string                // quotes between which a backslash escapes nothing
	unclosed [2 * len(quotes)]bool // kinds of quotes that nothing closes any more
	read     int                   // bytes that were looked at, for tests
}

// quotes begin strings. Each also exists tripled.
const quotes = "\"'`"

// TextsOf are the texts of a line.
func TextsOf(line string) Texts { return Texts{line: line} }

// texts are the texts of a line in the language, which may be nil.
func (l *language) texts(line string) Texts {
	t := TextsOf(line)
	if l != nil {
		t.raw = l.raw
	}
	return t
}

// At is the length of the text that starts at a place, with its quotes. It is 0 if none
// starts there or nothing closes it. Places must be asked for from the first to the last,
// and none within a text that was found.
func (t *Texts) At(at int) int {
	if at >= len(t.line) || strings.IndexByte(quotes, t.line[at]) < 0 {
		return 0
	}
	if end := t.end(at+1, t.line[at:at+1]); end >= 0 {
		return end + 1 - at
	}
	return 0
}

// end is where the quote stands that closes a text which begins at a place, right behind
// its own quote, or less than 0. The quote is one or three of the same.
//
// What closes a text is the next such quote that is not escaped: one with an even number of
// backslashes before it. No text begins behind a backslash, so that number, and thus what is
// escaped, is the same for each of them. If nothing closes one, nothing closes a later one.
func (t *Texts) end(at int, quote string) int {
	kind := strings.IndexByte(quotes, quote[0])
	if len(quote) > 1 {
		kind += len(quotes)
	}
	if t.unclosed[kind] {
		return -1
	}
	for i := at; i < len(t.line); i++ {
		if c := t.line[i]; c == '\\' && strings.IndexByte(t.raw, quote[0]) < 0 {
			i++
		} else if c == quote[0] && strings.HasPrefix(t.line[i:], quote) {
			t.read += i - at
			return i
		}
	}
	t.read += len(t.line) - at
	t.unclosed[kind] = true
	return -1
}
