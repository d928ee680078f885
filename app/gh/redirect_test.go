package gh

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// TestRenamedRepositoryIsFollowed answers like GitHub for an old name: 301 to a read and 307
// to a write, both to the repository's id. 302 and 308 mean the same, and a write must not
// become a read after 301.
func TestRenamedRepositoryIsFollowed(t *testing.T) {
	write := ports.CheckWrite{Name: "reviewgate", HeadSHA: strings.Repeat("b", 40), Output: ports.CheckOutput{Title: "Reviewing", Summary: "s"}}
	tests := map[string]struct {
		do     func(*Client) error
		method string
		path   string // after the repository
		body   string
		answer any
	}{
		"read": {func(c *Client) error { _, err := c.Pull(t.Context(), pullTarget); return err },
			"GET", "/pulls/12", "", openPull},
		"list": {func(c *Client) error { _, err := c.Comments(t.Context(), pullTarget, marker); return err },
			"GET", "/issues/12/comments?per_page=100", "", []any{}},
		"create a check": {func(c *Client) error { _, err := c.CreateCheck(t.Context(), pullTarget, write); return err },
			"POST", "/check-runs", `"title":"Reviewing"`, map[string]int{"id": 5}},
		"update a check": {func(c *Client) error { return c.UpdateCheck(t.Context(), pullTarget, 5, write) },
			"PATCH", "/check-runs/5", `"title":"Reviewing"`, map[string]int{"id": 5}},
		"create a comment": {func(c *Client) error { _, err := c.CreateComment(t.Context(), pullTarget, "hello"); return err },
			"POST", "/issues/12/comments", `{"body":"hello"}`, map[string]int{"id": 5}},
		"update a comment": {func(c *Client) error { return c.UpdateComment(t.Context(), pullTarget, 5, "hello") },
			"PATCH", "/issues/comments/5", `{"body":"hello"}`, map[string]int{"id": 5}},
		"delete a comment": {func(c *Client) error { return c.DeleteComment(t.Context(), pullTarget, 5) },
			"DELETE", "/issues/comments/5", "", nil},
	}
	for name, tt := range tests {
		for _, status := range []int{301, 302, 307, 308} {
			var bodies []string
			s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				if rest, old := strings.CutPrefix(r.URL.RequestURI(), "/repos/acme/shop/"); old {
					w.Header().Set("Location", "/repositories/1001/"+rest)
					w.WriteHeader(status)
					return
				}
				if got := r.Header.Get("Authorization"); got != "token token-1" {
					t.Errorf("authorized by %q", got)
				}
				send(w, success[r.Method], tt.answer)
			})
			if err := tt.do(s.client(t, nil)); err != nil {
				t.Errorf("%s after %d: %v", name, status, err)
			}
			want := []string{tt.method + " /repos/acme/shop" + tt.path, tt.method + " /repositories/1001" + tt.path}
			if !slices.Equal(s.requests(), want) {
				t.Errorf("%s after %d: asked %q, want %q", name, status, s.requests(), want)
			}
			if !strings.Contains(bodies[1], tt.body) || bodies[0] != bodies[1] {
				t.Errorf("%s after %d: sent %q", name, status, bodies)
			}
		}
	}
}

func TestRefusedRedirects(t *testing.T) {
	t.Parallel()
	elsewhere := newStub(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("asked another host, with %q", r.Header.Get("Authorization"))
	})
	for name, tt := range map[string]struct {
		to   string
		kind ports.HostKind
		says string
		asks int
	}{
		"another host":   {elsewhere.URL + "/steal", ports.HostInvalid, "another host", 1},
		"another scheme": {"https://127.0.0.1/steal", ports.HostInvalid, "another host", 1},
		"no scheme":      {"//example.com/steal", ports.HostInvalid, "another host", 1},
		"a file":         {"file:///etc/passwd", ports.HostInvalid, "another host", 1},
		"itself":         {"/repos/acme/shop/pulls/12", ports.HostInvalid, "more than 3 times", 4},
		"nothing":        {"", ports.HostTransient, "307", 2},
		"no URL":         {"http://[", ports.HostTransient, "parse Location", 2},
	} {
		s := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
			if tt.to != "" {
				w.Header().Set("Location", tt.to)
			}
			w.WriteHeader(307)
		})
		_, err := s.client(t, nil).Pull(t.Context(), pullTarget)
		wantHostError(t, err, tt.kind)
		if !strings.Contains(err.Error(), tt.says) || len(s.requests()) != tt.asks {
			t.Errorf("%s: %v, asked %d times", name, err, len(s.requests()))
		}
		_, err = s.client(t, nil).CreateComment(t.Context(), pullTarget, "hello")
		wantHostError(t, err, tt.kind)
	}
}

