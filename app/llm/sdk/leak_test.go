package sdk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/config"
)

// elsewhere is a host that must not be asked.
func elsewhere(t *testing.T) (url string, asked *atomic.Int32) {
	asked = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// Settings that the SDKs' clients would read from the environment are never sent.
func TestEnvironment(t *testing.T) {
	url, asked := elsewhere(t)
	dir := t.TempDir()
	profile := `{"base_url": "` + url + `", "authentication": {"type": "user_oauth"}}`
	for name, text := range map[string]string{"active_config": "canary", "configs/canary.json": profile, "configs/default.json": profile} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "canary", "ANTHROPIC_AUTH_TOKEN": "canary", "ANTHROPIC_CUSTOM_HEADERS": "X-Canary: canary",
		"ANTHROPIC_PROFILE": "canary", "ANTHROPIC_CONFIG_DIR": dir, "ANTHROPIC_ORGANIZATION_ID": "canary", "ANTHROPIC_WORKSPACE_ID": "canary",
		"ANTHROPIC_FEDERATION_RULE_ID": "canary", "ANTHROPIC_IDENTITY_TOKEN": "canary", "ANTHROPIC_WEBHOOK_SIGNING_KEY": "canary",
		"ANTHROPIC_OPEN_TELEMETRY": "true", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
		"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "canary", "OPENAI_ADMIN_KEY": "canary", "OPENAI_ORG_ID": "canary", "OPENAI_PROJECT_ID": "canary",
		"OPENAI_WEBHOOK_SECRET": "canary", "OPENAI_CUSTOM_HEADERS": "X-Canary: canary",
	} {
		t.Setenv(name, value)
	}
	spans := traced(t)
	for _, api := range apis {
		for _, o := range []llmtest.Options{{}, {Keyless: true}} {
			server := llmtest.Start(t, o, llmtest.Always(llmtest.Text("{}")))
			key := server.Key()
			if o.Keyless {
				key = ""
			}
			w := world{T: t, server: server, model: model(t, server.Endpoint(api), key)}
			if _, err := w.ask(question()); err != nil {
				t.Fatalf("%s: %v", api, err)
			}
			sent := bytes.ToLower(server.Sent())
			for _, never := range []string{"canary", "traceparent", "organization", "openai-project"} {
				if bytes.Contains(sent, []byte(never)) {
					t.Errorf("%s: %s was sent:\n%s", api, never, sent)
				}
			}
			if o.Keyless && (bytes.Contains(sent, []byte("authorization")) || bytes.Contains(sent, []byte("x-api-key"))) {
				t.Errorf("%s: a key was sent:\n%s", api, sent)
			}
		}
	}
	if asked.Load() > 0 {
		t.Error("the address of the environment was asked")
	}
	if n := len(spans.Started()); n > 0 {
		t.Errorf("%d spans were created", n)
	}
}

// traced sets up tracing as a server with tracing does.
func traced(t *testing.T) *tracetest.SpanRecorder {
	r := tracetest.NewSpanRecorder()
	provider, propagator := otel.GetTracerProvider(), otel.GetTextMapPropagator()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(r)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
	t.Cleanup(func() {
		otel.SetTracerProvider(provider)
		otel.SetTextMapPropagator(propagator)
	})
	return r
}

// Redirects are not followed, because the question and the key are for one host.
func TestRedirects(t *testing.T) {
	url, asked := elsewhere(t)
	for _, api := range apis {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, to := range []string{url + "/v1/messages", "/v1/messages", "//" + strings.TrimPrefix(url, "http://")} {
				w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Raw(status, "text/plain", nil).With("Location", to)))
				check(t, w.fails(question()), want{llm.Malformed, status, 0})
				if n := len(w.server.Requests()) + len(w.server.Mistakes()); n != 1 {
					t.Errorf("%s, %d: %d requests", api, status, n)
				}
			}
		}
	}
	if asked.Load() > 0 {
		t.Error("another host was asked")
	}
}

