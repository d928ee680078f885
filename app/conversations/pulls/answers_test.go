package pulls

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A completed check from another time, another base or another pull request does not count as
// an answer. The App opens a new check before it reads the change.
func TestOldChecksDoNotCountAsAnswers(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world, pr *ghtest.PullRequest, hold func()){
		"a head that comes back": func(w *world, pr *ghtest.PullRequest, hold func()) {
			old := pr.HeadSHA()
			pr.ForcePush(ghtest.Files{"store/client.go": apptest.Insecure}, "feat: another")
			w.Idle()
			hold()
			pr.ForcePushTo(old)
		},
		"a head that comes back by a push that is not told of": func(w *world, pr *ghtest.PullRequest, hold func()) {
			old := pr.HeadSHA()
			pr.ForcePush(ghtest.Files{"store/client.go": apptest.Insecure}, "feat: another")
			w.Idle()
			w.Away(func() { pr.ForcePushTo(old) })
			hold()
			title := "feat: read stock, edited"
			pr.Edit(ghtest.Edit{Title: &title})
		},
		"closed and opened again": func(w *world, pr *ghtest.PullRequest, hold func()) {
			pr.Close()
			w.Idle()
			hold()
			pr.Reopen()
		},
		"another pull request wrote it while this one was closed": func(w *world, pr *ghtest.PullRequest, hold func()) {
			pr.Close()
			w.Idle()
			w.Twin("feat: backport")
			w.Idle()
			hold()
			pr.Reopen()
		},
		"another base": func(w *world, pr *ghtest.PullRequest, hold func()) {
			hold()
			base := "release"
			pr.Edit(ghtest.Edit{Base: &base})
		},
		"another base that is not told of": func(w *world, pr *ghtest.PullRequest, hold func()) {
			base := "release"
			w.Away(func() { pr.Edit(ghtest.Edit{Base: &base}) })
			hold()
			title := "feat: read stock, edited"
			pr.Edit(ghtest.Edit{Title: &title})
		},
		"decided by hand, and pushed over since": func(w *world, pr *ghtest.PullRequest, hold func()) {
			old := pr.HeadSHA()
			w.Repo.Grant("carol", "admin")
			pr.Comment("carol", "/review override for the demonstration")
			w.Idle()
			pr.Push(ghtest.Files{"b.txt": "b\n"}, "feat: more")
			w.Idle()
			hold()
			pr.ForcePushTo(old)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Release()
			pr := w.Open(apptest.Clean())
			w.Idle()
			w.Wants(pr, "success")
			green := pr.HeadSHA()
			free := make(chan bool)
			act(w, pr, func() {
				w.GH.On("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", func(x *ghtest.Exchange) {
					select {
					case <-free:
					case <-x.Context().Done():
					}
				})
			})
			w.Until("a new check run is open on the head", func() bool {
				runs := w.Repo.Checks.On(green)
				return !runs[len(runs)-1].Completed()
			})
			close(free)
			w.Idle()
			w.AllDone(green)
			w.Wants(pr, "success")
		})
	}
}
