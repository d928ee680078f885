package secrets

import (
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	gitleaks "github.com/zricethezav/gitleaks/v8/config"

	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// namePrefix begins gitleaks' expressions for a value assigned to a name that contains a word. With
// it a match can begin at any of fifty positions before the word, so the expression takes some 3 µs
// a byte, several times for each finding.
//
// Some expressions have it twice, the first one case-sensitive.
const (
	namePrefix      = `(?i)[\w.-]{0,50}?`
	namePrefixTwice = `[\w.-]{0,50}?(?i:[\w.-]{0,50}?`
)

// named replaces gitleaks' detector for such a rule, with the same findings. It tries the
// expression only where a word is, and walks back to the start of the name.
type named struct {
	core    *regexp.Regexp // the expression after the prefix
	twice   bool           // the prefix is namePrefixTwice
	words   *literals.Matcher
	lengths []int     // of the words
	firsts  [256]bool // the possible first bytes of the words
	reach   int       // the largest number of bytes of a word, with letters of three bytes
	may     func(text string, end int) bool
	group   int
	entropy float64
	lists   []*allowList
}

// allowList is one of gitleaks' allow lists in a form that is quick to search.
type allowList struct {
	*gitleaks.Allowlist
	stop         *literals.Filter
	alternatives []alternative // of its expressions
}

// alternative is one alternative of an expression, with the words that a matching text contains.
// Most texts contain none for most alternatives.
type alternative struct {
	*lazy.Regexp
	words []string // in lower case; a match contains one of them. nil if unknown
	guard *literals.Guard
}

func alternatives(re *regexp.Regexp) []alternative {
	all := []string{re.String()}
	if parsed, err := syntax.Parse(all[0], syntax.Perl); err == nil && parsed.Op == syntax.OpAlternate {
		all = all[:0]
		for _, sub := range parsed.Sub {
			all = append(all, sub.String())
		}
	}
	var out []alternative
	for _, text := range all {
		one, err := lazy.Compile(text)
		if err != nil {
			return []alternative{{Regexp: lazy.MustCompile(re.String())}}
		}
		out = append(out, alternative{one, literals.Required(text), literals.Needs(text).Guard})
	}
	return out
}

// newNamed returns nil for a rule of another kind.
func newNamed(expression string, r *gitleaks.Rule, words []string, may func(string, int) bool, global []*allowList) *named {
	rest, ok := strings.CutPrefix(expression, namePrefix)
	source := `(?i)^(?:` + rest + `)`
	rest, twice := strings.CutPrefix(expression, namePrefixTwice)
	if twice {
		source = `^(?i:` + rest
	}
	if !ok && !twice || may == nil || len(r.RequiredRules) > 0 || r.SkipReport {
		return nil
	}
	core, err := regexp.Compile(source)
	if err != nil {
		return nil
	}
	n := &named{core: core, twice: twice, words: literals.NewMatcher(words), may: may, group: r.SecretGroup, entropy: r.Entropy}
	for _, w := range words {
		for _, first := range []string{strings.ToLower(w[:1]), strings.ToUpper(w[:1]), literals.Folds[0], literals.Folds[1]} {
			n.firsts[first[0]] = true
		}
		n.lengths, n.reach = append(n.lengths, len(w)), max(n.reach, 3*len(w))
	}
	n.lists, ok = listsOf(r, global)
	if !ok {
		return nil
	}
	return n
}

// listsOf returns the lists that let findings of a rule pass. ok reports whether they depend on
// findings alone.
func listsOf(r *gitleaks.Rule, global []*allowList) (out []*allowList, ok bool) {
	out = slices.Concat(global, allowLists(r.Allowlists))
	for _, a := range out {
		and := a.MatchCondition == gitleaks.AllowlistMatchAnd
		if len(a.Commits) > 0 || len(a.Paths) > 0 && !and || and && len(a.Regexes)+len(a.StopWords) == 0 {
			return nil, false
		}
	}
	return out, true
}

// allowLists prepares gitleaks' lists.
func allowLists(lists []*gitleaks.Allowlist) []*allowList {
	var out []*allowList
	for _, a := range lists {
		l := &allowList{Allowlist: a, stop: literals.NewFinder(a.StopWords).All()}
		for _, re := range a.Regexes {
			l.alternatives = append(l.alternatives, alternatives(re)...)
		}
		out = append(out, l)
	}
	return out
}

// find returns the secrets in a piece of the text at path, by their offsets in it.
func (n *named) find(piece, path string) []match {
	var out []match
	lines := lineTexts{text: piece, asked: map[lineText]bool{}}
	done := 0
	try := func(at int) {
		if at < done || !n.may(piece, at+1) {
			return
		}
		found := n.core.FindStringIndex(piece[at:])
		if found == nil {
			return
		}
		start := n.nameStart(piece, done, at)
		done = at + found[1]
		if m, ok := n.secret(namedAt{&lines, path, start, done}, at-start); ok {
			m.start, m.from, m.to = m.start+start, m.from+start, m.to+start
			out = append(out, m)
		}
	}
	if literals.HasFolds(piece) {
		for at := range piece {
			if n.begins(piece, at) {
				try(at)
			}
		}
		return out
	}
	for _, at := range n.places(piece) {
		try(at)
	}
	return out
}

// places are the starts of the words, in ascending order.
func (n *named) places(piece string) []int {
	var out []int
	n.words.Find(piece, func(ids []int, end int) {
		for _, id := range ids {
			out = append(out, end-n.lengths[id])
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// begins reports whether a word may begin at an offset in a text with letters beyond ASCII that
// (?i) equates with ASCII letters.
func (n *named) begins(piece string, at int) bool {
	if !n.firsts[piece[at]] {
		return false
	}
	found := false
	n.words.Find(literals.Unfold(piece[at:min(len(piece), at+n.reach)]), func(ids []int, end int) {
		for _, id := range ids {
			found = found || end == n.lengths[id]
		}
	})
	return found
}

// nameStart is the start of the name around a word at an offset: at most fifty characters before
// the word, or twice as many, and not before least.
func (n *named) nameStart(text string, least, at int) int {
	at = nameBefore(text, least, at, true)
	if n.twice {
		at = nameBefore(text, least, at, false)
	}
	return at
}

// nameBefore goes back at most fifty characters of a name. If folded is set, two letters beyond
// ASCII are among them.
func nameBefore(text string, least, at int, folded bool) int {
	for range 50 {
		before := text[least:at]
		switch {
		case before == "":
			return at
		case isNameByte(before[len(before)-1]):
			at--
		case folded && strings.HasSuffix(before, literals.Folds[0]):
			at -= len(literals.Folds[0])
		case folded && strings.HasSuffix(before, literals.Folds[1]):
			at -= len(literals.Folds[1])
		default:
			return at
		}
	}
	return at
}

func isNameByte(c byte) bool { return isWord(c) || c == '.' || c == '-' }

// namedAt is a match of a rule's expression in a text.
type namedAt struct {
	lines    *lineTexts
	path     string
	from, to int
}

// secret returns the secret in a match whose word is at an offset in it, unless gitleaks lets it
// pass.
func (n *named) secret(p namedAt, word int) (match, bool) {
	whole := strings.Trim(p.lines.text[p.from:p.to], "\n")
	p.to = p.from + len(whole)
	value := whole
	groups := n.core.FindStringSubmatch(whole[word:])
	switch {
	case n.group > 0 && n.group < len(groups):
		value = groups[n.group]
	case n.group > 0 && len(groups) >= 2:
		return match{}, false
	case len(groups) >= 2:
		if i := slices.IndexFunc(groups[1:], func(g string) bool { return g != "" }); i >= 0 {
			value = groups[1+i]
		}
	}
	if n.entropy != 0 && entropy(value) <= n.entropy {
		return match{}, false
	}
	for i := range n.lists {
		if n.lists[i].allows(p, whole, value) {
			return match{}, false
		}
	}
	m := match{to: len(whole)}
	if i := strings.LastIndex(whole, value); i >= 0 {
		m.from, m.to = i, i+len(value)
	}
	return m, true
}

// allows reports whether gitleaks' list allows a match with its secret.
func (a *allowList) allows(p namedAt, whole, secret string) bool {
	stopped := false
	a.stop.Find(strings.ToLower(secret), func([]int, int) { stopped = true })
	matches := func() bool {
		switch a.RegexTarget {
		case "match":
			return a.matches(whole)
		case "line":
			return p.lines.ask(a, p.from, p.to)
		}
		return a.matches(secret)
	}
	if a.MatchCondition == gitleaks.AllowlistMatchAnd {
		return (len(a.Paths) == 0 || a.PathAllowed(p.path)) && (len(a.StopWords) == 0 || stopped) && (len(a.Regexes) == 0 || matches())
	}
	return stopped || matches()
}

// matches reports whether one of the list's expressions matches a text.
func (a *allowList) matches(text string) bool {
	if text == "" {
		return false // gitleaks checks no list for it
	}
	folded := strings.Contains(text, literals.Folds[0]) || strings.Contains(text, literals.Folds[1])
	low := strings.ToLower(text)
	var t literals.Text
	t.Set(text)
	for i := range a.alternatives {
		if e := &a.alternatives[i]; (folded || e.may(low, &t)) && e.Get().MatchString(text) {
			return true
		}
	}
	return false
}

// may reports whether a text contains what the alternative needs. low is the text in lower case.
func (e *alternative) may(low string, text *literals.Text) bool {
	holds := func(word string) bool { return strings.Contains(low, word) }
	return (e.words == nil || slices.ContainsFunc(e.words, holds)) && e.guard.Holds(text)
}

// lineTexts are the lines of a text as gitleaks defines them, and the cached answers of its lists
// about them.
type lineTexts struct {
	text  string
	feeds []int // the positions of line feeds; nil until computed
	asked map[lineText]bool
}

// lineText is a line, by its offsets, and a list.
type lineText struct {
	list     *allowList
	from, to int
}

// ask checks a list for the line of a stretch, once for each line.
func (l *lineTexts) ask(a *allowList, from, to int) bool {
	from, to = l.around(from, to)
	k := lineText{a, from, to}
	allowed, known := l.asked[k]
	if !known {
		allowed = a.matches(l.text[from:to])
		l.asked[k] = allowed
	}
	return allowed
}

// around returns the line or lines of a stretch. For a last line without a line feed it returns the
// whole text.
func (l *lineTexts) around(from, to int) (int, int) {
	if l.feeds == nil {
		l.feeds = []int{}
		for i := range len(l.text) {
			if l.text[i] == '\n' {
				l.feeds = append(l.feeds, i)
			}
		}
		if len(l.feeds) == 0 {
			l.feeds = append(l.feeds, len(l.text))
		}
	}
	first, _ := slices.BinarySearch(l.feeds, from+1)
	if first == len(l.feeds) {
		if i := strings.IndexAny(l.text[to:], "\r\n"); i >= 0 {
			return 0, to + i
		}
		return 0, len(l.text)
	}
	start, end := 0, l.feeds[first]
	if first > 0 {
		start = l.feeds[first-1]
	}
	if last, _ := slices.BinarySearch(l.feeds, to); last < len(l.feeds) {
		end = l.feeds[last]
	}
	return start, max(end, to)
}

// entropy is the Shannon entropy of a text's characters per byte, as gitleaks computes it.
func entropy(text string) float64 {
	var counts [256]int
	others := map[rune]int{}
	for _, c := range text {
		if c < 256 {
			counts[c]++
		} else {
			others[c]++
		}
	}
	var sum float64
	add := func(n int) {
		if n > 0 {
			share := float64(n) / float64(len(text))
			sum -= share * math.Log2(share)
		}
	}
	for _, n := range counts {
		add(n)
	}
	for _, n := range others {
		add(n)
	}
	return sum
}
