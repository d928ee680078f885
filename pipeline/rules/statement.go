package rules

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Bounds of a statement that spans several lines: lines of code, all lines, bytes of a line,
// and bytes of all. The overlap of two pieces fits into one line.
const (
	maxStatementLines = 10
	maxStatementAll   = 60
	maxPiece          = 4 << 10
	maxStatement      = 16 << 10
	overlap           = 4
)

// statement is code that spans several lines, joined into one line without comments. It
// covers the hunk's lines start to last. first is the first added line, or the line after a
// removed one.
type statement struct {
	text               string
	start, first, last int
	closes             bool       // a line after the first holds the mark that ends a block comment
	doubt              bool       // what was left out as a comment may be code
	blocks             []lineSpan // lines within it that are not in the text, in order

	row          bool     // it is a row
	was          string   // of a row: its text without the added lines
	maybeComment bool     // of a row: it may be a comment
	extent       lineSpan // of a row: from the first to the last line of its text, however many they are
}

// reading is a way to read a statement.
type reading int

const (
	bare       reading = iota
	afterBlock         // without what may be the rest of a block comment that began earlier
	whole              // as if there were no comments
)

// statements returns the statements on a hunk's new side that span several lines and have an
// added or a removed line among them. A statement beyond the bounds is split into overlapping
// pieces. The shapes are those of the hunk's lines. Rows come first, since they give a more
// exact position.
func statements(language string, h *pipeline.Hunk, shapes []shape) []statement {
	out := rows(language, h)
	y := layoutOf(language)
	follows := followers{layout: &y, hunk: h, shapes: shapes}
	var within nesting // of the string that contains the line
	last := lastChanged(h)
	for i := 0; i <= last; {
		if l := &h.Lines[i]; l.Op == pipeline.LineRemoved || within.open == 0 && y.alone(l.Text, shapes[i]) && !follows.nextContinues(i) {
			i++
			continue
		}
		s, next, open := y.statementAt(h, shapes, i, bare, within)
		if s.isNew(i) {
			out = append(out, s)
		}
		for _, other := range []struct {
			reading reading
			wanted  bool
		}{{afterBlock, s.closes}, {whole, s.doubt}} {
			if !other.wanted {
				continue
			}
			// The mark may end a comment, or be part of the code, such as in a string.
			o, otherNext, _ := y.statementAt(h, shapes, i, other.reading, within)
			if o.isNew(i) && o.text != s.text {
				out = append(out, o)
			}
			next = min(next, otherNext)
		}
		i, within = next, open
	}
	return out
}

// lastChanged is the last added or removed line of a hunk. A statement that starts after it is
// not new.
func lastChanged(h *pipeline.Hunk) int {
	i := len(h.Lines) - 1
	for i >= 0 && h.Lines[i].Op == pipeline.LineContext {
		i--
	}
	return i
}

// isNew reports whether a statement spans several lines and has changed.
func (s *statement) isNew(start int) bool { return s.first >= 0 && s.last > start }

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

// layout describes where a language's statements end.
type layout struct {
	language   string
	colon      bool   // a statement continues after a colon
	tags       bool   // a statement continues within a tag
	three      bool   // three quotes begin a string
	multi      string // the quotes of strings that may span several lines
	begins     string // those of multi that begin a statement
	plainTicks bool   // a backslash has no meaning between backquotes
	regex      bool   // there are regular expressions between slashes
	index      bool   // a bracket at the start of a line may be an index
	shaky      string // the characters at which strings may begin and end
}

func layoutOf(language string) layout {
	y := layout{language: language, colon: !colonEnds[language], tags: tagged[language], three: language == "" || threeQuotes[language], index: !sections[language], regex: language == "" || comments.HasRegexps(language), shaky: "\"'`"}
	switch language {
	case "Go":
		y.multi, y.begins, y.plainTicks = "`", "`", true
	case "JavaScript", "TypeScript", "TSX", "Vue", "Svelte", "Astro", "HTML", "Groovy", "Gradle", "":
		y.multi, y.begins = "`", "`"
	case "PHP":
		y.multi, y.begins = "\"'", "\"'"
	case "Rust":
		y.multi, y.begins = "\"", "\""
	case "Shell", "SQL", "PLpgSQL", "PLSQL", "TSQL", "Ruby", "Perl":
		y.multi = "\"'"
	}
	if y.regex {
		y.shaky += "/"
	}
	return y
}

// colonEnds are languages in which a line that ends in a colon begins a block.
var colonEnds = map[string]bool{"Python": true, "YAML": true, "Makefile": true}

