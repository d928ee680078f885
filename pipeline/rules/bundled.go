package rules

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// bundled removes the matches in minified bundles that the bundles of the folder held at the base, too: a
// new build repeats the code of libraries. What the change adds to a bundle is a match as anywhere else.
func (p *pass) bundled(facts *pipeline.PRFacts) {
	c := comparison{pass: p, bundles: map[string]bool{}, limited: map[beyond]bool{}, read: map[built]*builds{}, view: newView(p.engine.scopes), left: maxWindowed}
	for i := range facts.Files {
		if f := &facts.Files[i]; f.Bundle {
			c.bundles[f.Path] = true
		}
	}
	if len(c.bundles) == 0 {
		return
	}
	for _, b := range p.beyond {
		c.limited[beyond{rule: b.rule, path: b.path}] = true
	}
	c.before, c.after = map[output][]*pipeline.File{}, map[output][]*pipeline.File{}
	for i := range facts.Files {
		f := &facts.Files[i]
		c.after[outputOf(f.Path)] = append(c.after[outputOf(f.Path)], f)
		// The removed lines of a copied file are still in the original.
		if f.Status != pipeline.FileCopied && normalize.WasBundle(f) {
			at := outputOf(cmp.Or(f.PreviousPath, f.Path))
			c.before[at] = append(c.before[at], f)
		}
	}
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
		return c.compares(&f) && p.ctx.Err() == nil && c.held(&f) // the caller checks the context
	})
}

// comparison compares the bundles of a change with those at its base.
type comparison struct {
	*pass
	bundles       map[string]bool
	limited       map[beyond]bool // rules and files with matches beyond max_per_file
	before, after map[output][]*pipeline.File
	read          map[built]*builds
	view          *view
	left          int // see maxWindowed
}

// compares reports whether a match can be old. Whether a rule found it at the base must depend on nothing
// but its text.
func (c *comparison) compares(f *match) bool {
	r := f.rule
	return c.bundles[f.path] && r.on == config.OnAdded && !r.Final && !r.held && f.code == "" && f.from == "" &&
		r.when == nil && r.notInFile == nil && r.notInChange == nil && len(r.Match.NotBefore) == 0 && len(r.SeverityIn) == 0 &&
		!strings.Contains(r.Category, "secret") && !c.limited[beyond{rule: r, path: f.path}]
}

// held reports whether the bundles held at the base what the rule matches.
func (c *comparison) held(f *match) bool {
	of := built{f.rule, outputOf(f.path)}
	b := c.read[of]
	if b == nil {
		b = &builds{before: c.countBefore(of), after: c.countAfter(of)}
		c.read[of] = b
	}
	if b.before == nil || b.after == nil {
		return false
	}
	texts, ok := f.rule.windows(f.text, &c.left, nil)
	if len(texts) == 0 {
		return ok && c.matchedBefore(of, b)
	}
	return ok && !slices.ContainsFunc(texts, func(text string) bool { return b.before[text] == 0 || b.after[text] > b.before[text] })
}

// output is a folder of bundles and their ending.
type output struct{ dir, ending string }

func outputOf(file string) output { return output{path.Dir(file), path.Ext(file)} }

// built are the bundles of a folder in one language, as a rule sees them.
type built struct {
	rule *rule
	output
}

// builds count what a rule matches in these bundles before and after the change.
type builds struct {
	before, after map[string]int
	asked, far    bool // whether matchedBefore was asked, and its answer
}

// countBefore counts what the rule found in the removed lines of the bundles. It returns nil if they are
// too long.
func (c *comparison) countBefore(of built) map[string]int {
	all := map[string]int{}
	for _, f := range c.seenBefore(of) {
		for h := range f.Hunks {
			lines, ok := c.found(of.rule, f, &f.Hunks[h])
			if !ok {
				return nil
			}
			text := strings.Join(lines, "\n")
			texts, ok := of.rule.windows(text, &c.left, func(start, end int) bool { return of.rule.mayExcuse(text, start, end, f.Language) })
			if !ok {
				return nil
			}
			for _, t := range texts {
				all[t]++
			}
		}
	}
	return all
}

// countAfter counts what the rule matches in the added lines of the folder. It returns nil if they are too
// long.
func (c *comparison) countAfter(of built) map[string]int {
	all := map[string]int{}
	for _, f := range c.after[of.output] {
		for h := range f.Hunks {
			texts, ok := of.rule.windows(addedTo(&f.Hunks[h]), &c.left, nil)
			if !ok || c.ctx.Err() != nil {
				return nil
			}
			for _, t := range texts {
				all[t]++
			}
		}
	}
	return all
}

// seenBefore returns the bundles of the base that the rule looked at.
func (c *comparison) seenBefore(of built) (seen []*pipeline.File) {
	for _, f := range c.before[of.output] {
		was := *f
		was.Path = cmp.Or(f.PreviousPath, f.Path)
		was.ByBase = false // the attributes of the base leave a file out, but not the files that replace it
		if c.view.setFile(&was); c.view.applies(of.rule) && (c.past.ignored == nil || !c.past.ignored(was.Path)) {
			seen = append(seen, f)
		}
	}
	return seen
}

