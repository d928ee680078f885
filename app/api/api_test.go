package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// failing is a body that can't be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

const (
	aPull   = "/api/v1/pulls/acme/shop/104"
	aResult = "/api/v1/results/r-9"
)

// The handlers give every answer that the document describes. send checks that they give no others.
func TestEveryAnswerOfTheDocument(t *testing.T) {
	t.Parallel()
	w, workflows := startWorkflows(t)
	post := func(path, token, body string, header ...string) request {
		q := request{method: "POST", path: path, token: token, body: body, header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			q.header[header[i]] = header[i+1]
		}
		return q
	}
	fill := func(s slots) func() {
		for range cap(s) {
			s <- struct{}{}
		}
		return func() {
			for range cap(s) {
				<-s
			}
		}
	}
	spoken := func(err error) func() {
		return func() {
			w.speak = func(context.Context, ports.SessionEvent) (ports.Spoken, error) { return ports.Spoken{}, err }
		}
	}
	outcome := func(o ports.AnswerOutcome, err error) func() {
		return func() { w.answer = func(string, []byte) (ports.AnswerOutcome, error) { return o, err } }
	}
	root, _ := jsontree.Parse(&jsontree.Document{}, []byte(`{"payload": 1}`))
	invalidAnswer := &sessions.InvalidError{Errors: []jsontree.Error{*root.Get("payload").Error("bad", "mend it")}}
	const events = "/api/v1/events"
	token, own := w.token, "token-of-r-9"
	for _, one := range []struct {
		status  int
		words   string
		request request
		before  func()
	}{
		{202, `{"id":"m-1","cycle":3,"duplicate":false,"status_url":"https://gate.test/api/v1/pulls/acme/shop/104"}`, post(events, token, goodEvent), nil},
		{400, "line 1, column 8: the body ends", post(events, token, `{"kind"`), nil},
		{401, "no token", post(events, "", goodEvent), nil},
		{403, "agent claude only", post(events, token, `{"id": "m-1", "pr": 104, "kind": "milestone", "summary": "Done.", "agent": "gemini"}`), nil},
		{404, "no such pull request", post(events, token, goodEvent), spoken(ports.ErrNotFound)},
		{405, "POST", request{method: "GET", path: events, token: token}, nil},
		{409, "is closed", post(events, token, goodEvent), spoken(ports.ErrTargetClosed)},
		{409, "switches reviewgate off", post(events, token, goodEvent), spoken(sessions.ErrSwitchedOff)},
		{409, "Another event has this id", post(events, token, goodEvent), spoken(ports.ErrOtherEvent)},
		{413, "1048576", post(events, token, strings.Repeat(" ", MaxBody+1)), nil},
		{415, "application/json", post(events, token, goodEvent, "Content-Type", "text/plain"), nil},
		{415, "application/json", post(events, token, goodEvent, "Content-Encoding", "gzip"), nil},
		{422, `"/id"`, post(events, token, `{"id": "a b", "pr": 104, "kind": "milestone", "summary": "Done."}`), nil},
		{429, "50 events already wait", post(events, token, goodEvent), spoken(ports.ErrManyEvents)},
		{500, "its log has the reason", post(events, token, goodEvent), spoken(errors.New("secret trouble"))},
		{503, "GitHub", post(events, token, goodEvent), spoken(&ports.HostError{Kind: ports.HostLimited, Err: errors.New("limit"), RetryAfter: time.Minute})},

		{200, `"settled":true`, request{method: "GET", path: aPull, token: token}, nil},
		{304, "", request{method: "GET", path: aPull, token: token, header: map[string]string{"If-None-Match": "*"}}, nil},
		{400, "wait=60s", request{method: "GET", path: aPull + "?weight=3s", token: token}, nil},
		{401, "has a typo", request{method: "GET", path: aPull, token: token[:30]}, nil},
		{403, "not installed", request{method: "GET", path: aPull, token: "WORKFLOW"}, nil},
		{404, "no such pull request", request{method: "GET", path: "/api/v1/pulls/acme/other/104", token: token}, nil},
		{405, "GET, HEAD", request{method: "DELETE", path: aPull, token: token}, nil},
		{500, "its log has the reason", request{method: "GET", path: aPull, token: token}, func() {
			w.state = func(context.Context, ports.Target) (sessions.State, error) {
				return sessions.State{}, errors.New("secret trouble")
			}
		}},
		{503, "at a time", request{method: "GET", path: aPull, token: token}, func() { t.Cleanup(fill(w.api.slots)) }},

		{202, `{"id":"r-9","result":"stored"}`, post(aResult, own, `{}`), nil},
		{200, `{"id":"r-9","result":"known"}`, post(aResult, own, `{}`), outcome(ports.AnswerKnown, nil)},
		{400, "is empty", post(aResult, own, " "), nil},
		{401, "neither", post(aResult, "", `{}`), nil},
		{403, "Tokens of agents", post(aResult, token, `{}`), nil},
		{404, "no request with this id", post(aResult, own, `{}`), outcome("", ports.ErrNotFound)},
		{405, "POST", request{method: "PUT", path: aResult}, nil},
		{409, "another answer", post(aResult, own, `{}`), outcome(ports.AnswerConflict, nil)},
		{409, "used for the answer to another", post(aResult, own, `{}`), outcome(ports.AnswerReplayed, nil)},
		{413, "1048576", post(aResult, own, strings.Repeat(" ", MaxBody+1)), nil},
		{415, "application/json", post(aResult, own, `{}`, "Content-Type", ""), nil},
		{422, `"/payload"`, post(aResult, own, `{}`), outcome("", invalidAnswer)},
		{500, "its log has the reason", post(aResult, own, `{}`), outcome("", errors.New("secret trouble"))},
		{503, "at a time", post(aResult, own, `{}`), func() { t.Cleanup(fill(w.api.bodies)) }},

		{200, `"openapi": "3.1.0"`, request{method: "GET", path: "/api/v1/openapi.json"}, nil},
		{304, "", request{method: "GET", path: "/api/v1/openapi.json", header: map[string]string{"If-None-Match": etagOf(config.OpenAPI())}}, nil},
		{405, "GET, HEAD", request{method: "POST", path: "/api/v1/openapi.json"}, nil},

		{404, "no such path", request{method: "GET", path: "/api/v1/nothing"}, nil},
		{404, "no such path", request{method: "GET", path: "/api/v1/pulls/acme/shop"}, nil},
	} {
		w.speak, w.state, w.answer = nil, nil, nil
		w.api.slots, w.api.bodies = make(slots, maxWork), make(slots, maxBodies)
		if one.before != nil {
			one.before()
		}
		if one.request.token == "WORKFLOW" {
			one.request.token = workflows.workflow(t, set{"repository_id": "71"})
		}
		a := w.send(one.request)
		w.want(a, one.status, one.words)
		if strings.Contains(a.Body.String(), "secret trouble") {
			t.Errorf("an answer shows an error: %s", a.Body)
		}
	}
	// Those that need a slow body, or many requests.
	for _, path := range []string{events, aResult} {
		r := w.request(post(path, map[string]string{events: token, aResult: own}[path], "x"))
		r.Body = httptest.NewRequest("POST", "/", failing{os.ErrDeadlineExceeded}).Body
		w.want(w.sendThis(r), http.StatusRequestTimeout, "within 10 seconds")
		r = w.request(post(path, map[string]string{events: token, aResult: own}[path], "x"))
		r.Body = httptest.NewRequest("POST", "/", failing{errors.New("gone")}).Body
		w.want(w.sendThis(r), http.StatusBadRequest, "ended early")
	}
	for _, q := range []request{post(aResult, own, `{}`), {method: "GET", path: aPull, token: token}, {method: "GET", path: "/api/v1/openapi.json"}} {
		w.limited(q)
	}

	var missing []string
	for path, item := range w.doc.root["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			for status := range operation.(map[string]any)["responses"].(map[string]any) {
				if !w.seen[path+" "+status] {
					missing = append(missing, method+" "+path+" "+status)
				}
			}
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		t.Errorf("the document has answers that the handlers did not give: %v", missing)
	}
}

