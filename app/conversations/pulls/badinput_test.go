package pulls

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// shown fails if the App wrote text to the pull request that could harm its readers: control
// characters, characters that change the direction of text, or invalid UTF-8.
func (w *world) shown(pr *ghtest.PullRequest) string {
	w.Helper()
	c := w.Check(pr)
	all := []string{c.Title, c.Summary, c.Text}
	for _, comment := range pr.AppComments() {
		all = append(all, comment.Body)
	}
	for _, a := range c.Annotations {
		all = append(all, a.Title, a.Message, a.RawDetails) // its path is the file's, byte by byte
	}
	text := strings.Join(all, "\n")
	if !utf8.ValidString(text) {
		w.Error("the shown text is not valid UTF-8")
	}
	for _, r := range text {
		if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && r != '\n' && r != '\t' {
			w.Errorf("the shown text contains %U", r)
		}
	}
	return text
}

// badTLS is a line with a major finding.
const badTLS = "var _ = tls.Config{InsecureSkipVerify: true}"

// Whatever a change's files contain, the change is reviewed. A fault is found at its place,
// unreadable content is named, and the output stays harmless.
func TestContentOfEveryKind(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{
		"bin/run.sh": "echo run\n", "link": ghtest.Symlink("README.md"), "mod": ghtest.Submodule(strings.Repeat("1", 40)), "logo.png": "\x89PNG\x00\x01",
		"store/moved.go": apptest.LongFile(""), "crlf.go": "package store\r\n\r\nfunc B() {}\r\n",
	}, "one of each")
	const found, whole, unread = "action_required", "success", "action_required"
	contents := map[string]struct {
		files ghtest.Files
		want  string
		says  string // in the comment or the check
	}{
		"invalid UTF-8":         {ghtest.Files{"store/latin.go": "package store\n\n// caf\xe9 \xff\xfe\n" + badTLS + "\n"}, found, "store/latin.go:4"},
		"control characters":    {ghtest.Files{"store/bell.go": "package store\n\n// \x07\x1b[31mred\x1b[0m\x08\x7f\n" + badTLS + " // \x1b]0;pwned\x07\n"}, found, "store/bell.go:4"},
		"bidi characters":       {ghtest.Files{"store/bidi.go": "package store\n\n" + badTLS + " // \u202e\u2066 \u200f\u061c end\n"}, found, "store/bidi.go:3"},
		"NULs":                  {ghtest.Files{"store/nul.go": "package store\n// \x00\n" + badTLS + "\n"}, unread, "store/nul.go"},
		"CRLF":                  {ghtest.Files{"crlf.go": "package store\r\n\r\nfunc B() {}\r\n\r\n" + badTLS + "\r\n"}, found, "crlf.go:5"},
		"CR only":               {ghtest.Files{"store/cr.go": "package store\r\r" + badTLS + "\r"}, found, "store/cr.go:1"},
		"newlines in paths":     {ghtest.Files{"store/new\nline.go": "package store\n\n" + badTLS + "\n", "store/cr\rhere.go": "package store\n\n" + badTLS + "\n"}, found, "line.go"},
		"quotes in paths":       {ghtest.Files{"store/\"q\" `b` |p| <i> [l](x) @alice #1.go": "package store\n\n" + badTLS + "\n"}, found, "alice"},
		"bidi in paths":         {ghtest.Files{"store/\u202eog.exe.go": "package store\n\n" + badTLS + "\n"}, found, "exe.go"},
		"odd paths":             {ghtest.Files{"-rf.go": "package a\n" + badTLS + "\n", " lead.go": "package a\n", "tab\there.go": "package a\n", "ünïcödé/日本.go": "package a\n", "a -> b.go": "package a\n"}, found, "-rf.go"},
		"a path of 4,000 bytes": {ghtest.Files{strings.Repeat(strings.Repeat("d", 249)+"/", 15) + "f.go": "package a\n" + badTLS + "\n"}, found, "f.go"},
		"100,000 lines":         {ghtest.Files{"store/huge.go": "package store\n" + strings.Repeat("// line\n", 100_000) + badTLS + "\n"}, found, "store/huge.go"},
		"a megabyte in a line":  {ghtest.Files{"store/wide.go": "package store\n\nvar _ = \"" + strings.Repeat("x", 1_000_000) + "\"; " + badTLS + "\n"}, found, "store/wide.go:3"},
		"more than a megabyte":  {ghtest.Files{"store/wide.go": "package store\n\nvar _ = \"" + strings.Repeat("x", 1_100_000) + "\"; " + badTLS + "\n"}, unread, "store/wide.go"},
		"no change at all":      {ghtest.Files{}, whole, ""},
		"only renames":          {ghtest.Files{"store/there.go": ghtest.MovedFrom("store/moved.go")}, whole, ""},
		"a submodule":           {ghtest.Files{"mod": ghtest.Submodule(strings.Repeat("2", 40)), "vendor/new": ghtest.Submodule(strings.Repeat("3", 40))}, whole, ""},
		"a submodule gone":      {ghtest.Files{"mod": ghtest.Gone}, whole, ""},
		"symlinks":              {ghtest.Files{"link": ghtest.Symlink("/etc/passwd"), "out.go": ghtest.Symlink("../../../../etc/shadow")}, whole, ""},
		"a file becomes a link": {ghtest.Files{"README.md": ghtest.Symlink("store/a.go")}, whole, ""},
		"a mode changed":        {ghtest.Files{"bin/run.sh": ghtest.Executable("echo run\n")}, whole, ""},
		"binary files":          {ghtest.Files{"logo.png": "\x89PNG\x00\x02", "app.wasm": "\x00asm\x01"}, whole, ""},
		"no newline at the end": {ghtest.Files{"store/end.go": "package store\n\n" + badTLS}, found, "store/end.go:3"},
		"an empty file":         {ghtest.Files{"store/__init__.py": ""}, whole, ""},
		"text like a diff":      {ghtest.Files{"store/diff.go": "package store\n\n/*\n@@ -1,2 +3,4 @@\n--- a/x\n+++ b/x\ndiff --git a/x b/x\n\\ No newline at end of file\n*/\n" + badTLS + "\n"}, found, "store/diff.go:10"},
	}
	for _, name := range sample.Keys(t, 4, contents) {
		tt := contents[name]
		t.Run(name, func(t *testing.T) {
			w := &world{w.In(t)}
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: strings.NewReplacer(" ", "-", ",", "").Replace(name), Files: tt.files})
			w.Idle()
			c := w.Check(pr)
			if c.Conclusion != tt.want {
				t.Errorf("the check is %s (%s), want %s:\n%s", c.Conclusion, c.Title, tt.want, c.Text)
			}
			if text := w.shown(pr); !strings.Contains(text, tt.says) {
				t.Errorf("neither comment nor check contains %q:\n%s", tt.says, text)
			}
			if faults := pr.Faults(); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
	w.Alive()
}

