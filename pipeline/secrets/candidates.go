package secrets

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// candidate is a stretch of text in which a rule may have a match.
type candidate struct {
	rule     int
	from, to int
}

// maxBefore and maxAfter cut candidates out of very long lines, such as minified code. No rule
// looks back more than 50 characters, and few secrets are longer than a few thousand.
//
// maxCandidate bounds how far candidates may grow together beyond the length of the last one: the
// detector's time grows with the square of the findings in one candidate.
const (
	maxBefore    = 1 << 10
	maxAfter     = 4 << 10
	maxCandidate = 8 << 10
)

// search finds the candidates of one text.
type search struct {
	detector *Detector
	text     string
	open     []candidate // by rule; one with to > 0 may still grow
	found    []candidate
	keyLines []keyLine
}

// search returns where rules may match in the text, or nil if they can't.
func (d *Detector) search(text string) *search {
	var s *search
	begin := func() {
		if s == nil {
			s = &search{detector: d, text: text, open: make([]candidate, len(d.rules))}
		}
	}
	d.matcher.Find(text, func(ids []int, end int) {
		for _, id := range ids {
			l := &d.literals[id]
			for _, r := range l.rules {
				if hit := d.rules[r].hit; hit == nil || hit(text, end) {
					begin()
					s.hit(r, end-l.length, end)
				}
			}
		}
	})
	for _, fold := range literals.Folds {
		for at := strings.Index(text, fold); at >= 0; at = nextLine(text, fold, at) {
			begin()
			s.addFolded(at)
		}
	}
	if s != nil {
		s.finish()
	}
	return s
}

// finish closes the open candidates.
func (s *search) finish() {
	for _, c := range s.open {
		s.close(c)
	}
}

// nextLine returns the position of the next occurrence of what after the line that contains at.
func nextLine(text, what string, at int) int {
	end := lineEnd(text, at)
	if i := strings.Index(text[end:], what); i >= 0 {
		return end + i
	}
	return -1
}

// addFolded handles a line with a letter that (?i) treats as an ASCII letter. It searches the line
// in its ASCII spelling, and a match may be anywhere in it.
func (s *search) addFolded(at int) {
	line := literals.Unfold(s.text[lineStart(s.text, at):lineEnd(s.text, at)])
	s.detector.matcher.Find(line, func(ids []int, _ int) {
		for _, id := range ids {
			for _, r := range s.detector.literals[id].rules {
				rule := s.detector.rules[r]
				if rule.anywhere {
					s.addAll(r)
					continue
				}
				s.add(r, at-rule.back, at+max(rule.reach, reachBlock))
			}
		}
	})
}

// hit adds the candidate around a literal from start to end.
func (s *search) hit(r, start, end int) {
	rule := s.detector.rules[r]
	switch {
	case rule.anywhere:
		s.addAll(r)
	case rule.id == rulePrivateKey:
		first := begins(s.text, end)
		if !first && !ends(s.text, end) {
			return
		}
		s.keyLines = append(s.keyLines, keyLine{end, first})
		if to := keyEnd(s.text, end); first && to > 0 {
			s.add(r, start, to)
		}
	default:
		s.add(r, start-rule.back, end+rule.reach)
	}
}

// addAll adds the whole text, in pieces of whole lines.
func (s *search) addAll(r int) {
	if s.open[r].to > 0 {
		return
	}
	for from := 0; from < len(s.text); {
		to := lineEnd(s.text, min(len(s.text), from+maxCandidate-maxAfter))
		s.close(s.open[r])
		s.open[r] = candidate{rule: r, from: from, to: to}
		from = to
	}
}

// add widens from and to to whole lines, and joins them to the previous candidate if they touch it
// and it is not too long yet.
func (s *search) add(r, from, to int) {
	from, to = max(0, from), min(len(s.text), to)
	c := &s.open[r]
	if c.from <= from && to < c.to && (c.to == len(s.text) || s.text[c.to-1] == '\n') {
		return
	}
	from, to = lineStart(s.text, from), lineEnd(s.text, to)
	if c.from <= from && to <= c.to {
		return
	}
	if c.to > 0 && from <= c.to && max(to, c.to)-c.from <= maxCandidate+to-from {
		c.from, c.to = min(c.from, from), max(c.to, to)
		return
	}
	s.close(*c)
	*c = candidate{rule: r, from: from, to: to}
}

func (s *search) close(c candidate) {
	if c.to > 0 {
		s.found = append(s.found, c)
	}
}

// lineStart returns the start of the line that contains at, or the offset maxBefore bytes before at
// if that is nearer.
func lineStart(text string, at int) int {
	from := max(0, at-maxBefore)
	return from + strings.LastIndexByte(text[from:at], '\n') + 1
}

// lineEnd returns the offset after the line feed of the line that contains at, or the offset
// maxAfter bytes after at if that is nearer.
func lineEnd(text string, at int) int {
	to := min(len(text), at+maxAfter)
	if i := strings.IndexByte(text[at:to], '\n'); i >= 0 {
		return at + i + 1
	}
	return to
}

// literal is a literal that the matcher searches for, and the rules that need it.
type literal struct {
	length int
	rules  []int
}

// index builds the matcher over the literals of all rules.
func index(rules []*rule) (*literals.Matcher, []literal) {
	var words []string
	var list []literal
	for i, r := range rules {
		for _, w := range r.literals {
			w = strings.ToLower(w)
			at := slices.Index(words, w)
			if at < 0 {
				at = len(words)
				words = append(words, w)
				list = append(list, literal{length: len(w)})
			}
			if !slices.Contains(list[at].rules, i) {
				list[at].rules = append(list[at].rules, i)
			}
		}
	}
	return literals.NewMatcher(words), list
}
