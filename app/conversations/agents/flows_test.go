package agents

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/pipeline"
)

// A blocker stops the agents. They go on only after somebody with write permission who is not an author
// of the change says /review resume.
func TestBlockerAndResume(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", settings: `, "escalation_webhook": {"url": "ESCALATION_URL", "secret_env": "ESCALATION_SECRET", "allow_private": ["127.0.0.1"]}`, sessions: `{"people": ["zoe", "acme/security"]}`})
	w.Repo.Grant("zoe", "write")
	w.Repo.Grant("carol", "write")
	w.reviewers["codex"].says("blocker", "Passwords are logged.", major)
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Logs what comes in.")
	w.wants(pr, "PAUSED", 1, "action_required")
	if e := w.reviewers[""].got("escalation"); len(e) != 1 || e[0].Number != pr.Number || e[0].Cycle != 1 || strings.Join(e[0].Reviewers, " ") != "codex" || strings.Join(e[0].People, " ") != "zoe acme/security" || e[0].Summary != "Passwords are logged." {
		t.Errorf("escalations %+v", e)
	}
	body := w.Comment(pr).Body
	for _, text := range []string{"@zoe", "@acme/security", "/review resume"} {
		if !strings.Contains(body, text) {
			t.Errorf("the comment lacks %q:\n%s", text, body)
		}
	}

	// A push does not end the pause, nor does a cycle in which all approve.
	w.reviewers["codex"].says("approved", "Better.")
	pr.Push(ghtest.Files{"store/Salt.go": "package store\n\n// Salt is new.\nfunc Salt() int { return 3 }\n"}, "fix: log nothing")
	w.wants(pr, "PAUSED", 1, "action_required")
	w.speak(pr, "claude", pipeline.TriggerRequestReview, "Logs nothing.")
	w.wants(pr, "PAUSED", 4, "action_required")

	// Refused: the author of the change, and somebody who may only read.
	for _, login := range []string{"alice", "bob"} {
		c := pr.Comment(login, "/review resume")
		w.Idle()
		if got := w.Reactions(pr, c.ID); len(got) != 1 || got[0] != "confused" {
			t.Errorf("%s: reactions %v", login, got)
		}
		if s := w.settled(pr); s.Status != "PAUSED" {
			t.Errorf("%s resumed the session", login)
		}
	}
	c := pr.Comment("carol", "/review resume")
	w.Idle()
	w.wants(pr, "RUNNING", 4, "success")
	if got := w.Reactions(pr, c.ID); len(got) != 2 || got[1] != "rocket" {
		t.Errorf("reactions %v", got)
	}
	if e := w.reviewers[""].got("escalation"); len(e) != 1 {
		t.Errorf("%d escalations, want one", len(e))
	}
}

// Two concerns pause the session, and one clarification has both. A cycle that clears them ends the
// pause.
func TestConcernsAndClarification(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex gemini"})
	w.reviewers["codex"].says("concerns", "There is no salt.", major)
	w.reviewers["gemini"].says("concerns", "There is no test.", `{"severity": "medium", "description": "Nothing tests it."}`)
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	s := w.wants(pr, "PAUSED", 2, "action_required")
	for _, text := range []string{"2 of 2 reviewers have concerns", "The hash has no salt.", "Nothing tests it."} {
		if !strings.Contains(s.Clarification, text) {
			t.Errorf("the clarification lacks %q: %s", text, s.Clarification)
		}
	}
	for name, r := range w.reviewers {
		if c := r.got("clarification_request"); len(c) != 1 || c[0].Clarification != s.Clarification || c[0].Rule != 2 {
			t.Errorf("%s got the clarifications %+v", name, c)
		}
		r.says("approved", "Settled.")
	}
	pr.Push(ghtest.Files{"store/Salt.go": "package store\n\n// Salt is salted.\nfunc Salt() int { return 4 }\n"}, "fix: salt it")
	w.wants(pr, "PAUSED", 2, "action_required") // a push alone clears nothing
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Salted and tested.")
	w.wants(pr, "RUNNING", 4, "success")
	if s := w.state(pr); len(s.Concerns) != 0 {
		t.Errorf("concerns %+v", s.Concerns)
	}
}

