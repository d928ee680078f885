package gh

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// largeChange is a base and a change of it with every kind of change that git
// knows, in several directories.
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

// shownFiles is what a reviewer gets to see of the files.
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

// noGit has a hub refuse git.
func (w *world) noGit() {
	w.hub.On("GET /{owner}/{repo}/info/refs", func(x *ghtest.Exchange) { x.Fail(403, "no git here") })
}

// Whatever GitHub leaves out, the facts are the same as where it shows all.
func TestWhatGitHubLeavesOut(t *testing.T) {
	w, p := largeWorld(t, nil)
	all, src := w.facts(w.target(p))
	if src.Calls() > 10 { // two of them for a file that GitHub takes for binary
		t.Errorf("%d calls where nothing is left out", src.Calls())
	}
	want := shownFiles(all)
	few := func(l *ghtest.Limits) { l.PullFiles = 7 }
	for name, tt := range sample.Map(t, 3, map[string]struct {
		limits func(*ghtest.Limits)
		most   int // calls that it may take
		git    bool
	}{
		"no diffs":                       {func(l *ghtest.Limits) { l.PatchLines = 1 }, 20, true},
		"no diffs, no git":               {func(l *ghtest.Limits) { l.PatchLines = 1 }, 80, false},
		"few files":                      {few, 20, true},
		"few files, no git":              {few, 80, false},
		"few files and a cut tree":       {func(l *ghtest.Limits) { l.PullFiles, l.TreeEntries = 7, 30 }, 20, true},
		"few files and no diffs":         {func(l *ghtest.Limits) { l.PullFiles, l.PatchLines = 7, 1 }, 20, true},
		"few files and no diffs, no git": {func(l *ghtest.Limits) { l.PullFiles, l.PatchLines = 7, 1 }, 90, false},
	}) {
		t.Run(name, func(t *testing.T) {
			w, p := largeWorld(t, tt.limits)
			if !tt.git {
				w.noGit()
			}
			got, src := w.facts(w.target(p))
			if diff := cmp.Diff(all.Incomplete, got.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, shownFiles(got)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			fetches := len(w.hub.CallsTo("POST /{owner}/{repo}/git-upload-pack"))
			if src.Calls() > tt.most || (fetches > 0) != tt.git {
				t.Errorf("%d calls, %d fetches by git", src.Calls(), fetches)
			}
		})
	}
}

// Where git can't be asked, what the calls suffice for is read, and the rest is
// said: each file is there, and none without lines passes.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	all, p := largeWorld(t, nil)
	whole, _ := all.facts(all.target(p))
	for name, tt := range sample.Map(t, 3, map[string]struct {
		limits func(*ghtest.Limits)
		calls  int
		trees  int // status of the trees, where they can't be read
		files  int
		says   string
	}{
		"few calls":             {func(l *ghtest.Limits) { l.PullFiles = 7 }, 75, 0, len(whole.Files), "no line of this file was read"},
		"a cut tree":            {func(l *ghtest.Limits) { l.PullFiles, l.TreeEntries = 7, 30 }, 300, 0, len(whole.Files), ""},
		"a cut tree, few calls": {func(l *ghtest.Limits) { l.PullFiles, l.TreeEntries = 7, 30 }, 65, 0, 7, "the others were not found"},
		"no trees":              {func(l *ghtest.Limits) { l.PullFiles = 7 }, 300, 404, 7, "the others were not found"},
		"few calls for diffs":   {func(l *ghtest.Limits) { l.PatchLines = 1 }, 70, 0, len(whole.Files), "the diff is missing"},
	}) {
		t.Run(name, func(t *testing.T) {
			w, p := largeWorld(t, tt.limits)
			w.noGit()
			if tt.trees != 0 {
				w.hub.On(routeTrees, func(x *ghtest.Exchange) { x.Fail(tt.trees, "no") })
			}
			w.client = w.newClient(func(c *Config) { c.CallsPerReview = tt.calls })
			f, src := w.facts(w.target(p))
			if src.Calls() > tt.calls {
				t.Errorf("%d calls", src.Calls())
			}
			if len(f.Files) != tt.files && tt.files == 7 {
				t.Errorf("%d files", len(f.Files))
			}
			if tt.says == "" {
				if diff := cmp.Diff(whole.Incomplete, f.Incomplete); diff != "" || len(f.Files) != tt.files {
					t.Errorf("%d files, incomplete (-want +got):\n%s", len(f.Files), diff)
				}
				return
			}
			if !slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool {
				return i.Gating && strings.Contains(i.Why, tt.says)
			}) {
				t.Errorf("incomplete %+v", f.Incomplete)
			}
		})
	}
}

