package localgit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shown writes a file as one line, with its lines below.
func shown(files []pipeline.File) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s %q", f.Status, f.Path)
		if f.PreviousPath != "" {
			fmt.Fprintf(&b, " from %q", f.PreviousPath)
		}
		fmt.Fprintf(&b, " +%d -%d", f.Additions, f.Deletions)
		if f.Binary {
			b.WriteString(" binary")
		}
		b.WriteString("\n")
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op != pipeline.LineContext {
					fmt.Fprintf(&b, "  %s%d,%d %q\n", l.Op, l.Old, l.New, l.Text)
				}
			}
		}
	}
	return b.String()
}

func wantFiles(t *testing.T, f pipeline.PRFacts, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), shown(f.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, i := range f.Incomplete {
		if i.Gating || !strings.HasSuffix(i.Why, "was not read") {
			t.Errorf("incomplete: %+v", i)
		}
	}
}

func TestEveryKindOfChange(t *testing.T) {
	r := newRepo(t)
	long := strings.Repeat("a line that stays the same\n", 20)
	r.write("modified.txt", "one\ntwo\nthree\n")
	r.write("removed.txt", "gone\n")
	r.write("old/name.md", long)
	r.write("run.sh", "#!/bin/sh\n")
	r.write("link-or-file", "a\nb\n")
	r.write("image.png", "\x89PNG\r\n\x1a\n\x00\x01")
	r.write("no-newline.txt", "x")
	base := r.commit("start")

	r.write("modified.txt", "one\n2\nthree\n")
	r.git("rm", "--quiet", "removed.txt")
	r.git("mv", "old/name.md", "new-name.md")
	r.write("new-name.md", long+"more\n")
	r.write("added.txt", "first\r\nsecond\n")
	r.write("empty.txt", "")
	r.write("image.png", "\x89PNG\r\n\x1a\n\x00\x02")
	r.write("no-newline.txt", "y")
	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.dir, "link-or-file")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("modified.txt", filepath.Join(r.dir, "link-or-file")); err != nil {
		t.Fatal(err)
	}
	r.git("update-index", "--add", "--cacheinfo", "160000,"+base+",lib")
	if err := os.Mkdir(filepath.Join(r.dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("add", "--all", "--", ":!lib")
	r.git("commit", "--quiet", "--message", "Change everything\n\nIn every way.")

	want := `
added "added.txt" +2 -0
  +0,1 "first\r"
  +0,2 "second"
added "empty.txt" +0 -0
modified "image.png" +0 -0 binary
added "lib" +1 -0
  +0,1 "Subproject commit ` + base + `"
changed "link-or-file" +1 -2
  -1,0 "a"
  -2,0 "b"
  +0,1 "modified.txt"
modified "modified.txt" +1 -1
  -2,0 "two"
  +0,2 "2"
renamed "new-name.md" from "old/name.md" +1 -0
  +0,21 "more"
modified "no-newline.txt" +1 -1
  -1,0 "x"
  +0,1 "y"
removed "removed.txt" +0 -1
  -1,0 "gone"
changed "run.sh" +0 -0
`
	f := facts(t, r.open(Options{Base: base, Head: "HEAD"}))
	want = strings.Replace(want, `"empty.txt" +0 -0`, `"empty.txt" +0 -0`+emptyMark(f), 1)
	wantFiles(t, f, want)
	if f.Title != "Change everything" || f.Body != "In every way." || f.Author.Login != "Alice Doe" {
		t.Errorf("title %q, body %q, author %q", f.Title, f.Body, f.Author.Login)
	}
	if diff := cmp.Diff(pipeline.Totals{Files: 10, Additions: 7, Deletions: 5}, f.Totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	if len(f.Commits) != 1 || f.Commits[0].SHA != f.Head.SHA || f.Base.SHA != base {
		t.Errorf("commits %+v, head %s, base %s", f.Commits, f.Head.SHA, f.Base.SHA)
	}
}

// emptyMark accepts an empty file with and without the mark, which normalize sets.
func emptyMark(f pipeline.PRFacts) string {
	for _, x := range f.Files {
		if x.Path == "empty.txt" && x.Binary {
			return " binary"
		}
	}
	return ""
}

func TestWorkTree(t *testing.T) {
	r := newRepo(t)
	r.write("kept.txt", "kept\n")
	r.write("edited.txt", "before\n")
	r.write("staged.txt", "before\n")
	r.write(".gitignore", "*.log\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature/tax")
	r.write("committed.txt", "c\n")
	r.commit("Add a file")
	r.write("edited.txt", "after\n")
	r.write("staged.txt", "after\n")
	r.git("add", "staged.txt")
	r.write("kept.txt", "staged\n")
	r.git("add", "kept.txt")
	r.write("kept.txt", "kept\n")
	r.write("new/untracked.txt", "u\nno end")
	r.write("new/a.png", "\x89PNG\r\n\x1a\n\x00\x01")
	r.write("new/empty", "")
	r.write("debug.log", "ignored\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "secret")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "nested"), 0o755); err != nil {
		t.Fatal(err)
	}
	nested := &repo{t, filepath.Join(r.dir, "nested")}
	nested.git("init", "--quiet")
	// The file's time changed, but not its text.
	if err := os.Chtimes(filepath.Join(r.dir, "kept.txt"), fixed, fixed); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(r.dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}

	f := facts(t, r.open(Options{Untracked: true}))
	wantFiles(t, f, `
added "committed.txt" +1 -0
  +0,1 "c"
modified "edited.txt" +1 -1
  -1,0 "before"
  +0,1 "after"
added "new/a.png" +0 -0 binary
added "new/empty" +0 -0
added "new/untracked.txt" +2 -0
  +0,1 "u"
  +0,2 "no end"
added "secret" +1 -0
  +0,1 "/etc/passwd"
modified "staged.txt" +1 -1
  -1,0 "before"
  +0,1 "after"
`)
	unread := map[string]string{"nested": "it is a repository of its own, which was not read", "kept.txt": "its staged version differs from the work tree, and was not read"}
	for _, i := range f.Incomplete {
		if unread[i.Path] != i.Why || i.Gating {
			t.Errorf("incomplete: %+v", i)
		}
		delete(unread, i.Path)
	}
	if len(unread) > 0 {
		t.Errorf("not reported as unread: %v", unread)
	}
	if f.Base.Ref != "main" || f.Head.Ref != "feature/tax" || f.Title != "Add a file" {
		t.Errorf("base %q, head %q, title %q", f.Base.Ref, f.Head.Ref, f.Title)
	}
	if after, err := os.ReadFile(filepath.Join(r.dir, ".git/index")); err != nil || string(after) != string(index) {
		t.Errorf("the index was written to (%v)", err)
	}
}

func TestNothingCommittedYet(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature/tax")
	r.write("a.txt", "a\n")
	f := facts(t, r.open(Options{Untracked: true}))
	if f.Title != "feature/tax" || f.Body != "" || len(f.Commits) != 0 || len(f.Files) != 1 {
		t.Errorf("title %q, body %q, %d commits, %d files", f.Title, f.Body, len(f.Commits), len(f.Files))
	}
	// The name of the default branch is not used as a title.
	r.git("switch", "--quiet", "main")
	for _, base := range []string{"", "HEAD"} {
		if f := facts(t, r.open(Options{Base: base, Untracked: true})); f.Title != "Local changes" || len(f.Files) != 1 {
			t.Errorf("base %q: title %q, %d files", base, f.Title, len(f.Files))
		}
	}
}

func TestNoChangeAtAll(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	f := facts(t, r.open(Options{}))
	if len(f.Files) != 0 || len(f.Commits) != 0 || len(f.Incomplete) != 0 {
		t.Errorf("facts %+v", f)
	}
}

// Commits that the base gained since the branch left it are not part of the change.
func TestDiffIsAgainstTheMergeBase(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("feature.txt", "f\n")
	r.commit("feature")
	r.git("switch", "--quiet", "main")
	r.write("later.txt", "l\n")
	tip := r.commit("later")
	f := facts(t, r.open(Options{Base: "main", Head: "feature"}))
	wantFiles(t, f, `
added "feature.txt" +1 -0
  +0,1 "f"
`)
	if f.Base.SHA != tip {
		t.Errorf("base %s, want the tip %s", f.Base.SHA, tip)
	}
}

// A range of many years is reviewed: all its files are there.
func TestMoreCommitsThanAreListed(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.commit("start")
	var in strings.Builder
	for i := range maxCommits + 1 {
		fmt.Fprintf(&in, "commit refs/heads/feature\ncommitter Alice Doe <alice@example.com> %d +0000\ndata 2\nc\n", 1_700_000_000+i)
		if i == 0 {
			in.WriteString("from refs/heads/main\n")
		}
		fmt.Fprintf(&in, "M 100644 inline a.txt\ndata 1\n%d\n", i%10)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	f := facts(t, r.open(Options{Base: "main", Head: "feature"}))
	if len(f.Commits) != maxCommits || f.Commits[maxCommits-1].SHA != f.Head.SHA || len(f.Files) != 1 {
		t.Errorf("%d commits, %d files: want the newest %d, the head last", len(f.Commits), len(f.Files), maxCommits)
	}
	if len(f.Incomplete) != 1 || f.Incomplete[0].What != "commits" || f.Incomplete[0].Gating {
		t.Errorf("incomplete %+v, want one row that does not gate", f.Incomplete)
	}
}

func TestHostileNames(t *testing.T) {
	names := []string{
		"a b.txt", " leading", "trailing ", "tab\there", "new\nline", "cr\rhere", `quote".txt`, `back\slash`, "bell\a",
		"ünïcode.txt", "-dash", "a -> b", ":(glob)x", "diff --git a/x b/x", "x b/x", "a/x b/a/x", "+++ b/x", "--- a/x", "@@ -1 +1 @@",
		"new\ndiff --git a/y b/y", "* Unmerged path x", "{old => new}", "$(touch pwned)", "bidi\u202etxt", strings.Repeat("l", 200),
	}
	r := newRepo(t)
	base := r.commit("start")
	for _, n := range names {
		r.write(n, "diff --git a/z b/z\n--- a/z\n+++ b/z\n")
	}
	check := func(f pipeline.PRFacts) {
		t.Helper()
		got := map[string]pipeline.File{}
		for _, x := range f.Files {
			got[x.Path] = x
		}
		for _, n := range names {
			if x, ok := got[n]; !ok || x.Additions != 3 || len(x.Hunks) != 1 {
				t.Errorf("%q: %+v", n, x)
			}
		}
		if len(f.Files) != len(names) || len(f.Incomplete) != 0 {
			t.Errorf("%d files, incomplete %+v", len(f.Files), f.Incomplete)
		}
	}
	check(facts(t, r.open(Options{Base: base, Untracked: true})))
	r.git("add", "--all")
	check(facts(t, r.open(Options{Base: base})))
	check(facts(t, r.open(Options{Staged: true})))
	added := r.commit("add")
	check(facts(t, r.open(Options{Base: base, Head: "HEAD"})))

	// For a change of mode, only the header names the file.
	for _, n := range names {
		if err := os.Chmod(filepath.Join(r.dir, n), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.commit("modes")
	f := facts(t, r.open(Options{Base: added, Head: "HEAD"}))
	if len(f.Files) != len(names) {
		t.Errorf("%d files changed in mode, want %d", len(f.Files), len(names))
	}
	for _, x := range f.Files {
		if x.Status != pipeline.FileChanged || x.ChangedLines() != 0 {
			t.Errorf("%q: %s, %d lines", x.Path, x.Status, x.ChangedLines())
		}
	}
}

func TestNamesInOtherEncodings(t *testing.T) {
	r := newRepo(t)
	base := r.commit("start")
	r.write("caf\xe9.txt", "latin-1 caf\xe9\n")
	r.commit("add")
	f := facts(t, r.open(Options{Base: base, Head: "HEAD"}))
	wantFiles(t, f, `
added "caf�.txt" +1 -0
  +0,1 "latin-1 caf�"
`)
}

func TestConflictMarkersAreShown(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("a.txt", "feature\n")
	r.write("b.txt", "b\n")
	r.commit("feature")
	r.git("switch", "--quiet", "--create", "other", "main")
	r.write("a.txt", "other\n")
	r.commit("other")
	cmd := exec.Command("git", "merge", "feature")
	cmd.Dir = r.dir
	if err := cmd.Run(); err == nil {
		t.Fatal("the merge has no conflict")
	}
	f := facts(t, r.open(Options{Base: "main"}))
	wantFiles(t, f, `
modified "a.txt" +5 -1
  -1,0 "a"
  +0,1 "<<<<<<< HEAD"
  +0,2 "other"
  +0,3 "======="
  +0,4 "feature"
  +0,5 ">>>>>>> feature"
added "b.txt" +1 -0
  +0,1 "b"
`)
}

func TestHugeFileIsCountedButNotShown(t *testing.T) {
	r := newRepo(t)
	base := r.commit("start")
	r.write("tracked.txt", strings.Repeat("0123456789abcde\n", maxPatch/16+10))
	r.write("one-line.js", strings.Repeat("x", maxPatch+10))
	r.write("small.txt", "s\n")
	r.git("add", "tracked.txt", "small.txt", "one-line.js")
	r.write("untracked.txt", strings.Repeat("0123456789abcde\n", maxPatch/16+10))
	f := facts(t, r.open(Options{Base: base, Untracked: true}))
	var missing []string
	for _, i := range f.Incomplete {
		missing = append(missing, fmt.Sprint(i.What, " ", i.Path, " ", i.Gating))
	}
	want := []string{"patch one-line.js true", "patch tracked.txt true", "patch untracked.txt true"}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
	if got := f.Totals.Additions; got != 2*(maxPatch/16+10)+2 {
		t.Errorf("%d additions", got)
	}
}

func TestDefaultBase(t *testing.T) {
	origin := newRepo(t)
	origin.write("a.txt", "a\n")
	origin.commit("start")
	origin.git("branch", "-m", "trunk")
	clone := &repo{t, filepath.Join(t.TempDir(), "clone")}
	if err := os.Mkdir(clone.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	clone.git("clone", "--quiet", origin.dir, ".")
	clone.git("config", "user.name", "Bob")
	clone.git("config", "user.email", "bob@example.com")
	clone.write("b.txt", "b\n")
	clone.commit("b")
	f := facts(t, clone.open(Options{}))
	if f.Base.Ref != "trunk" || len(f.Commits) != 1 {
		t.Errorf("base %q, %d commits", f.Base.Ref, len(f.Commits))
	}
}

func TestBareRepository(t *testing.T) {
	r := newRepo(t)
	base := r.commit("start")
	r.write("a.txt", "a\n")
	r.commit("add")
	bare := filepath.Join(t.TempDir(), "shop.git")
	r.git("clone", "--quiet", "--bare", r.dir, bare)
	s, err := Open(t.Context(), Options{Dir: bare, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	if f := facts(t, s); len(f.Files) != 1 {
		t.Errorf("files %+v", f.Files)
	}
}

func TestSubdirectoryMeansTheWholeRepository(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("sub/a.txt", "a\n")
	r.commit("start")
	r.write("b.txt", "b\n")
	r.write("sub/c.txt", "c\n")
	r.git("add", "--all")
	r.git("config", "diff.relative", "true")
	for _, staged := range []bool{false, true} {
		s, err := Open(t.Context(), Options{Dir: filepath.Join(r.dir, "sub"), Staged: staged})
		if err != nil {
			t.Fatal(err)
		}
		if f := facts(t, s); len(f.Files) != 2 {
			t.Errorf("staged %v: files:\n%s", staged, shown(f.Files))
		}
	}
}

func TestErrorsForPeople(t *testing.T) {
	empty := newRepo(t)
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("one")
	r.git("switch", "--quiet", "--orphan", "unrelated")
	r.write("u.txt", "u\n")
	r.commit("unrelated")
	r.git("switch", "--quiet", "main")
	for i := range 3 {
		r.write("a.txt", strings.Repeat("x\n", i))
		r.commit("more")
	}
	trunk := newRepo(t)
	trunk.commit("start")
	trunk.git("branch", "-m", "trunk")
	shallow := &repo{t, filepath.Join(t.TempDir(), "shallow")}
	r.git("clone", "--quiet", "--depth=1", "--no-single-branch", "file://"+r.dir, shallow.dir)
	bare := filepath.Join(t.TempDir(), "shop.git")
	r.git("clone", "--quiet", "--bare", r.dir, bare)
	plain := t.TempDir()
	noConfig := t.TempDir()
	badConfig := t.TempDir()
	if err := os.WriteFile(filepath.Join(badConfig, config.FileSettings), []byte(`{"mode": 5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		o    Options
		says []string
	}{
		"no such directory":  {Options{Dir: filepath.Join(plain, "none")}, []string{"there is no directory", "name one"}},
		"git's own files":    {Options{Dir: filepath.Join(r.dir, ".git")}, []string{"inside git's own directory", "name the directory"}},
		"a file":             {Options{Dir: filepath.Join(r.dir, "a.txt")}, []string{"is not a directory"}},
		"no repository":      {Options{Dir: plain}, []string{plain, "is not in a git repository", "git init"}},
		"no commits":         {Options{Dir: empty.dir}, []string{"no commits yet", "commit something first", "--staged"}},
		"no default branch":  {Options{Dir: trunk.dir}, []string{"--base"}},
		"no base yet":        {Options{Dir: empty.dir, Staged: true, Base: "main"}, []string{"no commits yet", "leave it out"}},
		"nothing staged":     {Options{Dir: bare, Staged: true}, []string{"bare repository has no index", "--head"}},
		"unknown base":       {Options{Dir: r.dir, Base: "nope"}, []string{`"nope" is not a commit`, "git branch --all"}},
		"unknown head":       {Options{Dir: r.dir, Head: "nope"}, []string{`"nope" is not a commit`}},
		"a blob":             {Options{Dir: r.dir, Base: "HEAD:a.txt"}, []string{"is not a commit"}},
		"an option":          {Options{Dir: r.dir, Base: "--output=pwned"}, []string{"is not a commit"}},
		"a line end":         {Options{Dir: r.dir, Base: "main\nmain"}, []string{"is not a commit"}},
		"no common history":  {Options{Dir: r.dir, Base: "unrelated"}, []string{"no common history"}},
		"shallow, unknown":   {Options{Dir: shallow.dir, Base: "HEAD~3"}, []string{"shallow", "git fetch --unshallow"}},
		"shallow, parted":    {Options{Dir: shallow.dir, Base: "origin/unrelated"}, []string{"shallow", "git fetch --unshallow"}},
		"config not there":   {Options{Dir: r.dir, ConfigDir: noConfig}, []string{"none of the config files", config.FileRules}},
		"config not valid":   {Options{Dir: r.dir, ConfigDir: badConfig}, []string{"not valid", config.FileSettings, "/mode"}},
		"config a directory": {Options{Dir: r.dir, ConfigDir: filepath.Join(noConfig, "none")}, []string{"not a directory"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), tt.o)
			if err == nil {
				t.Fatal("the repository was opened")
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
		})
	}
	if _, err := os.Stat(filepath.Join(r.dir, "pwned")); err == nil {
		t.Error("git read a revision as an option")
	}
}

func TestConfigOfTheBaseCounts(t *testing.T) {
	r := newRepo(t)
	const path = config.RepositoryDir + "/" + config.FileSettings
	r.write(path, `{"mode": "advisory"}`)
	r.write(config.RepositoryDir+"/README.md", "not config\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write(path, `{"mode": "off"}`)
	r.commit("switch it off")
	read, err := r.open(Options{}).Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := read.Config
	if c.Settings.Mode != config.ModeAdvisory {
		t.Errorf("mode %q: the change's own config was used", c.Settings.Mode)
	}
	layers := c.InForce.Layers
	if last := layers[len(layers)-1]; last.Name != config.LayerRepository || !last.Used || len(last.Files) != 1 || last.Files[0].Path != path {
		t.Errorf("layers %+v", layers)
	}

	named := t.TempDir()
	if err := os.WriteFile(filepath.Join(named, config.FileSettings), []byte(`{"mode": "off"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if read, err = r.open(Options{ConfigDir: named}).Config(t.Context()); err != nil || read.Config.Settings.Mode != config.ModeOff {
		t.Errorf("config %+v, %v: the named directory was not used", read.Config, err)
	}
}

func TestBrokenConfigAtTheBaseIsReported(t *testing.T) {
	sample.Variant(t)
	for name, text := range map[string]string{
		"not JSON":  `{"mode":`,
		"too large": `{"mode": "off"` + strings.Repeat(" ", config.MaxFileBytes) + `}`,
	} {
		r := newRepo(t)
		r.write(config.RepositoryDir+"/"+config.FileSettings, text)
		r.commit("start")
		read, err := r.open(Options{}).Config(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c := read.Config; len(c.InForce.Problems) == 0 || c.Settings.Mode != config.ModeEnforce {
			t.Errorf("%s: problems %+v, mode %q", name, c.InForce.Problems, c.Settings.Mode)
		}
	}
}

func TestCancelled(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	s := r.open(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Files(ctx); err == nil {
		t.Error("read further after the caller gave up")
	}
}

func TestParseRemote(t *testing.T) {
	for remote, want := range map[string]string{
		"https://github.com/acme/shop.git":                    "acme/shop",
		"https://github.com/acme/shop/":                       "acme/shop",
		"https://x-access-token:s3cret@example.com/acme/shop": "acme/shop",
		"git@github.com:acme/shop.git":                        "acme/shop",
		"github.com:acme/shop":                                "acme/shop",
		"ssh://git@host:2222/acme/shop.git":                   "acme/shop",
		"https://gitlab.com/group/sub/shop.git":               "sub/shop",
		"/srv/git/shop.git":                                   "",
		"../shop":                                             "",
		"shop":                                                "",
		"":                                                    "",
		"https://example.com/shop":                            "",
		"https://example.com/a b/shop":                        "",
		"ext::sh -c touch% pwned":                             "",
	} {
		owner, name, ok := parseRemote(remote)
		got := ""
		if ok {
			got = owner + "/" + name
		}
		if got != want {
			t.Errorf("parseRemote(%q) = %q, want %q", remote, got, want)
		}
	}
}

// git rm --cached leaves the file on disk. The file counts as removed, and not as added
// again.
func TestRemovedFromTheIndexOnly(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("a.js", "a();\n")
	r.write("b.js", "b();\n")
	r.git("add", ".")
	r.git("commit", "-q", "-m", "start")
	r.git("rm", "-q", "--cached", "b.js")
	s, err := Open(t.Context(), Options{Dir: r.dir, Base: "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(files.Files) != 1 || files.Files[0].Path != "b.js" || files.Files[0].Status != "removed" {
		t.Errorf("files %+v, want b.js removed", files.Files)
	}
}

// Dates are compared with the date of a commit that is reviewed, but never with one in the future. A
// work tree is reviewed today.
func TestDateOfACommit(t *testing.T) {
	now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for date, want := range map[string]time.Time{
		"2024-05-01T12:00:00Z": time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC),
		"2090-05-01T12:00:00Z": now,
	} {
		r := newRepo(t)
		base := r.commit("start")
		r.write("a.txt", "a\n")
		t.Setenv("GIT_COMMITTER_DATE", date)
		head := r.commit("add")
		for _, opts := range []Options{{Base: base, Head: head}, {Base: base}} {
			f, _, err := normalize.Normalize(t.Context(), r.open(opts), normalize.Options{ObservedAt: now})
			if err != nil {
				t.Fatal(err)
			}
			if opts.Head == "" {
				want = now
			}
			if !f.ObservedAt.Equal(want) {
				t.Errorf("a commit of %s, with the head %q: %s, want %s", date, opts.Head, f.ObservedAt, want)
			}
		}
	}
}

// The title comes from the first commit of a range, and the author from the newest. Later fixes and the
// commits of merged branches don't change the title.
func TestTitleOfSeveralCommits(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "other")
	r.write("b.txt", "b\n")
	r.commit("docs: write b")
	r.git("switch", "--quiet", "main")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("c.go", "package c\n")
	r.commit("feat: add c\n\nIt was missing.")
	r.git("merge", "--quiet", "--no-edit", "other")
	r.write("c.go", "package c // mended\n")
	r.commit("fix: typo")
	f := facts(t, r.open(Options{Base: "main", Head: "feature"}))
	if f.Title != "feat: add c" || f.Body != "It was missing." || len(f.Commits) != 4 {
		t.Errorf("title %q, body %q, %d commits", f.Title, f.Body, len(f.Commits))
	}
}
