package people

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// inlineFiles are the server's config with comments on lines, and a rule that finds a word.
func inlineFiles(which string) map[string]string {
	return map[string]string{
		config.FileSettings: fmt.Sprintf(`{"comment": {"inline": %q}}`, which),
		config.FileRules:    "[" + apptest.OwnRule("own-word-01", "frobnicate", "") + `, {"id": "own-todo-01", "name": "Maybe", "severity": "warning", "agent": "build-reviewer", "category": "words", "description": "Maybe not.", "detection": "The word", "recommendation": "Decide.", "match": {"literal": "perhaps"}}]`,
	}
}

// startInline starts a world with comments on lines. contents is the App's permission.
func startInline(t *testing.T, which, contents string) *world {
	t.Helper()
	may := ghtest.DefaultPermissions()
	may["contents"] = contents
	return startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Permissions: may}, apptest.WithServer(inlineFiles(which)))
}

// wordy is a file with words at the start of lines of their own, from line 3.
func wordy(words ...string) ghtest.Files {
	var b strings.Builder
	b.WriteString("package store\n\n")
	for i, w := range words {
		fmt.Fprintf(&b, "// %s %c\n\n", w, 'a'+i)
	}
	return ghtest.Files{"store/words.go": b.String()}
}

// wantsLines checks the App's comments on lines: for each of its lines, what it begins with.
func (w *world) wantsLines(pr *ghtest.PullRequest, want map[int]string) {
	w.Helper()
	got := pr.Reviews.AppComments()
	if len(got) != len(want) {
		w.Errorf("%d comments on lines, want %d", len(got), len(want))
	}
	for _, c := range got {
		marker, text, _ := strings.Cut(c.Body, "\n")
		if !strings.HasPrefix(marker, "<!-- reviewgate:inline ") || want[c.Line] == "" || !strings.HasPrefix(text, want[c.Line]) {
			w.Errorf("on line %d of %s, want %q:\n%s", c.Line, c.Path, want[c.Line], c.Body)
		}
	}
}

// wantsAnnotations checks the lines of the annotations on the head's check.
func (w *world) wantsAnnotations(pr *ghtest.PullRequest, want ...int) {
	w.Helper()
	var got []int
	for _, a := range w.Check(pr).Annotations {
		got = append(got, a.StartLine)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		w.Errorf("annotations on the lines %v, want %v", got, want)
	}
}

// inlineCalls counts the calls that comments on lines need, and starts to count again.
func (w *world) inlineCalls() (reviews, graphql int) {
	reviews, graphql = len(w.GH.Calls.To(apptest.RouteReview)), len(w.GH.Calls.To(apptest.RouteGraphQL))
	w.GH.Calls.Reset()
	return reviews, graphql
}

func (w *world) wantsCalls(when string, reviews, graphql int) {
	w.Helper()
	if r, g := w.inlineCalls(); r != reviews || g != graphql {
		w.Errorf("%s: %d reviews and %d calls of GraphQL, want %d and %d", when, r, g, reviews, graphql)
	}
}

const ofWord = "🟠 **Banned word frobnicate**"

