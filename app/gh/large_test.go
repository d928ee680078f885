package gh

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/unshown"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routeContents = "GET /repos/{owner}/{repo}/contents/{path}"
	routeRefs     = "GET /{owner}/{repo}/info/refs"
	routeUpload   = "POST /{owner}/{repo}/git-upload-pack"
)

// largeChange is a base and a change with every kind of change that git knows, in several
// directories.
func largeChange() (base, changed ghtest.Files) {
	long := func(first string) string { return first + strings.Repeat("// The same line.\n", 30) }
	base = ghtest.Files{
		"b/old.go": long("package b\n"), "c/gone.txt": "x\ny\n", "d/run.sh": "echo\n", "e/data.bin": "\x00a", "f/keep.txt": "k\n",
		"g/sub": ghtest.Submodule(strings.Repeat("5", 40)), "h/crlf.txt": "a\r\nb\r\n", "i/end.txt": "a\nb", "m/link": ghtest.Symlink("a"),
	}
	changed = ghtest.Files{
		"b/old.go": ghtest.Gone, "n/old.go": long("package b\n"), "c/gone.txt": ghtest.Gone, "d/run.sh": "echo more\n", "e/data.bin": "\x00b",
		"g/sub": ghtest.Submodule(strings.Repeat("6", 40)), "h/crlf.txt": "a\r\nc\r\n", "i/end.txt": "a\nb\n", "j/empty.txt": "",
		"k/deep/er/new.go": "package er\n", "k/deep/new.go": "package deep", "l/new.bin": "\x00", "m/link": ghtest.Symlink("b"),
		"o/run.sh": ghtest.Executable("echo\n"),
	}
	for i := range 20 {
		base[fmt.Sprintf("p/f%02d.go", i)] = fmt.Sprintf("package p\n\nconst a%d = 1\n", i)
		changed[fmt.Sprintf("p/f%02d.go", i)] = fmt.Sprintf("package p\n\nconst a%d = 2\n", i)
	}
	return base, changed
}

