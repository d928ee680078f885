package gh

import (
	"context"
	"errors"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/internal/unshown"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// maxSingly is how many contents are read one by one for one review. Each takes one of
// 5,000 calls an hour, and git fetches any number of them for one.
const maxSingly = 8

// singly reads the contents of a few files, each by a call of its own.
type singly struct {
	*source
	unshown.Reader
	base, head string
	left       int // of maxSingly
}

// readSingly reads the files that the list does not show, as long as that takes few
// calls and GitHub's API can tell what they are. It returns those that it did not read.
func (s *source) readSingly(ctx context.Context, l *listing, which []int, base string) ([]int, error) {
	needsGit := func(i int) bool {
		f := l.listed[i]
		// A binary file must not be executable, and the API does not tell the mode.
		return f.GetChanges() == 0 && pipeline.FileStatus(f.GetStatus()) != pipeline.FileRenamed && !normalize.TextByName(f.GetFilename())
	}
	if len(which) > maxSingly || slices.ContainsFunc(which, needsGit) {
		return which, nil
	}
	r := &singly{source: s, base: base, head: l.head, left: maxSingly}
	var err error
	for ; len(which) > 0; which = which[1:] {
		var read bool
		if read, err = r.file(ctx, l.listed[which[0]], &l.files.Files[which[0]]); !read || err != nil {
			break
		}
	}
	l.files.Incomplete = append(l.files.Incomplete, r.Incomplete...)
	return which, err
}

// file reads one file. It reports false if only git can tell what changed.
func (r *singly) file(ctx context.Context, listed *github.CommitFile, f *raw.ChangedFile) (bool, error) {
	var content unshown.Content
	status, counted := pipeline.FileStatus(listed.GetStatus()), listed.GetChanges() > 0
	if status != pipeline.FileAdded && !movedIntoUse(listed) {
		old, ok, err := r.at(ctx, r.base, pathBefore(listed))
		switch same := old.SHA == listed.GetSHA(); {
		case !ok || err != nil:
			return false, err
		case same && !counted: // it was moved, or changed in mode, and nothing else
			return true, nil
		case same != (status == pipeline.FileRemoved), status == pipeline.FileChanged:
			return false, nil // it was a link, or another kind of file
		}
		content.Before = func() ([]byte, error) { return old.text, nil }
	}
	if status != pipeline.FileRemoved {
		changed, ok, err := r.at(ctx, r.head, listed.GetFilename())
		if !ok || err != nil || changed.SHA != listed.GetSHA() { // the API answers a link with its target
			return false, err
		}
		content.Head = changed.text
	}
	if _, isText := normalize.Decode(content.Head); !isText {
		return false, nil // its mode decides what it is
	}
	if err := acquire(ctx, r.client.diffing); err != nil {
		return false, hostError("compare contents", err)
	}
	defer func() { <-r.client.diffing }()
	was := *f
	f.Binary = !counted && f.Patch == "" // until its lines are known
	err := r.Read(f, content)
	if err != nil || f.Patch == "" || !counted || movedIntoUse(listed) {
		return err == nil, err
	}
	if f.Additions-f.Deletions != was.Additions-was.Deletions { // they are not the contents that GitHub compared
		*f = was
		return false, nil
	}
	return true, nil
}

// at reads the file at a path of a commit. It reports false if there is no plain file
// that the API shows.
func (r *singly) at(ctx context.Context, commit, path string) (fileAnswer, bool, error) {
	if r.left--; r.left < 0 {
		return fileAnswer{}, false, nil
	}
	f, err := r.fileAt(ctx, "read the content of a changed file", commit, path, unshown.MaxContent+1)
	var a *answerError
	if isNotFound(err) || errors.As(err, &a) && a.tooLarge {
		return f, false, nil
	}
	return f, f.Type == "file", err
}

// pathBefore is where a file was before the change.
func pathBefore(f *github.CommitFile) string {
	if p := f.GetPreviousFilename(); p != "" {
		return p
	}
	return f.GetFilename()
}

// meeting is what a comparison says of where its ends meet.
type meeting struct {
	MergeBase github.RepositoryCommit `json:"merge_base_commit"`
}

func (m *meeting) whole() error { return wholeIf(shaPattern.MatchString(m.MergeBase.GetSHA())) }
