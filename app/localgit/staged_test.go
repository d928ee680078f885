package localgit

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The review of the index reads what the next commit would have, whatever is in the work tree.
func TestStaged(t *testing.T) {
	r := newRepo(t)
	long := strings.Repeat("a line that stays the same\n", 20)
	r.write("defect.txt", "one\n")
	r.write("edited.txt", "one\n")
	r.write("partly.txt", "one\ntwo\nthree\n")
	r.write("removed.txt", "gone\n")
	r.write("untracked-again.txt", "stays on disk\n")
	r.write("old.txt", long)
	r.write("run.sh", "#!/bin/sh\n")
	r.write("image.png", "\x89PNG\r\n\x1a\n\x00\x01")
	head := r.commit("start")

	r.write("defect.txt", "defect\n")
	r.write("partly.txt", "staged\ntwo\nthree\n")
	r.git("add", "defect.txt", "partly.txt")
	r.write("defect.txt", "one\n") // repaired, but not staged
	r.write("partly.txt", "staged\ntwo\nnot staged\n")
	r.write("edited.txt", "not staged\n")
	r.git("rm", "--quiet", "removed.txt")
	r.git("rm", "--quiet", "--cached", "untracked-again.txt")
	r.git("mv", "old.txt", "new.txt")
	r.git("update-index", "--chmod=+x", "run.sh")
	r.write("image.png", "\x89PNG\r\n\x1a\n\x00\x02")
	r.write("empty.txt", "")
	r.git("add", "image.png", "empty.txt")
	r.write("later.txt", "only marked\n")
	r.git("add", "--intent-to-add", "later.txt")
	r.write("untracked.txt", "untracked\n")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+head+",lib")
	index := r.read(".git/index")

	s := r.open(Options{Staged: true})
	f := facts(t, s)
	wantFiles(t, f, `
modified "defect.txt" +1 -1
  -1,0 "one"
  +0,1 "defect"
added "empty.txt" +0 -0`+emptyMark(f)+`
modified "image.png" +0 -0 binary
added "lib" +1 -0
  +0,1 "Subproject commit `+head+`"
renamed "new.txt" from "old.txt" +0 -0
modified "partly.txt" +1 -1
  -1,0 "one"
  +0,1 "staged"
removed "removed.txt" +0 -1
  -1,0 "gone"
changed "run.sh" +0 -0
removed "untracked-again.txt" +0 -1
  -1,0 "stays on disk"
`)
	if f.Title != "Staged changes" {
		t.Errorf("title %q", f.Title)
	}
	if h := f.Head; !h.WorkTree || !h.Staged || h.SHA != head || f.Base.SHA != head || f.Base.Ref != "HEAD" {
		t.Errorf("head %+v, base %+v", h, f.Base)
	}

	// What the review looks up is in the index, too.
	for path, want := range map[string]string{
		"defect.txt": "defect\n", "edited.txt": "one\n", "partly.txt": "staged\ntwo\nthree\n", "new.txt": long, "empty.txt": "", "lib": "",
	} {
		if text, found, err := s.Lookup(t.Context(), f.Head.SHA, path, 1000); string(text) != want || !found || err != nil {
			t.Errorf("%s: %q, %v, %v; want %q", path, text, found, err, want)
		}
	}
	for _, path := range []string{"later.txt", "untracked.txt", "untracked-again.txt", "removed.txt", "old.txt", "none.txt"} {
		if text, err := s.File(t.Context(), f.Head.SHA, path, 1000); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v; the index does not have it", path, text, err)
		}
	}
	if r.read(".git/index") != index {
		t.Error("the index was written to")
	}
}

// read returns the content of a file.
func (r *repo) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, path))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func TestNothingStaged(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	head := r.commit("start")
	r.write("a.txt", "b\n")
	r.write("untracked.txt", "u\n")
	s := r.open(Options{Staged: true})
	f := facts(t, s)
	if len(f.Files) != 0 || f.Head.WorkTree || f.Head.Staged || f.Head.SHA != head {
		t.Errorf("files %+v, head %+v", f.Files, f.Head)
	}
	if nothing, err := s.Nothing(t.Context()); err != nil || nothing != "no staged changes against HEAD" {
		t.Errorf("%q, %v", nothing, err)
	}
	if left, err := s.LeftOut(t.Context()); err != nil || left != 0 {
		t.Errorf("%d untracked files were left out, %v", left, err)
	}
}

