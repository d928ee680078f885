package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// parser reads the output of git log -p.
type parser struct {
	changes []Change
	patch   strings.Builder
	added   int
	// The lines that remain on each side of the current hunk.
	old, new int
}

// parse returns the commits up to the one that reaches limit added bytes. whole reports whether all
// commits were read.
func parse(r io.Reader, limit int) (changes []Change, whole bool, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	p := &parser{}
	for {
		line, err := in.ReadString('\n')
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return nil, false, fmt.Errorf("read the log: %w", err)
		}
		if p.added >= limit && strings.HasPrefix(line, "commit ") && !p.inHunk() {
			p.endFile()
			return p.changes, false, nil
		}
		if line != "" {
			if err := p.line(strings.TrimSuffix(line, "\n")); err != nil {
				return nil, false, err
			}
		}
		if ended {
			p.endFile()
			return p.changes, true, nil
		}
	}
}

func (p *parser) inHunk() bool { return p.old > 0 || p.new > 0 }

func (p *parser) line(line string) error {
	sha, isCommit := strings.CutPrefix(line, "commit ")
	switch {
	case p.inHunk() || strings.HasPrefix(line, `\`):
		p.text(line)
	case isCommit:
		p.endFile()
		p.changes = append(p.changes, Change{Commit: pipeline.Commit{SHA: sha}})
	case len(p.changes) == 0:
		return fmt.Errorf("read the log: it starts with %q, not with a commit", line)
	case p.last() == nil && (line == "" || strings.HasPrefix(line, "    ")):
		p.changes[len(p.changes)-1].Commit.Message += strings.TrimPrefix(line, "    ") + "\n"
	case strings.HasPrefix(line, "diff --git "):
		p.endFile()
		p.file(line)
	case p.last() != nil:
		return p.header(line)
	}
	return nil
}

// text reads a line of a hunk.
func (p *parser) text(line string) {
	f := p.last()
	switch line[:min(1, len(line))] {
	case "+":
		p.new--
		f.Additions++
		p.added += len(line)
	case "-":
		p.old--
		f.Deletions++
	case `\`:
	default:
		p.old--
		p.new--
	}
	p.write(line)
}

func (p *parser) write(line string) {
	if p.patch.Len() > 0 {
		p.patch.WriteByte('\n')
	}
	p.patch.WriteString(line)
}

// last is the current file, or nil.
func (p *parser) last() *raw.ChangedFile {
	files := p.changes[len(p.changes)-1].Files
	if len(files) == 0 {
		return nil
	}
	return &files[len(files)-1]
}

// file starts a file. The two names on the line are equal except for their prefixes, unless a later
// line says otherwise.
func (p *parser) file(line string) {
	names := strings.TrimPrefix(line, "diff --git ")
	f := raw.ChangedFile{Path: name(names[len(names)/2+1:]), Status: pipeline.FileModified}
	c := &p.changes[len(p.changes)-1]
	c.Files = append(c.Files, f)
}

// name removes the prefix and the quotes from a name.
func name(s string) string {
	if unquoted, err := strconv.Unquote(s); err == nil {
		s = unquoted
	}
	return strings.TrimPrefix(s, "b/")
}

var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// header reads a line before or between hunks.
func (p *parser) header(line string) error {
	f := p.last()
	what, rest, _ := strings.Cut(line, " ")
	switch {
	case what == "@@":
		m := hunkHeader.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("read the log: %q starts no hunk", line)
		}
		p.old, p.new = count(m[1]), count(m[2])
		p.write(line)
	case strings.HasPrefix(line, "new file mode"):
		f.Status = pipeline.FileAdded
	case strings.HasPrefix(line, "deleted file mode"):
		f.Status = pipeline.FileRemoved
	case strings.HasPrefix(line, "rename from "):
		f.Status, f.PreviousPath = pipeline.FileRenamed, name(strings.TrimPrefix(rest, "from "))
	case strings.HasPrefix(line, "rename to "):
		f.Path = name(strings.TrimPrefix(rest, "to "))
	case what == "+++" && rest != "/dev/null":
		f.Path = name(strings.TrimSuffix(rest, "\t"))
	case what == "Binary":
		f.Binary = true
	}
	return nil
}

// count is the number of lines in a hunk's header, where a missing number means 1.
func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}

func (p *parser) endFile() {
	if len(p.changes) == 0 {
		return
	}
	c := &p.changes[len(p.changes)-1]
	c.Commit.Message = strings.TrimRight(c.Commit.Message, "\n")
	if p.patch.Len() > 0 {
		p.last().Patch = p.patch.String()
	}
	p.patch.Reset()
	p.old, p.new = 0, 0
}
