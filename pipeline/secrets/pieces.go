package secrets

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// A program has more ways to join strings than joined reads: with empty strings and names between
// them, in lists of short pieces, in the middle of a format. The functions in this file read
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
)

// leftOut replaces bytes that do not change what a string means.
const leftOut = 0

// pieced is a reading of adjacent strings, with a line for each row of them.
type pieced struct {
	reader
	text []byte
	src  sourceText // the same text
	// soft are the offsets in the reading where two strings meet that have more than an operator
	// between them, in ascending order.
	soft []int
	// comments caches the end of a row of comments by its start.
	comments map[int]int
	// line and blocks cache the last ends of comments that were found, and the starts of the
	// searches.
	line   [2]int
	blocks map[string][2]int
	holes  [][2]int // what may be a placeholder for another string, or insert one
	done   []uint64 // the ends of strings that were read, as a bit set
	// seams says that lists of words have seams in them. bodies are the lines of heredocs that are
	// not where they are used, by the place of use. heredocs is the end of the last of them.
	seams    bool
	calls    bool // the text has calls that change strings
	bodies   map[int][2]int
	heredocs int
}

// sourceText is a source in which strings, names and numbers are recognised.
type sourceText struct{ text []byte }

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

// asPieces returns nil if a text has no rows of strings.
func asPieces(text string) (*reading, []int) {
	source := []byte(text)
	p := &pieced{text: source, src: sourceText{source}, comments: map[int]int{}, line: [2]int{-1, -1}, blocks: map[string][2]int{}}
	p.calls = transforming.MatchString(text)
	p.rewrite()
	odd := p.normalise()
	p.done = make([]uint64, len(text)/64+1)
	for i, c := range p.text {
		if isQuote(c) && p.done[i/64]&(1<<(i%64)) == 0 {
			p.row(i)
		}
	}
	if odd {
		p.bare()
	}
	if p.out.Len() == 0 {
		return nil, nil
	}
	return p.reader.reading(text), p.soft
}

// row reads the strings that follow the string that ends at an offset.
func (p *pieced) row(end int) {
	begin := p.src.begin(end)
	holes := hasHole(p.text[begin:end])
	next, ok := p.between(end+1, holes, p.src.isConditional(begin-1))
	number, after := p.src.numberBefore(begin - 1)
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
		to, closed := p.src.end(from, p.text[next.open])
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
	if p.calls {
		p.writeTransformed(row)
	}
	if !p.src.mayHold(row) {
		return
	}
	if texts := withoutNumbers(row); len(texts) < len(row) {
		p.write(row)
		for _, apart := range p.separated(row) {
			p.write(apart)
		}
		if holes {
			p.write(filled(p.text, row))
		}
		row = texts
	}
	p.write(row)
	if len(row) > 1 && bytes.Contains(p.text[row[0].to:max(row[0].to, row[1].from)], []byte("prepend")) {
		p.write([]chainPiece{row[1], row[0]})
	}
	p.writeReversed(row)
	for _, choice := range choices(row) {
		p.write(choice)
	}
	for _, apart := range p.separated(row) {
		p.write(apart)
	}
	if holes {
		p.write(filled(p.text, row))
	}
	// A name may be the previous item of a list.
	if slices.ContainsFunc(row, func(c chainPiece) bool { return c.list }) {
		for len(row) > 0 {
			n := 1
			for n < len(row) && !row[n].list {
				n++
			}
			if n > 1 && n < len(row) || n > 1 && row[0].list {
				p.write(row[:n])
			}
			row = row[n:]
		}
	}
}

// piece is a string of a row, or what is elsewhere and belongs there.
func (p *pieced) piece(from, to int, before gap) chainPiece {
	if at, ok := p.bodies[from]; ok && from == to {
		from, to = at[0], at[1]
	}
	return chainPiece{from: from, to: to, gap: before}
}

// isConditional reports whether a condition comes before the quote at an offset.
func (s *sourceText) isConditional(quote int) bool {
	const most = 8
	for i := quote - 1; i >= max(0, quote-most); i-- {
		if c := s.text[i]; c != ' ' && c != '(' {
			return c == '?'
		}
	}
	return false
}

// begin is the start of the string that ends at an offset.
func (s *sourceText) begin(end int) int {
	least := max(0, end-maxPiece)
	for i := end; i > least; i-- {
		if c := s.text[i-1]; c == s.text[end] || c == '\n' {
			return i
		}
	}
	return least
}

