package secrets

import "strings"

// nested reads the code in rows of strings, such as the lines of a notebook. It leaves out what is
// between the strings, and decodes the escapes of their quotes and line breaks. It returns nil if
// no string of a row contains quotes.
func nested(text string) *reading {
	n := nesting{text: text}
	for _, quote := range []byte{'"', '\''} {
		if strings.Contains(text, `\`+string(quote)) {
			n.read(quote)
		}
	}
	if n.out.Len() == 0 {
		return nil
	}
	return n.reading(text)
}

// nesting is the reading of the code in strings, and the current row of strings.
type nesting struct {
	reader
	text   string
	row    [][2]int
	quoted bool // a string of the row contains quotes
}

// read reads the strings in one kind of quotes.
func (n *nesting) read(quote byte) {
	for i := 0; i < len(n.text); {
		open := strings.IndexByte(n.text[i:], quote)
		if open < 0 {
			break
		}
		from := i + open + 1
		if len(n.row) > 0 && !joinsTexts(n.text[n.row[len(n.row)-1][1]+1:from-1]) {
			n.flush()
		}
		to, quoted := n.end(from, quote)
		if byteAt(n.text, to) == quote {
			n.row = append(n.row, [2]int{from, to})
			n.quoted = n.quoted || quoted
		} else {
			n.flush()
		}
		i = to + 1
	}
	n.flush()
}

// end returns the end of the string or line that begins at an offset, and whether it contains
// quotes.
func (n *nesting) end(from int, quote byte) (to int, quoted bool) {
	for to = from; to < len(n.text); to++ {
		switch n.text[to] {
		case quote, '\n':
			return to, quoted
		case '\\':
			if to++; byteAt(n.text, to) == quote {
				quoted = true
			}
		}
	}
	return to, quoted
}

// flush writes the current row if it may hold code that joins strings.
func (n *nesting) flush() {
	if len(n.row) > 1 && n.quoted {
		for _, t := range n.row {
			n.unescaped(t[0], t[1])
		}
		n.put('\n', n.row[len(n.row)-1][1], 1)
	}
	n.row, n.quoted = n.row[:0], false
}

func (n *nesting) unescaped(from, to int) {
	for i := from; i < to; {
		if n.text[i] != '\\' {
			j := strings.IndexByte(n.text[i:to], '\\')
			if j < 0 {
				j = to - i
			}
			n.copy(n.text, i, i+j)
			i += j
			continue
		}
		c, size := escaped(n.text[i:to])
		switch {
		case size == 0:
			c, size = '\\', 1
		case n.text[i+1] == 'n':
			c = '\n'
		}
		if c >= 0 {
			n.put(c, i, size)
		}
		i += size
	}
}

// joinsTexts reports whether the text between two strings is only what separates items of a list or
// operands of a sum.
func joinsTexts(between string) bool {
	const most = 200
	if between == "" || len(between) > most {
		return false
	}
	for i := range len(between) {
		if strings.IndexByte(" \t\r\n,+.&|()[]\\", between[i]) < 0 {
			return false
		}
	}
	return true
}
