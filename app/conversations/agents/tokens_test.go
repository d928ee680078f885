package agents

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

// A token works for one repository and one agent, as long as it is valid.
func TestTokensOfAgents(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"}, joinIn(time.Hour))
	pr, other, closed := w.change("Salt"), w.change("Pepper"), w.change("Oil")
	closed.Close()
	bank := w.GH.Repo("acme/bank")
	bank.Commit("main", ghtest.Files{"README.md": "# bank\n"}, "start")
	bank.Grant("alice", "write")
	its := bank.OpenPR(ghtest.PR{Head: "change", Files: ghtest.Files{"a.go": "package a\n"}})
	for its.Number <= closed.Number { // so that acme/shop has no pull request with its number
		its = bank.OpenPR(ghtest.PR{Head: fmt.Sprintf("change-%d", its.Number), Files: ghtest.Files{"a.go": fmt.Sprintf("package a%d\n", its.Number)}})
	}
	off := w.GH.Repo("acme/off")
	off.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"mode": "off"}`}, "start")
	silent := off.OpenPR(ghtest.PR{Head: "change", Files: ghtest.Files{"a.go": "package a\n"}})
	w.Idle()

	token, _ := w.token("claude")
	expired, _ := w.token("claude", func(t *ports.APIToken) { t.ExpiresAt = time.Now().Add(-time.Second) })
	forOff, _ := w.token("claude", func(t *ports.APIToken) { t.Repository = w.repository(off) })
	gemini, _ := w.token("gemini")
	event := func(id string, n int) map[string]any {
		return map[string]any{"id": id, "pr": n, "kind": "milestone", "summary": "Hashes."}
	}
	named := func(agent string) map[string]any {
		e := event("m-9", pr.Number)
		e["agent"] = agent
		return e
	}
	for _, x := range []struct {
		what, token string
		event       map[string]any
		status      int
	}{
		{"right", token, event("m-1", pr.Number), http.StatusAccepted},
		{"the same again", token, event("m-1", pr.Number), http.StatusAccepted},
		{"the same id about another pull request", token, event("m-1", other.Number), http.StatusConflict},
		{"another agent's event with the same id", gemini, event("m-1", other.Number), http.StatusAccepted},
		{"its own name", token, named("claude"), http.StatusAccepted},
		{"another agent's name", token, named("gemini"), http.StatusForbidden},
		{"an unknown pull request", token, event("m-2", 4711), http.StatusNotFound},
		{"a pull request of another repository", token, event("m-3", its.Number), http.StatusNotFound},
		{"a closed pull request", token, event("m-4", closed.Number), http.StatusConflict},
		{"a repository that is switched off", forOff, event("m-5", silent.Number), http.StatusConflict},
		{"expired", expired, event("m-6", pr.Number), http.StatusUnauthorized},
		{"cut", token[:len(token)-1], event("m-7", pr.Number), http.StatusUnauthorized},
		{"empty", "", event("m-8", pr.Number), http.StatusUnauthorized},
	} {
		if status, answer := w.call("POST", "/api/v1/events", x.token, x.event); status != x.status {
			t.Errorf("%s: %d %v, want %d", x.what, status, answer, x.status)
		} else if d := answer["duplicate"]; d != nil && d != (x.what == "the same again") {
			t.Errorf("%s: duplicate is %v", x.what, d)
		}
	}
	for path, want := range map[string]int{
		fmt.Sprintf("acme/shop/%d", pr.Number):     http.StatusOK,
		fmt.Sprintf("ACME/Shop/%d", pr.Number):     http.StatusOK,
		fmt.Sprintf("acme/bank/%d", its.Number):    http.StatusNotFound,
		fmt.Sprintf("acme/bank/%d", pr.Number):     http.StatusNotFound,
		fmt.Sprintf("acme/off/%d", silent.Number):  http.StatusNotFound,
		"acme/shop/4711":                           http.StatusNotFound,
		fmt.Sprintf("acme/shop/0%d", pr.Number):    http.StatusNotFound,
		fmt.Sprintf("acme/shop/%d", closed.Number): http.StatusOK,
	} {
		if status, answer := w.call("GET", "/api/v1/pulls/"+path, token, nil); status != want {
			t.Errorf("GET %s: %d %v, want %d", path, status, answer, want)
		}
	}
	if row := w.session(pr); row.Pending != 2 || row.Cycle.Number != 0 {
		t.Errorf("%d events wait for cycle %d", row.Pending, row.Cycle.Number+1)
	}
}

// A revoked token stops working within five seconds.
func TestRevokedToken(t *testing.T) {
	t.Parallel()
	w := start(t, setup{})
	pr := w.change("Salt")
	token, id := w.token("claude")
	read := func() int {
		status, _ := w.call("GET", fmt.Sprintf("/api/v1/pulls/acme/shop/%d", pr.Number), token, nil)
		return status
	}
	if status := read(); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if err := w.App.Inside().Store.RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	revoked := time.Now()
	for status := http.StatusOK; status != http.StatusUnauthorized; {
		asked := time.Since(revoked)
		if status = read(); status != http.StatusUnauthorized && asked > 5*time.Second {
			t.Fatalf("status %d, asked %s after it was revoked", status, asked)
		}
		time.Sleep(100 * time.Millisecond) // a token may read 300 times a minute
	}
}

// At most 50 events wait for the next cycle of a pull request. Those of other pull requests are not
// refused.
func TestManyWaitingEvents(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"}, joinIn(time.Hour))
	pr, other := w.change("Salt"), w.change("Pepper")
	one, _ := w.token("claude")
	two, _ := w.token("gemini")
	say := func(n int, pr *ghtest.PullRequest) (int, map[string]any) {
		token := one
		if n > 25 {
			token = two
		}
		return w.call("POST", "/api/v1/events", token, map[string]any{"id": fmt.Sprint("m-", n), "pr": pr.Number, "kind": "blocker", "summary": "Stuck."})
	}
	for n := 1; n <= ports.MaxSessionWaiting; n++ {
		if status, answer := say(n, pr); status != http.StatusAccepted {
			t.Fatalf("event %d: %d %v", n, status, answer)
		}
	}
	if status, answer := say(51, pr); status != http.StatusTooManyRequests {
		t.Errorf("event 51: %d %v", status, answer)
	}
	if status, answer := say(50, pr); status != http.StatusAccepted || answer["duplicate"] != true {
		t.Errorf("event 50 again: %d %v", status, answer)
	}
	if status, answer := say(51, other); status != http.StatusAccepted || answer["duplicate"] != false {
		t.Errorf("the same event about another pull request: %d %v", status, answer)
	}
	if row := w.session(pr); row.Pending != ports.MaxSessionWaiting {
		t.Errorf("%d events wait", row.Pending)
	}
}
