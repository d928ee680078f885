package people

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// atWork makes another process appear to review the pull request, until letGo is called.
func (w *world) atWork(pr *ghtest.PullRequest) (letGo func()) {
	w.Helper()
	lease, ok, err := w.App.Inside().Store.Acquire(w.Context(), w.Key(pr), "another process", time.Hour)
	if err != nil || !ok {
		w.Fatalf("take the lease: %t, %v", ok, err)
	}
	return func() {
		w.Helper()
		if err := w.App.Inside().Store.HandOver(w.Context(), lease, ports.JobReview); err != nil {
			w.Fatal(err)
		}
	}
}

// untilStored waits until the store has something. The stand-in for GitHub does not know the
// store.
func (w *world) untilStored(what string, f func() bool) {
	w.Helper()
	for end := time.Now().Add(apptest.Patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("waited in vain until %s", what)
		}
	}
}

// Answers and refusals that come within moments of each other are all shown.
func TestAnswersAtTheSameTimeAreAllShown(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	edits := w.Comment(pr).Edits
	letGo := w.atWork(pr)
	first := pr.Comment("alice", "/review explain")
	answers := map[int64]string{first.ID: "Of this review's agents"}
	for _, c := range []struct{ by, say, says string }{
		{"alice", "/review frobnicate", "There is no command `frobnicate`"},
		{"bob", "/review full", "bob asked for `/review full`"},
		{"carl", "/review full", "carl asked for `/review full`"},
		{"alice", "/review dismiss 0000 x", "on one's own pull request"},
		{"alice", "/review status", "commands left this hour"},
	} {
		answers[pr.Comment(c.by, c.say).ID] = c.says
	}
	w.untilStored("all answers wait", func() bool { return len(w.state(pr).Notices) == len(answers) })
	letGo()
	w.Idle()

	now := w.Comment(pr)
	for id, says := range answers {
		if !strings.Contains(now.Body, says) {
			t.Errorf("the comment lacks %q:\n%s", says, now.Body)
		}
		if got := strings.Join(w.Reactions(pr, id), "+"); got != "eyes+rocket" && got != "confused" {
			t.Errorf("reactions %q", got)
		}
	}
	if n := now.Edits - edits; n != 1 {
		t.Errorf("the comment was written %d times, want once", n)
	}
}

// Another answer or a review of the same head does not remove an answer before people can
// read it. The next push removes it.
func TestAnswersStayForAWhile(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "maintain")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	for _, c := range []struct{ by, say string }{
		{"bob", "/review full"},
		{"mia", "/review status"},
		{"mia", "/review restore " + w.Only(pr).ID},
		{"mia", "/review dismiss " + w.Only(pr).ID + " not ours"},
	} {
		pr.Comment(c.by, c.say)
		w.Idle()
	}
	w.Wants(pr, "success", "Dismissed by mia", "bob asked for `/review full`")
	// An answer that the review made untrue is gone.
	w.WantsNot(pr, "neither dismissed nor accepted")
	w.WantsNot(pr, "commands left this hour")

	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.Idle()
	w.WantsNot(pr, "bob asked for")
}

// An answer does not wait for a review that GitHub's failures delay.
func TestAnswerDoesNotWaitForADelayedReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	heal := w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") })
	defer heal()
	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.untilStored("the push is known", func() bool { st := w.state(pr); return st.Wanted > st.Done })
	said := pr.Comment("alice", "/review status")
	w.Until("the command is answered", func() bool { return slices.Equal(w.Reactions(pr, said.ID), []string{"eyes", "rocket"}) })
	if body := w.Comment(pr).Body; !strings.Contains(body, "A review is under way or waits (new commits)") {
		t.Errorf("the comment does not show the pull request's status:\n%s", body)
	}
	heal()
	w.Idle()
	w.Wants(pr, "action_required", pr.HeadSHA()[:7])
}

// Answers beyond the stored maximum wait for their turn.
func TestAnswersBeyondTheMaximumWait(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"limits": {"commands_per_hour": 200}}`}, "talk")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	letGo := w.atWork(pr)
	var said []int64
	for i := range ports.MaxNotices + 5 {
		said = append(said, pr.Comment("alice", fmt.Sprintf("/review word%d", i)).ID)
	}
	w.untilStored("as many wait as are kept", func() bool { return len(w.state(pr).Notices) == ports.MaxNotices })
	letGo()
	w.untilStored("every command is answered", func() bool {
		return !slices.ContainsFunc(said, func(id int64) bool {
			_, done, err := w.App.Inside().Store.Command(t.Context(), ports.PlaceConversation, id)
			return err != nil || !done
		}) && len(w.state(pr).Notices) == 0
	})
	w.Idle()
	for _, id := range said {
		if got := w.Reactions(pr, id); !slices.Equal(got, []string{"confused"}) {
			t.Errorf("reactions %v", got)
		}
	}
}
