package localgit

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/needs"
)

// remoteRepo is a repository on GitHub, with a change.
func remoteRepo(t *testing.T) (*ghtest.Server, Remote, *ghtest.PullRequest) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	hub := ghtest.Start(t, ghtest.Options{})
	repo := hub.Repo("acme/shop")
	base := ghtest.Files{"old.go": "package old\n\nfunc A() {}\n", "gone.txt": "x\n", "run.sh": "echo\n", ".gitattributes": "*.go -diff\n"}
	for i := range 50 {
		base[fmt.Sprintf("stays/f%02d.txt", i)] = fmt.Sprint("stays ", i, "\n")
	}
	repo.Commit("main", base, "start")
	p := repo.OpenPR(ghtest.PR{Fork: "bob", Files: ghtest.Files{
		"tax.go": "package tax\n", "new.go": ghtest.MovedFrom("old.go"), "gone.txt": ghtest.Gone,
		"run.sh": ghtest.Executable("echo\n"), "stays/f00.txt": "changed\n", "logo.png": "\x89PNG\x00",
		"lib": ghtest.Submodule(strings.Repeat("5", 40)),
	}})
	return hub, Remote{URL: hub.URL + "/acme/shop.git", Token: hub.Token("acme")}, p
}

// nothingLeft reports files that a fetch left behind.
func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "reviewgate-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files left behind: %v, %v", left, err)
	}
}

