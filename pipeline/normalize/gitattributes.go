package normalize

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// AttributesFile is the file at a repository's root that says what its files are. Those
// in other directories are not read.
const AttributesFile = ".gitattributes"

// The bounds of an attributes file: its size in bytes, and how many of its lines may say
// something of what is looked at here. One that has more counts as if it were not there.
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
)

// attributes are what the .gitattributes of the base say. The zero value says nothing.
type attributes struct {
	paths *glob.Set
	lines []map[string]bool // by attribute: set or unset, of each pattern
}

// readAttributes reads the text of a .gitattributes file. What git would not understand
// it passes over, as git does. why is set where the file as a whole does not count.
func readAttributes(text []byte) (a attributes, why string) {
	if len(text) > MaxAttributes {
		return attributes{}, fmt.Sprintf("it is larger than %d KB", MaxAttributes>>10)
	}
	var patterns []string
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		pattern, set := attributeLine(string(line))
		if pattern == "" || len(set) == 0 {
			continue
		}
		if len(patterns) == maxAttributeLines {
			return attributes{}, fmt.Sprintf("more than %d of its lines say what files are", maxAttributeLines)
		}
		patterns, a.lines = append(patterns, pattern), append(a.lines, set)
	}
	var err error
	if a.paths, err = glob.Compile(patterns); err != nil {
		return attributes{}, "its patterns can't be read"
	}
	return a, ""
}

// attributeLine reads a line: the pattern as a glob for whole paths, and what it says of
// the attributes that count. A pattern that matches nothing is empty.
func attributeLine(line string) (pattern string, set map[string]bool) {
	line = strings.Trim(line, " \t\r\n")
	if line == "" || line[0] == '#' {
		return "", nil
	}
	pattern, rest := attributePattern(line)
	set = map[string]bool{}
	for _, word := range strings.Fields(rest) {
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
	return pattern, set
}

// attributePattern splits a line after its pattern, which may be quoted as in C, and
// makes a glob of that. git knows no braces, and takes a pattern without a slash for a
// name in any directory. It matches no directories, and nothing with "!".
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
		i := strings.IndexAny(line+" ", " \t")
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

// of is what the last line that matches a path says of an attribute.
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

// binaryByBase is what the reason of something unread ends with that the attributes let
// pass.
const binaryByBase = "; the base's " + AttributesFile + " says that it is binary"

// Reattribute has a text of .gitattributes count for facts in the place of the base's.
// problems are why it does not count as a whole. What the facts share with others must
// have been copied: their files, and what is incomplete.
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
	attributes.apply(facts)
	if why != "" {
		problems = append(problems, why)
	}
	return problems
}

// WithoutAttributes is a file with the flags that its path and text alone give it.
func WithoutAttributes(f pipeline.File) pipeline.File {
	setFlags(&f)
	return f
}

// apply sets what the attributes say of files, and lets what could not be read pass of
// those that they say are binary.
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
			u.Gating, u.Why = false, u.Why+binaryByBase
		}
	}
}
