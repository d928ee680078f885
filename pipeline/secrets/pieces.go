package secrets

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// A program can join strings in many ways: with empty strings or names between them, from lists of
// short pieces, or by inserting into a format. The functions in this file read
// neighbouring strings as one, whatever short text is between them. The shape of the whole decides
// whether it is a token. Single pieces show nothing, since the author chooses where to cut a token.

const (
	// maxBetween is how many bytes may be between two strings, without comments and spaces.
	maxBetween = 80
	// maxPiece bounds a string, and maxContext what is read of the line before it, where a name
	// may be.
	maxPiece   = 8 << 10
	maxContext = 64
	// maxInserted bounds what is inserted into a string.
	maxInserted = 96
	// maxArguments bounds the strings that a format takes.
	maxArguments = 64
	// minJoined is shorter than any token.
	minJoined = 14
	// leftOut replaces bytes that do not change what a string means.
	leftOut = 0
)

// rowReader reads the rows of adjacent strings in a text, and writes each row on a line.
type rowReader struct {
	text     sourceText
	comments commentEnds
	lines    rowWriter
	done     []uint64 // the ends of strings that were read, as a bit set
	seams    bool     // lists of words have seams in them
	holes    [][2]int // spans that may be placeholders or insertions
	// calls reports whether the text has calls that change strings. A text without strings is never
	// searched for them.
	calls func() bool
	// bodies maps the place where a heredoc is used to the span of its lines elsewhere.
	// heredocs is the end of the last span.
	bodies   map[int][2]int
	heredocs int
}

// chainPiece is one string of a row: a stretch of the source, and the gap before it.
type chainPiece struct {
	from, to int
	gap
}

// gap is the text between two strings.
type gap struct {
	open int  // the start of the next string, with its quote
	soft bool // there is more than an operator and spaces
	list bool // there is a comma or semicolon
	plus bool // there is an operator
	name string
	// until is the end of the next piece if it is a number. value is the value of the next piece if
	// it differs from the source.
	until int
	value string
	// conditional says that the next string depends on a condition. alternative says that it is the
	// alternative to the string before.
	conditional, alternative bool
}

// asPieces returns the reading of a text's rows of strings, or nil if it has none.
func asPieces(text string) (*reading, []int) {
	source := sourceText(text)
	p := &rowReader{text: source, lines: rowWriter{text: source}, calls: sync.OnceValue(func() bool { return transforming.MatchString(text) })}
	p.comments = commentEnds{text: source, rows: map[int]int{}, line: [2]int{-1, -1}, blocks: map[string][2]int{}}
	p.rewrite()
	removed := p.normalise()
	p.done = make([]uint64, len(text)/64+1)
	for i, c := range p.text {
		if isQuote(c) && p.done[i/64]&(1<<(i%64)) == 0 {
			p.row(i)
		}
	}
	if removed {
		p.bare()
	}
	if p.lines.out.Len() == 0 {
		return nil, nil
	}
	return p.lines.reading(text), p.lines.soft
}

// row collects the row of strings whose first string ends at an offset, and writes its readings.
func (p *rowReader) row(end int) {
	begin := p.text.begin(end)
	holes := hasHole(p.text[begin:end])
	next, ok := p.between(end+1, holes, p.text.isConditional(begin-1))
	number, after := p.text.numberBefore(begin - 1)
	if !ok && !after && !p.isTransformed(end) && !(p.seams && bytes.IndexByte(p.text[begin:end], seam) >= 0) {
		return
	}
	row := []chainPiece{p.piece(begin, end, gap{list: after})}
	if after {
		row = []chainPiece{number, row[0]}
	}
	numbers := 0
	for ok {
		p.done[end/64] |= 1 << (end % 64)
		if next.until > 0 {
			if numbers++; numbers > maxNumbers {
				break
			}
			row = append(row, chainPiece{from: next.open, to: next.until, gap: next})
			end = next.until - 1
			next, ok = p.between(next.until, holes, next.conditional)
			continue
		}
		numbers = 0
		from := next.open + 1
		to, closed := p.text.end(from, p.text[next.open])
		row = append(row, p.piece(from, to, next))
		holes = holes || hasHole(p.text[from:to])
		if !closed {
			break
		}
		if end = to; p.done[end/64]&(1<<(end%64)) != 0 {
			break
		}
		next, ok = p.between(end+1, holes, next.conditional)
	}
	p.done[end/64] |= 1 << (end % 64)
	if p.calls() {
		p.writeTransformed(row)
	}
	if p.text.mayHold(row) {
		p.writeRow(row, holes)
	}
}