// Trouble that may pass fails the read, which is tried again as a whole.
func TestTroubleWithContentsIsTransient(t *testing.T) {
	t.Parallel()
	for _, route := range []string{"GET /repos/{owner}/{repo}/git/blobs/{file_sha}", routeTrees, "GET /repos/{owner}/{repo}/compare/{basehead}"} {
		w, p := largeWorld(t, func(l *ghtest.Limits) { l.PullFiles = 7 })
		w.noGit()
		w.hub.On(route, func(x *ghtest.Exchange) { x.Fail(502, "no") })
		_, err := w.client.Source(w.target(p)).Files(t.Context())
		wantHostError(t, err, ports.HostTransient)
	}
}

// A content that is not what its name says is refused.
func TestOtherContents(t *testing.T) {
	t.Parallel() // it mostly waits
	w, p := largeWorld(t, func(l *ghtest.Limits) { l.PatchLines = 1 })
	w.noGit()
	w.hub.On("GET /repos/{owner}/{repo}/git/blobs/{file_sha}", func(x *ghtest.Exchange) { x.Proceed().Body = []byte("other\n") })
	if files, err := w.client.Source(w.target(p)).Files(t.Context()); err == nil {
		t.Errorf("read as %+v", files)
	}
}

// A merge group is compared beyond GitHub's 300 files, and its sums are those of
// all of them.
func TestMergeGroupBeyondWhatIsCompared(t *testing.T) {
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
	if src.Calls() > 8 { // all have one content
		t.Errorf("%d calls", src.Calls())
	}
}

// Moves are told by the name of the content and empty files by theirs: however
// many there are, nobody reads them.
func TestThousandsThatNeedNoReading(t *testing.T) {
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

// The diffs that are made here are bounded together: what is beyond is named.
func TestDiffsThatAreMadeAreBounded(t *testing.T) {
	sample.Variant(t)
	w := newWorld(t, ghtest.Options{})
	files := ghtest.Files{}
	for i := range 8 {
		files[fmt.Sprintf("f%02d.js", i)] = strings.Repeat(fmt.Sprintf("// A line of file %d%s\n", i, strings.Repeat(".", 180)), 7<<20/200)
	}
	files["larger.js"] = strings.Repeat("// A line.\n", maxBlob/10)
	f, _ := w.facts(w.target(w.repo.OpenPR(ghtest.PR{Files: files})))
	shown := 0
	for _, x := range f.Files {
		if len(x.Hunks) > 0 {
			shown++
		}
	}
	// Two are compared side by side.
	if shown < 5 || shown > 6 || len(f.Incomplete) != 9-shown {
		t.Errorf("%d files are shown, incomplete %+v", shown, f.Incomplete)
	}
	for _, i := range f.Incomplete {
		if !i.Gating || i.Path == "" {
			t.Errorf("incomplete %+v", i)
		}
	}
}

// Contents of very many lines are not compared, however small they are: that
// would take a hundred times their size. What is not read is said.
func TestContentsOfManyLines(t *testing.T) {
	sample.Variant(t)
	limits := ghtest.GitHubLimits()
	limits.PatchLines = 1
	w := newWorld(t, ghtest.Options{Limits: &limits})
	w.repo.Commit("main", ghtest.Files{"lines.txt": strings.Repeat("\n", maxDiffLines)}, "many lines")
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"lines.txt": "one\ntwo\n"}})
	f, _ := w.facts(w.target(p))
	if len(f.Files) != 1 || len(f.Files[0].Hunks) > 0 || len(f.Incomplete) != 1 || !f.Incomplete[0].Gating || f.Incomplete[0].Path != "lines.txt" {
		t.Errorf("incomplete %+v", f.Incomplete)
	}
}

// Git gets a token that reads contents of the one repository, and no more.
func TestTokenOfGit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, p := largeWorld(t, func(l *ghtest.Limits) { l.PullFiles = 7 })
	w.client = w.newClient(func(c *Config) { c.CallsPerReview = 80 })
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
		t.Errorf("left behind: %v", left)
	}
}

func TestGitRoot(t *testing.T) {
	for api, want := range map[string]string{
		"":                                "https://github.com/",
		"https://api.github.com":          "https://github.com/",
		"https://api.acme.ghe.com/":       "https://acme.ghe.com/",
		"https://git.acme.com/api/v3":     "https://git.acme.com/",
		"http://127.0.0.1:8080/api/v3/":   "http://127.0.0.1:8080/",
		"https://proxy.acme.com/":         "",
		"https://api.acme.com/github/":    "",
		"https://proxy.acme.com/api/v3/x": "",
	} {
		u, err := apiRoot(api)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if root := gitRoot(u); root != nil {
			got = root.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", api, got, want)
		}
	}
}

