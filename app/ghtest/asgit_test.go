package ghtest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// TestAnswersMatchGit: the answers about commits that are computed without git are the same as
// git's, byte for byte.
func TestAnswersMatchGit(t *testing.T) {
	dir := t.TempDir()
	n, plainDiffs, plainMerges := 0, 0, 0
	sample.Check(t, func(t *rapid.T) {
		n++
		g := newGit(t.Context(), filepath.Join(dir, fmt.Sprint(n)))
		commits := drawHistory(t, g)
		pick := rapid.SampledFrom(commits)
		for i := range 3 {
			a, b := pick.Draw(t, "a"), pick.Draw(t, "b")
			if c, err := g.objects.commit(b); i == 0 && err == nil && len(c.Parents) > 0 {
				a = c.Parents[0] // a parent's diff is more often simple
			}
			sameHistory(t, g, a, b)
			if sameDiff(t, g, a, b) {
				plainDiffs++
			}
			if sameMerge(t, g, a, b) {
				plainMerges++
			}
		}
		sameTree(t, g, pick.Draw(t, "listed"))
	})
	t.Logf("%d diffs and %d merges were made without git", plainDiffs, plainMerges)
	if n >= 100 && (plainDiffs == 0 || plainMerges == 0) { // fewer draws may contain none of them
		t.Error("no answer was computed without git, so the test proved nothing")
	}
}

// drawHistory commits random changes to a few files on top of any existing commit, and
// merges.
func drawHistory(t *rapid.T, g *git) []string {
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "  d\n", "}\n", "func f() {  \n", strings.Repeat("_long", 30) + "\n", "é\n"})
	path := rapid.SampledFrom([]string{"a", "b.go", "a.b", "d/x", "d/y", "d/e/z", "d", "é", "odd name", "tab\t"})
	fresh := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "")
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return strings.TrimSuffix(text, "\n")
		case 1:
			return Executable(text)
		case 2:
			return text + "\x00"
		case 3:
			return Symlink("a")
		case 4:
			return Gone
		}
		return text
	})
	when := commitsBegin
	texts := map[string]map[string]string{} // by commit
	var commits []string
	for range rapid.IntRange(2, 10).Draw(t, "commits") {
		when = when.Add(time.Minute)
		parent, now := "", map[string]string{}
		if len(commits) > 0 {
			parent = rapid.SampledFrom(commits).Draw(t, "parent")
			if other := rapid.SampledFrom(commits).Draw(t, "other"); rapid.Bool().Draw(t, "merge") && other != parent {
				if sha, err := g.mergeCommit(parent, other, "merge", when); err == nil {
					commits, texts[sha] = append(commits, sha), texts[parent]
					continue
				}
			}
			now = maps.Clone(texts[parent])
		}
		files := Files{}
		for range rapid.IntRange(0, 3).Draw(t, "files") {
			name := path.Draw(t, "path")
			if slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(other string) bool {
				return strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/")
			}) {
				continue
			}
			content := fresh.Draw(t, "content")
			if old, ok := now[name]; ok && rapid.Bool().Draw(t, "edit") {
				content = edit(t, old, line)
			}
			files[name], now[name] = content, content
		}
		sha, err := g.commitFiles(parent, files, "change", signature{Name: "a", Email: "a@b.c", When: when})
		if err != nil {
			t.Fatalf("commit %q: %v", files, err)
		}
		commits, texts[sha] = append(commits, sha), now
	}
	return commits
}

// edit replaces a few lines.
func edit(t *rapid.T, text string, line *rapid.Generator[string]) string {
	lines := strings.SplitAfter(text, "\n")
	from := rapid.IntRange(0, len(lines)-1).Draw(t, "from")
	to := rapid.IntRange(from, min(len(lines)-1, from+2)).Draw(t, "to")
	return strings.Join(slices.Concat(lines[:from], rapid.SliceOfN(line, 0, 3).Draw(t, "new"), lines[to:]), "")
}

func sameDiff(t *rapid.T, g *git, a, b string) (plain bool) {
	changes, here, err := g.diffs.changesOfCommits(a, b)
	if err != nil || !here {
		t.Fatalf("changes from %s to %s: %v", a, b, err)
	}
	want, err := g.diffs.askDiff(a, b)
	if err != nil {
		t.Fatalf("git's diff: %v", err)
	}
	got, plain := g.diffs.plainDiff(changes)
	if plain {
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("diff (-git +ours):\n%s", d)
		}
	}
	out, err := g.objects.run("diff-tree", "-r", "--no-renames", "--name-only", "-z", a, b, "--")
	if err != nil {
		t.Fatalf("git's names: %v", err)
	}
	names := ""
	for _, c := range changes {
		names += c.path + "\x00"
	}
	if names != string(out) {
		t.Errorf("our changed names are %q, git's are %q", names, out)
	}
	return plain && len(changes) > 0
}

func sameMerge(t *rapid.T, g *git, a, b string) (plain bool) {
	got, plain, err := g.mergePlainly(a, b)
	if err != nil {
		t.Fatalf("merge %s and %s: %v", a, b, err)
	}
	if !plain {
		return false
	}
	want, err := g.askMergeTree(a, b)
	if err != nil {
		t.Fatalf("git's merge: %v", err)
	}
	if got != want {
		t.Errorf("our merge of %s and %s is %s, git's is %s", a, b, got, want)
	}
	return true
}

func sameHistory(t *rapid.T, g *git, a, b string) {
	best, known := g.history.bases(a, b)
	out, _ := g.objects.run("merge-base", "--all", a, b) // fails if there is no merge base
	want := strings.Fields(string(out))
	slices.Sort(best)
	slices.Sort(want)
	if !known || !slices.Equal(best, want) {
		t.Errorf("our merge base of %s and %s is %q, git's is %q", a, b, best, want)
	}
	since, known := g.history.since(a, b)
	out, err := g.objects.run("rev-list", "--topo-order", "--reverse", a+".."+b, "--")
	if err != nil || !known || !slices.Equal(since, strings.Fields(string(out))) {
		t.Errorf("our newer commits are %q, git's are %q (%v)", since, out, err)
	}
}

func sameTree(t *rapid.T, g *git, sha string) {
	for _, recursive := range []bool{false, true} {
		got, err := g.objects.tree(sha, recursive)
		if err != nil {
			t.Fatalf("list %s: %v", sha, err)
		}
		args := []string{"ls-tree", "-z", "-l"}
		if recursive {
			args = append(args, "-r", "-t")
		}
		out, err := g.objects.run(append(args, sha)...)
		if err != nil {
			t.Fatalf("git's list: %v", err)
		}
		want, err := parseTree(out)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("our tree contains %v, git's contains %v (%v)", got, want, err)
		}
	}
}