// limited sends a request until its rate is exceeded.
func (w *world) limited(q request) {
	w.Helper()
	for range 1000 {
		if a := w.send(q); a.Code == http.StatusTooManyRequests {
			return
		}
	}
	w.Errorf("%s %s is not limited", q.method, q.path)
}

// The document has exactly the endpoints of the API.
func TestEndpointsOfTheDocument(t *testing.T) {
	t.Parallel()
	w := start(t)
	var have, described []string
	for _, e := range w.api.endpoints() {
		have = append(have, strings.ToLower(e.method)+" "+e.path)
	}
	for path, item := range w.doc.root["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			described = append(described, method+" "+path)
		}
	}
	slices.Sort(have)
	if slices.Sort(described); !slices.Equal(have, described) {
		t.Errorf("the API has %v, the document %v", have, described)
	}
}

// The document's schemas have exactly the fields of the types. The schema of an event has exactly the
// fields that the decoder knows.
func TestFieldsOfTheDocument(t *testing.T) {
	t.Parallel()
	d := described(t)
	for name, v := range map[string]any{
		"Accepted": Accepted{}, "State": sessions.State{}, "Cycle": sessions.Cycle{}, "Finding": sessions.Finding{}, "Reviewer": sessions.Reviewer{}, "Concern": sessions.Concern{}, "Taken": Taken{}, "Problem": Problem{},
	} {
		var fields []string
		for f := range reflect.TypeOf(v).Fields() {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" {
				fields = append(fields, tag)
			}
		}
		sameFields(t, d, name, fields)
	}
	sameFields(t, d, "Event", eventFields)
}

func sameFields(t *testing.T, d *document, name string, fields []string) {
	t.Helper()
	schema, _ := d.at("components", "schemas", name)
	described := slices.Sorted(maps.Keys(schema["properties"].(map[string]any)))
	if fields = slices.Sorted(slices.Values(fields)); !slices.Equal(fields, described) {
		t.Errorf("%s has the fields %v, and in the document %v", name, fields, described)
	}
}