// A fetched change is read like any other. It takes two fetches, and unchanged contents are
// not sent.
func TestFetch(t *testing.T) {
	hub, remote, p := remoteRepo(t)
	sent := 0
	hub.On("POST /{owner}/{repo}/git-upload-pack", func(x *ghtest.Exchange) { sent += len(x.Proceed().Body) })
	files, err := Fetch(t.Context(), remote, p.BaseSHA(), p.HeadSHA())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files.Files {
		got = append(got, fmt.Sprintf("%s %s>%s +%d -%d %t", f.Status, f.PreviousPath, f.Path, f.Additions, f.Deletions, f.Binary))
	}
	slices.Sort(got)
	want := []string{
		"added >lib +1 -0 false", "added >logo.png +1 -0 false", "added >tax.go +1 -0 false", "changed >run.sh +0 -0 false",
		"modified >stays/f00.txt +1 -1 false", "removed >gone.txt +0 -1 false", "renamed old.go>new.go +0 -0 false",
	}
	if !slices.Equal(got, want) || files.HeadSHA != p.HeadSHA() {
		t.Errorf("at %s:\n%s\nwant\n%s", files.HeadSHA, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	posts := hub.Calls.To("POST /{owner}/{repo}/git-upload-pack")
	if len(posts) != 2 || sent == 0 || sent > 20_000 {
		t.Errorf("%d bytes in %d fetches", sent, len(posts))
	}
	nothingLeft(t)
}

// A failed fetch gives an error that names neither the token nor the directory, and leaves no
// files.
func TestFetchFails(t *testing.T) {
	for name, tt := range map[string]func(*ghtest.Server, *Remote, *string){
		"wrong token":      func(_ *ghtest.Server, r *Remote, _ *string) { r.Token = "ghs_wrong" },
		"no such commit":   func(_ *ghtest.Server, _ *Remote, head *string) { *head = strings.Repeat("a", 40) },
		"no commit's name": func(_ *ghtest.Server, _ *Remote, head *string) { *head = "--upload-pack=touch" },
		"no https":         func(_ *ghtest.Server, r *Remote, _ *string) { r.URL = "http://git.example/acme/shop.git" },
		"a file":           func(_ *ghtest.Server, r *Remote, _ *string) { r.URL = "file:///acme/shop.git" },
		"a program":        func(_ *ghtest.Server, r *Remote, _ *string) { r.URL = "ext::touch" },
		"a password":       func(_ *ghtest.Server, r *Remote, _ *string) { r.URL = "https://a:b@git.example/acme/shop.git" },
		"a redirect": func(hub *ghtest.Server, _ *Remote, _ *string) {
			hub.On("GET /{owner}/{repo}/info/refs", func(x *ghtest.Exchange) {
				x.Answer(&ghtest.Response{Status: 301, Header: http.Header{"Location": {hub.URL + "/acme/other.git/info/refs?service=git-upload-pack"}}})
			})
		},
		"half an answer": func(hub *ghtest.Server, _ *Remote, _ *string) {
			hub.On("POST /{owner}/{repo}/git-upload-pack", func(x *ghtest.Exchange) { x.Cut(len(x.Proceed().Body) / 2) })
		},
		"the contents don't come": func(hub *ghtest.Server, _ *Remote, _ *string) {
			hub.On("POST /{owner}/{repo}/git-upload-pack", func(x *ghtest.Exchange) {
				if x.N > 1 {
					x.Drop()
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub, remote, p := remoteRepo(t)
			head := p.HeadSHA()
			tt(hub, &remote, &head)
			files, err := Fetch(t.Context(), remote, p.BaseSHA(), head)
			if err == nil || len(files.Files) > 0 {
				t.Fatalf("%+v, %v", files, err)
			}
			t.Log(err)
			if strings.Contains(err.Error(), remote.Token) || strings.Contains(err.Error(), "reviewgate-fetch") {
				t.Errorf("the error contains the token or the directory: %v", err)
			}
			nothingLeft(t)
		})
	}
}

// Without git there is no call, and the error has a message for people.
func TestFetchWithoutGit(t *testing.T) {
	hub, remote, p := remoteRepo(t)
	base, head := p.BaseSHA(), p.HeadSHA()
	t.Setenv("PATH", t.TempDir())
	hub.Calls.Reset()
	if _, err := Fetch(t.Context(), remote, base, head); !errors.Is(err, ErrNoGit) || len(hub.Calls.All()) > 0 {
		t.Errorf("%v, %d calls", err, len(hub.Calls.All()))
	}
	nothingLeft(t)
}

// A fetch that takes too long or brings too much ends and leaves nothing.
func TestFetchIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*bounds)
		says   string
	}{
		"time":   {func(b *bounds) { b.time = 300 * time.Millisecond }, "took longer"},
		"bytes":  {func(b *bounds) { b.bytes = 100 }, "more than 0 MB"},
		"files":  {func(b *bounds) { b.files = 3 }, "more than 3 files"},
		"memory": {func(b *bounds) { b.memory = 64 << 10 }, ""}, // git has many messages for this
	} {
		t.Run(name, func(t *testing.T) {
			hub, remote, p := remoteRepo(t)
			most := fetchBounds
			tt.change(&most)
			if name == "time" || name == "bytes" { // the server hangs
				hub.On("POST /{owner}/{repo}/git-upload-pack", func(x *ghtest.Exchange) { <-x.Context().Done() })
			}
			files, err := fetchWithin(t.Context(), most, remote, p.BaseSHA(), p.HeadSHA())
			if name == "memory" && runtime.GOOS != "linux" {
				needs.Lacks(t, "only Linux bounds the memory of another process")
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) || len(files.Files) > 0 || MayPass(err) {
				t.Errorf("%+v, %v", files, err)
			}
			t.Log(err)
			nothingLeft(t)
		})
	}
}

// The incoming bytes are counted, and a fetch that exceeds the limit is dropped.
func TestFetchStopsAtTheLimit(t *testing.T) {
	hub := ghtest.Start(t, ghtest.Options{})
	t.Setenv("TMPDIR", t.TempDir())
	repo := hub.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"a.txt": "a\n"}, "start")
	noise := make([]byte, 8<<20) // random bytes can't be compressed
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	p := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"noise.bin": string(noise)}})
	most := fetchBounds
	most.bytes = 2 << 20
	files, err := fetchWithin(t.Context(), most, Remote{URL: hub.URL + "/acme/shop.git", Token: hub.Token("acme")}, p.BaseSHA(), p.HeadSHA())
	if err == nil || !strings.Contains(err.Error(), "more than 2 MB") || len(files.Files) > 0 {
		t.Errorf("%d files, %v", len(files.Files), err)
	}
	nothingLeft(t)
}

