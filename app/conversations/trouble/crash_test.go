package trouble

import (
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A server that is killed at any point of a review and started again answers with one comment
// and one completed check run within seconds.
func TestKilledDuringReview(t *testing.T) {
	t.Parallel()
	const (
		createCheck   = "POST /repos/{owner}/{repo}/check-runs"
		updateCheck   = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"
		createComment = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
		readFiles     = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
		readPull      = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	)
	for _, at := range sample.Of(t, 2, []apptest.Request{
		apptest.At(createCheck, 1, false), apptest.At(createCheck, 1, true),
		apptest.At(createComment, 1, false), apptest.At(createComment, 1, true),
		apptest.At(readFiles, 1, false), apptest.At(readPull, 2, false),
		apptest.At(updateCheck, 1, false), apptest.At(updateCheck, 1, true),
	}) {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
			repo := gh.Repo("acme/shop")
			repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
			server := apptest.NewChild(t, gh)
			server.Start()
			var pr *ghtest.PullRequest
			server.DiesAt(gh, at, func() {
				pr = repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
			})
			restarted := time.Now()
			server.Start()
			server.Answers(gh, pr)
			t.Logf("the server was idle %s after the restart", time.Since(restarted).Round(time.Millisecond))
			if runs := pr.CheckRuns(); len(runs) != 1 || runs[0].Conclusion != "action_required" {
				t.Errorf("%d check runs, the first %s", len(runs), runs[0].Conclusion)
			}
			if n := len(pr.AppComments()); n != 1 {
				t.Errorf("%d comments, want 1", n)
			}
		})
	}
}