// A submodule that was added or removed is told as one that changed, and a file
// of one line is none.
func TestSubmodulesWhoseDiffsAreLeftOut(t *testing.T) {
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

// Directories that hold one another, of which a few objects make millions, are
// not followed to their end: what was not found is said.
func TestTreesWithoutEnd(t *testing.T) {
	sample.Variant(t)
	const levels, wide = 6, 30
	name := func(level int) string { return fmt.Sprintf("%040x", level+1) }
	w, p := largeWorld(t, func(l *ghtest.Limits) { l.PullFiles = 7 })
	w.hub.On("GET /{owner}/{repo}/info/refs", func(x *ghtest.Exchange) { x.Fail(403, "no git here") })
	w.hub.On(routeTrees, func(x *ghtest.Exchange) {
		sha := x.Params["tree_sha"]
		level, _ := strconv.ParseInt(sha, 16, 64)
		if level > levels { // the commits' own
			level = 0
		}
		entry := fmt.Sprintf(`"mode":"040000","type":"tree","sha":"%s"}`, name(int(level)))
		if level == levels || sha == p.BaseSHA() {
			entry = fmt.Sprintf(`"mode":"100644","type":"blob","sha":"%s"}`, strings.Repeat("b", 40))
		}
		entries := make([]string, wide)
		for i := range entries {
			entries[i] = fmt.Sprintf(`{"path":"d%d",%s`, i, entry)
		}
		cut := x.Query.Has("recursive") && level < levels
		x.Fail(200, "") // which answers in GitHub's place
		x.Proceed().Body = fmt.Appendf(nil, `{"sha":"%s","truncated":%t,"tree":[%s]}`, sha, cut, strings.Join(entries, ","))
	})
	files, err := w.client.Source(w.target(p)).Files(t.Context())
	if err != nil || len(files.Incomplete) != 1 || !files.Incomplete[0].Gating || !strings.Contains(files.Incomplete[0].Why, "more than 100000 files or directories") {
		t.Errorf("incomplete %+v, %v", files.Incomplete, err)
	}
}

// A list of a directory that is another's, or lacks what it must have, is no
// directory without changes.
func TestDirectoriesThatAreNotWhole(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, change := range map[string]func(sha string) string{
		"nothing in it": func(sha string) string { return `{"sha":"` + sha + `","truncated":false,"tree":[]}` },
		"another": func(string) string {
			return `{"sha":"` + strings.Repeat("c", 40) + `","truncated":false,"tree":[{"path":"a","mode":"100644","type":"blob","sha":"` + strings.Repeat("b", 40) + `"}]}`
		},
		"not said how much": func(sha string) string {
			return `{"sha":"` + sha + `","tree":[{"path":"a","mode":"100644","type":"blob","sha":"` + strings.Repeat("b", 40) + `"}]}`
		},
		"entries of no kind": func(sha string) string { return `{"sha":"` + sha + `","truncated":false,"tree":[{"path":"a"}]}` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := largeWorld(t, func(l *ghtest.Limits) { l.PullFiles, l.TreeEntries = 7, 30 })
			w.hub.On("GET /{owner}/{repo}/info/refs", func(x *ghtest.Exchange) { x.Fail(403, "no git here") })
			var mu sync.Mutex // trees are read side by side
			below := map[string]bool{}
			w.hub.On(routeTrees, func(x *ghtest.Exchange) {
				sha := x.Params["tree_sha"]
				mu.Lock()
				defer mu.Unlock()
				if below[sha] {
					x.Proceed().Body = []byte(change(sha))
					return
				}
				var list tree
				if err := json.Unmarshal(x.Proceed().Body, &list); err != nil {
					t.Error(err)
				}
				for _, e := range list.Entries {
					below[e.SHA] = e.Type == "tree" && e.Path == "p"
				}
			})
			files, err := w.client.Source(w.target(p)).Files(t.Context())
			if err == nil && len(files.Incomplete) == 0 {
				t.Errorf("read as %d whole files", len(files.Files))
			}
		})
	}
}

