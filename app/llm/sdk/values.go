package sdk

// values counts the values of JSON while it is read, as a whole or as a stream's events. The
// JSON need not be valid: what it treats as text can't be values for the readers.
type values struct {
	events bool // each event is counted separately and ends with an empty line

	n         int
	in, after bool // inside a string, and after a backslash in it
	line      int  // bytes of this line so far
	cr        bool // whether the line's first byte is a carriage return
}

// add reports whether there are at most maxValues.
func (v *values) add(p []byte) bool {
	for _, c := range p {
		if c == '\n' {
			v.endLine()
			continue
		}
		if v.line++; v.line == 1 {
			v.cr = c == '\r'
		}
		switch {
		case v.after:
			v.after = false
		case v.in:
			v.in, v.after = c != '"', c == '\\'
		case c == '"':
			v.in = true
		case c == '{', c == '[', c == ',':
			if v.n++; v.n > maxValues {
				return false
			}
		}
	}
	return true
}

// endLine also ends strings, because none continues on the next line.
func (v *values) endLine() {
	if v.events && (v.line == 0 || v.line == 1 && v.cr) {
		v.n = 0
	}
	v.in, v.after, v.line = false, false, 0
}
