package gh

import (
	"context"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// listing is a change as GitHub lists it.
type listing struct {
	listed []*github.CommitFile
	files  raw.Files // the same files in our own types
	// cut says that there are, or may be, more files than GitHub lists. limit says so
	// in words.
	cut   bool
	limit string
	// doubt says that GitHub may not have counted the lines of every file it lists.
	doubt bool
	total int // how many files there are, or 0 if GitHub does not say
	head  string
	base  func(context.Context) (string, error)             // where the change begins
	repo  func(context.Context) (*github.Repository, error) // with its present name
}

// unshown returns the indexes of the files whose changes the list does not show.
func (l *listing) unshown() []int {
	var list []int
	for i, f := range l.listed {
		if !l.shows(f) {
			list = append(list, i)
		}
	}
	return list
}

// shows reports whether the list shows what changed in a file.
func (l *listing) shows(f *github.CommitFile) bool {
	switch status := pipeline.FileStatus(f.GetStatus()); {
	case movedIntoUse(f): // all of its lines count as new, and the list shows few of them
		return false
	case f.GetPatch() != "":
		return true
	case f.GetChanges() > 0: // a file that is too long to read needs no lines: normalize reports it
		return f.GetChanges() > normalize.MaxFileLines
	case status == pipeline.FileRemoved:
		return !l.doubt
	case f.GetSHA() == emptyBlob:
		return status == pipeline.FileAdded || !l.doubt
	}
	// The file is binary, or only its path or mode has changed.
	return false
}

func movedIntoUse(f *github.CommitFile) bool {
	return pipeline.FileStatus(f.GetStatus()) == pipeline.FileRenamed && normalize.MovedIntoUse(f.GetPreviousFilename(), f.GetFilename())
}

// crowded reports whether the files of one answer have so many lines that GitHub may not
// have counted the lines of others.
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

// sayUnread records which parts of the change are not known, and why they could not be
// read.
func (l *listing) sayUnread(unshown []int, why error) {
	say := func(what, path, lacks string) {
		l.files.Incomplete = append(l.files.Incomplete, pipeline.Incompleteness{
			What: what, Path: path, Gating: true, Why: lacks + " read: " + clean(why.Error()),
		})
	}
	if l.cut {
		say("files", "", l.limit+", and the others were not")
	}
	for _, i := range unshown {
		f := &l.files.Files[i]
		f.LookedInto = true
		f.Binary = f.Patch == "" && f.Additions+f.Deletions == 0 // else it is text
		say("patch", f.Path, "GitHub does not show what changed in it, and its content was not")
	}
}
