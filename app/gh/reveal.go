package gh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/internal/textdiff"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// maxSearched bounds how many bytes of one review's files are searched for secrets here,
// and with it the time.
const maxSearched = 64 << 20

// revealing is the state of looking into the files of which GitHub shows no line.
type revealing struct {
	*source
	detector *secrets.Detector
	modes    map[string]string // at the head, by path, as far as they are known
	made     diffsMade

	mu       sync.Mutex
	searched int
	unread   []pipeline.Incompleteness
}

// reveal reads the files that GitHub takes for binary: it does so with one NUL, with
// UTF-16, and where an attribute says so. Text gets its lines, and all else is searched
// for secrets as bytes.
func (s *source) reveal(ctx context.Context, p partial, out raw.Files, files []*raw.ChangedFile, gaps []gap) (raw.Files, error) {
	detector, err := secrets.Default()
	if err != nil {
		return out, err
	}
	r := &revealing{source: s, detector: detector}
	if err := s.findOld(ctx, p.listed, gaps, p.base); err != nil && !isPartial(err) {
		return out, err
	}
	if err := r.readModes(ctx, p); err != nil {
		return out, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for i, gap := range gaps {
		g.Go(func() error { return r.file(ctx, files[i], gap) })
	}
	err = g.Wait()
	out.Incomplete = append(out.Incomplete, r.unread...)
	return out, err
}

// hidden lists the files that GitHub takes for binary, or that were renamed into use,
// unless they have been looked into or GitHub does not name their content. Each comes
// with a gap that says where GitHub lists it.
func hidden(p partial, all []raw.ChangedFile) (files []*raw.ChangedFile, gaps []gap) {
	listed := make(map[string]int, len(p.listed))
	for i, l := range p.listed {
		listed[l.GetFilename()] = i
	}
	for i := range all {
		f := &all[i]
		at, found := listed[f.Path]
		moved := f.Status == pipeline.FileRenamed && normalize.MovedIntoUse(f.PreviousPath, f.Path)
		if !f.Binary && !moved || f.LookedInto || !found || f.Status == pipeline.FileRemoved || !shaPattern.MatchString(p.listed[at].GetSHA()) {
			continue
		}
		files, gaps = append(files, f), append(gaps, gap{file: at, new: p.listed[at].GetSHA(), fresh: moved})
	}
	return files, gaps
}

// readModes finds out which files can be run. If GitHub doesn't list the whole tree, it
// compares the directories that changed.
func (r *revealing) readModes(ctx context.Context, p partial) error {
	r.modes = map[string]string{}
	t, err := r.readTree(ctx, "", p.head, true)
	switch {
	case err == nil:
		for _, e := range t.Entries {
			r.modes[e.Path] = e.Mode
		}
		return nil
	case !errors.Is(err, errTruncated):
		return unlessPartial(err)
	}
	base, err := p.base(ctx)
	if err != nil {
		return unlessPartial(err)
	}
	changes, err := r.changes(ctx, ends{base, p.head}, true)
	for _, c := range changes {
		r.modes[c.path] = c.new.mode
	}
	return unlessPartial(err)
}

// unlessPartial returns an error, unless that says only that GitHub does not tell all.
func unlessPartial(err error) error {
	if isPartial(err) {
		return nil
	}
	return err
}

// modeExecutable is git's for a file that can be run.
const modeExecutable = "100755"

// say names a file, and what of it was not read.
func (r *revealing) say(f *raw.ChangedFile, gating bool, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, pipeline.Incompleteness{What: "patch", Path: f.Path, Why: why, Gating: gating})
}

// file looks into one file.
func (r *revealing) file(ctx context.Context, f *raw.ChangedFile, g gap) error {
	if r.modes[f.Path] == modeSubmodule {
		return nil // what it names stands in another repository
	}
	content, why, err := r.content(ctx, g.new)
	if err != nil {
		return err
	}
	f.LookedInto = true
	if why == "" && !r.maySearch(len(content)) {
		why = fmt.Sprintf("the files without lines come to more than %d MB", maxSearched>>20)
	}
	if why != "" {
		shown := "no line of it is shown"
		if g.fresh {
			shown = "it was renamed into use"
		}
		r.say(f, true, shown+", and its content was not read: "+why)
		return nil
	}
	if err := acquire(ctx, r.client.diffing); err != nil {
		return hostError("look into a file", err)
	}
	hits := r.detector.Bytes(content)
	look := normalize.LookAt(f.Path, r.modes[f.Path] == modeExecutable, content)
	<-r.client.diffing
	switch {
	case look.Kind == normalize.ContentBinary:
	case len(content) > maxBlob:
		r.say(f, true, fmt.Sprintf("it is larger than %d MB", maxBlob>>20))
	case look.Kind == normalize.ContentText:
		if shown, err := r.text(ctx, f, g, look.Text, hits); shown || err != nil {
			return err
		}
	default:
		r.say(f, look.SaysText, normalize.UnknownBytes(look.SaysText))
	}
	for _, h := range hits {
		if look.Kind != normalize.ContentText {
			h.Line = 0 // nobody counts the lines of such a file
		}
		if found := h.Redaction(f.Path); !slices.Contains(f.Secrets, found) {
			f.Secrets = append(f.Secrets, found)
		}
	}
	return nil
}

func (r *revealing) maySearch(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.searched += n
	return r.searched <= maxSearched
}

// text gives a file the lines that differ, or says why it shows none. It shows none
// either if the bytes hold a secret that the lines don't: a NUL stood beside it, and the
// lines would show it.
func (r *revealing) text(ctx context.Context, f *raw.ChangedFile, g gap, text []byte, hits []secrets.BytesHit) (shown bool, err error) {
	if g.lost {
		r.say(f, true, "no line of it is shown, and what it was before was not found")
		return false, nil
	}
	old, why, err := r.content(ctx, g.old)
	if err != nil {
		return false, err
	}
	if why != "" {
		r.say(f, true, "no line of it is shown, and what it was before was not read: "+why)
		return false, nil
	}
	if err := acquire(ctx, r.client.diffing); err != nil {
		return false, hostError("compare contents", err)
	}
	defer func() { <-r.client.diffing }()
	inLines := r.detector.Bytes(text)
	if slices.ContainsFunc(hits, func(h secrets.BytesHit) bool { return !slices.Contains(inLines, h) }) {
		r.say(f, true, "NUL bytes in it stand beside a secret, so that none of its lines is shown")
		f.Binary, f.Patch, f.Additions, f.Deletions = true, "", 0, 0
		return false, nil
	}
	before, isText := normalize.Decode(old)
	if !isText {
		before = nil
	}
	if why := r.tooLong(before, text); why != "" {
		r.say(f, true, why)
		return false, nil
	}
	patch, added, removed := textdiff.Lines(before, text)
	r.made.bytes.Add(int64(len(patch)))
	r.made.lines.Add(int64(added + removed))
	f.Patch, f.Additions, f.Deletions, f.Binary = patch, added, removed, false
	return true, nil
}

// tooLong says in words that two texts have too many lines to be compared, or returns
// the empty string.
func (r *revealing) tooLong(before, after []byte) string {
	a, b := bytes.Count(before, newline), bytes.Count(after, newline)
	if a+b > maxDiffLines {
		return fmt.Sprintf("its contents have more than %d lines", maxDiffLines)
	}
	return r.made.tooMany(max(a-b, b-a))
}
