package secrets

import (
	"bytes"
	"strings"
)

// Some strings have no quotes, or are not where they are used: a character by its number, as in
// chr(95), [char]95 and 95.chr; lists of words, as in %w[a b] and qw(a b); and heredocs. The
// functions in this file write them in quotes where the program uses them, so that the rest of
// pieces.go reads them like any other string. Their changes keep the length.

// seam replaces the spaces between two words of a list.
const seam = 1

// rewrite writes strings without quotes in quotes.
func (p *pieced) rewrite() {
	for i, c := range p.text {
		switch {
		case !mayRewrite[c]:
		case c == '(' || c == '[' || c == '.':
			p.src.character(i)
		case c == '<':
			p.heredoc(i)
		default:
			p.words(i)
		}
	}
}

var mayRewrite = func() (may [256]bool) {
	for _, c := range "([.<%q~" {
		may[c] = true
	}
	return may
}()

// character writes in quotes the character whose number is after or in the bracket at an offset, or
// before the dot there.
func (s *sourceText) character(i int) {
	from, to, number := i, 0, 0
	switch c := s.text[i]; {
	case c == '.':
		if s.wordAt(i+1) != "chr" || !isDigit(s.at(i-1)) {
			return
		}
		for from > 0 && i-from < maxNumber && isWord(s.text[from-1]) {
			from--
		}
		if number, to = s.number(from); to == i {
			to += len(".chr")
		}
	case isDigit(s.at(i+1)) || s.at(i+1) == ' ' && isDigit(s.at(i+2)):
		if c == '[' {
			return
		}
		for from > 0 && i-from < maxCharacterName && isWord(s.text[from-1]) {
			from--
		}
		if number, to = s.number(i + 1); s.at(to) != ')' || !givesCharacter(s.text[from:i]) {
			return
		}
		to++
	default:
		name := s.wordAt(i + 1)
		if end := i + 1 + len(name); givesCharacter([]byte(name)) && (s.at(end) == ')' || s.at(end) == ']') {
			number, to = s.number(end + 1)
		}
	}
	if to == 0 || number >= 0x7f || !isTokens(byte(number)) {
		return
	}
	s.blank(from, to, ' ')
	s.text[from], s.text[from+1], s.text[from+2] = '"', byte(number), '"'
}

