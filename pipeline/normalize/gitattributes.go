package normalize

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// AttributesFile is the attributes file at a repository's root. Files of that name in other
// directories are not read.
const AttributesFile = ".gitattributes"

// ExceptionsFile is gitleaks' config at a repository's root. Only its allow lists are read, and
// only from the base; see secrets.ReadExceptions. Gitleaks also reads .gitleaksignore and comments,
// which name findings and not reasons.
const ExceptionsFile = ".gitleaks.toml"

// MaxExceptions is the size of the largest ExceptionsFile that is read, in bytes.
const MaxExceptions = 256 << 10

// These are the limits of an attributes file: its size in bytes, and the number of its lines that
// may set relevant attributes. A larger file is ignored.
const (
	MaxAttributes     = 256 << 10
	maxAttributeLines = 1000
)

// The relevant attributes, as git and GitHub name them.
const (
	attrGenerated     = "linguist-generated"
	attrVendored      = "linguist-vendored"
	attrDocumentation = "linguist-documentation"
	attrText          = "text"
	attrEncoding      = "working-tree-encoding" // as a bool: whether the encoding may show other text than the blob
)

// attributes holds the content of the base's .gitattributes. The zero value has none.
type attributes struct {
	paths *glob.Set
	lines []map[string]bool // by pattern, then attribute: whether it is set or unset

	encodings []encodingLine // in the order of the file
}

// readAttributes reads the text of a .gitattributes file. Like git, it skips lines that it does not
// understand. why is set if the whole file does not count.
func readAttributes(text []byte) (a attributes, why string) {
	if len(text) > MaxAttributes {
		return attributesOfNone(text), fmt.Sprintf("it is larger than %d KB", MaxAttributes>>10)
	}
	var patterns []string
	lines := attributeLines(text)
	macros := encodingMacros(lines)
	counted := 0
	for _, line := range lines {
		pattern, set, e := line.read(macros)
		if len(set) == 0 || pattern == "" && e == 0 {
			continue // an unreadable pattern resets nothing
		}
		if counted++; counted > maxAttributeLines {
			return attributesOfNone(text), fmt.Sprintf("more than %d of its lines say what files are", maxAttributeLines)
		}
		if _, sets := set[attrEncoding]; sets {
			a.encodings = append(a.encodings, encodingLine{
				encoding: e, at: len(patterns), everywhere: pattern == "", bytewise: strings.ContainsAny(pattern, "?["),
			})
		}
		if pattern != "" {
			patterns, a.lines = append(patterns, pattern), append(a.lines, set)
		}
	}
	var err error
	if a.paths, err = glob.Compile(patterns); err != nil {
		return attributesOfNone(text), "its patterns can't be read"
	}
	return a, ""
}

// attributesOfNone are the attributes of a file that does not count. If it names encodings, any
// file may have one.
func attributesOfNone(text []byte) attributes {
	if bytes.Contains(text, []byte(attrEncoding)) {
		return attributes{encodings: []encodingLine{{encoding: otherEncoding, everywhere: true}}}
	}
	return attributes{}
}

// attributeLine is a line of an attributes file as git reads it.
type attributeLine struct {
	pattern string // without its quotes
	macro   bool   // it defines the attribute of this name
	words   []string
	// unsure says that not every version of git obeys the line: the line is long, follows a NUL, or
	// names an attribute that git reserves.
	unsure bool
}

// maxAttributeLine is the length above which newer versions of git ignore a line.
const maxAttributeLine = 2048

func attributeLines(text []byte) []attributeLine {
	var lines []attributeLine
	unsure := false
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		line, _, zero := bytes.Cut(line, []byte{0})
		if l, ok := readAttributeLine(string(line)); ok {
			l.unsure = unsure || len(line) >= maxAttributeLine || bytes.Contains(line, []byte("builtin_"))
			lines = append(lines, l)
		}
		unsure = unsure || zero
	}
	return lines
}

// readAttributeLine splits a line into a pattern, which may be quoted as in C, and the attributes.
// It returns false for lines that git skips: blank lines, comments, and lines with a word that
// can't be an attribute.
func readAttributeLine(line string) (l attributeLine, ok bool) {
	line = strings.TrimLeft(line, attributeBlanks)
	if line == "" || line[0] == '#' {
		return l, false
	}
	pattern, rest, quoted := unquote(line)
	if !quoted {
		i := strings.IndexAny(line+" ", attributeBlanks)
		pattern, rest = line[:i], line[i:]
	}
	if name, macro := strings.CutPrefix(pattern, "[attr]"); macro && name != "" {
		name = strings.TrimLeft(name, attributeBlanks)
		pattern, l.macro = name[:strings.IndexAny(name+" ", attributeBlanks)], true
		if !attributeName(pattern) {
			return l, false
		}
	}
	l.pattern, l.words = pattern, attributeWords(rest)
	return l, !slices.ContainsFunc(l.words, func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		if name != "" && (name[0] == '-' || name[0] == '!') {
			name = name[1:]
		}
		return !attributeName(name)
	})
}

// unquote reads a string in C quotes at the start of a line, as git does.
func unquote(line string) (text, rest string, ok bool) {
	if line[0] != '"' {
		return "", "", false
	}
	var out []byte
	for i := 1; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			return string(out), line[i+1:], true
		case '\\':
			if i++; i == len(line) {
				return "", "", false
			}
			if at := strings.IndexByte(`abfnrtv\"`, line[i]); at >= 0 {
				out = append(out, "\a\b\f\n\r\t\v\\\""[at])
				continue
			}
			n, err := strconv.ParseUint(line[i:min(i+3, len(line))], 8, 8)
			if err != nil || i+3 > len(line) {
				return "", "", false
			}
			out = append(out, byte(n))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return "", "", false
}

