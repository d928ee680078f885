package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// variable is the environment variable with the directory of the repository.
const variable = "REVIEWGATE_TEST_HISTORY"

// Read returns the newest commits that together add limit bytes, without merges, oldest first. If
// there is no history, or only a shallow one, it logs that prominently and returns nothing, and the
// caller measures other text. A repository in the environment variable must be readable.
func Read(t testing.TB, limit int) []Change {
	t.Helper()
	dir := os.Getenv(variable)
	named := dir != ""
	if !named {
		dir = "."
	}
	changes, err := read(t.Context(), dir, limit)
	switch {
	case err != nil && named:
		t.Fatalf("read the history of %s: %v", dir, err)
	case err != nil:
		t.Logf("NOT A REAL HISTORY: that of this repository can't be read, and other text stands in for it: %v", err)
	}
	return changes
}

func read(ctx context.Context, dir string, limit int) ([]Change, error) {
	shallow, err := git(ctx, dir, "rev-parse", "--is-shallow-repository").Output()
	if err != nil {
		return nil, fmt.Errorf("ask git: %w", err)
	}
	if string(bytes.TrimSpace(shallow)) != "false" {
		return nil, errors.New("it is shallow")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := git(ctx, dir, "-c", "core.quotePath=false", "-c", "diff.renames=true", "log", "-p", "--no-merges",
		"--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--format=commit %H%n%w(0,4,4)%B")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	changes, whole, err := parse(out, limit)
	if err != nil {
		return nil, err
	}
	if !whole {
		cancel()
	}
	if err := cmd.Wait(); err != nil && whole {
		return nil, fmt.Errorf("run git log: %w", err)
	}
	if len(changes) == 0 {
		return nil, errors.New("it adds nothing")
	}
	slices.Reverse(changes)
	return changes, nil
}

// git never fetches what a partial clone lacks.
func git(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...) // #nosec G204 -- fixed arguments, for tests only
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	return cmd
}

// Change is the change of one commit.
type Change struct {
	Commit pipeline.Commit
	Files  []raw.ChangedFile
}

// Source returns the change as a source for reviews.
func (c *Change) Source(cfg *config.Config) normalize.Source { return source{c, cfg} }

// shipped is the shipped config, loaded once. Nothing changes it.
var shipped = sync.OnceValue(func() *config.Config {
	cfg, _ := config.Load()
	return cfg
})

// Facts returns the facts of the change.
func (c *Change) Facts(t testing.TB) *pipeline.PRFacts {
	t.Helper()
	facts, _, err := normalize.Normalize(t.Context(), c.Source(shipped()), normalize.Options{ObservedAt: time.Unix(0, 0)})
	if err != nil {
		t.Fatalf("normalize %s: %v", c.Commit.SHA, err)
	}
	return &facts
}

// Size returns the number of lines that changes add, and their bytes with line feeds.
func Size(changes []Change) (lines, size int) {
	for i := range changes {
		for j := range changes[i].Files {
			f := &changes[i].Files[j]
			lines += f.Additions
			size += len(Added(f))
		}
	}
	return lines, size
}

// Added is the text of the lines added to a file.
func Added(f *raw.ChangedFile) string {
	var b strings.Builder
	for line := range strings.Lines(f.Patch) {
		if text, ok := strings.CutPrefix(line, "+"); ok {
			b.WriteString(strings.TrimSuffix(text, "\n"))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

type source struct {
	change *Change
	cfg    *config.Config
}

var _ normalize.Source = source{}

func (s source) PullRequest(context.Context) (raw.PullRequest, error) {
	title, body, _ := strings.Cut(s.change.Commit.Message, "\n")
	pr := raw.PullRequest{
		Repository: pipeline.Repository{Owner: "owner", Name: "name"}, Number: 1, Title: title, Body: strings.TrimSpace(body),
		Head: pipeline.Head{SHA: s.change.Commit.SHA}, Totals: pipeline.Totals{Files: len(s.change.Files)}, Commits: 1,
	}
	for i := range s.change.Files {
		pr.Totals.Additions += s.change.Files[i].Additions
		pr.Totals.Deletions += s.change.Files[i].Deletions
	}
	return pr, nil
}

func (s source) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: s.change.Files}, nil
}

func (s source) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: []pipeline.Commit{s.change.Commit}}, nil
}

func (s source) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.cfg}, nil
}
