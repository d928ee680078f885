package gh

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

func blobSHA(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
}

const rules = `[{"id": "test-focused-01", "severity": "warning"}]`

const someSHA = "5e1309b9a3c1f4b4b4e1ce1c3e4dd0c0e8b3f7a2"

// configHub has one config file. Its trees are named by their depth.
func configHub(answer func(r *http.Request) *http.Response) *fake {
	return &fake{answer: func(r *http.Request) *http.Response {
		if resp := answer(r); resp != nil {
			return resp
		}
		_, name, _ := strings.Cut(r.URL.Path, "/git/")
		switch name {
		case "trees/HEAD":
			return reply(200, treeJSON(treeSHA(0), "README.md", "blob", someSHA, ".github", "tree", treeSHA(1)))
		case "trees/" + treeSHA(1):
			return reply(200, treeJSON(treeSHA(1), "reviewgate", "tree", treeSHA(2)))
		case "trees/" + treeSHA(2):
			return reply(200, treeJSON(treeSHA(2), "review-rules.json", "blob", blobSHA(rules)))
		case "blobs/" + blobSHA(rules):
			return reply(200, rules)
		}
		return reply(404, `{"message":"Not Found"}`)
	}}
}

func treeSHA(depth int) string { return strings.Repeat(fmt.Sprint(depth+1), 40) }

// treeJSON is a tree; entries are names, types and SHAs, one after the other.
func treeJSON(sha string, entries ...string) string {
	list := []string{}
	for i := 0; i < len(entries); i += 3 {
		list = append(list, fmt.Sprintf(`{"path":%q,"mode":"100644","type":%q,"sha":%q}`, entries[i], entries[i+1], entries[i+2]))
	}
	return fmt.Sprintf(`{"sha":%q,"tree":[%s],"truncated":false}`, sha, strings.Join(list, ","))
}

func (f *fake) askedFor(what string) int {
	n := 0
	for _, s := range f.sent {
		if strings.Contains(s.what, what) {
			n++
		}
	}
	return n
}

func usual(*http.Request) *http.Response { return nil }

func TestConfigIsAskedForOnce(t *testing.T) {
	hub := configHub(usual)
	c := hub.client(t, nil)
	other := pullTarget
	other.RepoID = 1002
	for i, target := range []ports.Target{pullTarget, pullTarget, other, other, pullTarget} {
		read, _, err := c.repositoryConfig(t.Context(), target, "")
		if err != nil || len(read.Repository.Files) != 1 || string(read.Repository.Files[0].Text) != rules || !slices.Equal(read.RootFiles, []string{"README.md"}) {
			t.Fatalf("read %d: %+v, %v", i, read, err)
		}
	}
	if n := hub.askedFor("/git/blobs/"); n != 2 {
		t.Errorf("asked %d times for the blob of two repositories", n)
	}
	if n := hub.askedFor("/git/trees/" + treeSHA(1)); n != 2 {
		t.Errorf("asked %d times for a tree of two repositories", n)
	}
	if n := hub.askedFor("/git/trees/HEAD"); n != 5 {
		t.Errorf("asked for the branch's head %d times", n)
	}
}