// matchedBefore reports whether the rule found anything in a line of the bundles, however far its ends are
// from each other.
func (c *comparison) matchedBefore(of built, b *builds) bool {
	if b.asked {
		return b.far
	}
	b.asked = true
	for _, f := range c.seenBefore(of) {
		for h := range f.Hunks {
			lines, ok := c.found(of.rule, f, &f.Hunks[h])
			if !ok {
				return false
			}
			if len(lines) > 0 {
				b.far = true
				return true
			}
		}
	}
	return false
}

// found returns the code of the removed lines in which the rule found something. It fails if that takes
// too long.
func (c *comparison) found(r *rule, f *pipeline.File, h *pipeline.Hunk) (lines []string, ok bool) {
	side := newSide(f.Language, h, pipeline.LineRemoved)
	for i := range h.Lines {
		l := &h.Lines[i]
		if l.Op != pipeline.LineRemoved {
			continue
		}
		if c.left -= len(l.Text); c.left < 0 || c.ctx.Err() != nil {
			return nil, false
		}
		code := side.code(r, f.Language, i, l.Text)
		if r.matches(bounded(code, maxLine), f.Language) && !askedBefore(r, h, i) {
			lines = append(lines, code)
		}
	}
	return lines, true
}

// addedTo joins the added lines of a hunk.
func addedTo(h *pipeline.Hunk) string {
	var text strings.Builder
	for i := range h.Lines {
		if l := &h.Lines[i]; l.Op == pipeline.LineAdded {
			text.WriteString(l.Text)
			text.WriteByte('\n')
		}
	}
	return text.String()
}

// mayExcuse reports whether the code near a window may be an exception to the rule. The window was then
// no finding at the base.
func (r *rule) mayExcuse(text string, start, end int, language string) bool {
	return r.not != nil && r.not.Get().MatchString(text[max(0, start-maxWindow):min(len(text), end+maxWindow)]) ||
		r.source != nil && r.excused(text[start:min(len(text), end+maxExcuse)], language)
}

// These bound the search for windows.
const (
	// maxWindowed is how many bytes are matched in a change. Text counts each time it is read.
	maxWindowed = 16 << 20
	// glance is how many bytes of text count as one matched byte if a rule only looks for its literals
	// there, since that is cheap.
	glance = 16
	// maxWindows is how many windows a text may have.
	maxWindows = 1000
	// maxWindow is how many bytes a window may have. Minifiers join statements by commas, so a longer
	// match can begin in one function and end in another.
	maxWindow = 2 << 10
	// maxExcuse is how many bytes behind a window are read for a call that makes it safe.
	maxExcuse = 256
)

// shortName matches the names that minifiers give to variables. Each build gives others.
var shortName = regexp.MustCompile(`(^|[^\w$.])[A-Za-z_$][\w$]{0,2}\b`)

// windows returns the shortest stretches of a text that the rule matches, without white space and with the
// same name for all short names. The code between two of them can't change what they are, and code that is
// inserted into one makes another of it. It leaves out those that are excused. It fails if that takes too
// long, or if the rule matches an empty text.
func (r *rule) windows(text string, left *int, excused func(start, end int) bool) (texts []string, ok bool) {
	if *left -= len(text) / glance; *left < 0 {
		return nil, false
	}
	var chunk literals.Text
	done := 0 // where the last window began
	for from := 0; from == 0 || from+maxWindow < len(text); from += maxWindow {
		to := min(len(text), from+2*maxWindow)
		chunk.Set(text[from:to])
		if !r.guard.Holds(&chunk) && !literals.HasFolds(text[from:to]) {
			continue
		}
		for at := max(from, done); ; {
			start, end, found := r.window(text[at:to], left)
			if *left < 0 || len(texts) > maxWindows || found && start == end {
				return nil, false
			}
			if !found {
				break
			}
			start, end = at+start, at+end
			at, done = start+1, start+1
			if excused != nil {
				*left -= 2 * maxWindow
			}
			if *left -= end - start; end-start <= maxWindow && (excused == nil || !excused(start, end)) {
				window := shortName.ReplaceAllString(text[start:end], "${1}_")
				texts = append(texts, strings.Join(strings.Fields(window), ""))
			}
		}
	}
	return texts, true
}

// window finds the stretch that ends first of those that the rule matches and that hold no shorter one.
func (r *rule) window(text string, left *int) (start, end int, ok bool) {
	re := r.pattern.Get()
	matches := func(s string) bool {
		*left -= len(s)
		return *left >= 0 && re.MatchString(s)
	}
	reader := strings.NewReader(text)
	ok = re.MatchReader(reader)
	end = len(text) - reader.Len() // the reader is at most a few bytes ahead of the match
	if *left -= end; !ok {
		return 0, 0, false
	}
	reach := 64
	for reach < end && !matches(text[end-reach:end]) {
		reach *= 2
	}
	start = max(0, end-reach)
	start += sort.Search(end-start, func(n int) bool { return !matches(text[start+n+1 : end]) })
	for end > start && matches(text[start:end-1]) {
		end--
	}
	return start, end, true
}
