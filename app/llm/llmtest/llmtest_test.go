package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// A server waits half a second after it refused to read a request to its end.
		goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// post sends a request by hand, because no SDK would send it.
func post(t *testing.T, s *llmtest.Server, path string, header map[string]string, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for key, value := range header {
		req.Header.Set(key, value)
	}
	wires := &http.Transport{DisableKeepAlives: true}
	resp, err := wires.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// The APIs refuse some requests, each with its message.
func TestRules(t *testing.T) {
	const (
		messages = "/v1/messages"
		chat     = "/v1/chat/completions"
		schema   = `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"string"}}}`
	)
	ask := func(more string) string {
		return `{"model":"stand-in","max_tokens":5,"messages":[{"role":"user","content":"hi"}]` + more + `}`
	}
	formats := map[string]string{
		messages: `,"output_config":{"format":{"type":"json_schema","schema":%s}}`,
		chat:     `,"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":%s}}`,
	}
	for name, c := range map[string]struct {
		path, body string
		without    string // a header
		status     int
		says       string
	}{
		"messages":               {messages, ask(""), "", 200, `"type":"message"`},
		"chat":                   {chat, ask(""), "", 200, `"object":"chat.completion"`},
		"messages, schema":       {messages, ask(fmt.Sprintf(formats[messages], schema)), "", 200, "end_turn"},
		"chat, schema":           {chat, ask(fmt.Sprintf(formats[chat], schema)), "", 200, `"finish_reason":"stop"`},
		"messages, no key":       {messages, ask(""), "X-Api-Key", 401, "x-api-key header is required"},
		"chat, no key":           {chat, ask(""), "Authorization", 401, "API key"},
		"no version":             {messages, ask(""), "Anthropic-Version", 400, "anthropic-version"},
		"messages, tools":        {messages, ask(`,"tools":[]`), "", 400, "tools"},
		"chat, tools":            {chat, ask(`,"tools":[]`), "", 400, "tools"},
		"messages, no JSON":      {messages, "{", "", 400, "invalid_request_error"},
		"chat, no JSON":          {chat, "", "", 400, "invalid_request_error"},
		"no limit":               {messages, `{"model":"stand-in","messages":[{"role":"user","content":"hi"}]}`, "", 400, "max_tokens"},
		"two limits":             {chat, ask(`,"max_completion_tokens":5`), "", 400, "at the same time"},
		"messages, other model":  {messages, strings.Replace(ask(""), "stand-in", "x", 1), "", 404, "not_found_error"},
		"chat, other model":      {chat, strings.Replace(ask(""), "stand-in", "x", 1), "", 404, "model_not_found"},
		"messages, role":         {messages, strings.Replace(ask(""), "user", "system", 1), "", 400, "role"},
		"chat, role":             {chat, strings.Replace(ask(""), "user", "boss", 1), "", 400, "role"},
		"messages, empty":        {messages, strings.Replace(ask(""), "hi", "", 1), "", 400, "non-empty"},
		"messages, cache":        {messages, ask(`,"system":[{"type":"text","text":"s","cache_control":{"type":"for ever"}}]`), "", 400, "ephemeral"},
		"messages, open object":  {messages, ask(fmt.Sprintf(formats[messages], `{"type":"object","properties":{}}`)), "", 400, "additionalProperties"},
		"chat, open object":      {chat, ask(fmt.Sprintf(formats[chat], `{"type":"object","properties":{}}`)), "", 400, "additionalProperties"},
		"chat, optional":         {chat, ask(fmt.Sprintf(formats[chat], strings.Replace(schema, `["a"]`, `[]`, 1))), "", 400, "Missing 'a'"},
		"messages, unknown word": {messages, ask(fmt.Sprintf(formats[messages], strings.Replace(schema, `"string"`, `"string","maxLength":3`, 1))), "", 400, "maxLength"},
		"chat, unknown word":     {chat, ask(fmt.Sprintf(formats[chat], strings.Replace(schema, `"string"`, `"string","maxLength":3`, 1))), "", 400, "maxLength"},
		"chat, no word of JSON":  {chat, ask(`,"response_format":{"type":"json_object"}`), "", 400, "'json'"},
		"another path":           {"/v1/embeddings", ask(""), "", 404, ""},
		"too large":              {messages, strings.Repeat(" ", 33<<20), "", 413, "request_too_large"},
	} {
		s := llmtest.Start(t, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
		header := map[string]string{"X-Api-Key": s.Key(), "Authorization": "Bearer " + s.Key(), "Anthropic-Version": "2023-06-01"}
		delete(header, c.without)
		status, text := post(t, s, c.path, header, c.body)
		if status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if taken := len(s.Requests()) == 1; taken != (c.status == 200) {
			t.Errorf("%s: it was accepted: %v, and the mistakes are %q", name, taken, s.Mistakes())
		}
		if (len(s.Mistakes()) == 1) == (c.status == 200) {
			t.Errorf("%s: the mistakes are %q", name, s.Mistakes())
		}
	}
}

// The SDK also reads an answer without a stream.
func TestMessagesAtOnce(t *testing.T) {
	s := llmtest.Start(t, llmtest.Options{}, llmtest.Always(llmtest.Blocks(llmtest.Block{Type: "thinking", Text: "hm"}, llmtest.Block{Type: "text", Text: "{}"})))
	wires := &http.Transport{DisableKeepAlives: true}
	service := anthropic.NewMessageService(option.WithBaseURL(s.URL), option.WithAPIKey(s.Key()), option.WithHTTPClient(&http.Client{Transport: wires}))
	m, err := service.New(context.Background(), anthropic.MessageNewParams{
		Model: "stand-in", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Content) != 2 || m.Content[0].Thinking != "hm" || m.Content[1].Text != "{}" || m.StopReason != "end_turn" || m.Usage.InputTokens == 0 {
		t.Errorf("the message is %s", m.RawJSON())
	}
}

// Every byte is recorded, even of refused requests.
func TestSent(t *testing.T) {
	s := llmtest.Start(t, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
	post(t, s, "/nowhere?canary-1", map[string]string{"X-Header": "canary-2"}, "canary-3")
	for _, canary := range []string{"canary-1", "canary-2", "canary-3"} {
		if !bytes.Contains(s.Sent(), []byte(canary)) {
			t.Errorf("%s is not recorded", canary)
		}
	}
}

// A server that closes releases the held requests.
func TestCloseWhileHeld(t *testing.T) {
	came := make(chan struct{})
	s, err := llmtest.New(llmtest.Options{Keyless: true}, func(*llmtest.Request) llmtest.Reply {
		close(came)
		return llmtest.Slow()
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		body, _ := json.Marshal(map[string]any{"model": "stand-in", "messages": []any{map[string]any{"role": "user", "content": "hi"}}})
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, s.Endpoint(config.APIOpenAI).BaseURL+"/chat/completions", bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	<-came
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err == nil {
			t.Error("the request was answered")
		}
	case <-time.After(10 * time.Second):
		t.Error("the request is still held")
	}
}
