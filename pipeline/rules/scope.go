package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linguist"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// scopes decides which rules look at which file. It matches the globs of all rules
// at once.
type scopes struct {
	rules int
	globs int
	set   *glob.Set
	prose []bool // by glob: it matches by an extension of prose
}

// compileScopes compiles the rules' globs, and stores in each rule the indexes of
// its own.
func compileScopes(rules []*rule) (*scopes, error) {
	var patterns []string
	at := map[string]int{}
	indexes := func(r *rule, globs []string) ([]int, error) {
		var out []int
		for _, g := range globs {
			i, ok := at[g]
			if !ok {
				if err := glob.Validate(g); err != nil {
					return nil, fmt.Errorf("compile rule %q: path %q: %w", r.ID, g, err)
				}
				i = len(patterns)
				at[g] = i
				patterns = append(patterns, g)
			}
			out = append(out, i)
		}
		return out, nil
	}
	for _, r := range rules {
		var err error
		if r.includes, err = indexes(r, r.Match.Paths); err != nil {
			return nil, err
		}
		if r.excludes, err = indexes(r, r.Match.ExcludePaths); err != nil {
			return nil, err
		}
	}
	set, err := glob.Compile(patterns)
	if err != nil {
		return nil, fmt.Errorf("compile the rules' paths: %w", err)
	}
	s := &scopes{rules: len(rules), globs: len(patterns), set: set}
	for _, p := range patterns {
		s.prose = append(s.prose, ofProse(p))
	}
	return s, nil
}

var extensions = regexp.MustCompile(`^(?:\*\*/)?\*\.(\w+|\{[\w,]+\})$`)

// ofProse reports whether a glob matches every file with an extension of prose.
func ofProse(pattern string) bool {
	m := extensions.FindStringSubmatch(pattern)
	return m != nil && slices.ContainsFunc(strings.Split(strings.Trim(m[1], "{}"), ","), func(ext string) bool {
		return slices.ContainsFunc(linguist.LanguagesByExtension("a."+ext), linguist.IsProse)
	})
}

// view answers questions about scopes for one file at a time. A config may have
// thousands of rules, of which ten concern the text of a file, so each answer is
// computed when it is first needed.
type view struct {
	scopes      *scopes
	file        *pipeline.File
	globs       []int // that match the file
	anyLanguage bool  // the file may be a script in any language
	key         []byte
	number      int
	// By glob and by rule, the number of the last file that the glob matched or
	// that the rule looked at. no holds the same for rules that did not.
	matched []int
	yes, no []int
}

func newView(s *scopes) *view {
	return &view{scopes: s, matched: make([]int, s.globs), yes: make([]int, s.rules), no: make([]int, s.rules)}
}

// setFile makes the view answer for another file.
func (v *view) setFile(f *pipeline.File) {
	v.file = f
	v.number++
	v.anyLanguage = mayBeAny(f)
	v.globs = v.scopes.set.Match(f.Path)
	for _, g := range v.globs {
		v.matched[g] = v.number
	}
}

// applies reports whether the rule looks at the file.
func (v *view) applies(r *rule) bool {
	switch v.number {
	case v.yes[r.index]:
		return true
	case v.no[r.index]:
		return false
	}
	matches := func(g int) bool { return v.matched[g] == v.number }
	// A file that may be a script is not prose, whatever its name is.
	excluded := func(g int) bool { return matches(g) && !(v.anyLanguage && r.serious() && v.scopes.prose[g]) }
	if r.looksAt(v) &&
		(len(r.includes) == 0 || slices.ContainsFunc(r.includes, matches)) &&
		!slices.ContainsFunc(r.excludes, excluded) {
		v.yes[r.index] = v.number
		return true
	}
	v.no[r.index] = v.number
	return false
}

// language is the language in which the rule reads the file. It is the file's own
// language, or empty if the rule looks at the file only because it may be a script
// in any language: comments in the file's language need not be comments in the
// rule's.
func (v *view) language(r *rule) string {
	if v.anyLanguage && !r.readsLanguage(v.file.Language) {
		return ""
	}
	return v.file.Language
}

// looksAt reports whether the rule looks at files like this one, wherever they are.
func (r *rule) looksAt(v *view) bool {
	return !r.skips(v.file) &&
		(r.tests || !v.file.Test) &&
		(r.serious() && v.anyLanguage || r.readsLanguage(v.file.Language))
}

// readsLanguage reports whether the rule is for files in the language.
func (r *rule) readsLanguage(language string) bool {
	return len(r.Match.Languages) == 0 || slices.ContainsFunc(r.Match.Languages, func(l string) bool {
		return strings.EqualFold(l, language)
	})
}

// mayBeAny reports whether the file may be a script in any language.
func mayBeAny(f *pipeline.File) bool { return mayBeAnyScript(f) || normalize.Ambiguous(f) }

// mayBeAnyScript reports whether neither the file's name nor a line of the change
// tells its language. The file may then be a script in any language.
func mayBeAnyScript(f *pipeline.File) bool {
	return f.Language == "" && !f.Documentation && path.Ext(f.Path) == ""
}

// skips reports whether the rule ignores the file's lines because the file is
// generated or vendored. If only its path says so, rules of major and critical
// severity look anyway, because the author of the pull request chooses the path. If the
// base says so, only rules about secrets look. Final rules always look, and rules of held
// agents as if only the path said so: the repository writes what the base says, and the
// layer that made them final need not trust it.
func (r *rule) skips(f *pipeline.File) bool {
	switch {
	case r.on == config.OnFile || r.on == config.OnPath || r.Final:
		return false
	case f.ByBase && !r.held:
		return !strings.Contains(r.Category, "secret")
	}
	return (f.GeneratedByPath || f.Vendored) && !r.serious()
}
