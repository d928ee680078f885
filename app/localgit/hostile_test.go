package localgit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// fixed is a time long before any time in a test.
var fixed = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// A repository from somebody else may have any config and attributes. None of the programs
// that they name may run.
func TestNoProgramOfTheRepositoryRuns(t *testing.T) {
	r := newRepo(t)
	marker := filepath.Join(t.TempDir(), "pwned")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+marker+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.write("a.txt", "one\n")
	r.write("b.txt", "one\n")
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("a.txt", "two\n")
	r.write("b.txt", "two\n")
	r.commit("change")

	r.write(".gitattributes", "a.txt diff=evil\nb.txt filter=evil\nc.txt filter=a=b\n")
	r.write("b.txt", "three\n")
	r.write("c.txt", "c\n")
	for key, value := range map[string]string{
		"core.fsmonitor": evil, "core.pager": evil, "core.sshCommand": evil, "core.editor": evil, "core.askPass": evil,
		"diff.external": evil, "diff.evil.textconv": evil, "diff.evil.command": evil,
		"filter.evil.clean": evil, "filter.evil.smudge": evil, "filter.evil.process": evil, "filter.evil.required": "true",
		"filter.a=b.clean": evil, "filter.a=b.required": "true",
		"gpg.program": evil, "log.showSignature": "true", "interactive.diffFilter": evil, "pager.diff": evil, "pager.log": evil,
		"alias.diff": "!" + evil, "credential.helper": "!" + evil, "uploadpack.packObjectsHook": evil,
		"remote.origin.url": "ext::" + evil, "remote.origin.promisor": "true", "extensions.partialClone": "origin", "protocol.ext.allow": "always",
	} {
		r.git("config", key, value)
	}
	hooks := filepath.Join(r.dir, ".git", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"} {
		if err := os.Symlink(evil, filepath.Join(hooks, hook)); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"GIT_EXTERNAL_DIFF": evil, "GIT_PAGER": evil, "GIT_SSH_COMMAND": evil, "PAGER": evil} {
		t.Setenv(name, value)
	}

	// Plain git must fall into the trap, otherwise the test would prove nothing.
	plain := exec.Command("git", "diff", "main")
	plain.Dir = r.dir
	_ = plain.Run()
	if err := os.Remove(marker); err != nil {
		t.Fatalf("a plain git diff ran nothing: %v", err)
	}

	for name, o := range map[string]Options{
		"work tree": {Untracked: true}, "index": {Staged: true, Base: "main"}, "range": {Base: "main", Head: "feature"},
	} {
		f := facts(t, r.open(o))
		if len(f.Files) < 2 || len(f.Incomplete) > 0 {
			t.Errorf("%s: files:\n%s\nincomplete %+v", name, shown(f.Files), f.Incomplete)
		}
		if ran, err := os.ReadFile(marker); err == nil {
			t.Errorf("%s: ran %s", name, ran)
		}
	}
}

// A missing object of a partial clone is an error, and must not start the remote's transport.
func TestNothingIsFetched(t *testing.T) {
	r := newRepo(t)
	marker := filepath.Join(t.TempDir(), "pwned")
	r.write("a.txt", "one\n")
	base := r.commit("start")
	r.write("a.txt", "two\n")
	r.commit("change")
	blob := r.git("rev-parse", "HEAD:a.txt")
	if err := os.Remove(filepath.Join(r.dir, ".git/objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	r.git("config", "extensions.partialClone", "origin")
	r.git("config", "remote.origin.promisor", "true")
	r.git("config", "remote.origin.url", "ext::touch "+marker)
	r.git("config", "protocol.ext.allow", "always")

	plain := exec.Command("git", "diff", base, "HEAD")
	plain.Dir = r.dir
	_ = plain.Run()
	if err := os.Remove(marker); err != nil {
		t.Fatalf("a plain git diff fetched nothing: %v", err)
	}

	s := r.open(Options{Base: base, Head: "HEAD"})
	if _, err := s.Files(t.Context()); err == nil {
		t.Error("read a missing file")
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the remote's transport was run")
	}
}

// These settings only change the form of a diff.
func TestConfigDoesNotChangeTheDiff(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("dir/a b.txt", "one\n\ntwo\nthree\n")
	r.write("z.txt", "z\n")
	base := r.commit("start")
	r.write("dir/a b.txt", "one\n\n2\nthree\n")
	r.write("z.txt", "zz\n")
	r.commit("change")
	want := shown(facts(t, r.open(Options{Base: base, Head: "HEAD"})).Files)
	for key, value := range map[string]string{
		"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.suppressBlankEmpty": "true", "diff.context": "0",
		"diff.interHunkContext": "9", "diff.renames": "false", "diff.relative": "true", "diff.submodule": "log",
		"diff.wordRegex": ".", "diff.colorMoved": "plain", "color.ui": "always", "color.diff": "always", "core.abbrev": "4",
		"core.quotePath": "false", "diff.algorithm": "patience", "diff.orderFile": "order", "diff.dirstat": "lines",
		"diff.ignoreSubmodules": "all", "diff.wsErrorHighlight": "all", "format.pretty": "oneline", "log.date": "relative",
		"log.decorate": "full", "log.diffMerges": "on", "i18n.logOutputEncoding": "UTF-16",
	} {
		r.git("config", key, value)
	}
	r.write("order", "z.txt\n")
	f := facts(t, r.open(Options{Base: base, Head: "HEAD"}))
	if got := shown(f.Files); got != want {
		t.Errorf("files:\n%s\nwithout the settings:\n%s", got, want)
	}
	if f.Title != "change" || len(f.Commits) != 1 {
		t.Errorf("title %q, commits %+v", f.Title, f.Commits)
	}
}
