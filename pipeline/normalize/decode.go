package normalize

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode returns a text in UTF-8, or false if the bytes are not text. It reads UTF-8, UTF-16
// and UTF-32 in either byte order, with or without a byte order mark, and anything else as
// Latin-1. It removes NULs, as shells do, so that rules see what runs. Lines keep their
// numbers.
//
// The bytes of a text in UTF-16 or UTF-32 may be another text to a shell: one Chinese
// character may be two ASCII letters. Decode then appends what a shell reads to the text, or
// puts it first if the bytes begin with #!.
func Decode(content []byte) (text []byte, ok bool) {
	w := widthOf(content)
	if w != nil && plainStretch(content) && utf8.Valid(content) {
		w = nil
	}
	if w != nil {
		if text, ok := w.read(content); ok {
			return text, true
		}
	}
	return decodeNarrow(content)
}

// wide is an encoding with several bytes for each character.
type wide struct {
	mark  string // the byte order mark
	size  int    // of a unit, in bytes
	order binary.ByteOrder
}

// wides are the encodings. UTF-32 comes first: one of its marks begins with one of UTF-16's.
var wides = []*wide{
	{"\xff\xfe\x00\x00", 4, binary.LittleEndian}, {"\x00\x00\xfe\xff", 4, binary.BigEndian},
	{"\xff\xfe", 2, binary.LittleEndian}, {"\xfe\xff", 2, binary.BigEndian},
}

// byteOrder returns the encoding whose byte order mark begins a text, or nil.
func byteOrder(content []byte) *wide {
	for _, w := range wides {
		if bytes.HasPrefix(content, []byte(w.mark)) {
			return w
		}
	}
	return nil
}

// widthOf returns the encoding of a text by its mark, or else by the positions of its NULs. At
// least a third of its units must be ASCII.
func widthOf(content []byte) *wide {
	if bytes.IndexByte(content, 0) < 0 && byteOrder(content) == nil {
		return nil
	}
	if w := byteOrder(content); w != nil && (w.size == 2 || w.ascii(content) > 0) {
		return w
	}
	for _, w := range wides {
		if units := len(content) / w.size; units > 0 && w.ascii(content)*3 >= units {
			return w
		}
	}
	return nil
}

// minStretch is how many ASCII bytes in a row count as a text of their own, which a program that
// skips the rest may read. In UTF-16 each ASCII character has a NUL beside it.
const minStretch = 8

func plainStretch(content []byte) bool {
	n := 0
	for _, c := range content {
		if !plainByte(c) {
			n = 0
		} else if n++; n >= minStretch {
			return true
		}
	}
	return false
}

func plainByte(c byte) bool {
	return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' || c == '\f'
}

func (w *wide) unit(b []byte) rune {
	if w.size == 4 {
		if v := w.order.Uint32(b); v <= unicode.MaxRune {
			return rune(v)
		}
		return utf8.RuneError
	}
	return rune(w.order.Uint16(b))
}

// write encodes a text without a mark.
func (w *wide) write(text string) []byte {
	var out []byte
	order := w.order.(binary.AppendByteOrder)
	for _, c := range text {
		if w.size == 4 {
			out = order.AppendUint32(out, uint32(c))
			continue
		}
		for _, u := range utf16.AppendRune(nil, c) {
			out = order.AppendUint16(out, u)
		}
	}
	return out
}

// ascii counts the units that are plain ASCII.
func (w *wide) ascii(content []byte) int {
	n := 0
	for ; len(content) >= w.size; content = content[w.size:] {
		if c := w.unit(content); c < utf8.RuneSelf && plainByte(byte(c)) {
			n++
		}
	}
	return n
}

// decode reads the text. It returns false if more than a tenth of the text is unreadable.
func (w *wide) decode(content []byte) (text []byte, ok bool) {
	content = bytes.TrimPrefix(content, []byte(w.mark))
	letters, odd := 0, 0
	for len(content) >= w.size {
		c := w.unit(content)
		content = content[w.size:]
		if utf16.IsSurrogate(c) {
			second := utf8.RuneError
			if w.size == 2 && len(content) >= 2 {
				second = w.unit(content)
			}
			if c = utf16.DecodeRune(c, second); c != utf8.RuneError {
				content = content[w.size:]
			}
		}
		if c == 0 {
			continue
		}
		if letters++; c == utf8.RuneError || !unicode.IsPrint(c) && !unicode.IsSpace(c) && !unicode.Is(unicode.Cf, c) {
			odd++
		}
		text = utf8.AppendRune(text, c)
	}
	for _, c := range content { // an incomplete unit at the end
		if plainByte(c) {
			text = append(text, c)
		}
	}
	return text, odd*10 <= letters
}

