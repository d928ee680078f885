package normalize

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

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

	encodings []encoding // of each pattern that sets attrEncoding
}

// readAttributes reads the text of a .gitattributes file. Like git it passes over lines
// that it does not understand. why is set if the file as a whole does not count.
func readAttributes(text []byte) (a attributes, why string) {
	if len(text) > MaxAttributes {
		return attributes{}, fmt.Sprintf("it is larger than %d KB", MaxAttributes>>10)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var patterns []string
	macros := encodingMacros(text)
	for line := range bytes.Lines(text) {
		pattern, set, e := attributeLine(string(line), macros)
		if pattern == "" || len(set) == 0 {
			continue
		}
		if len(patterns) == maxAttributeLines {
			return attributes{}, fmt.Sprintf("more than %d of its lines say what files are", maxAttributeLines)
		}
		patterns, a.lines, a.encodings = append(patterns, pattern), append(a.lines, set), append(a.encodings, e)
	}
	var err error
	if a.paths, err = glob.Compile(patterns); err != nil {
		return attributes{}, "its patterns can't be read"
	}
	return a, ""
}

// attributeLine reads a line: the pattern as a glob for whole paths, and how the line sets
// the attributes that count. The pattern is empty if it matches nothing.
func attributeLine(line string, macros map[string]encoding) (pattern string, set map[string]bool, e encoding) {
	line = strings.Trim(line, attributeBlanks+"\n")
	if line == "" || line[0] == '#' {
		return "", nil, 0
	}
	pattern, rest := attributePattern(line)
	set = map[string]bool{}
	for _, word := range attributeWords(rest) {
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
	return pattern, set, e
}

// attributeBlanks separate words in a line. Other blanks are a part of a word to git.
const attributeBlanks = " \t\r"

func attributeWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(attributeBlanks+"\n", r) })
}

// attributePattern splits a line after its pattern, which may be quoted as in C, and turns
// the pattern into a glob. In git braces have no meaning, a pattern without a slash is a
// name in any directory, and patterns for directories or with "!" match nothing.
func attributePattern(line string) (pattern, rest string) {
	if line[0] == '"' {
		end := 1
		for end < len(line) && line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(line) {
			return "", ""
		}
		pattern, rest = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(line[1:end]), line[end+1:]
	} else {
		i := strings.IndexAny(line+" ", attributeBlanks)
		pattern, rest = line[:i], line[i:]
	}
	if pattern == "" || pattern[0] == '!' || strings.HasSuffix(pattern, "/") || strings.HasPrefix(pattern, "[attr]") {
		return "", rest
	}
	anchored := strings.Contains(pattern, "/")
	pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(strings.TrimPrefix(pattern, "/"))
	if !anchored {
		pattern = "**/" + pattern
	}
	if glob.Validate(pattern) != nil {
		return "", rest
	}
	return pattern, rest
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