// An error may be logged, so it contains nothing that a server sent.
func TestErrorsDoNotRepeatTheServer(t *testing.T) {
	q := question()
	q.Text = "the payload of the change: " + strings.Repeat("launch code 4711 and more; ", 10) + strings.Repeat("\n\tcode := 4711", 10)
	for _, api := range apis {
		for name, message := range map[string]func(key string) string{
			"the key":      func(key string) string { return "Incorrect API key: " + key },
			"key alone":    func(key string) string { return key },
			"key cut off":  func(key string) string { return strings.Repeat("x", 280) + key },
			"the question": func(string) string { return "Invalid content: '" + q.Text + "'" },
			"a part":       func(string) string { return "Invalid content near 'launch code 4711 and more'" },
			"escaped":      func(string) string { return strings.ReplaceAll(q.Text, "\n", `\n`) },
			"one line":     func(string) string { return strings.Join(strings.Fields(q.Text), " ") },
			"the system":   func(string) string { return "Your system text '" + q.System + "' is no good" },
			"an essay":     func(string) string { return strings.Repeat("x", 1<<20) },
			"controls":     func(string) string { return "a\x1b[31mb\u202e\nc\r\n::error::d\u200b" },
		} {
			for _, status := range []int{400, 401, 404, 429, 500} {
				var key string
				w := start(t, api, llmtest.Options{}, func(*llmtest.Request) llmtest.Reply {
					return llmtest.Fail(llmtest.Fault{Status: status, Type: message(key), Param: message(key), Code: message(key), Message: message(key)})
				})
				key = w.server.Key()
				text := w.fails(q).Error()
				if strings.Contains(text, key[:12]) || strings.Contains(text, "4711") || strings.Contains(text, "changes to code") || len(text) > 500 || strings.ContainsAny(text, "\x1b\n\r\u202e\u200b") {
					t.Errorf("%s, %s, %d: %q", api, name, status, text)
				}
			}
		}
		// Helpful parts of a server's message stay.
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Fail(llmtest.Fault{Status: 400, Type: "invalid_request_error", Message: "max_tokens: 9 > 8"})))
		if text := w.fails(q).Error(); text != "the model's answer: invalid: HTTP 400 invalid_request_error: max_tokens: 9 > 8" {
			t.Errorf("%s: %q", api, text)
		}
	}
}

// The same holds for other places where a server may put its words: the stop reason, and an
// answer that is not HTTP.
func TestErrorsDoNotRepeatOtherText(t *testing.T) {
	for _, api := range apis {
		var key string
		w := start(t, api, llmtest.Options{}, func(*llmtest.Request) llmtest.Reply { return llmtest.Text("{}").Stopped(key) })
		key = w.server.Key()
		if e := w.fails(question()); strings.Contains(e.Error(), key[:12]) || e.Kind != llm.Malformed {
			t.Errorf("%s: %v", api, e)
		}
		for name, line := range map[string]string{"key": key, "question": question().Text, "essay": strings.Repeat("x", 1<<16)} {
			w := world{T: t, model: model(t, config.ModelEndpoint{API: api, Model: "m", BaseURL: "http://" + noHTTP(t, line)}, key)}
			e := w.fails(question())
			if text := e.Error(); e.Kind != llm.Unreachable || strings.Contains(text, key[:12]) || strings.Contains(text, "What is wrong") || len(text) > 500 {
				t.Errorf("%s, %s: %v", api, name, e)
			}
		}
	}
}

// noHTTP is the address of a server that answers each connection with one line.
func noHTTP(t *testing.T, line string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(c, "%s\r\n\r\n", line)
			c.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String()
}