// Before the first commit, everything that is staged is new.
func TestStagedBeforeTheFirstCommit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := newRepo(t)
			if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			r.git("init", "--quiet", "--template=", "--initial-branch=trunk", "--object-format="+format)
			s := r.open(Options{Staged: true})
			if f := facts(t, s); len(f.Files) != 0 || f.Head.WorkTree {
				t.Errorf("files %+v, head %+v", f.Files, f.Head)
			}
			r.write("a.txt", "a\n")
			r.write(config.RepositoryDir+"/"+config.FileSettings, `{"mode": "off"}`)
			r.git("add", "--all")
			r.write("a.txt", "not staged\n")
			s = r.open(Options{Staged: true})
			f := facts(t, s)
			if len(f.Files) != 2 || f.Files[1].Hunks[0].Lines[0].Text != "a" || len(f.Commits) != 0 || len(f.Incomplete) != 0 {
				t.Errorf("files:\n%scommits %+v, incomplete %+v", shown(f.Files), f.Commits, f.Incomplete)
			}
			if h := f.Head; !h.WorkTree || !h.Staged || h.SHA != "" || h.Ref != "trunk" || f.Base.Ref != "the empty tree" {
				t.Errorf("head %+v, base %+v", h, f.Base)
			}
			if got := modeOf(t, s); got != config.ModeOff {
				t.Errorf("the proposed config is %s", got)
			}
			read, err := s.Config(t.Context())
			if err != nil || read.Config.Settings.Mode != config.ModeEnforce || len(read.RootFiles) != 0 {
				t.Errorf("config %+v, %v: nothing of the change may count", read, err)
			}
			if text, err := s.File(t.Context(), "", "a.txt", 100); err != nil || string(text) != "a\n" {
				t.Errorf("a.txt is %q, %v", text, err)
			}
		})
	}
}

func TestStagedAgainstABase(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("committed.txt", "c\n")
	r.commit("Add a file")
	r.write("staged.txt", "s\n")
	r.git("add", "staged.txt")
	f := facts(t, r.open(Options{Staged: true, Base: "main"}))
	wantFiles(t, f, `
added "committed.txt" +1 -0
  +0,1 "c"
added "staged.txt" +1 -0
  +0,1 "s"
`)
	if len(f.Commits) != 1 || f.Title != "Add a file" || f.Base.Ref != "main" {
		t.Errorf("commits %+v, title %q, base %+v", f.Commits, f.Title, f.Base)
	}
}

// During a merge, everything is new that HEAD does not have. With the merged branch as the base,
// only what that branch does not have is new.
func TestStagedDuringAMerge(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("a.txt", "feature\n")
	r.commit("feature")
	r.git("switch", "--quiet", "main")
	r.write("a.txt", "main\n")
	r.write("b.txt", "b\n")
	r.commit("later")
	r.git("switch", "--quiet", "feature")
	merge := exec.Command("git", "merge", "main")
	merge.Dir = r.dir
	if err := merge.Run(); err == nil {
		t.Fatal("the merge has no conflict")
	}
	_, err := Open(t.Context(), Options{Dir: r.dir, Staged: true})
	if err == nil || !strings.Contains(err.Error(), `"a.txt" has conflicts`) || !strings.Contains(err.Error(), "git add") {
		t.Errorf("with a conflict: %v", err)
	}
	r.write("a.txt", "both\n")
	r.git("add", "a.txt")
	wantFiles(t, facts(t, r.open(Options{Staged: true})), `
modified "a.txt" +1 -1
  -1,0 "feature"
  +0,1 "both"
added "b.txt" +1 -0
  +0,1 "b"
`)
	wantFiles(t, facts(t, r.open(Options{Staged: true, Base: "main"})), `
modified "a.txt" +1 -1
  -1,0 "main"
  +0,1 "both"
`)
}

func TestStagedInASparseCheckout(t *testing.T) {
	sample.Variant(t)
	for _, sparse := range []string{"--no-sparse-index", "--sparse-index"} {
		r := newRepo(t)
		r.write("in/a.txt", "a\n")
		r.write("out/b.txt", "b\n")
		r.commit("start")
		r.git("sparse-checkout", "set", sparse, "in")
		if _, err := os.Stat(filepath.Join(r.dir, "out")); err == nil {
			t.Fatal("the checkout is not sparse")
		}
		r.write("in/a.txt", "staged\n")
		r.git("add", "in/a.txt")
		s := r.open(Options{Staged: true})
		wantFiles(t, facts(t, s), `
modified "in/a.txt" +1 -1
  -1,0 "a"
  +0,1 "staged"
`)
		if text, found, err := s.Lookup(t.Context(), "", "out/b.txt", 100); string(text) != "b\n" || !found || err != nil {
			t.Errorf("%s: a file outside of the checkout: %q, %v, %v", sparse, text, found, err)
		}
	}
}

