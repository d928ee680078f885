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
	place   string // the reports' directory, or pipeline.ReviewReportsInComments
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
			if f.Status == pipeline.FileRemoved || !task.Entry.Scope.Has(f.Path) || !globs.Any(f.Path) {
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

func compareDocuments(a, b document) int {
	if c := strings.Compare(a.phase, b.phase); c != 0 {
		return c
	}
	return strings.Compare(a.place, b.place)
}

// read reads the files that the reports are named by. Only what the host is asked
// runs beside this goroutine: what hostile text may set off stays within, where
// who runs the agent catches it.
func (a *Agent) read(ctx context.Context, facts *pipeline.PRFacts, reports map[string]reviewreport.Report) error {
	var unseen []string
	for i := range facts.Files {
		path := facts.Files[i].Path
		if _, wanted := reports[path]; !wanted {
			continue
		}
		if text, ok := Whole(&facts.Files[i]); ok {
			reports[path] = reviewreport.Read(path, path, text)
		} else {
			unseen = append(unseen, path)
		}
	}
	for paths := range slices.Chunk(unseen, readsAtOnce) {
		texts, err := a.texts(ctx, facts.Head.SHA, paths)
		if err != nil {
			return err
		}
		for i, path := range paths {
			if len(texts[i]) <= reviewreport.MaxBytes { // else nobody reads it
				texts[i] = []byte(a.Redact(string(texts[i])))
			}
			reports[path] = reviewreport.Read(path, path, texts[i])
		}
	}
	return nil
}

// texts are the whole texts of files at the head.
func (a *Agent) texts(ctx context.Context, head string, paths []string) ([][]byte, error) {
	texts := make([][]byte, len(paths))
	g, ctx := errgroup.WithContext(ctx)
	for i, path := range paths {
		g.Go(func() (err error) {
			if texts[i], err = a.Files.File(ctx, head, path, reviewreport.MaxBytes+1); err != nil {
				return fmt.Errorf("read the review report %s: %w", path, err)
			}
			return nil
		})
	}
	return texts, g.Wait()
}

// Whole is the text of a file that the facts show whole: the change adds it.
func Whole(f *pipeline.File) (text []byte, ok bool) {
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