// A failed read, or content that does not match its SHA, is read again.
func TestBrokenAnswersAreNotCached(t *testing.T) {
	same := func(status int, body string) func(string) *http.Response {
		return func(string) *http.Response { return reply(status, body) }
	}
	for name, bad := range map[string]func(true string) *http.Response{
		"error":               func(text string) *http.Response { return reply(500, text) },
		"forbidden":           same(403, `{"message":"no"}`),
		"gone":                same(404, `{"message":"no"}`),
		"part":                func(text string) *http.Response { return reply(206, text[:20]) },
		"cut short":           func(text string) *http.Response { r := reply(200, ""); r.Body = cut(text[:20]); return r },
		"cut without a trace": func(text string) *http.Response { return reply(200, text[:20]) },
		"another text":        same(200, `[]`),
		"empty":               same(200, ``),
		"no entries":          same(200, treeJSON(treeSHA(1))),
		"another tree":        same(200, treeJSON(treeSHA(7), "reviewgate", "tree", treeSHA(2))),
		"null":                same(200, `null`),
		"null entries":        same(200, `{"sha":"`+treeSHA(1)+`","tree":[null],"truncated":false}`),
		"more than is listed": same(200, `{"sha":"`+treeSHA(1)+`","tree":[{"path":"a","type":"blob","sha":"`+someSHA+`"}],"truncated":true}`),
	} {
		for _, what := range []string{"trees/" + treeSHA(1), "trees/" + treeSHA(2), "blobs/" + blobSHA(rules)} {
			t.Run(name+" "+what[:7], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // waits before it asks again
					broken := true
					hub := configHub(func(r *http.Request) *http.Response {
						if broken && strings.HasSuffix(r.URL.Path, what) {
							return bad(strings.Repeat(rules, 2))
						}
						return nil
					})
					c := hub.client(t, nil)
					for what, read := range map[string]func() (ports.ConfigSource, error){
						"repository": func() (ports.ConfigSource, error) {
							read, _, err := c.repositoryConfig(t.Context(), pullTarget, "")
							return read.Repository, err
						},
						"organisation": func() (ports.ConfigSource, error) { return c.organisationConfig(t.Context(), pullTarget) },
					} {
						broken = true
						if source, err := read(); err == nil {
							t.Fatalf("accepted %+v", source)
						}
						broken = false
						if source, err := read(); err != nil || len(source.Files) != 1 || string(source.Files[0].Text) != rules {
							t.Errorf("%s: read %+v, %v", what, source, err)
						}
					}
				})
			})
		}
	}
}

// A root that GitHub does not list completely may contain unseen config, whose rules would
// silently not apply.
func TestConfigBelowACutRoot(t *testing.T) {
	cut := strings.Replace(treeJSON(someSHA, "README.md", "blob", someSHA), `"truncated":false`, `"truncated":true`, 1)
	c := (&fake{answer: always(200, cut)}).client(t, nil)
	_, _, err := c.repositoryConfig(t.Context(), pullTarget, "")
	wantHostError(t, err, ports.HostInvalid)
	_, err = c.organisationConfig(t.Context(), pullTarget)
	wantHostError(t, err, ports.HostInvalid)
}

func TestConfigIsNotADirectory(t *testing.T) {
	for _, kind := range []string{"blob", "commit"} {
		hub := configHub(func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, treeSHA(1)) {
				return reply(200, treeJSON(treeSHA(1), "reviewgate", kind, treeSHA(2)))
			}
			return nil
		})
		if read, _, err := hub.client(t, nil).repositoryConfig(t.Context(), pullTarget, ""); err != nil || len(read.Repository.Files) != 1 || read.Repository.Files[0].Path != config.RepositoryDir || read.Repository.Files[0].Text != nil {
			t.Errorf("%s: %+v, %v", kind, read, err)
		}
	}
}