// Events that come close together join one cycle. Those that come while it runs join the next one.
func TestEventsJoin(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"}, joinIn(500*time.Millisecond))
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "One.")
	w.speak(pr, "gemini", pipeline.TriggerBlocker, "Two.")
	q := w.waitFor("codex", 1)
	if q.Context["claude_summary"] != "One." || q.Context["gemini_summary"] != "Two." || strings.Join(q.Targets, " ") != "claude gemini" {
		t.Errorf("the first cycle: %+v", q)
	}
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Three.")
	w.speak(pr, "claude", pipeline.TriggerRequestReview, "Four.")
	w.Idle()
	if n := len(w.reviewers["codex"].got("review_request")); n != 1 {
		t.Errorf("%d requests while a cycle runs, want 1", n)
	}
	status, body := w.answer(q, result("codex", "approved", "Fine."), nil)
	if status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	q = w.waitFor("codex", 2)
	if q.Context["claude_summary"] != "Four." || len(q.Targets) != 1 {
		t.Errorf("the second cycle: %+v", q)
	}
	w.answer(q, result("codex", "approved", "Fine."), nil)
	w.wants(pr, "RUNNING", 4, "success")
	if s := w.state(pr); s.Cycle.Number != 2 || s.Cycle.State != sessions.CycleDecided {
		t.Errorf("cycle %+v", s.Cycle)
	}
}

// While the answer of a reviewer is awaited, the check says so and is not green. A late answer is kept
// and shown, and the cycle is decided again.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex gemini", sessions: `{"deadline": 3}`, minute: time.Second})
	w.reviewers["gemini"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	q := w.waitFor("codex", 1)
	w.until(pr, "waiting in the check", func(*sessions.State) bool {
		c := pr.CheckRuns()
		last := c[len(c)-1]
		return last.Completed() && last.Conclusion == "action_required" && strings.Contains(last.Title, "codex")
	})
	w.wants(pr, "PAUSED", 0, "action_required") // once the deadline has passed
	if status, body := w.answer(q, result("codex", "concerns", "Late, and not happy."), nil); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	s := w.wants(pr, "RUNNING", 3, "success")
	if len(s.Reviewers) != 2 || s.Reviewers[0].Reviewer != "codex" || !s.Reviewers[0].Late || s.Reviewers[0].Verdict != "concerns" {
		t.Errorf("reviewers %+v", s.Reviewers)
	}
	if body := w.Comment(pr).Body; !strings.Contains(body, "Late, and not happy.") {
		t.Errorf("the comment lacks the late answer:\n%s", body)
	}
}

// After a push during a cycle, the reviewers are asked about the new head. An answer about the old one
// is kept, marked as outdated, and decides nothing.
func TestPushDuringACycle(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	old := w.waitFor("codex", 1)
	pr.Push(ghtest.Files{"store/Salt.go": "package store\n\n// Salt is salted.\nfunc Salt() int { return 4 }\n"}, "fix: salt it")
	q := w.waitFor("codex", 2)
	if q.HeadSHA != pr.HeadSHA() || q.HeadSHA == old.HeadSHA || q.ID == old.ID || q.Context["claude_summary"] != "Hashes." {
		t.Errorf("asked again: %+v", q)
	}
	if status, body := w.answer(old, result("codex", "blocker", "The old head is bad."), nil); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := w.answer(q, result("codex", "approved", "The new head is fine."), nil); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	w.wants(pr, "RUNNING", 4, "success")
	body := w.Comment(pr).Body
	if !strings.Contains(body, "The new head is fine.") || !strings.Contains(body, old.HeadSHA[:7]) {
		t.Errorf("the comment lacks the outdated answer:\n%s", body)
	}
}

// The fallback begins one cycle. It begins another only after an event, never after itself, and never
// while the session is paused. A restart neither loses nor repeats it.
func TestFallback(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", sessions: `{"fallback": 2}`, minute: time.Second})
	codex := w.reviewers["codex"]
	codex.says("approved", "Fine.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	w.waitFor("codex", 1)
	q := w.waitFor("codex", 2) // the fallback: rule 4 has restarted its timer
	if q.Context["claude_summary"] != "Hashes." || strings.Join(q.Targets, " ") != "claude" {
		t.Errorf("the fallback's request: %+v", q)
	}
	w.settled(pr)
	w.Idle()
	if row := w.session(pr); !row.FallbackAt.IsZero() || row.Cycle.Number != 2 || !row.Cycle.Fallback() {
		t.Errorf("after the fallback: %+v", row)
	}
	w.speak(pr, "claude", pipeline.TriggerMilestone, "More.")
	w.waitFor("codex", 3)
	w.settled(pr)
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.StartApp()
	w.waitFor("codex", 4)
	w.settled(pr)
	if row := w.session(pr); !row.FallbackAt.IsZero() || row.Cycle.Number != 4 {
		t.Errorf("after the second fallback: %+v", row)
	}
	codex.says("blocker", "Stop.")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Even more.")
	w.waitFor("codex", 5)
	w.settled(pr)
	if row := w.session(pr); !row.FallbackAt.IsZero() || !row.State.Paused() {
		t.Errorf("a paused session waits for a fallback: %+v", row)
	}
}
