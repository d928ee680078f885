package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
)

// JSON is the report itself, indented. Equal reports give equal bytes. Control
// and bidi characters are written as escapes, since it may go to a terminal.
func JSON(v View) ([]byte, error) {
	b, err := json.MarshalIndent(v.Review.Report, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the report as JSON: %w", err)
	}
	return append(escaped(b), '\n'), nil
}

// escaped writes what a terminal or a reader could be deceived by as JSON
// escapes. Outside strings JSON has no such characters.
func escaped(b []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(b) {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) && r <= 0xffff {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}
