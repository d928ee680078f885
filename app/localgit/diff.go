package localgit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const (
	// maxPatch bounds the patch of one file, and maxPatches the patches of all
	// files, in bytes. A larger patch is left out, but its lines are counted. So a
	// reader of the files knows that a patch is missing.
	maxPatch   = 8 << 20
	maxPatches = 128 << 20
)

// parseDiff reads the output of git diff --raw --patch: a line for each changed file, a
// blank line, and the files' patches in the same order. Not every file has a patch.
// parseDiff keeps at most most bytes of patches.
func parseDiff(r io.Reader, most int) (*diffParser, error) {
	p := &diffParser{most: most, lines: lineReader{r: bufio.NewReaderSize(r, 64<<10)}}
	if err := p.readRaw(); err != nil {
		return nil, err
	}
	return p, p.readPatches()
}

// entry is a changed file: the data of its raw line and of its patch.
type entry struct {
	status           byte
	oldMode, newMode string
	oldSHA, newSHA   string // of the contents; zeros if git has none
	path, previous   string

	add, del int
	hunks    bytes.Buffer
	cut      bool // hunks are incomplete
	binary   bool
}

type diffParser struct {
	lines   lineReader
	entries []*entry
	next    int // the entry at which the search for a section's file begins
	bytes   int // of hunks so far
	most    int // the limit for bytes
}

func (p *diffParser) readRaw() error {
	for {
		line, err := p.lines.next()
		if errors.Is(err, io.EOF) || err == nil && len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		e, err := parseRaw(string(line))
		if err != nil {
			return err
		}
		p.entries = append(p.entries, e)
	}
}

// parseRaw reads ":100644 100644 <sha> <sha> R086\told\tnew". Paths with
// unusual bytes are quoted.
func parseRaw(line string) (*entry, error) {
	meta, paths, ok := strings.Cut(line, "\t")
	fields := strings.Fields(meta) // modes, SHAs, status with score
	if !ok || len(fields) != 5 || fields[0][0] != ':' || strings.TrimRight(fields[4][1:], "0123456789") != "" {
		return nil, fmt.Errorf("git's list of files has the line %.200q, which is not understood", line)
	}
	e := &entry{status: fields[4][0], oldMode: fields[0][1:], newMode: fields[1], oldSHA: fields[2], newSHA: fields[3]}
	if statuses[e.status] == "" {
		return nil, fmt.Errorf("git's list of files has the line %.200q, with an unknown status", line)
	}
	first, second, two := strings.Cut(paths, "\t")
	if two != (e.status == 'R' || e.status == 'C') {
		return nil, fmt.Errorf("git's list of files has the line %.200q, with the wrong number of paths", line)
	}
	var err error
	if e.path, err = unquote(first); err == nil && two {
		e.previous = e.path
		e.path, err = unquote(second)
	}
	if err == nil && e.path == "" {
		err = errors.New("a file without a name")
	}
	return e, err
}

// section is the part of the patches that the parser is in.
type section struct {
	entry  *entry // nil while the file's name isn't known yet
	header string // of the "diff --git" line
	inHunk bool
}

const diffHeader = "diff --git "

func (p *diffParser) readPatches() error {
	var s *section
	for {
		line, err := p.lines.next()
		if errors.Is(err, io.EOF) {
			return p.finish(s)
		}
		if err != nil {
			return err
		}
		if header, ok := bytes.CutPrefix(line, []byte(diffHeader)); ok {
			if err := p.finish(s); err != nil {
				return err
			}
			s = &section{header: string(header)}
			continue
		}
		if s == nil {
			return fmt.Errorf("git's patch begins with the line %.200q, which is not understood", line)
		}
		if err := p.patchLine(s, line); err != nil {
			return err
		}
	}
}

// names are the lines of a section's header that name its file. In a rename the
// first of them comes before the others.
var names = []struct{ prefix, side string }{
	{"rename to ", ""}, {"copy to ", ""}, {"--- ", "a/"}, {"+++ ", "b/"},
}

func (p *diffParser) patchLine(s *section, line []byte) error {
	switch {
	case s.inHunk, bytes.HasPrefix(line, []byte("@@ ")):
		s.inHunk = true
		if err := p.findByHeader(s); err != nil {
			return err
		}
		p.hunkLine(s.entry, line)
		return nil
	case bytes.HasPrefix(line, []byte("Binary files ")):
		if err := p.findByHeader(s); err != nil {
			return err
		}
		s.entry.binary = true
		return nil
	}
	for _, n := range names {
		quoted, ok := strings.CutPrefix(string(line), n.prefix)
		if !ok || quoted == "/dev/null" {
			continue
		}
		path, err := unquote(strings.TrimSuffix(quoted, "\t")) // git ends names with spaces in a tab
		if err != nil {
			return err
		}
		if path, ok = strings.CutPrefix(path, n.side); !ok {
			return fmt.Errorf("git's patch has the line %.200q, which is not understood", line)
		}
		return p.find(s, path)
	}
	return nil // modes, similarity, object names
}

