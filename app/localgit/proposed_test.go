package localgit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	settings  = config.RepositoryDir + "/" + config.FileSettings
	rulesPath = config.RepositoryDir + "/" + config.FileRules
)

func modeOf(t *testing.T, s *Source) string {
	t.Helper()
	c, err := s.Proposed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return "none proposed"
	}
	if len(c.InForce.Problems) > 0 {
		return "broken: " + c.InForce.Problems[0].File
	}
	return c.Settings.Mode
}

func TestProposedConfig(t *testing.T) {
	r := newRepo(t)
	r.write(settings, `{"mode": "advisory"}`)
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("a.go", "package a\n")
	r.write(config.RepositoryDir+"/README.md", "not config\n")
	r.commit("something else")
	if got := modeOf(t, r.open(Options{Head: "feature"})); got != "none proposed" {
		t.Errorf("a change that does not touch the config: %s", got)
	}
	r.write(settings, `{"mode": "off"}`)
	r.commit("switch it off")
	for name, o := range map[string]Options{"head": {Head: "feature"}, "work tree": {}} {
		s := r.open(o)
		if got := modeOf(t, s); got != config.ModeOff {
			t.Errorf("%s: %s", name, got)
		}
		if read, err := s.Config(t.Context()); err != nil || read.Config.Settings.Mode != config.ModeAdvisory {
			t.Errorf("%s: %v: the proposed config is in force", name, err)
		}
	}

	named := t.TempDir()
	if err := os.WriteFile(filepath.Join(named, config.FileSettings), []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := modeOf(t, r.open(Options{ConfigDir: named})); got != "none proposed" {
		t.Errorf("with a named directory: %s", got)
	}

	r.git("rm", "--quiet", settings)
	r.commit("back to the defaults")
	for name, o := range map[string]Options{"head": {Head: "feature"}, "work tree": {}} {
		if got := modeOf(t, r.open(o)); got != config.ModeEnforce {
			t.Errorf("%s without config: %s", name, got)
		}
	}
	r.git("mv", config.RepositoryDir+"/README.md", rulesPath)
	r.commit("a text as rules")
	for name, o := range map[string]Options{"head": {Head: "feature"}, "work tree": {}} {
		if got := modeOf(t, r.open(o)); got != "broken: "+rulesPath {
			t.Errorf("%s with text instead of rules: %s", name, got)
		}
	}
}

// A file that was meant as config but is not read is a problem, of the config in force too.
func TestFileThatIsNotReadIsBrokenConfig(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(r *repo)
		want   string
	}{
		"misspelt":       {func(r *repo) { r.write(config.RepositoryDir+"/review-rule.json", `[]`) }, config.RepositoryDir + "/review-rule.json"},
		"another format": {func(r *repo) { r.write(config.RepositoryDir+"/review-rules.toml", `[]`) }, config.RepositoryDir + "/review-rules.toml"},
		"a file":         {func(r *repo) { r.removeConfig(); r.write(config.RepositoryDir, `{}`) }, config.RepositoryDir},
		"a link": {func(r *repo) {
			r.removeConfig()
			r.write("conf/review-settings.json", `{"mode": "off"}`)
			if err := os.Symlink("../conf", filepath.Join(r.dir, config.RepositoryDir)); err != nil {
				r.t.Fatal(err)
			}
		}, config.RepositoryDir},
		"a link above": {func(r *repo) {
			r.write("conf/reviewgate/review-settings.json", `{"mode": "off"}`)
			if err := errors.Join(os.RemoveAll(filepath.Join(r.dir, ".github")), os.Symlink("conf", filepath.Join(r.dir, ".github"))); err != nil {
				r.t.Fatal(err)
			}
		}, ".github"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write(settings, `{"mode": "advisory"}`)
			r.commit("start")
			r.git("switch", "--quiet", "--create", "feature")
			tt.change(r)
			if got := modeOf(t, r.open(Options{Untracked: true})); got != "broken: "+tt.want {
				t.Errorf("in the work tree: %s", got)
			}
			r.git("add", "--all")
			if got := modeOf(t, r.open(Options{Staged: true})); got != "broken: "+tt.want {
				t.Errorf("in the index: %s", got)
			}
			r.commit("change")
			if got := modeOf(t, r.open(Options{Head: "feature"})); got != "broken: "+tt.want {
				t.Errorf("at the head: %s", got)
			}
			read, err := r.open(Options{Base: "feature", Head: "feature"}).Config(t.Context())
			if err != nil || len(read.Config.InForce.Problems) != 1 || read.Config.InForce.Problems[0].File != tt.want {
				t.Errorf("in force: %+v, %v", read.Config.InForce.Problems, err)
			}
		})
	}
}

