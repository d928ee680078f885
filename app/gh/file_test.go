package gh

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

// Files are read at the named commit, even a fork's, and each only once.
func TestFileAtACommit(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	big := strings.Repeat("A line of a report.\n", 80_000) // 1.6 MB
	p := w.repo.OpenPR(ghtest.PR{Title: "Add reports", Author: "bob", Fork: "bob", Files: ghtest.Files{
		"docs/a b/päper.md": "first\n", "big.md": big, "link.md": ghtest.Symlink("big.md"), "empty.md": "",
	}})
	first := p.HeadSHA()
	p.Push(ghtest.Files{"docs/a b/päper.md": "second\n"}, "again")

	src := w.client.Source(w.target(p))
	const most = 1 << 20
	for _, tt := range []struct {
		commit, path, want string
	}{
		{first, "docs/a b/päper.md", "first\n"}, {p.HeadSHA(), "docs/a b/päper.md", "second\n"},
		{first, "big.md", big[:most]}, {first, "link.md", big[:most]}, {first, "empty.md", ""},
	} {
		for range 2 {
			text, err := src.File(t.Context(), tt.commit, tt.path, most)
			w.must(err)
			if string(text) != tt.want {
				t.Errorf("%s at %.7s has %d bytes, want %d", tt.path, tt.commit, len(text), len(tt.want))
			}
		}
	}
	if n := src.Calls(); n != 7 { // a token, five files, and the text of the large one once
		t.Errorf("%d calls, want 7", n)
	}
	var host *ports.HostError
	if _, err := src.File(t.Context(), first, "docs/none.md", most); !errors.As(err, &host) || host.Kind != ports.HostNotFound {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, path := range []string{"", "..", "../shop/a.md", "docs/./a.md"} {
		if _, err := src.File(t.Context(), first, path, most); !errors.As(err, &host) {
			t.Errorf("the path %q: %v", path, err)
		}
	}
	if _, err := src.File(t.Context(), "main", "big.md", most); !errors.As(err, &host) || host.Kind != ports.HostInvalid {
		t.Errorf("a branch instead of a commit: %v", err)
	}
	for _, want := range []string{"one\n", "two\n"} { // a branch moves, so nothing is kept
		w.repo.Commit("main", ghtest.Files{"tip.md": want}, "tip")
		if text, err := src.File(t.Context(), ports.Branches+"main", "tip.md", most); err != nil || string(text) != want {
			t.Errorf("at the tip: %q, %v, want %q", text, err, want)
		}
	}
}

// A text that was cut or replaced on its way is refused.
func TestFileIsWhole(t *testing.T) {
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	tests := map[string]struct {
		answer string
		want   string
		fails  bool
	}{
		"whole":              {fmt.Sprintf(`{"type":"file","sha":%q,"encoding":"base64","content":%q}`, blobSHA("text"), encode("te")[:2]+"\n"+encode("text")[2:]), "text", false},
		"cut":                {fmt.Sprintf(`{"type":"file","sha":%q,"encoding":"base64","content":%q}`, blobSHA("text"), encode("tex")), "", true},
		"no base64":          {fmt.Sprintf(`{"type":"file","sha":%q,"encoding":"base64","content":"?"}`, blobSHA("text")), "", true},
		"no SHA":             {`{"type":"file","encoding":"base64","content":""}`, "", true},
		"no type":            {fmt.Sprintf(`{"sha":%q,"encoding":"base64","content":""}`, blobSHA("")), "", true},
		"a submodule":        {fmt.Sprintf(`{"type":"submodule","sha":%q}`, someSHA), "", false},
		"a directory":        {`[]`, "", true},
		"large and cut":      {fmt.Sprintf(`{"type":"file","sha":%q,"encoding":"none","content":""}`, blobSHA("large text")), "", true},
		"large and complete": {fmt.Sprintf(`{"type":"file","sha":%q,"encoding":"none","content":""}`, blobSHA("large")), "large", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // waits before it asks again
				hub := &fake{answer: func(r *http.Request) *http.Response {
					if strings.Contains(r.URL.Path, "/git/blobs/") {
						return reply(200, "large")
					}
					return reply(200, tt.answer)
				}}
				src := hub.client(t, nil).Source(pullTarget)
				text, err := src.File(t.Context(), someSHA, "a.md", 100)
				if (err != nil) != tt.fails || string(text) != tt.want {
					t.Errorf("read %q, %v", text, err)
				}
			})
		})
	}
}