// ended fails unless the pull request's head has one completed check run that did not pass.
// If no check can exist, the store must hold the reason.
func (w *world) ended(pr *ghtest.PullRequest, says string) {
	w.Helper()
	said := w.Result(pr)
	for _, c := range pr.CheckRuns() {
		if apptest.Satisfies(c.Conclusion) {
			w.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
		}
		said += "\n" + c.Title + "\n" + c.Summary
	}
	if !strings.Contains(said, says) {
		w.Errorf("neither comment nor check contains %q:\n%s", says, said)
	}
}

// fromFork opens a pull request from the fork of somebody with read permission only.
func (w *world) fromFork() *ghtest.PullRequest {
	w.Helper()
	return w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Author: "carol", Fork: "carol", Files: ghtest.Files{"store/client.go": apptest.Insecure}})
}

// For a while GitHub keeps the commits of a pull request whose fork is gone.
func TestDeletedFork(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.fromFork()
	w.Idle()
	w.Wants(pr, "action_required", "/carol/shop/blob/")
	pr.Fork().Settings.Delete()
	pr.Comment("alice", "/review")
	w.Idle()
	if n := len(pr.CheckRuns()); n != 2 {
		t.Errorf("%d check runs, want 2", n)
	}
	w.Wants(pr, "action_required", "store/client.go")
	if strings.Contains(w.Comment(pr).Body, "/carol/shop/") {
		t.Error("the comment links to a repository that is gone")
	}
}

func TestForkDeletedDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	var pr *ghtest.PullRequest
	opened := make(chan bool)
	w.At(apptest.RouteFiles, 1, func() {
		<-opened
		pr.Fork().Settings.Delete()
		w.Repo.Forget(pr.HeadSHA())
	})
	pr = w.fromFork()
	close(opened)
	w.Idle()
	w.ended(pr, "")
	w.Alive()
}

