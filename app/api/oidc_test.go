package api

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"github.com/reviewgate/reviewgate/app/ports"
)

// keyPair makes the keys of the tests once, because that is slow.
var keyPair = sync.OnceValue(func() [2]*rsa.PrivateKey {
	var out [2]*rsa.PrivateKey
	for i := range out {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		out[i] = key
	}
	return out
})

// issuer is a stand-in for the issuer of GitHub Actions, on loopback.
type issuer struct {
	*httptest.Server
	*clock
	mu     sync.Mutex
	keys   map[string]*rsa.PrivateKey // that it publishes, by id
	reads  map[string]int             // by path
	answer func(http.ResponseWriter, *http.Request) bool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{keys: map[string]*rsa.PrivateKey{"one": keyPair()[0]}, reads: map[string]int{}, clock: &clock{at: time.Now()}}
	i.Server = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reads[r.URL.Path]++
	if i.answer != nil && i.answer(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q}`, i.URL, i.URL+"/.well-known/jwks")
	case "/.well-known/jwks":
		var keys []map[string]string
		for id, k := range i.keys {
			keys = append(keys, map[string]string{
				"kid": id, "kty": "RSA", "alg": "RS256", "use": "sig",
				"n": base64.RawURLEncoding.EncodeToString(k.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.E)).Bytes()),
			})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"keys": keys}); err != nil {
			panic(err)
		}
	default:
		http.NotFound(w, r)
	}
}

// change changes what the issuer publishes.
func (i *issuer) change(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

// read returns how often the keys were read.
func (i *issuer) read() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reads["/.well-known/jwks"]
}

// set is what a test changes in a good token.
type set map[string]any

// workflow makes a workflow's token, with changes to its claims and, as "header NAME", its header.
func (i *issuer) workflow(t *testing.T, change set) string {
	t.Helper()
	now := i.now().Unix()
	c := jwt.MapClaims{
		"iss": i.URL, "aud": "https://gate.test", "sub": "repo:acme/shop:pull_request", "iat": now, "nbf": now, "exp": now + 300,
		"repository": "acme/shop", "repository_id": "70", "event_name": "pull_request", "ref": "refs/pull/104/merge",
		"workflow_ref":     "acme/shop/.github/workflows/agent.yml@refs/pull/104/merge",
		"job_workflow_ref": "elsewhere/shared/.github/workflows/x.yml@refs/heads/main",
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	token.Header["kid"] = "one"
	var key any = keyPair()[0]
	for name, v := range change {
		field, inHeader := strings.CutPrefix(name, "header ")
		switch {
		case name == "key":
			key = v
		case name == "method":
			token.Method = v.(jwt.SigningMethod)
			token.Header["alg"] = token.Method.Alg()
		case inHeader && v == nil:
			delete(token.Header, field)
		case inHeader:
			token.Header[field] = v
		case v == nil:
			delete(c, name)
		default:
			c[name] = v
		}
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// startWorkflows starts an API that trusts a stand-in for the issuer.
func startWorkflows(t *testing.T) (*world, *issuer) {
	t.Helper()
	i := newIssuer(t)
	return start(t, i.trust), i
}

func (i *issuer) trust(c *Config) { c.Issuer, c.Now = i.URL, i.now }

const aWorkflowsEvent = `{"id": "m-1", "kind": "milestone", "summary": "Done."}`

func (w *world) workflow(token, body string) *httptest.ResponseRecorder {
	w.Helper()
	return w.send(request{method: "POST", path: "/api/v1/events", token: token, body: body})
}

// A workflow that runs on pull_request can report events about that pull request without one of our
// tokens. Its path is the agent's name.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	w, i := startWorkflows(t)
	token := i.workflow(t, nil)
	w.want(w.workflow(token, aWorkflowsEvent), http.StatusAccepted, "/api/v1/pulls/acme/shop/104")
	w.want(w.workflow(token, `{"id": "m-2", "pr": 104, "agent": ".github/workflows/agent.yml", "kind": "milestone", "summary": "Done."}`), http.StatusAccepted)
	if e := w.events[1]; len(w.events) != 2 || e.Agent != ".github/workflows/agent.yml" || e.Target.Number != 104 || e.Target.RepoID != 70 || e.Target.Installation != 7 {
		t.Errorf("%+v", w.events)
	}
	w.want(w.workflow(token, goodEvent[:len(goodEvent)-1]+`, "agent": "claude"}`), http.StatusForbidden, "for the agent .github/workflows/agent.yml only")
	w.want(w.workflow(token, `{"id": "m-1", "pr": 105, "kind": "milestone", "summary": "Done."}`), http.StatusForbidden, "for pull request 104 only")
	w.want(w.send(request{method: "GET", path: aPull, token: token}), http.StatusOK)
	w.want(w.send(request{method: "GET", path: "/api/v1/pulls/acme/shop/105", token: token}), http.StatusNotFound)
	w.want(w.send(request{method: "POST", path: aResult, token: token, body: "{}"}), http.StatusForbidden, "Tokens of agents")
	if n := i.read(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	w.want(w.workflow(i.workflow(t, set{"aud": []string{"x", "https://gate.test"}}), aWorkflowsEvent), http.StatusAccepted)
}

// Tokens with wrong claims are refused before anything is read from the network.
func TestWorkflowIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	for name, one := range map[string]struct {
		change set
		status int
		words  string
	}{
		"audience":              {set{"aud": "https://elsewhere.test"}, 401, "for the audience https://gate.test"},
		"no audience":           {set{"aud": nil}, 401, "audience"},
		"audience of numbers":   {set{"aud": []int{1}}, 401, "not a JSON Web Token"},
		"issuer":                {set{"iss": "https://token.actions.githubusercontent.com.evil.test"}, 401, "issuer is not"},
		"no issuer":             {set{"iss": nil}, 401, "issuer is not"},
		"expired":               {set{"exp": now - 1}, 401, "has expired"},
		"no expiry":             {set{"exp": nil}, 401, "has expired"},
		"infinite expiry":       {set{"exp": "never"}, 401, "not a JSON Web Token"},
		"not yet valid":         {set{"nbf": now + 120}, 401, "not valid yet"},
		"of the future":         {set{"iat": now + 120}, 401, "not valid yet"},
		"old":                   {set{"iat": now - 660}, 401, "older than 10 minutes"},
		"no time":               {set{"iat": nil}, 401, "older than 10 minutes"},
		"no subject":            {set{"sub": nil}, 401, "no subject"},
		"alg none":              {set{"method": jwt.SigningMethodNone, "key": jwt.UnsafeAllowNoneSignatureType}, 401, "RS256"},
		"alg HS256":             {set{"method": jwt.SigningMethodHS256, "key": keyPair()[0].N.Bytes()}, 401, "RS256"},
		"alg RS384":             {set{"method": jwt.SigningMethodRS384}, 401, "RS256"},
		"no kid":                {set{"header kid": nil}, 401, "named key"},
		"pull_request_target":   {set{"event_name": "pull_request_target"}, 403, "runs on pull_request"},
		"workflow_run":          {set{"event_name": "workflow_run"}, 403, "runs on pull_request"},
		"push":                  {set{"event_name": "push", "ref": "refs/heads/main"}, 403, "runs on pull_request"},
		"no event":              {set{"event_name": nil}, 403, "runs on pull_request"},
		"ref of a branch":       {set{"ref": "refs/heads/main"}, 403, "names no pull request"},
		"ref of a head":         {set{"ref": "refs/pull/104/head"}, 403, "names no pull request"},
		"ref with a zero":       {set{"ref": "refs/pull/0104/merge"}, 403, "names no pull request"},
		"large ref":             {set{"ref": "refs/pull/9999999999/merge"}, 403, "names no pull request"},
		"ref and more":          {set{"ref": "refs/pull/104/merge\nx"}, 403, "names no pull request"},
		"no repository_id":      {set{"repository_id": nil}, 403, "no repository_id"},
		"repository_id of 0":    {set{"repository_id": "0"}, 403, "no repository_id"},
		"numeric id":            {set{"repository_id": 70}, 401, "not a JSON Web Token"},
		"repository":            {set{"repository": "acme/../shop"}, 403, "no repository"},
		"of another repository": {set{"workflow_ref": "evil/shop/.github/workflows/agent.yml@refs/heads/main"}, 403, "workflow's path"},
		"no workflow":           {set{"workflow_ref": nil}, 403, "workflow's path"},
		"not in workflows":      {set{"workflow_ref": "acme/shop/agent.yml@x"}, 403, "workflow's path"},
		"workflow's space":      {set{"workflow_ref": "acme/shop/.github/workflows/an agent.yml@x"}, 403, "workflow's path"},
	} {
		w, i := startWorkflows(t)
		w.Run(name, func(t *testing.T) {
			w.T = t
			token := i.workflow(t, one.change)
			w.want(w.workflow(token, aWorkflowsEvent), one.status, one.words)
			if len(i.reads) != 0 || len(w.events) != 0 {
				t.Errorf("read %v, got the events %v", i.reads, w.events)
			}
		})
	}
}

// Tokens with a wrong signature, or of a repository without the App, are refused.
func TestWorkflowIsNotTrusted(t *testing.T) {
	t.Parallel()
	other := ports.Target{RepoID: 71, Owner: "acme", Name: "shop"}
	for name, one := range map[string]struct {
		change set
		mangle func(string) string
		repo   func(string, string) (ports.Target, error)
		status int
		words  string
	}{
		"another key":     {change: set{"key": keyPair()[1]}, status: 401, words: "signature is not valid"},
		"an unknown key":  {change: set{"key": keyPair()[1], "header kid": "two"}, status: 401, words: "signature is not valid"},
		"no signature":    {mangle: func(s string) string { return s[:strings.LastIndex(s, ".")+1] }, status: 401, words: "signature is not valid"},
		"a cut signature": {mangle: func(s string) string { return s[:len(s)-4] }, status: 401, words: "signature is not valid"},
		"another payload": {mangle: otherPayload, status: 401, words: "signature is not valid"},
		"not installed":   {change: set{"repository": "acme/other", "workflow_ref": "acme/other/.github/workflows/agent.yml@x"}, status: 403, words: "not installed"},
		"another name":    {change: set{"repository_id": "71"}, status: 403, words: "not installed"},
		"recreated":       {repo: func(string, string) (ports.Target, error) { return other, nil }, status: 403, words: "not installed"},
		"GitHub is down": {repo: func(string, string) (ports.Target, error) {
			return other, &ports.HostError{Kind: ports.HostTransient, Err: errors.New("x")}
		}, status: 503, words: "GitHub"},
		"not even a token":  {mangle: func(string) string { return "eyJ.e30.x" }, status: 401, words: "not a JSON Web Token"},
		"two parts":         {mangle: func(string) string { return "eyJ.e30" }, status: 401, words: "neither an API token"},
		"too large a token": {mangle: func(s string) string { return s + strings.Repeat("A", maxBearer) }, status: 401, words: "more than 16384 bytes"},
	} {
		w, i := startWorkflows(t)
		w.Run(name, func(t *testing.T) {
			w.T, w.repository = t, one.repo
			token := i.workflow(t, one.change)
			if one.mangle != nil {
				token = one.mangle(token)
			}
			w.want(w.workflow(token, aWorkflowsEvent), one.status, one.words)
			if len(w.events) != 0 {
				t.Errorf("got the events %v", w.events)
			}
		})
	}
}

// otherPayload gives a token another pull request, and leaves the signature.
func otherPayload(token string) string {
	parts := strings.Split(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		panic(err)
	}
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(text), "refs/pull/104/", "refs/pull/105/", 1)))
	return strings.Join(parts, ".")
}

// A server that does not know its own URL, or trusts no issuer, accepts no workflow's token.
func TestWorkflowNeedsAnAudience(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	w := start(t, i.trust, func(c *Config) { c.PublicURL = "" })
	w.want(w.workflow(i.workflow(t, set{"aud": ""}), aWorkflowsEvent), http.StatusUnauthorized, "REVIEWGATE_PUBLIC_URL is not set")
	w = start(t, i.trust, func(c *Config) { c.Issuer = "" })
	w.want(w.workflow(i.workflow(t, set{"iss": ""}), aWorkflowsEvent), http.StatusUnauthorized, "accepts no tokens of GitHub Actions")
}

// settles sends an event until it is answered with a status. go-oidc may give a request the result of an
// earlier read of the keys that has only just ended.
func (w *world) settles(token string, status int, words string) {
	w.Helper()
	a := w.workflow(token, aWorkflowsEvent)
	for range 10 {
		if a.Code == status {
			break
		}
		runtime.Gosched()
		a = w.workflow(token, aWorkflowsEvent)
	}
	w.want(a, status, words)
}

// When the issuer rotates its keys, the new ones are read, but at most once in ten seconds, whatever
// keys the tokens name.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	w, i := startWorkflows(t)
	w.want(w.workflow(i.workflow(t, nil), aWorkflowsEvent), http.StatusAccepted)
	i.change(func() { i.keys = map[string]*rsa.PrivateKey{"two": keyPair()[1]} })
	second := set{"key": keyPair()[1], "header kid": "two"}
	w.settles(i.workflow(t, second), http.StatusServiceUnavailable, "keys of GitHub Actions can't be read now")
	i.pass(keysWithin)
	w.settles(i.workflow(t, second), http.StatusAccepted, "")
	for n := range 5 {
		w.settles(i.workflow(t, set{"header kid": fmt.Sprint("k", n)}), http.StatusServiceUnavailable, "can't be read now")
	}
	w.want(w.workflow(i.workflow(t, second), aWorkflowsEvent), http.StatusAccepted)
	if n := i.read(); n != 2 {
		t.Errorf("the keys were read %d times", n)
	}
	i.pass(time.Minute)
	w.settles(i.workflow(t, nil), http.StatusUnauthorized, "signature is not valid")
	if n := i.read(); n != 3 {
		t.Errorf("the keys were read %d times", n)
	}
}

// While the issuer fails, tokens can't be checked. A later try works.
func TestKeysCannotBeRead(t *testing.T) {
	t.Parallel()
	const config, keys = "/.well-known/openid-configuration", "/.well-known/jwks"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect to another host is followed") }))
	defer elsewhere.Close()
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"error":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"large": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"x": %q}`, strings.Repeat("x", maxKeys))
		},
	} {
		for _, path := range []string{config, keys} {
			w, i := startWorkflows(t)
			w.Run(name+path, func(t *testing.T) {
				w.T = t
				i.change(func() {
					i.answer = func(w http.ResponseWriter, r *http.Request) bool {
						if r.URL.Path == path {
							answer(w, r)
						}
						return r.URL.Path == path
					}
				})
				a := w.workflow(i.workflow(t, nil), aWorkflowsEvent)
				w.want(a, http.StatusServiceUnavailable, "can't be read now")
				if a.Header().Get("Retry-After") != "10" {
					t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
				}
				i.change(func() { i.answer = nil })
				i.pass(keysWithin)
				w.settles(i.workflow(t, nil), http.StatusAccepted, "")
			})
		}
	}
}

