package agents

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

const settingsPath = apptest.SettingsPath

// The worse of the gate and the session decides, and the check says which one that is.
func TestWorseOfGateAndSession(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	for _, x := range []struct {
		name, code, verdict string
		status              string
		rule                int
		conclusion          string
		decision            pipeline.Decision
		title               string
	}{
		{"gate", apptest.Insecure, "approved", "RUNNING", 4, "action_required", pipeline.DecisionNeedsFixes, "1 major"},
		{"session", apptest.Secure, "blocker", "PAUSED", 1, "action_required", pipeline.DecisionNeedsFixes, "Paused"},
		{"both", apptest.Insecure, "blocker", "PAUSED", 1, "action_required", pipeline.DecisionNeedsFixes, "codex"},
		{"neither", apptest.Secure, "approved", "RUNNING", 4, "success", pipeline.DecisionPass, ""},
	} {
		w.reviewers["codex"].says(x.verdict, "It is "+x.verdict+".")
		pr := w.Another(x.name, ghtest.Files{"store/" + x.name + ".go": x.code, "store/" + x.name + "_test.go": "package store\n"})
		w.Idle()
		w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
		s := w.wants(pr, x.status, x.rule, x.conclusion)
		if c := w.Check(pr); s.Decision != string(x.decision) || !strings.Contains(c.Title, x.title) {
			t.Errorf("%s: %s, %q, want %s and %q", x.name, s.Decision, c.Title, x.decision, x.title)
		}
	}
}

// A maintainer's override is about the gate. It does not end a pause, and counts once the session goes on.
func TestOverrideOfAPausedSession(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	w.Repo.Grant("mia", "maintain")
	w.reviewers["codex"].says("blocker", "Stop.")
	pr := w.Another("salt", ghtest.Files{"store/client.go": apptest.Insecure, "store/client_test.go": "package store\n"})
	w.Idle()
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	w.wants(pr, "PAUSED", 1, "action_required")
	pr.Comment("mia", "/review override it is our own certificate")
	w.Idle()
	w.wants(pr, "PAUSED", 1, "action_required")
	if c := w.Check(pr); !strings.Contains(c.Title, "paused") {
		t.Errorf("the title is %q", c.Title)
	}
	pr.Comment("mia", "/review resume")
	w.Idle()
	w.wants(pr, "RUNNING", 1, "success")
}

// In advisory mode a pause does not block the merge either. The agents must still wait.
func TestPauseThatAdvises(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", settings: `, "mode": "advisory"`})
	w.reviewers["codex"].says("blocker", "Stop.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	w.wants(pr, "PAUSED", 1, "neutral")
}

// If the repository is switched off while a cycle runs, there is no decision, and nobody waits for one.
func TestSwitchedOffDuringACycle(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	q := w.waitFor("codex", 1)
	w.Idle()
	w.Repo.Commit("main", ghtest.Files{settingsPath: `{"mode": "off"}`}, "switch it off")
	w.Idle()
	pr.Push(ghtest.Files{"store/More.go": "package store\n"}, "more")
	w.Idle()
	s := w.settled(pr)
	if s.Rule != nil || s.Status != "RUNNING" || s.Detail == "" || !w.session(pr).Stalled {
		t.Errorf("%+v", s)
	}
	if status, body := w.answer(q, result("codex", "blocker", "Stop."), nil); status != http.StatusAccepted {
		t.Errorf("%d %s", status, body)
	}
	w.Idle()
	if s := w.settled(pr); s.Rule != nil || s.Status != "RUNNING" {
		t.Errorf("an answer decided: %+v", s)
	}
}

// A draft that is not reviewed has no decision, and the state says why. Once the draft is ready, its review
// takes up the cycle, so that it can't pass without the reviewers' answers.
func TestDraftThatIsSkipped(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex", settings: `, "drafts": "skip"`})
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: salt", Body: apptest.GoodBody, Draft: true, Head: "salt", Files: apptest.Clean()})
	w.Idle()
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	w.until(pr, "stalled", func(s *sessionState) bool { return s.Cycle != nil && s.Cycle.State == "stalled" })
	s := w.settled(pr)
	w.Idle()
	if s.Rule != nil || s.Status != "RUNNING" || !strings.Contains(s.Detail, "not reviewed") {
		t.Errorf("%+v", s)
	}
	if n := len(w.reviewers["codex"].got("review_request")); n != 0 {
		t.Errorf("%d requests about a draft that is skipped", n)
	}
	w.reviewers["codex"].says("blocker", "Stop.")
	pr.ReadyForReview()
	w.Idle()
	w.waitFor("codex", 1)
	w.wants(pr, "PAUSED", 1, "action_required")
}

// If a pull request is closed during a cycle, nobody waits for the decision, and an answer changes
// nothing on GitHub. The answer counts once the pull request is open again.
func TestClosedDuringACycle(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"answered in time": false, "answered late": true} {
		t.Run(name, func(t *testing.T) {
			set := setup{reviewers: "codex"}
			if late {
				set.sessions, set.minute = `{"deadline": 1}`, time.Second
			}
			w := start(t, set)
			pr := w.change("Salt")
			w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
			q := w.waitFor("codex", 1)
			pr.Close()
			w.Idle()
			if s := w.settled(pr); s.Rule != nil {
				t.Errorf("%+v", s)
			}
			if late { // the deadline passes, and nothing comes of it
				time.Sleep(time.Until(w.session(pr).Cycle.Deadline) + time.Second)
			}
			w.GH.Calls.Reset()
			if status, body := w.answer(q, result("codex", "blocker", "Stop."), nil); status != http.StatusAccepted {
				t.Errorf("%d %s", status, body)
			}
			w.Idle()
			if writes := w.GH.Calls.Writes(); len(writes) != 0 {
				t.Errorf("an answer about a closed pull request: %v", writes)
			}
			w.settled(pr)
			pr.Reopen()
			w.wants(pr, "PAUSED", 1, "action_required")
			if n := len(w.reviewers["codex"].got("review_request")); n != 1 {
				t.Errorf("%d requests about one head", n)
			}
		})
	}
}

