package ghtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// TestCommitsMatchGit: commits are written without git, and are the same bytes that git
// fast-import writes. The expected SHAs come from it.
func TestCommitsMatchGit(t *testing.T) {
	repo := ghtest.Start(t, ghtest.Options{}).Repo("acme/shop")
	for _, step := range []struct {
		sha, message string
		files        ghtest.Files
	}{
		{"bc40b3e90efedcbcbce88032327b33bd7fc424c6", "start", ghtest.Files{
			"README.md": "# x\n", "a/b/c.go": "package c\n", "a.b": "1", "a-b": "2", "a/z": "3", "bin": "a\x00b", "old/x": "1", "old/y": "2",
		}},
		{"a257cbed4dd240b8495d16abc3e5c76069abb287", "second\n\nbody\n", ghtest.Files{
			"a": ghtest.Gone, "a/new": "x\n", "link": ghtest.Symlink("README.md"), "sub": ghtest.Submodule(strings.Repeat("a", 40)),
			"x.sh": ghtest.Executable("#!\n"), "moved": ghtest.MovedFrom("old"), "README.md": "",
		}},
		{"d15f765da5f7a71dda15c2b499539cfcd9e2545c", "third ünï", ghtest.Files{
			"moved/x/y": "file under a file", "moved/y": ghtest.Gone, "link": ghtest.Gone, "none": ghtest.Gone, "quote\"d\n\\": "1",
		}},
		{"3f604a48e3745fc6b696ff5d65979f6acca5010e", "", ghtest.Files{}},
		{"4d4b729cdad8fe873265c9f9d1ea1212df8520a4", "x", ghtest.Files{"r2": ghtest.MovedFrom("README.md"), "README.md": "again"}},
		{"f29274615ccde53a02da04a645115179fc63512b", "all gone", ghtest.Files{
			"r2": ghtest.Gone, "README.md": ghtest.Gone, "a": ghtest.Gone, "moved": ghtest.Gone, "quote\"d\n\\": ghtest.Gone, "sub": ghtest.Gone,
			"x.sh": ghtest.Gone, "a.b": ghtest.Gone, "a-b": ghtest.Gone, "bin": ghtest.Gone,
		}},
	} {
		if sha := repo.Commit("main", step.files, step.message); sha != step.sha {
			t.Errorf("commit %q is %s, git's is %s", step.message, sha, step.sha)
		}
	}
}

func TestPathsThatGitRefuses(t *testing.T) {
	for _, files := range []ghtest.Files{{"": "x"}, {"/a": "x"}, {"a/": "x"}, {"a//b": "x"}, {"../a": "x"}, {".git/config": "x"}, {"b": ghtest.MovedFrom("nothing")}, {"s": ghtest.Submodule("no SHA")}} {
		t.Run(fmt.Sprintf("%q", files), func(t *testing.T) {
			gh := ghtest.Start(t, ghtest.Options{Fail: func(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }})
			defer func() {
				if failed, _ := recover().(string); !strings.HasPrefix(failed, "commit to acme/shop: ") {
					t.Errorf("the refusal is %q", failed)
				}
			}()
			gh.Repo("acme/shop").Commit("main", files, "odd")
		})
	}
}

// TestHistoryOfMerges: the commits of a merged branch are known without git. Questions that
// need git are put to it.
func TestHistoryOfMerges(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	one := repo.OpenPR(ghtest.PR{Head: "one", Files: ghtest.Files{"one": "1"}})
	two := repo.OpenPR(ghtest.PR{Head: "two", Files: ghtest.Files{"two": "1"}})
	one.Merge()
	repo.Commit("main", ghtest.Files{"main": "1"}, "on main")
	one.Repo().Commit("two", ghtest.Files{"two": "2"}, "more")
	for basehead, want := range map[string]string{
		"main..." + two.HeadSHA():                "diverged 2 3",
		one.HeadSHA() + "...main":                "ahead 2 0",
		"main..." + one.HeadSHA():                "behind 0 2",
		one.HeadSHA() + "..." + "two":            "diverged 2 1",
		one.BaseSHA() + "..." + "main":           "ahead 3 0",
		two.HeadSHA() + "..." + "refs/heads/two": "identical 0 0",
	} {
		r := c.get("/repos/acme/shop/compare/" + basehead)
		if got := fmt.Sprintf("%v %v %v", r.field("status"), r.field("ahead_by"), r.field("behind_by")); got != want {
			t.Errorf("%s: %s, want %s", basehead, got, want)
		}
	}
	if n := c.get("/repos/acme/shop/pulls/1/commits").len(); n != 1 {
		t.Errorf("a merged pull request has %d commits", n)
	}
}
