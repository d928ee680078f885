package rules_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/needs"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// The corpus takes Go code from the distribution's own sources, and other languages from the
// downloaded modules too. The modules have little code of each language, so the corpus takes at
// most maxOther bytes of a language.
const (
	maxOther = 600 << 10
	maxFile  = 256 << 10
)

var others = []string{".js", ".ts", ".py", ".rb", ".java", ".sql", ".yml", ".yaml", ".sh", ".html", ".css", ".tf", ".mod", "Dockerfile", "Makefile"}

// corpus returns facts of a change that adds about limit bytes of code. They are always the same
// for the same Go distribution and modules.
func corpus(t testing.TB, limit int) *pipeline.PRFacts {
	t.Helper()
	goroot, modules := goEnv(t, "GOROOT"), goEnv(t, "GOMODCACHE")
	src := filepath.Join(goroot, "src")
	if _, err := os.Stat(src); err != nil {
		needs.Lacks(t, "no corpus: this Go distribution comes without its sources: %v", err)
	}
	var files added
	size := 0
	for _, ext := range others {
		n := 0
		for _, root := range []string{goroot, modules} {
			for _, f := range collect(t, root, ext, min(maxOther, limit/20)-n, func(string) bool { return true }) {
				n += len(f.Patch)
				files = append(files, f)
			}
		}
		size += n
	}
	files = append(files, collect(t, src, ".go", limit-size, func(path string) bool {
		h := fnv.New32()
		h.Write([]byte(path))
		return h.Sum32()%10 == 0
	})...)
	return files.facts(t)
}

func goEnv(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		needs.Lacks(t, "no corpus: go env %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// collect returns files below root in the order of their paths, until they have limit
// bytes.
func collect(t testing.TB, root, ext string, limit int, take func(path string) bool) added {
	t.Helper()
	var files added
	size := 0
	for _, name := range list(t, root) {
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if !strings.HasSuffix(name, ext) || !take(rel) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > maxFile {
			continue
		}
		if size += len(text); size > limit {
			break
		}
		files.add(rel, string(text))
	}
	return files
}

// lists caches the results of list.
var lists = map[string][]string{}

// list returns the names of all regular files below root, in order.
func list(t testing.TB, root string) []string {
	t.Helper()
	if names, ok := lists[root]; ok {
		return names
	}
	var names []string
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && name == root:
			return fs.SkipAll // no modules are downloaded
		case err != nil:
			return err
		case e.IsDir() && name == filepath.Join(root, "cache"):
			return fs.SkipDir // the module cache's own files
		case e.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lists[root] = names
	return names
}

// added is a source of a change that adds files.
type added []raw.ChangedFile

func (a *added) add(name, text string) {
	text = strings.TrimSuffix(text, "\n")
	n := strings.Count(text, "\n") + 1
	patch := fmt.Sprintf("@@ -0,0 +1,%d @@\n+%s", n, strings.ReplaceAll(text, "\n", "\n+"))
	*a = append(*a, raw.ChangedFile{Path: path.Clean(name), Status: pipeline.FileAdded, Additions: n, Patch: patch})
}

func (a added) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{
		Title: "WIP: draft of things", Body: "Because.\n\n- [ ] test", Commits: 2,
		Head: pipeline.Head{SHA: "abcdef0"}, Totals: pipeline.Totals{Files: len(a)},
	}, nil
}

func (a added) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: a}, nil
}

func (a added) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: []pipeline.Commit{
		{SHA: "1234567", Message: "fixup! feat: things"}, {SHA: "abcdef0", Message: "feat: things"},
	}}, nil
}

func (a added) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: shippedConfig()}, nil
}

func (a added) facts(t testing.TB) *pipeline.PRFacts {
	t.Helper()
	facts, _, err := normalize.Normalize(context.Background(), a, normalize.Options{ObservedAt: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return &facts
}

// The shipped config is loaded with all rules and compiled once. Nothing changes it.
var (
	shippedConfig = sync.OnceValue(func() *config.Config {
		cfg, _ := config.Load(config.Layer{Name: config.LayerServer, Files: []config.File{{Path: config.FileSettings, Text: []byte(`{"profile": "strict"}`)}}})
		return cfg
	})
	shippedEngine = sync.OnceValues(func() (*rules.Engine, error) { return rules.Compile(shippedConfig().Rules) })
)

// shipped returns the shipped config and the engine for its rules.
func shipped(t testing.TB) (*config.Config, *rules.Engine) {
	t.Helper()
	engine, err := shippedEngine()
	if err != nil {
		t.Fatal(err)
	}
	return shippedConfig(), engine
}