// shownFiles is what a reviewer sees of the files.
func shownFiles(f pipeline.PRFacts) []string {
	var out []string
	for _, x := range f.Files {
		var hunks strings.Builder
		for _, h := range x.Hunks {
			fmt.Fprintf(&hunks, "@@ -%d,%d +%d,%d\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
			for _, l := range h.Lines {
				hunks.WriteString(string(l.Op) + l.Text + "\n")
			}
		}
		out = append(out, fmt.Sprintf("%s %s>%s +%d -%d\n%s", x.Status, x.PreviousPath, x.Path, x.Additions, x.Deletions, &hunks))
	}
	return out
}

// largeWorld has the large change as a pull request.
func largeWorld(t *testing.T, change func(*ghtest.Limits)) (*world, *ghtest.PullRequest) {
	t.Helper()
	limits := ghtest.GitHubLimits()
	if change != nil {
		change(&limits)
	}
	w := newWorld(t, ghtest.Options{Limits: &limits})
	base, changed := largeChange()
	w.repo.Commit("main", base, "base")
	p := w.repo.OpenPR(ghtest.PR{Head: "change", Files: changed})
	w.repo.Commit("main", ghtest.Files{"p/f00.go": "package p // later\n", "later.txt": "x\n"}, "the base goes on")
	return w, p
}

// Whatever GitHub leaves out, the facts are the same as if it showed everything.
func TestWhatGitHubLeavesOut(t *testing.T) {
	w, p := largeWorld(t, nil)
	all, src := w.facts(w.target(p))
	if src.Calls() > 11 { // git fetches files that GitHub takes for binary
		t.Errorf("%d calls though nothing is left out", src.Calls())
	}
	want := shownFiles(all)
	few := func(l *ghtest.Limits) { l.PullFiles = 7 }
	for name, limits := range sample.Map(t, 3, map[string]func(*ghtest.Limits){
		"no diffs":               func(l *ghtest.Limits) { l.PatchLines = 1 },
		"few files":              few,
		"few files and no diffs": func(l *ghtest.Limits) { l.PullFiles, l.PatchLines = 7, 1 },
		"lines are not counted":  func(l *ghtest.Limits) { l.AnswerLines = 1 },
	}) {
		t.Run(name, func(t *testing.T) {
			w, p := largeWorld(t, limits)
			got, src := w.facts(w.target(p))
			if diff := cmp.Diff(all.Incomplete, got.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, shownFiles(got)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if n := len(w.hub.Calls.To(routeUpload)); src.Calls() > 11 || n != 2 {
				t.Errorf("%d calls, %d fetches by git", src.Calls(), n)
			}
			w.asksForNoTrees()
		})
	}
}

// asksForNoTrees reports calls for trees, because git tells what differs.
func (w *world) asksForNoTrees() {
	w.Helper()
	if n := len(w.hub.Calls.To(routeTrees)); n > 0 {
		w.Errorf("%d calls for trees", n)
	}
}

// If git can't be used, the facts contain what the list shows and name what is missing. No
// file with unknown lines passes.
func TestUnreadFilesAreNamed(t *testing.T) {
	few := func(l *ghtest.Limits) { l.PullFiles = 7 }
	diffs := func(l *ghtest.Limits) { l.PatchLines = 1 }
	noBase := func(_ *testing.T, w *world) {
		w.hub.On("GET /repos/{owner}/{repo}/compare/{basehead}", func(x *ghtest.Exchange) { x.Fail(404, "no") })
	}
	calls := func(n int) func(*testing.T, *world) {
		return func(_ *testing.T, w *world) {
			w.client = w.newClient(func(c *Config) { c.CallsPerReview = n })
		}
	}
	for name, tt := range sample.Map(t, 4, map[string]struct {
		limits  func(*ghtest.Limits)
		trouble func(*testing.T, *world)
		says    string
		files   bool // the list is cut
	}{
		"files, git is refused":        {few, refuseGit, "returned error: 403", true},
		"files, no git":                {few, noGit, "there is no git program on this machine", true},
		"files, few calls":             {few, calls(7), "calls that one review may make", true},
		"files, no base":               {few, noBase, "no", true},
		"files, a proxy":               {few, proxied, "is not known for the API", true},
		"diffs, git is refused":        {diffs, refuseGit, "returned error: 403", false},
		"diffs, no git":                {diffs, noGit, "there is no git program on this machine", false},
		"nothing is cut, no git":       {nil, noGit, "there is no git program on this machine", false},
		"lines aren't counted, no git": {func(l *ghtest.Limits) { l.AnswerLines = 1 }, noGit, "there is no git program", false},
	}) {
		t.Run(name, func(t *testing.T) {
			w, p := largeWorld(t, tt.limits)
			tt.trouble(t, w)
			f, src := w.facts(w.target(p))
			if src.Calls() > 12 {
				t.Errorf("%d calls", src.Calls())
			}
			if tt.files != (len(f.Files) == 7) || !tt.files && len(f.Files) < 30 {
				t.Errorf("%d files", len(f.Files))
			}
			if !slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating && strings.Contains(i.Why, tt.says) }) {
				t.Errorf("incomplete %+v", f.Incomplete)
			}
			for _, x := range f.Files {
				unread := x.Additions+x.Deletions > 0 && len(x.Hunks) == 0 || x.Binary
				said := slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool { return i.Path == x.Path && i.Gating })
				if unread != said {
					t.Errorf("%s: unread %t, said to be %t", x.Path, unread, said)
				}
			}
			w.asksForNoTrees()
		})
	}
}

// refuseGit makes a hub refuse git.
func refuseGit(_ *testing.T, w *world) {
	w.hub.On(routeRefs, func(x *ghtest.Exchange) { x.Fail(403, "no git here") })
}

// noGit gives the client a machine without git. The hub has found its own git before.
func noGit(t *testing.T, _ *world) { t.Setenv("PATH", t.TempDir()) }

// proxied makes the client use a proxy for GitHub that git does not know.
func proxied(_ *testing.T, w *world) { w.client.git = nil }

// A temporary error fails the whole read, which is then repeated.
func TestFailedContentsAreTransient(t *testing.T) {
	t.Parallel()
	for _, route := range []string{routeContents, routeRefs, routeUpload, "GET /repos/{owner}/{repo}/compare/{basehead}"} {
		w := newWorld(t, ghtest.Options{})
		w.repo.Commit("main", ghtest.Files{"run.sh": "echo\n"}, "script")
		files := ghtest.Files{"run.sh": ghtest.Executable("echo\n")}
		if route != routeContents {
			files["logo.png"] = "\x00"
		}
		p := w.repo.OpenPR(ghtest.PR{Files: files})
		w.hub.On(route, func(x *ghtest.Exchange) { x.Fail(502, "no") })
		_, err := w.client.Source(w.target(p)).Files(t.Context())
		wantHostError(t, err, ports.HostTransient)
	}
}

