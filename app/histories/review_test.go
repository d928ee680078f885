package histories

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

func newRunner(t testing.TB) *run.Runner {
	t.Helper()
	r, err := run.NewRunner(run.Config{Version: "devel", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// review reviews what head has and base hasn't, with the defaults alone: a
// repository's own config is another reviewer's.
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

// repository is a git repository that a test makes.
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
