package api

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

var tokenForm = regexp.MustCompile(`^rg_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$`)

// Tokens are random, have a checksum, and are stored as a hash.
func TestNewToken(t *testing.T) {
	t.Parallel()
	a, hash := NewToken()
	b, _ := NewToken()
	sum := sha256.Sum256([]byte(a))
	if !tokenForm.MatchString(a) || !isToken(a) || a == b || !slices.Equal(hash, sum[:]) {
		t.Errorf("%s, %s, %x", a, b, hash)
	}
	for i := range len(a) {
		other := []byte(a)
		if other[i]++; isToken(string(other)) {
			t.Errorf("%s is a token", other)
		}
	}
}

// A token that an agent writes into a pull request is found there as a secret.
func TestTokenIsASecret(t *testing.T) {
	t.Parallel()
	detector, err := secrets.Default()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		token, _ := NewToken()
		facts := pipeline.PRFacts{Body: "I called it with " + token + "."}
		if found := detector.Redact(&facts); len(found) != 1 || strings.Contains(facts.Body, token[len(token)-20:]) {
			t.Errorf("%v in %q", found, facts.Body)
		}
	}
}

// A refusal says why a token is not valid, and has the header that RFC 9110 demands.
func TestTokenIsRefused(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w := start(t, func(c *Config) { c.Now = clock.now })
	unknown, _ := NewToken()
	for name, one := range map[string]struct{ header, words string }{
		"unknown":      {"Bearer " + unknown, "not known to this server"},
		"revoked":      {"Bearer " + w.newToken(ports.APIToken{ID: 2, Repository: shop, RevokedAt: clock.at.Add(-time.Hour)}), "was revoked"},
		"expired":      {"Bearer " + w.newToken(ports.APIToken{ID: 3, Repository: shop, ExpiresAt: clock.at}), "has expired"},
		"cut":          {"Bearer " + w.token[:40], "has a typo"},
		"longer":       {"Bearer " + w.token + "x", "has a typo"},
		"of GitHub":    {"Bearer ghp_abcdefghijklmnop", "neither an API token nor"},
		"basic":        {"Basic " + base64.StdEncoding.EncodeToString([]byte("x:"+w.token)), "is not \"Bearer TOKEN\""},
		"no token":     {"Bearer", "is not \"Bearer TOKEN\""},
		"blanks alone": {"Bearer   ", "is not \"Bearer TOKEN\""},
		"two tokens":   {"Bearer " + w.token + " " + w.token, "is not \"Bearer TOKEN\""},
		"unprintable":  {"Bearer \x80", "is not \"Bearer TOKEN\""},
	} {
		a := w.send(request{method: "POST", path: "/api/v1/events", body: goodEvent, header: map[string]string{"Authorization": one.header}})
		if w.want(a, http.StatusUnauthorized, strings.ReplaceAll(one.words, `"`, `\"`)); a.Header().Get("WWW-Authenticate") != `Bearer realm="reviewgate"` {
			t.Errorf("%s: %v", name, a.Header())
		}
	}
	r := w.request(request{method: "POST", path: "/api/v1/events", token: w.token, body: goodEvent})
	r.Header.Add("Authorization", "Bearer "+w.token)
	w.want(w.sendThis(r), http.StatusUnauthorized, "more than one")
	if len(w.events) != 0 {
		t.Errorf("got the events %v", w.events)
	}
	w.want(w.send(request{method: "POST", path: "/api/v1/events", body: goodEvent, header: map[string]string{"Authorization": "bearer  " + w.token}}), http.StatusAccepted)
}

// A valid token is looked up at most once in five seconds. So a revoked one stops working soon. Its use
// is noted once an hour.
func TestTokenIsRevoked(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w := start(t, func(c *Config) { c.Now = clock.now })
	token := w.newToken(ports.APIToken{ID: 5, Repository: shop, Agent: "claude", UsedAt: clock.at.Add(-59 * time.Minute)})
	send := func(status int, words ...string) {
		t.Helper()
		w.want(w.send(request{method: "GET", path: aPull, token: token}), status, words...)
	}
	send(http.StatusOK)
	clock.pass(trustFor - 1)
	send(http.StatusOK)
	if w.looks != 1 || len(w.used) != 0 {
		t.Errorf("%d looks, used %v", w.looks, w.used)
	}
	clock.pass(time.Minute)
	send(http.StatusOK)
	if w.looks != 2 || !slices.Equal(w.used, []int64{5}) {
		t.Errorf("%d looks, used %v", w.looks, w.used)
	}
	w.mu.Lock()
	for hash, stored := range w.tokens {
		if stored.ID == 5 {
			stored.RevokedAt = clock.at
			w.tokens[hash] = stored
		}
	}
	w.mu.Unlock()
	send(http.StatusOK) // it still counts as valid
	clock.pass(trustFor)
	send(http.StatusUnauthorized, "was revoked")
	send(http.StatusUnauthorized, "was revoked")
}

// A token that expires while it counts as valid is refused.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w := start(t, func(c *Config) { c.Now = clock.now })
	token := w.newToken(ports.APIToken{ID: 5, Repository: shop, ExpiresAt: clock.at.Add(2 * time.Second)})
	w.want(w.send(request{method: "GET", path: aPull, token: token}), http.StatusOK)
	clock.pass(2 * time.Second)
	w.want(w.send(request{method: "GET", path: aPull, token: token}), http.StatusUnauthorized, "has expired")
}

