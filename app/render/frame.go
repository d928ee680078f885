package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The limits of the code that the terminal shows for a finding.
const (
	maxFrameLines = 4   // a longer range shows one line less, and counts the others
	maxSearched   = 200 // lines in which the code in question is searched
	tabWidth      = 4   // columns
	maxEscape     = 8   // runes of an invisible one that is made visible
	maxNames      = 10  // of a title that are searched
)

// frame is the code that a terminal shows for a finding. It has no lines if the diff has none
// of the finding's lines.
type frame struct {
	all      []headLine // the finding's lines
	lines    []headLine // those that are shown
	at       int        // the index of the shown line with the code in question
	from, to int        // the code in question within this line, in bytes; equal if it is not known
	removed  bool       // the change removes the lines
	style    string
}

func (fs *findings) frame(f *pipeline.Finding) frame {
	if f.StartLine <= 0 {
		return frame{}
	}
	out := frame{style: severityStyle(word(severityOf(f)))}
	if out.removed = fs.rules[f.RuleID].Removed; out.removed {
		out.all = fs.quotedIn(f, fs.diff.removedBeside(f.Path, f.StartLine))
	} else {
		out.all = fs.diff.between(f.Path, f.StartLine, max(f.StartLine, f.EndLine))
	}
	out.lines = out.all
	n := len(out.all)
	if n == 0 {
		return out
	}
	out.at, out.from, out.to = fs.spot(f, out.all)
	if n == 1 && out.to == 0 {
		out.to = len(out.all[0].text)
	}
	if n > maxFrameLines {
		start := max(0, min(out.at-1, n-maxFrameLines+1))
		out.lines, out.at = out.all[start:start+maxFrameLines-1], out.at-start
	}
	return out
}

// quotedIn returns the first of some lines that holds a quote of the finding.
func (fs *findings) quotedIn(f *pipeline.Finding, lines []headLine) []headLine {
	for i := range lines {
		one := frame{all: lines[i : i+1]}
		if slices.ContainsFunc(f.Evidence, one.has) {
			return one.all
		}
	}
	return nil
}

// gutter returns the columns before the code.
func (c *frame) gutter() int {
	number := 4
	if n := len(c.lines); n > 0 {
		number = max(number, len(strconv.Itoa(c.lines[n-1].number)))
	}
	return len("   ") + number + columns(" │ ")
}

// more returns how many lines are not shown.
func (c *frame) more() int { return len(c.all) - len(c.lines) }

// has reports whether all lines of a quote are in the finding's lines. A quote may have a
// replacement character for a control character.
func (c *frame) has(quote string) bool {
	quotable := func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return utf8.RuneError
		}
		return r
	}
	for q := range strings.SplitSeq(unquoted(quote), "\n") {
		q = strings.TrimSpace(q)
		if !slices.ContainsFunc(c.all, func(l headLine) bool {
			return strings.Contains(l.text, q) || strings.Contains(strings.Map(quotable, l.text), q)
		}) {
			return false
		}
	}
	return true
}

