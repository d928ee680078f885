package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/config"
)

// fake is the use case, and the store of tokens.
type fake struct {
	mu      sync.Mutex
	events  []ports.SessionEvent
	answers []string
	looks   int // for tokens
	used    []int64
	tokens  map[string]ports.APIToken // by hash
	reads   int                       // of states
	asks    int                       // calls of UnderWay

	speak      func(context.Context, ports.SessionEvent) (ports.Spoken, error)
	state      func(context.Context, ports.Target) (sessions.State, error)
	answer     func(id string, raw []byte) (ports.AnswerOutcome, error)
	repository func(owner, name string) (ports.Target, error)
	verify     func(id string, body []byte) (string, error)
	find       func() error // an error of the store
}

var shop = ports.Target{Kind: ports.TargetPull, Installation: 7, RepoID: 70, Owner: "acme", Name: "shop"}

func (f *fake) Speak(ctx context.Context, e ports.SessionEvent) (ports.Spoken, error) {
	f.mu.Lock()
	f.events = append(f.events, e)
	f.mu.Unlock()
	if f.speak != nil {
		return f.speak(ctx, e)
	}
	return ports.Spoken{Cycle: 3}, nil
}

func (f *fake) State(ctx context.Context, t ports.Target) (sessions.State, error) {
	f.mu.Lock()
	f.reads++
	f.mu.Unlock()
	if f.state != nil {
		return f.state(ctx, t)
	}
	return stateOf(t), nil
}

func (f *fake) UnderWay(ctx context.Context, t ports.Target) (bool, error) {
	f.mu.Lock()
	f.asks++
	f.mu.Unlock()
	if f.state == nil {
		return false, nil
	}
	s, err := f.state(ctx, t)
	return !s.Settled, err
}

// stateOf returns a state with every field set.
func stateOf(t ports.Target) sessions.State {
	rule, deadline := 2, time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	return sessions.State{
		Repository: t.Owner + "/" + t.Name, Number: t.Number, HeadSHA: "5f0c", Status: "PAUSED", Rule: &rule, Action: "pause_and_clarify", Flagged: true, Settled: true,
		Cycle:    &sessions.Cycle{Number: 3, State: "decided", Events: []string{"claude/m-17"}, Triggers: []string{"milestone"}, Deadline: &deadline},
		Decision: "needs_fixes", Reasons: []string{"two have concerns"},
		Findings:     []sessions.Finding{{ID: "7f3a", Severity: "major", GateSeverity: "warning", Path: "a.go", Line: 1, Title: "t", Message: "m", Recommendation: "r", Agent: "security", RuleID: "SEC-1"}},
		Reviewers:    []sessions.Reviewer{{Reviewer: "security", State: "answered", Verdict: "concerns", Summary: "s", Issues: 1}},
		FindingsMore: 1,
		Concerns:     []sessions.Concern{{Reviewer: "security", Summary: "s"}}, Clarification: "c", ReviewedSHA: "5f0c", DecidedSHA: "5f0c", URL: "https://github.test/acme/shop/pull/104", Detail: "Wait.",
	}
}

func (f *fake) Answer(_ context.Context, id string, raw []byte, signature string) (ports.AnswerOutcome, error) {
	f.mu.Lock()
	f.answers = append(f.answers, signature)
	f.mu.Unlock()
	if f.answer != nil {
		return f.answer(id, raw)
	}
	return ports.AnswerStored, nil
}

func (f *fake) Repository(_ context.Context, owner, name string) (ports.Target, error) {
	if f.repository != nil {
		return f.repository(owner, name)
	}
	if owner == "acme" && name == "shop" {
		return shop, nil
	}
	return ports.Target{}, ports.ErrNotFound
}

func (f *fake) TokenByHash(_ context.Context, hash []byte) (ports.APIToken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	if f.find != nil {
		return ports.APIToken{}, f.find()
	}
	t, ok := f.tokens[string(hash)]
	if !ok {
		return t, ports.ErrNotFound
	}
	return t, nil
}

func (f *fake) UseToken(_ context.Context, id int64, _ time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used = append(f.used, id)
	return nil
}

// world is an API with a fake behind it, and a clock that tests set.
type world struct {
	*testing.T
	*fake
	api   *API
	log   *bytes.Buffer
	token string // of shop and the agent claude
	doc   *document
	seen  map[string]bool // the statuses by method and path of the document
	from  string          // the client's address
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func start(t *testing.T, change ...func(*Config)) *world {
	t.Helper()
	w := &world{T: t, fake: &fake{tokens: map[string]ports.APIToken{}}, log: &bytes.Buffer{}, doc: described(t), seen: map[string]bool{}, from: "192.0.2.1:1234"}
	c := Config{
		Sessions: w.fake, Tokens: w.fake, PublicURL: "https://gate.test", Log: zerolog.New(zerolog.SyncWriter(w.log)),
		RequestToken: func(id string) string { return "token-of-" + id },
		Verify: func(_ context.Context, id string, h http.Header, body []byte) (string, error) {
			if w.verify != nil {
				return w.verify(id, body)
			}
			if h.Get("X-Signature") == "good" {
				return "key", nil
			}
			return "", ErrSignature
		},
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if w.api, err = New(c); err != nil {
		t.Fatal(err)
	}
	w.token = w.newToken(ports.APIToken{ID: 11, Repository: shop, Agent: "claude"})
	return w
}

func (w *world) newToken(t ports.APIToken) string {
	token, hash := NewToken()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens[string(hash)] = t
	return token
}

// request is a request in a test. Without a token it has no Authorization header.
type request struct {
	method, path, token, body string
	header                    map[string]string
}

func (w *world) request(q request) *http.Request {
	r := httptest.NewRequestWithContext(w.Context(), q.method, q.path, strings.NewReader(q.body))
	r.RemoteAddr = w.from
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.token)
	}
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	return r
}

