// Package invisible recognises characters that a reader cannot see. Code that shows
// other people's text, to people or to models, replaces these characters by their
// numbers.
package invisible

import "unicode"

// Is reports whether a rune is invisible or changes how its neighbours
// are shown: control and format characters (bidirectional overrides, zero-width
// characters, tags), line and paragraph separators, fillers, blank characters other
// than spaces, variation selectors.
func Is(r rune) bool {
	if r >= 0x20 && r < 0x7f {
		return false
	}
	const brailleBlank, nullNotehead = 0x2800, 0x1d159
	return r == brailleBlank || r == nullNotehead ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// Selects reports whether r is the variation selector of an ordinary emoji: behind a
// symbol, or within a keycap. Behind a letter, a selector would make two different names
// look alike.
func Selects(before, r, after rune) bool {
	if r != 0xfe0e && r != 0xfe0f {
		return false
	}
	const information, keycap = 0x2139, 0x20e3
	return before == information || after == keycap ||
		before >= 0x80 && !Is(before) && !unicode.In(before, unicode.L, unicode.M, unicode.N)
}

// MaxMarks is how many combining marks one character may have. Languages need three or
// four. A pile of marks covers the lines around it.
const MaxMarks = 8
