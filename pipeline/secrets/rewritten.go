package secrets

import (
	"bytes"
	"strings"
)

// Some strings have no quotes, or are not where they are used: a character by its number, as in
// chr(95), [char]95 and 95.chr; lists of words, as in %w[a b] and qw(a b); and heredocs. The
// functions in this file write them in quotes where the program uses them, so that the rest of
// pieces.go reads them like any other string. Their changes keep the length.

const (
	// seam replaces the spaces between two words of a list.
	seam = 1

	maxNumber        = 4  // 0x5f
	maxCharacterName = 16 // fromCodePoint
	maxWords         = 512
	maxHeredoc       = 512
)

// rewrite writes strings without quotes in quotes.
func (p *rowReader) rewrite() {
	for i, c := range p.text {
		switch {
		case !mayRewrite[c]:
		case c == '(' || c == '[' || c == '.':
			p.text.character(i)
		case c == '<':
			p.heredoc(i)
		default:
			p.words(i)
		}
	}
}

var mayRewrite = bytesOf("([.<%q~")

// character writes in quotes the character whose number is after or in the bracket at an offset, or
// before the dot there.
func (s sourceText) character(i int) {
	from, to, number := i, 0, 0
	switch c := s[i]; {
	case c == '.':
		if s.wordAt(i+1) != "chr" || !isDigit(s.at(i-1)) {
			return
		}
		for from > 0 && i-from < maxNumber && isWord(s[from-1]) {
			from--
		}
		if number, to = s.number(from); to == i {
			to += len(".chr")
		}
	case isDigit(s.at(i+1)) || s.at(i+1) == ' ' && isDigit(s.at(i+2)):
		if c == '[' {
			return
		}
		for from > 0 && i-from < maxCharacterName && isWord(s[from-1]) {
			from--
		}
		if number, to = s.number(i + 1); s.at(to) != ')' || !givesCharacter(string(s[from:i])) {
			return
		}
		to++
	default:
		name := s.wordAt(i + 1)
		if end := i + 1 + len(name); givesCharacter(name) && (s.at(end) == ')' || s.at(end) == ']') {
			number, to = s.number(end + 1)
		}
	}
	if to == 0 || number >= 0x7f || !isTokens(byte(number)) {
		return
	}
	s.blank(from, to, ' ')
	s[from], s[from+1], s[from+2] = '"', byte(number), '"'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// givesCharacter reports whether a function returns the character with a number: chr, CHAR, ChrW,
// unichr, fromCharCode, fromCodePoint, rune.
func givesCharacter(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "ch") || strings.Contains(name, "rune") || strings.Contains(name, "code")
}

// number reads a decimal or hexadecimal number with spaces around it, and returns the end of these,
// or 0.
func (s sourceText) number(from int) (value, end int) {
	i := s.skipBlanks(from)
	base, digits := 10, i
	if s.at(i) == '0' && (s.at(i+1) == 'x' || s.at(i+1) == 'X') {
		base, digits = 16, i+2
	}
	for i = digits; i-digits < maxNumber && kinds[s.at(i)]&hex != 0 && (base == 16 || isDigit(s.at(i))); i++ {
		value = base*value + int(digitOf(s[i]))
	}
	if i == digits || isWord(s.at(i)) {
		return 0, 0
	}
	return value, s.skipBlanks(i)
}

// wordMarks are the letters after the first character of a list of words.
var wordMarks = map[byte]string{'%': "wWiI", '~': "wW", 'q': "w"}

// words writes the list of words at an offset in quotes, with seams between them.
func (p *rowReader) words(i int) {
	if c := p.text[i]; strings.IndexByte(wordMarks[c], p.text.at(i+1)) < 0 || c == 'q' && isWord(p.text.at(i-1)) {
		return
	}
	from := p.text.skipBlanks(i+2) + 1
	if from >= len(p.text) || strings.IndexByte("([{</|!", p.text[from-1]) < 0 {
		return
	}
	closer := p.text[from-1]
	if c, ok := closers[closer]; ok {
		closer = c[0]
	}
	to := from
	for to < len(p.text) && to-from < maxWords && p.text[to] != closer && (isTokens(p.text[to]) || p.text[to] == '=' || isWhite(p.text[to])) {
		to++
	}
	if p.text.at(to) != closer {
		return
	}
	p.text.blank(i, from, '"')
	for j := from; j < to; j++ {
		if isWhite(p.text[j]) {
			p.text[j] = seam
		}
	}
	p.text[to] = '"'
	p.seams = true
}

