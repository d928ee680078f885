package secrets

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// A program has more ways to put texts together than joined reads: with empty texts and
// names between, in lists of short pieces, in the middle of a format. pieces.go reads
// neighbouring texts as one, whatever stands between them as long as it is short, and
// leaves it to the shape of the whole whether that is a token: pieces tell nothing, since
// who cuts a token chooses where.

const (
	// maxBetween is how many bytes may stand between two texts, comments and blanks
	// aside.
	maxBetween = 80
	// maxPiece bounds a text, and maxContext what is read of the line before it, where a
	// name may stand.
	maxPiece   = 8 << 10
	maxContext = 64
	// maxInserted is how long what is inserted into a text is at most.
	maxInserted = 96
	// maxArguments is how many texts a format takes.
	maxArguments = 64
	// minJoined is shorter than any token.
	minJoined = 14
)

// leftOut replaces bytes that do not change what a text means.
const leftOut = 0

// pieced is a reading of texts that stand beside each other, a line for each row of them.
type pieced struct {
	reader
	text []byte
	// soft are the offsets in the reading where two texts meet between which stands
	// more than an operator, in ascending order.
	soft []int
	// comments tells where a row of comments ends, by where each begins.
	comments map[int]int
	// line and blocks are the ends of comments that were looked for last, and from where.
	line   [2]int
	blocks map[string][2]int
	holes  [][2]int // what may be a place for another text, or insert one
	done   []uint64 // the ends of texts that are behind us, as a set
	// seams tells that lists of words have seams in them. bodies are the lines of heredocs
	// that stand elsewhere than where they are used, by where that is, and heredocs is
	// where the last of them ends.
	seams    bool
	calls    bool // the text has calls that turn texts
	bodies   map[int][2]int
	heredocs int
}

// chainPiece is one text of a row: a stretch of the source, and what stands before it.
type chainPiece struct {
	from, to int
	gap
}

// gap is what stands between two texts.
type gap struct {
	open int  // where the next begins, with its quote
	soft bool // more than an operator and blanks
	list bool // a comma or semicolon is among it
	plus bool // an operator is among it
	name string
	// until is where the next ends that is a number. said is what the program makes of the
	// next, where that is another text.
	until int
	said  string
	// asked tells that the next text depends on a condition, and other that it is there
	// in place of the one before.
	asked, other bool
}