// Errors of the server may pass. A refusal or a change above the limit stays.
func TestErrorsThatMayPass(t *testing.T) {
	for name, tt := range map[string]struct {
		trouble func(*ghtest.Exchange)
		passes  bool
	}{
		"server error": {func(x *ghtest.Exchange) { x.Fail(503, "no server is available") }, true},
		"a limit":      {func(x *ghtest.Exchange) { x.Fail(429, "wait") }, true},
		"cut":          {func(x *ghtest.Exchange) { x.Cut(len(x.Proceed().Body) / 2) }, true},
		"dropped":      {func(x *ghtest.Exchange) { x.Drop() }, true},
		"refused":      {func(x *ghtest.Exchange) { x.Fail(403, "no") }, false},
		"gone":         {func(x *ghtest.Exchange) { x.Fail(404, "no") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			hub, remote, p := remoteRepo(t)
			hub.On("POST /{owner}/{repo}/git-upload-pack", tt.trouble)
			if _, err := Fetch(t.Context(), remote, p.BaseSHA(), p.HeadSHA()); err == nil || MayPass(err) != tt.passes {
				t.Errorf("may pass: %t, want %t: %v", MayPass(err), tt.passes, err)
			}
		})
	}
}

// Names of files are read unchanged, whatever they contain.
func TestFetchOfHostileNames(t *testing.T) {
	hub := ghtest.Start(t, ghtest.Options{})
	t.Setenv("TMPDIR", t.TempDir())
	repo := hub.Repo("acme/shop")
	names := []string{
		"--output=x", "-rf", "a b", " a", "a\tb", "a\nb", "a\"b", "a\\b", "c d/b b", "b/a b", "$(touch x)", "`id`;|&", "ü", "\u202e.txt",
		":(exclude)*", "*", "x => y", "{a => b}/c", "diff --git a b", "refs/heads/main", "HEAD", "objects/info/alternates",
	}
	base, changed := ghtest.Files{}, ghtest.Files{}
	for i, name := range names {
		base[name], changed[name] = fmt.Sprintf("%d\n", i), fmt.Sprintf("%d and more\n", i)
	}
	repo.Commit("main", base, "start")
	p := repo.OpenPR(ghtest.PR{Head: "x;$(touch${IFS}x)`id`", Files: changed})
	files, err := Fetch(t.Context(), Remote{URL: hub.URL + "/acme/shop.git", Token: hub.Token("acme")}, p.BaseSHA(), p.HeadSHA())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files.Files {
		if i := slices.Index(names, f.Path); f.Patch != fmt.Sprintf("@@ -1 +1 @@\n-%d\n+%d and more", i, i) {
			t.Errorf("%q: %q", f.Path, f.Patch)
		}
		got = append(got, f.Path)
	}
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("names %q, want %q", got, names)
	}
	nothingLeft(t)
}

