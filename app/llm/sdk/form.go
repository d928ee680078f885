package sdk

import (
	"encoding/json"
	"strings"
	"sync"
)

// form is how a server wants to be asked. The zero value is how the vendors' own
// do.
type form struct {
	oldLimit bool // it knows max_tokens, and not max_completion_tokens
	hold     hold
}

// hold is what keeps an answer in form.
type hold int

const (
	holdSchema hold = iota // the API, to the schema
	holdObject             // the API, to some JSON object; the schema stands in the question
	holdNone               // nothing but the question
)

// without is f without what r says that the server does not know. It is f where r
// says nothing of the kind, or nothing is left to leave out.
func (f form) without(r *refusal) form {
	switch {
	case !f.oldLimit && r.lacks("max_completion_tokens"):
		f.oldLimit = true
	case f.hold < holdNone && r.lacks("response_format", "json_schema", "json schema", "json_object", "structured output"):
		f.hold++
	}
	return f
}

// manners remembers the form that a server took.
type manners struct {
	mu   sync.Mutex
	form form
}

func (m *manners) get() form {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.form
}

// learn keeps what f leaves out, and what others found at the same time.
func (m *manners) learn(f form) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.form.oldLimit = m.form.oldLimit || f.oldLimit
	m.form.hold = max(m.form.hold, f.hold)
}

// spelled is the system text for an API that does not hold an answer to schema.
func spelled(system string, schema json.RawMessage) string {
	return strings.TrimLeft(system+"\n\nAnswer with one JSON object and nothing else, neither before it nor after it. It must be valid by this JSON Schema:\n"+string(schema), "\n")
}

// bare takes away what models write around an answer that nothing but the question
// holds in form: their thinking before it, and the fence of a block of code.
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
