package ghtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// file holds the fields of a changed file that the tests compare.
type file struct {
	Name, Previous, Status string
	Add, Del               int
	Patch                  string
}

func filesOf(r reply) map[string]file {
	files := map[string]file{}
	for i := range r.len() {
		get := func(key string) string { s, _ := r.field(i, key).(string); return s }
		f := file{Name: get("filename"), Previous: get("previous_filename"), Status: get("status"), Patch: get("patch")}
		f.Add, f.Del = int(r.field(i, "additions").(float64)), int(r.field(i, "deletions").(float64))
		files[f.Name] = f
	}
	return files
}

func TestFilesOfEveryKind(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	body := strings.Repeat("a line of the file\n", 20)
	repo.Commit("main", ghtest.Files{
		"old name.go": body, "gone.txt": "bye\n", "bin": "a\x00b", "script": "echo\n", "kind": "text\n", "keep": "1\n", "dir/x": body + "x\n",
	}, "base")
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{
		"new \"näme\".go":  ghtest.MovedFrom("old name.go"),
		"dir/moved":        ghtest.MovedFrom("dir/x"),
		"gone.txt":         ghtest.Gone,
		"bin":              "a\x00c",
		"script":           ghtest.Executable("echo\n"),
		"kind":             ghtest.Symlink("keep"),
		"with\nnewline":    "odd\n",
		"empty":            "",
		"no-newline":       "end",
		"latin1":           "caf\xe9\n",
		"diff --git a b":   "diff --git a/x b/x\n@@ -1 +1 @@\n-- a\n++ b\n",
		"crlf":             "a\r\nb\r\n",
		"third_party/code": ghtest.Submodule(strings.Repeat("b", 40)),
	}})
	got := filesOf(c.get(fmt.Sprintf("/repos/acme/shop/pulls/%d/files?per_page=100", pr.Number)))
	want := map[string]file{
		"new \"näme\".go":  {Previous: "old name.go", Status: "renamed"},
		"dir/moved":        {Previous: "dir/x", Status: "renamed"},
		"gone.txt":         {Status: "removed", Del: 1, Patch: "@@ -1 +0,0 @@\n-bye"},
		"bin":              {Status: "modified"},
		"script":           {Status: "modified"},
		"kind":             {Status: "changed", Add: 1, Del: 1},
		"with\nnewline":    {Status: "added", Add: 1, Patch: "@@ -0,0 +1 @@\n+odd"},
		"empty":            {Status: "added"},
		"no-newline":       {Status: "added", Add: 1, Patch: "@@ -0,0 +1 @@\n+end\n\\ No newline at end of file"},
		"latin1":           {Status: "added", Add: 1, Patch: "@@ -0,0 +1 @@\n+caf\uFFFD"},
		"diff --git a b":   {Status: "added", Add: 4, Patch: "@@ -0,0 +1,4 @@\n+diff --git a/x b/x\n+@@ -1 +1 @@\n+-- a\n+++ b"},
		"crlf":             {Status: "added", Add: 2, Patch: "@@ -0,0 +1,2 @@\n+a\r\n+b\r"},
		"third_party/code": {Status: "added", Add: 1, Patch: "@@ -0,0 +1 @@\n+Subproject commit " + strings.Repeat("b", 40)},
	}
	for name, f := range want {
		f.Name = name
		want[name] = f
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	pull := c.get("/repos/acme/shop/pulls/1")
	if n := pull.field("changed_files"); n != float64(len(want)) {
		t.Errorf("changed_files is %v instead of %d", n, len(want))
	}
}

// TestDiffIsThreeDot: later changes to the base branch are not in the pull request.
func TestDiffIsThreeDot(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"mine": "1\n"}})
	repo.Commit("main", ghtest.Files{"theirs": "1\n"}, "meanwhile")
	pr.Push(ghtest.Files{"mine": "1\n2\n"}, "more")
	if got := filesOf(c.get("/repos/acme/shop/pulls/1/files")); len(got) != 1 || got["mine"].Add != 2 {
		t.Errorf("files: %v", got)
	}
	if n := c.get("/repos/acme/shop/pulls/1/commits").len(); n != 2 {
		t.Errorf("%d commits instead of 2", n)
	}
	if status := c.get("/repos/acme/shop/compare/main...change").field("status"); status != "diverged" {
		t.Errorf("the status of the comparison is %v", status)
	}
	pr.ForcePush(ghtest.Files{"other": "1\n"}, "anew")
	if got := filesOf(c.get("/repos/acme/shop/pulls/1/files")); len(got) != 1 || got["other"].Add != 1 {
		t.Errorf("files after a forced push: %v", got)
	}
}

