package comments

import "strings"

// Texts finds the strings of a line. It remembers which quotes are never closed, so that the time
// for all quotes of a line is linear: in \'\'\', none of the quotes is closed, and each would
// otherwise be read to the end of the line.
type Texts struct {
	line     string
	raw      string                // quotes between which a backslash escapes nothing
	unclosed [2 * len(quotes)]bool // kinds of quotes that are not closed any more
	read     int                   // number of bytes read, for tests
}

// quotes begin strings. Each may also be tripled.
const quotes = "\"'`"

// TextsOf finds the strings of a line.
func TextsOf(line string) Texts { return Texts{line: line} }

// texts finds the strings of a line in the language, which may be nil.
func (l *language) texts(line string) Texts {
	t := TextsOf(line)
	if l != nil {
		t.raw = l.raw
	}
	return t
}

// At is the length of the string that starts at a position, with its quotes. It is 0 if none starts
// there or the string has no end. The positions of successive calls must ascend, and none may be
// inside a string that was found.
func (t *Texts) At(at int) int {
	if at >= len(t.line) || strings.IndexByte(quotes, t.line[at]) < 0 {
		return 0
	}
	if end := t.end(at+1, t.line[at:at+1]); end >= 0 {
		return end + 1 - at
	}
	return 0
}

// end is the position of the quote that closes a string which begins at a position right after its
// opening quote, or less than 0. The quote is one or three of the same character.
//
// The next unescaped quote of the kind closes a string: one with an even number of backslashes
// before it. No string begins after a backslash, so whether a quote is escaped does not depend on
// where the string begins. If nothing closes one string, nothing closes a later one.
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
