package rules

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
)

// refuted removes the matches of rules for which the change shows a line that speaks against
// them, elsewhere in the file or in another file. It reads the lines only for rules that matched.
func (p *pass) refuted(facts *pipeline.PRFacts) error {
	type place struct {
		rule *rule
		path string // empty for the whole change
	}
	said := map[place]bool{}
	says := func(r *rule, re *lazy.Regexp, path string) bool {
		at := place{r, path}
		if held, known := said[at]; known || re == nil {
			return held
		}
		for i := range facts.Files {
			if f := &facts.Files[i]; (path == "" && !f.Documentation || f.Path == path) && p.shows(f, re, pipeline.LineRemoved) {
				said[at] = true
				return true
			}
		}
		said[at] = false
		return false
	}
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
		return f.path != "" && (says(f.rule, f.rule.notInFile, f.path) || says(f.rule, f.rule.notInChange, ""))
	})
	return p.ctx.Err()
}

// shows reports whether a line of the file matches, as far as the diff shows it. Lines that were
// added or removed, as given, are left out.
func (p *pass) shows(f *pipeline.File, re *lazy.Regexp, without pipeline.LineOp) bool {
	for h := range f.Hunks {
		for i := range f.Hunks[h].Lines {
			l := &f.Hunks[h].Lines[i]
			if p.number++; p.number%1024 == 0 && p.ctx.Err() != nil {
				return false // the caller checks the context
			}
			if l.Op != without && re.Get().MatchString(bounded(l.Text, maxLine)) {
				return true
			}
		}
	}
	return false
}
