package rules

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Bounds of a flow collection: its lines, its bytes, and its nesting.
const (
	maxFlowLines = 200
	maxFlow      = 64 << 10
	maxFlowDepth = 20
)

// flowStart is the start of a flow collection.
type flowStart struct {
	at, column int     // the index of its line, and the column
	key        yamlKey // the key of the collection, if the hunk shows it
	keyAt      int     // the index of the key's line
	sure       bool    // it is certainly a collection and not a line of a string
}

// flow adds the rows of the values in a collection, and returns the index after it. A
// collection that is not closed within the bounds may be something else, so its lines are
// read again.
func (y *yamlReader) flow(s flowStart) int {
	end, closed := y.flowReader(s, nil).read()
	from := 0
	if sure := closed && s.sure; !sure {
		from = y.flowed
	}
	y.flowReader(s, func(v *scalar, of []piece) {
		if of[0].at >= from {
			y.addRows(v, of)
		}
	}).read()
	y.flowed = max(y.flowed, end)
	if closed && s.sure {
		return end
	}
	return s.at + 1
}

// isFlow reports whether a text starts with a flow collection and not with a template.
func isFlow(text string) bool { return in("{[", at(text, 0)) && !strings.HasPrefix(text, "{{") }

// flowReader reads a flow collection that may span several lines.
type flowReader struct {
	*yamlReader
	keeps func(v *scalar, of []piece) // called for each value; may be nil

	i, end int    // the index of the current line, and the end of the readable lines
	text   string // the current line, within the bounds
	at     int    // the position in the line
	left   int    // the number of bytes that may still be read

	key    flowKey
	anchor string // of the next value
	open   []flowLevel
}

// flowKey is the key of a value.
type flowKey struct {
	name, parent string
	at           int // the index of its line
	mapping      int
	escaped      bool // the line spells the name with escapes
}

// flowLevel is an open collection.
type flowLevel struct {
	mapping bool
	number  int     // of the mapping
	of      flowKey // the collection's key
	key     flowKey // of the next value
}

func (y *yamlReader) flowReader(s flowStart, keeps func(*scalar, []piece)) *flowReader {
	f := &flowReader{yamlReader: y, keeps: keeps, i: s.at - 1, end: min(len(y.lines), s.at+maxFlowLines), left: maxFlow}
	f.key = flowKey{name: s.key.name, parent: s.key.parent, at: s.keyAt, escaped: s.key.escaped}
	f.line()
	f.at = min(s.column, len(f.text))
	return f
}

// line moves to the next line if there is one within the bounds.
func (f *flowReader) line() bool {
	if f.i+1 >= f.end || f.left <= 0 {
		return false
	}
	f.i++
	f.text = plaintext.Bytes(f.yamlReader.text(f.i), f.left)
	f.left -= len(f.text) + 1
	f.at = blanks(f.text, 0)
	return true
}

// next moves to the next character outside spaces and comments.
func (f *flowReader) next() bool {
	for {
		f.at += blanks(f.text, f.at)
		if f.at < len(f.text) && !f.comment() {
			return true
		}
		if !f.line() {
			return false
		}
	}
}

// comment reports whether a comment starts here.
func (f *flowReader) comment() bool {
	return f.text[f.at] == '#' && (f.at == 0 || isBlank(f.text[f.at-1]))
}

// read reads the collection. It returns the index after the lines that it read, and whether
// the collection is closed.
func (f *flowReader) read() (end int, closed bool) {
	for f.next() {
		switch c := f.text[f.at]; c {
		case '{', '[':
			if len(f.open) == maxFlowDepth {
				f.unread = min(f.unread, f.i)
				return f.i + 1, false
			}
			f.anchor = ""
			f.mappings--
			f.open = append(f.open, flowLevel{mapping: c == '{', number: f.mappings, of: f.belongs()})
			f.at++
		case '}', ']':
			f.open = f.open[:len(f.open)-1]
			if f.at++; len(f.open) == 0 {
				return f.i + 1, true
			}
		case ',', ':':
			if c == ',' {
				f.top().key = flowKey{}
			}
			f.at++
		case '&', '!', '?':
			from := f.at
			for f.at < len(f.text) && !isBlank(f.text[f.at]) && !in(",{}[]", f.text[f.at]) {
				f.at++
			}
			if c == '&' {
				f.anchor = f.text[from+1 : f.at]
			}
		default:
			f.node()
			f.anchor = ""
		}
	}
	return f.i + 1, false
}

