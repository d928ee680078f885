package sdk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/config"
)

// A server that knows only a part of the API is asked in the form that it knows, and later
// questions use that form at once.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		api    string
		lacks  []string
		format string
		limit  string
		asked  int // requests for the first answer
	}{
		"knows all":            {config.APIOpenAI, nil, "json_schema", "max_completion_tokens", 1},
		"max_tokens":           {config.APIOpenAI, []string{"max_completion_tokens"}, "json_schema", "max_tokens", 2},
		"no schema":            {config.APIOpenAI, []string{"json_schema"}, "json_object", "max_completion_tokens", 2},
		"no format":            {config.APIOpenAI, []string{"response_format"}, "", "max_completion_tokens", 3},
		"neither":              {config.APIOpenAI, []string{"json_schema", "json_object", "max_completion_tokens"}, "", "max_tokens", 4},
		"Messages, knows all":  {config.APIAnthropic, nil, "json_schema", "max_tokens", 1},
		"Messages, no formats": {config.APIAnthropic, []string{"output_config"}, "", "max_tokens", 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, c.api, llmtest.Options{Lacks: c.lacks}, llmtest.Always(llmtest.Text("{}")))
			for i := range 3 {
				if _, err := w.ask(question()); err != nil {
					t.Fatal(err)
				}
				if n := len(w.server.Requests()) + len(w.server.Mistakes()); n != c.asked+i {
					t.Errorf("after answer %d there were %d requests, not %d: %q", i+1, n, c.asked+i, w.server.Mistakes())
				}
			}
			r := w.server.Requests()[2]
			if r.Format != c.format || r.Limit != c.limit {
				t.Errorf("the question had the form %q, with %s", r.Format, r.Limit)
			}
			if spelled := strings.Contains(r.System, `"maxLength": 200`); spelled != (c.format != "json_schema") {
				t.Errorf("the schema is in the question: %v", spelled)
			}
		})
	}
}

// Messages of other servers about unknown parameters, and messages that are no reason to ask
// in another form.
func TestWordsOfServers(t *testing.T) {
	for text, again := range map[string]bool{
		`{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens","type":"invalid_request_error","param":null,"code":null}}`: true,
		`{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null}}`:                              true,
		`{"error":"'response_format.type' must be one of 'text', 'json_object'"}`:                                                                       true,
		`{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":100}]}`:             true,
		`{"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","type":"BadRequestError","code":400}`:      true,
		`{"error":{"message":"Invalid schema for response_format 'verdict': In context=(), 'minLength' is not permitted.","param":"response_format"}}`:  false,
		`{"error":{"message":"max_tokens is too large: 9. This model supports at most 8.","param":"max_completion_tokens","code":"invalid_value"}}`:     false,
		`{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model.","param":"temperature"}}`:                          false,
		`{"detail":"Not Found"}`:                              false,
		`<html>max_completion_tokens is not supported</html>`: false,
		``: false,
	} {
		for _, status := range []int{400, 422} {
			w := start(t, config.APIOpenAI, llmtest.Options{}, func(r *llmtest.Request) llmtest.Reply {
				if r.N == 1 {
					return llmtest.Raw(status, "application/json", []byte(text))
				}
				return llmtest.Text("{}")
			})
			_, err := w.ask(question())
			if n := len(w.server.Requests()); (n == 2) != again || (err == nil) != again {
				t.Errorf("%d %s: asked %d times, %v", status, text, n, err)
			}
		}
	}
}

// A server that always names the same parameter is not asked forever. Nothing is remembered
// of a server that never answers.
func TestFormsEnd(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Fail(llmtest.Fault{
			Status: 400, Message: "max_completion_tokens, response_format and output_config are not supported",
		})))
		w.fails(question())
		n := len(w.server.Requests())
		if w.fails(question()); n > 4 || len(w.server.Requests()) != 2*n {
			t.Errorf("%s: asked %d times, then %d", api, n, len(w.server.Requests())-n)
		}
	}
}

// If only the instructions demand the form, text around an answer is removed. Where the
// API enforces the schema, nothing is removed.
func TestAround(t *testing.T) {
	for text, want := range map[string]string{
		" {}\n":                   "{}",
		"```json\n{\"a\":1}\n```": `{"a":1}`,
		"```\n{}\n```\n":          "{}",
		"<think>{ no }</think>\n```json\n{}\n```": "{}",
		"<think>for ever {}":                      "<think>for ever {}",
		"```json {}```":                           "```json {}```",
		"```json\n{}":                             "```json\n{}",
		"Here it is: {}":                          "Here it is: {}",
	} {
		for _, api := range apis {
			w := start(t, api, llmtest.Options{Lacks: []string{"response_format", "output_config"}}, llmtest.Always(llmtest.Text(text)))
			if answer, err := w.ask(question()); err != nil || answer.Text != want {
				t.Errorf("%s: %q is %q, %v", api, text, answer.Text, err)
			}
			w = start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text(text)))
			if answer, err := w.ask(question()); err != nil || answer.Text != text {
				t.Errorf("%s, held to the schema: %q is %q, %v", api, text, answer.Text, err)
			}
		}
	}
}

// FuzzAnswers makes models answer with any text, as an answer of either API.
func FuzzAnswers(f *testing.F) {
	for _, text := range hostile {
		f.Add(200, []byte(text))
		f.Add(400, []byte(text))
	}
	f.Add(200, []byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"{}"}}]}`))
	f.Add(200, []byte("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"{}\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Fuzz(func(t *testing.T, status int, text []byte) {
		if status < 200 || status > 599 {
			status = 200
		}
		for api, kind := range map[string]string{config.APIAnthropic: "text/event-stream", config.APIOpenAI: "application/json"} {
			m, err := sdk.NewOver(canned(status, kind, text), config.ModelEndpoint{API: api, Model: "m"}, "sk-key")
			if err != nil {
				t.Fatal(err)
			}
			answer, err := world{T: t, model: m}.ask(question())
			switch {
			case err == nil && (strings.TrimSpace(answer.Text) == "" || status != 200):
				t.Errorf("%s: %q is an answer at %d", api, answer.Text, status)
			case err != nil && (answer != llm.Answer{} || strings.Contains(err.Error(), "sk-key")):
				t.Errorf("%s: %+v, %v", api, answer, err)
			}
			if u := answer.Use; u.Input < 0 || u.Output < 0 || u.Cached < 0 || u.Cached > u.Input {
				t.Errorf("%s: the use is %s", api, fmt.Sprint(u))
			}
		}
	})
}
