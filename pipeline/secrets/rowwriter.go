package secrets

import (
	"math"
	"slices"
)

// rowWriter writes rows of strings, each on a line.
type rowWriter struct {
	reader
	text sourceText
	// soft are the offsets in the reading where two strings meet that have more than an operator
	// between them, in ascending order.
	soft []int
}

// write adds a row to the reading, with the text before it.
func (w *rowWriter) write(row []chainPiece) {
	first := slices.MinFunc(row, func(a, b chainPiece) int { return a.from - b.from }).from
	for i := max(0, first-maxContext); i < first; i++ {
		w.add(i)
	}
	for i, c := range row {
		if i > 0 && c.soft {
			w.soft = append(w.soft, w.out.Len())
		}
		if c.value != "" {
			w.addValue(c)
			continue
		}
		for i := c.from; i < c.to; i++ {
			w.add(i)
		}
	}
	w.close(row[len(row)-1].to)
}

// addValue adds the value of a piece.
func (w *rowWriter) addValue(c chainPiece) {
	w.out.WriteString(c.value)
	for range len(c.value) {
		w.from, w.wide = append(w.from, c.from), append(w.wide, uint8(min(c.to-c.from, math.MaxUint8)))
	}
}

// add adds a byte of the source.
func (w *rowWriter) add(at int) {
	c := w.text[at]
	switch c {
	case leftOut:
		return
	case seam:
		w.soft = append(w.soft, w.out.Len())
		return
	}
	if c == '\n' || c == '\r' {
		c = ' '
	}
	w.grow()
	w.out.WriteByte(c)
	w.from, w.wide = append(w.from, at), append(w.wide, 1)
}

// grow doubles the capacity of a full reading. Growing in small steps would copy a long reading
// again and again.
func (w *rowWriter) grow() {
	const least = 1 << 10
	if n := len(w.from); n == cap(w.from) {
		w.from, w.wide = slices.Grow(w.from, max(least, n)), slices.Grow(w.wide, max(least, n))
		w.out.Grow(max(least, n))
	}
}

// close ends a line of the reading.
func (w *rowWriter) close(at int) {
	at = min(at, len(w.text)-1)
	w.out.WriteString("\"\n")
	w.from, w.wide = append(w.from, at, at), append(w.wide, 1, 1)
}

// writeBare adds the stretches of text without quotes that have something left out.
func (w *rowWriter) writeBare() {
	last := 0 // the end of the previous stretch, of which only the name is repeated
	for i := 0; i < len(w.text); i++ {
		if w.text[i] <= ' ' && w.text[i] != leftOut || isQuote(w.text[i]) {
			continue
		}
		from, left := i, 0
		for i < len(w.text) && (w.text[i] > ' ' || w.text[i] == leftOut) && !isQuote(w.text[i]) {
			if w.text[i] == leftOut {
				left++
			}
			i++
		}
		if left == 0 || i-from-left < minJoined {
			continue
		}
		for j := max(0, from-maxContext, last-maxContext/2); j < from; j++ {
			w.add(j)
		}
		last = i
		for j := from; j < i; j++ {
			if w.text[j] == leftOut {
				w.soft = append(w.soft, w.out.Len())
			}
			w.add(j)
		}
		w.close(i)
	}
}