// read reads the text, and adds what a shell reads if that may differ.
func (w *wide) read(content []byte) (text []byte, ok bool) {
	if text, ok = w.decode(content); !ok {
		return nil, false
	}
	lines := w.shellLines(content)
	switch {
	case len(lines) == 0:
		return text, true
	case bytes.HasPrefix(withoutMark(content), []byte("#!")):
		return slices.Concat(lines, []byte(betweenReadings), text), true
	}
	return slices.Concat(text, []byte(betweenReadings), lines), true
}

// betweenReadings separates two readings of the same bytes. It closes comments and strings that
// the first reading leaves open.
const betweenReadings = "\n\n*/ --> ]] #> ''' \"\"\" ` the same bytes, read one by one:\n\n"

// minWord is the least number of ASCII letters in a row that may do something.
const minWord = 4

// shellLines returns the lines with ASCII words that a shell reads in the bytes, skipping NULs. It
// replaces other bytes. It returns nil if the text already has all of that ASCII.
func (w *wide) shellLines(content []byte) []byte {
	if !w.foreign(content) {
		return nil
	}
	content = withoutMark(content)
	var out []byte
	start, shown := 0, false // the start of the line in out
	end := func() {
		if !shown {
			out = out[:start]
		}
		start, shown = len(out), false
	}
	for len(content) > 0 {
		n := 0
		for n < len(content) && plainByte(content[n]) {
			n++
		}
		word := n >= minWord // may continue over the ends of lines
		for _, c := range content[:n] {
			out, shown = append(out, c), shown || word
			if c == '\n' {
				end()
			}
		}
		if content = content[n:]; len(content) == 0 {
			break
		}
		for len(content) > 0 && !plainByte(content[0]) {
			content = content[1:]
		}
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	end()
	return out
}

// foreign reports whether a shell reads ASCII in the bytes that is not in the text.
func (w *wide) foreign(content []byte) bool {
	content = bytes.TrimPrefix(content, []byte(w.mark))
	for ; len(content) >= w.size; content = content[w.size:] {
		if w.mayDiffer(content[:w.size]) {
			return true
		}
	}
	return false
}

// foreignStretch reports whether a shell reads a stretch of ASCII in a line without NULs, where two
// ASCII letters are one character of the text.
func (w *wide) foreignStretch(line []byte) bool {
	length, foreign := 0, false
	for ; len(line) >= w.size; line = line[w.size:] {
		unit := line[:w.size]
		n := 0
		for _, c := range unit {
			if plainByte(c) {
				n++
			}
		}
		for _, c := range unit {
			switch {
			case plainByte(c):
				length, foreign = length+1, foreign || n > 1
				if foreign && length >= minStretch {
					return true
				}
			case c != 0:
				length, foreign = 0, false
			}
		}
	}
	return false
}

// mayDiffer reports whether a unit holds ASCII that may mean something else to a shell than its
// character. A letter or digit beside another byte means nothing: to a shell both are part of a
// word.
func (w *wide) mayDiffer(unit []byte) bool {
	plain, other, word := 0, 0, true
	for _, c := range unit {
		switch {
		case plainByte(c) || c == '\v':
			plain++
			word = word && wordByte(c)
		case c != 0:
			other++
		}
	}
	switch {
	case plain != 1:
		return plain > 1
	case other == 0:
		return w.unit(unit) >= utf8.RuneSelf // the NUL is on the wrong side
	case w.size == 2:
		c := w.unit(unit)
		return !word && (c < emojiFirst || c > emojiLast)
	}
	return !word
}

// emojiFirst and emojiLast bound the first units of emojis in UTF-16. One of their bytes is an
// equals sign or an angle bracket, and the other is not ASCII.
const emojiFirst, emojiLast = 0xd83c, 0xd83e

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// withoutMark removes the byte order mark of UTF-8 and all NULs.
func withoutMark(content []byte) []byte {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(content, 0) >= 0 {
		content = bytes.ReplaceAll(content, []byte{0}, nil)
	}
	return content
}

// decodeNarrow reads UTF-8, and other bytes as Latin-1. In a text, at most one byte in twenty is a
// control character, and at most half are neither ASCII nor UTF-8. In compressed data, one byte in
// nine is a control character.
func decodeNarrow(content []byte) (text []byte, ok bool) {
	content = withoutMark(content)
	text = make([]byte, 0, len(content))
	control, high := 0, 0
	for rest := content; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		switch {
		case c == utf8.RuneError && n == 1:
			c = rune(rest[0])
			high++
		case c < utf8.RuneSelf && !plainByte(byte(c)):
			control++
		}
		text, rest = utf8.AppendRune(text, c), rest[n:]
	}
	return text, control*20 <= len(content) && high*2 <= len(content)
}
