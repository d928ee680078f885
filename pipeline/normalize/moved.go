package normalize

import (
	"path"
	"slices"
	"strings"
)

// families are languages among which a file may move without its text being read anew:
// the rules for one read the others too. Those of prose run nothing.
var families = [][]string{
	{"JavaScript", "TypeScript", "TSX", "JSX"},
	{"C", "C++", "Objective-C", "Objective-C++"},
	prose,
}

var prose = []string{"Markdown", "MDX", "reStructuredText", "AsciiDoc", "Text"}

// byName are languages in which a file's name and directory say what its text does.
var byName = []string{"YAML", "JSON", "JSON with Comments", "TOML", "XML", "INI", "Pip Requirements"}

// MovedIntoUse reports whether a file that was renamed may do at its new path what it did
// not at the old one: it has another language there, is named like another file of
// settings, or came among GitHub's own files. What rules found, or did not, at the old
// path says nothing then, and all of its text is new.
func MovedIntoUse(before, after string) bool {
	if before == "" || before == after {
		return false
	}
	was, is := language(before), language(after)
	switch {
	case slices.Contains(prose, is) && is != "Text":
		return false
	case family(was) != family(is):
		return true
	case !slices.Contains(byName, is):
		return false
	}
	const github = ".github/"
	return path.Base(before) != path.Base(after) || strings.HasPrefix(after, github) && path.Dir(before) != path.Dir(after)
}

func family(language string) string {
	for _, f := range families {
		if slices.Contains(f, language) {
			return f[0]
		}
	}
	return language
}
