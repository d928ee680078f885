package rules

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// Bounds of a statement that goes over several lines: lines of code, all lines,
// and bytes.
const (
	maxStatementLines = 10
	maxStatementAll   = 60
	maxStatement      = 4 << 10
)

// statement is code that goes over several lines, as one line without comments. It
// stands in the hunk's lines start to last, and first is the first added one.
type statement struct {
	text               string
	start, first, last int
	closes             bool // a line after the first holds the mark that ends a block comment
}

// statements returns those on a hunk's new side that go over several lines, with an added
// one among them. A statement beyond the bounds is taken in overlapping pieces. The shapes
// are those of the hunk's lines.
func statements(language string, h *pipeline.Hunk, shapes []shape) []statement {
	var out []statement
	y := layout{colon: !colonEnds[language], tags: tagged[language]}
	for i := 0; i < len(h.Lines); {
		if l := &h.Lines[i]; l.Op == pipeline.LineRemoved || y.alone(l.Text, shapes[i]) && !continued(h, i) {
			i++
			continue
		}
		s, next := y.statementAt(language, h, shapes, i, false)
		if s.first >= 0 && s.last > i {
			out = append(out, s)
		}
		if s.closes {
			// The mark may end a comment, or be a part of the code: in a string, say.
			without, other := y.statementAt(language, h, shapes, i, true)
			if without.first >= 0 && without.last > i && without.text != s.text {
				out = append(out, without)
			}
			next = min(next, other)
		}
		i = next
	}
	return out
}

// readings returns the forms of a statement that mean the same.
func readings(text string) []string {
	if !unusual(text) {
		return []string{text}
	}
	out := []string{dotted(text)}
	if simple := simplified(spelt(text)); simple != text {
		out = append(out, dotted(simple))
	}
	return out
}

// layout is what a language says about where statements end.
type layout struct {
	colon bool // a statement goes on after a colon
	tags  bool // a statement goes on within a tag
}

// colonEnds are languages in which a line that ends in a colon begins a block.
var colonEnds = map[string]bool{"Python": true, "YAML": true, "Makefile": true}

// tagged are languages with tags.
var tagged = map[string]bool{
	"HTML": true, "XML": true, "Vue": true, "Svelte": true, "Astro": true, "JavaScript": true, "TSX": true, "PHP": true,
	"HTML+ERB": true, "EJS": true, "Handlebars": true, "Blade": true, "Jinja": true, "Twig": true,
}

// continued reports whether the line after one may go on with its statement.
func continued(h *pipeline.Hunk, i int) bool {
	if i+1 == len(h.Lines) {
		return false
	}
	next := &h.Lines[i+1]
	return next.Op == pipeline.LineRemoved || continues(next.Text[blanks(next.Text, 0):])
}

// alone reports whether a line is a statement of its own, unless the next says
// otherwise.
func (y layout) alone(text string, s shape) bool {
	end := trimmed(text, len(text))
	if end == 0 {
		return true
	}
	if c := text[end-1]; c == '\\' || y.goesOn(text[:end]) {
		return false
	}
	start := blanks(text, 0)
	if c := text[start]; c == '#' || c == '*' || c == '/' && at(text, start+1) == '/' {
		return true
	}
	if s&shapeOpen != 0 && strings.Count(text, "(") > strings.Count(text, ")") || s&shapeBracket != 0 && opened(text) > 0 || y.tags && s&shapeTag != 0 && inTag(text) {
		return false
	}
	if s&commentShape == 0 {
		return true
	}
	// A comment may hide how the line ends.
	for _, mark := range []string{"//", "/*", "#", "--", "<!"} {
		if i := strings.Index(text, mark); i > start && i < end {
			if code := text[:trimmed(text, i)]; y.goesOn(code) || opened(code) > 0 || y.tags && inTag(code) {
				return false
			}
		}
	}
	return true
}

// opened is how many parentheses and brackets a text opens and does not close.
func opened(text string) int {
	return strings.Count(text, "(") - strings.Count(text, ")") + strings.Count(text, "[") - strings.Count(text, "]")
}

// inTag reports whether a text ends within a tag.
func inTag(text string) bool {
	i := strings.LastIndexByte(text, '<')
	return i >= 0 && i+1 < len(text) && text[i+1]|0x20 >= 'a' && text[i+1]|0x20 <= 'z' && strings.IndexByte(text[i:], '>') < 0
}

// trimmed is where the text up to a place ends without the blanks at its end.
func trimmed(text string, end int) int {
	for end > 0 && (isBlank(text[end-1]) || text[end-1] == '\r') {
		end--
	}
	return end
}

