package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/words"
)

// Tracer finds the places of earlier findings in a change. It is for one goroutine.
type Tracer struct{ work *work }

// NewTracer returns a Tracer for a review's change.
func NewTracer(v *pipeline.Review, cfg *config.Config) *Tracer {
	w := newWork(Input{Facts: &v.Facts, Previous: v.Previous, SameHead: v.SameHead, Memory: v.Memory, Config: cfg})
	w.paths, w.surroundings = newPathHistory(w.in, w.texts, nil), newSurroundings(w.in.files, w.in.Facts, w.in.Rules)
	return &Tracer{w}
}

// Trace returns the present path of the file of an earlier finding, and whether the lines that the
// finding flags have certainly changed. The path is empty if the finding has no file, or if the
// change no longer has the file.
func (t *Tracer) Trace(f *pipeline.Finding) (path string, changed bool) {
	path = t.work.paths.now(f)
	switch {
	case f.Path == "":
		at := &item{Finding: *f, title: t.work.in.titles.of(f.Title), section: words.Normalised(f.Section)}
		return "", !slices.Contains(f.Surroundings, t.work.surroundings.of(at))
	case path == "" || f.StartLine == 0:
		return path, path == ""
	case len(f.Flagged) > 0:
		_, _, there := t.work.texts.findLines(path, f.Flagged)
		return path, !there
	}
	return path, t.work.rechecks.vanished(f, path)
}
