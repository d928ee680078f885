package sdk

import (
	"encoding/json"
	"strings"
	"sync"
)

// form is the form of requests that a server accepts. The zero value is the form of the
// vendors' own servers.
type form struct {
	oldLimit bool // it knows max_tokens, and not max_completion_tokens
	hold     hold
}

// hold is what enforces an answer's form.
type hold int

const (
	holdSchema hold = iota // the API enforces the schema
	holdObject             // the API enforces a JSON object; the schema is in the question
	holdNone               // only the question asks for the form
)

// without returns f without what the server says it does not know. It returns f unchanged if
// r does not say so, or if nothing more can be left out.
func (f form) without(r *refusal) form {
	switch {
	case !f.oldLimit && r.lacks("max_completion_tokens"):
		f.oldLimit = true
	case f.hold < holdNone && r.lacks("response_format", "json_schema", "json schema", "json_object", "structured output"):
		f.hold++
	}
	return f
}

// manners remembers the form that a server accepted.
type manners struct {
	mu   sync.Mutex
	form form
}

func (m *manners) get() form {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.form
}

// learn remembers what f leaves out, together with what parallel questions found.
func (m *manners) learn(f form) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.form.oldLimit = m.form.oldLimit || f.oldLimit
	m.form.hold = max(m.form.hold, f.hold)
}

// spelled is the system text for an API that does not enforce the schema.
func spelled(system string, schema json.RawMessage) string {
	return strings.TrimLeft(system+"\n\nAnswer with one JSON object and nothing else, neither before it nor after it. It must be valid by this JSON Schema:\n"+string(schema), "\n")
}

// bare removes text that models write around an answer whose form nothing enforces: their
// thinking before it, and the fence of a code block.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if thought, ok := strings.CutPrefix(text, "<think>"); ok {
		if _, after, ended := strings.Cut(thought, "</think>"); ended {
			text = strings.TrimSpace(after)
		}
	}
	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}
	inner, closed := strings.CutSuffix(inner, "```")
	_, inner, lines := strings.Cut(inner, "\n") // the language
	if !closed || !lines {
		return text
	}
	return strings.TrimSpace(inner)
}