// writeRow writes what a program may make of a row. holes says that a string has placeholders.
func (p *rowReader) writeRow(row []chainPiece, holes bool) {
	vary := func() {
		for _, apart := range p.separated(row) {
			p.lines.write(apart)
		}
		if holes {
			p.lines.write(filled(p.text, row))
		}
	}
	if texts := withoutNumbers(row); len(texts) < len(row) {
		p.lines.write(row)
		vary()
		row = texts
	}
	p.lines.write(row)
	if len(row) > 1 && bytes.Contains(p.text[row[0].to:max(row[0].to, row[1].from)], []byte("prepend")) {
		p.lines.write([]chainPiece{row[1], row[0]})
	}
	p.writeReversed(row)
	for _, choice := range choices(row) {
		p.lines.write(choice)
	}
	vary()
	// A name may be the previous item of a list, so each item is also written by itself.
	for len(row) > 0 {
		n := 1
		for n < len(row) && !row[n].list {
			n++
		}
		if n > 1 && (n < len(row) || row[0].list) {
			p.lines.write(row[:n])
		}
		row = row[n:]
	}
}

// piece returns a string of a row, or the heredoc's body that stands for it.
func (p *rowReader) piece(from, to int, before gap) chainPiece {
	if at, ok := p.bodies[from]; ok && from == to {
		from, to = at[0], at[1]
	}
	return chainPiece{from: from, to: to, gap: before}
}

// mayHold reports whether a token may extend over a place in a row where two strings meet.
func (s sourceText) mayHold(row []chainPiece) bool {
	n, digits, capitals, pieces := 0, 0, 0, 0
	for _, c := range row {
		if c.to > c.from {
			pieces++
		}
		for i := c.from; i < c.to; i++ {
			switch b := s[i]; {
			case b == ' ' || b == '\t':
				n, digits, capitals, pieces = 0, 0, 0, 1
				continue
			case b == seam:
				pieces++
				continue
			case '0' <= b && b <= '9':
				digits++
			case 'A' <= b && b <= 'Z':
				capitals++
			}
			if n++; n >= minJoined && pieces > 1 && (digits > 0 || capitals > 2) {
				return true
			}
		}
	}
	return false
}

// between reads the text after a string, up to the next string. If a string before has
// placeholders, names may be in it. If that string depends on a condition, a colon may come before
// the alternative.
func (p *rowReader) between(i int, holes, asked bool) (b gap, ok bool) {
	used, operators := 0, 0
	word := -1 // the start of a word
	for first := i; i < len(p.text) && used <= maxBetween; {
		c := p.text[i]
		if isQuote(c) {
			b.open, b.soft, b.plus = i, b.soft || operators > 3, operators > 0
			return b, true
		}
		if white := strings.IndexByte(" \t\r\n\\", c) >= 0; white || c == leftOut {
			i++
			continue
		}
		if to := p.comments.end(i); to > i {
			i = to
			continue
		}
		if isWord(c) {
			word = i
			for i < len(p.text) && isWord(p.text[i]) && i-word <= maxBetween {
				i++
			}
			if i < len(p.text) && isQuote(p.text[i]) && stringPrefix(string(p.text[word:i+1])) == i-word && word > first {
				continue // it says how to read the string
			}
			if isDigit(c) {
				if b.value = p.text.numberAt(word, i); b.value != "" {
					b.open, b.until, b.soft, b.plus = word, i, true, operators > 0
					return b, true
				}
			}
			b.alternative = b.alternative || i-word == len("else") && string(p.text[word:i]) == "else"
			b.soft, used = true, used+i-word
			continue
		}
		if to := p.text.aMember(i, operators); to > 0 {
			b.soft, used, i = true, used+to-i, to
			continue
		}
		switch c {
		case '+', '.', '&', '|', '~', '<', '>', '^', '*':
			operators++
		case '(', ')', '@', '$':
		case ',', '%', '!', '[', ']', '/', '-':
			b.soft = true
			b.list = b.list || c == ','
		case ';':
			// It is between the items of a list in ML.
			if next := p.text.skipWhite(i + 1); !isQuote(p.text.at(next)) {
				return b, false
			}
			b.soft, b.list = true, true
		case ':':
			switch {
			case i+1 < len(p.text) && p.text[i+1] == ':':
				i++
			case asked || b.conditional:
				b.alternative = b.alternative || asked
			case !holes:
				return b, false
			}
			b.soft = true
		case '?':
			b.soft, b.conditional = true, true
		case '=':
			if strings.IndexByte("+.|&<", p.text[i-1]) < 0 && !holes {
				return b, false
			}
			if word >= 0 {
				b.name = strings.TrimRight(string(p.text[word:i]), " \t")
			}
			b.soft = true
		case '{', '}':
			if !holes {
				return b, false
			}
			b.soft = true
		default:
			return b, false
		}
		i++
		used++
	}
	return b, false
}

