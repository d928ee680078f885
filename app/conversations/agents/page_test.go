package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/outbound"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/needs"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

// pageBetween returns what docs/coding-agents.md has between two texts.
func pageBetween(t *testing.T, from, to string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/coding-agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), from)
	text, _, closed := strings.Cut(text, to)
	if !ok || !closed {
		t.Fatalf("docs/coding-agents.md has nothing between %q and %q", from, to)
	}
	return text
}

// The page shows a request with all its fields and no others.
func TestPageShowsARequest(t *testing.T) {
	t.Parallel()
	var shown map[string]any
	if err := json.Unmarshal([]byte(pageBetween(t, "```json\n", "```\n")), &shown); err != nil {
		t.Fatal(err)
	}
	w := start(t, setup{reviewers: "codex"})
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.Repo.Dispatch("alice", "milestone", map[string]any{"id": "m-1", "pr": pr.Number, "agent": "claude", "summary": "Hashes.", "files": []string{"store/Salt.go"}})
	var sent map[string]any
	if err := json.Unmarshal(w.waitFor("codex", 1).body, &sent); err != nil {
		t.Fatal(err)
	}
	w.wants(pr, "RUNNING", 4, "success")
	if diff := cmp.Diff(fields(shown), fields(sent)); diff != "" {
		t.Errorf("the page's request has other fields (-page +sent):\n%s", diff)
	}
}

// fields lists the fields of an object with the types of their values.
func fields(o map[string]any) (list []string) {
	for name, v := range o {
		kind := "object"
		switch v.(type) {
		case string:
			kind = "text"
		case float64:
			kind = "number"
		case []any:
			kind = "list"
		}
		list = append(list, name+": "+kind)
	}
	slices.Sort(list)
	return list
}

// The page's dispatch starts a cycle.
func TestPageShowsADispatch(t *testing.T) {
	t.Parallel()
	var d struct {
		Kind    string         `json:"event_type"`
		Payload map[string]any `json:"client_payload"`
	}
	if err := json.Unmarshal([]byte(pageBetween(t, "<<'END'\n", "END\n")), &d); err != nil {
		t.Fatal(err)
	}
	w := start(t, setup{reviewers: "codex"})
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	d.Payload["pr"] = pr.Number
	w.Repo.Dispatch("alice", d.Kind, d.Payload)
	if q := w.waitFor("codex", 1); q.Context["claude_summary"] != d.Payload["summary"] {
		t.Errorf("asked %+v", q)
	}
	if s := w.wants(pr, "RUNNING", 4, "success"); s.Cycle == nil || s.Cycle.Triggers[0] != string(pipeline.TriggerMilestone) {
		t.Errorf("cycle %+v", s.Cycle)
	}
}

// The ten lines of shell wait for the verdict and print it. The exit code says whether to go on.
func TestPageInTenLines(t *testing.T) {
	t.Parallel()
	if n := strings.Count(pageBetween(t, " ask.sh\n", "```\n"), "\n"); n > 10 {
		t.Errorf("ask.sh has %d lines", n)
	}
	w := start(t, setup{reviewers: "codex gemini"})
	w.reviewers["codex"].says("concerns", "Hash it.")
	w.reviewers["gemini"].says("concerns", "Salt it.")
	claude := w.newCoder("claude", fromPage(t, t.TempDir(), "ask.sh"))
	claude.pr = w.change("Salt")
	claude.reports("milestone", "m-1", "Hashes.", 1, "PAUSED", "rule 2: concerns of codex and gemini", `codex (concerns): "Hash it."`)
	for _, name := range []string{"codex", "gemini"} {
		w.reviewers[name].says("approved", "Fine.")
	}
	claude.reports("milestone", "m-2", "Salts.", 0, "RUNNING")
	claude.reports("milestone", "m-2", "Salts.", 0, "RUNNING")
	if n := len(w.reviewers["codex"].got("review_request")); n != 2 {
		t.Errorf("codex was asked %d times, want 2", n)
	}
	claude.token = "rg_wrong"
	claude.reports("milestone", "m-3", "More.", 2)
}

// The page's reviewer answers only signed requests, and sends an answer again if it was not accepted.
func TestPageReviewer(t *testing.T) {
	t.Parallel()
	w := start(t, setup{})
	pr := w.change("Salt")
	answers := make(chan []byte, 10)
	status := make(chan int, 2)
	status <- http.StatusServiceUnavailable
	status <- http.StatusAccepted
	results := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = outbound.Verify([]byte(secret), r.Header, body, time.Now())
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case code := <-status:
			rw.WriteHeader(code)
		default:
			t.Error("an answer that was accepted came again")
		}
		answers <- body
	}))
	t.Cleanup(results.Close)
	addr := needs.FreeAddr(t)
	w.serveByPython(fromPage(t, t.TempDir(), "reviewer.py"), addr)
	body := []byte(fmt.Sprintf(`{"type": "review_request", "id": "r-1", "repository": "acme/shop", "base_sha": %q, "head_sha": %q, "results_url": %q, "reviewer": "crypto"}`,
		pr.BaseSHA(), pr.HeadSHA(), results.URL))
	for _, x := range []struct {
		secret string
		at     time.Time
		status int
	}{
		{"another secret of reviewers", time.Now(), http.StatusUnauthorized},
		{secret, time.Now().Add(-outbound.Tolerance - time.Minute), http.StatusUnauthorized},
		{secret, time.Now(), http.StatusAccepted},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range outbound.Sign([]byte(x.secret), x.at, body) {
			r.Header[name] = values
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != x.status {
			t.Errorf("status %d, want %d", resp.StatusCode, x.status)
		}
	}
	for range 2 {
		select {
		case text := <-answers:
			if d, wrong := fourrules.Decode("the answer", text); len(wrong) > 0 || len(d.Results) != 1 || d.Results[0].Payload.Verdict != fourrules.Approved {
				t.Errorf("answered %s: %v", text, wrong)
			}
		case <-time.After(apptest.Patience):
			t.Fatal("there is no answer")
		}
	}
}
