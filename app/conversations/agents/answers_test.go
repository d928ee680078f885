package agents

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

// garbage lists answers that the reviewer codex may not give, and what the refusal must say.
var garbage = []struct{ name, body, says string }{
	{"Text", "I like it.", "JSON"},
	{"Cut", result("codex", "approved", "Fine.")[:80], "in the middle of a value"},
	{"Number", "4711", "review result"},
	{"Type", strings.Replace(result("codex", "approved", "Fine."), "review_result", "review_request", 1), "review_result"},
	{"Two", "[" + result("codex", "approved", "One.") + "," + result("codex", "blocker", "Two.") + "]", "one review result"},
	{"None", "[]", "one review result"},
	{"Verdict", result("codex", "lgtm", "Fine."), "verdict"},
	{"Reason", result("codex", "blocker", ""), "no reason"},
	{"Name", result("gemini", "approved", "Fine."), "codex was asked"},
	{"Issues", result("codex", "concerns", "Many.", strings.Split(strings.Repeat(major+"\n", 201), "\n")[:201]...), "201 issues"},
	{"Deep", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "deep"},
}

// A reviewer that responds with garbage is asked twice more, with the same id. Then it counts as missing,
// and the pull request says why, long before the deadline.
func TestGarbageInTheResponse(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"}, joinIn(10*time.Millisecond))
	codex := w.reviewers["codex"]
	large := fmt.Sprintf(`{"type": %q}`, strings.Repeat("x", 5<<20))
	type one struct {
		name, body, says string
		asked            int
		pr               *ghtest.PullRequest
	}
	all := map[int]*one{}
	add := func(name, body, says string, asked int) {
		x := &one{name: name, body: body, says: says, asked: asked, pr: w.change(name)}
		all[x.pr.Number] = x
	}
	for _, g := range garbage {
		add(g.name, g.body, g.says, 3)
	}
	add("Large", large, "1 MiB", 1) // not read to its end, so the reviewer is not asked again
	add("Once", "Nice.", "", 2)     // a valid answer when it is asked again
	codex.replies(func(q request) (int, string) {
		if q.Type != "review_request" {
			return http.StatusOK, ""
		}
		x := all[q.Number]
		if x.says == "" && len(codex.about(q.Number)) == 2 {
			return http.StatusOK, result("codex", "approved", "Fine.")
		}
		return http.StatusOK, x.body
	})
	for _, x := range all {
		w.speak(x.pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	}
	for _, x := range all {
		if x.says == "" {
			w.wants(x.pr, "RUNNING", 4, "success")
		} else {
			s := w.wants(x.pr, "PAUSED", 0, "action_required")
			if len(s.Reviewers) != 1 || s.Reviewers[0].State != "missing" || !strings.Contains(s.Reviewers[0].Note, x.says) {
				t.Errorf("%s: reviewers %+v, want a note about %q", x.name, s.Reviewers, x.says)
			}
			if body := w.Comment(x.pr).Body; !strings.Contains(body, "no answer from codex") || len(s.Reviewers) == 1 && !strings.Contains(body, strings.Fields(s.Reviewers[0].Note)[0]) {
				t.Errorf("%s: the comment does not say why:\n%s", x.name, body)
			}
		}
		ids := map[string]bool{}
		got := codex.about(x.pr.Number)
		for _, q := range got {
			ids[q.ID] = true
		}
		if len(got) != x.asked || len(ids) != 1 {
			t.Errorf("%s: asked %d times with %d ids, want %d with one", x.name, len(got), len(ids), x.asked)
		}
	}
}

// The refusal of an answer says what is wrong and where, and the request stays open for a valid answer.
// The first valid one counts: sending it again changes nothing, and a different one is refused.
func TestGarbageForLater(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	q := w.waitFor("codex", 1)
	for _, g := range garbage {
		status, body := w.answer(q, g.body, nil)
		var problem struct {
			Errors []struct{ Detail string }
		}
		err := json.Unmarshal([]byte(body), &problem)
		want := http.StatusUnprocessableEntity
		if !json.Valid([]byte(g.body)) {
			want = http.StatusBadRequest
		}
		if status != want || err != nil || len(problem.Errors) == 0 || !strings.Contains(body, g.says) || !strings.Contains(problem.Errors[0].Detail, "line 1, column ") {
			t.Errorf("%s: %d %.400s, want %d with a place and %q", g.name, status, body, want, g.says)
		}
	}
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	for _, x := range []struct {
		what   string
		body   string
		change func(*http.Request)
		status int
	}{
		{"too long", result("codex", "approved", strings.Repeat("x", 1<<20)), nil, http.StatusRequestEntityTooLarge},
		{"too long, without a Content-Length", result("codex", "approved", strings.Repeat("x", 5<<20)), chunked, http.StatusRequestEntityTooLarge},
		{"empty", " ", nil, http.StatusBadRequest},
		{"not JSON, according to its header", result("codex", "approved", "Fine."), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		{"compressed", result("codex", "approved", "Fine."), func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, http.StatusUnsupportedMediaType},
		{"read", "", func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
	} {
		if status, body := w.answer(q, x.body, x.change); status != x.status {
			t.Errorf("%s: %d %s, want %d", x.what, status, body, x.status)
		}
	}
	w.Idle()
	if s := w.state(pr); s.Settled || s.Rule != nil {
		t.Errorf("garbage decided: %+v", s)
	}
	good := result("codex", "concerns", "There is no salt.")
	for i, x := range []struct {
		body   string
		status int
	}{
		{good, http.StatusAccepted},
		{good, http.StatusOK},
		{result("codex", "approved", "There is salt."), http.StatusConflict},
		{good, http.StatusOK},
	} {
		if status, body := w.answer(q, x.body, nil); status != x.status {
			t.Errorf("answer %d: %d %s, want %d", i+1, status, body, x.status)
		}
	}
	if s := w.wants(pr, "RUNNING", 3, "success"); s.Reviewers[0].Summary != "There is no salt." {
		t.Errorf("%+v", s.Reviewers)
	}
}

// A summary is cut after max_words and says so, even if it is one long word. The rest of an answer is
// bounded, too, and breaks neither the comment nor the database.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", sessions: `{"max_words": 20}`})
	nul := `"a\u0000b\u202e@zoe <img src=x> ` + "`" + `"`
	for name, x := range map[string]struct{ summary, issue, want string }{
		"Words":   {strings.Repeat("salt ", 300), `"long ` + strings.Repeat("y", 9000) + `"`, " … (cut: 20 of 300 words)"},
		"Word":    {strings.Repeat("x", 700_000), `"long"`, "characters)"},
		"Control": {"a\x00b\u202ec", nul, "b"},
		"Twenty":  {strings.TrimSpace(strings.Repeat("salt ", 20)), `"short"`, strings.TrimSpace(strings.Repeat("salt ", 20))},
	} {
		w.reviewers["codex"].says("concerns", x.summary, fmt.Sprintf(`{"severity": "low", "description": %s, "file": %s, "line": 10000000}`, x.issue, x.issue))
		pr := w.change(name)
		w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
		s := w.wants(pr, "RUNNING", 3, "success")
		if len(s.Reviewers) != 1 || !strings.HasSuffix(s.Reviewers[0].Summary, x.want) && name != "Control" || len(s.Reviewers[0].Summary) > 3000 {
			t.Errorf("%s: %.4000s", name, fmt.Sprint(s.Reviewers))
		}
		if c := w.Comment(pr).Body; len(c) > 65_536 || strings.Contains(c, "\x00") || strings.Contains(c, "\u202e") || strings.Contains(c, "@zoe") {
			t.Errorf("%s: the comment has %d bytes:\n%.9000q", name, len(c), c)
		}
		for _, f := range s.Findings {
			if len(f.Message) > 10_000 {
				t.Errorf("%s: a finding's message has %d bytes", name, len(f.Message))
			}
		}
	}
}

// One answer after the deadline counts, and a different one after that is refused.
func TestAnswerAfterTheDeadlineAndAnother(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", sessions: `{"deadline": 1}`, minute: time.Second})
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	q := w.waitFor("codex", 1)
	w.wants(pr, "PAUSED", 0, "action_required")
	late := result("codex", "approved", "Late.")
	if status, body := w.answer(q, late, nil); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	s := w.wants(pr, "RUNNING", 4, "success")
	if len(s.Reviewers) != 1 || !s.Reviewers[0].Late {
		t.Errorf("%+v", s.Reviewers)
	}
	if status, body := w.answer(q, result("codex", "blocker", "No, stop."), nil); status != http.StatusConflict {
		t.Errorf("another answer: %d %s", status, body)
	}
	if status, body := w.answer(q, late, nil); status != http.StatusOK {
		t.Errorf("the same answer: %d %s", status, body)
	}
	w.wants(pr, "RUNNING", 4, "success")
	if n := len(w.reviewers["codex"].got("review_request")); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
