package pulls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// small is a GitHub with low limits on what it lists of a change.
func small(change func(*ghtest.Limits)) ghtest.Options {
	limits := ghtest.GitHubLimits()
	change(&limits)
	return ghtest.Options{WebhookSecret: apptest.Secret, Limits: &limits}
}

// apart returns n files, each with different content.
func apart(n int) ghtest.Files {
	files := ghtest.Files{}
	for i := range n {
		files[fmt.Sprintf("store/n%04d_test.go", i)] = fmt.Sprintf("package store\n\n// Number %d.\n", i)
	}
	return files
}

// The App reads what GitHub leaves out in another way. The check is the same as if nothing
// were left out: it passes for good code and fails for a fault in a file that GitHub does not
// list.
func TestBeyondWhatGitHubShows(t *testing.T) {
	t.Parallel()
	for _, tt := range sample.Of(t, 1, []struct {
		name    string
		limits  func(*ghtest.Limits)
		files   ghtest.Files
		fetches bool
	}{
		{"more files than calls", func(l *ghtest.Limits) { l.PullFiles = 30 }, apart(400), true},
		{"files", func(l *ghtest.Limits) { l.PullFiles = 30 }, apart(60), true},
		{"few files", func(l *ghtest.Limits) { l.PullFiles = 30 }, apart(40), true},
		{"few diffs", func(l *ghtest.Limits) { l.PatchLines = 2 }, apart(6), false},
		{"more diffs than calls", func(l *ghtest.Limits) { l.PatchLines = 2 }, apart(400), true},
		{"a file of 100,000 lines", func(*ghtest.Limits) {}, ghtest.Files{"store/big_test.go": "package store\n" + strings.Repeat("// A line that nobody minds.\n", 100_000)}, false},
		{"files without content", func(l *ghtest.Limits) { l.PullFiles = 30 }, apptest.Numbered(400, ""), true},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, small(tt.limits))
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "good", Files: tt.files})
			w.Idle()
			if c := w.Check(pr); !apptest.Satisfies(c.Conclusion) {
				t.Errorf("the check of good code is %s (%s):\n%s", c.Conclusion, c.Title, c.Summary)
			}
			if n := len(w.GH.Calls.To(apptest.RouteUpload)); (n > 0) != tt.fetches {
				t.Errorf("%d fetches by git", n)
			}
			for _, c := range w.GH.Calls.To("GET /repos/{owner}/{repo}/git/trees/{tree_sha}") {
				if strings.Contains(c.Query, "recursive") {
					t.Errorf("asked for the tree %s?%s", c.Path, c.Query)
				}
			}
			pr.Push(ghtest.Files{"store/zz_last.go": apptest.Insecure}, "one more")
			w.Idle()
			if c := w.Check(pr); apptest.Satisfies(c.Conclusion) || !strings.Contains(c.Text, "store/zz_last.go") || strings.HasPrefix(c.Title, "Review incomplete") {
				t.Errorf("the check of bad code in the last file is %s (%s)", c.Conclusion, c.Title)
			}
		})
	}
}

// However many contents must be read one by one, a push costs few calls.
func TestCrowdedChangesCostFewCalls(t *testing.T) {
	t.Parallel()
	const most = 20 // reading a hundred diffs one by one took 209
	many := func(n int, name, text string) ghtest.Files {
		files := ghtest.Files{}
		for i := range n {
			files[fmt.Sprintf(name, i)] = fmt.Sprintf("%s %d\n", text, i)
		}
		return files
	}
	for _, tt := range sample.Of(t, 2, []struct {
		name   string
		limits func(*ghtest.Limits)
		files  ghtest.Files
	}{
		{"texts with a NUL", func(*ghtest.Limits) {}, many(100, "data/n%03d.txt", "a\x00")},
		{"diffs that GitHub leaves out", func(l *ghtest.Limits) { l.PatchLines = 2 }, apart(100)},
		{"pictures", func(*ghtest.Limits) {}, many(100, "img/n%03d.png", picture+noise(300))},
		{"files that GitHub does not list", func(l *ghtest.Limits) { l.PullFiles = 30 }, apart(200)},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, small(tt.limits))
			w.Idle()
			before := len(w.GH.Calls.All())
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "good", Files: tt.files})
			w.Idle()
			if c := w.Check(pr); strings.HasPrefix(c.Title, "Review incomplete") {
				t.Errorf("the check is %s (%s):\n%s", c.Conclusion, c.Title, c.Text)
			}
			if n := len(w.GH.Calls.All()) - before; n > most {
				t.Errorf("%d calls, want at most %d", n, most)
			} else {
				t.Logf("%d calls", n)
			}
		})
	}
}

// If git is refused, the check names what was not read and does not pass.
func TestUnreadableLargeChangeDoesNotPass(t *testing.T) {
	t.Parallel()
	for name, limits := range sample.Map(t, 1, map[string]func(*ghtest.Limits){
		"files": func(l *ghtest.Limits) { l.PullFiles = 30 },
		"diffs": func(l *ghtest.Limits) { l.PatchLines = 2 },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWith(t, small(limits))
			w.GH.On(apptest.RouteRefs, func(x *ghtest.Exchange) { x.Fail(403, "no git here") })
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: apart(400)})
			w.Idle()
			c := w.Check(pr)
			if c.Conclusion != "action_required" || !strings.HasPrefix(c.Title, "Review incomplete") {
				t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
			}
			if !strings.Contains(c.Summary+c.Text, "store/n0") {
				t.Errorf("the check names no file:\n%s", c.Summary)
			}
		})
	}
}

// GitHub lists 3,000 files, and git fetches the others.
func TestBeyondThreeThousandFiles(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	const listed = 3000
	w := startWith(t, small(func(l *ghtest.Limits) { l.PullFiles = listed }))
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: apart(listed + 400)})
	w.Idle()
	if c := w.Check(pr); !apptest.Satisfies(c.Conclusion) {
		t.Errorf("the check is %s (%s):\n%s", c.Conclusion, c.Title, c.Summary)
	}
	if n := len(w.GH.Calls.To(apptest.RouteUpload)); n != 2 {
		t.Errorf("%d fetches by git, want 2", n)
	}
}

// A comparison lists 300 files and does not say whether there are more. Git does.
func TestLargeMergeGroup(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Numbered(300, "package store\n"))
	group := w.Repo.MergeGroup(pr)
	w.Idle()
	if c := w.Newest(group.CheckRuns()); !apptest.Satisfies(c.Conclusion) {
		t.Errorf("the check of 300 files is %s (%s)", c.Conclusion, c.Title)
	}
	pr.Push(ghtest.Files{"store/zz_last.go": apptest.Insecure}, "one more")
	group = w.Repo.MergeGroup(pr)
	w.Idle()
	if c := w.Newest(group.CheckRuns()); apptest.Satisfies(c.Conclusion) || !strings.Contains(c.Text, "store/zz_last.go") {
		t.Errorf("the check of 301 files with a fault in the last is %s (%s)", c.Conclusion, c.Title)
	}
}

// The App reads commits beyond GitHub's limit of 250 from a comparison.
func TestCommitsBeyondTheLimitMayPass(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	const branch = "many"
	for i := range 251 {
		w.Repo.Commit(branch, ghtest.Files{"store/client_test.go": fmt.Sprintf("package store\n\n// %d\n", i)}, fmt.Sprint("fix: step ", i))
	}
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: branch})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "success" || strings.Contains(c.Summary+c.Text, "commits are listed") {
		t.Errorf("the check is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
	}
}
