package agents

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// issuer is a stand-in for the issuer of the tokens of GitHub Actions, on loopback.
type issuer struct {
	t    *testing.T
	url  string
	mu   sync.Mutex
	oidc *oidctest.Server
}

// keys makes two keys, named one and two, only once, because making them is slow.
var keys = sync.OnceValue(func() map[string]*rsa.PrivateKey {
	out := map[string]*rsa.PrivateKey{}
	for _, name := range []string{"one", "two"} {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		out[name] = key
	}
	return out
})

// newIssuer starts an issuer that publishes the key one.
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, oidc: &oidctest.Server{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.oidc.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	i.url = s.URL
	i.oidc.SetIssuer(i.url)
	i.publishes("one")
	return i
}

// publishes changes which keys the issuer publishes.
func (i *issuer) publishes(names ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.oidc.PublicKeys = nil
	for _, name := range names {
		i.oidc.PublicKeys = append(i.oidc.PublicKeys, oidctest.PublicKey{PublicKey: keys()[name].Public(), KeyID: name, Algorithm: oidc.RS256})
	}
}

// workflow makes the token of a workflow that runs on a pull request. change replaces claims, and
// removes those that are nil. The claim "key" is the name of the key that signs it, and "kid" the name
// that the token gives to it.
func (i *issuer) workflow(w *world, pr *ghtest.PullRequest, change map[string]any) string {
	i.t.Helper()
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": i.url, "aud": apptest.PublicURL, "sub": "repo:acme/shop:pull_request", "iat": now, "nbf": now, "exp": now + 300,
		"repository": "acme/shop", "repository_id": fmt.Sprint(w.Repo.ID()), "event_name": "pull_request", "ref": fmt.Sprintf("refs/pull/%d/merge", pr.Number),
		"workflow_ref": fmt.Sprintf("acme/shop/.github/workflows/agent.yml@refs/pull/%d/merge", pr.Number),
		"key":          "one", "kid": "one",
	}
	for name, value := range change {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	key, kid := claims["key"].(string), claims["kid"].(string)
	delete(claims, "key")
	delete(claims, "kid")
	text, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	return oidctest.SignIDToken(keys()[key], kid, oidc.RS256, string(text))
}

