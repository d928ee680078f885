package secrets

import "strings"

// sourceText is a source. Its methods recognise the strings, names and spaces in it.
type sourceText []byte

// bytesOf is the set of a text's bytes.
func bytesOf(text string) (set [256]bool) {
	for i := range len(text) {
		set[text[i]] = true
	}
	return set
}

// at is the byte at an offset, or a byte that occurs in no source.
func (s sourceText) at(i int) byte {
	if i < 0 || i >= len(s) {
		return 1
	}
	return s[i]
}

// wordAt is the word that begins at an offset, up to the length of a character function's name.
func (s sourceText) wordAt(from int) string {
	to := from
	for to < len(s) && to-from < maxCharacterName && isWord(s[to]) {
		to++
	}
	return string(s[from:to])
}

// skipBlanks is the end of the spaces that begin at an offset, up to a bound.
func (s sourceText) skipBlanks(i int) int {
	return i + blanks(string(s[min(i, len(s)):min(i+8, len(s))]))
}

// skipWhite is the end of the white space that begins at an offset, up to a bound.
func (s sourceText) skipWhite(i int) int {
	for most := i + maxBetween; i < most && isWhite(s.at(i)); i++ {
	}
	return i
}

// blank overwrites a stretch with spaces, and its last byte with a given one.
func (s sourceText) blank(from, to int, last byte) {
	for i := from; i < to; i++ {
		s[i] = ' '
	}
	s[to-1] = last
}

// isConditional reports whether a condition comes before the quote at an offset.
func (s sourceText) isConditional(quote int) bool {
	const most = 8
	for i := quote - 1; i >= max(0, quote-most); i-- {
		if c := s[i]; c != ' ' && c != '(' {
			return c == '?'
		}
	}
	return false
}

// begin is the start of the string that ends at an offset.
func (s sourceText) begin(end int) int {
	least := max(0, end-maxPiece)
	for i := end; i > least; i-- {
		if c := s[i-1]; c == s[end] || c == '\n' {
			return i
		}
	}
	return least
}

// end returns the end of the string that begins at an offset, and whether it ends with a quote.
func (s sourceText) end(from int, quote byte) (int, bool) {
	most := min(len(s), from+maxPiece)
	for i := from; i < most; i++ {
		switch s[i] {
		case quote:
			return i, true
		case '\n':
			return i, false
		}
	}
	return most, false
}

// aMember is where the text between strings continues after a bracket with the name of a member:
// {a: before a string, and }.a or )["a"] after it.
func (s sourceText) aMember(i, operators int) int {
	switch s[i] {
	case '{', '[', '(':
		if operators > 0 {
			return s.key(i)
		}
	case '}', ']', ')':
		return s.member(i)
	}
	return 0
}

// key is the end of the name of a member after the bracket at an offset, including the colon, arrow
// or equals sign, or 0. A string or another such bracket follows.
func (s sourceText) key(open int) int {
	end := s.name(open + 1)
	if end == 0 {
		return 0
	}
	switch i := s.skipBlanks(end); {
	case s.at(i) == '=' && s.at(i+1) == '>':
		return i + 2
	case s.at(i) == ':' && s.at(i+1) != ':' && s[open] != '(', s.at(i) == '=' && s.at(i+1) != '=':
		return i + 1
	}
	return 0
}

// name is the end of a name that may be in quotes and have spaces before it, or 0.
func (s sourceText) name(from int) int {
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
func (s sourceText) member(closing int) int {
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
