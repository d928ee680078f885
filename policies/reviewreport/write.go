package reviewreport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// Write is the machine-readable section of a report: the heading, what it is
// for, and the record as a fenced json block. It starts and ends without an
// empty line. [Extract] reads the record back as it was, but for text that is
// no valid UTF-8.
//
// What could be more than text to whoever shows it stands in the JSON as
// escapes: backticks, which fences are made of; @, which mentions people; what
// opens HTML; and what can't be seen.
func Write(r *Record) string {
	var b bytes.Buffer
	b.WriteString(Heading + "\n\n**Purpose**: Structured output for orchestrator parsing and review aggregation\n\n```json\n")
	for _, c := range string(encoded(r)) {
		switch {
		case c == '\n' || unicode.IsPrint(c) && c != '`' && c != '@' && c != unicode.ReplacementChar:
			b.WriteRune(c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	b.WriteString("\n```")
	return b.String()
}

func encoded(r *Record) []byte {
	out := *r
	if out.ValidationChecklist == nil {
		out.ValidationChecklist = map[string]any{}
	}
	if out.SuccessEvidence.ReviewFindings.Recommendations == nil {
		out.SuccessEvidence.ReviewFindings.Recommendations = []Recommendation{}
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		// Only a checklist or a score that JSON can't express gets here, and
		// those come from JSON.
		panic(fmt.Errorf("encode a review report: %w", err))
	}
	return text
}