// A token that expires while it counts as valid is refused.
func TestWorkflowExpires(t *testing.T) {
	t.Parallel()
	w, i := startWorkflows(t)
	token := i.workflow(t, set{"exp": i.now().Unix() + 3})
	w.want(w.workflow(token, aWorkflowsEvent), http.StatusAccepted)
	i.pass(4 * time.Second)
	w.want(w.workflow(token, aWorkflowsEvent), http.StatusUnauthorized, "has expired")
}

// All the tokens of a workflow share one rate.
func TestWorkflowIsLimited(t *testing.T) {
	t.Parallel()
	w, i := startWorkflows(t)
	for n := range eventsAtOnce {
		w.want(w.workflow(i.workflow(t, set{"jti": fmt.Sprint(n)}), aWorkflowsEvent), http.StatusAccepted)
	}
	w.want(w.workflow(i.workflow(t, set{"jti": "last"}), aWorkflowsEvent), http.StatusTooManyRequests)
	w.want(w.workflow(i.workflow(t, set{"workflow_ref": "acme/shop/.github/workflows/other.yml@x"}), aWorkflowsEvent), http.StatusAccepted)
}

// Signatures that wait for the keys leave room for other tokens.
func TestManySignatures(t *testing.T) {
	t.Parallel()
	w, i := startWorkflows(t)
	for range maxVerifying {
		w.api.workflows.slots <- struct{}{}
	}
	w.want(w.workflow(i.workflow(t, nil), aWorkflowsEvent), http.StatusServiceUnavailable, "at a time")
	w.want(w.event(goodEvent), http.StatusAccepted)
}