// While the database fails, no token is called invalid.
func TestTokensCannotBeRead(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.find = func() error { return errors.New("the disk is gone") }
	w.want(w.event(goodEvent), http.StatusInternalServerError)
	if !strings.Contains(w.log.String(), "the disk is gone") {
		t.Errorf("the log says %s", w.log)
	}
	w.find = nil
	w.want(w.event(goodEvent), http.StatusAccepted)
}

// A flood of wrong tokens does not reach the database, whether it comes from one address, one IPv6
// network or many. Tokens that were valid before still work, and answers with the request's token, too.
func TestStrangersAreLimited(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(int) string{
		"one address":     func(int) string { return "192.0.2.7:1" },
		"as IPv6":         func(n int) string { return [...]string{"192.0.2.7:1", "[::ffff:192.0.2.7]:2"}[n%2] },
		"a network":       func(n int) string { return fmt.Sprintf("[2001:db8:1:2::%x]:1", n) },
		"a zone":          func(n int) string { return fmt.Sprintf("[fe80::1%%eth%d]:1", n) },
		"no known one":    func(int) string { return "@" },
		"many addresses":  func(n int) string { return fmt.Sprintf("10.0.%d.%d:1", n/250, n%250) },
		"many networks":   func(n int) string { return fmt.Sprintf("[2001:db8:1:%x::1]:1", n) },
		"a wrong address": func(int) string { return "somewhere:1" },
	} {
		clock := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		w := start(t, func(c *Config) { c.Now = clock.now })
		w.Run(name, func(t *testing.T) {
			w.T = t
			w.want(w.event(goodEvent), http.StatusAccepted) // its token is known from now on
			most := strangeAtOnce
			if strings.HasPrefix(name, "many") {
				most = strangersAtOnce
			}
			var last *httptest.ResponseRecorder
			for n := range most + 10 {
				unknown, _ := NewToken()
				w.from = address(n)
				last = w.send(request{method: "GET", path: aPull, token: unknown})
				if status := map[bool]int{true: 401, false: 429}[n < most]; last.Code != status {
					t.Fatalf("request %d: status %d, want %d", n, last.Code, status)
				}
			}
			w.want(last, http.StatusTooManyRequests, "too many requests without a valid token")
			if w.looks != most+1 || last.Header().Get("Retry-After") != "1" {
				t.Errorf("%d looks, Retry-After %q", w.looks, last.Header().Get("Retry-After"))
			}
			w.want(w.event(goodEvent), http.StatusAccepted)
			w.want(w.send(request{method: "POST", path: aResult, token: "token-of-r-9", body: "{}"}), http.StatusAccepted)
			w.want(w.send(request{method: "POST", path: aResult, token: "token-of-r-8", body: "{}"}), http.StatusTooManyRequests)
			clock.pass(time.Minute)
			unknown, _ := NewToken()
			w.want(w.send(request{method: "GET", path: aPull, token: unknown}), http.StatusUnauthorized)
		})
	}
}

// The requests of a token are limited, with a separate limit for those that read. The next request may
// come after Retry-After.
func TestTokenIsLimited(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w := start(t, func(c *Config) { c.Now = clock.now })
	for range eventsAtOnce {
		w.want(w.event(goodEvent), http.StatusAccepted)
	}
	a := w.event(goodEvent)
	if w.want(a, http.StatusTooManyRequests, "At most 60 requests of this kind a minute"); a.Header().Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
	}
	for range readsAtOnce {
		w.want(w.send(request{method: "GET", path: aPull, token: w.token}), http.StatusOK)
	}
	w.want(w.send(request{method: "GET", path: aPull, token: w.token}), http.StatusTooManyRequests, "300 requests")
	clock.pass(time.Second)
	w.want(w.event(goodEvent), http.StatusAccepted)
	w.want(w.event(goodEvent), http.StatusTooManyRequests)
	other := w.newToken(ports.APIToken{ID: 12, Repository: shop, Agent: "claude"})
	w.want(w.send(request{method: "POST", path: "/api/v1/events", token: other, body: goodEvent}), http.StatusAccepted)
	// A token that was refused because of its rate does not count as a stranger.
	if n := w.api.strangers.all.TokensAt(clock.now()); n != strangersAtOnce {
		t.Errorf("%v requests of strangers are left", n)
	}
}

// Whatever the header is, bearer returns a well-formed token or a refusal.
func FuzzBearer(f *testing.F) {
	token, _ := NewToken()
	for _, seed := range []string{"Bearer " + token, "bearer  x==", "Basic eDp5", "Bearer", "", "Bearer a b", "Bearer =", "Bearer ey.a.b", "Bearer é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, p := bearer(http.Header{"Authorization": {header}})
		switch {
		case p != nil && (p.Status != http.StatusUnauthorized || p.challenge == "" || token != ""):
			t.Fatalf("%q: %+v", header, p)
		case p == nil && (token == "" || len(header) > maxBearer || strings.ContainsAny(token, " \t\r\n,\"") || !strings.Contains(header, token)):
			t.Fatalf("%q: %q", header, token)
		}
	})
}
