package rules

import (
	"fmt"
	"path"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// houseStyle is how many places of a rule on style the base has in a directory if that is the
// style of the house there. Then new ones are only for information.
const houseStyle = 5

// maxStyleReads bounds how often a line of the base is read for a rule on style. Reading a file's
// path counts as styleFile lines. Places beyond that are not counted.
const (
	maxStyleReads = 200_000
	styleFile     = 100
)

// countHouseStyle counts for each match of a rule on style how many places the base has in the same
// directory, as far as the change shows it: in unchanged and removed lines.
func (p *pass) countHouseStyle() {
	rules := map[string][]*rule{} // that matched, by directory
	var dirs []string
	for i := range p.matches {
		f := &p.matches[i]
		if !f.rule.style || f.path == "" {
			continue
		}
		dir := path.Dir(f.path)
		if rules[dir] == nil {
			dirs = append(dirs, dir)
		}
		if !slices.Contains(rules[dir], f.rule) {
			rules[dir] = append(rules[dir], f.rule)
		}
	}
	if len(dirs) == 0 {
		return
	}
	files := map[string][]*pipeline.File{}
	for i := range p.past.files {
		f := &p.past.files[i]
		if f.Status == pipeline.FileAdded || f.Status == pipeline.FileCopied || p.past.ignored != nil && p.past.ignored(f.Path) {
			continue
		}
		was := f.Path
		if f.PreviousPath != "" {
			was = f.PreviousPath
		}
		files[path.Dir(was)] = append(files[path.Dir(was)], f)
	}
	c := styleCounter{pass: p, view: newView(p.engine.scopes), left: maxStyleReads}
	counts := map[string]map[*rule]int{}
	for _, dir := range dirs {
		counts[dir] = map[*rule]int{}
		for _, f := range files[dir] {
			c.file(f, rules[dir], counts[dir])
		}
	}
	for i := range p.matches {
		if f := &p.matches[i]; f.rule.style && f.path != "" {
			f.before = counts[path.Dir(f.path)][f.rule]
		}
	}
}

// styleCounter counts the places of rules in the base.
type styleCounter struct {
	*pass
	view *view
	left int // how many lines may still be read
}

func (c *styleCounter) file(f *pipeline.File, rules []*rule, counts map[*rule]int) {
	if c.left -= styleFile; c.left < 0 {
		return
	}
	c.view.setFile(f)
	rules = slices.DeleteFunc(slices.Clone(rules), func(r *rule) bool { return !c.view.applies(r) })
	if len(rules) == 0 {
		return
	}
	for h := range f.Hunks {
		hunk := &f.Hunks[h]
		side := newSide(f.Language, hunk, pipeline.LineRemoved)
		for i := range hunk.Lines {
			if hunk.Lines[i].Op == pipeline.LineAdded {
				continue
			}
			if c.left -= len(rules); c.left < 0 || c.ctx.Err() != nil {
				return
			}
			text := bounded(hunk.Lines[i].Text, maxLine)
			c.text.Set(text)
			c.folded = !isASCII(text) && literals.HasFolds(text)
			for _, r := range rules {
				if language := c.view.language(r); c.mayMatch(r) && r.matches(side.code(r, language, i, text), language) {
					counts[r]++
				}
			}
		}
	}
}

// isHouseStyle reports whether the match is in the style that its directory had before the change.
func (f *match) isHouseStyle() bool { return f.before >= houseStyle }

// houseStyleNote says why such a match is only for information.
func (f *match) houseStyleNote() string {
	return fmt.Sprintf(" The base has this in %d places of the same directory, as far as the diff shows it, so this is only for information.", f.before)
}