// Whatever the claims are, check refuses them with 401 or 403, or returns claims that are valid.
func FuzzClaims(f *testing.F) {
	good := map[string]any{
		"iss": "https://issuer.test", "aud": "https://gate.test", "sub": "x", "iat": 1000, "nbf": 1000, "exp": 1300, "repository": "acme/shop", "repository_id": "70",
		"event_name": "pull_request", "ref": "refs/pull/104/merge", "workflow_ref": "acme/shop/.github/workflows/agent.yml@x",
	}
	text, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"alg":"RS256","kid":"one"}`, string(text))
	bad := maps.Clone(good)
	bad["exp"], bad["aud"] = 1e300, []string{}
	if text, err = json.Marshal(bad); err != nil {
		f.Fatal(err)
	}
	f.Add(`{"alg":"none"}`, string(text))
	w := newWorkflows("https://issuer.test", "https://gate.test", http.DefaultTransport, time.Now)
	f.Fuzz(func(t *testing.T, head, claims string) {
		encode := base64.RawURLEncoding.EncodeToString
		c, p := w.check(encode([]byte(head))+"."+encode([]byte(claims))+".", time.Unix(1100, 0))
		if p != nil {
			if p.Status != http.StatusUnauthorized && p.Status != http.StatusForbidden {
				t.Fatalf("%+v", p)
			}
			return
		}
		if c.pull <= 0 || c.repoID <= 0 || !isRepository(c.owner, c.name) || !ports.IsSessionName(c.workflow) || c.expires.Before(time.Unix(1100, 0)) {
			t.Fatalf("%s: %+v", claims, c)
		}
	})
}
