// Package unseen knows the characters that a reader does not see. Whatever shows
// a text of others, to people or to models, shows them by their numbers.
package unseen

import "unicode"

// Is reports whether a rune is invisible or steers how its neighbours
// are shown: control and format characters (bidirectional overrides, zero-width
// characters, tags), line and paragraph separators, fillers, blanks that are no
// space, variation selectors.
func Is(r rune) bool {
	if r >= 0x20 && r < 0x7f {
		return false
	}
	const brailleBlank, nullNotehead = 0x2800, 0x1d159
	return r == brailleBlank || r == nullNotehead ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// Selects reports whether r is the selector that an ordinary emoji carries:
// behind a symbol, or within a keycap. Behind a letter it would make two names
// look alike.
func Selects(before, r, after rune) bool {
	if r != 0xfe0e && r != 0xfe0f {
		return false
	}
	const information, keycap = 0x2139, 0x20e3
	return before == information || after == keycap ||
		before >= 0x80 && !Is(before) && !unicode.In(before, unicode.L, unicode.M, unicode.N)
}

// MaxMarks is how many combining marks belong to one character. Languages need
// three or four; a pile of them covers the lines around.
const MaxMarks = 8