// asPieces returns nil where a text has no rows of texts.
func asPieces(text string) (*reading, []int) {
	p := &pieced{text: []byte(text), comments: map[int]int{}, line: [2]int{-1, -1}, blocks: map[string][2]int{}}
	p.calls = turning.MatchString(text)
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

// row reads the texts that follow the one that ends at an offset.
func (p *pieced) row(end int) {
	begin := p.begin(end)
	holes := hasHole(p.text[begin:end])
	next, ok := p.between(end+1, holes, p.isAsked(begin-1))
	number, after := p.numberBefore(begin - 1)
	if !ok && !after && !p.isTurned(end) && !(p.seams && bytes.IndexByte(p.text[begin:end], seam) >= 0) {
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
			next, ok = p.between(next.until, holes, next.asked)
			continue
		}
		numbers = 0
		from := next.open + 1
		to, closed := p.end(from, p.text[next.open])
		row = append(row, p.piece(from, to, next))
		holes = holes || hasHole(p.text[from:to])
		if !closed {
			break
		}
		if end = to; p.done[end/64]&(1<<(end%64)) != 0 {
			break
		}
		next, ok = p.between(end+1, holes, next.asked)
	}
	p.done[end/64] |= 1 << (end % 64)
	if p.calls {
		p.writeTurned(row)
	}
	if !p.mayHold(row) {
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
	// A name may be the item before in a list.
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

// piece is a text of a row, or what stands elsewhere for it.
func (p *pieced) piece(from, to int, before gap) chainPiece {
	if at, ok := p.bodies[from]; ok && from == to {
		from, to = at[0], at[1]
	}
	return chainPiece{from: from, to: to, gap: before}
}

// isAsked reports whether a condition stands before the quote at an offset.
func (p *pieced) isAsked(quote int) bool {
	const most = 8
	for i := quote - 1; i >= max(0, quote-most); i-- {
		if c := p.text[i]; c != ' ' && c != '(' {
			return c == '?'
		}
	}
	return false
}

// begin is where the text begins that ends at an offset.
func (p *pieced) begin(end int) int {
	least := max(0, end-maxPiece)
	for i := end; i > least; i-- {
		if c := p.text[i-1]; c == p.text[end] || c == '\n' {
			return i
		}
	}
	return least
}

// end is where the text ends that begins at an offset, and whether a quote ends it.
func (p *pieced) end(from int, quote byte) (int, bool) {
	most := min(len(p.text), from+maxPiece)
	for i := from; i < most; i++ {
		switch p.text[i] {
		case quote:
			return i, true
		case '\n':
			return i, false
		}
	}
	return most, false
}

// mayHold reports whether a token may stand in a row over the place where two of its texts
// meet.
func (p *pieced) mayHold(row []chainPiece) bool {
	n, digits, capitals, pieces := 0, 0, 0, 0
	for _, c := range row {
		if c.to > c.from {
			pieces++
		}
		for i := c.from; i < c.to; i++ {
			switch b := p.text[i]; {
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

// write adds a row to the reading, with what stands before it.
func (p *pieced) write(row []chainPiece) {
	first := slices.MinFunc(row, func(a, b chainPiece) int { return a.from - b.from }).from
	for i := max(0, first-maxContext); i < first; i++ {
		p.add(i)
	}
	for i, c := range row {
		if i > 0 && c.soft {
			p.soft = append(p.soft, p.out.Len())
		}
		if c.said != "" {
			p.say(c)
			continue
		}
		for i := c.from; i < c.to; i++ {
			p.add(i)
		}
	}
	p.close(row[len(row)-1].to)
}

// say adds what a program makes of a piece.
func (p *pieced) say(c chainPiece) {
	p.out.WriteString(c.said)
	for range len(c.said) {
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

// grow makes room for twice as much where the reading is full: a long one would be copied
// again and again if it grew in small steps.
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

// between reads what stands behind a text, up to the next. Where a text before has holes
// for others, names may be among it. Where that text depends on a condition, a colon may
// stand before what is there otherwise.
func (p *pieced) between(i int, holes, asked bool) (gap, bool) {
	b := gap{}
	used, operators := 0, 0
	word := -1 // where a word began
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
				continue // it says how to read the text
			}
			if isDigit(c) {
				if b.said = p.numberAt(word, i); b.said != "" {
					b.open, b.until, b.soft, b.plus = word, i, true, operators > 0
					return b, true
				}
			}
			b.other = b.other || i-word == len("else") && string(p.text[word:i]) == "else"
			b.soft, used = true, used+i-word
			continue
		}
		if to := p.aMember(i, operators); to > 0 {
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
			// Between the items of a list, as ML has it.
			if next := p.skipWhite(i + 1); !isQuote(p.at(next)) {
				return b, false
			}
			b.soft, b.list = true, true
		case ':':
			switch {
			case i+1 < len(p.text) && p.text[i+1] == ':':
				i++
			case asked || b.asked:
				b.other = b.other || asked
			case !holes:
				return b, false
			}
			b.soft = true
		case '?':
			b.soft, b.asked = true, true
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

// aMember is where what stands between texts goes on behind a bracket with the name of a
// member: {a: before a text, and }.a or )["a"] behind it.
func (p *pieced) aMember(i, operators int) int {
	switch p.text[i] {
	case '{', '[', '(':
		if operators > 0 {
			return p.key(i)
		}
	case '}', ']', ')':
		return p.member(i)
	}
	return 0
}

// comment is where a row of comments and blanks ends that begins at an offset, or 0. What is
// known of it is kept, since many may end in the same row.
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

// commentEnd is where one comment ends, or 0.
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

// hole is a place that a format keeps for a text.
var hole = regexp.MustCompile(`%(?:\[?([0-9]{1,2})[\]$]|\((\w{1,20})\))?[-+0-9.]{0,4}(?:ll?|h|z)?[sdvSqri@acbuxX]|%([0-9])|~[sap]|\$?\{([\w.]{0,20})(?:![rsa])?(?::[^{}]{0,8})?\}|\$([a-zA-Z_]\w{0,19})`)

func hasHole(text []byte) bool {
	return bytes.IndexByte(text, '%') >= 0 || bytes.IndexByte(text, '{') >= 0 || bytes.IndexByte(text, '~') >= 0 || bytes.IndexByte(text, '$') >= 0
}

// filled puts the texts of a row that follow a format into its holes: by number, by name, or
// in order. A text may be put into several holes as long as what is repeated is no longer than
// the row.
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
				if arg.said != "" {
					arg.said = written(arg.said, verbOf(string(text[c.from+m[0]:c.from+m[1]])))
				}
				if put[which] {
					room -= arg.to - arg.from
				}
				if room >= 0 && (arg.said != "" || args[which].said == "") {
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

// normalise writes the texts of a source with other marks than quotes in quotes, and leaves
// out what is inserted into a text and says nothing, or what stands around a text there. It
// reports whether something was left out. What it changes keeps its length.
func (p *pieced) normalise() (odd bool) {
	t := p.text
	for i := 0; i < len(t); i++ {
		if !mayMark[t[i]] {
			continue
		}
		if from, to, end := p.quotedOtherwise(i); end > 0 {
			p.blank(i, from, '"')
			p.blank(to, end, ' ')
			t[to] = '"'
			i = from - 1
			continue
		}
		c := t[i]
		before, after := p.at(i-1), p.at(i+1)
		switch {
		case c == '^':
			if isToken(before) && isToken(after) {
				t[i], odd = leftOut, true
			}
		case c == '#' && isQuote(before) && before == after: // a text of its own
		case c == '#' && (isQuote(after) || after == '#') || c == '#' && isQuote(before) && p.endsRaw(i+1):
			t[i] = ' ' // of a raw text
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

func (p *pieced) at(i int) byte {
	if i < 0 || i >= len(p.text) {
		return 1
	}
	return p.text[i]
}

func isToken(c byte) bool { return c == leftOut || isTokens(c) }

// blank writes blanks over a stretch, and at its end a quote.
func (p *pieced) blank(from, to int, last byte) {
	for i := from; i < to; i++ {
		p.text[i] = ' '
	}
	p.text[to-1] = last
}

// endsRaw reports whether what follows the text in r#"..."# may stand behind a text.
func (p *pieced) endsRaw(i int) bool {
	for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '#') {
		i++
	}
	return strings.IndexByte(",)+.", p.at(i)) >= 0
}

var (
	// otherQuotes begin texts of Lua, Perl, Ruby, Elixir, PostgreSQL and C++.
	otherQuotes = regexp.MustCompile(`^(?:\[=*\[|(?:%[qQ]|q|qq|~[sS])[(\[{<|/!]|%[(\[{<]|\$\w{0,16}\$|R"\w{0,16}\()`)
	closers     = map[byte]string{'(': ")", '[': "]", '{': "}", '<': ">"}
)

// otherQuotesBegin are the first characters of otherQuotes.
const otherQuotesBegin = "[%q~$R"

// quotedOtherwise returns where the text begins and ends that a mark at an offset begins,
// and where the mark behind it ends; end is 0 for none.
func (p *pieced) quotedOtherwise(i int) (from, to, end int) {
	if strings.IndexByte(otherQuotesBegin, p.text[i]) < 0 || isWord(p.at(i-1)) {
		return 0, 0, 0
	}
	m := otherQuotes.Find(p.text[i:min(len(p.text), i+20)])
	if m == nil {
		return 0, 0, 0
	}
	mark := string(m)
	if mark == "%(" || mark == "%[" {
		if at := hole.FindIndex(p.text[i:min(len(p.text), i+maxInserted)]); at != nil && at[0] == 0 {
			return 0, 0, 0 // a place that a format keeps
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
	for to = from; to < len(p.text) && to-from < 4*maxInserted; to++ {
		c := p.text[to]
		if bytes.HasPrefix(p.text[to:], []byte(closer)) {
			return from, to, to + len(closer)
		}
		if c <= ' ' || isQuote(c) || strings.IndexByte("{}()[]<>;,", c) >= 0 {
			break
		}
	}
	return 0, 0, 0
}

// insertions begin what is inserted into a text, and end it.
var insertions = []struct{ begin, end string }{{"${{", "}}"}, {"{{", "}}"}, {"${", "}"}, {"#{", "}"}, {"{", "}"}, {"$(", ")"}, {"(", ")"}, {"<%", "%>"}, {"<?", "?>"}}

// inserted leaves out all but the texts in what is inserted into another at an offset. It
// returns where that ends, or 0.
func (p *pieced) inserted(i int) int {
	for _, in := range insertions {
		if !bytes.HasPrefix(p.text[i:min(len(p.text), i+3)], []byte(in.begin)) {
			continue
		}
		var texts [][2]int
		inner, depth, j := in.begin[len(in.begin)-1], 0, i+len(in.begin)
		begin := j
		// A lone bracket has a text in it and no more, but for a place for one behind
		// a letter: code is full of them.
		inside := isToken(p.at(i-1)) || p.endsHole(i)
		number := isDigit(p.at(j)) && (inside || in.begin == "{" && isQuote(p.at(i-1)))
		alone := !number && (in.begin == "(" || in.begin == "{" && !inside)
		if in.begin == "{" && isQuote(p.at(j)) && isQuote(p.at(p.skipBlanks(p.key(i)))) {
			return 0 // {"a": "b"}
		}
		if alone && !isQuote(p.at(j)) && !(p.at(j) == ' ' && isQuote(p.at(j+1))) {
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
	before, after := isToken(p.at(from-1)) || p.endsHole(from), isToken(p.at(to)) || strings.IndexByte("{$#<", p.at(to)) >= 0
	inner := string(p.text[begin:end])
	if len(texts) == 0 && (after || isQuote(p.at(to)) || p.at(to) == ':') && (before || p.text[from] != '(') && p.writeOut(from, begin, end, to) {
		return to
	}
	switch {
	case len(texts) > 0 && (marked || before && p.text[from] == '{' || before && (isWord(p.at(to)) || isQuote(p.at(to)))):
	case len(texts) > 0 && p.text[from] == '{' && after:
	case len(texts) == 0 && before && after && p.text[from] == '(':
		if strings.TrimLeft(inner, "\"'` ") != "" || inner == "" || p.at(to) == '.' {
			return 0
		}
	case len(texts) == 0 && before && after:
		if p.text[from] == '{' && isName(strings.TrimPrefix(inner, ":")) {
			p.holes = append(p.holes, [2]int{from, to}) // a place for a text, perhaps
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

// endsHole reports whether a place for a text ends at an offset.
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

// bare writes what stands in no quotes and has something left out: with the numbers in
// places for other texts, and without them.
func (p *pieced) bare() {
	numbered := false
	for _, h := range p.holes {
		p.text[h[0]], p.text[h[1]-1] = leftOut, leftOut
		numbered = numbered || isDigit(p.at(h[0]+1))
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
	last := 0 // where the stretch before ends, of which only the name is repeated
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

// drawnAtRandom reports whether a part of a text looks as if a machine drew it. It adds up
// how much more likely each letter, digit and change between them is there than in words
// and names.
func drawnAtRandom(text string) bool {
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
