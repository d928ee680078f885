package secrets

import (
	"bytes"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// BytesHit is a secret in bytes that may not be text.
type BytesHit struct {
	RuleID string
	Line   int // by line feeds, from 1

	details string // what the rule adds to its findings
}

// Redaction returns a redaction that says that the file has the secret.
func (h BytesHit) Redaction(path string) pipeline.Redaction {
	return pipeline.Redaction{
		Source: pipeline.RedactedLine, Path: path, Op: pipeline.LineAdded, Line: h.Line,
		RuleID: h.RuleID, Title: title(h.RuleID), Details: h.details,
	}
}

// maxBytesHits bounds the hits of one file. More of them would add nothing.
const maxBytesHits = 100

// Bytes looks for secrets in a file's bytes: as they are, and as UTF-16 and UTF-32 in either byte
// order, where ASCII has NULs between its letters. It returns at most 100 hits in the order of
// their lines, one for each rule on a line.
func (d *Detector) Bytes(content []byte) []BytesHit {
	hits := d.hits(stretches(content), nil)
	if bytes.IndexByte(content, 0) >= 0 {
		hits = d.hits(stretches(bytes.ReplaceAll(content, []byte{0}, nil)), hits)
	}
	slices.SortStableFunc(hits, func(a, b BytesHit) int { return a.Line - b.Line })
	return hits
}

// minStretch is how many ASCII bytes in a row are needed to be searched. A secret has more.
// Compressed data seldom has as many, and searching all of it would take many times as long.
const minStretch = 8

// stretches returns the stretches of ASCII in some bytes, separated from each other, with all line
// feeds.
func stretches(content []byte) string {
	var out strings.Builder
	from := 0
	for i := 0; i <= len(content); i++ {
		if i < len(content) && (content[i] >= ' ' && content[i] < 0x7f || content[i] == '\t' || content[i] == '\r') {
			continue
		}
		line := i < len(content) && content[i] == '\n'
		whole := line && (from == 0 || content[from-1] == '\n') // a whole line of text, however short
		if i-from >= minStretch || whole {
			out.Write(content[from:i])
			if !line {
				out.WriteByte(0)
			}
		}
		if line {
			out.WriteByte('\n')
		}
		from = i + 1
	}
	return out.String()
}

func (d *Detector) hits(text string, out []BytesHit) []BytesHit {
	line, at := 1, 0
	for _, m := range d.matches(text, "", nil) {
		line, at = line+strings.Count(text[at:m.from], "\n"), m.from
		hit := BytesHit{RuleID: m.rule.id, Line: line, details: m.rule.description}
		if len(out) < maxBytesHits && !slices.Contains(out, hit) {
			out = append(out, hit)
		}
	}
	return out
}