func TestLargeDiffs(t *testing.T) {
	limits := ghtest.GitHubLimits()
	limits.PullFiles, limits.PatchLines, limits.PatchBytes, limits.DiffFiles, limits.CompareFiles, limits.PullCommits = 150, 10, 1000, 100, 120, 2
	_, repo, c := shop(t, ghtest.Options{Limits: &limits})
	files := ghtest.Files{"a-long": strings.Repeat("x\n", 50), "a-wide": strings.Repeat("x", 2000) + "\n"}
	for i := range 200 {
		files[fmt.Sprintf("f/%03d", i)] = "x\n"
	}
	pr := repo.OpenPR(ghtest.PR{Files: files})
	pr.Push(ghtest.Files{"m": "1"}, "second")
	pr.Push(ghtest.Files{"m": "2"}, "third")

	if n := c.get("/repos/acme/shop/pulls/1").field("changed_files"); n != 203.0 {
		t.Errorf("changed_files is %v, but must include the unlisted files", n)
	}
	first := c.get("/repos/acme/shop/pulls/1/files?per_page=1000")
	second := c.get("/repos/acme/shop/pulls/1/files?per_page=100&page=2")
	if first.len() != 100 || second.len() != 50 {
		t.Errorf("pages of %d and %d files instead of 100 and 50", first.len(), second.len())
	}
	got := filesOf(first)
	if got["a-long"].Patch != "" || got["a-long"].Add != 50 || got["a-wide"].Patch != "" || got["f/000"].Patch == "" {
		t.Errorf("only patches of large files must be left out: %v %v %v", got["a-long"], got["a-wide"], got["f/000"])
	}
	if n := c.get("/repos/acme/shop/pulls/1/commits").len(); n != 2 {
		t.Errorf("%d commits instead of 2", n)
	}
	c.refused(c.do("GET", "/repos/acme/shop/pulls/1", nil, "Accept", "application/vnd.github.diff"), 406, "too_large")
	compare := c.get("/repos/acme/shop/compare/main...change")
	if l, _ := compare.field("files").([]any); len(l) != 120 {
		t.Errorf("compare lists %d files instead of 120", len(l))
	}
	if c.get("/repos/acme/shop/compare/main...change?page=2").field("files") != nil {
		t.Error("compare lists files on its second page")
	}
}

func TestImportGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "real.go"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-q", "-m", "real work\n\nwith a body")
	}
	git("init", "-q")
	write("package real\n")
	write("package real\n\nvar X = 1\n")

	gh := ghtest.Start(t, ghtest.Options{})
	repo := gh.Repo("acme/real")
	repo.OpenPR(ghtest.PR{Head: repo.ImportGit(dir, "HEAD~1", "HEAD")})
	c := newClient(t, gh).asInstallation("acme")
	if got := filesOf(c.get("/repos/acme/real/pulls/1/files")); got["real.go"].Add != 2 {
		t.Errorf("files: %v", got)
	}
	commits := c.get("/repos/acme/real/pulls/1/commits")
	if m := commits.field(0, "commit", "message"); m != "real work\n\nwith a body" || commits.field(0, "author") != nil {
		t.Errorf("commit: %s", commits.raw)
	}
	write("package real\n\nvar X = 2\n")
	head := repo.PushGit("ann", "import", dir, "HEAD")
	if got := c.get("/repos/acme/real/pulls/1").field("head", "sha"); got != head {
		t.Errorf("the head is %v, want %s", got, head)
	}
	if n := c.get("/repos/acme/real/pulls/1/commits").len(); n != 2 {
		t.Errorf("%d commits after the push instead of 2", n)
	}
}

// TestSameScriptSameSHAs: the same script gives the same SHAs, so that golden files may name
// commits.
func TestSameScriptSameSHAs(t *testing.T) {
	heads := map[string]bool{}
	for range 2 {
		_, repo, _ := shop(t, ghtest.Options{})
		pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"b": "1", "a": "2"}})
		heads[pr.HeadSHA()] = true
		heads[repo.MergeGroup(pr).HeadSHA] = true
	}
	if len(heads) != 2 {
		t.Errorf("two runs of one script made %d different commits instead of 2", len(heads))
	}
}

func TestMergeability(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Draft: true, Files: ghtest.Files{"README.md": "# mine\n"}})
	state := func(want string) {
		t.Helper()
		if got := c.get("/repos/acme/shop/pulls/1").field("mergeable_state"); got != want {
			t.Errorf("mergeable_state is %v instead of %s", got, want)
		}
	}
	state("draft")
	pr.ReadyForReview()
	state("clean")
	repo.Commit("main", ghtest.Files{"README.md": "# theirs\n"}, "in the way")
	state("dirty")
	pr.ForcePush(ghtest.Files{"README.md": "# mine\n"}, "rebased")
	state("clean")
	sha := pr.Merge()
	pulls := c.get("/repos/acme/shop/commits/" + pr.HeadSHA() + "/pulls")
	if pulls.len() != 1 || pulls.field(0, "merge_commit_sha") != sha || pulls.field(0, "state") != "closed" {
		t.Errorf("pulls of a merged commit: %s", pulls.raw)
	}
	merged := c.get("/repos/acme/shop/pulls/1")
	if merged.field("merged") != true || merged.field("changed_files") != 1.0 {
		t.Errorf("merged pull request: %s", merged.raw)
	}
}