// The proposed config and its tests are those of the index.
func TestProposedConfigOfTheIndex(t *testing.T) {
	r := newRepo(t)
	const settings, test = config.RepositoryDir + "/" + config.FileSettings, config.RepositoryDir + "/" + config.TestsDir + "/a.json"
	r.write(settings, `{"mode": "advisory"}`)
	r.commit("start")
	r.write(settings, `{"mode": "off"}`)
	r.write(test, "staged")
	r.git("add", "--all")
	r.write(settings, `{"mode": "enforce"}`)
	r.write(test, "not staged")
	s := r.open(Options{Staged: true})
	if got := modeOf(t, s); got != config.ModeOff {
		t.Errorf("the proposed config is %s", got)
	}
	tests, err := s.ProposedTests(t.Context())
	if err != nil || len(tests) != 1 || string(tests[0].Text) != "staged" {
		t.Errorf("tests %v, %v", tests, err)
	}
}

// Git lets the hooks of git commit -a and git commit FILE read a temporary index.
func TestIndexOfAHook(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	other := newRepo(t)
	other.write("a.txt", "a\n")
	other.commit("start")
	other.write("other.txt", "o\n")
	other.git("add", "other.txt")

	index := filepath.Join(r.dir, ".git", "next-index.lock")
	r.write(".git/next-index.lock", r.read(".git/index"))
	r.write("hook.txt", "h\n")
	add := exec.Command("git", "add", "hook.txt")
	add.Dir, add.Env = r.dir, append(os.Environ(), indexVariable+"="+index)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("git add: %v\n%s", err, out)
	}
	paths := func(s *Source) string {
		var all []string
		for _, f := range facts(t, s).Files {
			all = append(all, f.Path)
		}
		return strings.Join(all, " ")
	}
	// Git sets such variables, too.
	t.Setenv("GIT_DIR", other.dir+"/.git")
	t.Setenv("GIT_PREFIX", "sub/")
	t.Setenv("GIT_AUTHOR_DATE", "@1700000000 +0100")
	for _, tt := range []struct{ in, index, dir, want string }{
		{r.dir, index, r.dir, "hook.txt"},
		{r.dir, ".git/next-index.lock", r.dir, "hook.txt"},
		{filepath.Join(r.dir, ".git"), index, r.dir, "hook.txt"},
		{r.dir, index, other.dir, "other.txt"}, // a hook of r reviews another repository
		{t.TempDir(), index, r.dir, ""},
	} {
		t.Chdir(tt.in)
		t.Setenv(indexVariable, tt.index)
		s, err := Open(t.Context(), Options{Dir: tt.dir, Staged: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := paths(s); got != tt.want {
			t.Errorf("in %s with the index %s: %q, want %q", tt.in, tt.index, got, tt.want)
		}
	}
	// A review of the work tree or of a commit does not read that index.
	t.Chdir(r.dir)
	r.write("a.txt", "b\n")
	if got := paths(r.open(Options{})); got != "a.txt" {
		t.Errorf("the work tree has changes in %q", got)
	}
}

// A hostile name of a file in conflict does not reach the terminal unquoted.
func TestConflictInAHostileName(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	head := r.commit("start")
	blob := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(blob, []byte("100644 "+strings.Repeat("1", len(head))+" 1\t\x1b[2Ja\nb\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.gitFrom(blob, "update-index", "-z", "--index-info")
	_, err := Open(t.Context(), Options{Dir: r.dir, Staged: true})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") || !strings.Contains(err.Error(), `"\x1b[2Ja\nb" has conflicts`) {
		t.Errorf("error %q", err)
	}
}

// Untracked files are only read if the options ask for them.
func TestUntrackedFilesAreLeftOut(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	head := r.commit("start")
	r.write("one.txt", "1\n")
	r.write("dir/two.txt", "2\n")
	(&repo{t, mkdir(t, r.dir, "nested")}).git("init", "--quiet")
	s := r.open(Options{})
	f := facts(t, s)
	if len(f.Files) != 0 || len(f.Incomplete) != 0 || f.Head.WorkTree || f.Head.SHA != head {
		t.Errorf("files:\n%sincomplete %+v, head %+v", shown(f.Files), f.Incomplete, f.Head)
	}
	if left, err := s.LeftOut(t.Context()); err != nil || left != 2 {
		t.Errorf("%d files were left out, %v", left, err)
	}
	if nothing, err := s.Nothing(t.Context()); err != nil || nothing != "no changes against main; 2 untracked files were left out; --untracked includes them" {
		t.Errorf("%q, %v", nothing, err)
	}
	s = r.open(Options{Untracked: true})
	if f = facts(t, s); len(f.Files) != 2 || f.Files[0].Status != pipeline.FileAdded || !f.Head.WorkTree {
		t.Errorf("files:\n%s, head %+v", shown(f.Files), f.Head)
	}
	if left, err := s.LeftOut(t.Context()); err != nil || left != 0 {
		t.Errorf("%d files were left out, %v", left, err)
	}
}

func mkdir(t *testing.T, dir, name string) string {
	t.Helper()
	dir = filepath.Join(dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
