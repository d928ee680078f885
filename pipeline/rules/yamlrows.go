package rules

import (
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// yamlRows are the values of YAML that are not on the line of their key, and sequences
// of scalars:
//
//   - a value of one word, after its key
//   - the lines of a folded value as one line
//   - the items of a sequence, in brackets
//   - each line of a script with an expression, after the key
//   - the same for values in flow collections
//   - a name and its value that each have a key of their own
//   - each line with expressions, in their plain forms
func yamlRows(h *pipeline.Hunk) []statement {
	y := yamlReader{hunk: h}
	y.split()
	y.unread = len(y.lines)
	for i := 0; i < len(y.lines); {
		i = y.read(i)
	}
	y.aliased()
	for i := range y.lines {
		y.plain(i)
		if i >= y.unread || y.isPart(i) {
			y.maybeScript(i)
		}
	}
	return y.out
}

// yamlReader reads the lines of a hunk's new side. Its methods take and return indexes
// into these lines.
type yamlReader struct {
	hunk   *pipeline.Hunk
	lines  []int
	texts  []string
	out    []statement
	flowed int // the index after the flow collections read so far
	unread int // from here on, lines may be part of a collection that is too deep

	above   parents // of the current line
	hidden  int     // from here on, lines may be part of a value whose key is not shown
	anchors []anchored
	aliases map[string]bool // the anchors that scripts refer to

	mappings int              // the number of mappings in braces
	halves   map[int]pairHalf // by mapping
}

// split splits the lines at the line breaks that YAML has besides the line feed.
func (y *yamlReader) split() {
	for _, i := range newSideOf(y.hunk) {
		text := bounded(y.hunk.Lines[i].Text, maxLine)
		for {
			end, next := lineEnd(text)
			y.lines = append(y.lines, i)
			y.texts = append(y.texts, text[:end])
			if next == len(text) {
				break
			}
			text = text[next:]
		}
	}
}

// lineEnd returns the end of the first line in a text and the start of the next. A
// line break at the end of the text starts no line.
func lineEnd(text string) (end, next int) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '\r' {
			return i, i + 1
		} else if c < 0x80 {
			continue
		}
		for _, mark := range []string{"\u0085", "\u2028", "\u2029"} {
			if strings.HasPrefix(text[i:], mark) {
				return i, i + len(mark)
			}
		}
	}
	return len(text), len(text)
}

// isPart reports whether line i is a part of a line of the hunk.
func (y *yamlReader) isPart(i int) bool {
	return i > 0 && y.lines[i-1] == y.lines[i] || i+1 < len(y.lines) && y.lines[i+1] == y.lines[i]
}

// maybeScript adds line i as a line of a script if it has an expression.
func (y *yamlReader) maybeScript(i int) {
	if of := y.expression(y.trimmedLines(i, len(y.lines))); len(of) > 0 {
		y.maybeComment("run: "+fold(of, every), y.old(of), -1, of)
	}
}

// text is line i.
func (y *yamlReader) text(i int) string { return y.texts[i] }

// added reports whether the change adds line i.
func (y *yamlReader) added(i int) bool { return isAdded(y.hunk, y.lines[i]) }

// yamlKey is a key at the start of a line. It holds the column that the key's content is
// indented deeper than, and the value after the key without its tags.
type yamlKey struct {
	name   string
	parent string // the key that contains it, if known
	column int
	anchor string // of the value
	value  string

	mapping int  // the key's mapping, if known
	escaped bool // the line spells the name with escapes
}

// keyOf returns the key at the start of a line, after the marks of items.
func keyOf(text string) (k yamlKey, ok bool) {
	i := blanks(text, 0)
	for in("-?", at(text, i)) && isBlank(at(text, i+1)) {
		i++
		i += blanks(text, i)
	}
	k.column = i
	i += untagged(text[i:])
	from := i
	if c := at(text, i); c == '"' || c == '\'' {
		s := flowScalar{quote: c}
		end, done := s.end(text, i+1)
		if !done {
			return k, false
		}
		k.name, k.escaped = unquotedYAML(text[i:end])
		i = end
	} else {
		for isWord(at(text, i)) || in(".-/$", at(text, i)) {
			i++
		}
		k.name = text[from:i]
	}
	i += blanks(text, i)
	if k.name == "" || at(text, i) != ':' || i+1 < len(text) && !isBlank(text[i+1]) {
		return k, false
	}
	i++
	i += blanks(text, i)
	k.anchor = anchorOf(text[i:])
	i += untagged(text[i:])
	k.value = text[i:]
	return k, true
}

