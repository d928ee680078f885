package aggregate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/spelling"
)

// applyComment suppresses a finding that a comment in the code asks to ignore:
//
//	reviewgate:ignore RULE[,RULE][:] reason
//
// The comment is on the first of the finding's lines, or alone on the line above. Ignored findings
// are counted and shown with the reason. A comment that the change adds, or moves beside other
// code, counts only once a person accepts it. A finding that a comment may not ignore stays, and
// its reasons say why.
func (s *suppressor) applyComment(f *item) bool {
	m := s.ignoring(f)
	if m == nil {
		if m = s.misspelling(f); m != nil {
			f.addReasonOf(pipeline.ReasonNotIgnored, fmt.Sprintf("the comment on line %d misspells the rule, which is %s", m.line, f.RuleID))
		} else if line := s.nearMiss(f); line > 0 {
			f.addReasonOf(pipeline.ReasonNotIgnored, fmt.Sprintf("the comment on line %d must read %s %s, and then a reason", line, ignoreWord, f.RuleID))
		}
		return false
	}
	if why := s.notIgnored(f, m); why != "" {
		f.addReasonOf(pipeline.ReasonNotIgnored, why)
		return false
	}
	if kind := s.waits(f, m); kind != "" {
		f.addReasonOf(kind, m.reason)
		return false
	}
	f.addReason(s.ignoredBy(f, m))
	f.suppress(s.report, pipeline.StateSuppressed, "inline: "+m.reason)
	return true
}

// notIgnored is why the comment does not count, or "".
func (s *suppressor) notIgnored(f *item, m *marker) string {
	mode := s.in.Config.Settings.Synthesis.InlineIgnore
	switch {
	case f.proof.Accepted:
		return "a person accepted the finding"
	case mode == config.IgnoreNone:
		return "the config allows no inline comments"
	case s.in.secrets[f.Agent]:
		return "an inline comment can't ignore a secret"
	case s.in.final(f):
		return "an inline comment can't ignore what a final rule finds"
	case f.Severity == pipeline.SeverityCritical && mode != config.IgnoreAll:
		return "an inline comment can't ignore a critical finding"
	case m.quoted:
		return fmt.Sprintf("the comment on line %d stands inside quotes", m.line)
	case m.reason == "":
		return fmt.Sprintf("the comment on line %d gives no reason", m.line)
	case s.inBase(f, m):
		return ""
	case mode == config.IgnoreBaseOnly && m.old:
		return "the line that this ignore comment is about has changed, and the config allows only what stood in the base"
	case mode == config.IgnoreBaseOnly:
		return "the config allows no inline comments that a change adds"
	}
	return ""
}

// waits returns the kind of reason for a comment that counts only once a person accepts it, or "".
func (s *suppressor) waits(f *item, m *marker) pipeline.ReasonKind {
	a := s.accepted[accepted{f.ID, m.reason}]
	switch {
	case s.inBase(f, m), a.By != "" && !f.changed(a.Surroundings):
		return ""
	case m.old:
		return pipeline.ReasonIgnoreChanged
	}
	return pipeline.ReasonIgnoreWaits
}

// ignoredBy says which comment ignores a finding. If the change brought the comment there, it also
// says who accepted it.
func (s *suppressor) ignoredBy(f *item, m *marker) string {
	text := fmt.Sprintf("ignored by the comment on line %d", m.line)
	if s.inBase(f, m) {
		return text
	}
	return text + ", which " + s.accepted[accepted{f.ID, m.reason}].By + " accepted"
}

// inBase reports whether the base has the comment about this same code. The comment stops counting
// once a line of the finding or another line of its statement changes, or the change removes
// something between the comment and the finding, since it was written about other code. Indentation
// without meaning may change. Lines that the diff does not show, and files that the base did not have,
// don't count.
func (s *suppressor) inBase(f *item, m *marker) bool {
	file := s.in.files[f.Path]
	if file.Status != pipeline.FileModified && file.Status != pipeline.FileRenamed {
		return false
	}
	lines := s.in.lines.of(f.Path)
	for n := min(m.line, f.StartLine); n <= max(f.StartLine, f.EndLine); n++ {
		l, shown := lines[n]
		if !shown || l.added || l.cut && n > m.line || n >= f.StartLine && s.in.lines.isRewritten(f.Path, l) {
			return false
		}
	}
	return true
}

// ignoring is the comment that names the finding's rule, or nil.
func (s *suppressor) ignoring(f *item) *marker {
	return s.comment(f, func(m *marker) bool {
		return slices.ContainsFunc(m.rules, func(id string) bool { return strings.EqualFold(id, f.RuleID) })
	})
}

// nearWord matches misspellings of ignoreWord.
var nearWord = regexp.MustCompile(`(?i)reviewgate[ \t]*:?[ \t]*ignore`)

// nearMiss is the line of a comment that should ignore the finding but has the wrong form or names
// no rule, or 0.
func (s *suppressor) nearMiss(f *item) int {
	noRule := func(m *marker) bool {
		return !slices.ContainsFunc(m.rules, func(id string) bool { return s.in.Rules[id] != nil || strings.ContainsAny(id, "-_/.0123456789") })
	}
	if m := s.comment(f, noRule); m != nil {
		return m.line
	}
	if f.RuleID == "" || f.Path == "" || f.StartLine == 0 {
		return 0
	}
	const longest = 2000 // nobody writes a comment on a line of more bytes
	for _, n := range []int{f.StartLine, f.StartLine - 1} {
		l := s.in.lines.of(f.Path)[n]
		at := nearWord.FindStringIndex(l.text[:min(longest, len(l.text))])
		if at == nil || l.marker != nil {
			continue
		}
		start, ok := commentStartIn(l.text, at[0])
		if ok && (n == f.StartLine || aloneBefore(l.text[:start])) {
			return n
		}
	}
	return 0
}

