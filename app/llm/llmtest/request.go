package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// Request is a question that the server accepted.
type Request struct {
	N      int    // 1 for the server's first
	API    string // config.APIAnthropic or config.APIOpenAI
	Header http.Header
	Body   []byte // as it came

	Model     string
	System    string
	Text      string // of all messages of the user
	Shared    string // the start of Text that the API should cache
	MaxTokens int
	Limit     string // the name of MaxTokens
	Stream    bool
	Caches    bool            // whether the API should cache the start of the question
	Format    string          // json_schema, json_object, or nothing
	Schema    json.RawMessage // of Format json_schema
	Name      string          // of Schema, where the API gives it one

	cached int // bytes that the server had cached
}

// protocol is one of the APIs.
type protocol interface {
	name() string
	// authorise, read and noModel return the API's error for a request that it refuses.
	authorise(http.Header, Options) *Fault
	read(*Request, Options) *Fault
	noModel(string) *Fault
	tooLarge() *Fault
	fault(Fault) output
	render(*Request, Reply) output
}

var protocols = map[string]protocol{
	"/v1/messages":         messages{},
	"/v1/chat/completions": chat{},
}

// decode reads a body whose members are all known.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("there is more than one value")
	}
	return nil
}

// texts reads a message's content: a string, or blocks of text. shared is the part that the
// API should cache.
func texts(content json.RawMessage) (text, shared string, err error) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		if one == "" {
			return "", "", fmt.Errorf("content must be non-empty")
		}
		return one, "", nil
	}
	var blocks []textBlock
	if err := decode(content, &blocks); err != nil {
		return "", "", fmt.Errorf("content: %w", err)
	}
	for _, b := range blocks {
		if b.Type != "text" {
			return "", "", fmt.Errorf("content: type %q is not taken here", b.Type)
		}
		if b.Text == "" {
			return "", "", fmt.Errorf("text content blocks must be non-empty")
		}
		if text += b.Text; b.CacheControl != nil {
			shared = text
		}
	}
	return text, shared, nil
}

type textBlock struct {
	Type         string `json:"type"`
	Text         string `json:"text"`
	CacheControl *struct {
		Type string `json:"type"`
		TTL  string `json:"ttl"`
	} `json:"cache_control"`
}

var schemaName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// held are the keywords of JSON Schema that both APIs accept.
var held = []string{"$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "items", "properties", "required", "title", "type"}

// unheld returns what the APIs refuse in a schema, or "". The rules are those of both APIs,
// in other words.
func unheld(schema json.RawMessage, where string) string {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil {
		return where + ": schema must be an object"
	}
	for key := range s {
		if !slices.Contains(held, key) {
			return fmt.Sprintf("%s: '%s' is not permitted", where, key)
		}
	}
	if problem := unheldObject(s, where); problem != "" {
		return problem
	}
	for _, key := range []string{"properties", "$defs"} {
		var named map[string]json.RawMessage
		_ = json.Unmarshal(s[key], &named) // anything but an object has no members to check
		for name, inner := range named {
			if problem := unheld(inner, where+"."+key+"."+name); problem != "" {
				return problem
			}
		}
	}
	var listed []json.RawMessage
	_ = json.Unmarshal(s["anyOf"], &listed)
	if items, ok := s["items"]; ok {
		listed = append(listed, items)
	}
	for i, inner := range listed {
		if problem := unheld(inner, fmt.Sprintf("%s[%d]", where, i)); problem != "" {
			return problem
		}
	}
	return ""
}

// unheldObject returns what an object lacks.
func unheldObject(s map[string]json.RawMessage, where string) string {
	if string(s["type"]) != `"object"` {
		return ""
	}
	if string(s["additionalProperties"]) != "false" {
		return where + ": 'additionalProperties' is required to be supplied and to be false."
	}
	var properties map[string]json.RawMessage
	var required []string
	_ = json.Unmarshal(s["properties"], &properties)
	_ = json.Unmarshal(s["required"], &required)
	for name := range properties {
		if !slices.Contains(required, name) {
			return fmt.Sprintf("%s: 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", where, name)
		}
	}
	return ""
}
