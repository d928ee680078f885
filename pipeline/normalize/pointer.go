package normalize

import (
	"regexp"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// pointerVersions are the possible first lines of a Git LFS pointer, including those from before
// Git LFS had its name.
var pointerVersions = []string{
	"version https://git-lfs.github.com/spec/v1",
	"version https://hawser.github.com/spec/v1",
	"version http://git-media.io/v/2",
}

var pointerOID = regexp.MustCompile(`^oid sha256:[0-9a-f]{64}\s*$`)

// pointers lists the files that are Git LFS pointers after the change. A checkout replaces them by
// other content, which was not read.
func pointers(files []pipeline.File) []pipeline.Incompleteness {
	return unread(files, isPointer, true, "it is a Git LFS pointer, and the content that it stands for was not read")
}

// submodules lists the files that are commits of other repositories. Their content was not read;
// the hunk shows the commit.
func submodules(files []pipeline.File) []pipeline.Incompleteness {
	return unread(files, isSubmodule, false, "it is a submodule, and what its commit brings in was not read")
}

func unread(files []pipeline.File, is func(*pipeline.File) bool, gating bool, why string) []pipeline.Incompleteness {
	var list []pipeline.Incompleteness
	for i := range files {
		if f := &files[i]; is(f) {
			list = append(list, pipeline.Incompleteness{What: "patch", Path: f.Path, Gating: gating, Why: why})
		}
	}
	return list
}

var submoduleCommit = regexp.MustCompile(`^Subproject commit (?:[0-9a-f]{40}|[0-9a-f]{64})(?:-dirty)?$`)

func isSubmodule(f *pipeline.File) bool {
	isCommit := false
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			if l := &f.Hunks[i].Lines[j]; l.Op != pipeline.LineRemoved {
				if isCommit || !submoduleCommit.MatchString(l.Text) {
					return false
				}
				isCommit = true
			}
		}
	}
	return isCommit
}

func isPointer(f *pipeline.File) bool {
	version, oid := false, false
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			switch {
			case l.Op == pipeline.LineRemoved:
			case l.New == 1:
				for _, v := range pointerVersions {
					version = version || strings.TrimRight(l.Text, " \t\r") == v
				}
			case version && pointerOID.MatchString(l.Text):
				oid = true
			}
		}
	}
	return oid
}
