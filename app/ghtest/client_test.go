package ghtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience limits every wait of these tests.
const patience = 20 * time.Second

// client calls the stand-in as an App does. Every exchange is compared with GitHub's
// description.
type client struct {
	*testing.T
	gh     *ghtest.Server
	http   *http.Client
	prefix string
	auth   string
}

// reply is an answer, its body decoded.
type reply struct {
	status int
	header http.Header
	raw    []byte
	json   any
}

// newClient returns a client with the App's JWT.
func newClient(t *testing.T, gh *ghtest.Server) *client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client{T: t, gh: gh}
	c.http = &http.Client{Transport: &describedTransport{client: c, next: transport}}
	return c.withAuth(signJWT(t, gh, jwt.SigningMethodRS256, nil))
}

func (c *client) withAuth(credential string) *client {
	other := *c
	other.auth = "Bearer " + credential
	return &other
}

// asInstallation returns a client with a token for the account's installation.
func (c *client) asInstallation(account string) *client {
	c.Helper()
	r := c.do("POST", "/app/installations/"+strconv.FormatInt(c.gh.InstallationID(account), 10)+"/access_tokens", nil)
	c.want(r, http.StatusCreated)
	return c.withAuth(r.field("token").(string))
}

// signJWT makes an App JWT. change may make its claims invalid.
func signJWT(t *testing.T, gh *ghtest.Server, method jwt.SigningMethod, change func(jwt.MapClaims)) string {
	t.Helper()
	claims := jwt.MapClaims{"iss": strconv.FormatInt(gh.AppID(), 10), "iat": time.Now().Add(-time.Minute).Unix(), "exp": time.Now().Add(9 * time.Minute).Unix()}
	if change != nil {
		change(claims)
	}
	var key any = []byte("guess")
	if _, ok := method.(*jwt.SigningMethodRSA); ok {
		parsed, err := jwt.ParseRSAPrivateKeyFromPEM(gh.AppPrivateKeyPEM())
		if err != nil {
			t.Fatal(err)
		}
		key = parsed
	}
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (c *client) request(method, path string, body any, header ...string) *http.Request {
	c.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.Fatal(err)
		}
		r = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	c.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, c.gh.URL+c.prefix+path, r)
	if err != nil {
		c.Fatal(err)
	}
	if c.auth != "" {
		req.Header.Set("Authorization", c.auth)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// do makes a call and reads the complete answer.
func (c *client) do(method, path string, body any, header ...string) reply {
	c.Helper()
	r, err := c.try(method, path, body, header...)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// try is like do, for calls whose connection may break.
func (c *client) try(method, path string, body any, header ...string) (reply, error) {
	c.Helper()
	resp, err := c.http.Do(c.request(method, path, body, header...))
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{status: resp.StatusCode, header: resp.Header, raw: raw}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(raw, &r.json); err != nil {
			c.Fatalf("%s %s: the body is not JSON: %v", method, path, err)
		}
	}
	return r, nil
}

func (c *client) get(path string) reply {
	c.Helper()
	r := c.do("GET", path, nil)
	c.want(r, http.StatusOK)
	return r
}

func (c *client) want(r reply, status int) {
	c.Helper()
	if r.status != status {
		c.Fatalf("status %d instead of %d: %.600s", r.status, status, r.raw)
	}
}

// refused checks that an error has this status and names the reason.
func (c *client) refused(r reply, status int, reason string) {
	c.Helper()
	c.want(r, status)
	if !strings.Contains(string(r.raw), reason) {
		c.Errorf("the refusal doesn't contain %q: %s", reason, r.raw)
	}
}

// field follows a path into the decoded body: keys of objects, and indexes of lists.
func (r reply) field(path ...any) any {
	v := r.json
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

func (r reply) len() int {
	l, _ := r.json.([]any)
	return len(l)
}

// shop starts a GitHub with one repository that has files on main, and a client of its
// installation.
func shop(t *testing.T, opts ghtest.Options) (*ghtest.Server, *ghtest.Repo, *client) {
	t.Helper()
	gh := ghtest.Start(t, opts)
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n", "src/cart.go": "package cart\n\nfunc Total() int { return 0 }\n"}, "start")
	t.Cleanup(func() {
		if calls := gh.Calls.Unexpected(); len(calls) > 0 {
			t.Errorf("calls of unknown routes: %v", calls)
		}
	})
	return gh, repo, newClient(t, gh).asInstallation("acme")
}

func waitFor(t *testing.T, gh *ghtest.Server, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := gh.WaitFor(ctx, cond); err != nil {
		t.Fatal(err)
	}
}

func settle(t *testing.T, gh *ghtest.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := gh.Webhook.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

// clock is a clock that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Now().Truncate(time.Second)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}