// hole matches a placeholder for a string in a format.
var hole = regexp.MustCompile(`%(?:\[?([0-9]{1,2})[\]$]|\((\w{1,20})\))?[-+0-9.]{0,4}(?:ll?|h|z)?[sdvSqri@acbuxX]|%([0-9])|~[sap]|\$?\{([\w.]{0,20})(?:![rsa])?(?::[^{}]{0,8})?\}|\$([a-zA-Z_]\w{0,19})`)

func hasHole(text []byte) bool {
	return bytes.IndexByte(text, '%') >= 0 || bytes.IndexByte(text, '{') >= 0 || bytes.IndexByte(text, '~') >= 0 || bytes.IndexByte(text, '$') >= 0
}

// filled puts the strings after a format into its placeholders: by number, by name, or in order. A
// string may go into several placeholders as long as that adds at most maxGrown bytes.
func filled(text []byte, row []chainPiece) []chainPiece {
	var out []chainPiece
	room := maxGrown
	for _, c := range row {
		room += c.to - c.from
	}
	for i := 0; i < len(row); i++ {
		c := row[i]
		at := hole.FindAllSubmatchIndex(text[c.from:c.to], -1)
		if at == nil {
			out = append(out, c)
			continue
		}
		args := row[i+1 : min(len(row), i+1+maxArguments)]
		next, used, from := 0, 0, c.from
		var put [maxArguments]bool
		soft := c
		for _, m := range at {
			group := func(n int) string {
				if m[2*n] < 0 {
					return ""
				}
				return string(text[c.from+m[2*n] : c.from+m[2*n+1]])
			}
			soft.from, soft.to = from, c.from+m[0]
			out = append(out, soft)
			soft.soft = true
			from = c.from + m[1]
			which := next
			name := group(2) + group(4) + group(5)
			switch number := group(1) + group(3); {
			case number != "":
				which = decimal(number) - 1
			case name != "" && '0' <= name[0] && name[0] <= '9':
				which = decimal(name)
			case name != "":
				for k := range args {
					if args[k].name == name {
						which = k
						break
					}
					if string(text[args[k].from:args[k].to]) == name && k+1 < len(args) {
						which = k + 1
						break
					}
				}
				next++
			default:
				next++
			}
			if which >= 0 && which < len(args) {
				arg := args[which]
				arg.soft = true
				if arg.value != "" {
					arg.value = formatNumber(arg.value, verbOf(string(text[c.from+m[0]:c.from+m[1]])))
				}
				if put[which] {
					room -= arg.to - arg.from
				}
				if room >= 0 && (arg.value != "" || args[which].value == "") {
					out = append(out, arg)
				}
				put[which] = true
				used = max(used, which+1)
			}
		}
		soft.from, soft.to = from, c.to
		out = append(out, soft)
		i += used
	}
	return out
}

