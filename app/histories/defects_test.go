package histories

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// leastFound is the share of visible defects that the rules must find. A defect is visible if
// a rule for single lines can see it.
const leastFound = 0.60

// defect is a real kind of defect, with the change that it is seeded into.
type defect struct {
	ID      string
	Kind    string
	Source  string
	Visible bool // a rule for single lines can see it
	Base    map[string]string
	Clean   map[string]string
	Seeded  map[string]string
	Lines   map[string][2]int // by path, the first and last seeded line, or zeros
}

// TestDefects seeds each defect into its clean change and reviews both with the defaults. It
// counts the findings that only the seeded change has, and compares them with
// testdata/usefulness.md. By default it reviews a sample, and takes the other results from
// that page.
func TestDefects(t *testing.T) {
	defects := readDefects(t)
	some := defects
	if !*update {
		some = sample.Of(t, 8, defects)
	}
	r := newRunner(t)
	repo := newRepository(t)
	shas := repo.imports(seeds(some, repo.git("rev-parse", "HEAD")))
	reviewed := map[string]string{}
	for i, d := range some {
		reviewed[d.ID] = d.review(t, r, repo, shas[3*i:3*i+3])
	}
	before := foundBefore(t)
	found, visible, other := 0, 0, 0
	var rows []string
	for _, d := range defects {
		by, ok := reviewed[d.ID]
		if !ok {
			by = before[d.ID]
		}
		line := "no"
		switch {
		case d.Visible:
			visible, line = visible+1, "yes"
			if by != "" {
				found++
			}
		case by != "":
			other++
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", d.ID, d.Kind, d.Source, line, cmp.Or(by, "–")))
		t.Logf("%-20s %-28s %s", d.ID, cmp.Or(by, "-"), d.Kind)
	}
	if len(defects) < 60 || float64(found) < leastFound*float64(visible) {
		t.Errorf("%d of %d defects are found, want %.0f %%", found, visible, 100*leastFound)
	}
	checkDefects(t, rows)
	says(t, page, fmt.Sprintf("**%d defects; of the %d that a line can show %d are found, of the other %d %d.**", len(defects), visible, found, len(defects)-visible, other))
	untuned := singles(t, readText(t, data))[2]
	says(t, page, fmt.Sprintf("Before we tuned the rules with these defects in view, they found %d of the %d.", untuned, visible))
	says(t, readme, fmt.Sprintf("The defaults find %d of %d planted defects that a single line shows; before we tuned them on these defects they found %d", found, visible, untuned))
}

// seeds are three commits for each defect: its base, the clean change and the seeded change.
func seeds(defects []defect, start string) []imported {
	var commits []imported
	for _, d := range defects {
		base := mark(len(commits))
		commits = append(commits, imported{start, "Start " + d.ID, d.Base},
			imported{base, "feat: " + d.ID, d.Clean}, imported{base, "feat: " + d.ID, d.Seeded})
	}
	return commits
}

// review reviews the clean and the seeded change of a defect's three commits, and names the
// rule that distinguishes them.
func (d *defect) review(t *testing.T, r *run.Runner, repo *repository, commits []string) string {
	t.Helper()
	var reviews [2]pipeline.Review
	for i, head := range commits[1:] {
		var err error
		if reviews[i], err = review(t.Context(), r, repo.dir, commits[0], head); err != nil {
			t.Fatalf("%s: %v", d.ID, err)
		}
	}
	clean, seeded := &reviews[0].Report, &reviews[1].Report
	for _, f := range clean.Findings {
		if f.GateSeverity.Rank() >= pipeline.SeverityWarning.Rank() {
			t.Errorf("%s: the clean change is flagged: %s at %s", d.ID, f.RuleID, place(&f))
		}
	}
	return d.found(clean, seeded)
}

// found names the rule that flags the seeded lines, or the change as a whole, and does not
// flag the clean change. If the defect is in what the change lacks, it has no lines, and any line
// may be flagged.
func (d *defect) found(clean, seeded *pipeline.Report) string {
	for _, f := range seeded.Findings {
		said := slices.ContainsFunc(clean.Findings, func(c pipeline.Finding) bool { return c.RuleID == f.RuleID && c.Path == f.Path })
		lines, in := d.Lines[f.Path]
		there := in && (f.StartLine == 0 || f.EndLine >= lines[0]-1 && f.StartLine <= lines[1]+1)
		if !said && (there || f.Path == "" || !d.hasLines()) {
			return f.RuleID
		}
	}
	return ""
}

// hasLines reports whether the seeded change has a line that the clean one lacks, or the reverse.
func (d *defect) hasLines() bool {
	for _, l := range d.Lines {
		if l != [2]int{} {
			return true
		}
	}
	return false
}

func readDefects(t *testing.T) []defect {
	t.Helper()
	names, err := filepath.Glob("../../testdata/defects/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no defects: %v", err)
	}
	var list []defect
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var d *defect
		for _, f := range txtar.Parse(text).Files {
			id, path, _ := strings.Cut(f.Name, "/")
			if path == "about" {
				list = append(list, defect{ID: id, Base: map[string]string{}, Clean: map[string]string{}, Seeded: map[string]string{}, Lines: map[string][2]int{}})
				d = &list[len(list)-1]
				d.about(t, string(f.Data))
				continue
			}
			if d == nil || id != d.ID {
				t.Fatalf("%s: %s comes before its about", name, f.Name)
			}
			d.file(path, string(f.Data))
		}
	}
	return list
}

func (d *defect) about(t *testing.T, text string) {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fields[key] = value
	}
	d.Kind, d.Source, d.Visible = fields["kind"], fields["source"], fields["line"] == "yes"
	if d.Kind == "" || d.Source == "" || fields["line"] == "" {
		t.Fatalf("%s lacks kind, source or line: %v", d.ID, fields)
	}
}

// file reads one file. Lines after "-
//
// " are only in the clean version, and lines after "+
//
// " only in the seeded one. A path after "base:" existed before the change. A path after
// "clean:" is only in the clean change.
func (d *defect) file(path, text string) {
	if name, ok := strings.CutPrefix(path, "base:"); ok {
		d.Base[name] = text
		return
	}
	if name, ok := strings.CutPrefix(path, "clean:"); ok {
		d.Clean[name] = text
		return
	}
	var clean, seeded strings.Builder
	n, first, last := 0, 0, 0
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "-|"); ok {
			clean.WriteString(rest)
			if first == 0 {
				first, last = n+1, n+1
			}
			continue
		}
		rest, ok := strings.CutPrefix(line, "+|")
		n++
		if ok {
			if first == 0 {
				first = n
			}
			last = n
		} else {
			clean.WriteString(line)
		}
		seeded.WriteString(rest)
	}
	d.Clean[path], d.Seeded[path] = assembled(clean.String()), assembled(seeded.String())
	d.Lines[path] = [2]int{first, last}
}

// assembled inserts keys in the form of real ones, which no file of this repository should
// contain.
func assembled(text string) string {
	return strings.NewReplacer(
		"@aws-id@", "AKIA"+"Q3EGRZ7NCT5LMU2P",
		"@aws-secret@", "9sXk2vQmT8bLw4RzYc7N"+"dF1hJp6UaGe3oVtKi5Bx",
	).Replace(text)
}