// send sends a request, and compares the answer with the document.
func (w *world) send(q request) *httptest.ResponseRecorder {
	w.Helper()
	return w.sendThis(w.request(q))
}

func (w *world) sendThis(r *http.Request) *httptest.ResponseRecorder {
	w.Helper()
	a := httptest.NewRecorder()
	w.api.ServeHTTP(a, r)
	w.doc.check(w.T, r, a)
	w.seen[fmt.Sprintf("%s %d", w.doc.operation(r), a.Code)] = true
	return a
}

const goodEvent = `{"id": "m-1", "pr": 104, "kind": "milestone", "summary": "Done."}`

func (w *world) event(body string) *httptest.ResponseRecorder {
	w.Helper()
	return w.send(request{method: "POST", path: "/api/v1/events", token: w.token, body: body})
}

// want fails unless an answer has a status, and its text contains every word.
func (w *world) want(a *httptest.ResponseRecorder, status int, words ...string) {
	w.Helper()
	if a.Code != status {
		w.Errorf("status %d, want %d: %s", a.Code, status, a.Body)
	}
	for _, word := range words {
		if !strings.Contains(a.Body.String(), word) {
			w.Errorf("%s does not say %q", a.Body, word)
		}
	}
}

// document is the document of the API, with its schemas compiled.
type document struct {
	root    map[string]any
	schemas *jsonschema.Compiler
	once    map[string]*jsonschema.Schema
	mu      sync.Mutex
}

var described = func() func(*testing.T) *document {
	load := sync.OnceValues(func() (*document, error) {
		root, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.OpenAPI()))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		if err := c.AddResource("api.json", root); err != nil {
			return nil, err
		}
		return &document{root: root.(map[string]any), schemas: c, once: map[string]*jsonschema.Schema{}}, nil
	})
	return func(t *testing.T) *document {
		t.Helper()
		d, err := load()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}()

// schema compiles the schema at a JSON pointer.
func (d *document) schema(t *testing.T, pointer string) *jsonschema.Schema {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.once[pointer] == nil {
		s, err := d.schemas.Compile("api.json#" + pointer)
		if err != nil {
			t.Fatal(err)
		}
		d.once[pointer] = s
	}
	return d.once[pointer]
}

// at returns the value of a path of keys, following references.
func (d *document) at(keys ...string) (value map[string]any, pointer string) {
	value = d.root
	for _, k := range keys {
		next, _ := value[k].(map[string]any)
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(k)
		if ref, ok := next["$ref"].(string); ok {
			path := strings.TrimPrefix(ref, "#/")
			next, pointer = d.at(strings.Split(path, "/")...)
		}
		value = next
	}
	return value, pointer
}

// operation returns the document's path for a request, or "" if the document lacks the path.
func (d *document) operation(r *http.Request) string {
	for path := range d.root["paths"].(map[string]any) {
		if fits(strings.Split(path, "/"), strings.Split(r.URL.EscapedPath(), "/")) {
			return path
		}
	}
	return ""
}

func fits(template, path []string) bool {
	return slices.EqualFunc(template, path, func(t, p string) bool { return t == p || strings.HasPrefix(t, "{") })
}

// check compares an answer with the document.
func (d *document) check(t *testing.T, r *http.Request, a *httptest.ResponseRecorder) {
	t.Helper()
	status := fmt.Sprint(a.Code)
	media := a.Header().Get("Content-Type")
	body := a.Body.Bytes()
	if a.Code == http.StatusNotModified {
		if media != "" || len(body) > 0 {
			t.Errorf("304 with %q: %s", media, body)
		}
	}
	path := d.operation(r)
	if path == "" { // the document describes this answer only in prose
		d.problem(t, a)
		return
	}
	item, _ := d.at("paths", path)
	for method := range item {
		response, pointer := d.at("paths", path, method, "responses", status)
		if response == nil {
			t.Errorf("%s %s answers %s, which the document does not have: %s", r.Method, r.URL, status, body)
			return
		}
		headers, _ := response["headers"].(map[string]any)
		for _, name := range []string{"Retry-After", "ETag", "Allow", "WWW-Authenticate"} {
			if _, ok := headers[name]; ok != (a.Header().Get(name) != "") {
				t.Errorf("%s %s %s: header %s %q; the document has it: %v", r.Method, r.URL, status, name, a.Header().Get(name), ok)
			}
		}
		content, _ := response["content"].(map[string]any)
		if len(content) == 0 {
			continue
		}
		if _, ok := content[media]; !ok {
			t.Errorf("%s %s %s: the content type is %q", r.Method, r.URL, status, media)
			return
		}
		d.valid(t, pointer+"/content/"+strings.ReplaceAll(media, "/", "~1")+"/schema", body)
		if a.Code >= 400 {
			d.problem(t, a)
		}
	}
}

func (d *document) valid(t *testing.T, pointer string, body []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = d.schema(t, pointer).Validate(v)
	}
	if err != nil {
		t.Errorf("the answer does not fit the document: %v\n%s", err, body)
	}
}

// problem checks what all problems have in common.
func (d *document) problem(t *testing.T, a *httptest.ResponseRecorder) {
	t.Helper()
	if a.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("a problem of type %q", a.Header().Get("Content-Type"))
	}
	d.valid(t, "/components/schemas/Problem", a.Body.Bytes())
	var p Problem
	if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != a.Code || p.Detail == "" || !strings.HasSuffix(p.Detail, ".") {
		t.Errorf("status %d with the problem %+v", a.Code, p)
	}
	if p.Type == "about:blank" && p.Title != http.StatusText(p.Status) {
		t.Errorf("the title is %q", p.Title)
	}
}
