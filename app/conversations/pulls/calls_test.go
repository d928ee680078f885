package pulls

import (
	"fmt"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// A review of a pull request with ten files costs at most 8 calls, and at most 4 of them wait
// for one another. The installation's token and the repository's config are already known.
func TestCallsOfAReview(t *testing.T) {
	// This test does not run in parallel with others, so that simultaneous calls are seen as
	// such.
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"check": {"annotations": true}}`}, "config")
	w.Idle()
	w.Open(ghtest.Files{"store/first.go": apptest.Secure})
	w.Idle()

	files := ghtest.Files{}
	for i := range 10 {
		files[fmt.Sprintf("store/f%d.go", i)] = fmt.Sprintf("package store\n\nfunc F%d() {}\n", i)
	}
	w.GH.Calls.Reset()
	remove := w.GH.On("*", ghtest.Delay(time.Duration(sample.Size(150, 400))*time.Millisecond))
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Head: "more", Files: files})
	w.Idle()
	remove()
	calls := w.GH.Calls.All()
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

	w.GH.Calls.Reset()
	if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	if n := len(w.GH.Calls.All()); n != 0 {
		t.Errorf("a redelivery costs %d calls", n)
	}
	body := apptest.GoodBody + " And more."
	pr.Edit(ghtest.Edit{Body: &body})
	w.Idle()
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		t.Errorf("a review with the same result writes %v", writes)
	}
}

// A pull request that touches the config costs only this in addition: the tree at its head, the trees
// down to the config, each new file, a look whether the base has other policy tests, which is not
// modified and so is free, and the comment written again with the backtest.
func TestCallsOfAReviewThatTouchesConfig(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Repo("acme/.github").Commit("main", ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": true}}`}, "config")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": true}}`, apptest.RulesPath: "[]"}, "config")
	w.Idle()
	w.Open(ghtest.Files{"store/first.go": apptest.Secure})
	w.Idle()
	w.GH.Calls.Reset()
	w.Another("config", ghtest.Files{"store/more.go": apptest.Secure, apptest.SettingsPath: `{"check": {"annotations": false}}`})
	w.Idle()
	calls := w.GH.Calls.All()
	const review, trees, files, base, backtest = 8, 3, 1, 1, 1
	if most := review + trees + files + base + backtest; len(calls) > most {
		t.Errorf("%d calls, want at most %d:", len(calls), most)
		for _, c := range calls {
			t.Logf("%s %d", c.Path, c.Status)
		}
	}
}
