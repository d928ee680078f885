package normalize

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// MaxDiffFiles is how many files one diff may change. GitHub lists no more in a pull request.
const MaxDiffFiles = 3000

// Diff is a change as text: what git diff, git format-patch and diff -u print.
type Diff struct {
	// Preamble is the text before the first file, such as the mail header of git format-patch.
	// It may be empty.
	Preamble string
	Files    []raw.ChangedFile // at least one, in the order of the text, with distinct paths
}

// ReadDiff reads a unified diff of any number of files. It removes the prefixes of the two sides
// from names, such as a/ and b/, and skips text between files. It is strict: hunks must hold as
// many lines as their headers say, a surplus line is an error and not text, and a path must stay
// within the repository. The error says which line is wrong and what to do. ReadDiff also fails
// for the combined diff of a merge, for a series of patches that changes a file twice, and above
// MaxDiffFiles.
func ReadDiff(text string) (Diff, error) {
	text = strings.TrimSuffix(text, "\n")
	r := diffReader{text: text, patchReader: patchReader{rest: text, lines: strings.Count(text, "\n") + 1}, seen: map[string]bool{}}
	for !r.done() {
		if err := r.step(); err != nil {
			return Diff{}, fmt.Errorf("line %d: %w", max(1, r.line), err)
		}
	}
	if len(r.diff.Files) == 0 {
		return Diff{}, errors.New("there is no changed file in it: write it with git diff BASE...HEAD")
	}
	return r.diff, nil
}

// diffReader reads one file after the other.
type diffReader struct {
	patchReader
	text string
	diff Diff
	seen map[string]bool // the paths so far
}

