package gh

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// partial is a list of changed files as GitHub gave it, and what it takes to
// complete it.
type partial struct {
	listed []*github.CommitFile
	files  raw.Files // the same in our words
	// cut says that there are, or may be, more than GitHub lists; limit says so
	// in words.
	cut   bool
	limit string
	// doubt says that GitHub may not have counted the lines of all that it lists.
	doubt bool
	total int // how many there are, or 0 if GitHub doesn't say
	head  string
	base  func(context.Context) (string, error) // where the change begins
}

// complete gives the files the lines that GitHub leaves out, and a list that is cut
// the files that it lacks. It reads a few contents by name; if there are more, it has
// git fetch the whole change. Without git it reads as many as there are calls for.
// Incomplete then says what is still not known.
func (s *source) complete(ctx context.Context, p partial) (raw.Files, error) {
	all, err := s.addOmitted(ctx, p)
	if err != nil {
		return all, err
	}
	files, gaps := hidden(p, all.Files)
	if len(gaps) == 0 {
		return all, nil
	}
	if !s.affordable(gaps) {
		base, err := p.base(ctx)
		if err != nil && !isPartial(err) {
			return all, err
		}
		if err == nil {
			if fetched, err := s.fetchChange(ctx, p, ends{base, p.head}); err == nil {
				return fetched, nil
			}
		}
	}
	return s.reveal(ctx, p, all, files, gaps)
}

// addOmitted does what complete does for the files that GitHub doesn't take for binary.
func (s *source) addOmitted(ctx context.Context, p partial) (raw.Files, error) {
	gaps := omitted(p.listed, p.doubt)
	if !p.cut && len(gaps) == 0 {
		return p.files, nil
	}
	if p.cut {
		return s.completeList(ctx, p)
	}
	if err := s.findOld(ctx, p.listed, gaps, p.base); err != nil {
		if !isNotFound(err) {
			return raw.Files{}, err
		}
		// Nobody knows what was before. Normalize says what is missing by the counts.
		gaps = slices.DeleteFunc(gaps, func(g gap) bool { return g.counted })
	}
	gaps, err := s.tellSubmodules(ctx, p, gaps)
	if err != nil {
		return raw.Files{}, err
	}
	var noFetch error
	if !s.affordable(gaps) {
		base, err := p.base(ctx)
		if err != nil {
			return raw.Files{}, err
		}
		all, err := s.fetchChange(ctx, p, ends{base, p.head})
		if err == nil {
			return all, nil
		}
		noFetch = err
	}
	unread, err := s.fillIn(ctx, p.files.Files, gaps)
	// What stays without lines and has counts is missed by those.
	p.files.Incomplete = append(p.files.Incomplete, unseen("GitHub shows a part of the diff", p.files.Files, gaps, unread, noFetch)...)
	return p.files, err
}

// completeList adds the files that GitHub doesn't list, found by comparing the
// trees of the two ends.
func (s *source) completeList(ctx context.Context, p partial) (raw.Files, error) {
	base, err := p.base(ctx)
	if err != nil {
		return raw.Files{}, err
	}
	e := ends{base, p.head}
	all, gaps, err := s.addUnlisted(ctx, p, e, false)
	if err == nil && s.affordable(gaps) {
		return s.fillUnlisted(ctx, p, all, gaps, nil)
	}
	if err != nil && !isPartial(err) {
		return raw.Files{}, err
	}
	fetched, noFetch := s.fetchChange(ctx, p, e)
	if noFetch == nil {
		return fetched, nil
	}
	if errors.Is(err, errTruncated) {
		all, gaps, err = s.addUnlisted(ctx, p, e, true)
	}
	if err == nil {
		return s.fillUnlisted(ctx, p, all, gaps, noFetch)
	}
	if !isPartial(err) {
		return raw.Files{}, err
	}
	p.files.Incomplete = append(p.files.Incomplete, pipeline.Incompleteness{
		What: "files", Gating: true, Why: fmt.Sprintf("%s, and the others were not found: %s", p.limit, words(errors.Join(err, noFetch))),
	})
	return p.files, nil
}

// isPartial tells what is to be said of a change from trouble that may pass.
func isPartial(err error) bool {
	var host *ports.HostError
	return !errors.As(err, &host) || host.Kind == ports.HostNotFound || host.Kind == ports.HostBudget || host.Kind == ports.HostInvalid
}

// addUnlisted returns all files, and the gaps in them.
func (s *source) addUnlisted(ctx context.Context, p partial, e ends, deep bool) ([]raw.ChangedFile, []gap, error) {
	changes, err := s.changes(ctx, e, deep)
	if err != nil {
		return nil, nil, err
	}
	rest, err := unlisted(changes, p.listed)
	if err != nil {
		return nil, nil, err
	}
	gaps := withoutSubmodules(omitted(p.listed, p.doubt), p.files.Files, changes)
	old := make(map[string]string, len(changes))
	for _, c := range changes {
		old[c.path] = c.old.sha
	}
	for i := range gaps {
		if g := &gaps[i]; g.old == "" {
			g.old = old[pathBefore(p.listed[g.file])]
		}
	}
	all := p.files.Files
	for _, c := range findMoves(rest) {
		f, g := c.file(len(all))
		if all = append(all, f); g != nil {
			gaps = append(gaps, *g)
		}
	}
	return all, gaps, nil
}

// fillUnlisted reads the lines of all files as far as the calls go, and says of
// how many that GitHub doesn't list they are not known.
func (s *source) fillUnlisted(ctx context.Context, p partial, all []raw.ChangedFile, gaps []gap, noFetch error) (raw.Files, error) {
	out := p.files
	out.Files, out.Whole = all, paths(all) >= p.total
	unread, err := s.fillIn(ctx, all, gaps)
	if err != nil {
		return raw.Files{}, err
	}
	out.Incomplete = append(out.Incomplete, unseen(p.limit, all, gaps, unread, noFetch)...)
	return out, nil
}

// unseen says of how many files, of which GitHub doesn't tell how many lines they
// have, none is known.
func unseen(limit string, files []raw.ChangedFile, gaps []gap, unread map[int]string, noFetch error) []pipeline.Incompleteness {
	first, n := -1, 0
	for _, g := range gaps {
		if _, missing := unread[g.file]; missing && !g.counted {
			if n++; first < 0 {
				first = g.file
			}
		}
	}
	if n == 0 {
		return nil
	}
	why := fmt.Sprintf("%s, and no line of this file was read: %s", limit, unread[first])
	if noFetch != nil {
		why += "; " + words(noFetch)
	}
	list := []pipeline.Incompleteness{{What: "patch", Path: files[first].Path, Gating: true, Why: why}}
	if n > 1 {
		list = append(list, pipeline.Incompleteness{What: "patch", Gating: true, Why: fmt.Sprintf("no line of %d other files was read either", n-1)})
	}
	return list
}

// paths counts the paths that a change touches. GitHub may take two of them for
// a move where another list has a removal and a creation.
func paths(files []raw.ChangedFile) int {
	n := len(files)
	for _, f := range files {
		if f.Status == pipeline.FileRenamed {
			n++
		}
	}
	return n
}

// words are an error's in one line.
func words(err error) string { return clean(err.Error()) }
