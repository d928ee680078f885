package render

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/internal/unseen"
)

// JSON is the report itself, indented. Equal reports give equal bytes. What is
// invisible or steers a terminal is written as escapes.
func JSON(v View) ([]byte, error) {
	return Indented(v.Review.Report)
}

// Indented is the JSON of any other answer, in the same form.
func Indented(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the answer as JSON: %w", err)
	}
	return append(escaped(b), '\n'), nil
}

// escaped writes what a terminal or a reader could be deceived by as JSON
// escapes. Outside strings JSON has no such characters but line breaks. The
// replacement character is written as the encoder writes what is not UTF-8, so
// that a report which was read back gives equal bytes, too.
func escaped(b []byte) []byte {
	var out []byte
	from := 0 // what stands before is in out
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == '\n' || !unseen.Is(r) && r != utf8.RuneError {
			i += size
			continue
		}
		out = append(out, b[from:i]...)
		if r <= 0xffff {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
		i += size
		from = i
	}
	if from == 0 {
		return b
	}
	return append(out, b[from:]...)
}
