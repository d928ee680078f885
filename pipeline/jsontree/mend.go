package jsontree

import (
	"bytes"
	"strings"
)

// The bounds of mending. A text with more than maxMended faults has more than typing errors, and
// insertions must not outgrow the text.
const (
	maxMended   = 100
	maxInserted = 1000 // bytes
)

// mend corrects syntax errors that leave no doubt about what was meant, so that the rest of the
// text can be read and its errors reported together: comments, a comma after the last entry, a
// missing comma between two entries, single quotes, and backslashes that start no escape. It stops
// at the first ambiguous error. Replacements keep the length, and insertions are recorded, so
// positions stay those of the original text. In JSONC, comments and a comma after the last entry are
// no errors.
func (d *Document) mend(comments bool) []Error {
	m := &mender{doc: d, jsonc: comments, text: d.text, out: make([]byte, 0, len(d.text)+maxInserted)}
	for len(m.errors) < maxMended && m.gap() && m.token() {
	}
	m.out = append(m.out, m.text[m.at:]...)
	d.text, d.inserted = m.out, m.inserted
	return m.errors
}

// What may come next in a text.
const (
	wantValue = iota
	wantKey
	wantColon
	wantNext // a comma or a closing bracket
)

type mender struct {
	doc      *Document
	text     []byte
	at       int    // the position in text that is read next
	out      []byte // the corrected text so far
	inserted []int  // offsets in out
	errors   []Error

	want    int
	open    []byte // the open brackets
	last    byte   // the first byte of the last token
	lastAt  int    // the offset of the last token in text
	lastOut int    // its offset in out
	newline bool   // there is a line break between the last token and this one
	quoted  bool   // single quotes were reported
	jsonc   bool
}

func (m *mender) report(offset int, f fault) {
	m.errors = append(m.errors, Error{Place: m.doc.place(offset, ""), Problem: f.problem, Remedy: f.remedy, Mended: true})
}

// take copies n bytes unchanged.
func (m *mender) take(n int) {
	m.out = append(m.out, m.text[m.at:m.at+n]...)
	m.at += n
}

func (m *mender) insert(b byte) {
	m.inserted = append(m.inserted, len(m.out))
	m.out = append(m.out, b)
}

// gap reads white space and comments up to the next token, and reports whether there is one.
func (m *mender) gap() bool {
	m.newline = false
	for m.at < len(m.text) && len(m.errors) < maxMended {
		c := m.text[m.at]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			m.newline = m.newline || c == '\n'
			m.take(1)
			continue
		case c != '/' && c != '#':
			return true
		}
		n := comment(m.text[m.at:])
		if n == 0 {
			return false
		}
		switch {
		case !m.jsonc:
			m.report(m.at, faultComment)
		case c == '#':
			m.report(m.at, faultHash)
		}
		m.blank(n)
	}
	return false
}

// blank reads n bytes as spaces, except line breaks.
func (m *mender) blank(n int) {
	for _, c := range m.text[m.at : m.at+n] {
		if c != '\n' && c != '\r' {
			c = ' '
		}
		m.out = append(m.out, c)
	}
	m.at += n
}

// comment is the length of the comment at the start of a text, or 0.
func comment(text []byte) int {
	if bytes.HasPrefix(text, []byte("/*")) {
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
		return 0
	}
	if text[0] != '#' && !bytes.HasPrefix(text, []byte("//")) {
		return 0
	}
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end
	}
	return len(text)
}

// token reads the next token. It reports false for a token that it can't understand, which the
// parser then reports.
func (m *mender) token() bool {
	c, at, out := m.text[m.at], m.at, len(m.out)
	ok := false
	switch m.want {
	case wantValue:
		ok = m.value(c)
	case wantKey:
		ok = m.closes(c) || m.str(c, wantColon, ":")
	case wantColon:
		if ok = c == ':'; ok {
			m.take(1)
			m.want = wantValue
		}
	case wantNext:
		if len(m.open) > 0 && c != ',' && c != '}' && c != ']' && m.lacksComma(c) {
			m.report(m.at, faultNoComma)
			m.insert(',')
			m.last, m.want = ',', m.entry()
			return true
		}
		ok = m.next(c)
	}
	m.last, m.lastAt, m.lastOut = c, at, out
	return ok
}

