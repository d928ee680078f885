package gh

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/review"
)

func blobSHA(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
}

const rules = `[{"id": "test-focused-01", "severity": "warning"}]`

// configHub has one config file.
func configHub(blob func() *http.Response) *fake {
	return &fake{answer: func(r *http.Request) *http.Response {
		if strings.Contains(r.URL.Path, "/git/blobs/") {
			return blob()
		}
		return reply(200, fmt.Sprintf(`[{"name":"review-rules.json","path":".github/reviewgate/review-rules.json","sha":%q,"type":"file"}]`, blobSHA(rules)))
	}}
}

func (f *fake) blobs() int {
	n := 0
	for _, s := range f.sent {
		if strings.Contains(s.what, "/git/blobs/") {
			n++
		}
	}
	return n
}

func TestBlobsAreAskedForOnce(t *testing.T) {
	hub := configHub(func() *http.Response { return reply(200, rules) })
	c := hub.client(t, nil)
	other := pullTarget
	other.RepoID = 1002
	for i, target := range []review.Target{pullTarget, pullTarget, other, other, pullTarget} {
		_, files, err := c.configFiles(t.Context(), target)
		if err != nil || len(files) != 1 || string(files[0].Text) != rules {
			t.Fatalf("read %d: %+v, %v", i, files, err)
		}
	}
	if hub.blobs() != 2 {
		t.Errorf("asked %d times for the blob of two repositories", hub.blobs())
	}
}

// What failed, or is not what the SHA says, must be asked for again.
func TestBrokenAnswersAreNotKept(t *testing.T) {
	for name, bad := range map[string]func() *http.Response{
		"error":               func() *http.Response { return reply(500, rules) },
		"forbidden":           func() *http.Response { return reply(403, `{"message":"no"}`) },
		"gone":                func() *http.Response { return reply(404, `{"message":"no"}`) },
		"part":                func() *http.Response { return reply(206, rules[:20]) },
		"cut short":           func() *http.Response { r := reply(200, ""); r.Body = cut(rules[:20]); return r },
		"cut without a trace": func() *http.Response { return reply(200, rules[:20]) },
		"another text":        func() *http.Response { return reply(200, `[]`) },
		"empty":               func() *http.Response { return reply(200, ``) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := true
			hub := configHub(func() *http.Response {
				if broken {
					return bad()
				}
				return reply(200, rules)
			})
			c := hub.client(t, nil)
			if _, files, err := c.configFiles(t.Context(), pullTarget); err == nil {
				t.Fatalf("took %+v", files)
			}
			broken = false
			_, files, err := c.configFiles(t.Context(), pullTarget)
			if err != nil || string(files[0].Text) != rules {
				t.Errorf("read %+v, %v", files, err)
			}
		})
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
		t.Error("the empty file has another name")
	}
}

// A merge group is what its SHAs say: what was compared once is known.
func TestComparisonsArePinned(t *testing.T) {
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
	branch.HeadSHA = "main" // pins nothing
	for range 2 {
		if _, err := c.Source(branch).Files(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if hub.asked() != 4 {
		t.Errorf("a branch was asked for %d times", hub.asked()-2)
	}
}

// Answers that a server lets be used again without asking are asked for all the
// same: a head would be old.
func TestNothingElseIsTakenUnasked(t *testing.T) {
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
			t.Errorf("%q: taken from the cache unasked", header)
		}
	}
}

// The calls of one review are bounded: the read that goes beyond is refused
// without asking, and says which it is.
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
		case strings.Contains(r.URL.Path, "/trees/"):
			return reply(200, `{"tree":[]}`)
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
	_, err := src.Files(t.Context())
	he := wantHostError(t, err, review.HostBudget)
	if he.Op != "find where the change begins" || he.Temporary() || !strings.Contains(err.Error(), "all 4 calls") {
		t.Errorf("error %+v: %v", he, err)
	}
	if src.Calls() != 4 || len(hub.sent) != 4 {
		t.Errorf("counted %d calls, sent %d", src.Calls(), len(hub.sent))
	}
	_, err = src.Commits(t.Context())
	if he := wantHostError(t, err, review.HostBudget); he.Op != "read the commits" || len(hub.sent) != 4 {
		t.Errorf("%v, sent %d", err, len(hub.sent))
	}
	// What is not the review's own reading is not counted, nor another review.
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
		t.Errorf("side by side %d calls were made", second.Calls())
	}
}

// What memory has costs nothing, a repeated read costs again.
func TestBudgetCountsTheNetwork(t *testing.T) {
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