// misspelling is the comment that probably means the finding's rule but names one that does not
// exist, or nil.
func (s *suppressor) misspelling(f *item) *marker {
	const slips = 2
	return s.comment(f, func(m *marker) bool {
		return slices.ContainsFunc(m.rules, func(id string) bool {
			return len(id) > slips && s.in.Rules[id] == nil && spelling.Nearest(id, []string{f.RuleID}, slips) != ""
		})
	})
}

// comment is the first comment about a finding's place for which wanted returns true, or nil. A
// comment on the line itself goes first.
func (s *suppressor) comment(f *item, wanted func(*marker) bool) *marker {
	if f.RuleID == "" || f.Path == "" || f.StartLine == 0 {
		return nil
	}
	for _, line := range []int{f.StartLine, f.StartLine - 1} {
		m := s.in.lines.marker(f.Path, line)
		if m != nil && (m.alone || line == f.StartLine) && wanted(m) {
			return m
		}
	}
	return nil
}

// marker is a reviewgate:ignore comment on a line of the head.
type marker struct {
	line   int
	rules  []string
	reason string
	alone  bool // nothing else comes before it on its line
	old    bool // the base has it at this place, whatever the change does to the code
	quoted bool // it is inside quotes that open on its line
	start  int  // the byte offset of the comment in the line
}

const ignoreWord = "reviewgate:ignore"

// The bounds of one comment's content.
const (
	maxIgnoredRules = 20
	maxIgnoreReason = 200 // characters
)

// parseMarker reads the first comment of a line that ignores rules, or returns nil. It tells a
// string from a comment if the string begins on the same line. It can't if the string spans lines.
func parseMarker(l pipeline.Line) *marker {
	blanks, stars := prefix(l.Text)
	for from := 0; ; {
		i := strings.Index(l.Text[from:], ignoreWord)
		if i < 0 {
			return nil
		}
		before, rest := l.Text[:from+i], l.Text[from+i+len(ignoreWord):]
		start, ok := commentStart(before, blanks, stars)
		if ok && (rest == "" || strings.IndexAny(rest, " \t:") == 0) {
			m := &marker{line: l.New, start: start}
			m.alone, m.quoted = aloneBefore(before[:start]), opensQuote(before[:start])
			m.read(strings.TrimPrefix(rest, ":"))
			return m
		}
		from += i + len(ignoreWord)
	}
}

// read reads the rules and the reason.
func (m *marker) read(rest string) {
	for _, end := range []string{"*/", "-->"} {
		rest, _, _ = strings.Cut(rest, end)
	}
	m.rules, rest = ignoredRules(rest)
	m.reason = shortened(rest)
}

// prefix returns the length of the spaces at the start of a line, and the end of the slashes and
// stars after them.
func prefix(text string) (blanks, stars int) {
	blanks = len(text) - len(strings.TrimLeft(text, " \t"))
	return blanks, len(text) - len(strings.TrimLeft(text[blanks:], "/*"))
}

// commentStartIn is commentStart for a position in a line.
func commentStartIn(text string, at int) (int, bool) {
	blanks, stars := prefix(text)
	return commentStart(text[:at], blanks, stars)
}

// commentStart finds the comment that begins right before the end of the text. A mark that begins a
// comment in one language is code in another, but no code has one of these marks before ignoreWord.
// A * counts only inside a comment of several lines, at the start of its line: after the spaces,
// and among the slashes and stars that follow, which end at stars.
func commentStart(s string, blanks, stars int) (int, bool) {
	s = strings.TrimRight(s, " \t")
	for _, opener := range []string{"<!--", "/*", "//", "--", "#", ";", "%"} {
		if strings.HasSuffix(s, opener) {
			return len(strings.TrimRight(s, opener)), true
		}
	}
	return blanks, len(s) <= stars && strings.HasSuffix(s, "*")
}

// aloneBefore reports whether the text before a comment is only white space, or the brace with
// which JSX embeds a comment.
func aloneBefore(s string) bool { return strings.Trim(s, " \t{") == "" }

// opensQuote reports whether a quote is open at the end of the text.
func opensQuote(s string) bool {
	open := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case open == 0 && (c == '"' || c == '\'' || c == '`'):
			open = c
		case c == open:
			open = 0
		}
	}
	return open != 0
}

// ignoredRules reads rule ids separated by commas, and returns what follows.
func ignoredRules(s string) (rules []string, rest string) {
	for len(rules) < maxIgnoredRules {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		word := s
		if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
			word = s[:i]
		}
		s = s[len(word):]
		for id := range strings.SplitSeq(word, ",") {
			if id = strings.TrimSuffix(id, ":"); id != "" && len(rules) < maxIgnoredRules {
				rules = append(rules, id)
			}
		}
		if next := strings.TrimSpace(s); !strings.HasSuffix(word, ",") && !strings.HasPrefix(next, ",") {
			break
		}
	}
	return rules, s
}

// shortened is a text of the change on one line, cut if it is long. It replaces invisible
// characters: removing them could join a secret that they split.
func shortened(s string) string { return plaintext.Cut(plaintext.Printable(s), maxIgnoreReason) }