// A fetch deletes what a killed process left, and nothing of a running one.
func TestFetchCleansUp(t *testing.T) {
	_, remote, p := remoteRepo(t)
	left := filepath.Join(os.TempDir(), "reviewgate-fetch-1")
	if err := os.MkdirAll(filepath.Join(left, "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-100 * time.Hour) // the age decides where directories can't be locked
	if err := os.Chtimes(left, long, long); err != nil {
		t.Fatal(err)
	}
	atWork, drop, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fetch(t.Context(), remote, p.BaseSHA(), p.HeadSHA()); err != nil {
		t.Fatal(err)
	}
	got, err := filepath.Glob(filepath.Join(os.TempDir(), "reviewgate-*"))
	if err != nil || !slices.Equal(got, []string{atWork}) {
		t.Errorf("left %v, %v", got, err)
	}
	if err := drop(); err != nil {
		t.Error(err)
	}
	nothingLeft(t)
}

// When a process is killed while it fetches, git ends with it, where the system supports
// that. The next process deletes the fetched files.
func TestFetchOfAKilledProcess(t *testing.T) {
	const told = "LOCALGIT_TEST_FETCH"
	if args := strings.Fields(os.Getenv(told)); len(args) > 0 { // the process to be killed
		_, err := Fetch(t.Context(), Remote{URL: args[0], Token: args[1]}, args[2], args[3])
		t.Fatal("not killed:", err)
	}
	if runtime.GOOS != "linux" {
		needs.Lacks(t, "only Linux ends git with the process that started it")
	}
	hub, remote, p := remoteRepo(t)
	asked, killed := make(chan bool, 9), make(chan bool)
	hub.On("POST /{owner}/{repo}/git-upload-pack", func(*ghtest.Exchange) {
		asked <- true
		<-killed
	})
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), told+"="+strings.Join([]string{remote.URL, remote.Token, p.BaseSHA(), p.HeadSHA()}, " "))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	close(killed)
	gone(t)
	if packs, _ := filepath.Glob(filepath.Join(os.TempDir(), fetchDir, "objects/pack/*.pack")); len(packs) > 0 {
		t.Errorf("packs after its death: %v", packs)
	}
	if dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), fetchDir)); len(dirs) != 1 {
		t.Errorf("before: %v", dirs)
	}
	RemoveLeft()
	nothingLeft(t)
}

// No process that git started outlives a cancelled fetch.
func TestFetchEndsItsProcesses(t *testing.T) {
	hub, remote, p := remoteRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hub.On("POST /{owner}/{repo}/git-upload-pack", func(x *ghtest.Exchange) {
		cancel()
		<-x.Context().Done()
	})
	if _, err := Fetch(ctx, remote, p.BaseSHA(), p.HeadSHA()); !errors.Is(err, context.Canceled) {
		t.Errorf("the fetch ended with %v", err)
	}
	gone(t)
}

// gone waits until no process runs in the directory for temporary files.
func gone(t *testing.T) {
	t.Helper()
	mine := func() (at []string) {
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, os.TempDir()) {
				state, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "stat"))
				at = append(at, string(state))
			}
		}
		return at
	}
	// The kernel may take a moment to end the killed processes.
	for end := time.Now().Add(10 * time.Second); len(mine()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still running: %q", mine())
		}
	}
}

// A text that is too large for git to compare is reported as unread. A text with a NUL, which
// git takes for binary, is compared by our code.
func TestFetchOfLargeTexts(t *testing.T) {
	hub := ghtest.Start(t, ghtest.Options{})
	t.Setenv("TMPDIR", t.TempDir())
	repo := hub.Repo("acme/shop")
	lines := strings.Repeat("\n", 3000)
	repo.Commit("main", ghtest.Files{"old.txt": lines, "was.txt": lines + "x", "data.bin": "\x00" + lines, "small.txt": "a\n"}, "start")
	p := repo.OpenPR(ghtest.PR{Files: ghtest.Files{
		"old.txt": "short\n", "was.txt": ghtest.Gone, "now.txt": lines + "y\n", "data.bin": "\x00\x01" + lines, "small.txt": "b\n",
	}})
	most := fetchBounds
	most.text = 2000
	files, err := fetchWithin(t.Context(), most, Remote{URL: hub.URL + "/acme/shop.git", Token: hub.Token("acme")}, p.BaseSHA(), p.HeadSHA())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, i := range files.Incomplete {
		said[i.Path] = i.Gating
	}
	for _, f := range files.Files {
		switch large := f.Path != "data.bin" && f.Path != "small.txt"; {
		case said[f.Path] != large, f.Binary, (f.Patch == "") != large:
			t.Errorf("%s: binary %t, patch %q, reported as unread %t", f.Path, f.Binary, f.Patch, said[f.Path])
		}
	}
	if len(files.Files) != 5 || len(said) != 3 {
		t.Errorf("reported %+v", files.Incomplete)
	}
}

