package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// A review of a pull request with ten files costs at most 8 calls, of which at
// most 4 wait for one another, once the installation's token and the
// repository's config are known.
func TestCallsOfAReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"check": {"annotations": true}}`}, "config")
	w.idle()
	w.open(ghtest.Files{"store/first.go": secure})
	w.idle()

	files := ghtest.Files{}
	for i := range 10 {
		files[fmt.Sprintf("store/f%d.go", i)] = fmt.Sprintf("package store\n\nfunc F%d() {}\n", i)
	}
	w.gh.ResetCalls()
	// Long enough for what goes out side by side to be seen so on a busy machine.
	remove := w.gh.On("*", ghtest.Delay(300*time.Millisecond))
	pr := w.repo.OpenPR(ghtest.PR{Title: "feat: more", Body: goodBody, Head: "more", Files: files})
	w.idle()
	remove()
	calls := w.gh.Calls()
	if len(calls) > 8 {
		t.Errorf("%d calls, want at most 8:", len(calls))
	}
	if n := ghtest.Depth(calls); n > 4 {
		t.Errorf("%d calls after one another, want at most 4:", n)
	} else {
		t.Logf("%d calls, %d of them after one another:", len(calls), n)
	}
	for _, c := range calls {
		t.Logf("%s %d", c.Route, c.Status)
	}

	w.gh.ResetCalls()
	if _, err := w.gh.Redeliver(w.gh.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	if n := len(w.gh.Calls()); n != 0 {
		t.Errorf("a redelivery costs %d calls", n)
	}
	body := goodBody + " And more."
	pr.Edit(ghtest.Edit{Body: &body})
	w.idle()
	if writes := w.gh.Writes(); len(writes) != 0 {
		t.Errorf("a review with the same result writes %v", writes)
	}
}

// A pull request that touches the config costs the reads of what it proposes,
// and nothing more: the tree at its head, the trees down to the config, and
// each file that is new.
func TestCallsOfAReviewThatTouchesConfig(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.gh.Repo("acme/.github").Commit("main", ghtest.Files{settingsPath: `{"check": {"annotations": true}}`}, "config")
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"check": {"annotations": true}}`, rulesPath: "[]"}, "config")
	w.idle()
	w.open(ghtest.Files{"store/first.go": secure})
	w.idle()
	w.gh.ResetCalls()
	w.another("config", ghtest.Files{"store/more.go": secure, settingsPath: `{"check": {"annotations": false}}`})
	w.idle()
	calls := w.gh.Calls()
	const review, trees, files = 8, 3, 1
	if len(calls) > review+trees+files {
		t.Errorf("%d calls, want at most %d:", len(calls), review+trees+files)
		for _, c := range calls {
			t.Logf("%s %d", c.Path, c.Status)
		}
	}
}
