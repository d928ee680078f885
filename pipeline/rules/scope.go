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

// scopes decides which rules look at which file. The globs of all rules are
// matched at once.
type scopes struct {
	rules int
	globs int
	set   *glob.Set
	prose []bool // by glob: it is for extensions of prose
}

// compileScopes compiles the rules' globs and notes on each rule which are
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

// ofProse reports whether a glob is for files with the extension of prose, wherever they are.
func ofProse(pattern string) bool {
	m := extensions.FindStringSubmatch(pattern)
	return m != nil && slices.ContainsFunc(strings.Split(strings.Trim(m[1], "{}"), ","), func(ext string) bool {
		return slices.ContainsFunc(linguist.LanguagesByExtension("a."+ext), linguist.IsProse)
	})
}

// view is what of the scopes is known for one file at a time. A config may
// have thousands of rules of which a file's text concerns ten, so that each is
// asked when it is needed first.
type view struct {
	scopes *scopes
	file   *pipeline.File
	globs  []int // that match the file
	any    bool  // the file may be a script in any language
	key    []byte
	number int
	// By glob and by rule, the number of the file that it was last found to
	// match or looked into. No is the same where the answer was no.
	matched []int
	yes, no []int
}

func newView(s *scopes) *view {
	return &view{scopes: s, matched: make([]int, s.globs), yes: make([]int, s.rules), no: make([]int, s.rules)}
}

// turn turns to another file.
func (v *view) turn(f *pipeline.File) {
	v.file = f
	v.number++
	v.any = nameless(f) || normalize.Doubtful(f)
	v.globs = v.scopes.set.Match(f.Path)
	for _, g := range v.globs {
		v.matched[g] = v.number
	}
}

// has says whether the rule looks at the file.
func (v *view) has(r *rule) bool {
	switch v.number {
	case v.yes[r.index]:
		return true
	case v.no[r.index]:
		return false
	}
	matches := func(g int) bool { return v.matched[g] == v.number }
	// A file that may be a script is not prose, whatever its name.
	excluded := func(g int) bool { return matches(g) && !(v.any && r.serious() && v.scopes.prose[g]) }
	if r.looksAt(v) &&
		(len(r.includes) == 0 || slices.ContainsFunc(r.includes, matches)) &&
		!slices.ContainsFunc(r.excludes, excluded) {
		v.yes[r.index] = v.number
		return true
	}
	v.no[r.index] = v.number
	return false
}

// language is the language in which the rule reads the file: the file's own, or none if the
// rule looks at it only because it may be a script in any language. What is a comment in
// the language of the first line need not be one in the rule's.
func (v *view) language(r *rule) string {
	if v.any && !r.speaks(v.file.Language) {
		return ""
	}
	return v.file.Language
}

// looksAt says whether the rule looks at such files, wherever they are.
func (r *rule) looksAt(v *view) bool {
	return !r.passesOver(v.file) &&
		(r.tests || !v.file.Test) &&
		(r.serious() && v.any || r.speaks(v.file.Language))
}

// speaks reports whether the rule is for files in the language.
func (r *rule) speaks(language string) bool {
	return len(r.Match.Languages) == 0 || slices.ContainsFunc(r.Match.Languages, func(l string) bool {
		return strings.EqualFold(l, language)
	})
}

// nameless reports whether neither the name of the file nor a line of the change says
// which language it is in: a script, for all anyone knows, in any.
func nameless(f *pipeline.File) bool {
	return f.Language == "" && !f.Documentation && path.Ext(f.Path) == ""
}

// passesOver says whether the rule leaves the file's lines alone because they
// are nobody's own work. Whoever opens the pull request chose the path, and the
// repository writes the attributes, so rules of major and critical findings look all
// the same, and so do final ones.
func (r *rule) passesOver(f *pipeline.File) bool {
	onPath := r.on == config.OnFile || r.on == config.OnPath
	return !onPath && (f.GeneratedByPath || f.Vendored) && !r.serious() && !r.Final
}
