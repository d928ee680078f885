package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
)

// messages is Anthropic's Messages API:
// https://platform.claude.com/docs/en/api/messages.
type messages struct{}

func (messages) name() string { return config.APIAnthropic }

func (messages) authorise(h http.Header, o Options) *Fault {
	switch key := h.Get("X-Api-Key"); {
	case o.Keyless && key == "" || key == o.Key:
		return nil
	case key == "":
		return &Fault{Status: 401, Type: "authentication_error", Message: "x-api-key header is required"}
	}
	return &Fault{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"}
}

func (messages) noModel(name string) *Fault {
	return &Fault{Status: 404, Type: "not_found_error", Message: "model: " + name}
}

func (messages) tooLarge() *Fault {
	return &Fault{Status: 413, Type: "request_too_large", Message: "Request exceeds the maximum size"}
}

func invalid(format string, args ...any) *Fault {
	return &Fault{Status: 400, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

// messagesBody has the fields that the App uses. Any other field is a mistake.
type messagesBody struct {
	Model        string      `json:"model"`
	MaxTokens    *int        `json:"max_tokens"`
	Messages     []message   `json:"messages"`
	System       []textBlock `json:"system"`
	Stream       bool        `json:"stream"`
	OutputConfig *struct {
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func (messages) read(q *Request, o Options) *Fault {
	if q.Header.Get("Anthropic-Version") != "2023-06-01" {
		return invalid("anthropic-version: header is required")
	}
	if q.Header.Get("Content-Type") != "application/json" {
		return invalid("content-type: application/json is required")
	}
	var b messagesBody
	if err := decode(q.Body, &b); err != nil {
		return invalid("%v: Extra inputs are not permitted", err)
	}
	switch {
	case b.Model == "":
		return invalid("model: Field required")
	case b.MaxTokens == nil:
		return invalid("max_tokens: Field required")
	case *b.MaxTokens < 1:
		return invalid("max_tokens: Input should be greater than or equal to 1")
	case len(b.Messages) == 0:
		return invalid("messages: at least one message is required")
	case b.OutputConfig != nil && slices.Contains(o.Lacks, "output_config"):
		return invalid("output_config: Extra inputs are not permitted")
	}
	q.Model, q.MaxTokens, q.Limit, q.Stream = b.Model, *b.MaxTokens, "max_tokens", b.Stream
	if refused := readMessages(q, b.Messages); refused != nil {
		return refused
	}
	if refused := readSystem(q, b.System); refused != nil {
		return refused
	}
	if b.OutputConfig == nil || b.OutputConfig.Format == nil {
		return nil
	}
	f := b.OutputConfig.Format
	if f.Type != "json_schema" {
		return invalid("output_config.format.type: Input should be 'json_schema'")
	}
	if problem := unheld(f.Schema, "output_config.format.schema"); problem != "" {
		return invalid("%s", problem)
	}
	q.Format, q.Schema = f.Type, f.Schema
	return nil
}

func readMessages(q *Request, all []message) *Fault {
	var user []string
	for i, m := range all {
		if m.Role != "user" && m.Role != "assistant" {
			return invalid("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		text, shared, err := texts(m.Content)
		if err != nil {
			return invalid("messages.%d: %v", i, err)
		}
		if m.Role == "user" {
			user = append(user, text)
			q.Shared += shared
		}
	}
	q.Text = strings.Join(user, "\n")
	return nil
}

func readSystem(q *Request, blocks []textBlock) *Fault {
	for i, b := range blocks {
		switch {
		case b.Type != "text":
			return invalid("system.%d.type: Input should be 'text'", i)
		case b.Text == "" && b.CacheControl != nil:
			return invalid("system.%d: cache_control cannot be set for empty text blocks", i)
		case b.Text == "":
			return invalid("system: text content blocks must be non-empty")
		case b.CacheControl != nil && b.CacheControl.Type != "ephemeral":
			return invalid("system.%d.cache_control.type: Input should be 'ephemeral'", i)
		}
		q.System += b.Text
		q.Caches = q.Caches || b.CacheControl != nil
	}
	return nil
}

func (messages) fault(f Fault) output {
	return jsonOutput(f.Status, messagesFault(f))
}

func messagesFault(f Fault) map[string]any {
	return map[string]any{"type": "error", "request_id": "req_1", "error": map[string]any{"type": f.Type, "message": f.Message}}
}

func jsonOutput(status int, v any) output {
	text, _ := json.Marshal(v) // maps of strings and numbers
	return output{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: text}
}

func (messages) render(q *Request, r Reply) output {
	if r.stop == "content_filter" {
		r.stop = "refusal"
	}
	u := r.counted(q)
	usage := map[string]any{
		"input_tokens": u.Input - u.Cached - u.Stored, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.Stored, "output_tokens": u.Output,
	}
	m := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if q.Stream {
		return stream(m, r)
	}
	if r.broken != nil {
		return messages{}.fault(*r.broken)
	}
	content := []any{}
	for _, b := range r.blocks {
		content = append(content, messagesBlock(b, b.Text))
	}
	m["content"], m["stop_reason"] = content, r.stop
	return jsonOutput(http.StatusOK, m)
}

func messagesBlock(b Block, text string) map[string]any {
	switch b.Type {
	case "thinking":
		return map[string]any{"type": "thinking", "thinking": text, "signature": ""}
	case "tool_use":
		return map[string]any{"type": "tool_use", "id": "toolu_1", "name": b.Text, "input": map[string]any{}}
	}
	return map[string]any{"type": b.Type, "text": text}
}

// stream writes the events of an answer, with its text in pieces.
func stream(m map[string]any, r Reply) output {
	var out bytes.Buffer
	event := func(v map[string]any) {
		text, _ := json.Marshal(v) // maps of strings and numbers
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", v["type"], text)
	}
	event(map[string]any{"type": "message_start", "message": m})
	event(map[string]any{"type": "ping"})
	for i, b := range r.blocks {
		event(map[string]any{"type": "content_block_start", "index": i, "content_block": messagesBlock(b, "")})
		for _, piece := range pieces(b.Text) {
			switch b.Type {
			case "text":
				event(map[string]any{"type": "content_block_delta", "index": i, "delta": map[string]any{"type": "text_delta", "text": piece}})
			case "thinking":
				event(map[string]any{"type": "content_block_delta", "index": i, "delta": map[string]any{"type": "thinking_delta", "thinking": piece}})
			}
		}
		event(map[string]any{"type": "content_block_stop", "index": i})
	}
	if r.broken != nil {
		event(messagesFault(*r.broken))
	} else {
		usage, _ := m["usage"].(map[string]any)
		event(map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": r.stop, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": usage["output_tokens"]},
		})
		event(map[string]any{"type": "message_stop"})
	}
	return output{status: http.StatusOK, header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}, body: out.Bytes()}
}

// pieces cuts a text into pieces of a few characters.
func pieces(text string) []string {
	var all []string
	runes := []rune(text)
	for piece := range slices.Chunk(runes, 12) {
		all = append(all, string(piece))
	}
	return all
}
