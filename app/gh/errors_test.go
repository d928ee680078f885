package gh

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// header is a list of names and values, one after the other.
func answering(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestErrorKinds(t *testing.T) {
	soon := strconv.FormatInt(time.Now().Add(90*time.Second).Unix(), 10)
	tests := map[string]struct {
		answer  http.HandlerFunc
		kind    ports.HostKind
		reads   int // requests that one read makes; 0 where net/http may add one
		minWait time.Duration
		maxWait time.Duration
		says    string
	}{
		"server error":      {answering(500, `{"message":"oops"}`), ports.HostTransient, 2, 0, 0, "500 Internal Server Error: oops"},
		"bad gateway, HTML": {answering(502, `<html>`), ports.HostTransient, 2, 0, 0, "502 Bad Gateway"},
		"unavailable":       {answering(503, ``, "Retry-After", "7"), ports.HostTransient, 1, 7 * time.Second, 7 * time.Second, "503"},
		"truncated JSON":    {answering(200, `{"number": 12, "tit`), ports.HostTransient, 2, 0, 0, "JSON"},
		"empty answer":      {answering(200, ``), ports.HostTransient, 2, 0, 0, "JSON"},
		"wrong type":        {answering(200, `{"number": "twelve"}`), ports.HostTransient, 2, 0, 0, "JSON"},
		"not modified":      {answering(304, ``), ports.HostTransient, 2, 0, 0, "304"},
		"accepted":          {answering(202, `{}`), ports.HostTransient, 2, 0, 0, "not ready"},
		"cut connection":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ports.HostTransient, 0, 0, 0, "EOF"},
		"not found":         {answering(404, `{"message":"Not Found"}`), ports.HostNotFound, 1, 0, 0, "404 Not Found: Not Found"},
		"gone":              {answering(410, `{}`), ports.HostNotFound, 1, 0, 0, "410"},
		"blocked":           {answering(451, `{"message":"DMCA","block":{"reason":"dmca"}}`), ports.HostNotFound, 1, 0, 0, "DMCA"},
		"unauthorized":      {answering(401, `{"message":"Bad credentials"}`), ports.HostForbidden, 2, 0, 0, "Bad credentials"},
		"forbidden":         {answering(403, `{"message":"Resource not accessible by integration"}`), ports.HostForbidden, 1, 0, 0, "not accessible"},
		"forbidden, quota left": {answering(403, `{"message":"Resource not accessible by integration"}`,
			"X-RateLimit-Remaining", "4999", "X-RateLimit-Reset", soon), ports.HostForbidden, 1, 0, 0, "not accessible"},
		"suspended": {answering(403, `{"message":"This installation has been suspended"}`), ports.HostForbidden, 1, 0, 0, "suspended"},
		"invalid": {answering(422, `{"message":"Validation Failed","errors":[{"resource":"Issue","field":"body","code":"custom","message":"body is too long"}]}`),
			ports.HostInvalid, 1, 0, 0, "Validation Failed; body is too long"},
		"conflict": {answering(409, `{}`), ports.HostInvalid, 1, 0, 0, "409"},

		"primary limit": {answering(403, `{"message":"API rate limit exceeded for installation"}`,
			"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", soon), ports.HostLimited, 1, 80 * time.Second, 91 * time.Second, "rate limit"},
		"primary limit as 429": {answering(429, `{}`,
			"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", soon), ports.HostLimited, 1, 80 * time.Second, 91 * time.Second, "rate limit"},
		"secondary, Retry-After": {answering(403, `{"message":"You have exceeded a secondary rate limit"}`,
			"Retry-After", "30"), ports.HostLimited, 1, 30 * time.Second, 30 * time.Second, "secondary"},
		"secondary as 429": {answering(429, `{"message":"slow down"}`, "Retry-After", "5"), ports.HostLimited, 1, 5 * time.Second, 5 * time.Second, "slow down"},
		// GitHub also sends the primary limit's reset, which does not apply here.
		"secondary, no word when": {answering(403, `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
			"X-RateLimit-Remaining", "4000", "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(50*time.Minute).Unix(), 10)),
			ports.HostLimited, 1, time.Minute, time.Minute, "secondary"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, tt.answer)
			_, err := s.client(t, nil).Pull(t.Context(), pullTarget)
			he := wantHostError(t, err, tt.kind)
			if he.RetryAfter < tt.minWait || he.RetryAfter > tt.maxWait {
				t.Errorf("wait %v, want %v to %v", he.RetryAfter, tt.minWait, tt.maxWait)
			}
			if got := len(s.requests()); tt.reads > 0 && got != tt.reads {
				t.Errorf("%d requests, want %d", got, tt.reads)
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), "read the pull request again: ") {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
			if strings.Contains(err.Error(), "token-") {
				t.Errorf("error %q shows a token", err)
			}
		})
	}
}

func TestWriteIsNeverRepeated(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"server error":   answering(502, ``),
		"cut connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"truncated":      answering(201, `{"id": 5`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, answer)
			_, err := s.client(t, nil).CreateComment(t.Context(), pullTarget, "hello")
			wantHostError(t, err, ports.HostTransient)
			if got := s.requests(); len(got) != 1 {
				t.Errorf("requests %q, want one", got)
			}
		})
	}
}

func TestRefusedTokenIsReplaced(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "token token-1" {
			send(w, 401, map[string]string{"message": "Bad credentials"})
			return
		}
		send(w, 201, map[string]int{"id": 99})
	})
	id, err := s.client(t, nil).CreateComment(t.Context(), pullTarget, "hello")
	if err != nil || id != 99 {
		t.Errorf("CreateComment = %d, %v; want 99", id, err)
	}
}

func TestTokenIsCachedAndNarrow(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		pull := maps.Clone(openPull)
		if strings.Contains(r.URL.Path, "/acme/api/") {
			pull["base"] = map[string]any{"sha": strings.Repeat("a", 40), "ref": "main", "repo": map[string]any{"id": 1002}}
		}
		send(w, 200, pull)
	})
	c := s.client(t, nil)
	other := pullTarget
	other.RepoID, other.Name = 1002, "api"
	for _, target := range []ports.Target{pullTarget, other, pullTarget, other} {
		if _, err := c.Pull(t.Context(), target); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(s.tokens, " "), `{"repository_ids":[1001]} {"repository_ids":[1002]}`; got != want {
		t.Errorf("token requests %s, want %s", got, want)
	}
}

func TestParallelReadsShareAToken(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, _ *http.Request) { send(w, 200, openPull) })
	c := s.client(t, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := c.Pull(context.Background(), pullTarget); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(s.tokens) != 1 {
		t.Errorf("%d tokens were fetched", len(s.tokens))
	}
}

func TestGitHubGivesNoToken(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		header []string
		kind   ports.HostKind
		says   string
	}{
		"uninstalled":          {404, `{"message":"Not Found"}`, nil, ports.HostForbidden, "not installed there any more"},
		"suspended":            {403, `{"message":"This installation has been suspended"}`, nil, ports.HostForbidden, "the App's installation is suspended"},
		"forbidden":            {403, `{"message":"no"}`, nil, ports.HostForbidden, "may not act for the installation"},
		"repository withdrawn": {422, `{"message":"There is at least one repository that does not exist"}`, nil, ports.HostForbidden, "does not cover the repository"},
		"wrong key":            {401, `{"message":"A JSON web token could not be decoded"}`, nil, ports.HostForbidden, "the App's ID and private key"},
		"limited":              {403, `{"message":"no"}`, []string{"Retry-After", "9"}, ports.HostLimited, "rate limit"},
		"down":                 {503, `<html>`, nil, ports.HostTransient, "503 Service Unavailable"},
		"moved":                {301, ``, []string{"Location", "/elsewhere"}, ports.HostTransient, "301"},
		// An answer without a token must not be accepted as one.
		"null":       {201, `null`, nil, ports.HostTransient, "holds none"},
		"empty":      {201, ``, nil, ports.HostTransient, "holds none"},
		"no token":   {201, `{"expires_at":"2030-01-01T00:00:00Z"}`, nil, ports.HostTransient, "holds none"},
		"no expiry":  {201, `{"token":"token-1"}`, nil, ports.HostTransient, "holds none"},
		"truncated":  {201, `{"token":"token-1","expires_at":"2030`, nil, ports.HostTransient, "holds none"},
		"wrong type": {201, `{"token":["token-1"],"expires_at":7}`, nil, ports.HostTransient, "holds none"},
		"a page":     {200, `<html>token-1`, nil, ports.HostTransient, "holds none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, nil)
			s.Config.Handler = answering(tt.status, tt.body, tt.header...)
			_, err := s.client(t, nil).Pull(t.Context(), pullTarget)
			wantHostError(t, err, tt.kind)
			if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "token-1") {
				t.Errorf("error %q, want it to say %q", err, tt.says)
			}
		})
	}
}

func TestLimitIsRemembered(t *testing.T) {
	s := newStub(t, answering(429, `{}`, "Retry-After", "60"))
	c := s.client(t, nil)
	for range 3 {
		_, err := c.Pull(t.Context(), pullTarget)
		if he := wantHostError(t, err, ports.HostLimited); he.RetryAfter < 50*time.Second {
			t.Errorf("wait %v", he.RetryAfter)
		}
	}
	if got := s.requests(); len(got) != 1 {
		t.Errorf("asked %d times during a refusal, want once", len(got))
	}
	elsewhere := pullTarget
	elsewhere.Installation = 8
	_, _ = c.Pull(t.Context(), elsewhere)
	if got := s.requests(); len(got) != 2 {
		t.Error("another installation had to wait too")
	}
}

func TestTimeoutIsTransient(t *testing.T) {
	t.Parallel() // it mostly waits
	release := make(chan struct{})
	s := newStub(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	c := s.client(t, func(c *Config) { c.Timeout = 50 * time.Millisecond })
	_, err := c.Pull(t.Context(), pullTarget)
	wantHostError(t, err, ports.HostTransient)
	if errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledCallEndsAtOnce(t *testing.T) {
	asked := make(chan struct{}, 1)
	release := make(chan struct{})
	s := newStub(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := s.client(t, nil).Pull(ctx, pullTarget)
	wantHostError(t, err, ports.HostTransient)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v hides that the caller gave up", err)
	}
}

func TestHugeAnswerIsCutOff(t *testing.T) {
	chunk := strings.Repeat(" ", 1<<20)
	s := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		for range maxResponse>>20 + 2 {
			if _, err := w.Write([]byte(chunk)); err != nil {
				return
			}
		}
	})
	// Under the race detector, a busy machine takes more than half a minute to read this
	// much.
	c := s.client(t, func(c *Config) { c.Timeout = time.Hour })
	_, err := c.Pull(t.Context(), pullTarget)
	if !errors.Is(err, errTooLarge) {
		t.Errorf("error %v", err)
	}
	if got := len(s.requests()); got != 1 {
		t.Errorf("asked for the answer %d times", got)
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{AppID: 1, PrivateKey: privateKey()}
	for name, change := range map[string]func(*Config){
		"no App ID":    func(c *Config) { c.AppID = 0 },
		"no key":       func(c *Config) { c.PrivateKey = nil },
		"not a key":    func(c *Config) { c.PrivateKey = []byte("secret") },
		"relative URL": func(c *Config) { c.V3URL = "/api/v3" },
		"other scheme": func(c *Config) { c.V3URL = "ftp://example.com/" },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error shows the key: %v", name, err)
		}
	}
	if _, err := New(good); err != nil {
		t.Errorf("good settings: %v", err)
	}
}
