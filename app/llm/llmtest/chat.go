package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
)

// chat is OpenAI's Chat Completions API:
// https://developers.openai.com/api/reference/resources/chat.
type chat struct{}

func (chat) name() string { return config.APIOpenAI }

func (chat) authorise(h http.Header, o Options) *Fault {
	switch key := h.Get("Authorization"); {
	case o.Keyless && key == "" || key == "Bearer "+o.Key:
		return nil
	case key == "":
		return &Fault{Status: 401, Type: "invalid_request_error", Message: "You didn't provide an API key."}
	default:
		// OpenAI repeats a part of it; others do not cut it.
		return &Fault{Status: 401, Type: "invalid_request_error", Code: "invalid_api_key", Message: "Incorrect API key provided: " + key + "."}
	}
}

func (chat) noModel(name string) *Fault {
	return &Fault{Status: 404, Type: "invalid_request_error", Code: "model_not_found", Message: "The model `" + name + "` does not exist or you do not have access to it."}
}

func (chat) tooLarge() *Fault {
	return &Fault{Status: 413, Type: "invalid_request_error", Message: "Request body too large"}
}

// chatBody has the fields that the App uses. Any other field is a mistake.
type chatBody struct {
	Model               string      `json:"model"`
	Messages            []message   `json:"messages"`
	MaxTokens           *int        `json:"max_tokens"`
	MaxCompletionTokens *int        `json:"max_completion_tokens"`
	ResponseFormat      *chatFormat `json:"response_format"`
}

type chatFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

func wrong(param, code, format string, args ...any) *Fault {
	return &Fault{Status: 400, Type: "invalid_request_error", Param: param, Code: code, Message: fmt.Sprintf(format, args...)}
}

func (chat) read(q *Request, o Options) *Fault {
	if q.Header.Get("Content-Type") != "application/json" {
		return wrong("", "", "the content type must be application/json")
	}
	var b chatBody
	if err := decode(q.Body, &b); err != nil {
		return wrong("", "unknown_parameter", "Unknown parameter: %v.", err)
	}
	q.Model = b.Model
	if b.Model == "" {
		return wrong("model", "", "you must provide a model parameter")
	}
	if refused := readLimit(q, b, o); refused != nil {
		return refused
	}
	if refused := readChat(q, b.Messages); refused != nil {
		return refused
	}
	if b.ResponseFormat == nil {
		return nil
	}
	return readFormat(q, *b.ResponseFormat, o)
}

func readLimit(q *Request, b chatBody, o Options) *Fault {
	limit := b.MaxCompletionTokens
	switch {
	case b.MaxTokens != nil && b.MaxCompletionTokens != nil:
		return wrong("", "invalid_parameter_combination", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case b.MaxCompletionTokens != nil:
		q.Limit = "max_completion_tokens"
	case b.MaxTokens != nil:
		q.Limit, limit = "max_tokens", b.MaxTokens
	default:
		return nil
	}
	if slices.Contains(o.Lacks, q.Limit) {
		return wrong(q.Limit, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", q.Limit)
	}
	if *limit < 1 {
		return wrong(q.Limit, "integer_below_min_value", "Invalid '%s': integer below minimum value.", q.Limit)
	}
	q.MaxTokens = *limit
	return nil
}

func readChat(q *Request, all []message) *Fault {
	if len(all) == 0 {
		return wrong("messages", "empty_array", "Invalid 'messages': empty array.")
	}
	for i, m := range all {
		text, _, err := texts(m.Content)
		if err != nil {
			return wrong(fmt.Sprintf("messages[%d]", i), "", "%v", err)
		}
		switch m.Role {
		case "system", "developer":
			q.System += text
		case "user":
			q.Text += text
		case "assistant":
		default:
			return wrong(fmt.Sprintf("messages[%d].role", i), "invalid_value", "Invalid value: '%s'.", m.Role)
		}
	}
	q.Caches = true // the API caches by itself
	return nil
}

func readFormat(q *Request, f chatFormat, o Options) *Fault {
	if slices.Contains(o.Lacks, "response_format") {
		return wrong("response_format", "unknown_parameter", "Unrecognized request argument supplied: response_format")
	}
	if slices.Contains(o.Lacks, f.Type) {
		return wrong("response_format", "", "Invalid parameter: 'response_format' of type '%s' is not supported with this model.", f.Type)
	}
	q.Format = f.Type
	switch {
	case f.Type == "text":
		return nil
	case f.Type == "json_object":
		if !strings.Contains(strings.ToLower(q.System+q.Text), "json") {
			return wrong("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
		}
		return nil
	case f.Type != "json_schema":
		return wrong("response_format.type", "invalid_value", "Invalid value: '%s'.", f.Type)
	case f.JSONSchema == nil || !schemaName.MatchString(f.JSONSchema.Name):
		return wrong("response_format.json_schema.name", "invalid_value", "Invalid 'response_format.json_schema.name'.")
	}
	q.Name, q.Schema = f.JSONSchema.Name, f.JSONSchema.Schema
	if problem := unheld(q.Schema, "In context=()"); f.JSONSchema.Strict && problem != "" {
		return wrong("response_format", "", "Invalid schema for response_format '%s': %s", q.Name, problem)
	}
	return nil
}

func (chat) fault(f Fault) output {
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return jsonOutput(f.Status, map[string]any{"error": map[string]any{
		"message": f.Message, "type": null(f.Type), "param": null(f.Param), "code": null(f.Code),
	}})
}

// finished are OpenAI's stop reasons.
var finished = map[string]string{"end_turn": "stop", "refusal": "stop", "max_tokens": "length", "tool_use": "tool_calls"}

func (chat) render(q *Request, r Reply) output {
	if r.broken != nil {
		return chat{}.fault(*r.broken)
	}
	reason, ok := finished[r.stop]
	if !ok {
		reason = r.stop
	}
	message := map[string]any{"role": "assistant", "refusal": nil, "content": nil}
	if r.why != "" {
		message["refusal"] = r.why
	}
	var content string
	for _, b := range r.blocks {
		if b.Type == "text" {
			content += b.Text
		}
	}
	if len(r.blocks) > 0 {
		message["content"] = content
	}
	u := r.counted(q)
	return jsonOutput(http.StatusOK, map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1767225600, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason, "logprobs": nil}},
		"usage": map[string]any{
			"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Total(),
			"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
		},
	})
}
