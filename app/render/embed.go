package render

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The functions of this file are for packages that write markdown of their own.

// MarkdownText returns one line of prose that is inactive in markdown, also in the cell of a table.
// It has at most limit runes.
func MarkdownText(s string, limit int) string { return string(cell(markdownPen{}.text(s, limit))) }

// MarkdownCode returns a name as a code span, also for the cell of a table. It has at most limit
// runes.
func MarkdownCode(s string, limit int) string { return string(cell(markdownPen{}.code(s, limit))) }

// JSONLine returns a value as JSON on one line. It escapes characters that are invisible or control a
// terminal.
func JSONLine(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("encode a line of JSON: %w", err)
	}
	return escaped(b.Bytes()), nil
}