// Paths that are one as UTF-8 may hide one another in a list: git tells them
// apart, and one that the facts can't hold is said to be missing.
func TestPathsThatAreNotUTF8(t *testing.T) {
	w := newWorld(t, ghtest.Options{Limits: &ghtest.Limits{PullFiles: 1}})
	w.repo.Commit("main", ghtest.Files{"a\xff.go": "package a\n", "a\xfe.go": "package b\n"}, "start")
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a\xff.go": "package c\n", "a\xfe.go": "package d\n", "b.go": "package e\n"}})
	f, _ := w.facts(w.target(p))
	if n := len(w.hub.CallsTo("POST /{owner}/{repo}/git-upload-pack")); n != 2 || len(f.Files) != 2 || len(f.Incomplete) != 1 || !f.Incomplete[0].Gating {
		t.Errorf("%d fetches, %d files, incomplete %+v", n, len(f.Files), f.Incomplete)
	}
}

// Files whose lines GitHub doesn't even count, since it shows enough of others,
// look like binary ones. They are read, and what can't be read is said.
func TestLinesThatGitHubDoesNotCount(t *testing.T) {
	all, p := largeWorld(t, nil)
	whole, _ := all.facts(all.target(p))
	uncounted := func(l *ghtest.Limits) { l.AnswerLines = 1 }
	for name, tt := range sample.Map(t, 3, map[string]struct {
		calls int
		git   bool
		blobs int // status of the contents, where they can't be read
		trees int // likewise of the trees
		says  string
	}{
		"by contents":              {300, false, 0, 0, ""},
		"by git":                   {80, true, 0, 0, ""},
		"neither":                  {70, false, 0, 0, "no line of this file was read"},
		"no contents":              {300, false, 404, 0, "no line of this file was read"},
		"nobody knows what it was": {300, false, 0, 404, "what it was before was not found"},
	}) {
		t.Run(name, func(t *testing.T) {
			w, p := largeWorld(t, uncounted)
			w.client = w.newClient(func(c *Config) { c.CallsPerReview = tt.calls })
			if !tt.git {
				w.hub.On("GET /{owner}/{repo}/info/refs", func(x *ghtest.Exchange) { x.Fail(403, "no git here") })
			}
			for route, status := range map[string]int{"GET /repos/{owner}/{repo}/git/blobs/{file_sha}": tt.blobs, routeTrees: tt.trees} {
				if status != 0 {
					w.hub.On(route, func(x *ghtest.Exchange) { x.Fail(status, "no") })
				}
			}
			f, _ := w.facts(w.target(p))
			if tt.says == "" {
				if diff := cmp.Diff(shownFiles(whole), shownFiles(f)) + cmp.Diff(whole.Incomplete, f.Incomplete); diff != "" {
					t.Errorf("files, incomplete (-want +got):\n%s", diff)
				}
				return
			}
			if !slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool {
				return i.Gating && strings.Contains(i.Why, tt.says)
			}) {
				t.Errorf("incomplete %+v", f.Incomplete)
			}
		})
	}
}

// So they are where GitHub has no sums to tell by: in a list that is cut, and in a
// merge group. Of a large binary no more than its beginning is looked at.
func TestLinesThatGitHubDoesNotCountBySums(t *testing.T) {
	sample.Variant(t)
	limits := ghtest.GitHubLimits()
	limits.AnswerLines, limits.PullFiles = 12_000, 4
	w := newWorld(t, ghtest.Options{Limits: &limits})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{
		"a.txt": strings.Repeat("A line.\n", 11_000), "b": strings.Repeat("Not shown.\n", 2_000), "c.bin": "\x00" + strings.Repeat("c", maxBlob+5), "d.txt": "short\n", "e.txt": "more\n",
	}})
	group := w.target(p)
	g := w.repo.MergeGroup(p)
	group.Kind, group.HeadSHA, group.BaseSHA, group.HeadRef = ports.TargetGroup, g.HeadSHA, g.BaseSHA, g.HeadRef
	for _, target := range []ports.Target{w.target(p), group} {
		f, _ := w.facts(target)
		// Of c.bin nobody knows the format, and it is too large to be read.
		if len(f.Files) != 5 || len(f.Incomplete) != 1 || f.Incomplete[0].Path != "c.bin" || f.Totals.Additions != 13_002 {
			t.Fatalf("%s: %d files, incomplete %+v, %+v", target.Kind, len(f.Files), f.Incomplete, f.Totals)
		}
		if b, c := f.Files[1], f.Files[2]; b.Additions != 2000 || len(b.Hunks) != 1 || b.Binary || !c.Binary {
			t.Errorf("%s: %s +%d binary %t; %s binary %t", target.Kind, b.Path, b.Additions, b.Binary, c.Path, c.Binary)
		}
	}
}
