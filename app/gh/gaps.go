package gh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/internal/textdiff"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const (
	// maxBlob bounds a content whose lines are compared here, and maxMade the
	// diffs that are made for one review, in bytes. They bound memory: a diff
	// takes several times its texts while it is made.
	maxBlob = 8 << 20
	maxMade = 32 << 20
	// maxDiffLines bounds the lines of two contents that are compared: each takes
	// some 100 bytes meanwhile, however short it is.
	maxDiffLines = 1_000_000
	// filesAtOnce is how many files' contents are held at a time.
	filesAtOnce = 2
	// crowdedLines and crowdedBytes are half of what GitHub shows of one answer's
	// files together. Of the files beyond that it tells neither lines nor how many
	// there are, and so nothing tells them from binary ones:
	// https://github.com/orgs/community/discussions/213491
	crowdedLines = 10_000
	crowdedBytes = 512 << 10
	// maxReads is how many contents are read one by one for one review: each takes one
	// of 5,000 calls an hour. If there are more, git fetches them in one call.
	maxReads = 24
	// reservedCalls are kept for the rest of the review: commits, comments and
	// files that agents read.
	reservedCalls = 50
)

// gap is a changed file whose lines GitHub doesn't tell.
type gap struct {
	file int // its index among the files
	// old and new name the contents before and after; "" is none.
	old, new string
	// counted says that GitHub told how many lines changed.
	counted bool
	lost    bool // what was before was not found
	fresh   bool // all of the text is new, whatever was before
}

// crowded reports whether the files of one answer have so many lines that there
// may be files which GitHub doesn't count the lines of.
func crowded(answer []*github.CommitFile) bool {
	lines, size := 0, 0
	for _, f := range answer {
		lines += strings.Count(f.GetPatch(), "\n")
		size += len(f.GetPatch())
	}
	return lines > crowdedLines || size > crowdedBytes
}

// undercounted reports whether the listed files have fewer lines than the pull
// request.
func undercounted(listed []*github.CommitFile, p *github.PullRequest) bool {
	added, removed := 0, 0
	for _, f := range listed {
		added += f.GetAdditions()
		removed += f.GetDeletions()
	}
	return added < p.GetAdditions() || removed < p.GetDeletions()
}

// omitted lists the files of which GitHub leaves out the diff: it is too long,
// or those of all files are. With doubt set they include those that it counts no
// lines of. The contents before are filled in where they are known without asking.
func omitted(listed []*github.CommitFile, doubt bool) []gap {
	var gaps []gap
	for i, f := range listed {
		if f.GetPatch() != "" || f.GetChanges() == 0 && !doubt || !shaPattern.MatchString(f.GetSHA()) {
			continue
		}
		g := gap{file: i, new: f.GetSHA(), counted: f.GetChanges() > 0}
		if pipeline.FileStatus(f.GetStatus()) == pipeline.FileRemoved {
			g.old, g.new = g.new, ""
		}
		gaps = append(gaps, g)
	}
	return gaps
}

// findOld fills in what the omitted files were before, if they were.
func (s *source) findOld(ctx context.Context, listed []*github.CommitFile, gaps []gap, base func(context.Context) (string, error)) error {
	var which []int
	for i := range gaps {
		g := &gaps[i]
		if g.lost = g.new != "" && !g.fresh && pipeline.FileStatus(listed[g.file].GetStatus()) != pipeline.FileAdded; g.lost {
			which = append(which, g.file)
		}
	}
	if len(which) == 0 {
		return nil
	}
	commit, err := base(ctx)
	if err != nil {
		return err
	}
	before, err := s.before(ctx, listed, which, commit)
	if err != nil {
		return err
	}
	for i := range gaps {
		if g := &gaps[i]; g.lost {
			g.old = before[pathBefore(listed[g.file])]
			g.lost = g.old == ""
		}
	}
	return nil
}

