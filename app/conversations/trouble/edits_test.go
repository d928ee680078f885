package trouble

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// One more review covers all edits that come during a review.
func TestEditsInARowAreReviewedTogether(t *testing.T) {
	t.Parallel()
	w := apptest.Start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "edits", Author: "mallory", Files: apptest.Clean()})
	w.Idle()
	w.GH.Calls.Reset()
	const edits = 50
	const files = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
	let := make(chan struct{})
	defer w.GH.On(files, func(x *ghtest.Exchange) {
		select {
		case <-let:
		case <-x.Context().Done():
		}
		x.Proceed()
	})()
	for i := range edits {
		title := fmt.Sprintf("feat: stock %d", i)
		pr.Edit(ghtest.Edit{Title: &title})
	}
	if err := w.GH.Webhook.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(let)
	w.Idle()
	if n := len(w.GH.Calls.To(files)); n > 2 {
		t.Errorf("%d edits cost %d reviews", edits, n)
	}
	if n := len(w.GH.Calls.All()); n > 20 {
		t.Errorf("%d edits cost %d calls", edits, n)
	}
}