// A group in the merge queue has no session: nobody is asked about it.
func TestMergeGroupHasNoSession(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	w.wants(pr, "RUNNING", 4, "success")
	w.reviewers["codex"].says("blocker", "Stop.")
	g := w.Repo.MergeGroup(pr)
	w.Idle()
	if c := w.Newest(w.Repo.Checks.On(g.HeadSHA)); c.Conclusion != "success" {
		t.Errorf("the group's check is %s (%s)", c.Conclusion, c.Title)
	}
	if n := len(w.reviewers["codex"].got("review_request")); n != 1 {
		t.Errorf("%d requests, want only the one about the pull request", n)
	}
}

// A group in the merge queue does not pass while the session of one of its pull requests is paused, even
// if the pull request was paused after the group's review, or passed by hand.
func TestMergeGroupOfAPausedSession(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	w.Repo.Grant("carol", "admin")
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	w.wants(pr, "RUNNING", 4, "success")
	group := w.Repo.MergeGroup(pr)
	wants := func(conclusion, title string) {
		t.Helper()
		w.Idle()
		if c := w.Newest(w.Repo.Checks.On(group.HeadSHA)); c.Conclusion != conclusion || !strings.Contains(c.Title, title) {
			t.Errorf("the group's check is %s (%s), want %s with %q", c.Conclusion, c.Title, conclusion, title)
		}
	}
	wants("success", "")
	w.reviewers["codex"].says("blocker", "Stop.")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "More.")
	w.wants(pr, "PAUSED", 1, "action_required")
	why := fmt.Sprintf("pull request %d is paused by rule 1 (codex)", pr.Number)
	wants("action_required", why)
	pr.Comment("carol", "/review override The release can't wait.")
	w.Idle()
	group = w.Repo.MergeGroup(pr)
	wants("action_required", why)
	pr.Comment("carol", "/review resume")
	wants("success", "")
}

// A group's check is never green if its pull request is paused while the group's review still runs: the
// merge queue would act on it at once.
func TestMergeGroupOfASessionPausedMeanwhile(t *testing.T) {
	t.Parallel()
	var armed atomic.Bool
	asked, proceed := make(chan bool, 1), make(chan bool)
	_, set := modelReviewer(t, func(*llmtest.Request) llmtest.Reply {
		if armed.CompareAndSwap(true, false) {
			asked <- true
			<-proceed
		}
		return llmtest.Text(`{"findings": []}`)
	}, "codex")
	w := start(t, set)
	w.reviewers["codex"].says("approved", "Fine.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Done.")
	w.wants(pr, "RUNNING", 4, "success")
	armed.Store(true)
	group := w.Repo.MergeGroup(pr)
	<-asked
	w.reviewers["codex"].says("blocker", "Stop.")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "More.")
	w.until(pr, "paused", func(s *sessionState) bool { return s.Status == "PAUSED" })
	key := ports.Target{Kind: ports.TargetGroup, RepoID: w.Repo.ID(), HeadSHA: group.HeadSHA}.Key()
	w.Until("a new decision about the group is wanted", func() bool {
		st, err := w.App.Inside().Store.Target(w.Context(), key)
		return err == nil && st.Wanted == 2
	})
	close(proceed)
	w.Idle()
	for _, c := range w.Repo.Checks.On(group.HeadSHA) {
		if c.Conclusion != "action_required" {
			t.Errorf("a check of the group was %s (%s)", c.Conclusion, c.Title)
		}
	}
}

// Two pull requests with one head share a check, but each has its own session. The pause of one blocks
// both until it ends.
func TestSessionsOnOneHead(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex"})
	w.Repo.Grant("carol", "write")
	w.Release()
	w.reviewers["codex"].says("blocker", "Stop.")
	one := w.Open(apptest.Clean())
	w.Idle()
	two := w.Twin("feat: backport")
	w.Idle()
	w.speak(one, "claude", pipeline.TriggerMilestone, "Done.")
	w.wants(one, "PAUSED", 1, "action_required")
	if s := w.state(two); s.Status != "RUNNING" || s.Rule != nil {
		t.Errorf("the session of the other one: %+v", s)
	}
	w.reviewers["codex"].says("approved", "Fine.")
	w.speak(two, "gemini", pipeline.TriggerMilestone, "Done.")
	w.wants(two, "RUNNING", 4, "action_required") // because of the other one
	if s := w.state(one); s.Status != "PAUSED" {
		t.Errorf("the answer about #2 ended the pause of #1: %+v", s)
	}
	if a, b := w.reviewers["codex"].about(one.Number), w.reviewers["codex"].about(two.Number); len(a) != 1 || len(b) != 1 || a[0].ID == b[0].ID || a[0].HeadSHA != b[0].HeadSHA {
		t.Errorf("requests %+v and %+v", a, b)
	}
	two.Comment("carol", "/review resume") // there is nothing to resume
	w.Idle()
	w.wants(one, "PAUSED", 1, "action_required")
	one.Comment("carol", "/review resume")
	w.Idle()
	w.wants(one, "RUNNING", 1, "success")
}