// top is the innermost open collection.
func (f *flowReader) top() *flowLevel { return &f.open[len(f.open)-1] }

// belongs is the key of the next value. Items of a sequence have the sequence's key.
func (f *flowReader) belongs() flowKey {
	if len(f.open) == 0 {
		return f.key
	}
	if top := f.top(); top.mapping || top.key.name != "" {
		return top.key
	}
	return f.top().of
}

// node reads a scalar, which is a key or a value.
func (f *flowReader) node() {
	of := f.scalar()
	if quoted := in("\"'", at(of[0].text, 0)); f.isKey(quoted) {
		key := flowKey{name: of[0].text, parent: f.top().of.name, at: of[0].at, mapping: f.top().number}
		if quoted && len(of) == 1 && len(key.name) > 1 {
			key.name, key.escaped = unquotedYAML(key.name)
		}
		f.top().key = key
		return
	}
	if key := f.belongs(); f.keeps != nil && key.name != "" {
		glue(of)
		f.keeps(&scalar{key: yamlKey{name: key.name, parent: key.parent, mapping: key.mapping, escaped: key.escaped, anchor: f.anchor}, at: key.at, inline: of[0].at == key.at}, of)
	}
}

// isKey reports whether a colon follows the scalar just read, and skips it.
func (f *flowReader) isKey(quoted bool) bool {
	if !f.next() || f.text[f.at] != ':' {
		return false
	}
	if c := at(f.text, f.at+1); !quoted && c != 0 && !isBlank(c) && !in(",{}[]", c) {
		return false
	}
	f.at++
	return true
}

// scalar reads a scalar and returns its lines.
func (f *flowReader) scalar() []piece {
	var of []piece
	s := flowScalar{quote: f.text[f.at]}
	from := f.at
	if in("\"'", s.quote) {
		f.at++
	} else {
		s.quote = 0
	}
	for {
		var done bool
		f.at, done = s.end(f.text, f.at)
		of = append(of, piece{text: strings.TrimSpace(f.text[from:f.at]), at: f.i})
		if done || !f.line() || s.quote == 0 && !s.inner && f.at < len(f.text) && f.comment() {
			return of
		}
		from = f.at
	}
}

// flowScalar is the state of a scalar that is read line by line.
type flowScalar struct {
	quote  byte // or 0
	inner  bool // in an expression or a template
	quoted bool // in a string within that
}

// end returns where a scalar ends in a line, and whether it ends there for good.
func (s *flowScalar) end(text string, i int) (int, bool) {
	for start := i; i < len(text); i++ {
		c := text[i]
		switch {
		case s.quote == '"' && c == '\\':
			i++
		case s.quote != 0 && c == s.quote:
			if c == '\'' && at(text, i+1) == '\'' {
				i++
				continue
			}
			return i + 1, true
		case s.quote != 0:
		case s.inner:
			switch {
			case c == '\'':
				s.quoted = !s.quoted
			case !s.quoted && strings.HasPrefix(text[i:], "}}"):
				s.inner = false
				i++
			}
		case strings.HasPrefix(text[i:], "{{"):
			s.inner, s.quoted = true, false
			i++
		case in(",{}[]", c), c == '#' && i > start && isBlank(text[i-1]):
			return i, true
		case c == ':':
			if next := at(text, i+1); next == 0 || isBlank(next) || in(",{}[]", next) {
				return i, true
			}
		}
	}
	return len(text), false
}