// peek returns the unread line n lines ahead. Carriage returns at the ends of lines count only in
// hunks.
func (r *diffReader) peek(n int) string {
	rest := r.rest
	for range n {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSuffix(line, "\r")
}

// offset is the position of the next line in the text.
func (r *diffReader) offset() int { return len(r.text) - len(r.rest) }

const gitHeader = "diff --git "

// step reads a file, or a line between files.
func (r *diffReader) step() error {
	switch line := r.peek(0); {
	case strings.HasPrefix(line, gitHeader):
		r.next()
		return r.gitFile(strings.TrimPrefix(line, gitHeader))
	case r.plainFile():
		return r.file(&section{})
	case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
		r.next()
		return errors.New("this is the combined diff of a merge: write the change with git diff BASE...HEAD")
	case strings.HasPrefix(line, "@@ -") && len(r.diff.Files) > 0:
		r.next()
		return errors.New("no file is named above this hunk: begin it with --- and +++")
	}
	r.next()
	if len(r.diff.Files) == 0 {
		r.diff.Preamble = r.text[:r.offset()]
	}
	return nil
}

// plainFile reports whether a file begins here that only --- and +++ lines name.
func (r *diffReader) plainFile() bool {
	return strings.HasPrefix(r.peek(0), "--- ") && strings.HasPrefix(r.peek(1), "+++ ") && strings.HasPrefix(r.peek(2), "@@ -")
}

// section has the content of the lines above the hunks of a file.
type section struct {
	old, new string // the names as written, or empty
	status   pipeline.FileStatus
	binary   bool
}

// gitFile reads a file after git's first line for it.
func (r *diffReader) gitFile(names string) error {
	at := r.line
	s := section{}
	for !r.done() && !r.plainFile() && s.header(r.peek(0)) {
		r.next()
	}
	if s.old == "" && s.new == "" && !r.plainFile() {
		// Nothing else names the file, so the two names differ at most in their prefixes.
		half := len(names) / 2
		if len(names)%2 == 0 || names[half] != ' ' {
			r.line = at
			return fmt.Errorf("the names in %.200q can't be told apart: write the diff with git diff", names)
		}
		s.old, s.new = names[:half], names[half+1:]
	}
	return r.file(&s)
}

// header reads a line above the hunks, and reports whether it is one.
func (s *section) header(line string) bool {
	for _, h := range []struct {
		prefix string
		status pipeline.FileStatus
		name   *string
	}{
		{"old mode ", pipeline.FileChanged, nil}, {"new mode ", pipeline.FileChanged, nil},
		{"new file mode ", pipeline.FileAdded, nil}, {"deleted file mode ", pipeline.FileRemoved, nil},
		{"rename from ", pipeline.FileRenamed, &s.old}, {"rename to ", pipeline.FileRenamed, &s.new},
		{"copy from ", pipeline.FileCopied, &s.old}, {"copy to ", pipeline.FileCopied, &s.new},
		{"similarity index ", "", nil}, {"dissimilarity index ", "", nil}, {"index ", "", nil},
	} {
		rest, ok := strings.CutPrefix(line, h.prefix)
		if !ok {
			continue
		}
		if h.status != "" {
			s.status = h.status
		}
		if h.name != nil {
			*h.name = rest
		}
		return true
	}
	if strings.HasPrefix(line, "Binary files ") || line == "GIT binary patch" {
		s.binary = true
		return true
	}
	return false
}

const devNull = "/dev/null"

// file reads the names right above the hunks, if there are any, and the hunks.
func (r *diffReader) file(s *section) error {
	named := s.status == pipeline.FileRenamed || s.status == pipeline.FileCopied
	if r.plainFile() {
		old, _, _ := strings.Cut(r.peek(0)[len("--- "):], "\t") // a time follows
		changed, _, _ := strings.Cut(r.peek(1)[len("+++ "):], "\t")
		r.next()
		r.next()
		if !named {
			s.old, s.new = old, changed
		}
	}
	at := r.line
	f, err := s.changedFile(!named)
	if err == nil {
		f.Patch, err = r.hunks()
	}
	if err != nil {
		return err
	}
	hunks, err := parsePatch(f.Patch)
	if err != nil {
		return fmt.Errorf("the hunks don't fit together: %w", err)
	}
	f.Additions, f.Deletions = countLines(hunks)
	switch {
	case s.status == "" && len(hunks) == 0 && !s.binary:
		err = errors.New("the file has no hunks: the diff is cut short, so write it anew")
	case r.seen[f.Path]:
		err = fmt.Errorf("%.200q is changed a second time: write a series of patches as one, with git diff BASE...HEAD", f.Path)
	case len(r.diff.Files) == MaxDiffFiles:
		err = fmt.Errorf("the diff changes more than %d files: split it", MaxDiffFiles)
	}
	if err != nil {
		r.line = at
		return err
	}
	if len(hunks) == 1 && s.status == "" && s.old != devNull && s.new != devNull { // diff -N names both sides
		if h := hunks[0]; h.OldStart+h.OldLines == 0 {
			f.Status = pipeline.FileAdded
		} else if h.NewStart+h.NewLines == 0 {
			f.Status = pipeline.FileRemoved
		}
	}
	f.Empty = f.Status == pipeline.FileAdded && len(hunks) == 0 && !f.Binary
	if f.Status == pipeline.FileChanged && len(hunks) > 0 {
		f.Status = pipeline.FileModified
	}
	r.seen[f.Path] = true
	r.diff.Files = append(r.diff.Files, f)
	return r.rejectSurplus()
}

// changedFile returns the file without its hunks. If prefixed is set, names begin with a prefix
// that is not part of the path.
func (s *section) changedFile(prefixed bool) (f raw.ChangedFile, err error) {
	old, changed := s.old, s.new
	for _, name := range []*string{&old, &changed} {
		if strings.HasPrefix(*name, `"`) {
			if *name, err = strconv.Unquote(*name); err != nil {
				return f, errors.New("a name is not quoted as git quotes it: write the diff with git diff")
			}
		}
	}
	if prefixed {
		old, changed = withoutPrefix(old, changed)
	}
	f = raw.ChangedFile{Path: changed, Status: s.status, Binary: s.binary}
	switch {
	case old == devNull:
		f.Status = pipeline.FileAdded
	case changed == devNull:
		f.Path, f.Status = old, pipeline.FileRemoved
	case f.Status == "" && old != changed:
		f.Status, f.PreviousPath = pipeline.FileRenamed, old
	case f.Status == "":
		f.Status = pipeline.FileModified
	case !prefixed:
		f.PreviousPath = old
	}
	for _, path := range []string{f.Path, f.PreviousPath} {
		if path != "" && (!fs.ValidPath(path) || path == "." || strings.ContainsRune(path, 0)) {
			return f, fmt.Errorf("%.200q is not a path within a repository: write it from the repository's root, without .. and in UTF-8", path)
		}
	}
	if f.Path == "" {
		return f, errors.New("the file has no name: write the diff with git diff")
	}
	return f, nil
}

// withoutPrefix removes the prefixes by which diffs tell the two sides apart: a/ and b/, git's
// mnemonic letters, or the names of two trees.
func withoutPrefix(old, changed string) (string, string) {
	first, oldRest, inOld := strings.Cut(old, "/")
	second, newRest, inNew := strings.Cut(changed, "/")
	letter := func(s string) bool { return len(s) == 1 && s[0] >= 'a' && s[0] <= 'z' }
	switch {
	case old == devNull && inNew && letter(second):
		return old, newRest
	case changed == devNull && inOld && letter(first):
		return oldRest, changed
	case old == devNull || changed == devNull || !inOld || !inNew || first == second:
		return old, changed
	case oldRest == newRest || letter(first) && letter(second):
		return oldRest, newRest
	}
	return old, changed
}

// hunks reads hunks and returns their text.
func (r *diffReader) hunks() (string, error) {
	start := r.offset()
	for !r.done() && strings.HasPrefix(r.rest, "@@ -") {
		if _, err := r.hunk(); err != nil {
			return "", fmt.Errorf("%w: the diff is damaged, so write it anew with git diff", err)
		}
	}
	text := r.text[start:r.offset()]
	if !r.end {
		text = strings.TrimSuffix(text, "\n")
	}
	if strings.HasSuffix(text, "\n") {
		text += " " // an empty line of the file that lost its space
	}
	return text, nil
}

// rejectSurplus rejects a line below the hunks that looks like a line of a hunk.
func (r *diffReader) rejectSurplus() error {
	line := r.peek(0)
	if r.done() || line == "" || line == "--" || line == "-- " || r.plainFile() || !strings.ContainsAny(line[:1], `+- \`) {
		return nil
	}
	r.next()
	return errors.New("this line is in no hunk: the header of the one above counts too few, so write the diff anew")
}
