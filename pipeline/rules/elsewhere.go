package rules

import (
	"regexp"
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
		line string // what the line must match
	}
	said := map[place]bool{}
	says := func(r *rule, re *lazy.Regexp, path string) bool {
		if re == nil {
			return false
		}
		at := place{r, path, re.String()}
		if held, known := said[at]; known {
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
		if f.path == "" {
			return false
		}
		inFile := f.rule.speakingAgainst(f.text)
		all := len(inFile) > 0 && !slices.ContainsFunc(inFile, func(re *lazy.Regexp) bool { return !says(f.rule, re, f.path) })
		return all || says(f.rule, f.rule.notInChange, "")
	})
	return p.ctx.Err()
}

// groupName matches a reference to a group of the rule's pattern.
var groupName = regexp.MustCompile(`\$\{(\w+)\}`)

// speakingAgainst returns what other lines of the file must match so that no match in a line counts: with
// references to groups, one expression for each match. It returns nothing if a group is empty.
func (r *rule) speakingAgainst(line string) []*lazy.Regexp {
	if r.notInFile == nil {
		return nil
	}
	source := r.notInFile.String()
	if !groupName.MatchString(source) {
		return []*lazy.Regexp{r.notInFile}
	}
	line = bounded(line, maxLine)
	matches := r.pattern.Get().FindAllStringSubmatch(line, maxExcused+1)
	if len(matches) > maxExcused {
		return nil
	}
	var all []*lazy.Regexp
	for _, m := range matches {
		whole := true
		one := groupName.ReplaceAllStringFunc(source, func(reference string) string {
			i := r.pattern.Get().SubexpIndex(reference[2 : len(reference)-1])
			if i < 0 || m[i] == "" {
				whole = false
				return ""
			}
			return regexp.QuoteMeta(m[i])
		})
		re, err := lazy.Compile(one)
		if !whole || err != nil {
			return nil
		}
		all = append(all, re)
	}
	return all
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
