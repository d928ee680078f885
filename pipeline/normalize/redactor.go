package normalize

import "github.com/reviewgate/reviewgate/pipeline"

// Redactor replaces secrets in facts by placeholders. Normalize calls it once, before anything else
// sees the facts. It may rewrite in place the title, the body, commit messages, and the text of
// diff lines and hunk headings, but nothing else. What it returns becomes the facts' Redactions.
type Redactor interface {
	Redact(facts *pipeline.PRFacts) []pipeline.Redaction
}