// Git looks for files that moved and changed only while the contents are few. Above the
// limit, such a file is shown as two, and no line is missing.
func TestFetchOfMovesIsBounded(t *testing.T) {
	hub := ghtest.Start(t, ghtest.Options{})
	t.Setenv("TMPDIR", t.TempDir())
	repo := hub.Repo("acme/shop")
	lines := strings.Repeat("one line\n", 100)
	repo.Commit("main", ghtest.Files{"old.txt": lines, "same.txt": "same\n" + lines}, "start")
	p := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"old.txt": ghtest.Gone, "new.txt": lines + "more\n", "moved.txt": ghtest.MovedFrom("same.txt")}})
	for similar, want := range map[int64]string{
		fetchBounds.similar: "renamed moved.txt +0 -0, renamed new.txt +1 -0",
		1000:                "added new.txt +101 -0, removed old.txt +0 -100, renamed moved.txt +0 -0",
	} {
		most := fetchBounds
		most.similar = similar
		files, err := fetchWithin(t.Context(), most, Remote{URL: hub.URL + "/acme/shop.git", Token: hub.Token("acme")}, p.BaseSHA(), p.HeadSHA())
		var got []string
		for _, f := range files.Files {
			got = append(got, fmt.Sprintf("%s %s +%d -%d", f.Status, f.Path, f.Additions, f.Deletions))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want || err != nil || len(files.Incomplete) > 0 {
			t.Errorf("contents up to %d bytes: %v, %v, incomplete %+v", similar, got, err, files.Incomplete)
		}
	}
}

// Attributes, submodules and links of a fetched repository do not mislead git. Lines are
// shown whatever the attributes say, and nothing more is fetched.
func TestFetchOfAHostileRepository(t *testing.T) {
	hub := ghtest.Start(t, ghtest.Options{})
	t.Setenv("TMPDIR", t.TempDir())
	repo := hub.Repo("acme/shop")
	modules := "[submodule \"a\"]\n\tpath = a\n\turl = " + hub.URL + "/acme/other.git\n"
	repo.Commit("main", ghtest.Files{
		".gitmodules": modules, "a": ghtest.Submodule(strings.Repeat("1", 40)), "x.go": "package x\n",
		".gitattributes": "* -diff -text filter=x diff=y merge=z export-ignore ident\n",
	}, "start")
	for name, tt := range map[string]struct {
		files ghtest.Files
		lines []string
		fails string
	}{
		"attributes":       {ghtest.Files{"x.go": "package y\n", "x/.gitattributes": "* binary\n"}, []string{"+package y", "+* binary"}, ""},
		"submodules":       {ghtest.Files{"a": ghtest.Submodule(strings.Repeat("2", 40)), ".gitmodules": strings.Replace(modules, "http", "ext::touch ", 1)}, []string{"+\turl = ext::touch", "+Subproject commit 222"}, ""},
		"links":            {ghtest.Files{"x.go": ghtest.Symlink("/etc/passwd"), "objects": ghtest.Symlink("/")}, []string{"+/", "+/etc/passwd"}, ""},
		"a link of git's":  {ghtest.Files{".gitmodules": ghtest.Symlink("/etc/passwd")}, nil, "gitmodulesSymlink"},
		"words of a patch": {ghtest.Files{"x.go": "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n"}, []string{"+diff --git", "+--- a/b", "++++ b/b", "+@@ -1"}, ""},
	} {
		p := repo.OpenPR(ghtest.PR{Head: "of-" + strings.ReplaceAll(name, " ", "-"), Files: tt.files})
		hub.Calls.Reset()
		files, err := Fetch(t.Context(), Remote{URL: hub.URL + "/acme/shop.git", Token: hub.Token("acme")}, p.BaseSHA(), p.HeadSHA())
		if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: %v", name, err)
		}
		var shown strings.Builder
		for _, f := range files.Files {
			shown.WriteString(f.Patch + "\n")
		}
		for _, line := range tt.lines {
			if !strings.Contains(shown.String(), "\n"+line) {
				t.Errorf("%s: %q is not shown:\n%s", name, line, &shown)
			}
		}
		if n := len(hub.Calls.All()); n > 4 { // each fetch asks for the refs and for the objects

			t.Errorf("%s: %d calls", name, n)
		}
	}
	nothingLeft(t)
}