func (r *repo) removeConfig() {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, config.RepositoryDir)); err != nil {
		r.t.Fatal(err)
	}
}

// Later changes to the base are not part of what the change proposes.
func TestProposedConfigOfABranchThatIsBehind(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write(settings, `{"mode": "advisory"}`)
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write(rulesPath, `[]`)
	r.commit("rules")
	r.git("switch", "--quiet", "main")
	r.write(settings, `{"mode": "off"}`)
	r.commit("switch it off")
	r.git("switch", "--quiet", "feature")
	for name, o := range map[string]Options{"head": {Head: "feature"}, "work tree": {}} {
		if got := modeOf(t, r.open(o)); got != config.ModeOff {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The work tree's config is read as if it were committed.
func TestProposedConfigOfTheWorkTree(t *testing.T) {
	sample.Variant(t)
	for name, tt := range map[string]struct {
		change func(r *repo)
		want   string
	}{
		"unchanged":              {func(*repo) {}, "none proposed"},
		"uncommitted":            {func(r *repo) { r.write(settings, `{"mode": "off"}`) }, config.ModeOff},
		"deleted":                {func(r *repo) { r.remove(settings) }, config.ModeEnforce},
		"removed from git alone": {func(r *repo) { r.git("rm", "--quiet", "--cached", settings) }, config.ModeEnforce},
		"untracked": {func(r *repo) {
			r.write(settings, `{"mode": "off"}`)
			r.write(rulesPath, `nonsense`)
		}, "broken: " + rulesPath},
		"ignored": {func(r *repo) {
			r.write(settings, `{"mode": "off"}`)
			r.write(rulesPath, `nonsense`)
			r.write(".gitignore", rulesPath+"\n")
		}, config.ModeOff},
		"a link": {func(r *repo) {
			secret := filepath.Join(r.t.TempDir(), "settings.json")
			if err := os.WriteFile(secret, []byte(`{"mode": "off"}`), 0o644); err != nil {
				r.t.Fatal(err)
			}
			r.remove(settings)
			if err := os.Symlink(secret, filepath.Join(r.dir, settings)); err != nil {
				r.t.Fatal(err)
			}
		}, "broken: " + settings},
		"too large": {func(r *repo) { r.write(settings, `{}`+strings.Repeat(" ", config.MaxFileBytes)) }, "broken: " + settings},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write(settings, `{"mode": "advisory"}`)
			r.commit("start")
			tt.change(r)
			if got := modeOf(t, r.open(Options{Untracked: true})); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func (r *repo) remove(path string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.dir, path)); err != nil {
		r.t.Fatal(err)
	}
}

func TestFilesAtTheRoot(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("README.md", "# shop\n")
	r.write("CHANGELOG.md", "# 1.0\n")
	r.write("src/main.go", "package main\n")
	if err := os.Symlink("README.md", filepath.Join(r.dir, "INDEX")); err != nil {
		t.Fatal(err)
	}
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write("head.txt", "x\n")
	r.commit("more")
	r.write("work.txt", "x\n")
	if got := facts(t, r.open(Options{})).RootFiles; !slices.Equal(got, []string{"CHANGELOG.md", "INDEX", "README.md"}) {
		t.Errorf("%q", got)
	}
}

func TestTooManyFilesAtTheRoot(t *testing.T) {
	sample.Variant(t)
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.git("add", "a.txt")
	sha := r.git("rev-parse", ":a.txt")
	var tree strings.Builder
	for i := range maxRootFiles {
		fmt.Fprintf(&tree, "100644 blob %s\tn%05d.txt\n", sha, i)
	}
	for more, want := range map[string]int{"": maxRootFiles, "100644 blob " + sha + "\tone-more.txt\n": 0} {
		list := filepath.Join(t.TempDir(), "tree")
		if err := os.WriteFile(list, []byte(tree.String()+more), 0o644); err != nil {
			t.Fatal(err)
		}
		root := r.gitFrom(list, "mktree")
		r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "start", root))
		read, err := r.open(Options{Head: "main"}).Config(t.Context())
		if err != nil || len(read.RootFiles) != want {
			t.Errorf("%d names, want %d: %v", len(read.RootFiles), want, err)
		}
	}
}

// When there is nothing else to review, the error names staged-only changes and nested
// repositories.
func TestNothingButUnreadFilesToReview(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	r.commit("start")
	r.write("b.txt", "b\n")
	r.git("add", "b.txt")
	if err := os.Remove(filepath.Join(r.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	r.git("init", "--quiet", "inner")
	const want = "no changes against main; inner: it is a repository of its own, which was not read; b.txt: its staged version differs from the work tree, and was not read"
	if got, err := r.open(Options{Untracked: true}).Nothing(t.Context()); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestNothingToReview(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", "a\n")
	first := r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.git("commit", "--quiet", "--allow-empty", "--message", "nothing")
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no changes against main"},
		{Options{Head: "main"}, "main and main are the same commit"},
		{Options{Head: "feature"}, "main already has everything that feature has"},
		{Options{Base: first, Head: "HEAD"}, first + " already has everything that HEAD has"},
	} {
		got, err := r.open(tt.o).Nothing(t.Context())
		if err != nil || got != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.o, got, err, tt.want)
		}
	}
	r.write("b.txt", "b\n")
	if got, err := r.open(Options{Untracked: true}).Nothing(t.Context()); err != nil || got != "" {
		t.Errorf("with an untracked file: %q, %v", got, err)
	}
}

// A branch that is behind has the base's policy tests, but for those that it changes.
func TestProposedTestsOfABranchBehind(t *testing.T) {
	r := newRepo(t)
	const dir = config.RepositoryDir + "/" + config.TestsDir
	r.write(dir+"/a.json", `{}`)
	r.write(dir+"/b.json", `{}`)
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write(dir+"/a.json", `["feature"]`)
	r.commit("change")
	r.git("switch", "--quiet", "main")
	r.write(dir+"/b.json", `["main"]`)
	r.write(dir+"/c.json", `["main"]`)
	r.commit("go on")
	files, err := r.open(Options{Base: "main", Head: "feature"}).ProposedTests(t.Context())
	var got []string
	for _, f := range files {
		got = append(got, strings.TrimPrefix(f.Path, dir+"/")+" "+string(f.Text))
	}
	if want := []string{`b.json ["main"]`, `c.json ["main"]`, `a.json ["feature"]`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// The policy tests of a range are those at its head, and of a work tree those that a commit would
// have.
func TestProposedTests(t *testing.T) {
	r := newRepo(t)
	const dir = config.RepositoryDir + "/" + config.TestsDir
	r.write(dir+"/a.json", `{}`)
	r.commit("start")
	r.git("switch", "--quiet", "--create", "feature")
	r.write(dir+"/b.json", `[]`)
	r.write(dir+"/README.md", "no test\n")
	r.write(dir+"/more/c.json", "no test\n")
	r.commit("more")
	r.write(dir+"/d.json", `[ ]`)
	if err := os.Remove(filepath.Join(r.dir, dir, "a.json")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"feature": {"a.json {}", "b.json []"}, "": {"b.json []", "d.json [ ]"}} {
		files, err := r.open(Options{Head: name, Untracked: true}).ProposedTests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, strings.TrimPrefix(f.Path, dir+"/")+" "+string(f.Text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("head %q: %q, want %q", name, got, want)
		}
	}
	r.write(dir+"/b.json", strings.Repeat(" ", config.MaxTestBytes+7))
	if files, err := r.open(Options{}).ProposedTests(t.Context()); err != nil || len(files) != 1 || len(files[0].Text) != config.MaxTestBytes+1 {
		t.Errorf("a large file: %d files, %v", len(files), err)
	}
}