func isWhite(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// heredoc writes the last line of the heredoc at an offset in quotes. A PHP heredoc is where it is
// used. A Ruby or Perl heredoc is on the lines after its use, and leaves an empty string at the
// use.
func (p *rowReader) heredoc(i int) {
	if p.text.at(i+1) != '<' || p.text.at(i-1) == '<' {
		return
	}
	at := i + 2
	php := p.text.at(at) == '<'
	if php {
		at = p.text.skipBlanks(at + 1)
	} else if p.text.at(at) == '~' || p.text.at(at) == '-' {
		at++
	}
	quote := p.text.at(at)
	if isQuote(quote) {
		at++
	}
	name := p.text.wordAt(at)
	if name == "" || isDigit(name[0]) || isQuote(quote) && p.text.at(at+len(name)) != quote {
		return
	}
	if at += len(name); isQuote(quote) {
		at++
	}
	lineEnd := bytes.IndexByte(p.text[at:min(len(p.text), at+maxHeredoc)], '\n')
	if lineEnd < 0 {
		return
	}
	line := p.text[at : at+lineEnd]
	begin := at + lineEnd + 1
	if begin < p.heredocs {
		begin = p.heredocs // the end of the previous one on the same line
	}
	from, to, end := p.text.body(begin, name)
	switch {
	case end == 0 || from == to:
	case php:
		if len(bytes.TrimSpace(line)) == 0 {
			p.text.blank(i, from, '"')
			p.text.blank(to, end, ' ')
			p.text[to] = '"'
		}
	case p.text.joins(i) || bytes.ContainsAny(line, "\"'`") || bytes.Contains(line, []byte("<<")):
		p.text.blank(i, at, ' ')
		p.text[i], p.text[i+1] = '"', '"'
		if p.bodies == nil {
			p.bodies = map[int][2]int{}
		}
		p.bodies[i+1] = [2]int{from, to}
		p.heredocs = end
	}
}

// joins reports whether an operator or a call comes before an offset.
func (s sourceText) joins(i int) bool {
	for i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
		i--
	}
	return i > 0 && strings.IndexByte("+.,(|&", s[i-1]) >= 0
}

// body returns the last line of the heredoc whose lines begin at an offset, without the spaces
// around it, and the end of the terminator after it. If there is none, end is 0.
func (s sourceText) body(begin int, name string) (from, to, end int) {
	most := min(len(s), begin+maxHeredoc)
	for at := begin; at < most; {
		n := bytes.IndexByte(s[at:most], '\n')
		if n < 0 {
			n = most - at
		}
		line := s[at : at+n]
		word := bytes.TrimLeft(line, " \t")
		if bytes.HasPrefix(word, []byte(name)) && (len(word) == len(name) || !isWord(word[len(name)])) {
			return from, to, at + len(line) - len(word) + len(name)
		}
		if word := bytes.TrimSpace(line); len(word) > 0 {
			from = at + bytes.Index(line, word)
			to = from + len(word)
		}
		at += n + 1
	}
	return 0, 0, 0
}

// choices are the rows that a program may make of a row with alternatives: with all strings of the
// first case, and with all strings of the other case.
func choices(row []chainPiece) (out [][]chainPiece) {
	var first, second []chainPiece
	for i, c := range row {
		if !c.alternative {
			first = append(first, c)
		}
		if c.alternative || i+1 == len(row) || !row[i+1].alternative {
			second = append(second, c)
		}
	}
	if len(second) == len(row) {
		return nil
	}
	return [][]chainPiece{first, second}
}