// threeQuotes are languages in which three quotes begin a string of several lines.
var threeQuotes = map[string]bool{
	"Python": true, "Java": true, "Kotlin": true, "Gradle Kotlin DSL": true, "Scala": true, "Swift": true, "Groovy": true, "Gradle": true, "Dart": true, "C#": true, "TOML": true,
}

// sections are languages in which a line that starts with a bracket begins a section.
var sections = map[string]bool{
	"TOML": true, "INI": true, "NPM Config": true, "Pip Requirements": true, "Git Config": true, "SSH Config": true, "Shell": true, "Dockerfile": true, "Makefile": true, "YAML": true, "C#": true,
}

// tagged are languages with tags.
var tagged = map[string]bool{
	"HTML": true, "XML": true, "Vue": true, "Svelte": true, "Astro": true, "JavaScript": true, "TSX": true, "PHP": true,
	"HTML+ERB": true, "EJS": true, "Handlebars": true, "Blade": true, "Jinja": true, "Twig": true,
}

// followers tells which lines continue the code before them.
type followers struct {
	*layout
	hunk   *pipeline.Hunk
	shapes []shape
	next   int  // the first line of code after the queried lines
	goesOn bool // whether it continues them
}

// nextContinues reports whether the next line of code may continue the statement of line i.
func (f *followers) nextContinues(i int) bool {
	if f.next > i {
		return f.goesOn
	}
	f.goesOn = false
	for f.next = i + 1; f.next < len(f.hunk.Lines); f.next++ {
		l := &f.hunk.Lines[f.next]
		if l.Op == pipeline.LineRemoved {
			continue
		}
		start := blanks(l.Text, 0)
		switch at(l.Text, start) {
		case 0, '\r':
			continue
		case '/', '#', '-', '<', ';', '*':
			if f.shapes[f.next]&anyCommentShape == 0 {
				f.goesOn = f.continues(l.Text[start:])
				return f.goesOn
			}
			if comments.Whole(f.language, l.Text) {
				continue
			}
			code, _ := f.uncommented(l.Text)
			if code = strings.TrimSpace(code); code != "" {
				f.goesOn = f.continues(code)
				return f.goesOn
			}
			// A line that is not a comment may be any code.
			if f.goesOn = f.shapes[f.next]&(shapeOpen|shapeBracket) != 0; f.goesOn {
				return true
			}
			continue
		}
		f.goesOn = f.continues(l.Text[start:])
		return f.goesOn
	}
	return false
}

// alone reports whether a line is a statement of its own, unless the next line continues it.
func (y *layout) alone(text string, s shape) bool {
	end := trimmed(text, len(text))
	if end == 0 {
		return true
	}
	if s&anyCommentShape == 0 || !in("/#-<;", text[blanks(text, 0)]) { // most comments start the line
		return !y.stays(text, end, s) || comments.Whole(y.language, text)
	}
	return comments.Whole(y.language, text) || !y.stays(text, end, s)
}

// stays reports whether a line seems to continue on the next.
func (y *layout) stays(text string, end int, s shape) bool {
	if text[end-1] == '\\' || y.continuesAfter(text[:end]) || s&(shapeOpen|shapeBracket) != 0 && brackets(text, 0) > 0 || y.tags && s&shapeTag != 0 && inTag(text) || y.opens(text, s) {
		return true
	}
	if s&commentShape == 0 {
		return false
	}
	// A comment may hide how the line ends.
	for _, mark := range []string{"//", "/*", "#", "--", "<!"} {
		if i := strings.Index(text, mark); i >= 0 && i < end {
			if code := text[:trimmed(text, i)]; y.continuesAfter(code) || brackets(code, 0) > 0 || y.tags && inTag(code) || y.opens(code, s) {
				return true
			}
		}
	}
	return false
}

// opens reports whether a string or a bracket is open at the end of a line with strings.
func (y *layout) opens(text string, s shape) bool {
	open := s&(shapeOpen|shapeBracket) != 0
	if s&shapeText == 0 && (!y.regex || !open || s&shapeComment == 0 && strings.IndexByte(text, '/') < 0) {
		return false
	}
	if !open && !y.three && (y.begins == "" || !strings.ContainsAny(text, y.begins)) {
		return false
	}
	var n nesting
	n.read(y, text)
	return n.code > 0 || n.wide > 0 || n.open != 0 && (n.three || strings.IndexByte(y.begins, n.open) >= 0)
}

// inTag reports whether a text ends within a tag. Quoted values in it may hold any character.
func inTag(text string) bool {
	in, quote := false, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case !in:
			next := at(text, i+1) | 0x20
			in = c == '<' && next >= 'a' && next <= 'z'
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			in = false
		}
	}
	return in
}