func TestBlobNames(t *testing.T) {
	const text = "hello\n"
	for name, want := range map[string]bool{
		blobSHA(text): true,
		fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))): true,
		blobSHA("hello"):        false,
		strings.Repeat("0", 40): false,
		"":                      false,
	} {
		if isBlob([]byte(text), name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if !isBlob(nil, emptyBlob) {
		t.Error("the empty file has another SHA")
	}
}

// A merge group is defined by its SHAs, so that its comparison is cached.
func TestComparisonsArePinned(t *testing.T) {
	t.Parallel() // it mostly waits
	hub := &fake{}
	hub.answer = func(r *http.Request) *http.Response {
		if !strings.Contains(r.URL.Path, "/compare/") {
			return reply(200, `{"id":1001,"name":"shop","owner":{"login":"acme"}}`)
		}
		if hub.asked() == 1 {
			r := reply(200, "")
			r.Body = cut(`{"total_commits":1,"comm`)
			return r
		}
		return reply(200, `{"total_commits":1,"merge_base_commit":{"sha":"a"},"commits":[{"sha":"c"}],"files":[{"filename":"a.txt","status":"added","patch":"+a"}]}`)
	}
	c := hub.client(t, nil)
	for range 3 {
		src := c.Source(groupTarget)
		files, err := src.Files(t.Context())
		if err != nil || len(files.Files) != 1 {
			t.Fatalf("files %+v, %v", files, err)
		}
	}
	if hub.asked() != 2 {
		t.Errorf("compared %d times", hub.asked())
	}
	branch := groupTarget
	branch.HeadSHA = "main" // a branch is not a fixed commit
	for range 2 {
		if _, err := c.Source(branch).Files(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if hub.asked() != 4 {
		t.Errorf("a branch was compared %d times", hub.asked()-2)
	}
}

// Even when a server allows an answer to be reused without asking, the client asks again,
// because a head could be outdated.
func TestOtherAnswersAreRevalidated(t *testing.T) {
	t.Parallel()
	for _, header := range [][]string{
		{"Cache-Control", "private, max-age=60, s-maxage=60"},
		{"Cache-Control", "public, immutable, max-age=31536000"},
		{"Cache-Control", "max-age=0, stale-if-error=86400"},
		{"Expires", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)},
	} {
		hub := &fake{}
		date := time.Now().UTC().Format(http.TimeFormat)
		hub.answer = func(r *http.Request) *http.Response {
			if hub.asked() > 1 {
				return reply(500, ``)
			}
			return reply(200, openPullJSON, append([]string{"Date", date, "ETag", `"x"`}, header...)...)
		}
		c := hub.client(t, nil)
		if _, err := c.Pull(t.Context(), pullTarget); err != nil {
			t.Fatal(err)
		}
		_, err := c.Pull(t.Context(), pullTarget)
		if err == nil {
			t.Errorf("%q: answered from the cache without asking", header)
		}
	}
}

// The calls of one review are limited. The read that would exceed the limit is refused
// without a call, and the error names it.
func TestBudget(t *testing.T) {
	file := func(i int) string {
		return fmt.Sprintf(`{"filename":"f%d.go","status":"modified","sha":"%040x","contents_url":"https://github.test/x?ref=%s"}`, i, i, strings.Repeat("b", 40))
	}
	var files []string
	for i := range 20 {
		files = append(files, file(i))
	}
	hub := &fake{answer: func(r *http.Request) *http.Response {
		switch {
		case strings.HasSuffix(r.URL.Path, "/files"):
			return reply(200, "["+strings.Join(files, ",")+"]")
		case strings.Contains(r.URL.Path, "/compare/"):
			return reply(200, `{"merge_base_commit":{"sha":"`+strings.Repeat("a", 40)+`"}}`)
		case strings.HasSuffix(r.URL.Path, "/commits"):
			return reply(200, "[]")
		}
		return reply(200, openPullJSON)
	}}
	c := hub.client(t, func(c *Config) { c.CallsPerReview = 4 })
	src := c.Source(pullTarget)
	if _, err := src.PullRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	read, err := src.Files(t.Context())
	if n := len(read.Incomplete); err != nil || n == 0 || !strings.Contains(read.Incomplete[n-1].Why, "all 4 calls") {
		t.Errorf("incomplete %+v, %v", read.Incomplete, err)
	}
	if src.Calls() != 4 || len(hub.sent) != 4 {
		t.Errorf("counted %d calls, sent %d", src.Calls(), len(hub.sent))
	}
	_, err = src.Commits(t.Context())
	if he := wantHostError(t, err, ports.HostBudget); he.Op != "read the commits" || len(hub.sent) != 4 {
		t.Errorf("%v, sent %d", err, len(hub.sent))
	}
	// Other calls and other reviews do not count.
	if _, err := c.Pull(t.Context(), pullTarget); err != nil {
		t.Error(err)
	}
	var wg sync.WaitGroup
	second := c.Source(pullTarget)
	for range 10 {
		wg.Go(func() { _, _ = second.Commits(context.Background()) })
	}
	wg.Wait()
	if second.Calls() != 4 {
		t.Errorf("parallel reads made %d calls", second.Calls())
	}
}

// An answer from memory costs nothing. A repeated attempt costs another call.
func TestBudgetCountsTheNetwork(t *testing.T) {
	t.Parallel() // it mostly waits
	hub := &fake{}
	hub.answer = func(*http.Request) *http.Response {
		if hub.asked() == 1 {
			return reply(502, "")
		}
		return reply(200, `{"total_commits":0,"merge_base_commit":{"sha":"a"},"commits":[],"files":[]}`)
	}
	c := hub.client(t, nil)
	for _, want := range []int{3, 0} { // a token and two tries, then nothing
		src := c.Source(groupTarget)
		if _, err := src.Files(t.Context()); err != nil || src.Calls() != want {
			t.Errorf("%d calls, want %d: %v", src.Calls(), want, err)
		}
	}
}
