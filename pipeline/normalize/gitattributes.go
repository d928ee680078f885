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

// AttributesFile is the file at a repository's root that says what its files are. Files
// of that name in other directories are not read.
const AttributesFile = ".gitattributes"

// The bounds of an attributes file: its size in bytes, and how many of its lines may set
// the attributes that count. A file beyond them is ignored.
const (
	MaxAttributes     = 256 << 10
	maxAttributeLines = 1000
)

// The attributes that count, as git and GitHub name them.
const (
	attrGenerated     = "linguist-generated"
	attrVendored      = "linguist-vendored"
	attrDocumentation = "linguist-documentation"
	attrText          = "text"
	attrEncoding      = "working-tree-encoding" // here: whether the encoding may show other text than the blob
)

// attributes is what the base's .gitattributes says. The zero value says nothing.
type attributes struct {
	paths *glob.Set
	lines []map[string]bool // by attribute: set or unset, of each pattern

	encodings []encodingLine // in the order of the file
}

// readAttributes reads the text of a .gitattributes file. Like git it passes over lines
// that it does not understand. why is set if the file as a whole does not count.
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
			continue // a pattern that can't be read resets nothing
		}
		if counted++; counted > maxAttributeLines {
			return attributesOfNone(text), fmt.Sprintf("more than %d of its lines say what files are", maxAttributeLines)
		}
		if _, said := set[attrEncoding]; said {
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

// attributesOfNone are those of a file that does not count. If it names encodings, any file
// may have one.
func attributesOfNone(text []byte) attributes {
	if bytes.Contains(text, []byte(attrEncoding)) {
		return attributes{encodings: []encodingLine{{encoding: otherEncoding, everywhere: true}}}
	}
	return attributes{}
}

// attributeLine is a line of an attributes file as git reads it.
type attributeLine struct {
	pattern string // without its quotes
	macro   bool   // it says what the attribute of this name stands for
	words   []string
	// unsure says that not every git heeds the line: it is long, stands behind a NUL, or
	// has the name of an attribute that git keeps for itself.
	unsure bool
}

// maxAttributeLine is the length of a line beyond which newer versions of git ignore it.
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

// readAttributeLine splits a line into a pattern, which may be quoted as in C, and the
// attributes. It returns false for what git passes over: blank lines, comments, and lines
// with a word that cannot be an attribute.
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

// unquote reads a text in quotes as in C at the start of a line, as git does.
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

// attributeName reports whether git takes the text for the name of an attribute.
func attributeName(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return r >= utf8.RuneSelf || !wordByte(byte(r)) && !strings.ContainsRune("-._", r)
	})
}

// read reads the pattern as a glob for whole paths, and how the line sets the attributes
// that count. The pattern is empty if nobody can read it, and nothing is set if it matches
// no file.
func (l *attributeLine) read(macros map[string]encoding) (pattern string, set map[string]bool, e encoding) {
	if l.macro || l.pattern == "" || l.pattern[0] == '!' || strings.HasSuffix(l.pattern, "/") {
		return "", nil, 0
	}
	set = map[string]bool{}
	for _, word := range l.words {
		if as, said := encodingWord(word, macros); said {
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

// attributeBlanks separate words in a line. Other blanks are a part of a word to git.
const attributeBlanks = " \t\r"

func attributeWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(attributeBlanks, r) })
}

// attributeGlob turns git's pattern into a glob, or returns "" if that can't be. In git
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

// of is what the last matching line says about an attribute of a path.
func (a attributes) of(path, attribute string) (set, said bool) {
	if a.paths == nil {
		return false, false
	}
	for _, i := range a.paths.Match(path) {
		if s, ok := a.lines[i][attribute]; ok {
			set, said = s, true // the patterns that match are in the order of their lines
		}
	}
	return set, said
}

// binaryByBase ends the reason of something unread that the attributes let pass.
const binaryByBase = "; the base's " + AttributesFile + " says that it is binary"

// Reattribute applies the text of a .gitattributes file to facts, in place of the base's.
// The problems say why the text as a whole does not count. It changes Files and Incomplete,
// which the facts must not share with others.
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

// WithoutAttributes returns the file with the flags that come from its path and text alone.
func WithoutAttributes(f pipeline.File) pipeline.File {
	setFlags(&f)
	return f
}

// apply sets the flags of files as the attributes say, and lets unread files pass if the
// attributes say that they are binary.
func (a attributes) apply(f *pipeline.PRFacts) {
	for i := range f.Files {
		file := &f.Files[i]
		if set, said := a.of(file.Path, attrGenerated); said {
			file.Generated, file.GeneratedByPath = set, set
		}
		if set, said := a.of(file.Path, attrVendored); said {
			file.Vendored = set
		}
		if set, said := a.of(file.Path, attrDocumentation); said {
			file.Documentation = set
		}
	}
	for i := range f.Incomplete {
		u := &f.Incomplete[i]
		if !u.Gating || !u.Unread() {
			continue
		}
		if text, said := a.of(u.Path, attrText); said && !text {
			u.Gating, u.Why = false, strings.TrimSuffix(u.Why, unknownRemedy)+binaryByBase
		}
	}
	f.Incomplete = append(f.Incomplete, a.encoded(f.Files)...)
}