// entry is what may start an entry in the innermost bracket.
func (m *mender) entry() int {
	if m.open[len(m.open)-1] == '{' {
		return wantKey
	}
	return wantValue
}

func (m *mender) value(c byte) bool {
	switch {
	case c == '{' || c == '[':
		m.open = append(m.open, c)
		m.want = m.entry()
		m.take(1)
		return true
	case m.closes(c) || m.str(c, wantNext, ",]}"):
		return true
	}
	n := 0
	for m.at+n < len(m.text) && plain(m.text[m.at+n]) {
		n++
	}
	m.take(n)
	m.want = wantNext
	return n > 0
}

// plain reports whether numbers, true, false and null may contain the byte.
func plain(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// closes reads a closing bracket where an entry might start: after the opening bracket, or after a
// surplus comma.
func (m *mender) closes(c byte) bool {
	if len(m.open) == 0 || c != closing(m.open[len(m.open)-1]) {
		return false
	}
	switch m.last {
	case ',':
		if !m.jsonc {
			m.report(m.lastAt, faultLastComma)
		}
		m.out[m.lastOut] = ' '
	case '{', '[':
	default:
		return false
	}
	m.close()
	return true
}

func closing(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}

func (m *mender) close() {
	m.take(1)
	m.open = m.open[:len(m.open)-1]
	m.want = wantNext
}

func (m *mender) next(c byte) bool {
	switch {
	case len(m.open) == 0:
		return false
	case c == ',':
		m.take(1)
		m.want = m.entry()
		return true
	case c == closing(m.open[len(m.open)-1]):
		m.close()
		return true
	}
	return false
}

// lacksComma reports whether another entry certainly starts here. On the line of a string, a quote
// in the string might instead lack its backslash. An entry of the wrong form may belong to an outer
// bracket, if this one was not closed.
func (m *mender) lacksComma(c byte) bool {
	if !m.newline && (m.last == '"' || m.last == '\'') {
		return false
	}
	inObject := m.entry() == wantKey
	switch c {
	case '{', '[':
		return !inObject
	case '"':
		n := 1
		for m.at+n < len(m.text) && m.text[m.at+n] != '"' {
			if m.text[m.at+n] == '\\' {
				n++
			}
			n++
		}
		return m.follows(m.at+n+1, ":") == inObject
	}
	return false
}

// follows reports whether the first byte after white space from an offset on is one of some.
func (m *mender) follows(offset int, some string) bool {
	rest := bytes.TrimLeft(m.text[min(offset, len(m.text)):], " \t\r\n")
	return len(rest) > 0 && strings.IndexByte(some, rest[0]) >= 0
}

// str reads a string that one of some bytes must follow.
func (m *mender) str(quote byte, then int, some string) bool {
	m.want = then
	switch quote {
	case '"':
		return m.doubleQuoted()
	case '\'':
		return m.singleQuoted(some)
	}
	return false
}

// doubleQuoted doubles the backslashes that start no escape.
func (m *mender) doubleQuoted() bool {
	reported := false
	m.take(1)
	for m.at+1 < len(m.text) && len(m.inserted) < maxInserted {
		c := m.text[m.at]
		switch {
		case c == '"':
			m.take(1)
			return true
		case c < ' ':
			return false
		case c != '\\':
			m.take(1)
		case strings.IndexByte(`"\/bfnrtu`, m.text[m.at+1]) >= 0:
			m.take(2)
		default:
			if !reported {
				m.report(m.at+1, faultEscape)
			}
			reported = true
			m.take(1)
			m.insert('\\')
		}
	}
	return false
}

// singleQuoted puts a string in double quotes, unless it contains something that would need to be
// written differently in them.
func (m *mender) singleQuoted(some string) bool {
	n := bytes.IndexByte(m.text[m.at+1:], '\'')
	if n < 0 || !m.follows(m.at+n+2, some) {
		return false
	}
	inner := m.text[m.at+1 : m.at+1+n]
	if bytes.ContainsFunc(inner, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return false
	}
	if !m.quoted {
		m.report(m.at, faultSingleQuotes)
	}
	m.quoted = true
	m.out = append(append(append(m.out, '"'), inner...), '"')
	m.at += n + 2
	return true
}