// No token is on a command line or in a file, even while git runs.
func TestFetchHidesTheToken(t *testing.T) {
	hub, remote, p := remoteRepo(t)
	looked := 0
	hub.On("POST /{owner}/{repo}/git-upload-pack", func(x *ghtest.Exchange) {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range lines {
			if text, err := os.ReadFile(path); err == nil {
				looked++
				if strings.Contains(string(text), remote.Token) || strings.Contains(string(text), "Basic ") {
					t.Errorf("on a command line: %q", text)
				}
			}
		}
		dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), "reviewgate-fetch-*"))
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the directory is %v, %v", info.Mode(), err)
			}
			config, err := os.ReadFile(filepath.Join(dir, "config"))
			if err != nil || strings.Contains(string(config), "Authorization") {
				t.Errorf("the config is %s, %v", config, err)
			}
			looked++
		}
	})
	if _, err := Fetch(t.Context(), remote, p.BaseSHA(), p.HeadSHA()); err != nil {
		t.Fatal(err)
	}
	switch {
	case looked > 0:
	case runtime.GOOS == "linux":
		t.Error("no process was found")
	default:
		needs.Lacks(t, "there is no /proc here, in which the arguments of git could be looked at")
	}
}

// A commit does not differ from itself, and one fetch is enough.
func TestFetchOfNothing(t *testing.T) {
	hub, remote, p := remoteRepo(t)
	files, err := Fetch(t.Context(), remote, p.BaseSHA(), p.BaseSHA())
	if n := len(hub.Calls.To("POST /{owner}/{repo}/git-upload-pack")); err != nil || len(files.Files) != 0 || n != 1 {
		t.Errorf("%+v, %v, in %d fetches", files, err, n)
	}
}

// Git gets only the server's variables that it needs. Others may hold secrets, or mislead
// git.
func TestFetchPassesFewVariables(t *testing.T) {
	for _, name := range []string{"GITHUB_APP_PRIVATE_KEY", "GITHUB_APP_WEBHOOK_SECRET", "REVIEWGATE_DATABASE_URL", "GIT_SSL_NO_VERIFY", "SSH_ASKPASS", "LD_PRELOAD", "HOME"} {
		t.Setenv(name, "of-the-server")
	}
	t.Setenv("https_proxy", "http://proxy.example")
	env := isolated("dir")
	if i := slices.IndexFunc(env, func(v string) bool { return strings.Contains(v, "of-the-server") }); i >= 0 {
		t.Errorf("passed on: %s", env[i])
	}
	for _, want := range []string{"PATH=" + os.Getenv("PATH"), "https_proxy=http://proxy.example", "HOME=dir", "GIT_TERMINAL_PROMPT=0"} {
		if !slices.Contains(env, want) {
			t.Errorf("the environment lacks %s", want)
		}
	}
}

// Git trusts the certificate of a private authority that the server's settings name, and no
// unknown one.
func TestFetchWithAPrivateAuthority(t *testing.T) {
	hub, remote, p := remoteRepo(t)
	to, err := url.Parse(hub.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
	defer proxy.Close()
	remote.URL = proxy.URL + "/acme/shop.git"
	if _, err := Fetch(t.Context(), remote, p.BaseSHA(), p.HeadSHA()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority: %v", err)
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	if files, err := Fetch(t.Context(), remote, p.BaseSHA(), p.HeadSHA()); err != nil || len(files.Files) != 7 {
		t.Errorf("%d files, %v", len(files.Files), err)
	}
	nothingLeft(t)
}