const (
	maxNumber        = 4  // 0x5f
	maxCharacterName = 16 // fromCodePoint
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// wordAt is the word that begins at an offset, up to the length of a character function's name.
func (s *sourceText) wordAt(from int) string {
	to := from
	for to < len(s.text) && to-from < maxCharacterName && isWord(s.text[to]) {
		to++
	}
	return string(s.text[from:to])
}

// givesCharacter reports whether a function returns the character with a number: chr, CHAR, ChrW,
// unichr, fromCharCode, fromCodePoint, rune.
func givesCharacter(name []byte) bool {
	for _, word := range []string{"ch", "rune", "code"} {
		if len(name) >= len(word) && bytes.Contains(bytes.ToLower(name), []byte(word)) {
			return true
		}
	}
	return false
}

// number reads a decimal or hexadecimal number with spaces around it, and returns the end of these,
// or 0.
func (s *sourceText) number(from int) (value, end int) {
	i := s.skipBlanks(from)
	base, digits := 10, i
	if s.at(i) == '0' && (s.at(i+1) == 'x' || s.at(i+1) == 'X') {
		base, digits = 16, i+2
	}
	for i = digits; i-digits < maxNumber && kinds[s.at(i)]&hex != 0 && (base == 16 || isDigit(s.at(i))); i++ {
		value = base*value + int(digitOf(s.text[i]))
	}
	if i == digits || isWord(s.at(i)) {
		return 0, 0
	}
	return value, s.skipBlanks(i)
}

// skipBlanks is the end of the spaces that begin at an offset, up to a bound.
func (s *sourceText) skipBlanks(i int) int {
	return i + blanks(string(s.text[min(i, len(s.text)):min(i+8, len(s.text))]))
}

// words writes the list of words at an offset in quotes, with seams between them.
func (p *pieced) words(i int) {
	kind := p.src.at(i + 1)
	switch p.text[i] {
	case '%':
		if strings.IndexByte("wWiI", kind) < 0 {
			return
		}
	case '~':
		if kind != 'w' && kind != 'W' {
			return
		}
	default:
		if kind != 'w' || isWord(p.src.at(i-1)) {
			return
		}
	}
	from := p.src.skipBlanks(i+2) + 1
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
	if p.src.at(to) != closer {
		return
	}
	p.src.blank(i, from, '"')
	for j := from; j < to; j++ {
		if isWhite(p.text[j]) {
			p.text[j] = seam
		}
	}
	p.text[to] = '"'
	p.seams = true
}

const (
	maxWords   = 512
	maxHeredoc = 512
)

func isWhite(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// heredoc writes the last line of the heredoc at an offset in quotes. A PHP heredoc is where it is
// used. A Ruby or Perl heredoc is on the lines after its use, and leaves an empty string at the
// use.
func (p *pieced) heredoc(i int) {
	if p.src.at(i+1) != '<' || p.src.at(i-1) == '<' {
		return
	}
	at := i + 2
	php := p.src.at(at) == '<'
	if php {
		at = p.src.skipBlanks(at + 1)
	} else if p.src.at(at) == '~' || p.src.at(at) == '-' {
		at++
	}
	quote := p.src.at(at)
	if isQuote(quote) {
		at++
	}
	name := p.src.wordAt(at)
	if name == "" || isDigit(name[0]) || isQuote(quote) && p.src.at(at+len(name)) != quote {
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
	from, to, end := p.src.body(begin, name)
	switch {
	case end == 0 || from == to:
	case php:
		if len(bytes.TrimSpace(line)) == 0 {
			p.src.blank(i, from, '"')
			p.src.blank(to, end, ' ')
			p.text[to] = '"'
		}
	case p.src.joins(i) || bytes.ContainsAny(line, "\"'`") || bytes.Contains(line, []byte("<<")):
		p.src.blank(i, at, ' ')
		p.text[i], p.text[i+1] = '"', '"'
		if p.bodies == nil {
			p.bodies = map[int][2]int{}
		}
		p.bodies[i+1] = [2]int{from, to}
		p.heredocs = end
	}
}

// joins reports whether an operator or a call comes before an offset.
func (s *sourceText) joins(i int) bool {
	for i > 0 && (s.text[i-1] == ' ' || s.text[i-1] == '\t') {
		i--
	}
	return i > 0 && strings.IndexByte("+.,(|&", s.text[i-1]) >= 0
}

// body returns the last line of the heredoc whose lines begin at an offset, without the spaces
// around it, and the end of the terminator after it. If there is none, end is 0.
func (s *sourceText) body(begin int, name string) (from, to, end int) {
	most := min(len(s.text), begin+maxHeredoc)
	for at := begin; at < most; {
		n := bytes.IndexByte(s.text[at:most], '\n')
		if n < 0 {
			n = most - at
		}
		line := s.text[at : at+n]
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

// key is the end of the name of a member after the bracket at an offset, including the colon, arrow
// or equals sign, or 0. A string or another such bracket follows.
func (s *sourceText) key(open int) int {
	end := s.name(open + 1)
	if end == 0 {
		return 0
	}
	switch i := s.skipBlanks(end); {
	case s.at(i) == '=' && s.at(i+1) == '>':
		return i + 2
	case s.at(i) == ':' && s.at(i+1) != ':' && s.text[open] != '(', s.at(i) == '=' && s.at(i+1) != '=':
		return i + 1
	}
	return 0
}

// name is the end of a name that may be in quotes and have spaces before it, or 0.
func (s *sourceText) name(from int) int {
	i := s.skipBlanks(from)
	quote := s.at(i)
	if isQuote(quote) {
		i++
	}
	n := len(s.wordAt(i))
	if i += n; n == 0 || isQuote(quote) && s.at(i) != quote {
		return 0
	}
	if isQuote(quote) {
		i++
	}
	return i
}

// member is the end of a member access on the value that the bracket at an offset ends, including
// its brackets, or 0.
func (s *sourceText) member(closing int) int {
	i := closing
	for most := closing + 8; i < most && (strings.IndexByte(")]}", s.at(i)) >= 0 || s.at(i) == ' '); {
		i++
	}
	if s.at(i) == '?' && s.at(i+1) == '.' {
		i++
	}
	switch s.at(i) {
	case '.':
		if n := len(s.wordAt(i + 1)); n > 0 {
			return i + 1 + n
		}
		if s.at(i+1) != '[' {
			return 0
		}
		i++
	case '[':
	default:
		return 0
	}
	at := i + 1
	if s.at(at) == ':' {
		at++
	}
	if end := s.name(at); end > 0 && s.at(s.skipBlanks(end)) == ']' {
		return s.skipBlanks(end) + 1
	}
	return 0
}

// choices are the rows that a program may make of a row with alternatives: with all strings of the
// first case, and with all strings of the other case.
func choices(row []chainPiece) (out [][]chainPiece) {
	var first, second []chainPiece
	for i, c := range row {
		if !c.alternative {
			second = append(second, c)
			if i+1 == len(row) || !row[i+1].alternative {
				first = append(first, c)
				continue
			}
			first = append(first, c)
			second = second[:len(second)-1]
			continue
		}
		second = append(second, c)
	}
	if len(second) == len(row) {
		return nil
	}
	return [][]chainPiece{first, second}
}
