package sdk_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// want is the expected error for a refusal of an API.
type want struct {
	kind   llm.Kind
	status int
	after  time.Duration
}

func check(t *testing.T, e *llm.Error, want want) {
	t.Helper()
	if e.Kind != want.kind || e.Status != want.status || e.After != want.after {
		t.Errorf("the error is %s, status %d, after %s (%v), not %+v", e.Kind, e.Status, e.After, e, want)
	}
}

func TestRefusals(t *testing.T) {
	fail := func(status int, code, message string) llmtest.Reply {
		// Anthropic's API has no codes, but servers in between use those of others.
		return llmtest.Fail(llmtest.Fault{Status: status, Type: code, Code: code, Message: message})
	}
	later := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for name, c := range map[string]struct {
		reply llmtest.Reply
		want  want
	}{
		"400":               {llmtest.Status(400), want{llm.Invalid, 400, 0}},
		"401":               {llmtest.Status(401), want{llm.Denied, 401, 0}},
		"402":               {llmtest.Status(402), want{llm.Denied, 402, 0}},
		"403":               {llmtest.Status(403), want{llm.Denied, 403, 0}},
		"404":               {llmtest.Status(404), want{llm.Invalid, 404, 0}},
		"408":               {llmtest.Status(408), want{llm.Unreachable, 408, 0}},
		"413":               {llmtest.Status(413), want{llm.TooLong, 413, 0}},
		"429":               {llmtest.Status(429), want{llm.Limited, 429, 0}},
		"429, seconds":      {llmtest.Limited(7 * time.Second), want{llm.Limited, 429, 7 * time.Second}},
		"429, milliseconds": {llmtest.Status(429).With("Retry-After-Ms", "1500"), want{llm.Limited, 429, 1500 * time.Millisecond}},
		"429, nonsense":     {llmtest.Status(429).With("Retry-After", "NaN"), want{llm.Limited, 429, 0}},
		"429, negative":     {llmtest.Status(429).With("Retry-After", "-7"), want{llm.Limited, 429, 0}},
		"429, forever":      {llmtest.Status(429).With("Retry-After", "1e300"), want{llm.Limited, 429, 24 * time.Hour}},
		"429, long ago":     {llmtest.Status(429).With("Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), want{llm.Limited, 429, 0}},
		"500":               {llmtest.Status(500), want{llm.Unreachable, 500, 0}},
		"502":               {llmtest.Status(502), want{llm.Unreachable, 502, 0}},
		"503 with a time":   {llmtest.Status(503).With("Retry-After", "3"), want{llm.Unreachable, 503, 3 * time.Second}},
		"529":               {llmtest.Overloaded(), want{llm.Overloaded, 529, 0}},
		"no money":          {fail(429, "insufficient_quota", "You exceeded your current quota."), want{llm.Denied, 429, 0}},
		"no credit":         {fail(400, "", "Your credit balance is too low to access the API."), want{llm.Denied, 400, 0}},
		"Anthropic's limit": {fail(400, "", "prompt is too long: 210000 tokens > 200000 maximum"), want{llm.TooLong, 400, 0}},
		"OpenAI's limit":    {fail(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens."), want{llm.TooLong, 400, 0}},
		"filtered":          {fail(400, "content_filter", "The response was filtered."), want{llm.Refused, 400, 0}},
	} {
		for _, api := range apis {
			w := start(t, api, llmtest.Options{}, llmtest.Always(c.reply))
			e := w.fails(question())
			if message := c.want; e.Status >= 500 || e.Status == 429 && e.Kind == llm.Limited {
				if !e.Temporary() {
					t.Errorf("%s, %s: %+v has no limited wait", api, name, message)
				}
			}
			t.Run(api+", "+name, func(t *testing.T) { check(t, e, c.want) })
			if n := len(w.server.Requests()); n != 1 {
				t.Errorf("%s, %s: %d requests", api, name, n)
			}
		}
	}
	w := start(t, config.APIOpenAI, llmtest.Options{}, llmtest.Always(llmtest.Status(429).With("Retry-After", later)))
	if e := w.fails(question()); e.After < 50*time.Minute || e.After > time.Hour {
		t.Errorf("a date an hour from now is %s", e.After)
	}
}

// The API does not know the key or the model.
func TestUnknown(t *testing.T) {
	for _, api := range apis {
		server := llmtest.Start(t, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
		w := world{T: t, server: server, model: model(t, server.Endpoint(api), "sk-of-somebody-else")}
		e := w.fails(question())
		check(t, e, want{llm.Denied, 401, 0})
		if strings.Contains(e.Error(), "sk-of") {
			t.Errorf("%s: the error has the key: %v", api, e)
		}
		endpoint := server.Endpoint(api)
		endpoint.Model = "no-such-model"
		w.model = model(t, endpoint, server.Key())
		e = w.fails(question())
		check(t, e, want{llm.Invalid, 404, 0})
		if !strings.Contains(e.Error(), "no-such-model") {
			t.Errorf("%s: the error does not name the model: %v", api, e)
		}
	}
}

// The model did not finish these answers by itself. Their use is reported.
func TestNotEnded(t *testing.T) {
	took := llm.Use{Input: 500, Cached: 100, Output: 9}
	for name, c := range map[string]struct {
		reply llmtest.Reply
		kind  llm.Kind
	}{
		"refusal":       {llmtest.Refusal("I can't help with that."), llm.Refused},
		"filter":        {llmtest.Filtered(`{"findings": []}`), llm.Refused},
		"cut off":       {llmtest.CutOff(`{"findings": []}`), llm.CutOff},
		"tool":          {llmtest.Text(`{"findings": []}`).Stopped("tool_use"), llm.Malformed},
		"pause":         {llmtest.Text(`{"findings": []}`).Stopped("pause_turn"), llm.Malformed},
		"unheard of":    {llmtest.Text(`{"findings": []}`).Stopped("bored"), llm.Malformed},
		"no reason":     {llmtest.Text(`{"findings": []}`).Stopped(""), llm.Malformed},
		"empty":         {llmtest.Text(""), llm.Malformed},
		"blank":         {llmtest.Text(" \n\t"), llm.Malformed},
		"nothing":       {llmtest.Blocks(), llm.Malformed},
		"only thinking": {llmtest.Blocks(llmtest.Block{Type: "thinking", Text: `{"findings": []}`}), llm.Malformed},
	} {
		for _, api := range apis {
			w := start(t, api, llmtest.Options{}, llmtest.Always(c.reply.Took(took)))
			e := w.fails(question())
			t.Run(api+", "+name, func(t *testing.T) { check(t, e, want{c.kind, 200, 0}) })
			if e.Use != took {
				t.Errorf("%s, %s: the use is %+v", api, name, e.Use)
			}
		}
	}
	w := start(t, config.APIAnthropic, llmtest.Options{}, llmtest.Always(llmtest.Text("{}").Stopped("model_context_window_exceeded")))
	check(t, w.fails(question()), want{llm.TooLong, 200, 0})
}

// A stream ends in an error, which has no status of its own.
func TestBrokenStream(t *testing.T) {
	for kind, f := range map[llm.Kind]llmtest.Fault{
		llm.Overloaded:  {Status: 529, Type: "overloaded_error", Message: "Overloaded"},
		llm.Limited:     {Status: 429, Type: "rate_limit_error", Message: "This many tokens an hour"},
		llm.Unreachable: {Status: 500, Type: "api_error", Message: "Internal server error"},
		llm.Invalid:     {Status: 400, Type: "invalid_request_error", Message: "No"},
	} {
		w := start(t, config.APIAnthropic, llmtest.Options{}, llmtest.Always(llmtest.Broken(`{"findings": [`, f).Took(llm.Use{Input: 77})))
		e := w.fails(question())
		check(t, e, want{kind, f.Status, 0})
		if e.Use.Input != 77 {
			t.Errorf("%s: the use is %+v", kind, e.Use)
		}
	}
}

// Connections are lost at different places.
func TestLost(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, func(r *llmtest.Request) llmtest.Reply {
			return []llmtest.Reply{llmtest.Dropped(), llmtest.Half(llmtest.Text(strings.Repeat("half ", 50)))}[r.N-1]
		})
		check(t, w.fails(question()), want{llm.Unreachable, 0, 0})
		check(t, w.fails(question()), want{llm.Unreachable, 200, 0})

		// This is half a stream that ends as if it were complete.
		whole := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"{}\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n"
		if api == config.APIAnthropic {
			w = start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Raw(200, "text/event-stream", []byte(whole))))
			check(t, w.fails(question()), want{llm.Unreachable, 200, 0})
		}
		w.model = model(t, config.ModelEndpoint{API: api, Model: "m", BaseURL: "http://" + closed(t)}, "")
		check(t, w.fails(question()), want{llm.Unreachable, 0, 0})
	}
}

// hostile are bodies that are not answers, whatever their type.
var hostile = map[string]string{
	"nothing":        "",
	"null":           "null",
	"list":           "[]",
	"string":         `"{}"`,
	"number":         "1e999",
	"empty object":   "{}",
	"HTML":           "<html><body>Log in to the network</body></html>",
	"half":           `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"{}`,
	"two":            `{"choices":[]}{"choices":[]}`,
	"deep":           strings.Repeat("[", 200_000),
	"deep object":    strings.Repeat(`{"choices":`, 50_000),
	"zeros":          strings.Repeat("\x00", 5000),
	"no UTF-8":       "{\"choices\":[{\"message\":{\"content\":\"\xff\xfe\"},\"finish_reason\":\"\xff\"}]}",
	"other types":    `{"choices":{"0":1},"usage":[],"content":7}`,
	"wrong inside":   `{"choices":[{"message":{"content":["{}"]},"finish_reason":"stop"}]}`,
	"no choice":      `{"choices":[],"usage":{"prompt_tokens":1}}`,
	"two choices":    `{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"},{"message":{"content":"{}"},"finish_reason":"stop"}]}`,
	"error at 200":   `{"error":{"message":"upstream","code":502}}`,
	"event, no JSON": "event: message_start\ndata: {\"type\n\n",
	"event of other": "event: completion\ndata: {\"completion\":\"{}\"}\n\n",
	"out of order":   "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":99,\"delta\":{\"type\":\"text_delta\",\"text\":\"{}\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"error event":    "event: error\ndata: {{{\n\n",
	"text, a list":   "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":[\"{}\"]}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"delta, object":  "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":{\"a\":1}}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"null event":     "event: message_start\ndata: null\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
}

func TestHostileBytes(t *testing.T) {
	for name, text := range hostile {
		for _, kind := range []string{"application/json", "text/event-stream", "text/html", "application/octet-stream", "\x01;;="} {
			for _, api := range apis {
				w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Raw(200, kind, []byte(text))))
				if e := w.fails(question()); e.Kind != llm.Malformed && e.Kind != llm.Unreachable {
					t.Errorf("%s, %s as %s: %v", api, name, kind, e)
				}
			}
		}
		for status, want := range map[int]llm.Kind{301: llm.Malformed, 304: llm.Malformed, 403: llm.Denied, 502: llm.Unreachable} {
			for _, api := range apis {
				w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Raw(status, "text/html", []byte(text))))
				e := w.fails(question())
				check(t, e, want0(want, status))
				if strings.Contains(e.Error(), "network") {
					t.Errorf("%s, %s: the error repeats a page: %v", api, name, e)
				}
			}
		}
	}
}

func want0(kind llm.Kind, status int) want { return want{kind, status, 0} }

// Answers above the size limit, compressed or not, are not read to their end.
func TestTooLarge(t *testing.T) {
	large := append(append([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"`), bytes.Repeat([]byte("a"), sample.Size(10, 40)<<20)...), `"}}]}`...)
	var events bytes.Buffer
	for events.Len() < 9<<20 {
		fmt.Fprintf(&events, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%q}}\n\n", strings.Repeat("a", 1<<16))
	}
	endless := append([]byte("event: ping\ndata: "), large...)
	for _, c := range sample.Of(t, 2, []struct {
		name, api, kind string
		body            []byte
	}{
		{"JSON", config.APIOpenAI, "application/json", large},
		{"refusal", config.APIOpenAI, "application/json", large},
		{"events", config.APIAnthropic, "text/event-stream", events.Bytes()},
		{"a line", config.APIAnthropic, "text/event-stream", endless},
	}) {
		for packed, reply := range map[string]llmtest.Reply{"": llmtest.Raw(200, c.kind, c.body), "packed": llmtest.Packed(200, c.kind, c.body)} {
			w := start(t, c.api, llmtest.Options{}, llmtest.Always(reply))
			if e := w.fails(question()); e.Kind != llm.Malformed || !strings.Contains(e.Error(), "more than 8388608 bytes") {
				t.Errorf("%s %s: %v", c.name, packed, e)
			}
		}
	}
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Packed(500, "application/json", large)))
		check(t, w.fails(question()), want{llm.Unreachable, 500, 0})
	}
}

// Short texts that would take gigabytes in the SDKs are not passed to them.
func TestManyValues(t *testing.T) {
	many := strings.Repeat("{},", 2<<20)
	for name, c := range map[string]struct{ api, kind, body string }{
		"choices": {config.APIOpenAI, "application/json", `{"choices":[` + many + `{}]}`},
		"calls":   {config.APIOpenAI, "application/json", `{"choices":[{"finish_reason":"stop","message":{"content":"{}","tool_calls":[` + many + `{}]}}]}`},
		"blocks":  {config.APIAnthropic, "text/event-stream", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[" + many + "{}]}}\n\n"},
	} {
		w := start(t, c.api, llmtest.Options{}, llmtest.Always(llmtest.Raw(200, c.kind, []byte(c.body))))
		if e := w.fails(question()); e.Kind != llm.Malformed || !strings.Contains(e.Error(), "more than 10000 values") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// An error tells whether an unanswered question may have been billed.
func TestSent(t *testing.T) {
	for name, c := range map[string]struct {
		reply llmtest.Reply
		sent  bool
	}{
		"refused by status":      {llmtest.Status(400), false},
		"limited":                {llmtest.Status(429), false},
		"down":                   {llmtest.Status(503), false},
		"timed out at a gateway": {llmtest.Status(504), true},
		"at Cloudflare's":        {llmtest.Status(524), true},
		"lost":                   {llmtest.Dropped(), true},
		"half":                   {llmtest.Half(llmtest.Text(strings.Repeat("half ", 50))), true},
		"malformed":              {llmtest.Raw(200, "text/html", []byte("hello")), true},
		"no answer":              {llmtest.Raw(200, "application/json", []byte("[]")), true},
		"cut off":                {llmtest.CutOff("{"), true},
	} {
		for _, api := range apis {
			w := start(t, api, llmtest.Options{}, llmtest.Always(c.reply))
			if e := w.fails(question()); e.Sent != c.sent {
				t.Errorf("%s, %s: sent: %v (%v)", api, name, e.Sent, e)
			}
		}
	}
	for _, api := range apis {
		w := world{T: t, model: model(t, config.ModelEndpoint{API: api, Model: "m", BaseURL: "http://" + closed(t)}, "")}
		if e := w.fails(question()); e.Sent || e.Kind != llm.Unreachable {
			t.Errorf("%s: without a server, sent: %v (%v)", api, e.Sent, e)
		}
	}
}

// closed is an address where no server listens.
func closed(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Counts that the end of a stream omits keep their earlier values.
func TestOmittedCounts(t *testing.T) {
	text := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":7}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"{}\"}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	w := start(t, config.APIAnthropic, llmtest.Options{}, llmtest.Always(llmtest.Raw(200, "text/event-stream", []byte(text))))
	answer, err := w.ask(question())
	if err != nil || answer.Use != (llm.Use{Input: 5, Output: 7}) {
		t.Errorf("%+v, %v", answer, err)
	}
}

// An answer with the requested compression is read. Other or broken compression is refused.
func TestPacked(t *testing.T) {
	text := []byte(`{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"{}"}}]}`)
	w := start(t, config.APIOpenAI, llmtest.Options{}, llmtest.Always(llmtest.Packed(200, "application/json", text)))
	if answer, err := w.ask(question()); err != nil || answer.Text != "{}" {
		t.Errorf("%q, %v", answer.Text, err)
	}
	for name, reply := range map[string]llmtest.Reply{
		"brotli":  llmtest.Raw(200, "application/json", text).With("Content-Encoding", "br"),
		"no gzip": llmtest.Raw(200, "application/json", text).With("Content-Encoding", "gzip"),
		"broken":  llmtest.Raw(200, "application/json", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff")).With("Content-Encoding", "gzip"),
	} {
		w := start(t, config.APIOpenAI, llmtest.Options{}, llmtest.Always(reply))
		if e := w.fails(question()); e.Kind != llm.Malformed {
			t.Errorf("%s: %v", name, e)
		}
	}
}
