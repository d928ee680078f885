package agents

import (
	"net/http"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The App is restarted between the request and the answer. Nobody is asked twice about one head, and
// the cycle is decided once.
func TestRestartBetweenRequestAndAnswer(t *testing.T) {
	t.Parallel()
	w := start(t, setup{reviewers: "codex gemini"})
	w.reviewers["gemini"].says("concerns", "There is no test.")
	pr := w.change("Salt")
	w.speak(pr, "claude", pipeline.TriggerMilestone, "Hashes.")
	q := w.waitFor("codex", 1)
	w.waitFor("gemini", 1)
	w.Idle()
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.StartApp()
	w.Idle()
	if status, body := w.answer(q, result("codex", "concerns", "There is no salt."), nil); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	w.wants(pr, "PAUSED", 2, "action_required")
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.StartApp()
	w.Idle()
	if s := w.wants(pr, "PAUSED", 2, "action_required"); s.Cycle.Number != 1 {
		t.Errorf("cycle %+v", s.Cycle)
	}
	for name, r := range w.reviewers {
		if n, m := len(r.got("review_request")), len(r.got("clarification_request")); n != 1 || m != 1 {
			t.Errorf("%s was asked %d times, and got %d clarifications", name, n, m)
		}
	}
}

// A server is killed while it asks reviewers or publishes its decision, so it releases nothing. The next
// one asks with the same id, and decides once.
func TestKilledInACycle(t *testing.T) {
	t.Parallel()
	const editComment = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"
	for name, at := range sample.Map(t, 1, map[string]*apptest.Request{
		"asking":     nil,
		"deciding":   new(apptest.At(editComment, 1, false)),
		"publishing": new(apptest.At(editComment, 1, true)),
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
			repo := gh.Repo("acme/shop")
			repo.Grant("alice", "write")
			repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
			codex, gemini := serve(t, "codex"), serve(t, "gemini")
			var layer apptest.World
			apptest.WithServer(map[string]string{
				"review-agents.json":      "[" + remoteAgent("codex", codex.url, loopback)[1:] + remoteAgent("gemini", gemini.url, loopback) + "]",
				"review-composition.json": `[{"id": "reviewers", "description": "Reviewers.", "priority": 50, "trigger": {"type": "always"}, "dispatch": {"agents": ["codex", "gemini"]}}]`,
			})(&layer)
			server := apptest.NewChild(t, gh)
			server.Settings.Config, server.Settings.PublicURL = layer.Server, apptest.PublicURL
			server.Settings.ReviewerSecrets = map[string]string{"codex": secret, "gemini": secret}
			server.Start()
			pr := repo.OpenPR(ghtest.PR{Title: "feat: salt", Body: apptest.GoodBody, Head: "salt", Files: apptest.Clean()})
			server.Idle()
			speak := func() {
				repo.Dispatch("alice", "milestone", map[string]any{"id": "m-1", "pr": pr.Number, "agent": "claude", "summary": "Hashes."})
			}
			codex.says("concerns", "There is no salt.")
			if at == nil {
				// It dies before the first answer is complete.
				asked, hold := make(chan struct{}, 10), make(chan struct{})
				gemini.replies(func(q request) (int, string) {
					if q.Type != "review_request" {
						return http.StatusOK, ""
					}
					asked <- struct{}{}
					<-hold
					return http.StatusOK, result("gemini", "concerns", "There is no test.")
				})
				speak()
				<-asked
				server.Kill()
				close(hold)
			} else {
				gemini.says("concerns", "There is no test.")
				server.DiesAt(gh, *at, speak)
			}
			server.Start()
			server.Answers(gh, pr)
			server.Idle()
			c := pr.CheckRuns()
			if last := c[len(c)-1]; !last.Completed() || last.Conclusion != "action_required" {
				t.Errorf("the check: %+v", last)
			}
			for _, r := range []*reviewer{codex, gemini} {
				for _, kind := range []string{"review_request", "clarification_request"} {
					ids := map[string]bool{}
					for _, q := range r.got(kind) {
						ids[q.ID] = true
					}
					if len(ids) != 1 {
						t.Errorf("%s got %d %ss, want one", r.name, len(ids), kind)
					}
				}
			}
		})
	}
}
