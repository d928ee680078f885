package sdk

// values counts the values of JSON while it is read, as it comes or as a stream's
// events. It needs no valid JSON: what it takes for text can't be values to those
// who read it.
type values struct {
	events bool // what is counted is one event, which an empty line ends

	n         int
	in, after bool // a string, and in it a backslash
	line      int  // bytes of this line so far
	cr        bool // of which the first is a carriage return
}

// add reports whether there are no more than maxValues.
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

// endLine ends strings, too: none goes on in the next line.
func (v *values) endLine() {
	if v.events && (v.line == 0 || v.line == 1 && v.cr) {
		v.n = 0
	}
	v.in, v.after, v.line = false, false, 0
}