// unquotedYAML returns the content of a string, and whether it is spelt with escapes.
func unquotedYAML(text string) (says string, escaped bool) {
	inner := text[1 : len(text)-1]
	if text[0] == '\'' {
		return strings.ReplaceAll(inner, "''", "'"), strings.Contains(inner, "''")
	}
	if strings.IndexByte(inner, '\\') < 0 || len(inner) > maxPath {
		return inner, false
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			b.WriteByte(inner[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[at(inner, i)]
		if code, err := strconv.ParseUint(inner[min(i+1, len(inner)):min(i+1+digits, len(inner))], 16, 32); err == nil {
			b.WriteRune(rune(code))
			i += digits
		} else {
			b.WriteByte(at(inner, i))
		}
	}
	return b.String(), true
}

// untagged is the length of the tags and anchors at the start of a text.
func untagged(text string) int {
	i := 0
	for in("&!", at(text, i)) {
		for i < len(text) && !isBlank(text[i]) {
			i++
		}
		i += blanks(text, i)
	}
	return i
}

// uncommentedYAML removes the comment from a line of a plain value.
func uncommentedYAML(text string) string { return strings.TrimSpace(comments.Bare("YAML", text)) }

// blockStyle is | or > if the value is a block scalar's header, else 0.
func blockStyle(value string) byte {
	value = uncommentedYAML(value)
	if !in("|>", at(value, 0)) || strings.Trim(value[1:], "+-0123456789") != "" {
		return 0
	}
	return value[0]
}

// isItem reports whether a text starts with an item of a sequence.
func isItem(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

// read reads line i and the lines of the same value, and returns the index of the next
// line.
func (y *yamlReader) read(i int) int {
	k, ok := keyOf(y.text(i))
	if !ok {
		return y.keyless(i)
	}
	k.mapping = i + 1
	y.above.enter(&k, isItem(y.text(i)[blanks(y.text(i), 0):]))
	if unlikeYAML(y.text(i)) {
		y.unkeyed(i)
	} else if k.column == 0 || isStep(y.text(i), k) {
		y.hidden = max(y.hidden, i)
	}
	s := scalar{key: k, at: i, style: blockStyle(k.value)}
	switch from := i + 1; {
	case s.style != 0:
		s.to = y.deeper(from, k.column)
		s.from = from
		y.hidden = max(y.hidden, s.to)
	case uncommentedYAML(k.value) == "":
		next := y.code(from)
		if next == len(y.lines) {
			return i + 1
		}
		text := y.text(next)
		start := blanks(text, 0)
		if isItem(text[start:]) && start >= k.column {
			return y.sequence(k, i, next)
		}
		if start < k.column || start == k.column && !in("\"'", at(text, start)) {
			return i + 1
		}
		if tags := untagged(text[start:]); isFlow(text[start+tags:]) {
			return y.flow(flowStart{at: next, column: start + tags, key: k, keyAt: i, sure: true})
		}
		if _, mapping := keyOf(text); mapping {
			return i + 1
		}
		value := text[start+untagged(text[start:]):]
		s.from, s.to = next, max(y.deeper(next, k.column), y.quoted(next+1, k, value))
		s.quoted = in("\"'", at(value, 0))
		if s.style = blockStyle(text[start:]); s.style != 0 {
			s.from++
		}
	case isFlow(k.value):
		return y.flow(flowStart{at: i, column: len(y.text(i)) - len(k.value), key: k, keyAt: i, sure: true})
	default:
		s.inline = true
		s.from, s.to = from, max(y.deeper(from, k.column), y.quoted(from, k, k.value))
		s.quoted = in("\"'", k.value[0])
	}
	y.scalar(&s)
	return s.to
}

// keyless reads a line without a key.
func (y *yamlReader) keyless(i int) int {
	text := y.text(i)
	start := blanks(text, 0)
	item := isItem(text[start:])
	column := start + untagged(text[start:])
	if item {
		column = min(itemStart(text), len(text))
	}
	if !item && unlikeYAML(text) {
		y.unkeyed(i)
	}
	if isFlow(text[column:]) {
		return y.flow(flowStart{at: i, column: column, keyAt: i, sure: item})
	}
	if at(text, start) == ':' && isBlank(at(text, start+1)) {
		return y.unnamed(i, start)
	}
	if item && at(text, column) == '?' && blanks(text, column+1) > 0 {
		return i + 1
	}
	y.orphan(i)
	if item {
		return y.sequence(yamlKey{}, i, i)
	}
	return i + 1
}

// unnamed reads a value that starts on the line after its key, which may be the key of a
// script. It returns the index after the value.
func (y *yamlReader) unnamed(i, column int) int {
	value := y.text(i)[column+1:]
	value = value[blanks(value, 0):]
	value = value[untagged(value):]
	k := yamlKey{name: "run", column: column, value: value, escaped: true}
	s := scalar{key: k, at: i, style: blockStyle(value), from: i + 1}
	s.to = max(y.deeper(i+1, column), y.quoted(i+1, k, value))
	if s.style == 0 {
		s.inline, s.quoted = true, in("\"'", at(value, 0))
	}
	y.script(&s, y.pieces(&s))
	return s.to
}

// code returns the index of the first line from i on that is neither empty nor a comment.
func (y *yamlReader) code(i int) int {
	for i < len(y.lines) && uncommentedYAML(y.text(i)) == "" {
		i++
	}
	return i
}

// deeper returns the index after the lines that are indented deeper than a column. Empty
// lines may stand between them.
func (y *yamlReader) deeper(i, column int) int {
	end := i
	for ; i < len(y.lines); i++ {
		text := y.text(i)
		start := blanks(text, 0)
		if start == len(text) {
			continue
		}
		if start <= column {
			break
		}
		end = i + 1
	}
	return end
}

// quoted returns the index after the lines of a string in quotes. These lines need not be
// indented. If the hunk does not show the closing quote, a command continues to the end of
// the hunk.
func (y *yamlReader) quoted(i int, k yamlKey, value string) int {
	if !in("\"'", at(value, 0)) {
		return i
	}
	s := flowScalar{quote: value[0]}
	_, done := s.end(value, 1)
	j := i
	for ; !done && j < len(y.lines); j++ {
		_, done = s.end(y.text(j), 0)
	}
	if !done && !isCommand(k) {
		return i
	}
	return j
}

// scalar is a value. It has lines of its own, and also the line of its key if inline is
// set.
type scalar struct {
	key      yamlKey
	at       int // the index of the key's line
	style    byte
	inline   bool
	quoted   bool
	from, to int
}

// piece is a line of a value.
type piece struct {
	text  string
	at    int  // the line's index
	glued bool // no space follows before the next piece
}

// pieces are the lines of a scalar. In double quotes, a backslash at the end of a line
// removes the space between it and the next.
func (y *yamlReader) pieces(s *scalar) (out []piece) {
	text := func(text string) string {
		if s.style == 0 {
			return uncommentedYAML(text)
		}
		return strings.TrimSpace(text)
	}
	if s.inline {
		out = append(out, piece{text: text(s.key.value), at: s.at})
	}
	for i := s.from; i < s.to; i++ {
		line := text(y.text(i))
		if s.quoted && i+1 < s.to {
			line = strings.TrimSpace(y.text(i)) // # starts no comment here
		}
		out = append(out, piece{text: line, at: i})
	}
	if s.style == 0 {
		glue(out)
	}
	return out
}

// glue marks the lines of a string in double quotes that no space follows.
func glue(of []piece) {
	if len(of) == 0 || !strings.HasPrefix(of[0].text, `"`) {
		return
	}
	for i := range of {
		of[i].glued = strings.HasSuffix(of[i].text, `\`)
	}
}

// scriptKeys are keys whose values GitHub runs, including the values of expressions in them.
var scriptKeys = map[string]bool{"run": true, "script": true}

// scalar adds the rows of a value.
func (y *yamlReader) scalar(s *scalar) { y.addRows(s, y.pieces(s)) }

// addRows adds the rows of a value with the given lines.
func (y *yamlReader) addRows(s *scalar, all []piece) {
	y.pair(s.key, all)
	if s.key.anchor == "" && len(all) > 0 {
		s.key.anchor = anchorOf(all[0].text)
	}
	switch {
	case isCommand(s.key):
		y.script(s, all)
		y.alias(all)
	case s.key.anchor != "":
		y.anchor(s, all)
	}
	if s.style != '|' {
		y.folded(all)
	}
	var only *piece
	for i := range all {
		if all[i].text != "" && only != nil {
			return
		}
		if all[i].text != "" {
			only = &all[i]
		}
	}
	if only == nil || s.inline {
		return
	}
	if value := only.text[untagged(only.text):]; isOneWord(value) {
		y.row(s.key.name+": "+value, "", s.at, []piece{*only})
	}
}

// isOneWord reports whether a value has no spaces outside expressions and templates.
func isOneWord(text string) bool {
	for {
		i := strings.Index(text, "${{")
		if i < 0 || len(text) > maxPiece {
			return len(text) <= maxPiece && !strings.ContainsAny(text, " \t")
		}
		n := expressionEnd(text[i:])
		if n < 0 || strings.ContainsAny(text[:i], " \t") {
			return false
		}
		text = text[i+n:]
	}
}

// row adds a row of some pieces if the change adds one of them or the line of their key.
// The row is reported at the first added piece.
func (y *yamlReader) row(text, was string, key int, of []piece) {
	for _, p := range of {
		if y.added(p.at) {
			y.out = append(y.out, rowOf(text, was, y.lines[of[0].at], y.lines[p.at], y.lines[of[len(of)-1].at]))
			return
		}
	}
	if key >= 0 && y.added(key) {
		y.out = append(y.out, rowOf(text, was, y.lines[key], y.lines[key], y.lines[of[len(of)-1].at]))
	}
}

// old joins the texts of the pieces that the change does not add.
func (y *yamlReader) old(of []piece) string {
	return fold(of, func(i int) bool { return !y.added(i) })
}

// every selects all indexes.
func every(int) bool { return true }

// fold joins the selected pieces as YAML does.
func fold(of []piece, wanted func(i int) bool) string {
	var b strings.Builder
	glued := true
	for _, p := range of {
		if p.text == "" || !wanted(p.at) {
			continue
		}
		if !glued {
			b.WriteByte(' ')
		}
		glued = p.glued
		b.WriteString(strings.TrimSuffix(p.text, `\`))
	}
	return b.String()
}

// folded adds the lines of a folded value as one line. It splits them at empty lines, and
// where they exceed the bounds of a statement.
func (y *yamlReader) folded(all []piece) {
	for from := 0; from < len(all); {
		to, size := from, 0
		for to < len(all) && all[to].text != "" && to-from < maxStatementLines && (to == from || size+len(all[to].text) <= maxStatement) {
			size += len(all[to].text)
			to++
		}
		if of := all[from:to]; len(of) > 1 {
			y.row(fold(of, every), y.old(of), -1, of)
		}
		switch {
		case to == len(all):
			return
		case all[to].text == "":
			from = to + 1
		default:
			from = max(from+1, to-overlap)
		}
	}
}

// script adds each line of a script in which an expression begins, after the key, together
// with the lines that continue the expression.
func (y *yamlReader) script(s *scalar, all []piece) {
	for i := range all {
		of := y.expression(all[i:])
		if len(of) == 0 || len(of) == 1 && all[i].at == s.at && scriptKeys[s.key.name] && !s.key.escaped {
			continue
		}
		y.maybeComment("run: "+fold(of, every), y.old(of), s.at, of)
	}
}

// plain adds an added line in the plain forms of its expressions.
func (y *yamlReader) plain(i int) {
	if !y.added(i) {
		return
	}
	for _, text := range plainForms(y.text(i)) {
		y.maybeComment(text, "", -1, []piece{{at: i}})
	}
}

// maybeComment adds a row that may be a comment, and its plain forms: GitHub evaluates
// expressions in comments too.
func (y *yamlReader) maybeComment(text, was string, key int, of []piece) {
	n := len(y.out)
	for _, text := range append(plainForms(text), text) {
		y.row(text, was, key, of)
	}
	for i := n; i < len(y.out); i++ {
		y.out[i].maybeComment = true
	}
}

// expression returns the first piece and those that continue its expression, if an
// expression begins in it.
func (y *yamlReader) expression(of []piece) []piece {
	if !strings.Contains(of[0].text, "${{") {
		return nil
	}
	open := openExpression(of[0].text)
	n := 1
	for ; open != "" && n < len(of) && n < maxStatementLines; n++ {
		open = openExpression(plaintext.Bytes(open, maxPiece) + " " + shortened(of[n].text))
	}
	return of[:n]
}

// orphan adds a line whose key the hunk does not show, if an expression continues on the
// next line.
func (y *yamlReader) orphan(i int) {
	if text := y.text(i); !strings.Contains(text, "${{") || openExpression(text) == "" || y.isPart(i) {
		return
	}
	of := y.expression(y.trimmedLines(i, len(y.lines)))
	y.maybeComment(fold(of, every), y.old(of), -1, of)
}

// openExpression returns the text from the start of an expression that does not end in it,
// or "".
func openExpression(text string) string {
	for {
		i := strings.Index(text, "${{")
		if i < 0 {
			return ""
		}
		n := expressionEnd(text[i:])
		if n < 0 {
			return text[i:]
		}
		text = text[i+n:]
	}
}

// expressionEnd is the length of the expression at the start of a text, or -1. Strings in
// the expression may hold any character.
func expressionEnd(text string) int {
	quoted := false
	for i := 3; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], "}}"):
			return i + 2
		}
	}
	return -1
}

// itemColumn is the column of the innermost item that starts a line.
func itemColumn(text string) int {
	column := blanks(text, 0)
	for {
		next := column + 1 + blanks(text, column+1)
		if next >= len(text) || !isItem(text[next:]) {
			return column
		}
		column = next
	}
}

// itemStart is where the content of the innermost item of a line begins, after its mark and
// tags.
func itemStart(text string) int {
	i := itemColumn(text) + 1
	i += blanks(text, i)
	return i + untagged(text[min(i, len(text)):])
}

// sequence adds the scalars at the start of a sequence as a flow sequence, and returns the
// index after them.
func (y *yamlReader) sequence(k yamlKey, key, from int) int {
	column := itemColumn(y.text(from))
	var items []piece
	i := from
	for i < len(y.lines) {
		text := y.text(i)
		start := blanks(text, 0)
		switch {
		case uncommentedYAML(text) == "":
			i++
			continue
		case i > from && (start != column || !isItem(text[start:])):
			y.items(k, key, items)
			return i
		}
		if _, mapping := keyOf(text); mapping || in("{[", at(text, itemStart(text))) {
			y.items(k, key, items)
			return max(i, key+1)
		}
		if y.nests(i, column) {
			y.items(k, key, items)
			return i + 1
		}
		end := y.deeper(i+1, column)
		if name := anchorOf(strings.TrimLeft(text[itemColumn(text)+1:], " \t")); name != "" {
			y.anchor(&scalar{key: yamlKey{anchor: name}, at: i}, y.trimmedLines(i, end))
		}
		items = append(items, piece{text: y.item(i, column, end), at: i})
		i = end
	}
	y.items(k, key, items)
	return i
}

// nests reports whether a line holds only the mark of an item, and a mapping or another
// collection follows.
func (y *yamlReader) nests(i, column int) bool {
	text := y.text(i)
	next := y.code(i + 1)
	if uncommentedYAML(text[min(itemStart(text), len(text)):]) != "" || next == len(y.lines) {
		return false
	}
	text = y.text(next)
	start := blanks(text, 0)
	_, mapping := keyOf(text)
	return start > column && (mapping || isFlow(text[start+untagged(text[start:]):]))
}

// item is the text of a sequence's item, which starts at a column of line i and ends before
// line end.
func (y *yamlReader) item(i, column, end int) string {
	var of []piece
	text := strings.TrimSpace(y.text(i)[column+1:])
	text = text[untagged(text):]
	if blockStyle(text) == 0 {
		of = append(of, piece{text: uncommentedYAML(text), at: i})
	}
	for j := i + 1; j < end && len(of) < maxStatementLines; j++ {
		of = append(of, piece{text: shortened(uncommentedYAML(y.text(j))), at: j})
	}
	glue(of)
	return fold(of, every)
}

// commandSequences are keys of sequences whose items are the words of one command.
var commandSequences = map[string]bool{"command": true, "args": true, "entrypoint": true, "cmd": true, "exec": true, "test": true}

// items adds rows of a sequence's items. Where each item may be a command of its own, the
// unquoted items with several words get rows of their own.
func (y *yamlReader) items(k yamlKey, key int, items []piece) {
	if isCommand(k) {
		y.script(&scalar{key: k, at: key}, items)
	}
	from := 0
	keep := func(to int) {
		for ; to-from > 1; from = max(from+1, min(from+maxStatementAll, to)-overlap) {
			of := items[from:min(from+maxStatementAll, to)]
			y.row(flow(k.name, of, every), flow(k.name, of, func(i int) bool { return !y.added(i) }), key, of)
			if from+maxStatementAll >= to {
				break
			}
		}
	}
	for i := range items {
		if text := items[i].text; !commandSequences[k.name] && strings.ContainsAny(text, " \t") && !in("\"'", text[0]) {
			keep(i)
			from = i + 1
		}
	}
	keep(len(items))
}

// flow is a key with a flow sequence of the selected items.
func flow(key string, items []piece, wanted func(i int) bool) string {
	var out []string
	for _, p := range items {
		text := shortened(p.text)
		switch {
		case !wanted(p.at):
			continue
		case text == "" || in("\"'", text[0]):
		case strings.IndexByte(text, '"') >= 0:
			text = "'" + text + "'"
		default:
			text = `"` + text + `"`
		}
		out = append(out, text)
	}
	return key + ": [" + strings.Join(out, ", ") + "]"
}