// A workflow that runs on a pull request can report about it, with the workflow's path as the agent's
// name. No other token of GitHub Actions can.
func TestWorkflowSpeaks(t *testing.T) {
	t.Parallel()
	i, stranger := newIssuer(t), newIssuer(t)
	w := start(t, setup{reviewers: "codex"}, func(w *apptest.World) { w.Issuer = i.url })
	w.reviewers["codex"].says("approved", "Fine.")
	pr, other := w.change("Salt"), w.change("Pepper")
	elsewhere := w.GH.Repo("acme/elsewhere")
	event := func(id string, n int) map[string]any {
		e := map[string]any{"id": id, "kind": "milestone", "summary": "Hashes."}
		if n > 0 {
			e["pr"] = n
		}
		return e
	}
	now := time.Now().Unix()
	for name, x := range map[string]struct {
		change map[string]any
		status int
	}{
		"audience":              {map[string]any{"aud": "https://github.com/acme"}, http.StatusUnauthorized},
		"no audience":           {map[string]any{"aud": nil}, http.StatusUnauthorized},
		"issuer":                {map[string]any{"iss": stranger.url}, http.StatusUnauthorized},
		"issuer with a slash":   {map[string]any{"iss": i.url + "/"}, http.StatusUnauthorized},
		"expired":               {map[string]any{"exp": now - 1}, http.StatusUnauthorized},
		"old":                   {map[string]any{"iat": now - 3600, "exp": now + 3600}, http.StatusUnauthorized},
		"another repository":    {map[string]any{"repository_id": fmt.Sprint(elsewhere.ID())}, http.StatusForbidden},
		"another name":          {map[string]any{"repository": "acme/elsewhere", "workflow_ref": "acme/elsewhere/.github/workflows/agent.yml@refs/heads/main"}, http.StatusForbidden},
		"not installed":         {map[string]any{"repository": "mallory/shop", "workflow_ref": "mallory/shop/.github/workflows/agent.yml@refs/heads/main"}, http.StatusForbidden},
		"push":                  {map[string]any{"event_name": "push", "ref": "refs/heads/main"}, http.StatusForbidden},
		"pull_request_target":   {map[string]any{"event_name": "pull_request_target"}, http.StatusForbidden},
		"workflow_run":          {map[string]any{"event_name": "workflow_run"}, http.StatusForbidden},
		"no event":              {map[string]any{"event_name": nil}, http.StatusForbidden},
		"a branch like a pull":  {map[string]any{"ref": "refs/heads/refs/pull/1/merge"}, http.StatusForbidden},
		"another's workflow":    {map[string]any{"workflow_ref": "mallory/shop/.github/workflows/agent.yml@refs/heads/main"}, http.StatusForbidden},
		"no workflow":           {map[string]any{"workflow_ref": nil}, http.StatusForbidden},
		"an unknown pull":       {map[string]any{"ref": "refs/pull/4711/merge"}, http.StatusNotFound},
		"a list with an agent":  {map[string]any{"aud": []string{"https://github.com/acme", "https://other.test"}}, http.StatusUnauthorized},
		"a wrong repository_id": {map[string]any{"repository_id": "x"}, http.StatusForbidden},
	} {
		if status, answer := w.call("POST", "/api/v1/events", i.workflow(w, pr, x.change), event("e-"+fmt.Sprint(len(name)), 0)); status != x.status {
			t.Errorf("%s: %d %v, want %d", name, status, answer, x.status)
		}
	}
	// The issuer may have a new key with this name, so the server looks, but not every time.
	if status, answer := w.call("POST", "/api/v1/events", i.workflow(w, pr, map[string]any{"key": "two"}), event("e-1", 0)); status != http.StatusUnauthorized && status != http.StatusServiceUnavailable {
		t.Errorf("another key: %d %v", status, answer)
	}
	if status, answer := w.call("POST", "/api/v1/events", stranger.workflow(w, pr, nil), event("e-1", 0)); status != http.StatusUnauthorized {
		t.Errorf("a stranger's token: %d %v", status, answer)
	}
	if n := len(w.reviewers["codex"].got("review_request")); n != 0 {
		t.Fatalf("%d requests after refused events", n)
	}
	token := i.workflow(w, pr, nil)
	if status, answer := w.call("POST", "/api/v1/events", token, event("e-1", other.Number)); status != http.StatusForbidden {
		t.Errorf("another pull request: %d %v", status, answer)
	}
	spoofed := event("e-1", 0)
	spoofed["agent"] = "claude"
	if status, answer := w.call("POST", "/api/v1/events", token, spoofed); status != http.StatusForbidden {
		t.Errorf("another agent's name: %d %v", status, answer)
	}
	if status, answer := w.call("POST", "/api/v1/events", token, event("e-1", 0)); status != http.StatusAccepted {
		t.Fatalf("%d %v", status, answer)
	}
	const path = ".github/workflows/agent.yml"
	if q := w.waitFor("codex", 1); q.Number != pr.Number || len(q.Targets) != 1 || q.Targets[0] != path || q.Context[path+"_summary"] != "Hashes." {
		t.Errorf("%+v", q)
	}
	w.wants(pr, "RUNNING", 4, "success")
	for n, want := range map[int]int{pr.Number: http.StatusOK, other.Number: http.StatusNotFound} {
		if status, answer := w.call("GET", fmt.Sprintf("/api/v1/pulls/acme/shop/%d", n), token, nil); status != want {
			t.Errorf("the state of #%d: %d %v, want %d", n, status, answer, want)
		}
	}
}

// GitHub changes its keys. The server reads the new key when a token names it, but not at once for each
// such token. After that the old key no longer counts.
func TestKeysOfWorkflowsRotate(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	w := start(t, setup{}, func(w *apptest.World) { w.Issuer = i.url })
	pr := w.change("Salt")
	read := func(key string) int {
		status, _ := w.call("GET", fmt.Sprintf("/api/v1/pulls/acme/shop/%d", pr.Number), i.workflow(w, pr, map[string]any{"key": key, "kid": key, "sub": time.Now().String()}), nil)
		return status
	}
	if status := read("one"); status != http.StatusOK {
		t.Fatalf("the first key: %d", status)
	}
	i.publishes("two")
	if status := read("two"); status != http.StatusServiceUnavailable {
		t.Errorf("the second key just after the keys were read: %d", status)
	}
	for begun := time.Now(); read("two") != http.StatusOK; time.Sleep(500 * time.Millisecond) { // without a valid token, 60 requests a minute are allowed
		if time.Since(begun) > apptest.Patience {
			t.Fatal("the second key never counts")
		}
	}
	if status := read("one"); status == http.StatusOK {
		t.Error("the first key still counts")
	}
}

// A server without an issuer accepts no token of GitHub Actions.
func TestNoIssuerNoWorkflow(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	w := start(t, setup{reviewers: "codex"})
	pr := w.change("Salt")
	status, answer := w.call("POST", "/api/v1/events", i.workflow(w, pr, nil), map[string]any{"id": "e-1", "kind": "milestone", "summary": "Hashes."})
	if status != http.StatusUnauthorized {
		t.Errorf("%d %v", status, answer)
	}
}