// frame writes the code with line numbers. Carets mark the code in question. If it is not
// known, each line has a sign before its number.
func (t *terminal) frame(c frame) {
	width := c.gutter()
	row := func(mark, number, code string) {
		line := strings.Repeat(" ", width-3-len(mark+number)) + t.style(mark, c.style) + t.style(number+" │", styleDim) + " " + code
		t.b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for i, l := range c.lines {
		mark, from, to := "", c.from, c.to
		if from == to {
			mark = "> "
		}
		if i != c.at {
			from, to = 0, 0
		}
		code, before, marked := cutAround(l.text, from, to, t.width-width)
		number := strconv.Itoa(l.number)
		if c.removed { // the line has no number at the head
			mark, number = "-", ""
		}
		row(mark, number, code)
		if marked > 0 {
			row("", "", strings.Repeat(" ", before)+t.style(strings.Repeat("^", marked), c.style))
		}
	}
	if more := c.more(); more > 0 {
		row("", "", t.style(string(say("more lines", more)), styleDim))
	}
}

// spot finds the code in question: what the finding's rule matches, the placeholder of a
// secret, a quote, or a name in the title. It returns the index of its line, and where it
// starts and ends in the line, in bytes. It returns zeros if it finds nothing, or no more
// than all of a single line.
func (fs *findings) spot(f *pipeline.Finding, lines []headLine) (at, from, to int) {
	names := namesIn(f.Title)
	for _, find := range append(fs.spots(f), names...) {
		for i := range lines[:min(len(lines), maxSearched)] {
			line := lines[i].text
			from, to := find(line)
			for _, narrow := range names {
				if a, b := narrow(line[from:to]); a < b {
					from, to = from+a, from+b
					break
				}
			}
			if from < to && (len(lines) > 1 || to-from < len(strings.TrimSpace(line))) {
				return i, from, to
			}
		}
	}
	return 0, 0, 0
}

// finder finds code in a line. It returns equal numbers if the code is not there.
type finder func(line string) (from, to int)

var (
	placeholder = regexp.MustCompile(regexp.QuoteMeta(pipeline.RedactionMark) + `[^\]]*\]`)
	inBackticks = regexp.MustCompile("`([^`]+)`")
)

// spots returns the ways to find the code in question, the best one first.
func (fs *findings) spots(f *pipeline.Finding) []finder {
	var out []finder
	if rule, ok := fs.rules[f.RuleID]; ok && rule.Pattern != "" {
		if re, err := regexp.Compile(rule.Pattern); err == nil { // the config has only patterns that compile
			out = append(out, matching(re))
		}
	}
	if isSecret(f) {
		own := pipeline.RedactionMark + strings.TrimPrefix(f.RuleID, pipeline.SecretRulePrefix) + "]"
		out = append(out, quoting(own), matching(placeholder))
	}
	for _, e := range f.Evidence {
		if q := unquoted(e); utf8.RuneCountInString(q) > 1 {
			out = append(out, quoting(q))
		}
	}
	return out
}

// namesIn returns the ways to find the names that a title has in backticks, as whole words.
func namesIn(title string) []finder {
	var out []finder
	for _, m := range inBackticks.FindAllStringSubmatch(title, maxNames) {
		pattern := regexp.QuoteMeta(m[1])
		if first, _ := utf8.DecodeRuneInString(m[1]); isWord(first) {
			pattern = `\b` + pattern
		}
		if last, _ := utf8.DecodeLastRuneInString(m[1]); isWord(last) {
			pattern += `\b`
		}
		if re, err := regexp.Compile(pattern); err == nil { // too long a name does not compile
			out = append(out, matching(re))
		}
	}
	return out
}

// quoting returns a function that finds a text.
func quoting(text string) finder {
	return func(line string) (int, int) {
		before, _, ok := strings.Cut(line, text)
		if !ok {
			return 0, 0
		}
		return len(before), len(before + text)
	}
}

// matching returns a function that finds what a pattern matches, without the white space
// around it.
func matching(re *regexp.Regexp) finder {
	return func(line string) (int, int) {
		at := re.FindStringIndex(line)
		if at == nil {
			return 0, 0
		}
		match := strings.TrimLeftFunc(line[at[0]:at[1]], unicode.IsSpace)
		from := at[1] - len(match)
		return from, from + len(strings.TrimSpace(match))
	}
}

// unquoted removes what agents put around a quote of the code.
func unquoted(quote string) string { return strings.Trim(quote, "`… \t\n") }

// glyph is a character as a terminal shows it.
type glyph struct {
	text  string
	width int // columns
}

// cutAround makes a line of code visible in at most width columns. In a longer line, it
// keeps what is between the bytes from and to, as far as that fits. It returns how many
// columns are before that part, and how many it takes.
func cutAround(line string, from, to, width int) (shown string, before, marked int) {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	from, to = min(from, len(line)), min(to, len(line))
	from = to - len(strings.TrimLeftFunc(line[from:to], unicode.IsSpace))
	near := lastRunes(line[:from], width)
	all := appendGlyphs(nil, codeLine(near, maxEscape*width))
	start := len(all)
	all = appendGlyphs(all, codeLine(line[from:to], width))
	end := len(all)
	all = appendGlyphs(all, codeLine(line[to:], width))

	first, last := 0, len(all)
	lead := columnsOf(all[:start]) // before the part
	marked = columnsOf(all[start:end])
	ellipsis := ""
	if len(near) < from || lead+marked >= width {
		after := min(columnsOf(all[end:]), width/4)
		for lead > max(width/4, width-1-after-marked) {
			lead -= all[first].width
			first++
		}
		if first > 0 || len(near) < from {
			ellipsis = "…"
			lead++
		}
	}
	if total := columns(ellipsis) + columnsOf(all[first:]); total > width {
		for total > width-1 {
			last--
			total -= all[last].width
		}
	}
	var b strings.Builder
	b.WriteString(ellipsis)
	for _, g := range all[first:last] {
		b.WriteString(g.text)
	}
	if last < len(all) {
		b.WriteString("…")
	}
	return b.String(), lead, columnsOf(all[min(start, last):min(end, last)])
}

// appendGlyphs splits visible code into glyphs. Tabs become spaces.
func appendGlyphs(glyphs []glyph, code string) []glyph {
	column, state := columnsOf(glyphs), -1
	for code != "" {
		var c glyph
		c.text, code, c.width, state = uniseg.FirstGraphemeClusterInString(code, state)
		if c.text == "\t" {
			c.width = tabWidth - column%tabWidth
			c.text = strings.Repeat(" ", c.width)
		}
		glyphs = append(glyphs, c)
		column += c.width
	}
	return glyphs
}

// withoutTabs replaces the tabs of a line of visible code by spaces.
func withoutTabs(code string) string {
	var b strings.Builder
	for _, g := range appendGlyphs(nil, code) {
		b.WriteString(g.text)
	}
	return b.String()
}

func columnsOf(glyphs []glyph) int {
	n := 0
	for _, c := range glyphs {
		n += c.width
	}
	return n
}

// columns returns how many columns a text takes in a terminal.
func columns(s string) int { return uniseg.StringWidth(s) }

// lastRunes returns the last n runes of a text.
func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}