func decimal(s string) int {
	n := 0
	for i := 0; i < len(s) && i < 3 && '0' <= s[i] && s[i] <= '9'; i++ {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

// normalise replaces other marks around strings by quotes. It removes insertions that add nothing to
// a string, and from other insertions everything except their strings. It reports whether it removed
// something. Its changes keep the length.
func (p *rowReader) normalise() (removed bool) {
	t := p.text
	for i := 0; i < len(t); i++ {
		if !mayMark[t[i]] {
			continue
		}
		if from, to, end := p.text.quotedOtherwise(i); end > 0 {
			p.text.blank(i, from, '"')
			p.text.blank(to, end, ' ')
			t[to] = '"'
			i = from - 1
			continue
		}
		c := t[i]
		before, after := p.text.at(i-1), p.text.at(i+1)
		switch {
		case c == '^':
			if isToken(before) && isToken(after) {
				t[i], removed = leftOut, true
			}
		case c == '#' && isQuote(before) && before == after: // a separate string
		case c == '#' && (isQuote(after) || after == '#') || c == '#' && isQuote(before) && p.text.endsRaw(i+1):
			t[i] = ' ' // of a raw string
		case c == '$' && isQuote(after):
			n := i + 2
			for n < len(t) && isToken(t[n]) {
				n++
			}
			if isToken(before) && n > i+2 && n < len(t) && t[n] == after {
				t[i], t[i+1], t[n], removed = leftOut, leftOut, leftOut, true
			} else {
				t[i] = ' '
			}
		default:
			if end := p.inserted(i); end > 0 {
				removed = true
				i = end - 1
			}
		}
	}
	return removed || len(p.holes) > 0
}

var mayMark = bytesOf("[q%~$R{(<#^")

func isToken(c byte) bool { return c == leftOut || isTokens(c) }

// endsRaw reports whether the text at i may follow the closing quote of a raw string, r#"..."#.
func (s sourceText) endsRaw(i int) bool {
	for i < len(s) && (s[i] == ' ' || s[i] == '#') {
		i++
	}
	return strings.IndexByte(",)+.", s.at(i)) >= 0
}

var (
	// otherQuotes begin strings in Lua, Perl, Ruby, Elixir, PostgreSQL and C++.
	otherQuotes = regexp.MustCompile(`^(?:\[=*\[|(?:%[qQ]|q|qq|~[sS])[(\[{<|/!]|%[(\[{<]|\$\w{0,16}\$|R"\w{0,16}\()`)
	closers     = map[byte]string{'(': ")", '[': "]", '{': "}", '<': ">"}
)

// otherQuotesBegin are the first characters of otherQuotes.
const otherQuotesBegin = "[%q~$R"

// quotedOtherwise returns the start and end of the string that a mark at an offset begins, and the
// end of the closing mark. If there is none, end is 0.
func (s sourceText) quotedOtherwise(i int) (from, to, end int) {
	if strings.IndexByte(otherQuotesBegin, s[i]) < 0 || isWord(s.at(i-1)) {
		return 0, 0, 0
	}
	m := otherQuotes.Find(s[i:min(len(s), i+20)])
	if m == nil {
		return 0, 0, 0
	}
	mark := string(m)
	if mark == "%(" || mark == "%[" {
		if at := hole.FindIndex(s[i:min(len(s), i+maxInserted)]); at != nil && at[0] == 0 {
			return 0, 0, 0 // a format placeholder
		}
	}
	closer := closers[mark[len(mark)-1]]
	switch {
	case mark[0] == '[':
		closer = "]" + mark[1:len(mark)-1] + "]"
	case mark[0] == '$':
		closer = mark
	case mark[0] == 'R':
		closer = ")" + mark[2:len(mark)-1] + `"`
	case closer == "":
		closer = mark[len(mark)-1:]
	}
	from = i + len(mark)
	for to = from; to < len(s) && to-from < 4*maxInserted; to++ {
		c := s[to]
		if bytes.HasPrefix(s[to:], []byte(closer)) {
			return from, to, to + len(closer)
		}
		if c <= ' ' || isQuote(c) || strings.IndexByte("{}()[]<>;,", c) >= 0 {
			break
		}
	}
	return 0, 0, 0
}

// insertions begin and end what is inserted into a string.
var insertions = []struct{ begin, end string }{{"${{", "}}"}, {"{{", "}}"}, {"${", "}"}, {"#{", "}"}, {"{", "}"}, {"$(", ")"}, {"(", ")"}, {"<%", "%>"}, {"<?", "?>"}}

// inserted removes everything except strings from an insertion at an offset. It returns the
// insertion's end, or 0.
func (p *rowReader) inserted(i int) int {
	for _, in := range insertions {
		if !bytes.HasPrefix(p.text[i:min(len(p.text), i+3)], []byte(in.begin)) {
			continue
		}
		var texts [][2]int
		inner, depth, j := in.begin[len(in.begin)-1], 0, i+len(in.begin)
		begin := j
		// A single bracket must hold only a string, unless it comes right after a letter or a
		// placeholder: code is full of brackets.
		inside := isToken(p.text.at(i-1)) || p.endsHole(i)
		number := isDigit(p.text.at(j)) && (inside || in.begin == "{" && isQuote(p.text.at(i-1)))
		alone := !number && (in.begin == "(" || in.begin == "{" && !inside)
		if in.begin == "{" && isQuote(p.text.at(j)) && isQuote(p.text.at(p.text.skipBlanks(p.text.key(i)))) {
			return 0 // {"a": "b"}
		}
		if alone && !isQuote(p.text.at(j)) && !(p.text.at(j) == ' ' && isQuote(p.text.at(j+1))) {
			return 0
		}
		for most := min(len(p.text), i+maxInserted); j < most; j++ {
			c := p.text[j]
			if c == '\n' {
				return 0
			}
			if isQuote(c) {
				n := bytes.IndexByte(p.text[j+1:min(len(p.text), j+4*maxInserted)], c)
				if n < 0 {
					return 0
				}
				if n > 0 {
					texts = append(texts, [2]int{j + 1, j + 1 + n})
				}
				if alone && len(texts) > 1 {
					return 0
				}
				j += n + 1
				most = min(len(p.text), most+n, i+4*maxInserted)
				continue
			}
			if alone && c != ' ' && c != in.end[0] {
				return 0
			}
			if depth == 0 && bytes.HasPrefix(p.text[j:], []byte(in.end)) {
				return p.leaveOut(i, begin, j, j+len(in.end), texts, len(in.begin) > 1 && in.begin[0] != '(')
			}
			switch {
			case c == inner:
				depth++
			case c == in.end[0]:
				depth--
			}
		}
		return 0
	}
	return 0
}

// leaveOut leaves out an insertion except for its strings, which are texts, and returns its end. It
// returns 0 if the text may mean something else. marked says that the insertion begins
// with several characters that are rare in code.
func (p *rowReader) leaveOut(from, begin, end, to int, texts [][2]int, marked bool) int {
	before, after := isToken(p.text.at(from-1)) || p.endsHole(from), isToken(p.text.at(to)) || strings.IndexByte("{$#<", p.text.at(to)) >= 0
	inner := string(p.text[begin:end])
	if len(texts) == 0 && (after || isQuote(p.text.at(to)) || p.text.at(to) == ':') && (before || p.text[from] != '(') && p.replaceNumber(from, begin, end, to) {
		return to
	}
	switch {
	case len(texts) > 0 && (marked || before && p.text[from] == '{' || before && (isWord(p.text.at(to)) || isQuote(p.text.at(to)))):
	case len(texts) > 0 && p.text[from] == '{' && after:
	case len(texts) == 0 && before && after && p.text[from] == '(':
		if strings.TrimLeft(inner, "\"'` ") != "" || inner == "" || p.text.at(to) == '.' {
			return 0
		}
	case len(texts) == 0 && before && after:
		if p.text[from] == '{' && isName(strings.TrimPrefix(inner, ":")) {
			p.holes = append(p.holes, [2]int{from, to}) // perhaps a placeholder for a string
			return 0
		}
	default:
		return 0
	}
	p.writeSeparated(texts)
	at := from
	for _, t := range append(texts, [2]int{to, to}) {
		for ; at < t[0]; at++ {
			p.text[at] = leftOut
		}
		at = t[1]
	}
	return to
}

// endsHole reports whether a placeholder for a string ends at an offset.
func (p *rowReader) endsHole(at int) bool {
	n := len(p.holes)
	return n > 0 && p.holes[n-1][1] == at
}

func isName(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return true
}

// bare writes text without quotes that has something removed: with the numbers of placeholders, and
// without them.
func (p *rowReader) bare() {
	numbered := false
	for _, h := range p.holes {
		p.text[h[0]], p.text[h[1]-1] = leftOut, leftOut
		numbered = numbered || isDigit(p.text.at(h[0]+1))
	}
	if numbered {
		p.lines.writeBare()
	}
	for _, h := range p.holes {
		for i := h[0]; i < h[1]; i++ {
			p.text[i] = leftOut
		}
	}
	p.lines.writeBare()
}

// isRandom reports whether a part of a text looks random. It adds up how much more likely each
// letter, digit and change between them is in random text than in words and names.
func isRandom(text string) bool {
	const enough = 80
	sum, last := 0, 0
	for i := range len(text) {
		c := text[i]
		var kind int
		switch {
		case '0' <= c && c <= '9':
			sum, kind = sum+12, 1
		case 'a' <= c && c <= 'z':
			sum, kind = sum+rarity[c-'a'], 2
		case 'A' <= c && c <= 'Z':
			sum, kind = sum+rarity[c-'A'], 3
		default:
			continue
		}
		switch {
		case last == 0 || last == 3 && kind == 2:
		case kind == last:
			sum -= 6
		default:
			sum += 20
		}
		last = kind
		if sum = max(sum, 0); sum >= enough {
			return true
		}
	}
	return false
}

// rarity is how much more likely a letter is among 26 than in English, in tenths of bits.
var rarity = [26]int{-11, 14, 5, -1, -17, 8, 9, -7, -9, 40, 23, 0, 7, -8, -10, 10, 40, -6, -7, -12, 5, 20, 7, 40, 10, 40}