// trimmed is the end of the text up to a position without its trailing spaces.
func trimmed(text string, end int) int {
	for end > 0 && (isBlank(text[end-1]) || text[end-1] == '\r') {
		end--
	}
	return end
}

// squeezed collapses each run of spaces in a line of code to one, if the line is too long.
func squeezed(text string) string {
	if len(text) <= maxPiece {
		return text
	}
	return plaintext.Line(bounded(text, maxLine))
}

// shortened replaces the middle of a line of code that is too long by a space.
func shortened(code string) string {
	if len(code) <= maxPiece {
		return code
	}
	return plaintext.Bytes(code, maxPiece/2-1) + " " + plaintext.LastBytes(code, maxPiece/2)
}

// uncommented removes what may be a comment from a line. It also reports whether that may be
// code.
func (y *layout) uncommented(text string) (code string, doubt bool) {
	code = comments.Bare(y.language, text)
	if code == text {
		return code, false
	}
	i := 0
	for code[i] == text[i] {
		i++
	}
	before := text[:i]
	if strings.TrimSpace(before) == "" {
		return code, !comments.Whole(y.language, text) && strings.TrimSpace(code) == ""
	}
	return code, strings.ContainsAny(before, "\"'`\\/$<") || before[i-1] == ':'
}

// code is the code of a line that follows others, and whether the rest may be code too.
func (y *layout) code(text string, s shape, n *nesting) (code string, doubt bool) {
	switch {
	case n.open != 0:
		m := *n
		end, _ := m.after(y, text, 0)
		rest, doubt := y.uncommented(text[end:])
		return text[:end] + rest, doubt || rest != text[end:]
	case s&anyCommentShape == 0:
		return text, false
	}
	code, doubt = y.uncommented(text)
	return code, doubt || n.doubt && code != text
}

