package report

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

const (
	// maxFiles bounds the files with reports in one change, each of which may
	// take a call: some ten documents with all their reviewers.
	maxFiles = 100
	// readsAtOnce is how many of them are read side by side.
	readsAtOnce = 6
)

// document is the specification or plan that some reports are about.
type document struct {
	phase   string
	place   string // the reports' directory, or pipeline.ReportsInComments
	reports []reviewreport.Report
}

// inFiles reads the reports in the files of the task's scope. A file that globs
// of both phases name counts in both.
func (a *Agent) inFiles(ctx context.Context, task dispatch.Task) ([]document, error) {
	var docs []document
	named := map[string]reviewreport.Report{}
	for _, phase := range []string{pipeline.PhasePlan, pipeline.PhaseSpec} {
		globs, err := glob.Compile(a.Sources.Globs(phase))
		if err != nil {
			return nil, fmt.Errorf("compile the globs of reports: %w", err)
		}
		byPlace := map[string]int{}
		for i := range task.Facts.Files {
			f := &task.Facts.Files[i]
			if f.Status == pipeline.FileRemoved || !inScope(task.Entry.Scope, f.Path) || !globs.Any(f.Path) {
				continue
			}
			named[f.Path] = reviewreport.Report{Path: f.Path}
			at, known := byPlace[path.Dir(f.Path)]
			if !known {
				at = len(docs)
				byPlace[path.Dir(f.Path)] = at
				docs = append(docs, document{phase: phase, place: path.Dir(f.Path)})
			}
			docs[at].reports = append(docs[at].reports, named[f.Path])
		}
	}
	if len(named) > maxFiles {
		return nil, fmt.Errorf("the change has %d files with review reports, more than the limit of %d: split it", len(named), maxFiles)
	}
	if err := a.read(ctx, task.Facts, named); err != nil {
		return nil, err
	}
	for _, d := range docs {
		for i := range d.reports {
			d.reports[i] = named[d.reports[i].Path]
		}
	}
	return docs, nil
}

func inScope(s pipeline.AgentScope, path string) bool {
	_, named := slices.BinarySearch(s.Files, path)
	return s.All || named
}

func compareDocuments(a, b document) int {
	if c := strings.Compare(a.phase, b.phase); c != 0 {
		return c
	}
	return strings.Compare(a.place, b.place)
}

// read reads the files that the reports are named by.
func (a *Agent) read(ctx context.Context, facts *pipeline.PRFacts, reports map[string]reviewreport.Report) error {
	var files []*pipeline.File
	for i := range facts.Files {
		if _, wanted := reports[facts.Files[i].Path]; wanted {
			files = append(files, &facts.Files[i])
		}
	}
	found := make([]reviewreport.Report, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i, f := range files {
		g.Go(func() error {
			text, err := a.text(ctx, facts.Head.SHA, f)
			if err != nil {
				return fmt.Errorf("read the review report %s: %w", f.Path, err)
			}
			found[i] = reviewreport.Read(f.Path, f.Path, text)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, f := range files {
		reports[f.Path] = found[i]
	}
	return nil
}

// text is the whole text of a file at the head, without secrets.
func (a *Agent) text(ctx context.Context, head string, f *pipeline.File) ([]byte, error) {
	if text, ok := shown(f); ok {
		return text, nil
	}
	text, err := a.Files.File(ctx, head, f.Path, reviewreport.MaxBytes+1)
	if err != nil || len(text) > reviewreport.MaxBytes { // whose text nobody reads
		return text, err
	}
	return []byte(a.Redact(string(text))), nil
}

// shown is the text of a file that the facts show whole: the change adds it.
func shown(f *pipeline.File) (text []byte, ok bool) {
	if f.Status != pipeline.FileAdded || f.Binary || len(f.Hunks) != 1 {
		return nil, false
	}
	h := f.Hunks[0]
	if h.OldLines != 0 || h.NewStart != 1 || len(h.Lines) != f.Additions {
		return nil, false
	}
	for _, l := range h.Lines {
		text = append(append(text, l.Text...), '\n')
	}
	return text, true
}
