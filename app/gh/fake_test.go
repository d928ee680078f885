package gh

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// fake is an HTTP transport without a network, for tests with a fake clock. It answers at
// once, or when the test's function returns.
type fake struct {
	answer func(*http.Request) *http.Response
	token  func(*http.Request) *http.Response // nil: a token that lasts an hour

	mu   sync.Mutex
	sent []sent
	open atomic.Int64 // answers that were not closed
}

type sent struct {
	at    time.Time
	what  string // method and path
	token bool
}

func (f *fake) RoundTrip(req *http.Request) (*http.Response, error) {
	token := strings.HasSuffix(req.URL.Path, "/access_tokens")
	f.mu.Lock()
	f.sent = append(f.sent, sent{time.Now(), req.Method + " " + req.URL.Path, token})
	f.mu.Unlock()
	if req.Body != nil {
		defer req.Body.Close()
	}
	var resp *http.Response
	switch {
	case !token:
		resp = f.answer(req)
	case f.token != nil:
		resp = f.token(req)
	default:
		resp = reply(201, fmt.Sprintf(`{"token":"t","expires_at":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339)))
	}
	if resp == nil {
		return nil, io.ErrUnexpectedEOF
	}
	f.open.Add(1)
	resp.Body = &counted{resp.Body, sync.OnceFunc(func() { f.open.Add(-1) })}
	resp.Request = req
	return resp, nil
}

type counted struct {
	io.ReadCloser
	closed func()
}

func (c *counted) Close() error { c.closed(); return c.ReadCloser.Close() }

// asked counts the requests without those for tokens.
func (f *fake) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.sent {
		if !s.token {
			n++
		}
	}
	return n
}

func (f *fake) client(t *testing.T, change func(*Config)) *Client {
	t.Helper()
	c := Config{AppID: testApp, PrivateKey: privateKey(), V3URL: "https://github.test/api/v3", Transport: f}
	if change != nil {
		change(&c)
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := f.open.Load(); n != 0 {
			t.Errorf("%d answers were not closed", n)
		}
	})
	return client
}

// reply is an answer. header is a list of names and values, one after the other.
func reply(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Header: h, Body: io.NopCloser(strings.NewReader(body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)),
	}
}

// always gives every request the same answer.
func always(status int, body string, header ...string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response { return reply(status, body, header...) }
}

const openPullJSON = `{"number":12,"state":"open","head":{"sha":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},"base":{"sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","repo":{"id":1001}}}`

// calls are all methods that ask GitHub, each with its HTTP method.
var calls = map[string]struct {
	method string
	do     func(*testing.T, *Client) error
}{
	"PullRequest": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.Source(pullTarget).PullRequest(t.Context())
		return err
	}},
	"Files":   {"GET", func(t *testing.T, c *Client) error { _, err := c.Source(pullTarget).Files(t.Context()); return err }},
	"Commits": {"GET", func(t *testing.T, c *Client) error { _, err := c.Source(pullTarget).Commits(t.Context()); return err }},
	"group":   {"GET", func(t *testing.T, c *Client) error { _, err := c.Source(groupTarget).Files(t.Context()); return err }},
	"Config": {"GET", func(t *testing.T, c *Client) error {
		_, _, err := c.repositoryConfig(t.Context(), pullTarget, "")
		return err
	}},
	"Organisation": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.organisationConfig(t.Context(), pullTarget)
		return err
	}},
	"ProposedConfig": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.ProposedConfig(t.Context(), pullTarget, strings.Repeat("b", 40))
		return err
	}},
	"Pull": {"GET", func(t *testing.T, c *Client) error { _, err := c.Pull(t.Context(), pullTarget); return err }},
	"PullsOnHead": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.PullsOnHead(t.Context(), pullTarget, strings.Repeat("b", 40))
		return err
	}},
	"CreateCheck": {"POST", func(t *testing.T, c *Client) error {
		_, err := c.CreateCheck(t.Context(), pullTarget, ports.CheckWrite{Name: "reviewgate", HeadSHA: strings.Repeat("b", 40)})
		return err
	}},
	"UpdateCheck": {"PATCH", func(t *testing.T, c *Client) error {
		return c.UpdateCheck(t.Context(), pullTarget, 5, ports.CheckWrite{Name: "reviewgate"})
	}},
	"Checks": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.Checks(t.Context(), pullTarget, strings.Repeat("b", 40))
		return err
	}},
	"CreateComment": {"POST", func(t *testing.T, c *Client) error {
		_, err := c.CreateComment(t.Context(), pullTarget, "hello")
		return err
	}},
	"UpdateComment": {"PATCH", func(t *testing.T, c *Client) error { return c.UpdateComment(t.Context(), pullTarget, 5, "hello") }},
	"DeleteComment": {"DELETE", func(t *testing.T, c *Client) error { return c.DeleteComment(t.Context(), pullTarget, 5) }},
	"Comments":      {"GET", func(t *testing.T, c *Client) error { _, err := c.Comments(t.Context(), pullTarget, marker); return err }},
	"Issues": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.Issues(t.Context(), pullTarget, time.Time{})
		return err
	}},
	"Issue": {"GET", func(t *testing.T, c *Client) error { _, err := c.Issue(t.Context(), pullTarget, 5); return err }},
	"CreateIssue": {"POST", func(t *testing.T, c *Client) error {
		_, err := c.CreateIssue(t.Context(), pullTarget, ports.IssueWrite{Title: "hello"})
		return err
	}},
	"UpdateIssue": {"PATCH", func(t *testing.T, c *Client) error { return c.UpdateIssue(t.Context(), pullTarget, 5, "hello", true) }},
	"AddLabel":    {"POST", func(t *testing.T, c *Client) error { return c.AddLabel(t.Context(), pullTarget, "risk: high") }},
	"RemoveLabel": {"DELETE", func(t *testing.T, c *Client) error { return c.RemoveLabel(t.Context(), pullTarget, "risk: high") }},
	"File": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.Source(pullTarget).File(t.Context(), strings.Repeat("b", 40), "docs/a.md", 100)
		return err
	}},
	"Remarks": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.Source(pullTarget).Remarks(t.Context(), "words")
		return err
	}},
	"Permission": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.Permission(t.Context(), pullTarget, "alice")
		return err
	}},
	"React": {"POST", func(t *testing.T, c *Client) error {
		return c.React(t.Context(), pullTarget, ports.PlaceConversation, 5, "eyes")
	}},
	"ReactOnLine": {"POST", func(t *testing.T, c *Client) error {
		return c.React(t.Context(), pullTarget, ports.PlaceReviewLine, 5, "eyes")
	}},
	"TeamMember": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.TeamMember(t.Context(), pullTarget, "acme/owners", "alice")
		return err
	}},
	"Access": {"GET", func(t *testing.T, c *Client) error { _, err := c.Access(t.Context(), pullTarget); return err }},
	"FailedDeliveries": {"GET", func(t *testing.T, c *Client) error {
		_, _, err := c.FailedDeliveries(t.Context(), time.Time{})
		return err
	}},
	"Payload":       {"GET", func(t *testing.T, c *Client) error { _, err := c.Payload(t.Context(), 5); return err }},
	"Redeliver":     {"POST", func(t *testing.T, c *Client) error { return c.Redeliver(t.Context(), 5) }},
	"Installations": {"GET", func(t *testing.T, c *Client) error { _, err := c.Installations(t.Context()); return err }},
	"Repositories":  {"GET", func(t *testing.T, c *Client) error { _, err := c.Repositories(t.Context(), 7); return err }},
	"OpenPulls": {"GET", func(t *testing.T, c *Client) error {
		_, err := c.OpenPulls(t.Context(), pullTarget, time.Time{})
		return err
	}},
}

// success is GitHub's success status for each method.
var success = map[string]int{"GET": 200, "POST": 201, "PATCH": 200, "DELETE": 204}

var groupTarget = ports.Target{
	Kind: ports.TargetGroup, Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop",
	BaseSHA: strings.Repeat("a", 40), HeadSHA: strings.Repeat("b", 40), HeadRef: "refs/heads/gh-readonly-queue/main/pr-12-a",
}

// cut is a body that ends too early.
func cut(text string) io.ReadCloser {
	return io.NopCloser(io.MultiReader(bytes.NewReader([]byte(text)), broken{}))
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