// end returns the end of the string that begins at an offset, and whether it ends with a quote.
func (s *sourceText) end(from int, quote byte) (int, bool) {
	most := min(len(s.text), from+maxPiece)
	for i := from; i < most; i++ {
		switch s.text[i] {
		case quote:
			return i, true
		case '\n':
			return i, false
		}
	}
	return most, false
}

// mayHold reports whether a token may extend over a place in a row where two strings meet.
func (s *sourceText) mayHold(row []chainPiece) bool {
	n, digits, capitals, pieces := 0, 0, 0, 0
	for _, c := range row {
		if c.to > c.from {
			pieces++
		}
		for i := c.from; i < c.to; i++ {
			switch b := s.text[i]; {
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

// write adds a row to the reading, with the text before it.
func (p *pieced) write(row []chainPiece) {
	first := slices.MinFunc(row, func(a, b chainPiece) int { return a.from - b.from }).from
	for i := max(0, first-maxContext); i < first; i++ {
		p.add(i)
	}
	for i, c := range row {
		if i > 0 && c.soft {
			p.soft = append(p.soft, p.out.Len())
		}
		if c.value != "" {
			p.addValue(c)
			continue
		}
		for i := c.from; i < c.to; i++ {
			p.add(i)
		}
	}
	p.close(row[len(row)-1].to)
}

// addValue adds the value of a piece.
func (p *pieced) addValue(c chainPiece) {
	p.out.WriteString(c.value)
	for range len(c.value) {
		p.from, p.wide = append(p.from, c.from), append(p.wide, uint8(min(c.to-c.from, math.MaxUint8)))
	}
}

// add adds a byte of the source.
func (p *pieced) add(at int) {
	c := p.text[at]
	switch c {
	case leftOut:
		return
	case seam:
		p.soft = append(p.soft, p.out.Len())
		return
	}
	if c == '\n' || c == '\r' {
		c = ' '
	}
	p.grow()
	p.out.WriteByte(c)
	p.from, p.wide = append(p.from, at), append(p.wide, 1)
}

// grow doubles the capacity of a full reading. Growing in small steps would copy a long reading
// again and again.
func (p *pieced) grow() {
	const least = 1 << 10
	if n := len(p.from); n == cap(p.from) {
		p.from, p.wide = slices.Grow(p.from, max(least, n)), slices.Grow(p.wide, max(least, n))
		p.out.Grow(max(least, n))
	}
}

// close ends a line of the reading.
func (p *pieced) close(at int) {
	at = min(at, len(p.text)-1)
	p.out.WriteString("\"\n")
	p.from, p.wide = append(p.from, at, at), append(p.wide, 1, 1)
}

// between reads the text after a string, up to the next string. If a string before has
// placeholders, names may be in it. If that string depends on a condition, a colon may come before
// the alternative.
func (p *pieced) between(i int, holes, asked bool) (gap, bool) {
	b := gap{}
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
		if to := p.comment(i); to > i {
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
				if b.value = p.src.numberAt(word, i); b.value != "" {
					b.open, b.until, b.soft, b.plus = word, i, true, operators > 0
					return b, true
				}
			}
			b.alternative = b.alternative || i-word == len("else") && string(p.text[word:i]) == "else"
			b.soft, used = true, used+i-word
			continue
		}
		if to := p.src.aMember(i, operators); to > 0 {
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
			if next := p.src.skipWhite(i + 1); !isQuote(p.src.at(next)) {
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

// aMember is where the text between strings continues after a bracket with the name of a member:
// {a: before a string, and }.a or )["a"] after it.
func (s *sourceText) aMember(i, operators int) int {
	switch s.text[i] {
	case '{', '[', '(':
		if operators > 0 {
			return s.key(i)
		}
	case '}', ']', ')':
		return s.member(i)
	}
	return 0
}

// comment is the end of a row of comments and spaces that begins at an offset, or 0. The result is
// cached, since many may end in the same row.
func (p *pieced) comment(at int) int {
	if end, ok := p.comments[at]; ok {
		return end
	}
	var begins []int
	i := at
	for i < len(p.text) {
		if end, ok := p.comments[i]; ok && end > 0 {
			i = end
			break
		}
		end := p.commentEnd(i)
		if end == 0 {
			break
		}
		begins = append(begins, i)
		for i = end; i < len(p.text) && strings.IndexByte(" \t\r\n", p.text[i]) >= 0; i++ {
		}
	}
	for _, b := range begins {
		p.comments[b] = i
	}
	if len(begins) == 0 {
		return 0
	}
	return i
}

// commentEnd is the end of one comment, or 0.
func (p *pieced) commentEnd(i int) int {
	if strings.IndexByte(commentBegins, p.text[i]) < 0 {
		return 0
	}
	rest := string(p.text[i:min(len(p.text), i+maxCommentMark)])
	for _, c := range comments {
		switch {
		case !strings.HasPrefix(rest, c.begin):
		case c.end == "\n":
			return p.lineEnd(i)
		default:
			return p.blockEnd(i+len(c.begin), c.end)
		}
	}
	return 0
}

func (p *pieced) lineEnd(i int) int {
	if i > p.line[1] || i < p.line[0] || p.line[1] < 0 {
		end := bytes.IndexByte(p.text[i:], '\n')
		if end < 0 {
			end = len(p.text) - i
		}
		p.line = [2]int{i, i + end}
	}
	return p.line[1]
}

func (p *pieced) blockEnd(i int, mark string) int {
	last, ok := p.blocks[mark]
	if ok && last[0] <= i && i < last[1] {
		return last[1]
	}
	if ok && last[0] <= i && last[1] < 0 {
		return 0
	}
	end := bytes.Index(p.text[i:], []byte(mark))
	if end < 0 {
		p.blocks[mark] = [2]int{min(i, cmp.Or(last[0], i)), -1}
		return 0
	}
	end += i + len(mark)
	p.blocks[mark] = [2]int{i, end}
	return end
}

// hole matches a placeholder for a string in a format.
var hole = regexp.MustCompile(`%(?:\[?([0-9]{1,2})[\]$]|\((\w{1,20})\))?[-+0-9.]{0,4}(?:ll?|h|z)?[sdvSqri@acbuxX]|%([0-9])|~[sap]|\$?\{([\w.]{0,20})(?:![rsa])?(?::[^{}]{0,8})?\}|\$([a-zA-Z_]\w{0,19})`)

func hasHole(text []byte) bool {
	return bytes.IndexByte(text, '%') >= 0 || bytes.IndexByte(text, '{') >= 0 || bytes.IndexByte(text, '~') >= 0 || bytes.IndexByte(text, '$') >= 0
}

// filled puts the strings after a format into its placeholders: by number, by name, or in order. A
// string may go into several placeholders as long as the repeated text is no longer than the row.
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

// normalise replaces other marks around strings by quotes. It removes insertions into a string that
// add nothing, or the text around a string in them. It reports whether it removed something. Its
// changes keep the length.
func (p *pieced) normalise() (odd bool) {
	t := p.text
	for i := 0; i < len(t); i++ {
		if !mayMark[t[i]] {
			continue
		}
		if from, to, end := p.src.quotedOtherwise(i); end > 0 {
			p.src.blank(i, from, '"')
			p.src.blank(to, end, ' ')
			t[to] = '"'
			i = from - 1
			continue
		}
		c := t[i]
		before, after := p.src.at(i-1), p.src.at(i+1)
		switch {
		case c == '^':
			if isToken(before) && isToken(after) {
				t[i], odd = leftOut, true
			}
		case c == '#' && isQuote(before) && before == after: // a separate string
		case c == '#' && (isQuote(after) || after == '#') || c == '#' && isQuote(before) && p.src.endsRaw(i+1):
			t[i] = ' ' // of a raw string
		case c == '$' && isQuote(after):
			n := i + 2
			for n < len(t) && isToken(t[n]) {
				n++
			}
			if isToken(before) && n > i+2 && n < len(t) && t[n] == after {
				t[i], t[i+1], t[n], odd = leftOut, leftOut, leftOut, true
			} else {
				t[i] = ' '
			}
		default:
			if end := p.inserted(i); end > 0 {
				odd = true
				i = end - 1
			}
		}
	}
	return odd || len(p.holes) > 0
}

var mayMark = func() (may [256]bool) {
	for _, c := range "[q%~$R{(<#^" {
		may[c] = true
	}
	return may
}()

func (s *sourceText) at(i int) byte {
	if i < 0 || i >= len(s.text) {
		return 1
	}
	return s.text[i]
}

func isToken(c byte) bool { return c == leftOut || isTokens(c) }

// blank overwrites a stretch with spaces, and its last byte with a given one.
func (s *sourceText) blank(from, to int, last byte) {
	for i := from; i < to; i++ {
		s.text[i] = ' '
	}
	s.text[to-1] = last
}

// endsRaw reports whether the text after the string in r#"..."# may follow a string.
func (s *sourceText) endsRaw(i int) bool {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '#') {
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
func (s *sourceText) quotedOtherwise(i int) (from, to, end int) {
	if strings.IndexByte(otherQuotesBegin, s.text[i]) < 0 || isWord(s.at(i-1)) {
		return 0, 0, 0
	}
	m := otherQuotes.Find(s.text[i:min(len(s.text), i+20)])
	if m == nil {
		return 0, 0, 0
	}
	mark := string(m)
	if mark == "%(" || mark == "%[" {
		if at := hole.FindIndex(s.text[i:min(len(s.text), i+maxInserted)]); at != nil && at[0] == 0 {
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
	for to = from; to < len(s.text) && to-from < 4*maxInserted; to++ {
		c := s.text[to]
		if bytes.HasPrefix(s.text[to:], []byte(closer)) {
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
func (p *pieced) inserted(i int) int {
	for _, in := range insertions {
		if !bytes.HasPrefix(p.text[i:min(len(p.text), i+3)], []byte(in.begin)) {
			continue
		}
		var texts [][2]int
		inner, depth, j := in.begin[len(in.begin)-1], 0, i+len(in.begin)
		begin := j
		// A lone bracket must hold only a string, unless it is after a letter and a placeholder:
		// code is full of brackets.
		inside := isToken(p.src.at(i-1)) || p.endsHole(i)
		number := isDigit(p.src.at(j)) && (inside || in.begin == "{" && isQuote(p.src.at(i-1)))
		alone := !number && (in.begin == "(" || in.begin == "{" && !inside)
		if in.begin == "{" && isQuote(p.src.at(j)) && isQuote(p.src.at(p.src.skipBlanks(p.src.key(i)))) {
			return 0 // {"a": "b"}
		}
		if alone && !isQuote(p.src.at(j)) && !(p.src.at(j) == ' ' && isQuote(p.src.at(j+1))) {
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

func (p *pieced) leaveOut(from, begin, end, to int, texts [][2]int, marked bool) int {
	before, after := isToken(p.src.at(from-1)) || p.endsHole(from), isToken(p.src.at(to)) || strings.IndexByte("{$#<", p.src.at(to)) >= 0
	inner := string(p.text[begin:end])
	if len(texts) == 0 && (after || isQuote(p.src.at(to)) || p.src.at(to) == ':') && (before || p.text[from] != '(') && p.replaceNumber(from, begin, end, to) {
		return to
	}
	switch {
	case len(texts) > 0 && (marked || before && p.text[from] == '{' || before && (isWord(p.src.at(to)) || isQuote(p.src.at(to)))):
	case len(texts) > 0 && p.text[from] == '{' && after:
	case len(texts) == 0 && before && after && p.text[from] == '(':
		if strings.TrimLeft(inner, "\"'` ") != "" || inner == "" || p.src.at(to) == '.' {
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
func (p *pieced) endsHole(at int) bool {
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
func (p *pieced) bare() {
	numbered := false
	for _, h := range p.holes {
		p.text[h[0]], p.text[h[1]-1] = leftOut, leftOut
		numbered = numbered || isDigit(p.src.at(h[0]+1))
	}
	if numbered {
		p.writeBare()
	}
	for _, h := range p.holes {
		for i := h[0]; i < h[1]; i++ {
			p.text[i] = leftOut
		}
	}
	p.writeBare()
}

func (p *pieced) writeBare() {
	last := 0 // the end of the previous stretch, of which only the name is repeated
	for i := 0; i < len(p.text); i++ {
		if p.text[i] <= ' ' && p.text[i] != leftOut || isQuote(p.text[i]) {
			continue
		}
		from, left := i, 0
		for i < len(p.text) && (p.text[i] > ' ' || p.text[i] == leftOut) && !isQuote(p.text[i]) {
			if p.text[i] == leftOut {
				left++
			}
			i++
		}
		if left == 0 || i-from-left < minJoined {
			continue
		}
		for j := max(0, from-maxContext, last-maxContext/2); j < from; j++ {
			p.add(j)
		}
		last = i
		for j := from; j < i; j++ {
			if p.text[j] == leftOut {
				p.soft = append(p.soft, p.out.Len())
			}
			p.add(j)
		}
		p.close(i)
	}
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
