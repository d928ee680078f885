package agents

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

// remoteAgent is an item of the server's agents: a reviewer of sessions.
func remoteAgent(name, url, allow string) string {
	return fmt.Sprintf(`,{"id": %q, "name": %q, "kind": "webhook", "description": "Reviews.", "session": true,
		"webhook": {"url": %q, "secret_env": "REVIEWER_SECRET"%s}}`, name, name, url, allow)
}

const loopback = `, "allow_private": ["127.0.0.1"]`

// Reviewers at addresses that are not allowed are not called. The pull request says who did not answer
// and why, and shows nothing of the URL's path and query.
func TestPrivateReviewersAreNotCalled(t *testing.T) {
	t.Parallel()
	var called atomic.Int64
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			called.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for name, x := range map[string]struct{ url, allow, says string }{
		"a name that resolves to loopback":      {"https://localhost:" + port + "/hook/s3cret?key=t0psecret", "", "not a public address"},
		"another network is allowed":            {"http://localhost:" + port + "/hook/s3cret?key=t0psecret", `, "allow_private": ["10.0.0.0/8"]`, "not a public address"},
		"the same name with a dot at its end":   {"https://localhost.:" + port + "/hook/s3cret?key=t0psecret", "", ""},
		"http, and other addresses are allowed": {"http://LOCALHOST:" + port + "/hook/s3cret?key=t0psecret", `, "allow_private": ["127.0.0.2", "169.254.0.0/16"]`, "not a public address"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, setup{agents: remoteAgent("codex", x.url, x.allow), policies: `,"codex"`, sessions: `{"deadline": 2}`, minute: time.Second}, secretOf("codex"))
			pr := w.change("Salt")
			w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
			s := w.settled(pr)
			if s.Status != "PAUSED" || s.Rule == nil || *s.Rule != 0 {
				t.Errorf("%+v", s)
			}
			body := w.Comment(pr).Body
			if len(s.Reviewers) != 1 || !strings.Contains(s.Reviewers[0].Note, x.says) || !strings.Contains(body, "no answer from codex") || !strings.Contains(body, x.says) {
				t.Errorf("reviewers %+v:\n%s", s.Reviewers, body)
			}
			check := w.Check(pr)
			for _, text := range []string{body, check.Title, check.Summary, check.Text, fmt.Sprintf("%+v", s)} {
				for _, secret := range []string{"s3cret", "t0psecret", "/hook", port} {
					if strings.Contains(text, secret) {
						t.Errorf("%q is shown:\n%s", secret, text)
					}
				}
			}
		})
	}
	if n := called.Load(); n != 0 {
		t.Errorf("%d connections to an address that must not be called", n)
	}
}

// Redirects of reviewers are never followed.
func TestRedirectsOfReviewers(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		followed.Add(1)
		_, _ = io.WriteString(w, result("codex", "approved", "Fine."))
	}))
	t.Cleanup(target.Close)
	var status atomic.Int64
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Location", target.URL)
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(own.Close)
	w := start(t, setup{agents: remoteAgent("codex", own.URL, loopback), policies: `,"codex"`}, secretOf("codex"))
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		status.Store(int64(code))
		pr := w.change(fmt.Sprintf("Salt%d", code))
		w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
		s := w.wants(pr, "PAUSED", 0, "action_required")
		if len(s.Reviewers) != 1 || !strings.Contains(s.Reviewers[0].Note, "redirects") || !strings.Contains(w.Comment(pr).Body, "redirects") {
			t.Errorf("%d: %+v:\n%s", code, s.Reviewers, w.Comment(pr).Body)
		}
		if text := w.Comment(pr).Body; strings.Contains(text, target.URL) {
			t.Errorf("%d: the comment repeats what the reviewer sent:\n%s", code, text)
		}
	}
	if n := followed.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// hanging is a reviewer that takes requests and never completes an answer.
type hanging struct {
	url  string
	held atomic.Int64 // requests in progress
}

// hangs starts such a reviewer. It reports each request on came, and then calls drip again and again,
// until release is closed or the connection ends.
func hangs(t *testing.T, came chan<- struct{}, release <-chan struct{}, drip func(http.ResponseWriter)) *hanging {
	t.Helper()
	h := &hanging{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		h.held.Add(1)
		defer h.held.Add(-1)
		came <- struct{}{}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-release:
				return
			case <-r.Context().Done():
				return
			case <-tick.C:
				drip(w)
			}
		}
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// Reviewers that are slow, never end, don't listen, or close the connection keep nobody waiting. Other
// pull requests go on, although these reviewers take all workers that send requests. Their own pull
// request waits no longer than the deadline.
func TestSlowReviewers(t *testing.T) {
	t.Parallel()
	came, release := make(chan struct{}, 100), make(chan struct{})
	silent := hangs(t, came, release, func(http.ResponseWriter) {})
	endless := hangs(t, came, release, func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, " ")
		w.(http.Flusher).Flush()
	})
	dead := httptest.NewServer(nil)
	dead.Close()
	rude := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			c.Close()
		}
	}))
	t.Cleanup(rude.Close)
	agents, policies := "", ""
	names := []string{"dead", "endless", "rude", "silent"}
	for i, url := range []string{dead.URL, endless.url, rude.URL, silent.url} {
		agents += remoteAgent(names[i], url, loopback)
		policies += fmt.Sprintf(",%q", names[i])
	}
	w := start(t, setup{agents: agents, policies: policies, sessions: `{"deadline": 4}`, minute: time.Second}, func(a *apptest.World) {
		a.Workers = 2
		for _, name := range names {
			a.Secrets[name] = secret
		}
	})
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	<-came
	<-came // all workers that send requests are taken
	other := w.Another("Pepper", ghtest.Files{"store/Pepper.go": "package store\n"})
	w.Until("the other pull request is reviewed", func() bool {
		runs := other.CheckRuns()
		return len(runs) > 0 && runs[len(runs)-1].Completed()
	})
	s := w.settled(pr)
	if silent.held.Load() != 1 || endless.held.Load() != 1 {
		t.Error("the reviews waited until the requests were given up")
	}
	if s.Status != "PAUSED" || s.Rule == nil || *s.Rule != 0 || len(s.Reviewers) != len(names) {
		t.Errorf("%+v", s)
	}
	for _, r := range s.Reviewers {
		if r.State != "missing" || r.Note == "" {
			t.Errorf("%+v", r)
		}
	}
	if c := w.Check(pr); c.Conclusion != "action_required" {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
	close(release) // so that the App need not end these requests
	for _, name := range names {
		if body := w.Comment(pr).Body; !strings.Contains(body, name) {
			t.Errorf("the comment does not name %s:\n%s", name, body)
		}
	}
}
