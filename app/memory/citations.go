package memory

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// touched are the files of a change, for finding the records that may matter to it.
type touched struct {
	paths    []string
	services map[string][]string // paths by service
}

func newTouched(v View) touched {
	t := touched{services: map[string][]string{}}
	for i := range v.Facts.Files {
		t.paths = append(t.paths, v.Facts.Files[i].Path)
	}
	for _, s := range v.Classification.Services {
		t.services[s.ID] = s.Files
	}
	return t
}

// coveredBy reports whether a record may be about a finding in the change. A glob that is not valid
// matches nothing.
func (t touched) coveredBy(about *pipeline.FalsePositive) bool {
	if len(about.Globs) == 0 {
		return true
	}
	globs, err := glob.Compile(about.Globs)
	if err != nil {
		return false
	}
	paths := t.paths
	if about.Service != "" {
		paths = t.services[about.Service]
	}
	return slices.ContainsFunc(paths, globs.Any)
}

// standing returns the records whose lines are where they were when the records were taught, in the
// same order. A record whose lines are gone is put in quarantine. If that can't be known, the record
// is left out.
//
// Files are read at the same time, each once, and at most maxReads of them. Only if lines are missing,
// the tip of the branch is looked at as well: the base of an old pull request may lack lines that the
// branch has got since.
func (k *Keeper) standing(ctx context.Context, v View, all []*ports.MemoryRecord) ([]*ports.MemoryRecord, error) {
	base := v.Facts.Base
	asked := map[*ports.MemoryRecord]bool{}
	for _, r := range all {
		if isChecked(r, v) {
			asked[r] = true
		}
	}
	if len(asked) == 0 {
		return all, nil
	}
	left := maxReads
	there := k.readCited(ctx, v, base.SHA, asked, all, &left)
	missing := map[*ports.MemoryRecord]bool{}
	for r := range asked {
		if there[r] == linesGone {
			missing[r] = true
		}
	}
	var later map[*ports.MemoryRecord]linesAre
	if base.Ref != "" && len(missing) > 0 {
		later = k.readCited(ctx, v, ports.Branches+base.Ref, missing, all, &left)
	}
	var out []*ports.MemoryRecord
	for _, r := range all {
		var err error
		switch {
		case !asked[r]:
			out = append(out, r)
		case there[r] == linesThere:
			err = k.Memory.CheckedMemory(ctx, r.ID, base.SHA)
			if errors.Is(err, ports.ErrNotFound) {
				err = nil
				break
			}
			out = append(out, r)
		case later[r] == linesGone:
			err = k.end(ctx, v.Target, r, ports.MemoryQuarantined, "the lines of "+r.Cited.Path+" that it is about are gone or have changed")
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// isChecked reports whether a record's lines must be looked for. Lines that have not been merged yet
// are not, nor those that went into another branch.
func isChecked(r *ports.MemoryRecord, v View) bool {
	cited, base := &r.Cited, v.Facts.Base
	merged := cited.End == ports.PullMerged || cited.End == ports.PullEnded
	return len(cited.Lines) > 0 && cited.Path != "" && merged && cited.BaseRef == base.Ref && r.Repository.RepoID == v.Target.RepoID && cited.CheckedAt != base.SHA
}

// linesAre says where a record's lines are.
type linesAre int

const (
	linesUnknown linesAre = iota
	linesThere
	linesGone
)

// readCited looks for the lines of some of the records, those first that come first in all. left is how
// many files may still be read.
func (k *Keeper) readCited(ctx context.Context, v View, commit string, some map[*ports.MemoryRecord]bool, all []*ports.MemoryRecord, left *int) map[*ports.MemoryRecord]linesAre {
	type file struct {
		digests []string
		whole   bool // all of it was read
	}
	files := map[string]*file{}
	var reads errgroup.Group
	for _, r := range all {
		path := r.Cited.Path
		if !some[r] || files[path] != nil || *left == 0 {
			continue
		}
		*left--
		f := &file{}
		files[path] = f
		reads.Go(func() error {
			text, found, err := v.Read(ctx, commit, path, maxCited)
			if err != nil {
				k.Log.Warn().EmbedObject(v.Target).Err(err).Msg("lines that a record of memory is about can't be read")
				return nil
			}
			if found {
				f.digests = digestsOf(text)
			}
			f.whole = len(text) < maxCited
			return nil
		})
	}
	_ = reads.Wait() // none returns an error
	out := map[*ports.MemoryRecord]linesAre{}
	for r := range some {
		switch f := files[r.Cited.Path]; {
		case f == nil:
		case hasLines(f.digests, r.Cited.Lines):
			out[r] = linesThere
		case f.whole:
			out[r] = linesGone
		}
	}
	return out
}

// digestsOf returns the digests of a text's lines, without blank ones.
func digestsOf(text []byte) (all []string) {
	for line := range bytes.Lines(text) {
		if l := plaintext.Line(string(line)); l != "" {
			all = append(all, aggregate.LineDigest(l))
		}
	}
	return all
}

// hasLines reports whether the lines come one after the other.
func hasLines(all, lines []string) bool {
	for i := 0; i+len(lines) <= len(all); i++ {
		if slices.Equal(all[i:i+len(lines)], lines) {
			return true
		}
	}
	return false
}
