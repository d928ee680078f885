// Package linguist classifies paths as GitHub's classifier of languages does, with go-enry's
// tables.
//
// It replaces go-enry's functions of the same names. Their package also contains a classifier of
// texts, whose frequency tables would take 16 MB in every process and a tenth of a second at its
// start. Nothing here uses that classifier.
package linguist

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-enry/go-enry/v2/data"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// LanguageByFilename is the language of files with this name, or "".
func LanguageByFilename(file string) string {
	if l := data.LanguagesByFilename[path.Base(file)]; len(l) > 0 {
		return l[0]
	}
	return ""
}

// LanguagesByExtension are the languages of files with the longest known ending of this name, in
// alphabetical order. The caller must not change them.
func LanguagesByExtension(file string) []string {
	file = strings.ToLower(file)
	for i := range len(file) {
		if file[i] != '.' {
			continue
		}
		if l, ok := data.LanguagesByExtension[file[i:]]; ok {
			return l
		}
	}
	return nil
}

// LanguagesByInterpreter are the languages that a program of this name runs. The caller must not
// change them.
func LanguagesByInterpreter(name string) []string { return data.LanguagesByInterpreter[name] }

// IsProgramming reports whether the language is a programming language.
func IsProgramming(language string) bool {
	return data.LanguagesType[language] == int(data.TypeProgramming)
}

// IsMarkup reports whether the language is a markup language, such as HTML.
func IsMarkup(language string) bool {
	return data.LanguagesType[language] == int(data.TypeMarkup)
}

// IsProse reports whether people write prose in the language.
func IsProse(language string) bool {
	return data.LanguagesType[language] == int(data.TypeProse)
}

// IsGenerated reports whether a tool generated the file, by its path and text. The text may be nil.
func IsGenerated(file string, text []byte) bool {
	ext := strings.ToLower(path.Ext(file))
	if _, ok := data.GeneratedCodeExtensions[ext]; ok {
		return true
	}
	for _, matches := range data.GeneratedCodeNameMatchers {
		if matches(file) {
			return true
		}
	}
	file = strings.ToLower(file)
	return slices.ContainsFunc(data.GeneratedCodeMatchers, func(matches data.GeneratedCodeMatcher) bool { return matches(file, ext, text) })
}

// IsVendor reports whether the file is a copy of other people's work.
func IsVendor(file string) bool { return vendored().match(file) }

// IsTest reports whether the file has the name of a test.
func IsTest(file string) bool { return tests().match(file) }

// IsDocumentation reports whether the file has the name of documentation.
func IsDocumentation(file string) bool { return documentation().match(file) }

var (
	vendored      = sync.OnceValue(func() *patterns { return newPatterns(data.VendorMatchers) })
	tests         = sync.OnceValue(func() *patterns { return newPatterns(data.TestMatchers) })
	documentation = sync.OnceValue(func() *patterns { return newPatterns(data.DocumentationMatchers) })
)

// patterns are expressions, any of which may match. Only those are tried whose literal the path
// contains: there are some 200, and a large change has thousands of paths.
type patterns struct {
	all      []*regexp.Regexp
	always   []int // patterns without a literal
	literals *literals.Matcher
	of       []int // by literal, the pattern that needs it
}

func newPatterns(all []*regexp.Regexp) *patterns {
	p := &patterns{all: all}
	var words []string
	for i, re := range all {
		required := literals.Required(re.String())
		if required == nil {
			p.always = append(p.always, i)
		}
		for _, w := range required {
			words, p.of = append(words, w), append(p.of, i)
		}
	}
	p.literals = literals.NewMatcher(words)
	return p
}

func (p *patterns) match(file string) bool {
	if strings.ContainsAny(file, literals.Folds[0]+literals.Folds[1]) {
		return slices.ContainsFunc(p.all, func(re *regexp.Regexp) bool { return re.MatchString(file) })
	}
	try := p.always
	p.literals.Find(file, func(ids []int, _ int) {
		for _, id := range ids {
			try = append(slices.Clip(try), p.of[id])
		}
	})
	return slices.ContainsFunc(try, func(i int) bool { return p.all[i].MatchString(file) })
}