// attributeName reports whether git accepts the text as an attribute's name.
func attributeName(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return r >= utf8.RuneSelf || !wordByte(byte(r)) && !strings.ContainsRune("-._", r)
	})
}

// read converts the pattern to a glob for whole paths, and reads how the line sets the relevant
// attributes. The pattern is empty if it can't be read, and set is empty if the pattern matches no
// file.
func (l *attributeLine) read(macros map[string]encoding) (pattern string, set map[string]bool, e encoding) {
	if l.macro || l.pattern == "" || l.pattern[0] == '!' || strings.HasSuffix(l.pattern, "/") {
		return "", nil, 0
	}
	set = map[string]bool{}
	for _, word := range l.words {
		if as, sets := encodingWord(word, macros); sets {
			set[attrEncoding], e = as != 0, as
		}
		name, value, valued := strings.Cut(word, "=")
		on := !valued || value == "true"
		if valued && value != "true" && value != "false" {
			continue
		}
		if off, ok := strings.CutPrefix(name, "-"); ok {
			name, on = off, false
		}
		switch name {
		case attrGenerated, attrVendored, attrDocumentation, attrText:
			set[name] = on
		case "binary":
			set[attrText] = !on
		}
	}
	if l.unsure {
		set = map[string]bool{attrEncoding: true}
		if e == 0 {
			return "", nil, 0
		}
	}
	return attributeGlob(l.pattern), set, e
}

// attributeBlanks separate words in a line. To git, other white space is part of a word.
const attributeBlanks = " \t\r"

func attributeWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(attributeBlanks, r) })
}

// attributeGlob converts git's pattern to a glob, or returns "" if that is impossible. In git,
// braces have no meaning, and a pattern without a slash is a name in any directory.
func attributeGlob(pattern string) string {
	anchored := strings.Contains(pattern, "/")
	pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(strings.TrimPrefix(pattern, "/"))
	if !anchored {
		pattern = "**/" + pattern
	}
	if glob.Validate(pattern) != nil {
		return ""
	}
	return pattern
}

// of is what the last matching line says about an attribute of a path. known is false if no line
// does.
func (a attributes) of(path, attribute string) (set, known bool) {
	if a.paths == nil {
		return false, false
	}
	for _, i := range a.paths.Match(path) {
		if s, ok := a.lines[i][attribute]; ok {
			set, known = s, true // the matching patterns are in the order of their lines
		}
	}
	return set, known
}

// binaryByBase ends the reason of an unread file that the attributes let pass.
const binaryByBase = "; the base's " + AttributesFile + " says that it is binary"

// Reattribute applies the text of a .gitattributes file to facts instead of the base's. The
// problems say why the whole text does not count. It changes Files and Incomplete, which the facts
// must not share.
func Reattribute(facts *pipeline.PRFacts, text []byte) (problems []string) {
	attributes, why := readAttributes(text)
	for i := range facts.Files {
		setFlags(&facts.Files[i])
	}
	for i := range facts.Incomplete {
		u := &facts.Incomplete[i]
		if reason, passed := strings.CutSuffix(u.Why, binaryByBase); passed {
			u.Gating, u.Why = true, reason
		}
	}
	facts.Incomplete = slices.DeleteFunc(facts.Incomplete, func(i pipeline.Incompleteness) bool { return strings.HasPrefix(i.Why, encodedByBase) })
	attributes.apply(facts)
	if why != "" {
		problems = append(problems, why)
	}
	return problems
}

// WithoutAttributes returns the file with only the flags that come from its path and text.
func WithoutAttributes(f pipeline.File) pipeline.File {
	setFlags(&f)
	return f
}

// leavesOut reports whether the base has the file and the attributes call it generated or vendored,
// under its path now and before.
func (a attributes) leavesOut(f *pipeline.File) bool {
	was := f.Path
	switch f.Status {
	case pipeline.FileModified, pipeline.FileRemoved:
	case pipeline.FileRenamed:
		was = f.PreviousPath
	default:
		return false
	}
	for _, path := range []string{f.Path, was} {
		generated, _ := a.of(path, attrGenerated)
		vendored, _ := a.of(path, attrVendored)
		if !generated && !vendored {
			return false
		}
	}
	return true
}

// apply sets the flags of files by the attributes. It lets unread files pass if the attributes call
// them binary.
func (a attributes) apply(f *pipeline.PRFacts) {
	for i := range f.Files {
		file := &f.Files[i]
		if set, sets := a.of(file.Path, attrGenerated); sets {
			file.Generated, file.GeneratedByPath = set, set
		}
		if set, sets := a.of(file.Path, attrVendored); sets {
			file.Vendored = set
		}
		if set, sets := a.of(file.Path, attrDocumentation); sets {
			file.Documentation = set
		}
		file.ByBase = a.leavesOut(file)
	}
	for i := range f.Incomplete {
		u := &f.Incomplete[i]
		if !u.Gating || !u.Unread() {
			continue
		}
		if text, sets := a.of(u.Path, attrText); sets && !text {
			u.Gating, u.Why = false, strings.TrimSuffix(u.Why, unknownRemedy)+binaryByBase
		}
	}
	f.Incomplete = append(f.Incomplete, a.encoded(f.Files)...)
}