// squeezed is a line of code without what makes it long and means nothing: each stretch
// of blanks is one blank. A line that is not too long stays as it is.
func squeezed(text string) string {
	if len(text) <= maxStatement {
		return text
	}
	return strings.Join(strings.Fields(bounded(text, maxLine)), " ")
}

// statementAt reads the statement that starts with line i, and says where the
// next may start. If block is set it leaves out what may be the rest of a block comment
// that began in a line before.
func (y layout) statementAt(language string, h *pipeline.Hunk, shapes []shape, i int, block bool) (s statement, next int) {
	s = statement{start: i, first: -1, last: i}
	var text strings.Builder
	all, lines, depth, middle := 0, 0, 0, 0
	more, glued, open := true, false, false
	for j := i; j < len(h.Lines) && all < maxStatementAll; j++ {
		l := &h.Lines[j]
		if l.Op == pipeline.LineRemoved {
			continue
		}
		all++
		code := squeezed(l.Text)
		switch {
		case block && (lines > 0 || shapes[j]&anyCommentShape != 0):
			code, open = comments.Behind(language, code, open)
		case shapes[j]&anyCommentShape != 0:
			code = comments.Bare(language, code)
		}
		s.closes = s.closes || lines > 0 && comments.Closes(language, l.Text)
		if code = strings.TrimSpace(code); len(code) > maxStatement {
			code = ""
		}
		switch {
		case code == "" && lines == 0:
			return s, j + 1
		case code == "":
			continue
		case !more && !continues(code):
			return s.with(&text), j
		case lines == maxStatementLines || text.Len()+len(code) > maxStatement:
			return s.with(&text), max(middle, i+1)
		}
		if lines++; lines == maxStatementLines-3 {
			middle = j
		}
		if lines == 2 {
			text.Grow(256) // most go on in one piece of memory
		}
		s.last = j
		whole, code := code, strings.TrimSuffix(code, `\`)
		if glued && !isBlank(at(l.Text, 0)) {
			text.WriteString(code)
		} else {
			join(&text, code)
		}
		glued = whole != code && strings.TrimSpace(code) == code
		if l.Op == pipeline.LineAdded && s.first < 0 {
			s.first = j
		}
		if ends(code) && strings.Count(text.String(), "`")%2 == 0 {
			break
		}
		depth = max(0, depth+opened(code))
		more = depth > 0 || y.goesOn(code) || strings.HasSuffix(strings.TrimSpace(l.Text), `\`) || y.tags && inTag(text.String())
	}
	return s.with(&text), s.last + 1
}

func (s statement) with(text *strings.Builder) statement {
	s.text = text.String()
	return s
}

// before is the statement without the lines that are added.
func (s *statement) before(language string, h *pipeline.Hunk) string {
	var text strings.Builder
	for i := s.start; i <= s.last; i++ {
		if l := &h.Lines[i]; l.Op == pipeline.LineContext {
			if code := strings.TrimSpace(comments.Bare(language, squeezed(l.Text))); len(code) <= maxStatement {
				join(&text, strings.TrimSuffix(code, `\`))
			}
		}
	}
	return text.String()
}

// stood reports whether the rule matches the statement without the added lines too.
func (s *statement) stood(r *rule, language string, h *pipeline.Hunk) bool {
	return slices.ContainsFunc(readings(s.before(language, h)), func(text string) bool { return r.matches(text, language) })
}

// join adds a line to those before it.
func join(b *strings.Builder, code string) {
	if code == "" {
		return
	}
	if before := b.String(); before != "" && before[len(before)-1] != '(' && code[0] != ')' {
		b.WriteByte(' ')
	}
	b.WriteString(code)
}

// ends reports whether no statement goes on after the line, whatever is open.
func ends(code string) bool {
	return strings.HasSuffix(code, ";") || strings.HasSuffix(code, ") {") || strings.HasSuffix(code, "=> {")
}

// goesOn reports whether a line's statement goes on in the next.
func (y layout) goesOn(code string) bool {
	if code == "" {
		return false
	}
	switch code[len(code)-1] {
	case '.', '=', '+', '&', '|', '?', '(', '[':
		return true
	case ':':
		return y.colon
	}
	return false
}

// continues reports whether a line goes on with the statement before it.
func continues(code string) bool {
	if code == "" {
		return false
	}
	switch code[0] {
	case '.', '+', '(':
		return true
	case '?':
		return at(code, 1) == '.'
	case '-':
		return at(code, 1) == '>' || isName(at(code, 1)) || at(code, 1) == '-' && isName(at(code, 2)) // an option
	case ':':
		return at(code, 1) == ':' || isBlank(at(code, 1))
	case '=':
		return isBlank(at(code, 1))
	}
	return false
}
