package rules

import (
	"path"
	"regexp"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// bundled removes the matches in minified bundles that the bundles held at the base, too: a new build
// repeats the code of libraries. What the change adds to a bundle is a match as anywhere else. Final rules
// keep their matches.
func (p *pass) bundled(facts *pipeline.PRFacts) {
	files := map[string]*pipeline.File{}
	for i := range facts.Files {
		if f := &facts.Files[i]; f.Bundle {
			files[f.Path] = f
		}
	}
	if len(files) == 0 {
		return
	}
	before := map[built]map[string]int{}
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
		if files[f.path] == nil || f.rule.Match == nil || f.rule.on != config.OnAdded || f.rule.Final || f.otherForm {
			return false
		}
		of := built{f.rule, path.Dir(f.path), path.Ext(f.path)}
		old, known := before[of]
		if !known {
			old = p.inBase(facts, of)
			before[of] = old
		}
		return takeAll(old, f.rule.renamed(f.text))
	})
}

// built are the bundles of a folder in one language, as a rule sees them.
type built struct {
	rule        *rule
	dir, ending string
}

// inBase counts what a rule matches in the lines that the change removes from a folder's files.
func (p *pass) inBase(facts *pipeline.PRFacts, of built) map[string]int {
	old := map[string]int{}
	for i := range facts.Files {
		f := &facts.Files[i]
		at := f.Path
		if f.PreviousPath != "" {
			at = f.PreviousPath
		}
		if path.Dir(at) != of.dir || path.Ext(at) != of.ending {
			continue
		}
		for h := range f.Hunks {
			for j := range f.Hunks[h].Lines {
				if p.ctx.Err() != nil {
					return nil // the caller checks the context
				}
				if l := &f.Hunks[h].Lines[j]; l.Op == pipeline.LineRemoved {
					for _, text := range of.rule.renamed(l.Text) {
						old[text]++
					}
				}
			}
		}
	}
	return old
}

// takeAll takes texts away from those that are left. If one is missing, it takes none and returns false.
func takeAll(left map[string]int, texts []string) bool {
	for i, text := range texts {
		if left[text] == 0 {
			for _, taken := range texts[:i] {
				left[taken]++
			}
			return false
		}
		left[text]--
	}
	return len(texts) > 0
}

// maxRenamed bounds the matches of a rule in a line of a bundle. A line with more is a match.
const maxRenamed = 1000

// shortName matches the names that minifiers give to variables. Each build gives others.
var shortName = regexp.MustCompile(`(^|[^\w$.])[A-Za-z_$][\w$]{0,2}\b`)

// renamed returns what a rule matches in a line, with the same name for all short names.
func (r *rule) renamed(line string) []string {
	line = bounded(line, maxLine)
	matches := r.pattern.Get().FindAllStringIndex(line, maxRenamed+1)
	if len(matches) > maxRenamed {
		return nil
	}
	texts := make([]string, len(matches))
	for i, m := range matches {
		texts[i] = shortName.ReplaceAllString(line[m[0]:m[1]], "${1}_")
	}
	return texts
}