// An invalid endpoint is reported before any request is sent, and without the key.
func TestNew(t *testing.T) {
	good := config.ModelEndpoint{API: config.APIOpenAI, Model: "m", BaseURL: "https://models.example/v1"}
	for name, c := range map[string]struct {
		spoil func(*config.ModelEndpoint)
		key   string
		says  string
	}{
		"no model":         {func(e *config.ModelEndpoint) { e.Model = "" }, "k", "model's name"},
		"no API":           {func(e *config.ModelEndpoint) { e.API = "gopher" }, "k", "gopher"},
		"no key":           {func(e *config.ModelEndpoint) { e.BaseURL = "" }, " ", "key_env"},
		"two lines":        {func(*config.ModelEndpoint) {}, "secret-1\nsecret-2", "the key has a character"},
		"a NUL byte":       {func(*config.ModelEndpoint) {}, "secret-\x00", "the key has a character"},
		"no address":       {func(e *config.ModelEndpoint) { e.BaseURL = "http://secret-%zz" }, "k", "base_url"},
		"no scheme":        {func(e *config.ModelEndpoint) { e.BaseURL = "models.example/v1" }, "k", "base_url"},
		"a file":           {func(e *config.ModelEndpoint) { e.BaseURL = "file:///etc" }, "k", "base_url"},
		"a password":       {func(e *config.ModelEndpoint) { e.BaseURL = "https://a:secret-3@models.example/" }, "k", "password"},
		"a query":          {func(e *config.ModelEndpoint) { e.BaseURL += "?api-version=1" }, "k", "query"},
		"a fragment":       {func(e *config.ModelEndpoint) { e.BaseURL += "#v1" }, "k", "fragment"},
		"a valid endpoint": {func(*config.ModelEndpoint) {}, "sk-1\n", ""},
	} {
		e := good
		c.spoil(&e)
		_, err := sdk.New(e, c.key)
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// These are base URLs as people write them.
func TestAddresses(t *testing.T) {
	server := llmtest.Start(t, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
	for api, ends := range map[string][]string{config.APIAnthropic: {"", "/", "/v1", "/v1/"}, config.APIOpenAI: {"/v1", "/v1/"}} {
		for _, end := range ends {
			e := server.Endpoint(api)
			e.BaseURL = server.URL + end
			if _, err := (world{T: t, server: server, model: model(t, e, server.Key())}).ask(question()); err != nil {
				t.Errorf("%s at %s: %v", api, end, err)
			}
		}
	}
}

// Without a base URL, only the vendor's host is asked.
func TestVendors(t *testing.T) {
	for api, host := range map[string]string{config.APIAnthropic: "api.anthropic.com", config.APIOpenAI: "api.openai.com"} {
		var asked string
		m, err := sdk.NewOver(tripper(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Scheme + "://" + r.URL.Host
			return nil, errors.New("no network here")
		}), config.ModelEndpoint{API: api, Model: "m"}, "k")
		if err != nil {
			t.Fatal(err)
		}
		if e := (world{T: t, model: m}).fails(question()); e.Kind != llm.Unreachable {
			t.Errorf("%s: %v", api, e)
		}
		if asked != "https://"+host {
			t.Errorf("%s: the host was %s", api, asked)
		}
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// canned answers with the same bytes, without a connection.
func canned(status int, kind string, text []byte) http.RoundTripper {
	return tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(text)), Request: r}, nil
	})
}

// A model's own transport works without a custom one.
func TestOwnTransport(t *testing.T) {
	for _, api := range apis {
		server := llmtest.Start(t, llmtest.Options{}, llmtest.Always(llmtest.Packed(200, map[string]string{
			config.APIAnthropic: "text/event-stream", config.APIOpenAI: "application/json",
		}[api], bytes.Repeat([]byte(" "), 9<<20))))
		m, err := sdk.New(server.Endpoint(api), server.Key())
		if err != nil {
			t.Fatal(err)
		}
		e := (world{T: t, server: server, model: m}).fails(question())
		if e.Kind != llm.Malformed || len(server.Requests()) != 1 {
			t.Errorf("%s: %v after %d requests", api, e, len(server.Requests()))
		}
	}
}
