package normalize

import (
	"path"
	"slices"
	"strings"
)

// families are groups of languages within which a file may move without being read again: the same
// rules look at a whole group. Prose runs nothing.
var families = [][]string{
	{"JavaScript", "TypeScript", "TSX", "JSX"},
	{"C", "C++", "Objective-C", "Objective-C++"},
	prose,
}

var prose = []string{"Markdown", "MDX", "reStructuredText", "AsciiDoc", "Text"}

// byName are languages in which a file's name and directory decide what its text does.
var byName = []string{"YAML", "JSON", "JSON with Comments", "TOML", "XML", "INI", "Pip Requirements"}

// MovedIntoUse reports whether a renamed file may do something at its new path that it did not do
// at the old one. It has another language there, is another settings file by its name, or is now
// one of GitHub's own files. What rules found at the old path then says nothing, and all of the
// file's text counts as new.
func MovedIntoUse(before, after string) bool {
	if before == "" || before == after {
		return false
	}
	oldLanguage, newLanguage := language(before), language(after)
	switch {
	case slices.Contains(prose, newLanguage) && newLanguage != "Text":
		return false
	case Family(oldLanguage) != Family(newLanguage):
		return true
	case !slices.Contains(byName, newLanguage):
		return false
	}
	const github = ".github/"
	return path.Base(before) != path.Base(after) || strings.HasPrefix(after, github) && path.Dir(before) != path.Dir(after)
}

// Family names the group of languages that a language belongs to: the same rules look at a whole
// group. Most languages are alone.
func Family(language string) string {
	for _, f := range families {
		if slices.Contains(f, language) {
			return f[0]
		}
	}
	return language
}
