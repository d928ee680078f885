package histories

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// A change has the size of a pull request that somebody reviews. A vendor drop or a first
// commit is larger.
const (
	mostLines = 5_000
	mostFiles = 300
)

// change is a merged change: a commit of the main line against its first parent. For a merge
// that is the whole branch, otherwise one squashed pull request.
type change struct {
	Repository string
	Dir        string
	SHA        string
}

// finding is one finding on a change, in the form in which it is printed and judged.
type finding struct {
	Repository string            `json:"repository"`
	SHA        string            `json:"sha"`
	Place      string            `json:"place"`
	Rule       string            `json:"rule"`
	Agent      string            `json:"agent"`
	Severity   pipeline.Severity `json:"severity"`
	Title      string            `json:"title"`
	Evidence   string            `json:"evidence"`
}

// tally holds the figures of one history.
type tally struct {
	Repository string
	Changes    int
	LeftOut    int // too large, or empty
	Unread     []string
	Lines      int // added, without generated and vendored files
	Blocked    int
	Findings   []finding
}

// repositories finds the git repositories in dir, bare or not: its entries, or an entry's
// subdirectory repo.
func repositories(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, e := range entries {
		for _, sub := range []string{"", "repo"} {
			at := filepath.Join(dir, e.Name(), sub)
			_, bare := os.Stat(filepath.Join(at, "HEAD"))
			_, other := os.Stat(filepath.Join(at, ".git", "HEAD"))
			if bare == nil || other == nil {
				found[strings.Replace(e.Name(), "+", "/", 1)] = at
				break
			}
		}
	}
	return found, nil
}

// mainLine returns up to n of the newest changes of a repository's main line.
func mainLine(ctx context.Context, name, dir string, n int) ([]change, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "log", "--first-parent", "--min-parents=1", fmt.Sprintf("--max-count=%d", n), "--format=%H", "HEAD").Output()
	if err != nil {
		return nil, fmt.Errorf("list the changes of %s: %w", name, err)
	}
	var list []change
	for _, sha := range strings.Fields(string(out)) {
		list = append(list, change{Repository: name, Dir: dir, SHA: sha})
	}
	return list, nil
}

// walk reviews a few changes at a time.
func walk(ctx context.Context, r *run.Runner, changes []change) ([]*tally, error) {
	byName := map[string]*tally{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for _, c := range changes {
		g.Go(func() error {
			v, err := review(ctx, r, c.Dir, c.SHA+"^1", c.SHA)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			t := byName[c.Repository]
			if t == nil {
				t = &tally{Repository: c.Repository}
				byName[c.Repository] = t
			}
			if err != nil { // the clone lacks some of its large files
				t.Unread = append(t.Unread, fmt.Sprintf("%s of %s: %v", c.SHA, c.Repository, err))
				return nil
			}
			t.add(c, &v)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var list []*tally
	for _, t := range byName {
		slices.SortFunc(t.Findings, func(a, b finding) int {
			return cmp.Or(cmp.Compare(a.SHA, b.SHA), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Evidence, b.Evidence))
		})
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tally) int { return cmp.Compare(a.Repository, b.Repository) })
	return list, nil
}

func (t *tally) add(c change, v *pipeline.Review) {
	facts := &v.Facts
	if n := facts.Totals; n.Files == 0 || n.Files > mostFiles || n.Additions+n.Deletions > mostLines {
		t.LeftOut++
		return
	}
	t.Changes++
	t.Lines += ownLines(facts)
	if v.Report.Decision.Blocks() {
		t.Blocked++
	}
	for i := range v.Report.Findings {
		f := &v.Report.Findings[i]
		t.Findings = append(t.Findings, finding{
			Repository: c.Repository, SHA: c.SHA[:12], Place: place(f), Rule: cmp.Or(f.RuleID, f.Title), Agent: f.Agent,
			Severity: f.GateSeverity, Title: f.Title, Evidence: strings.Join(f.Evidence, " "),
		})
	}
}

func place(f *pipeline.Finding) string {
	switch {
	case f.Path == "":
		return f.Section
	case f.StartLine == 0:
		return f.Path
	}
	return fmt.Sprintf("%s:%d", f.Path, f.StartLine)
}
