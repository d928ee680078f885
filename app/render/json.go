package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/internal/invisible"
)

// JSON returns the report as indented JSON. Equal reports give equal bytes. It escapes
// characters that are invisible or control a terminal.
func JSON(v View) ([]byte, error) {
	return Indented(v.Review.Report)
}

// Indented returns any other answer in the same form.
func Indented(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the answer as JSON: %w", err)
	}
	return append(escaped(b), '\n'), nil
}

// escaped writes characters that could deceive a reader or control a terminal as JSON
// escapes, and the bracket of ##[, which a runner of GitHub Actions would take for the start
// of a command in its log. Outside strings, line breaks are the only such characters in JSON.
// It escapes the replacement character because the encoder does so for invalid UTF-8: a report
// that was read back gives equal bytes, too.
func escaped(b []byte) []byte {
	var out []byte
	from := 0 // the bytes before it are in out
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		command := r == '[' && bytes.HasSuffix(b[:i], []byte("##"))
		if r == '\n' || !invisible.Is(r) && r != utf8.RuneError && !command {
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