// Remarks are people's comments that contain the marker, from all pages.
func TestRemarks(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Title: "Add tax", Files: ghtest.Files{"tax.go": "package main\n"}})
	target := w.target(p)
	p.Comment("alice", "the words, first")
	_, err := w.client.CreateComment(t.Context(), target, "the words, by ourselves")
	w.must(err)
	for range 150 {
		p.Comment("bob", "nothing")
	}
	p.Comment("bob", "at last the words")

	src := w.client.Source(target)
	remarks, err := src.Remarks(t.Context(), "the words")
	w.must(err)
	var got []string
	for _, r := range remarks {
		got = append(got, r.Author+": "+r.Body)
	}
	if diff := cmp.Diff([]string{"alice: the words, first", "bob: at last the words"}, got); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
	if n := src.Calls(); n != 2 { // two pages
		t.Errorf("%d calls, want 2", n)
	}

	w.repo.Grant("alice", "write")
	if p, err := src.Permission(t.Context(), "alice"); err != nil || !p.CanWrite() || src.Calls() != 3 {
		t.Errorf("alice may %q, %v after %d calls", p, err, src.Calls())
	}
	target.Kind, target.Number = ports.TargetGroup, 0
	if remarks, err := w.client.Source(target).Remarks(t.Context(), ""); len(remarks) > 0 || err != nil {
		t.Errorf("a merge group that names no pull request has %d remarks, %v", len(remarks), err)
	}
}

// Comments by Apps and bots are not remarks, and neither are our own, from any account.
func TestRemarksAreByPeople(t *testing.T) {
	const by = `{"id": %d, "body": "words", "user": %s, "performed_via_github_app": %s}`
	comments := []string{
		fmt.Sprintf(by, 2, `{"login": "alice", "type": "User"}`, `null`),
		fmt.Sprintf(by, 1, `{"login": "bob", "type": "User"}`, `{"id": 999}`), // written by a tool that bob uses
		fmt.Sprintf(by, 3, `{"login": "carol", "type": "User"}`, fmt.Sprintf(`{"id": %d}`, testApp)),
		fmt.Sprintf(by, 4, `{"login": "tidy[bot]", "type": "Bot"}`, `null`),
		fmt.Sprintf(by, 5, `{"login": "acme", "type": "Organization"}`, `null`),
		fmt.Sprintf(by, 6, `{"login": "", "type": "User"}`, `null`),
		fmt.Sprintf(by, 7, `null`, `null`),
		fmt.Sprintf(by, 8, `{"login": "dave"}`, `null`),
	}
	hub := &fake{answer: always(200, "["+strings.Join(comments, ",")+"]")}
	remarks, err := hub.client(t, nil).Source(pullTarget).Remarks(t.Context(), "words")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]ports.Remark{{ID: 1, Author: "bob", Body: "words"}, {ID: 2, Author: "alice", Body: "words"}}, remarks); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
}

// A list that never ends is not returned as if it were complete.
func TestRemarksWithoutEnd(t *testing.T) {
	hub := &fake{answer: func(*http.Request) *http.Response {
		return reply(200, "[]", "Link", `<https://x?page=2>; rel="next"`)
	}}
	if remarks, err := hub.client(t, nil).Source(pullTarget).Remarks(t.Context(), "words"); err == nil || hub.asked() != maxCommentPages {
		t.Errorf("%v, %v after %d calls", remarks, err, hub.asked())
	}
}