// New findings get comments on their lines, which follow what becomes of the findings. A
// thread is resolved if the App may write contents.
func TestCommentsOnLines(t *testing.T) {
	t.Parallel()
	for contents, resolves := range map[string]bool{"write": true, "read": false} {
		t.Run("contents "+contents, func(t *testing.T) {
			t.Parallel()
			w := startInline(t, "blocking", contents)
			pr := w.Open(wordy("frobnicate", "perhaps", "frobnicate"))
			w.Idle()
			w.wantsLines(pr, map[int]string{3: ofWord, 7: ofWord})
			w.wantsAnnotations(pr, 5)
			w.wantsCalls("first", 1, 1)
			if all := pr.Reviews.OfApp(); len(all) != 1 || all[0].State != "commented" || all[0].Body != "" || all[0].CommitID != pr.HeadSHA() {
				t.Errorf("reviews %+v", all)
			}
			first := pr.Reviews.AppComments()[0]
			w.Wants(pr, "action_required", fmt.Sprintf("🟠 **1 · [Banned word frobnicate](https://github.test/acme/shop/pull/%d#discussion_r%d)** · major\n", pr.Number, first.ID), "**2 · ")
			w.WantsNot(pr, "Use another")

			pr.Push(wordy("fixed", "perhaps", "frobnicate"), "fix")
			w.Idle()
			fixed := "**Fixed in [`" + pr.HeadSHA()[:7] + "`](https://github.test/acme/shop/commit/" + pr.HeadSHA() + ")**\n\n<details>"
			w.wantsLines(pr, map[int]string{3: fixed, 7: ofWord})
			w.wantsAnnotations(pr, 5)
			w.wantsCalls("one fixed", 0, 1)
			if c := pr.Reviews.AppComments(); c[0].Resolved != resolves || c[1].Resolved || c[1].Edits != 0 || !strings.Contains(c[0].Body, "Use another") {
				t.Errorf("after the fix: %+v", c)
			}

			pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
			w.Idle()
			w.wantsCalls("nothing changed", 0, 0)

			// With one push, one finding is back, one is fixed and one is new.
			pr.Push(wordy("frobnicate", "perhaps", "fixed", "frobnicate"), "back")
			w.Idle()
			w.wantsCalls("one more", 1, 1)
			fixed = "**Fixed in [`" + pr.HeadSHA()[:7] + "`]"
			w.wantsLines(pr, map[int]string{3: ofWord, 7: fixed, 9: ofWord})
			for _, c := range pr.Reviews.AppComments() {
				if c.Resolved != (resolves && c.Line == 7) {
					t.Errorf("the thread on line %d is resolved: %v", c.Line, c.Resolved)
				}
				if c.Line != 7 {
					w.Wants(pr, "action_required", fmt.Sprintf("[Banned word frobnicate](https://github.test/acme/shop/pull/%d#discussion_r%d)", pr.Number, c.ID))
				}
			}
		})
	}
}

// A dismissed finding's comment says so until the finding is restored.
func TestCommentOnALineOfADismissedFinding(t *testing.T) {
	t.Parallel()
	w := startInline(t, "all", "write")
	pr := w.Open(wordy("frobnicate"))
	w.Idle()
	w.inlineCalls()
	f := w.Only(pr)
	w.Dismiss(pr, f)
	w.wantsLines(pr, map[int]string{3: "**Dismissed by carol"})
	w.wantsCalls("dismissed", 0, 1)
	if c := pr.Reviews.AppComments()[0]; !c.Resolved {
		t.Error("the thread is open")
	}
	w.Says(pr, "/review restore "+f.ID[:8])
	w.wantsLines(pr, map[int]string{3: ofWord})
	w.wantsCalls("restored", 0, 1)
	if c := pr.Reviews.AppComments()[0]; c.Resolved {
		t.Error("the thread is resolved")
	}
	w.Says(pr, "/review")
	w.wantsCalls("reviewed again", 0, 0)

	// Nobody misses a comment that somebody deleted.
	pr.Reviews.DeleteComment(pr.Reviews.AppComments()[0].ID)
	pr.Push(wordy("fixed"), "fix")
	w.Idle()
	w.Wants(pr, "success")
	w.wantsLines(pr, nil)
}

// At most ten comments are added; other findings have annotations, then and later.
func TestAtMostTenCommentsOnLines(t *testing.T) {
	t.Parallel()
	w := startInline(t, "all", "read")
	words := append(slices.Repeat([]string{"perhaps"}, 2), slices.Repeat([]string{"frobnicate"}, 10)...)
	pr := w.Open(wordy(words...))
	w.Idle()
	for range 2 {
		w.wantsAnnotations(pr, 3, 5)
		if n := len(pr.Reviews.AppComments()); n != 10 {
			t.Errorf("%d comments on lines, want 10", n)
		}
		w.Says(pr, "/review")
	}
	w.inlineCalls()
	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.Idle()
	w.wantsAnnotations(pr, 3, 5)
	w.wantsCalls("nothing new", 0, 0)
}

