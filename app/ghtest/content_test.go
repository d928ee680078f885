package ghtest_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestContents(t *testing.T) {
	limits := ghtest.GitHubLimits()
	limits.ContentBytes, limits.DirectoryFiles, limits.TreeEntries = 100, 3, 4
	gh, repo, c := shop(t, ghtest.Options{Limits: &limits})
	repo.Commit("main", ghtest.Files{
		"dir/a b.txt": "hello\n", "dir/[x].txt": "x", "dir/link": ghtest.Symlink("a b.txt"), "dir/z1": "1", "big": strings.Repeat("x", 101),
	}, "files")
	repo.Commit("topic/one", ghtest.Files{"dir/a b.txt": "other\n"}, "on a branch")

	r := c.get("/repos/acme/shop/contents/dir/a%20b.txt")
	if text, err := base64.StdEncoding.DecodeString(r.field("content").(string)); err != nil || string(text) != "hello\n" {
		t.Errorf("content %q: %v", text, err)
	}
	for path, want := range map[string]string{
		"dir/a%20b.txt?ref=topic/one": "other\n", "dir/a%20b.txt?ref=refs/heads/topic/one": "other\n", "dir/%5Bx%5D.txt": "x", "dir/link": "hello\n",
		"big": strings.Repeat("x", 101),
	} {
		r := c.do("GET", "/repos/acme/shop/contents/"+path, nil, "Accept", "application/vnd.github.raw+json")
		if c.want(r, http.StatusOK); string(r.raw) != want {
			t.Errorf("%s raw: %q", path, r.raw)
		}
	}
	if big := c.get("/repos/acme/shop/contents/big"); big.field("encoding") != "none" || big.field("content") != "" {
		t.Errorf("a large file came with content: %s", big.raw)
	}
	if n := c.get("/repos/acme/shop/contents/dir").len(); n != 3 {
		t.Errorf("%d entries of a directory instead of 3", n)
	}
	c.refused(c.do("GET", "/repos/acme/shop/contents/none", nil), http.StatusNotFound, "Not Found")
	c.refused(c.do("GET", "/repos/acme/shop/contents/big?ref=none", nil), http.StatusNotFound, "No commit found")
	tree := c.get("/repos/acme/shop/git/trees/main?recursive=1")
	if l := tree.field("tree").([]any); len(l) != 4 || tree.field("truncated") != true {
		t.Errorf("a tree of %d entries, truncated: %v", len(l), tree.field("truncated"))
	}
	if tree := c.get("/repos/acme/shop/git/trees/main"); tree.field("truncated") != false {
		t.Error("a tree that isn't recursive is truncated")
	}
	for _, ref := range []string{"HEAD", "refs/heads/topic/one", "heads%2Ftopic%2Fone", repo.Branch("topic/one")} {
		c.want(c.do("GET", "/repos/acme/shop/git/trees/"+ref, nil), http.StatusOK)
	}
	c.refused(c.do("GET", "/repos/acme/shop/git/trees/refs/heads/none", nil), http.StatusNotFound, "Not Found")
	gh.Repo("acme/new")
	c.refused(c.do("GET", "/repos/acme/new/git/trees/HEAD", nil), http.StatusConflict, "Git Repository is empty.")
	c.refused(c.do("GET", "/repos/acme/shop/git/blobs/"+strings.Repeat("0", 40), nil), http.StatusNotFound, "Not Found")
	c.refused(c.do("GET", "/repos/acme/shop/git/ref/heads/none", nil), http.StatusNotFound, "Not Found")
	if sha := c.get("/repos/acme/shop/git/ref/heads/topic/one").field("object", "sha"); sha != repo.Branch("topic/one") {
		t.Errorf("ref is at %v", sha)
	}
}

// TestTreeBytes: a recursive list is also cut by its size.
func TestTreeBytes(t *testing.T) {
	limits := ghtest.GitHubLimits()
	limits.TreeBytes = 2000
	_, repo, c := shop(t, ghtest.Options{Limits: &limits})
	files := ghtest.Files{}
	for i := range 20 {
		files[strings.Repeat("n", i+1)] = "x"
	}
	repo.Commit("main", files, "files")
	tree := c.get("/repos/acme/shop/git/trees/main?recursive=1")
	if l := tree.field("tree").([]any); len(l) == 0 || len(l) > 10 || tree.field("truncated") != true {
		t.Errorf("a tree of %d entries, truncated: %v", len(l), tree.field("truncated"))
	}
}

func TestPullLists(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	one := repo.OpenPR(ghtest.PR{Head: "one", Files: ghtest.Files{"a": "1"}})
	two := repo.OpenPR(ghtest.PR{Head: "one", Base: "main"}) // a second from the same branch
	fork := repo.OpenPR(ghtest.PR{Head: "one", Fork: "mallory", Author: "mallory", Files: ghtest.Files{"b": "1"}})
	one.Close()
	for query, want := range map[string]int{
		"": 2, "?state=closed": 1, "?state=all": 3, "?head=acme:one": 1, "?head=mallory:one": 1, "?head=one&state=all": 3, "?base=release": 0, "?per_page=1": 1,
	} {
		if n := c.get("/repos/acme/shop/pulls" + query).len(); n != want {
			t.Errorf("%q: %d pull requests instead of %d", query, n, want)
		}
	}
	if first := c.get("/repos/acme/shop/pulls").field(0, "number"); first != float64(fork.Number) {
		t.Errorf("newest isn't first: %v", first)
	}
	for sha, want := range map[string]int{two.HeadSHA(): 1, fork.HeadSHA(): 1, repo.Branch("main"): 0} {
		if n := c.get("/repos/acme/shop/commits/" + sha + "/pulls").len(); n != want {
			t.Errorf("%s: %d pull requests instead of %d", sha, n, want)
		}
	}
	fork.Fork().Settings.Delete()
	if repo := c.get("/repos/acme/shop/pulls/3").field("head", "repo"); repo != nil {
		t.Errorf("the head of a deleted fork has a repository: %v", repo)
	}
	if n := c.get("/repos/acme/shop/pulls/3/files").len(); n != 1 {
		t.Errorf("%d files of a deleted fork's pull request", n)
	}
}