// statementAt reads the statement that starts with line i. It returns where the next may start,
// and the string that is open there.
func (y *layout) statementAt(h *pipeline.Hunk, shapes []shape, i int, as reading, within nesting) (s statement, next int, open nesting) {
	s = statement{start: i, first: -1, last: i}
	var text strings.Builder
	var others nesting // as if there were no comments
	n := nesting{open: within.open, three: within.three, doubt: within.doubt, lost: within.lost}
	others = n
	all, lines := 0, 0
	more, glued, comment, changed := true, false, false, false
	var starts [maxStatementLines]int     // of the lines of code
	var inside [maxStatementLines]nesting // at their starts
	skipped, block := 0, -1               // the first line of a block in it, and the braces around the block
	left := lineSpan{to: -1}              // the last block that was left out
	done := func(next int, within nesting) (statement, int, nesting) {
		s.text = text.String()
		if skipped > 0 && skipped < next {
			return s, skipped, nesting{}
		}
		return s, next, within.text()
	}
	for j := i; j < len(h.Lines) && all < maxStatementAll; j++ {
		l := &h.Lines[j]
		if l.Op == pipeline.LineRemoved {
			changed = changed || lines > 0
			continue
		}
		all++
		line := squeezed(l.Text)
		code, doubt := y.code(line, shapes[j], &n)
		if as == afterBlock && (lines > 0 || shapes[j]&anyCommentShape != 0) {
			code, comment = comments.AfterBlock(y.language, line, comment)
		}
		s.doubt = s.doubt || doubt
		s.closes = s.closes || lines > 0 && comments.Closes(y.language, l.Text)
		plain := strings.TrimSpace(code)
		if code = plain; as == whole {
			code = strings.TrimSpace(line)
		}
		switch {
		case code == "" && lines == 0:
			return s, j + 1, n.text()
		case code == "":
			continue
		case !more && !y.continues(code) && !y.continues(plain):
			return done(j, nesting{})
		}
		stood := n
		n.read(y, plain)
		if as == whole {
			others.read(y, code)
		}
		if block >= 0 {
			if n.braces > block {
				continue
			}
			block, left = -1, lineSpan{s.last + 1, j}
		}
		if piece := shortened(code); lines == maxStatementLines || text.Len()+len(piece) > maxStatement {
			from := max(1, lines-overlap)
			return done(starts[from], inside[from])
		}
		starts[lines], inside[lines] = j, stood
		if left.to == j {
			s.blocks = append(s.blocks, left)
		}
		if lines++; lines == 2 {
			text.Grow(256) // most statements then need one allocation
		}
		s.last = j
		full := code
		code = strings.TrimSuffix(code, `\`)
		if piece := shortened(code); glued && !isBlank(at(l.Text, 0)) {
			text.WriteString(piece)
		} else {
			join(&text, piece)
		}
		glued = full != code && strings.TrimSpace(code) == code
		if (l.Op == pipeline.LineAdded || changed) && s.first < 0 {
			s.first = j
		}
		deep := n.deep() || as == whole && others.deep()
		tag := y.tags && inTag(text.String())
		if opens := opensBlock(plain); opens || strings.HasSuffix(plain, ";") {
			switch inBlock := n.braces > 0 && n.code+n.wide > 0; {
			case inBlock && skipped == 0:
				skipped = j + 1
				fallthrough
			case inBlock:
				if opens {
					block = n.braces - 1
				}
			case n.open == 0 && !tag && !(n.doubt && n.wide > 0) && !(as == whole && others.deep()) && full == code:
				return done(j+1, nesting{})
			}
		}
		more = deep || y.continuesAfter(plain) || y.continuesAfter(code) || strings.HasSuffix(strings.TrimSpace(l.Text), `\`) || tag
	}
	return done(s.last+1, nesting{})
}

// written is the code of the statement as it is written, or of a row its line: a row's text shows what
// lines mean together.
func (s *statement) written(h *pipeline.Hunk) string {
	if s.row {
		return h.Lines[s.first].Text
	}
	var lines []string
	for i := s.start; i <= s.last; i++ {
		if h.Lines[i].Op != pipeline.LineRemoved {
			lines = append(lines, squeezed(h.Lines[i].Text))
		}
	}
	return strings.Join(lines, "\n")
}

// text is the nesting of the lines after a statement that ends within a string.
func (n nesting) text() nesting {
	if n.open == 0 {
		return nesting{}
	}
	return nesting{open: n.open, three: n.three, doubt: n.doubt, lost: n.lost}
}

// before are the forms of the statement without the added lines: with and without the removed
// lines, and with and without possible comments. If a rule matches all of them, its match is
// not new.
func (s *statement) before(language string, h *pipeline.Hunk) []string {
	if s.row {
		return []string{s.was}
	}
	var out []string
	y := layout{language: language}
	for _, removed := range []bool{false, true} {
		for _, whole := range []bool{false, true} {
			var text strings.Builder
			for i := s.start; i <= s.last; i++ {
				l := &h.Lines[i]
				if l.Op == pipeline.LineAdded || l.Op == pipeline.LineRemoved && !removed {
					continue
				}
				line := squeezed(l.Text)
				code, doubt := y.uncommented(line)
				if whole && doubt {
					code = line
				}
				join(&text, shortened(strings.TrimSuffix(strings.TrimSpace(code), `\`)))
			}
			if text := text.String(); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// matchedBefore reports whether the rule also matches the statement without the added lines.
func (s *statement) matchedBefore(r *rule, language string, h *pipeline.Hunk, m dialect) bool {
	return !slices.ContainsFunc(s.before(language, h), func(text string) bool {
		return !slices.ContainsFunc(readingsIn(text, m), func(text string) bool { return r.matches(text, language) })
	})
}

// join adds a line to the lines before it.
func join(b *strings.Builder, code string) {
	if code == "" {
		return
	}
	if before := b.String(); before != "" && before[len(before)-1] != '(' && code[0] != ')' {
		b.WriteByte(' ')
	}
	b.WriteString(code)
}

// opensBlock reports whether a line of code ends in a brace that begins a block of statements
// rather than an object.
func opensBlock(code string) bool {
	if !strings.HasSuffix(code, "{") {
		return false
	}
	before := code[:trimmed(code, len(code)-1)]
	return before == "" || strings.HasSuffix(before, ")") || strings.HasSuffix(before, ">")
}

// continuesAfter reports whether a line's statement continues on the next.
func (y *layout) continuesAfter(code string) bool {
	if code == "" {
		return false
	}
	switch code[len(code)-1] {
	case '.', '=', '+', '&', '|', '?', '(', '[':
		return true
	case ':':
		return y.colon
	}
	return needsMore(lastWord(code, len(code)))
}

// needsMore reports whether a word at the end of a line means nothing without the next line.
func needsMore(word string) bool {
	switch word {
	case "new", "await", "typeof", "void", "delete", "throw", "return", "instanceof",
		"in", "of", "is", "and", "or", "not", "assert", "from":
		return true
	}
	return false
}

// continues reports whether a line continues the statement before it.
func (y *layout) continues(code string) bool {
	if code == "" {
		return false
	}
	switch next := at(code, 1); code[0] {
	case '.', '+', '(', ':', '=', ',', '%', '|', '&':
		return true
	case '?':
		return next != '>'
	case '[':
		return y.index || strings.IndexByte("\"'`", at(code, 1+blanks(code, 1))) >= 0
	case '`':
		return strings.IndexByte(y.multi, '`') >= 0
	case '-':
		return next == '>' || isName(next) || next == '-' && isName(at(code, 2)) // a command-line option
	}
	return false
}
