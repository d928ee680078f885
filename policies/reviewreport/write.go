package reviewreport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// Write returns the machine-readable section of a report: the heading, its purpose, and the record
// as a fenced json block. It has no empty line at its start or end. [Extract] reads the same record
// back, except for text that is not valid UTF-8.
//
// Characters that could be more than text to whoever shows the section are escaped in the JSON:
// backticks, which make fences; @, which mentions people; those that begin HTML; and invisible
// ones.
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
		// Only a checklist or a score that JSON can't represent gives an error, and both come from
		// JSON.
		panic(fmt.Errorf("encode a review report: %w", err))
	}
	return text
}