// The document follows OpenAPI 3.1 as far as tools rely on it: references lead somewhere, operations
// have ids, and examples fit their schemas.
func TestDocumentIsWhole(t *testing.T) {
	t.Parallel()
	d := described(t)
	ids := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i, e := range v {
				walk(fmt.Sprintf("%s/%d", at, i), e)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if found, _ := d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...); found == nil {
					t.Errorf("%s: nothing is at %s", at, ref)
				}
			}
			if id, ok := v["operationId"].(string); ok {
				if ids[id] {
					t.Errorf("two operations are called %s", id)
				}
				ids[id] = true
			}
			example, has := v["example"]
			if schema, ok := v["schema"]; ok && has {
				if err := d.schema(t, at+"/schema").Validate(example); err != nil {
					t.Errorf("%s: %v does not fit %v: %v", at, example, schema, err)
				}
			}
			for key, e := range v {
				walk(at+"/"+strings.NewReplacer("/", "~1", "{", "%7B", "}", "%7D").Replace(key), e)
			}
		}
	}
	walk("", d.root)
	if len(ids) != 4 || d.root["openapi"] != "3.1.0" {
		t.Errorf("%d operations of version %v", len(ids), d.root["openapi"])
	}
	for name := range d.root["components"].(map[string]any)["schemas"].(map[string]any) {
		d.schema(t, "/components/schemas/"+name)
	}
	// The decoder accepts the example events.
	event, _ := d.at("components", "schemas", "Event")
	for _, e := range event["examples"].([]any) {
		text := jsonOf(t, e)
		if _, p := decodeEvent(text); p != nil {
			t.Errorf("%s: %v", text, p.Errors)
		}
	}
}

var anchorForm = regexp.MustCompile(`[^a-z0-9 -]`)

// The page explains every kind of problem under its own heading.
func TestProblemsAreExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			headings[strings.ReplaceAll(anchorForm.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")] = true
		}
	}
	for _, k := range kinds {
		if !headings[k.anchor] {
			t.Errorf("docs/api.md has no heading for %s; it has %v", k.anchor, slices.Sorted(maps.Keys(headings)))
		}
	}
}

// Only GET paths answer HEAD, with no body.
func TestHead(t *testing.T) {
	t.Parallel()
	w := start(t)
	server := httptest.NewServer(w.api)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+"/api/v1/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == "" {
		t.Errorf("%s, %v", resp.Status, resp.Header)
	}
	w.want(w.send(request{method: "HEAD", path: "/api/v1/events"}), http.StatusMethodNotAllowed)
}

// An API does not start without what it needs.
func TestNewNeedsAll(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{Sessions: &fake{}, Tokens: &fake{}}); err == nil {
		t.Error("an API that can't verify answers starts")
	}
}

// A request's line in the log contains no token and nothing of its body.
func TestLog(t *testing.T) {
	t.Parallel()
	var routes []string
	w := start(t, func(c *Config) {
		c.Observe = func(route string, status int) { routes = append(routes, fmt.Sprint(route, " ", status)) }
	})
	w.event(`{"id": "m-1", "pr": 104, "kind": "milestone", "summary": "privately"}`)
	w.send(request{method: "POST", path: aResult, token: "token-of-r-9", body: `{"x": "privately"}`})
	w.send(request{method: "BREW", path: "/api/v1/" + w.token, token: w.token})
	log := w.log.String()
	for _, word := range []string{
		`"method":"POST","route":"POST /api/v1/events","status":202,`, `"repo":"acme/shop","pr":104,`, `"agent":"claude","token_id":11`,
		`"method":"other","route":"other","status":404,`, `"route":"POST /api/v1/results/{id}","status":202`,
	} {
		if !strings.Contains(log, word) {
			t.Errorf("the log does not say %s:\n%s", word, log)
		}
	}
	for _, word := range []string{w.token[3:], "token-of", "privately"} {
		if strings.Contains(log, word) {
			t.Errorf("the log says %s:\n%s", word, log)
		}
	}
	if want := []string{"POST /api/v1/events 202", "POST /api/v1/results/{id} 202", "other 404"}; !slices.Equal(routes, want) {
		t.Errorf("observed %v", routes)
	}
}

// A problem lists few mistakes, each short and on one line.
func TestMistakesAreBounded(t *testing.T) {
	t.Parallel()
	root, _ := jsontree.Parse(&jsontree.Document{}, []byte(`{"a": 1}`))
	e := *root.Get("a").Error("bad\n\x00"+strings.Repeat("x", 1000), "mend it")
	got := mistakesOf(slices.Repeat([]jsontree.Error{e}, 100))
	if len(got) != maxMistakes || len([]rune(got[0].Detail)) != maxMistake || strings.ContainsAny(got[0].Detail, "\n\x00") || got[0].Pointer != "/a" {
		t.Errorf("%d mistakes, the first %q", len(got), got[0])
	}
}