// If GitHub doesn't take the comments, because the head moved or a line is not in its diff,
// the findings have annotations.
func TestRefusedCommentsOnLines(t *testing.T) {
	t.Parallel()
	w := startInline(t, "all", "read")
	remove := w.GH.On(apptest.RouteReview, func(x *ghtest.Exchange) { x.Fail(http.StatusUnprocessableEntity, "Unprocessable Entity") })
	pr := w.Open(wordy("frobnicate", "perhaps"))
	w.Idle()
	w.wantsLines(pr, nil)
	w.wantsAnnotations(pr, 3, 5)
	w.Wants(pr, "action_required", "Use another")
	remove()
	w.inlineCalls()
	w.Says(pr, "/review")
	w.wantsCalls("refused before", 0, 0)
	pr.Lock()
	pr.Push(wordy("frobnicate", "perhaps", "frobnicate"), "more")
	w.Idle()
	w.wantsCalls("locked", 0, 0)
	w.wantsAnnotations(pr, 3, 5, 7)
}

// Whenever the server dies, each finding has one comment, and no annotation.
func TestKilledWhileItCommentsOnLines(t *testing.T) {
	t.Parallel()
	for _, tc := range sample.Of(t, 2, []death{
		{apptest.At(apptest.RouteReview, 1, true), false, false},
		{apptest.At(apptest.RouteReview, 1, false), false, false},
		{apptest.At(apptest.RouteGraphQL, 1, false), false, false},
		{apptest.At(apptest.RouteGraphQL, 1, true), false, false},
		{apptest.At(apptest.RouteComment, 1, true), false, false},
		{apptest.At(apptest.RouteReview, 1, true), true, false},
		{apptest.At(apptest.RouteGraphQL, 1, false), true, false},
		{apptest.At(apptest.RouteGraphQL, 1, true), true, false},
		{apptest.At(apptest.RoutePatchCheck, 1, true), true, false},
		{apptest.At(apptest.RouteReview, 1, true), false, true},
		{apptest.At(apptest.RouteReview, 1, false), false, true},
	}) {
		t.Run(tc.String(), func(t *testing.T) {
			t.Parallel()
			var w apptest.World
			apptest.WithServer(inlineFiles("all"))(&w)
			gh, repo, server := killable(t, w.Server, nil)
			// The push fixes one finding and adds one.
			pr := tc.survived(gh, server, func() *ghtest.PullRequest {
				return repo.OpenPR(ghtest.PR{Title: "feat: words", Body: apptest.GoodBody, Files: wordy("frobnicate", "frobnicate")})
			}, func(pr *ghtest.PullRequest) { pr.Push(wordy("fixed", "frobnicate", "perhaps"), "fix: words") })
			all := pr.Reviews.AppComments()
			want, fixed := 2, tc.pushed || tc.late && tc.at.Applied
			if fixed {
				want = 3
			}
			seen := map[string]bool{}
			for _, c := range all {
				marker, text, _ := strings.Cut(c.Body, "\n")
				if seen[marker] {
					t.Errorf("repeated: %s", c.Body)
				}
				seen[marker] = true
				if fixed && c.Line == 3 && !strings.HasPrefix(text, "**Fixed in") {
					t.Errorf("not marked as fixed: %s", c.Body)
				}
			}
			if len(all) != want {
				t.Errorf("%d comments on lines, want %d", len(all), want)
			}
			runs := repo.Checks.On(pr.HeadSHA())
			if n := len(runs[len(runs)-1].Annotations); n != 0 {
				t.Errorf("%d annotations", n)
			}
		})
	}
}