// Content that does not match its SHA is refused.
func TestContentsMustMatchTheirSHA(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newWorld(t, ghtest.Options{Limits: &ghtest.Limits{PatchLines: 1}})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.go": "package a\n\nvar b = 1\n"}})
	w.hub.On(routeContents, func(x *ghtest.Exchange) {
		r := x.Proceed()
		r.Body = regexp.MustCompile(`"content":\s*"[^"]*"`).ReplaceAll(r.Body, []byte(`"content":"b3RoZXIK"`))
		r.Header.Del("Content-Length")
	})
	if files, err := w.client.Source(w.target(p)).Files(t.Context()); err == nil {
		t.Errorf("accepted %+v", files)
	}
}

// When contents do not have as many lines as GitHub counted, they are not the ones that it
// compared. Git reads them then. If git is refused, they are not shown.
func TestContentsWithAnotherCountOfLines(t *testing.T) {
	for name, refused := range map[string]bool{"git": false, "no git": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ghtest.Options{Limits: &ghtest.Limits{PatchLines: 1}})
			p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.go": "package a\n\nvar b = 1\n"}})
			w.hub.On(routeFiles, func(x *ghtest.Exchange) {
				r := x.Proceed()
				r.Body = regexp.MustCompile(`"(additions|changes)":\s*3`).ReplaceAll(r.Body, []byte(`"$1":7`))
				r.Header.Del("Content-Length")
			})
			if refused {
				refuseGit(t, w)
			}
			files, err := w.client.Source(w.target(p)).Files(t.Context())
			w.must(err)
			if f := files.Files[0]; (f.Patch == "") != refused || (f.Additions == 7) != refused || (len(files.Incomplete) > 0) != refused {
				t.Errorf("%+v, incomplete %+v", f, files.Incomplete)
			}
		})
	}
}

// A merge group is compared beyond GitHub's limit of 300 files, and its sums cover all of
// them.
func TestMergeGroupBeyondTheComparison(t *testing.T) {
	sample.Variant(t)
	w := newWorld(t, ghtest.Options{})
	files := ghtest.Files{}
	for i := range 310 {
		files[fmt.Sprintf("f%03d.go", i)] = "package f\n"
	}
	p := w.repo.OpenPR(ghtest.PR{Files: files})
	g := w.repo.MergeGroup(p)
	target := w.target(p)
	target.Kind, target.HeadSHA, target.BaseSHA, target.HeadRef = ports.TargetGroup, g.HeadSHA, g.BaseSHA, g.HeadRef
	f, src := w.facts(target)
	if len(f.Files) != 310 || f.Totals != (pipeline.Totals{Files: 310, Additions: 310}) || len(f.Incomplete) > 0 {
		t.Errorf("%d files, %+v, incomplete %+v", len(f.Files), f.Totals, f.Incomplete)
	}
	if src.Calls() > 9 {
		t.Errorf("%d calls", src.Calls())
	}
}

// A move is known by the content's SHA, and so is an empty file. However many there are, none
// of them is read.
func TestThousandsOfFilesWithoutReads(t *testing.T) {
	sample.Variant(t)
	const n = 3100
	moved, empty, start := ghtest.Files{}, ghtest.Files{}, ghtest.Files{}
	for i := range n {
		start[fmt.Sprintf("old/f%04d.go", i)] = fmt.Sprintf("package f%d\n", i)
		moved[fmt.Sprintf("new/f%04d.go", i)] = ghtest.MovedFrom(fmt.Sprintf("old/f%04d.go", i))
		empty[fmt.Sprintf("empty/f%04d.go", i)] = ""
	}
	for status, files := range sample.Map(t, 1, map[pipeline.FileStatus]ghtest.Files{pipeline.FileRenamed: moved, pipeline.FileAdded: empty}) {
		limits := ghtest.GitHubLimits()
		limits.PullFiles = 1000
		w := newWorld(t, ghtest.Options{Limits: &limits})
		w.repo.Commit("main", start, "start")
		f, src := w.facts(w.target(w.repo.OpenPR(ghtest.PR{Files: files})))
		if len(f.Files) != n || len(f.Incomplete) > 0 || src.Calls() > 20 {
			t.Errorf("%s: %d files in %d calls, incomplete %+v", status, len(f.Files), src.Calls(), f.Incomplete)
		}
		for _, x := range f.Files {
			if x.Status != status || x.ChangedLines() > 0 || (status == pipeline.FileRenamed) != (x.PreviousPath == "old"+strings.TrimPrefix(x.Path, "new")) {
				t.Fatalf("%s: %+v", status, x)
			}
		}
	}
}

