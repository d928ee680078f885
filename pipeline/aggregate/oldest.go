package aggregate

import (
	"cmp"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// oldestPaths maps the path of each file to the oldest that is known of it.
// What the last report knew of a path goes first, so that a file keeps its
// identity however the code host describes the rename later. Then the host's
// word counts. A file that the change itself adds has a new name without either
// of them knowing: it is recognised by what is found in it.
func (w *work) oldestPaths() map[string]string {
	known := map[string]string{}
	w.eachKnown(func(f *pipeline.Finding) { known[f.Path] = or(f.OriginalPath, f.Path) })
	origins := map[string]string{}
	var arrived []string
	for i := range w.in.Facts.Files {
		f := &w.in.Facts.Files[i]
		switch {
		case known[f.Path] != "":
			origins[f.Path] = known[f.Path]
		case f.Status == pipeline.FileRenamed && f.PreviousPath != "":
			origins[f.Path] = f.PreviousPath
		case f.Status != pipeline.FileRemoved:
			arrived = append(arrived, f.Path)
		}
	}
	r := renames{arrived: w.findingsIn(arrived), former: w.formerPaths(origins), tries: leastTries + 4*len(w.findings)}
	r.find(origins)
	return origins
}

// eachKnown calls f for all findings of the last report that have a path.
// Those that an older version stored have no fingerprints that could tell more
// than their path does.
func (w *work) eachKnown(f func(*pipeline.Finding)) {
	prev := w.in.Previous
	if prev == nil {
		return
	}
	one := func(x *pipeline.Finding) {
		if x.Path != "" && len(x.Fingerprints) > 0 {
			f(x)
		}
	}
	for i := range prev.Findings {
		one(&prev.Findings[i])
	}
	for i := range prev.Unconfirmed {
		one(&prev.Unconfirmed[i])
	}
	for i := range prev.Suppressed {
		one(&prev.Suppressed[i].Finding)
	}
}

// findingsIn returns the findings about lines of each of the files, in document
// order.
func (w *work) findingsIn(files []string) map[string][]*item {
	in := make(map[string][]*item, len(files))
	for _, p := range files {
		in[p] = nil
	}
	for _, f := range w.findings {
		if _, ok := in[f.Path]; ok && f.StartLine > 0 {
			in[f.Path] = append(in[f.Path], f)
		}
	}
	return in
}

// formerPaths returns the fingerprints that are known of paths which are gone
// from the change, by the oldest name of each.
func (w *work) formerPaths(origins map[string]string) map[string]map[string]bool {
	taken := map[string]bool{}
	for _, o := range origins {
		taken[o] = true
	}
	for _, f := range w.findings {
		taken[f.Path] = true // also of a file that the change removes
	}
	gone := func(p string) bool {
		f := w.files[p]
		return p != "" && !taken[p] && (f == nil || f.Status == pipeline.FileRemoved)
	}
	former := map[string]map[string]bool{}
	add := func(p string, ids ...string) {
		if former[p] == nil {
			former[p] = map[string]bool{}
		}
		for _, id := range ids {
			former[p][id] = true
		}
	}
	w.eachKnown(func(f *pipeline.Finding) {
		if o := or(f.OriginalPath, f.Path); gone(o) && gone(f.Path) {
			add(o, f.Fingerprints...)
		}
	})
	if w.in.Previous != nil {
		for _, x := range w.in.Previous.Fixed {
			if gone(x.Path) {
				add(x.Path, x.Fingerprint)
			}
		}
	}
	for _, d := range w.in.Memory.Dismissed {
		if gone(d.Path) {
			add(d.Path, d.Fingerprint)
		}
	}
	return former
}

// renames recognises files by what is found in them.
type renames struct {
	arrived map[string][]*item         // findings by path
	former  map[string]map[string]bool // fingerprints by path
	tries   int                        // fingerprints that may still be made
}

// The bounds of what is spent on it: how many files and former paths are
// compared each with each, and how many fingerprints are made besides four for
// each finding.
const (
	mostCompared = 100
	leastTries   = 10_000
)

// How many characters of flagged code two files must share: any two could have
// the same short line, and those of the same name are more likely to be one.
const (
	telling      = 24
	tellingNamed = 8
)

// rename is a file that may have had another path.
type rename struct {
	to, from string
	shared   int // characters of flagged code that were flagged there too
}

// find adds the renames to origins: first those to another directory, then the
// others.
func (r *renames) find(origins map[string]string) {
	if len(r.former) == 0 {
		return
	}
	byName := map[string][]string{}
	for _, from := range sortedKeys(r.former) {
		byName[path.Base(from)] = append(byName[path.Base(from)], from)
	}
	r.take(origins, tellingNamed, func(to string) []string { return byName[path.Base(to)] })
	left := sortedKeys(r.former)
	left = left[:min(len(left), mostCompared)]
	r.take(origins, telling, func(string) []string { return left })
}

// take finds the renames among pairs which share at least so much: those that
// share most go first, and no path is taken twice.
func (r *renames) take(origins map[string]string, least int, former func(to string) []string) {
	var found []rename
	compared := 0
	for _, to := range sortedKeys(r.arrived) {
		if len(r.arrived[to]) == 0 {
			continue
		}
		if compared++; compared > mostCompared && least == telling {
			break
		}
		for _, from := range former(to) {
			if shared := r.shared(to, from); shared >= least {
				found = append(found, rename{to, from, shared})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b rename) int { return cmp.Compare(b.shared, a.shared) })
	for _, x := range found {
		if r.arrived[x.to] != nil && r.former[x.from] != nil {
			origins[x.to] = x.from
			delete(r.arrived, x.to)
			delete(r.former, x.from)
		}
	}
}

// shared counts the characters of code that is flagged in a file and was at the
// former path, each text once.
func (r *renames) shared(to, from string) int {
	findings := r.arrived[to]
	if len(findings) > r.tries {
		return 0
	}
	r.tries -= len(findings)
	texts := map[string]bool{}
	n := 0
	for i, id := range fingerprints(findings, func(*item) string { return from }) {
		if text := findings[i].flagged; r.former[from][id] && !texts[text] {
			texts[text] = true
			n += utf8.RuneCountInString(text) - 1 // of the line break at its end
		}
	}
	return n
}
