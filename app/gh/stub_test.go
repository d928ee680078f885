package gh

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

const testApp = 42

var pullTarget = ports.Target{
	Kind: ports.TargetPull, Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop", Number: 12,
}

// openPull is pullTarget as GitHub shows it, cut to the necessary fields.
var openPull = map[string]any{
	"number": 12, "state": "open", "commits": 1, "changed_files": 1,
	"head": map[string]any{"sha": strings.Repeat("b", 40), "ref": "change", "repo": map[string]any{"id": 1001}},
	"base": map[string]any{"sha": strings.Repeat("a", 40), "ref": "main", "repo": map[string]any{"id": 1001}},
}

// privateKey is made only once, because that takes a while. Each client signs a token with
// it, which takes longer with more bits.
var privateKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// stub answers with what a test gives it, for answers that a rule-abiding GitHub would not
// give.
type stub struct {
	*httptest.Server
	mu     sync.Mutex
	tokens []string // bodies of token requests
	asked  []string // method and path with query
}

func newStub(t *testing.T, answer http.HandlerFunc) *stub {
	t.Helper()
	s := &stub{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/access_tokens") {
			s.token(w, r)
			return
		}
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stub) token(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.tokens = append(s.tokens, string(body))
	n := len(s.tokens)
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"token":"token-%d","expires_at":%q}`, n, time.Now().Add(time.Hour).Format(time.RFC3339))
}

func (s *stub) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *stub) client(t *testing.T, change func(*Config)) *Client {
	t.Helper()
	c := Config{AppID: testApp, PrivateKey: privateKey(), V3URL: s.URL, UserAgent: "test"}
	if change != nil {
		change(&c)
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func wantHostError(t *testing.T, err error, kind ports.HostKind) *ports.HostError {
	t.Helper()
	var he *ports.HostError
	if !errors.As(err, &he) {
		t.Fatalf("error %v (%T) is not a *ports.HostError", err, err)
	}
	if he.Kind != kind {
		t.Fatalf("kind %q, want %q: %v", he.Kind, kind, err)
	}
	return he
}
