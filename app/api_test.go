package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/config"
)

// agentToken makes an agent's token for acme/shop.
func (w *world) agentToken(agent string) (token string, id int64) {
	w.Helper()
	token, hash := api.NewToken()
	id, err := w.App.Inside().Store.AddToken(w.Context(), ports.APIToken{
		Hash: hash, Agent: agent, ExpiresAt: time.Now().Add(time.Hour),
		Repository: ports.Target{Kind: ports.TargetPull, Installation: w.GH.InstallationID("acme"), RepoID: w.Repo.ID(), Owner: "acme", Name: "shop"},
	})
	if err != nil {
		w.Fatal(err)
	}
	return token, id
}

// call sends a request to the API.
func (w *world) call(method, path, token, body string) (status int, answer string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return w.Do(r)
}

func (w *world) stateOf(token string, number int, query string) (s sessions.State) {
	w.Helper()
	status, text := w.call("GET", fmt.Sprintf("/api/v1/pulls/acme/shop/%d%s", number, query), token, "")
	if err := json.Unmarshal([]byte(text), &s); err != nil || status != http.StatusOK {
		w.Fatalf("status %d, %v: %s", status, err, text)
	}
	schema, err := stateSchema()
	if err != nil {
		w.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		w.Errorf("the state does not fit the API's document: %v\n%s", err, text)
	}
	return s
}

// stateSchema is the schema of a state in the API's document.
var stateSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.OpenAPI()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("api.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("api.json#/components/schemas/State")
})

// With a token, an agent reports events and reads the state of one repository until the token is revoked.
func TestAPI(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	token, id := w.agentToken("claude")
	if s := w.stateOf(token, pr.Number, "?wait=60s"); !s.Settled || s.Decision != "needs_fixes" || len(s.Findings) == 0 || s.Cycle != nil {
		t.Errorf("%+v", s)
	}
	event := fmt.Sprintf(`{"id": "m-1", "pr": %d, "kind": "milestone", "summary": "Done."}`, pr.Number)
	status, answer := w.call("POST", "/api/v1/events", token, event)
	if want := fmt.Sprintf(`{"id":"m-1","cycle":1,"duplicate":false,"status_url":"%s/api/v1/pulls/acme/shop/%d"}`, apptest.PublicURL, pr.Number); status != http.StatusAccepted || strings.TrimSpace(answer) != want {
		t.Errorf("status %d: %s, want %s", status, answer, want)
	}
	if status, answer = w.call("POST", "/api/v1/events", token, event); status != http.StatusAccepted || !strings.Contains(answer, `"duplicate":true`) {
		t.Errorf("status %d: %s", status, answer)
	}
	if s := w.stateOf(token, pr.Number, ""); s.Cycle == nil {
		t.Errorf("no cycle: %+v", s)
	}
	for _, one := range []struct {
		method, path, token, body string
		status                    int
	}{
		{"POST", "/api/v1/events", token, `{"id": "m-2", "pr": 999, "kind": "milestone", "summary": "Done."}`, http.StatusNotFound},
		{"GET", "/api/v1/pulls/acme/shop/999", token, "", http.StatusNotFound},
		{"GET", "/api/v1/pulls/acme/.github/1", token, "", http.StatusNotFound},
		{"GET", "/api/v1/pulls/globex/none/1", token, "", http.StatusNotFound},
		{"POST", "/api/v1/results/none", "", "{}", http.StatusNotFound},
		{"POST", "/api/v1/results/none", "x", "{}", http.StatusUnauthorized},
		{"POST", "/api/v1/results/none", w.App.Inside().Service.Sessions.Token("none"), "{}", http.StatusNotFound},
		{"GET", "/api/v1/", token, "", http.StatusNotFound},
	} {
		if status, answer := w.call(one.method, one.path, one.token, one.body); status != one.status {
			t.Errorf("%s %s: status %d, want %d: %s", one.method, one.path, status, one.status, answer)
		}
	}
	text := w.Metrics()
	for _, line := range []string{
		`reviewgate_api_requests_total{route="POST /api/v1/events",status="202"} 2`, `reviewgate_api_requests_total{route="POST /api/v1/events",status="500"} 0`,
		`reviewgate_api_requests_total{route="other",status="404"} 1`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the metrics have no line %s", line)
		}
	}
	if err := w.App.Inside().Store.RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.Until("the token is revoked", func() bool {
		status, _ := w.call("GET", fmt.Sprintf("/api/v1/pulls/acme/shop/%d", pr.Number), token, "")
		return status == http.StatusUnauthorized
	})
}

// A server that drains answers waiting requests immediately.
func TestDrainEndsWaits(t *testing.T) {
	t.Parallel()
	w := start(t)
	*w.App.Inside().DrainTimeout = apptest.Patience
	pr := w.Open(ghtest.Files{"a.go": "package a\n"})
	w.Idle()
	token, _ := w.agentToken("claude")
	if status, answer := w.call("POST", "/api/v1/events", token, fmt.Sprintf(`{"id": "m-1", "pr": %d, "kind": "blocker", "summary": "Stuck."}`, pr.Number)); status != http.StatusAccepted {
		t.Fatal(status, answer)
	}
	done := make(chan sessions.State, 1)
	begun := time.Now()
	go func() { done <- w.stateOf(token, pr.Number, "?wait=60s") }()
	// The cycle begins after five seconds, so the request waits at least that long.
	w.Until("the request waits", func() bool { return w.App.Waits() == 1 })
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	if s := <-done; s.Settled || time.Since(begun) > apptest.Patience {
		t.Errorf("after %s: %+v", time.Since(begun), s)
	}
}
