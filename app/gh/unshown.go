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

// maxSingly is how many contents a review reads one by one. Each takes one of 5,000 calls
// an hour, while git fetches any number of them at once.
const maxSingly = 8

// singly reads the contents of a few files, with one call for each content.
type singly struct {
	*source
	unshown.Reader
	base, head string
	left       int // contents that may still be read, of maxSingly
}

// readSingly reads the files whose changes the list does not show, as long as this takes
// few calls and GitHub's API says enough about them. It returns the files that it did not
// read.
func (s *source) readSingly(ctx context.Context, l *listing, which []int, base string) ([]int, error) {
	needsGit := func(i int) bool {
		f := l.listed[i]
		// Only git knows the mode, and a binary file must not be executable.
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
		case same && !counted: // only the path or the mode has changed
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
		return false, nil // for a binary file the mode matters
	}
	if err := acquire(ctx, r.client.diffing); err != nil {
		return false, hostError("compare contents", err)
	}
	defer func() { <-r.client.diffing }()
	was := *f
	f.Binary = !counted && f.Patch == "" // Read corrects it when it knows the lines
	err := r.Read(f, content)
	if err != nil || f.Patch == "" || !counted || movedIntoUse(listed) {
		return err == nil, err
	}
	if f.Additions-f.Deletions != was.Additions-was.Deletions { // GitHub compared other contents
		*f = was
		return false, nil
	}
	return true, nil
}

// at reads the file at a path of a commit. It reports false if the API shows no plain file
// there.
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

// pathBefore returns a file's path before the change.
func pathBefore(f *github.CommitFile) string {
	if p := f.GetPreviousFilename(); p != "" {
		return p
	}
	return f.GetFilename()
}

// meeting is the part of a comparison that names the merge base.
type meeting struct {
	MergeBase github.RepositoryCommit `json:"merge_base_commit"`
}

func (m *meeting) whole() error { return wholeIf(shaPattern.MatchString(m.MergeBase.GetSHA())) }