func TestForcePush(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	old := pr.HeadSHA()
	pr.ForcePush(apptest.Clean(), "feat: stock, again")
	w.Idle()
	w.Wants(pr, "success")
	if c := w.Newest(w.Repo.Checks.On(old)); c.Conclusion != "action_required" {
		t.Errorf("the old head's check became %s", c.Conclusion)
	}
}

// The branch is pushed over while its head is read, and the commit that was read is gone
// before anything is written to it.
func TestForcePushDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, forget := range map[string]bool{"kept": false, "vanished": true} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			var pr *ghtest.PullRequest
			opened := make(chan bool)
			w.At(apptest.RouteFiles, 1, func() {
				<-opened
				old := pr.HeadSHA()
				pr.ForcePush(apptest.Clean(), "feat: stock, again")
				if forget {
					w.Repo.Forget(old)
				}
			})
			pr = w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
			old := pr.HeadSHA()
			close(opened)
			w.Idle()
			w.Wants(pr, "success")
			for _, c := range w.Repo.Checks.On(old) {
				if !forget && c.Conclusion != "cancelled" {
					t.Errorf("the old head's check is %s %s", c.Status, c.Conclusion)
				}
			}
		})
	}
}

// The head is gone and no other head has come, so no check can exist.
func TestVanishedHead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.Webhook.Withhold()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Repo.Forget(pr.HeadSHA())
	w.GH.Webhook.Resume()
	for _, d := range w.GH.Webhook.Deliveries() {
		if d.Event == "pull_request" {
			if _, err := w.GH.Webhook.Redeliver(d.GUID); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Idle()
	if n := len(pr.CheckRuns()); n != 0 {
		t.Errorf("%d check runs on a commit that is gone", n)
	}
	target := ports.Target{Kind: ports.TargetPull, RepoID: w.Repo.ID(), Number: pr.Number}
	if st, err := w.App.Inside().Store.Target(t.Context(), target.Key()); err != nil || !st.GaveUp {
		t.Errorf("the review is not given up: %+v, %v", st, err)
	}
	pr.ForcePush(apptest.Clean(), "feat: stock, again")
	w.Idle()
	w.Wants(pr, "success")
}

func TestRenamedBetweenReviews(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Repo.Settings.Rename("store")
	pr.Push(apptest.Clean(), "fix: verify certificates")
	w.Idle()
	w.Wants(pr, "success", "1 resolved")
}

func TestTransferred(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, installed := range map[string]bool{"to an account with the App": true, "to one without": false} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			if installed {
				w.GH.Repo("other/seed")
			}
			w.At(apptest.RouteFiles, 1, func() { w.Repo.Settings.Transfer("other") })
			pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
			w.Idle()
			if !installed {
				w.Forgotten(pr)
				return
			}
			w.Wants(pr, "action_required", "store/client.go")
			if faults := pr.Faults(); len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

func TestRepositoryDeletedDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.At(apptest.RouteFiles, 1, func() { w.Repo.Settings.Delete() })
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.Forgotten(pr)
	w.Alive()
}

func TestArchivedDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.At(apptest.RouteFiles, 1, func() { w.Repo.Settings.SetArchived(true) })
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "action_required" || len(pr.CheckRuns()) != 1 {
		t.Errorf("%d check runs, the newest %s (%s)", len(pr.CheckRuns()), c.Conclusion, c.Title)
	}
	if n := len(pr.AppComments()); n != 0 {
		t.Errorf("%d comments in an archived repository", n)
	}
}

// A permission is taken away in the middle of a run, at its first or last read.
func TestPermissionRevokedDuringReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for _, tt := range []struct {
		permission, route string
		n                 int
		says              string
	}{
		{"contents", apptest.RouteTree, 1, "contents"},
		{"pull_requests", apptest.RouteFiles, 1, "pull_requests"},
		{"pull_requests", apptest.RoutePull, 2, "pull_requests"},
		{"checks", apptest.RouteFiles, 1, "checks"},
		{"checks", apptest.RoutePull, 2, "checks"},
	} {
		t.Run(fmt.Sprint(tt.permission, " ", tt.n), func(t *testing.T) {
			w := start(t)
			all, few := ghtest.DefaultPermissions(), ghtest.DefaultPermissions()
			delete(few, tt.permission)
			w.At(tt.route, tt.n, func() { w.GH.SetPermissions("acme", few) })
			pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
			w.Idle()
			w.ended(pr, tt.says)
			w.GH.SetPermissions("acme", all)
			w.GH.ExpireTokens()
			w.Idle()
			w.Wants(pr, "action_required", "store/client.go")
		})
	}
}
