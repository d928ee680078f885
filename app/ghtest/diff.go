package ghtest

import (
	"fmt"
	"strconv"
	"strings"
)

// diffs finds out how trees and commits differ.
type diffs struct{ objects *objectStore }

// diff is the difference between two commits.
type diff struct {
	Files                []fileDiff
	Additions, Deletions int
	Lines                int    // of the whole diff
	Raw                  string // git's own text
}

// fileDiff is one file's change, in GitHub's terms.
type fileDiff struct {
	SHA                  string // of the new blob, or of the old one if the file was removed
	Path, Previous       string
	Status               string
	Additions, Deletions int
	Patch                string // hunks only, without a newline at the end
	Lines, Bytes         int    // of the patch
}

// between returns the diff from base to head. Renames are found as GitHub finds them, with
// git's default similarity of one half.
func (ds *diffs) between(base, head string) (*diff, error) {
	return keep(ds.objects, "diff "+base+" "+head, func() (*diff, error) {
		changes, here, err := ds.changesOfCommits(base, head)
		if err != nil {
			return nil, err
		}
		if here {
			if d, plain := ds.plainDiff(changes); plain {
				return d, nil
			}
		}
		return ds.askDiff(base, head)
	})
}

// askDiff asks git for a diff.
func (ds *diffs) askDiff(base, head string) (*diff, error) {
	out, err := ds.objects.run("diff", "--no-ext-diff", "--no-color", "--full-index", "--no-abbrev", "-M", "--submodule=short",
		"--raw", "--numstat", "-p", "-z", base, head, "--")
	if err != nil {
		return nil, err
	}
	return parseDiff(string(out))
}

// changesOfCommits lists the differences between two commits. The first may be the empty
// tree. Here is false unless both were created by this process.
func (ds *diffs) changesOfCommits(base, head string) (changes []change, here bool, err error) {
	trees := [2]string{base, head}
	for i, sha := range trees {
		if sha == emptyTree {
			continue
		}
		if _, here := ds.objects.get(sha); !here {
			return nil, false, nil
		}
		c, err := ds.objects.commit(sha)
		if err != nil {
			return nil, false, err
		}
		trees[i] = c.Tree
	}
	changes, err = ds.changes(trees[0], trees[1])
	return changes, true, err
}

// parseDiff reads git's --raw, --numstat and -p output, NUL separated. All three list the
// files in the same order.
func parseDiff(out string) (*diff, error) {
	fields, patch, _ := cutPatch(out)
	d := &diff{Raw: patch, Lines: strings.Count(patch, "\n")}
	fields, kinds, err := d.readRaw(fields)
	if err != nil {
		return nil, err
	}
	if err := d.readNumstat(fields); err != nil {
		return nil, err
	}
	sections := splitPatch(patch)
	for i := range d.Files {
		f := &d.Files[i]
		n := 1
		if kinds[i] == 'T' {
			n = 2 // a change of type is written as a deletion and a creation
		}
		if len(sections) < n {
			return nil, fmt.Errorf("read git diff: no patch for %s", f.Path)
		}
		if kinds[i] != 'T' {
			f.setPatch(sections[0])
		}
		sections = sections[n:]
	}
	return d, nil
}

// cutPatch separates the NUL separated lists from the patch after them.
func cutPatch(out string) (fields []string, patch string, found bool) {
	lists, patch, found := strings.Cut(out, "\x00\x00diff --git ")
	if found {
		patch = "diff --git " + patch
	}
	return strings.Split(strings.TrimSuffix(lists, "\x00"), "\x00"), patch, found
}

// readRaw reads ":mode mode sha sha X", path and, for renames, the new path.
func (d *diff) readRaw(fields []string) (rest []string, kinds []byte, err error) {
	for len(fields) > 0 && strings.HasPrefix(fields[0], ":") {
		meta := strings.Fields(fields[0])
		if len(meta) != 5 || len(fields) < 2 {
			return nil, nil, fmt.Errorf("read git diff: strange line %q", fields[0])
		}
		f := fileDiff{SHA: meta[3], Path: fields[1]}
		fields = fields[2:]
		kind := meta[4][0]
		switch kind {
		case 'A':
			f.Status = "added"
		case 'D':
			f.Status, f.SHA = "removed", meta[2]
		case 'T':
			f.Status = "changed"
		case 'R':
			if len(fields) == 0 {
				return nil, nil, fmt.Errorf("read git diff: rename of %s to nowhere", f.Path)
			}
			f.Status, f.Previous, f.Path, fields = "renamed", f.Path, fields[0], fields[1:]
		default:
			f.Status = "modified"
		}
		d.Files, kinds = append(d.Files, f), append(kinds, kind)
	}
	return fields, kinds, nil
}

// readNumstat reads "additions TAB deletions TAB path". For a rename the path is empty and
// two fields follow. A binary file has dashes.
func (d *diff) readNumstat(fields []string) error {
	for i := range d.Files {
		if len(fields) == 0 {
			return fmt.Errorf("read git diff: no counts for %s", d.Files[i].Path)
		}
		counts := strings.SplitN(fields[0], "\t", 3)
		if len(counts) != 3 {
			return fmt.Errorf("read git diff: strange counts %q", fields[0])
		}
		fields = fields[1:]
		if counts[2] == "" {
			fields = fields[min(2, len(fields)):]
		}
		if counts[0] == "-" {
			continue
		}
		f := &d.Files[i]
		added, err1 := strconv.ParseUint(counts[0], 10, 31)
		deleted, err2 := strconv.ParseUint(counts[1], 10, 31)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("read git diff: strange counts %q", counts)
		}
		f.Additions, f.Deletions = int(added), int(deleted)
		d.Additions += f.Additions
		d.Deletions += f.Deletions
	}
	return nil
}

// splitPatch cuts a patch into one piece per "diff --git". Lines of content never start like
// this, because a blank, a sign or a backslash precedes them.
func splitPatch(patch string) []string {
	var sections []string
	for patch != "" {
		end := strings.Index(patch, "\ndiff --git ")
		if end < 0 {
			return append(sections, patch)
		}
		sections, patch = append(sections, patch[:end+1]), patch[end+1:]
	}
	return sections
}

// setPatch sets the patch to the hunks of a section.
func (f *fileDiff) setPatch(section string) {
	at := strings.Index(section, "\n@@ ")
	if at < 0 {
		return
	}
	f.Patch = strings.TrimSuffix(section[at+1:], "\n")
	f.Lines, f.Bytes = strings.Count(f.Patch, "\n")+1, len(f.Patch)
}

// shown reports whether GitHub would show the file's patch.
func (f *fileDiff) shown(l Limits) bool {
	return f.Patch != "" && !over(f.Lines, l.PatchLines) && !over(f.Bytes, l.PatchBytes)
}