// The diffs that are computed here share one limit. What exceeds it is named.
func TestComputedDiffsAreBounded(t *testing.T) {
	sample.Variant(t)
	w := newWorld(t, ghtest.Options{})
	files := ghtest.Files{}
	for i := range 7 {
		files[fmt.Sprintf("f%02d.js", i)] = strings.Repeat(fmt.Sprintf("// A line of file %d%s\n", i, strings.Repeat(".", 180)), 7<<20/200)
	}
	files["larger.js"] = strings.Repeat("// A line"+strings.Repeat(".", 90)+"\n", unshown.MaxContent/99)
	f, _ := w.facts(w.target(w.repo.OpenPR(ghtest.PR{Files: files})))
	shown := 0
	for _, x := range f.Files {
		if len(x.Hunks) > 0 {
			shown++
		}
	}
	if shown != 5 || len(f.Incomplete) != 3 {
		t.Errorf("%d files are shown, incomplete %+v", shown, f.Incomplete)
	}
	for _, i := range f.Incomplete {
		if !i.Gating || i.Path == "" {
			t.Errorf("incomplete %+v", i)
		}
	}
}

// Contents with very many lines are not compared, however small they are, because that would
// take a hundred times their size in memory. What is not read is named.
func TestContentsOfManyLines(t *testing.T) {
	sample.Variant(t)
	limits := ghtest.GitHubLimits()
	limits.PatchLines = 1
	w := newWorld(t, ghtest.Options{Limits: &limits})
	w.repo.Commit("main", ghtest.Files{"lines.txt": strings.Repeat("\n", 1_000_000)}, "many lines")
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"lines.txt": "one\ntwo\n"}})
	f, _ := w.facts(w.target(p))
	if len(f.Files) != 1 || len(f.Files[0].Hunks) > 0 || len(f.Incomplete) != 1 || !f.Incomplete[0].Gating || f.Incomplete[0].Path != "lines.txt" {
		t.Errorf("incomplete %+v", f.Incomplete)
	}
}