// tellSubmodules gives files that are submodules git's words for them, and
// returns the other gaps. Their names are no contents to be read. Where GitHub
// doesn't list the trees they stay gaps.
func (s *source) tellSubmodules(ctx context.Context, p partial, gaps []gap) ([]gap, error) {
	may := func(g gap) bool { f := &p.files.Files[g.file]; return f.Additions <= 1 && f.Deletions <= 1 }
	if !slices.ContainsFunc(gaps, may) {
		return gaps, nil
	}
	base, err := p.base(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := s.changes(ctx, ends{base, p.head}, false)
	if err != nil && !isPartial(err) {
		return nil, err
	}
	return withoutSubmodules(gaps, p.files.Files, changes), nil
}

// withoutSubmodules is tellSubmodules for known changes.
func withoutSubmodules(gaps []gap, files []raw.ChangedFile, changes []change) []gap {
	at := make(map[string]change, len(changes))
	for _, c := range changes {
		at[c.path] = c
	}
	return slices.DeleteFunc(gaps, func(g gap) bool {
		f := &files[g.file]
		c, found := at[f.Path]
		if !found || !c.onlySubmodule() {
			return false
		}
		told, _ := c.file(g.file)
		if g.counted && (told.Additions != f.Additions || told.Deletions != f.Deletions) {
			return false // it is another that GitHub counted
		}
		f.Patch, f.Additions, f.Deletions, f.Binary = told.Patch, told.Additions, told.Deletions, false
		return true
	})
}

// blobsOf counts the contents that filling the gaps takes.
func blobsOf(gaps []gap) int {
	names := map[string]bool{}
	for _, g := range gaps {
		if g.old != g.new {
			names[g.old], names[g.new] = true, true
		}
	}
	delete(names, "")
	delete(names, emptyBlob)
	return len(names)
}

// affordable reports whether the gaps are few enough to be filled call by call.
func (s *source) affordable(gaps []gap) bool {
	return blobsOf(gaps) <= min(maxReads, s.budget.left()-reservedCalls)
}

// fillIn compares the contents of files, a few at a time, and gives the files
// the lines that differ. It returns why others have none, in words.
func (s *source) fillIn(ctx context.Context, files []raw.ChangedFile, gaps []gap) (unread map[int]string, err error) {
	unread = map[int]string{}
	var mu sync.Mutex
	var made diffsMade
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for _, gap := range gaps {
		g.Go(func() error {
			why, err := s.fill(ctx, &files[gap.file], gap, &made)
			if why != "" {
				mu.Lock()
				defer mu.Unlock()
				unread[gap.file] = why
			}
			return err
		})
	}
	return unread, g.Wait()
}

var newline = []byte{'\n'}

// diffsMade is how large the diffs made for one review are together.
type diffsMade struct{ bytes, lines atomic.Int64 }

// tooMany says in words why a file of which so many lines changed is not read, before
// any of it takes memory. It returns the empty string for one that is.
func (m *diffsMade) tooMany(lines int) string {
	switch {
	case lines > normalize.MaxFileLines:
		return fmt.Sprintf("%d of its lines changed, and at most %d of one file are read", lines, normalize.MaxFileLines)
	case m.lines.Load()+int64(lines) > normalize.MaxLines:
		return fmt.Sprintf("the change has more than %d lines, and no more than that are read", normalize.MaxLines)
	case m.bytes.Load() > maxMade:
		return fmt.Sprintf("the diffs come to more than %d MB", maxMade>>20)
	}
	return ""
}

func (s *source) fill(ctx context.Context, f *raw.ChangedFile, g gap, made *diffsMade) (why string, err error) {
	switch {
	case g.old == g.new: // it was moved, or changed in mode
		return "", nil
	case g.lost && !g.counted: // else the counts tell
		return "what it was before was not found", nil
	}
	if why := made.tooMany(f.Additions + f.Deletions); why != "" {
		return why, nil
	}
	var old, changed []byte
	if old, why, err = s.content(ctx, g.old); why != "" || err != nil {
		return why, err
	}
	if changed, why, err = s.content(ctx, g.new); why != "" || err != nil {
		return why, err
	}
	if isBinary(old) || isBinary(changed) {
		if !g.counted { // else GitHub knows better
			f.Binary = true
		}
		return "", nil
	}
	before, after := bytes.Count(old, newline), bytes.Count(changed, newline)
	if before+after > maxDiffLines {
		return fmt.Sprintf("its contents have more than %d lines", maxDiffLines), nil
	}
	// At least as many lines changed as the two differ in number.
	if why := made.tooMany(max(before-after, after-before)); why != "" {
		return why, nil
	}
	if err := acquire(ctx, s.client.diffing); err != nil {
		return "", hostError("compare contents", err)
	}
	defer func() { <-s.client.diffing }()
	patch, added, removed := textdiff.Lines(old, changed)
	if g.counted && added-removed != f.Additions-f.Deletions {
		return "its contents are not those that GitHub counted the lines of", nil
	}
	made.bytes.Add(int64(len(patch)))
	made.lines.Add(int64(added + removed))
	f.Patch, f.Additions, f.Deletions, f.Binary = patch, added, removed, false
	return "", nil
}

// content reads a file's text by its name, or says in words why not. Of a large
// binary it is the beginning.
func (s *source) content(ctx context.Context, sha string) (text []byte, why string, err error) {
	if sha == "" || sha == emptyBlob {
		return nil, "", nil
	}
	if s.budget.left() <= reservedCalls {
		return nil, fmt.Sprintf("the %d calls that one review may make don't suffice", s.budget.most), nil
	}
	text, err = s.blob(ctx, "read the content of a changed file", sha, maxBlob+1)
	var host *ports.HostError
	var a *answerError
	switch {
	case err == nil && len(text) > maxBlob && !isBinary(text), errors.As(err, &a) && a.tooLarge:
		return nil, fmt.Sprintf("it is larger than %d MB", maxBlob>>20), nil
	case errors.As(err, &host) && (host.Kind == ports.HostNotFound || host.Kind == ports.HostBudget):
		return nil, "its content can't be read", nil
	}
	return text, "", err
}
