package histories

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// runner is compiled once, because it keeps nothing of a review.
var runner = sync.OnceValues(func() (*run.Runner, error) { return run.NewRunner(run.Config{Version: "devel", Now: time.Now}) })

func newRunner(t testing.TB) *run.Runner {
	t.Helper()
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// review reviews the changes between base and head with the defaults only, because a
// repository's own config would make another reviewer.
func review(ctx context.Context, r *run.Runner, dir, base, head string) (pipeline.Review, error) {
	src, err := localgit.Open(ctx, localgit.Options{Dir: dir, Base: base, Head: head})
	if err != nil {
		return pipeline.Review{}, err
	}
	out, err := r.Run(ctx, src, run.Options{})
	if err == nil && len(out.Review.Facts.Config.Layers) > 1 {
		err = fmt.Errorf("%s has a config of its own", dir)
	}
	return out.Review, err
}

// ownLines counts the added lines that people wrote.
func ownLines(facts *pipeline.PRFacts) int {
	n := 0
	for i := range facts.Files {
		if f := &facts.Files[i]; !f.Generated && !f.GeneratedByPath && !f.Vendored {
			n += f.Additions
		}
	}
	return n
}

// repository is a git repository that a test creates.
type repository struct {
	t   testing.TB
	dir string
}

func newRepository(t testing.TB) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	r.write(map[string]string{"README.md": "# Shop\n"})
	r.commit("Start")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=Kim", "-c", "user.email=kim@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		name = filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// commit commits everything and returns the SHA.
func (r *repository) commit(message string) string {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.git("rev-parse", "HEAD")
}

// imported is a commit for git to import. It adds its files to those of the commit before.
type imported struct {
	after   string // a SHA, or the mark of an earlier commit of the import
	message string
	files   map[string]string
}

// mark names the i-th commit of an import.
func mark(i int) string { return fmt.Sprintf(":%d", i+1) }

// imports makes commits in one run of git, and returns their SHAs.
func (r *repository) imports(commits []imported) []string {
	r.t.Helper()
	var b strings.Builder
	for i, c := range commits {
		fmt.Fprintf(&b, "commit refs/imported/%d\nmark %s\ncommitter Kim <kim@example.com> %d +0000\ndata %d\n%s\nfrom %s\n",
			i, mark(i), 1_790_000_000+i, len(c.message), c.message, c.after)
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name, len(c.files[name]), c.files[name])
		}
	}
	marks := filepath.Join(r.t.TempDir(), "marks")
	cmd := exec.Command("git", "-C", r.dir, "fast-import", "--quiet", "--export-marks="+marks)
	cmd.Stdin = strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	text, err := os.ReadFile(marks)
	if err != nil {
		r.t.Fatal(err)
	}
	shas := make([]string, len(commits))
	for line := range strings.Lines(string(text)) {
		var i int
		var sha string
		if _, err := fmt.Sscanf(line, ":%d %s", &i, &sha); err != nil {
			r.t.Fatalf("mark %q: %v", line, err)
		}
		shas[i-1] = sha
	}
	return shas
}