// Names come from webhooks. None may leave its place in the path.
func TestNamesStayInTheirPlace(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "../../app", "%2e%2e", "a?b", "a#b", "a b", "a\nb", "ü", "\x00"} {
		s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/repos/acme/"+name+"/pulls/12" || r.URL.RawQuery != "" {
				t.Errorf("%q leads to %q", name, r.URL)
			}
			send(w, 200, openPull)
		})
		target := pullTarget
		target.Name = name
		_, err := s.client(t, nil).Pull(t.Context(), target)
		if name == "" || name == "." || name == ".." {
			wantHostError(t, err, ports.HostInvalid)
		} else if err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A call for a target without its ids would use a token with too many rights, or with none.
func TestTargetsWithoutIDs(t *testing.T) {
	for _, change := range []func(*ports.Target){
		func(t *ports.Target) { t.Installation = 0 },
		func(t *ports.Target) { t.Installation = -1 },
		func(t *ports.Target) { t.RepoID = 0 },
	} {
		hub := &fake{answer: always(200, openPullJSON)}
		target := pullTarget
		change(&target)
		_, err := hub.client(t, nil).Pull(t.Context(), target)
		wantHostError(t, err, ports.HostInvalid)
		if len(hub.sent) != 0 {
			t.Errorf("sent %v", hub.sent)
		}
	}
	hub := &fake{answer: always(200, `[]`)}
	_, err := hub.client(t, nil).OpenPulls(t.Context(), ports.Target{RepoID: 5, Owner: "acme", Name: "shop"}, time.Time{})
	wantHostError(t, err, ports.HostInvalid)
}

// A linked issue is read only in the repository's present place. A transferred issue belongs
// to another repository.
func TestLinkedIssueStaysInItsRepository(t *testing.T) {
	for to, found := range map[string]bool{
		"/repositories/1001/issues/5":        true,
		"/repositories/10011/issues/5":       false,
		"/repositories/7/issues/5":           false,
		"/repos/acme/private/issues/5":       false,
		"/x/repositories/1001/issues/5":      false,
		"https://example.com/acme/private/5": false,
		"/repositories/1001/../7/issues/5":   false,
	} {
		s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/repos/acme/shop/") {
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusMovedPermanently)
				return
			}
			if r.URL.Path != "/repositories/1001/issues/5" {
				t.Errorf("%s: asked for %s", to, r.URL.Path)
			}
			send(w, 200, map[string]any{"number": 5, "state": "open", "title": "Slow", "body": "Make it fast.", "created_at": "2026-11-20T12:00:00Z"})
		})
		i, err := s.client(t, nil).Source(pullTarget).LinkedIssue(t.Context(), 5)
		if found != (err == nil) || found && i.Body != "Make it fast." || !found && !isNotFound(err) {
			t.Errorf("%s: %+v, %v", to, i, err)
		}
	}
}

// A pull request does not count as an issue, whatever number is named.
func TestPullRequestIsNotALinkedIssue(t *testing.T) {
	hub := &fake{answer: always(200, `{"number":5,"state":"open","created_at":"2026-11-20T12:00:00Z","title":"t","body":"b","pull_request":{}}`)}
	if i, err := hub.client(t, nil).Source(pullTarget).LinkedIssue(t.Context(), 5); !isNotFound(err) {
		t.Errorf("%+v, %v", i, err)
	}
}