// finish ends a section. It looks for the file of a section without hunks, such as a
// change of mode or an empty file.
func (p *diffParser) finish(s *section) error {
	if s == nil {
		return nil
	}
	return p.findByHeader(s)
}

func (p *diffParser) findByHeader(s *section) error {
	if s.entry != nil {
		return nil
	}
	path, err := headerPath(s.header)
	if err != nil {
		return err
	}
	return p.find(s, path)
}

// headerPath takes the path from "a/path b/path", if no other line of the section
// names it. Then both paths are equal, so each is half of the header.
func headerPath(header string) (string, error) {
	half := len(header) / 2
	if len(header) < 2 || len(header)%2 == 0 || header[half] != ' ' {
		return "", fmt.Errorf("git's patch has the header %.200q, which is not understood", header)
	}
	a, err := unquote(header[:half])
	if err != nil {
		return "", err
	}
	b, err := unquote(header[half+1:])
	if err != nil {
		return "", err
	}
	path, okA := strings.CutPrefix(a, "a/")
	other, okB := strings.CutPrefix(b, "b/")
	if !okA || !okB || path != other {
		return "", fmt.Errorf("git's patch has the header %.200q, which is not understood", header)
	}
	return path, nil
}

// find finds the section's file. It is the file of the last section if that one's type
// changed, or a later one.
func (p *diffParser) find(s *section, path string) error {
	if s.entry != nil {
		return nil
	}
	for i := p.next; i < len(p.entries); i++ {
		if e := p.entries[i]; e.path == path {
			p.next = i
			s.entry = e
			return nil
		}
	}
	return fmt.Errorf("git's patch names the file %.200q, which is not in its list", path)
}

func (p *diffParser) hunkLine(e *entry, line []byte) {
	header := false
	switch {
	case len(line) == 0:
	case line[0] == '+':
		e.add++
	case line[0] == '-':
		e.del++
	case line[0] == '@':
		header = true
	}
	if e.cut || header && e.status == 'T' { // see patch
		return
	}
	if e.hunks.Len()+len(line) > maxPatch || p.bytes+len(line) > p.most {
		p.bytes -= e.hunks.Len()
		e.hunks, e.cut = bytes.Buffer{}, true
		return
	}
	e.hunks.Write(line)
	e.hunks.WriteByte('\n')
	p.bytes += len(line) + 1
}

// patch returns the hunks. For a change of type git prints two sections, one that
// deletes all lines and one that adds all lines. patch joins them to one hunk.
func (e *entry) patch() string {
	text := strings.TrimSuffix(e.hunks.String(), "\n")
	if e.status == 'T' && text != "" {
		return fmt.Sprintf("@@ -%s +%s @@\n%s", wholeRange(e.del), wholeRange(e.add), text)
	}
	return text
}

// wholeRange is the range of all of a file's lines in a hunk's header.
func wholeRange(lines int) string {
	if lines == 0 {
		return "0,0"
	}
	return fmt.Sprintf("1,%d", lines)
}

var statuses = map[byte]pipeline.FileStatus{
	'A': pipeline.FileAdded, 'M': pipeline.FileModified, 'D': pipeline.FileRemoved,
	'R': pipeline.FileRenamed, 'C': pipeline.FileCopied, 'T': pipeline.FileChanged,
}

// emptyBlobs are git's names for a file without content, by SHA-1 and SHA-256.
var emptyBlobs = []string{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}

func (p *diffParser) files() raw.Files {
	var out raw.Files
	for _, e := range p.entries {
		// If neither lines nor mode changed, only the file's timestamp did.
		unchanged := e.status == 'M' && e.add+e.del == 0 && !e.binary && e.oldMode == e.newMode
		if unchanged {
			continue
		}
		f := raw.ChangedFile{
			Path: e.path, PreviousPath: e.previous, Status: statuses[e.status],
			Additions: e.add, Deletions: e.del, Patch: e.patch(), Binary: e.binary,
			Empty: slices.Contains(emptyBlobs, e.newSHA),
		}
		if e.status == 'M' && e.add+e.del == 0 && !e.binary {
			f.Status = pipeline.FileChanged
		}
		out.Files = append(out.Files, f)
	}
	return out
}

// lineReader reads lines of any length.
type lineReader struct {
	r    *bufio.Reader
	long []byte
}

// next returns the next line without its end, valid until the next call. If the line
// is longer than a patch may be, next returns only its beginning.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = l.r.ReadSlice('\n')
			l.long = append(l.long, line[:min(len(line), maxPatch+1-min(len(l.long), maxPatch+1))]...)
		}
		line = l.long
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), err
}
