package localgit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The error about a shallow clone ends with a command, and after that command the review works.
func TestShallowClone(t *testing.T) {
	origin := newRepo(t)
	origin.write("a.txt", "a\n")
	origin.commit("start")
	origin.git("switch", "--quiet", "--create", "feature")
	origin.write("a.txt", "b\n")
	origin.commit("one")
	origin.write("a.txt", "c\n")
	origin.commit("two")
	origin.git("switch", "--quiet", "main")
	origin.write("b.txt", "b\n")
	origin.commit("later")
	all := "'+refs/heads/*:refs/remotes/origin/*'"
	for name, tt := range map[string]struct {
		clone   []string
		o       Options
		problem string
		command string
	}{
		"no default branch":    {[]string{"--branch=feature"}, Options{}, "there is no origin/HEAD, main or master", "git fetch --unshallow origin " + all},
		"no merge base":        {[]string{"--branch=feature", "--no-single-branch"}, Options{}, "main and the head have no common history", "git fetch --unshallow origin"},
		"unknown revision":     {[]string{"--branch=feature"}, Options{Base: "HEAD~2"}, `"HEAD~2" is not a commit`, "git fetch --unshallow origin " + all},
		"remote of other name": {[]string{"--branch=feature", "--origin=up-1.x", "--no-single-branch"}, Options{Base: "up-1.x/main"}, "up-1.x/main and the head have no common history", "git fetch --unshallow up-1.x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GITHUB_ACTIONS", "")
			clone := &repo{t, filepath.Join(t.TempDir(), "clone")}
			origin.git(append(append([]string{"clone", "--quiet", "--depth=1"}, tt.clone...), "file://"+origin.dir, clone.dir)...)
			tt.o.Dir = clone.dir
			_, err := Open(t.Context(), tt.o)
			if err == nil || !strings.HasPrefix(err.Error(), tt.problem) || !strings.HasSuffix(err.Error(), "; this clone is shallow, so it lacks a part of the history: run "+tt.command) {
				t.Fatalf("error %q", err)
			}
			// Where actions/checkout made the clone, its input is the remedy.
			t.Setenv("GITHUB_ACTIONS", "true")
			if _, err := Open(t.Context(), tt.o); err == nil || !strings.HasSuffix(err.Error(), "history: add fetch-depth: 0 to the inputs of actions/checkout") {
				t.Errorf("in GitHub Actions: %v", err)
			}
			fetch := exec.Command("sh", "-c", tt.command)
			fetch.Dir = clone.dir
			if out, err := fetch.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", tt.command, err, out)
			}
			wantFiles(t, facts(t, clone.open(tt.o)), `
modified "a.txt" +1 -1
  -1,0 "a"
  +0,1 "c"
`)
		})
	}
}

// What is staged can be reviewed in a shallow clone.
func TestStagedInAShallowClone(t *testing.T) {
	origin := newRepo(t)
	origin.write("a.txt", "a\n")
	origin.commit("start")
	origin.write("a.txt", "b\n")
	origin.commit("more")
	clone := &repo{t, filepath.Join(t.TempDir(), "clone")}
	origin.git("clone", "--quiet", "--depth=1", "file://"+origin.dir, clone.dir)
	clone.write("a.txt", "c\n")
	clone.git("add", "a.txt")
	if f := facts(t, clone.open(Options{Staged: true})); len(f.Files) != 1 {
		t.Errorf("files:\n%s", shown(f.Files))
	}
}

// Without a remote, or with names that would have to be quoted, there is no command to run.
func TestShallowCloneWithoutAUsableRemote(t *testing.T) {
	t.Setenv("GITHUB_ACTIONS", "")
	origin := newRepo(t)
	origin.commit("start")
	origin.commit("more")
	clone := &repo{t, filepath.Join(t.TempDir(), "clone")}
	origin.git("clone", "--quiet", "--depth=1", "file://"+origin.dir, clone.dir)
	for _, rename := range [][]string{{"remote", "rename", "origin", "x;touch${IFS}pwned"}, {"remote", "remove", "x;touch${IFS}pwned"}} {
		clone.git(rename...)
		_, err := Open(t.Context(), Options{Dir: clone.dir, Base: "HEAD~1"})
		if err == nil || !strings.HasSuffix(err.Error(), "history: clone the repository again without --depth") {
			t.Errorf("error %q", err)
		}
	}
	if _, err := os.Stat(filepath.Join(clone.dir, "pwned")); err == nil {
		t.Error("the name of the remote was run")
	}
}

// A branch that only the remote has is named as git names it.
func TestBranchOfTheRemote(t *testing.T) {
	origin := newRepo(t)
	origin.commit("start")
	origin.git("branch", "release")
	clone := &repo{t, filepath.Join(t.TempDir(), "clone")}
	origin.git("clone", "--quiet", origin.dir, clone.dir)
	_, err := Open(t.Context(), Options{Dir: clone.dir, Base: "release"})
	if err == nil || !strings.HasSuffix(err.Error(), `; did you mean "origin/release"?`) {
		t.Errorf("error %q", err)
	}
}
