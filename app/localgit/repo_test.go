package localgit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// repo is a test's real repository.
type repo struct {
	t   testing.TB
	dir string
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	// Neither the developer's config nor the tests' own repository may influence git.
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("HOME", t.TempDir())
	r := &repo{t, filepath.Join(t.TempDir(), "shop")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// Most of the time of these tests goes into starting git. So files are written without
	// git where possible, and git's example hooks are not copied.
	r.git("init", "--quiet", "--template=", "--initial-branch=main")
	config, err := os.OpenFile(filepath.Join(r.dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = config.WriteString("[user]\n\tname = Alice Doe\n\temail = alice@example.com\n")
		err = errors.Join(err, config.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	return r.gitFrom(os.DevNull, args...)
}

// gitFrom runs git with a file as its input.
func (r *repo) gitFrom(file string, args ...string) string {
	r.t.Helper()
	in, err := os.Open(file)
	if err != nil {
		r.t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, in
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(path, content string) {
	r.t.Helper()
	name := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits the whole work tree and returns its SHA.
func (r *repo) commit(message string) string {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.head()
}

// head returns the SHA of the commit that was just made.
func (r *repo) head() string {
	r.t.Helper()
	name := "HEAD"
	for {
		text, err := os.ReadFile(filepath.Join(r.dir, ".git", filepath.FromSlash(name)))
		if err != nil {
			return r.git("rev-parse", "HEAD") // the refs are stored in another format
		}
		var isRef bool
		if name, isRef = strings.CutPrefix(strings.TrimSpace(string(text)), "ref: "); !isRef {
			return name
		}
	}
}

// open opens the repository. Unset fields of o get the default.
func (r *repo) open(o Options) *Source {
	r.t.Helper()
	o.Dir = r.dir
	s, err := Open(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// facts reads the source like the pipeline.
func facts(t testing.TB, s *Source) pipeline.PRFacts {
	t.Helper()
	f, _, err := normalize.Normalize(t.Context(), s, normalize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
