package rules

import (
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// bundled removes the matches in minified bundles that the bundles of the folder held at the base, too: a
// new build repeats the code of libraries. What the change adds to a bundle is a match as anywhere else.
// Final rules and rules of final agents keep their matches.
func (p *pass) bundled(facts *pipeline.PRFacts) {
	bundles := map[string]bool{}
	for i := range facts.Files {
		if f := &facts.Files[i]; f.Bundle {
			bundles[f.Path] = true
		}
	}
	if len(bundles) == 0 {
		return
	}
	left := maxWindowed
	read := map[built]*builds{}
	p.matches = slices.DeleteFunc(p.matches, func(f match) bool {
		if !bundles[f.path] || f.rule.Match == nil || f.rule.on != config.OnAdded || f.rule.Final || f.rule.held || p.ctx.Err() != nil {
			return false // the caller checks the context
		}
		of := built{f.rule, path.Dir(f.path), path.Ext(f.path)}
		b := read[of]
		if b == nil {
			b = &builds{before: of.count(facts, pipeline.LineRemoved, &left), after: of.count(facts, pipeline.LineAdded, &left)}
			read[of] = b
		}
		texts, ok := f.rule.windows(f.text, &left)
		return ok && b.before != nil && b.after != nil &&
			!slices.ContainsFunc(texts, func(text string) bool { return b.before[text] == 0 || b.after[text] > b.before[text] })
	})
}

// built are the bundles of a folder in one language, as a rule sees them.
type built struct {
	rule        *rule
	dir, ending string
}

// builds count what a rule matches in these bundles before and after the change.
type builds struct{ before, after map[string]int }

// count counts what the rule matches in the changed lines of one kind. It returns nil if they are too long.
func (b built) count(facts *pipeline.PRFacts, op pipeline.LineOp, left *int) map[string]int {
	all := map[string]int{}
	for i := range facts.Files {
		f := &facts.Files[i]
		at := f.Path
		if op == pipeline.LineRemoved && f.PreviousPath != "" {
			at = f.PreviousPath
		}
		if path.Dir(at) != b.dir || path.Ext(at) != b.ending {
			continue
		}
		var text strings.Builder
		for h := range f.Hunks {
			for j := range f.Hunks[h].Lines {
				if l := &f.Hunks[h].Lines[j]; l.Op == op {
					text.WriteString(l.Text)
					text.WriteByte('\n')
				}
			}
		}
		texts, ok := b.rule.windows(text.String(), left)
		if !ok {
			return nil
		}
		for _, t := range texts {
			all[t]++
		}
	}
	return all
}

// The bounds of what is searched for windows: how many bytes in a change, counted each time, how many in a
// text, and how long a window is. Minifiers join statements by commas, so a pattern can begin in one function
// and end in another: what needs more code than maxWindow does.
const (
	maxWindowed = 16 << 20
	maxWindows  = 1000
	maxWindow   = 2 << 10
)

// shortName matches the names that minifiers give to variables. Each build gives others.
var shortName = regexp.MustCompile(`(^|[^\w$.])[A-Za-z_$][\w$]{0,2}\b`)

// windows returns the shortest stretches of a text that the rule matches, without white space and with the
// same name for all short names. The code between two of them can't change what they are, and code that is
// inserted into one makes another of it. It fails if that takes too long.
func (r *rule) windows(text string, left *int) (texts []string, ok bool) {
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
			if *left < 0 || len(texts) > maxWindows {
				return nil, false
			}
			if !found {
				break
			}
			start, end = at+start, at+end
			at, done = start+1, start+1
			if end-start <= maxWindow {
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
