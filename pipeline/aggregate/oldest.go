package aggregate

import (
	"cmp"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// pathHistory follows files through renames.
type pathHistory struct {
	texts   *texts
	oldest  map[string]string // the oldest known path of each file, by its current path
	current map[string]string // the current path of each file, by its current and its oldest path
}

func newPathHistory(in *input, texts *texts, findings []*item) *pathHistory {
	h := &pathHistory{texts, oldestPaths(in, findings), map[string]string{}}
	for p := range in.files {
		h.current[p] = p
	}
	for p, o := range h.oldest {
		if p != o {
			h.current[o] = p
		}
	}
	return h
}

// key is the oldest known path of a finding's file, or the section. The section of a commit's
// message does not name the commit, since a rebase changes it.
func (h *pathHistory) key(f *item) string {
	if f.Path != "" {
		return or(h.oldest[f.Path], f.Path)
	}
	if _, known := h.texts.commit(f); known {
		return "commit"
	}
	return f.section
}

// now is the current path of the file of an earlier finding. It is "" if the finding has no file or
// the change no longer has the file.
func (h *pathHistory) now(f *pipeline.Finding) string {
	if f.Path == "" {
		return ""
	}
	if p := h.current[or(f.OriginalPath, f.Path)]; p != "" {
		return p
	}
	return h.current[f.Path]
}

// oldestPaths maps the path of each file to its oldest known path. What the last report knew comes
// first, so that a file keeps its identity however the code host describes the rename later. Then
// comes what the host says. Neither knows the origin of a file that the change itself adds under a
// new name: the findings in it show the origin.
func oldestPaths(in *input, findings []*item) map[string]string {
	known := map[string]string{}
	eachKnown(in.Previous, func(f *pipeline.Finding) { known[f.Path] = or(f.OriginalPath, f.Path) })
	hasFindings := map[string]bool{}
	for _, f := range findings {
		hasFindings[f.Path] = true
	}
	origins := map[string]string{}
	var arrived []string
	for i := range in.Facts.Files {
		f := &in.Facts.Files[i]
		switch {
		case f.Status == pipeline.FileRemoved && !hasFindings[f.Path]:
			// The file may be the origin of another file.
		case known[f.Path] != "":
			origins[f.Path] = known[f.Path]
		case f.Status == pipeline.FileRenamed && f.PreviousPath != "":
			origins[f.Path] = f.PreviousPath
		case f.Status == pipeline.FileRemoved:
			origins[f.Path] = f.Path
		default:
			arrived = append(arrived, f.Path)
		}
	}
	r := renames{former: formerPaths(in, origins), tries: leastTries + 4*len(findings)}
	if len(r.former) == 0 {
		return origins
	}
	for _, models := range []bool{false, true} {
		r.arrived = findingsIn(findings, arrived, origins, models)
		r.find(origins)
	}
	return origins
}

// eachKnown calls f for each finding of the last report that has a path and fingerprints. Findings
// that an older version stored have no fingerprints, so they show no more than their path.
func eachKnown(prev *pipeline.PreviousReport, f func(*pipeline.Finding)) {
	if prev == nil {
		return
	}
	all := slices.Concat(prev.Findings, prev.Unconfirmed)
	for i := range prev.Suppressed {
		all = append(all, prev.Suppressed[i].Finding)
	}
	for i := range all {
		if all[i].Path != "" && len(all[i].Fingerprints) > 0 {
			f(&all[i])
		}
	}
}

// findingsIn returns the findings about lines of each file of unknown origin, in document order.
// Models' findings count only for a file in which nobody else found anything.
func findingsIn(findings []*item, files []string, origins map[string]string, models bool) map[string][]*item {
	in := make(map[string][]*item, len(files))
	for _, p := range files {
		if origins[p] == "" {
			in[p] = nil
		}
	}
	for _, f := range findings {
		if _, ok := in[f.Path]; ok && models && f.Model == "" {
			delete(in, f.Path)
		}
	}
	for _, f := range findings {
		if _, ok := in[f.Path]; ok && f.StartLine > 0 && models == (f.Model != "") {
			in[f.Path] = append(in[f.Path], f)
		}
	}
	return in
}

// formerPaths returns the known fingerprints of paths that the change no longer has, by their
// oldest path.
func formerPaths(in *input, origins map[string]string) map[string]map[string]bool {
	taken := map[string]bool{}
	for _, o := range origins {
		taken[o] = true
	}
	gone := func(p string) bool {
		f := in.files[p]
		return p != "" && !taken[p] && (f == nil || f.Status == pipeline.FileRemoved)
	}
	former := map[string]map[string]bool{}
	add := func(p string, ids ...string) {
		if gone(p) {
			if former[p] == nil {
				former[p] = map[string]bool{}
			}
			addTo(former[p], ids)
		}
	}
	eachKnown(in.Previous, func(f *pipeline.Finding) {
		add(or(f.OriginalPath, f.Path), f.Fingerprints...)
	})
	if in.Previous != nil {
		for _, x := range in.Previous.Fixed {
			add(x.Path, x.Fingerprint)
		}
	}
	for _, d := range in.Memory.Dismissed {
		add(d.Path, d.Fingerprint)
	}
	return former
}

// renames recognises renamed files by the findings in them.
type renames struct {
	arrived map[string][]*item         // findings by path
	former  map[string]map[string]bool // fingerprints by path
	tries   int                        // how many fingerprints may still be made
}

// The bounds of the work: how many former paths a file is compared with, and how many fingerprints
// are made beyond four for each finding.
const (
	mostCompared = 100
	leastTries   = 10_000
)

// How many characters of flagged code two files must share. Any two files could have the same short
// line, and files of the same name are more likely to be the same.
const (
	telling      = 24
	tellingNamed = 8
)

// rename is a file that may have had another path.
type rename struct {
	to, from string
	shared   int // characters of code that is flagged in both
}

// find adds the renames to origins: first files that keep their name and directory below another
// directory, then files that keep their name, then all others.
func (r *renames) find(origins map[string]string) {
	for _, round := range []struct {
		like  func(string) string
		least int
	}{
		{func(p string) string { return path.Join(path.Base(path.Dir(p)), path.Base(p)) }, tellingNamed},
		{path.Base, tellingNamed},
		{func(string) string { return "" }, telling},
	} {
		former := map[string][]string{}
		for _, from := range sortedKeys(r.former) {
			if like := round.like(from); len(former[like]) < mostCompared {
				former[like] = append(former[like], from)
			}
		}
		if len(former) > 0 {
			r.take(origins, round.least, func(to string) []string { return former[round.like(to)] })
		}
	}
}

// take finds renames among pairs that share at least least characters. Pairs that share the most
// come first, and each path is used once.
func (r *renames) take(origins map[string]string, least int, former func(to string) []string) {
	var found []rename
	for _, to := range sortedKeys(r.arrived) {
		for _, from := range former(to) {
			if shared := r.shared(to, from); shared >= least {
				found = append(found, rename{to, from, shared})
			}
		}
	}
	// Pairs that share equally much stay in the order of their paths.
	slices.SortStableFunc(found, func(a, b rename) int { return cmp.Compare(b.shared, a.shared) })
	for _, x := range found {
		if r.arrived[x.to] != nil && r.former[x.from] != nil {
			origins[x.to] = x.from
			delete(r.arrived, x.to)
			delete(r.former, x.from)
		}
	}
}

// shared counts the characters of code that is flagged in a file and was flagged at the former
// path. Each text counts once.
func (r *renames) shared(to, from string) int {
	findings := r.arrived[to]
	if len(findings) == 0 || len(findings) > r.tries {
		return 0
	}
	r.tries -= len(findings)
	texts := map[string]bool{}
	n := 0
	for i, id := range fingerprints(findings, func(*item) string { return from }) {
		if text := findings[i].flagged; r.former[from][id] && !texts[text] {
			texts[text] = true
			n += utf8.RuneCountInString(text) - 1 // without the final line break
		}
	}
	return n
}
