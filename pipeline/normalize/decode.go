package normalize

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode returns a text in UTF-8, and false if the bytes are not text. It reads UTF-8,
// UTF-16 and UTF-32 in either byte order, with or without a byte order mark, and anything
// else as Latin-1. NULs are left out, as shells do, so that rules see what runs. Lines
// keep their numbers.
func Decode(content []byte) (text []byte, ok bool) {
	if w := widthOf(content); w != nil {
		if text, ok := w.decode(content); ok {
			return text, true
		}
	}
	return narrow(content)
}

// wide is an encoding with several bytes for each letter.
type wide struct {
	mark  string // how a text may begin
	size  int    // of a unit, in bytes
	order binary.ByteOrder
}

// wides are the encodings, UTF-32 first: one of its marks begins with one of UTF-16's.
var wides = []*wide{
	{"\xff\xfe\x00\x00", 4, binary.LittleEndian}, {"\x00\x00\xfe\xff", 4, binary.BigEndian},
	{"\xff\xfe", 2, binary.LittleEndian}, {"\xfe\xff", 2, binary.BigEndian},
}

// byteOrder returns the encoding whose mark a text begins with, or nil.
func byteOrder(content []byte) *wide {
	for _, w := range wides {
		if bytes.HasPrefix(content, []byte(w.mark)) {
			return w
		}
	}
	return nil
}

// widthOf returns the encoding of a text by its mark, or else by where its NULs stand: at
// least a third of its units must be ASCII. It returns nil if the text has a stretch of
// plain ASCII, which a program that skips the rest may read.
func widthOf(content []byte) *wide {
	if bytes.IndexByte(content, 0) < 0 && byteOrder(content) == nil || plainStretch(content) {
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

// minStretch is how many bytes of ASCII in a row are taken for a text of their own. In
// UTF-16 each letter of ASCII has a NUL beside it.
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

// decode reads the text. It returns false if more than a tenth of it is unreadable.
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
	for _, c := range content { // a letter that is cut
		if plainByte(c) {
			text = append(text, c)
		}
	}
	return text, odd*10 <= letters
}

// withoutMark leaves out the mark of UTF-8 and all NULs.
func withoutMark(content []byte) []byte {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(content, 0) >= 0 {
		content = bytes.ReplaceAll(content, []byte{0}, nil)
	}
	return content
}

// narrow reads UTF-8, and other bytes as Latin-1. In a text at most one byte in twenty is
// a control character, and at most half are neither ASCII nor UTF-8. Compressed data has
// one control character in nine bytes.
func narrow(content []byte) (text []byte, ok bool) {
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