// Git gets a token that may only read the contents of one repository.
func TestTokenOfGit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, p := largeWorld(t, func(l *ghtest.Limits) { l.PullFiles = 7 })
	var asked string
	w.hub.On("POST /app/installations/{installation_id}/access_tokens", func(x *ghtest.Exchange) {
		if asked = string(x.Body); !strings.Contains(asked, `"contents":"read"`) {
			asked = ""
		}
	})
	if _, err := w.client.Source(w.target(p)).Files(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"permissions":{"contents":"read","metadata":"read"},"repository_ids":[%d]}`, w.repo.ID())
	if asked != want {
		t.Errorf("asked for %s, want %s", asked, want)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "reviewgate-*")); len(left) > 0 {
		t.Errorf("files left behind: %v", left)
	}
}

// Git uses the repository's present name. It follows no redirect, because it would send the
// token along. A fork's commits are fetched from there too.
func TestGitOfARenamedRepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Fork: "bob", Head: "x;$(touch${IFS}x)`id`", Files: ghtest.Files{"logo.png": "\x89PNG\r\n\x1a\n\x00\x00"}})
	group := w.target(p)
	g := w.repo.MergeGroup(p)
	group.Kind, group.Number, group.HeadSHA, group.BaseSHA, group.HeadRef = ports.TargetGroup, 0, g.HeadSHA, g.BaseSHA, g.HeadRef
	w.repo.Settings.Rename("store")
	for _, target := range []ports.Target{w.target(p), group} {
		w.hub.Calls.Reset()
		f, _ := w.facts(target)
		if len(f.Files) != 1 || !f.Files[0].Binary || len(f.Incomplete) > 0 {
			t.Errorf("%s: files %+v, incomplete %+v", target.Kind, f.Files, f.Incomplete)
		}
		asked := w.hub.Calls.To(routeUpload)
		for _, c := range asked {
			if c.Path != "/acme/store.git/git-upload-pack" {
				t.Errorf("%s: asked %s", target.Kind, c.Path)
			}
		}
		if len(asked) != 2 {
			t.Errorf("%s: %d fetches", target.Kind, len(asked))
		}
	}
}

func TestGitRoot(t *testing.T) {
	const web = "https://git.acme.com"
	for _, tt := range []struct{ api, web, want string }{
		{"", "https://github.com", "https://github.com/"},
		{"https://api.github.com", web, "https://github.com/"},
		{"https://api.acme.ghe.com/", web, "https://acme.ghe.com/"},
		{"https://git.acme.com/api/v3", "https://www.acme.com", "https://git.acme.com/"},
		{"http://127.0.0.1:8080/api/v3/", web, "http://127.0.0.1:8080/"},
		{"https://proxy.acme.com/", web, web},
		{"https://api.acme.com/github/", web, web},
		{"https://proxy.acme.com/api/v3/x", web, web},
		{"https://proxy.acme.com/", "", ""},
	} {
		u, err := apiRoot(tt.api)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if root := gitRoot(u, tt.web); root != nil {
			got = root.String()
		}
		if got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.api, tt.web, got, tt.want)
		}
	}
}

// An added or removed submodule is shown like a changed one. A file of one line is not taken
// for a submodule.
func TestSubmodulesWithoutDiffs(t *testing.T) {
	sample.Variant(t)
	limits := ghtest.GitHubLimits()
	limits.PatchLines = 1
	sub := func(digit string) string { return ghtest.Submodule(strings.Repeat(digit, 40)) }
	for _, listed := range []int{3000, 3} {
		limits.PullFiles = listed
		w := newWorld(t, ghtest.Options{Limits: &limits})
		w.repo.Commit("main", ghtest.Files{"gone": sub("1"), "moves": sub("2"), "file.txt": "a\n"}, "start")
		p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"gone": ghtest.Gone, "moves": sub("3"), "new": sub("4"), "file.txt": "b\n", "one.txt": "c\n"}})
		f, _ := w.facts(w.target(p))
		got := strings.Join(shownFiles(f), "")
		for _, line := range []string{"-Subproject commit 111", "-Subproject commit 222", "+Subproject commit 333", "+Subproject commit 444", "-a\n+b\n", "+c\n"} {
			if strings.Count(got, line) != 1 {
				t.Errorf("%d listed: %q is not shown once:\n%s", listed, line, got)
			}
		}
		var unread []string
		for _, i := range f.Incomplete {
			if i.Gating || !strings.Contains(i.Why, "submodule") {
				t.Errorf("%d listed: incomplete %+v", listed, i)
			}
			unread = append(unread, i.Path)
		}
		if len(f.Files) != 5 || !slices.Equal(unread, []string{"moves", "new"}) {
			t.Errorf("%d listed: %d files, incomplete %q", listed, len(f.Files), unread)
		}
	}
}

// Paths that look the same as UTF-8 may hide one another in a list. Git distinguishes them,
// and a path that the facts can't hold is reported as missing.
func TestPathsInOtherEncodings(t *testing.T) {
	w := newWorld(t, ghtest.Options{Limits: &ghtest.Limits{PullFiles: 1}})
	w.repo.Commit("main", ghtest.Files{"a\xff.go": "package a\n", "a\xfe.go": "package b\n"}, "start")
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a\xff.go": "package c\n", "a\xfe.go": "package d\n", "b.go": "package e\n"}})
	f, _ := w.facts(w.target(p))
	if n := len(w.hub.Calls.To(routeUpload)); n != 2 || len(f.Files) != 2 || len(f.Incomplete) != 1 || !f.Incomplete[0].Gating {
		t.Errorf("%d fetches, %d files, incomplete %+v", n, len(f.Files), f.Incomplete)
	}
}

// When GitHub shows enough of other files, it does not even count the lines of the rest, so
// that they look binary. The App reads them. It also reads them where GitHub has no sums to
// compare: in a cut list, and in a merge group. Of a large binary file it reads only the
// beginning.
func TestUncountedLinesAreRead(t *testing.T) {
	sample.Variant(t)
	limits := ghtest.GitHubLimits()
	limits.AnswerLines, limits.PullFiles = 12_000, 4
	w := newWorld(t, ghtest.Options{Limits: &limits})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{
		"a.txt": strings.Repeat("A line.\n", 11_000), "b": strings.Repeat("Not shown.\n", 2_000), "c.bin": "\x00" + strings.Repeat("c", unshown.MaxContent+5), "d.txt": "short\n", "e.txt": "more\n",
	}})
	group := w.target(p)
	g := w.repo.MergeGroup(p)
	group.Kind, group.HeadSHA, group.BaseSHA, group.HeadRef = ports.TargetGroup, g.HeadSHA, g.BaseSHA, g.HeadRef
	for _, target := range []ports.Target{w.target(p), group} {
		f, _ := w.facts(target)
		// The format of c.bin is unknown, and it is too large to be read.
		if len(f.Files) != 5 || len(f.Incomplete) != 1 || f.Incomplete[0].Path != "c.bin" || f.Totals.Additions != 13_002 {
			t.Fatalf("%s: %d files, incomplete %+v, %+v", target.Kind, len(f.Files), f.Incomplete, f.Totals)
		}
		if b, c := f.Files[1], f.Files[2]; b.Additions != 2000 || len(b.Hunks) != 1 || b.Binary || !c.Binary {
			t.Errorf("%s: %s +%d binary %t; %s binary %t", target.Kind, b.Path, b.Additions, b.Binary, c.Path, c.Binary)
		}
	}
}
