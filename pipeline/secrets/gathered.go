package secrets

import (
	"strings"
)

// gathered returns secrets that are encoded in pieces so short that each line looks like any other
// text: base64 in groups or lines of a few characters, and bytes as hexadecimal or decimal numbers,
// as pairs of digits, in lists and in dumps.
func (s *formatSet) gathered(text string) []match {
	return append(s.numbers(text), s.groups(text)...)
}

// chain holds pieces of a text joined together, and where each piece begins in the chain and in the
// text.
type chain struct {
	held  []byte
	at    []part
	end   int // of the last piece in the text
	marks int // how often a character's kind differs from that of the one before
}

// part is where a piece begins in the chain and in the text.
type part struct{ in, from int }

func (c *chain) add(text string, from, to int) {
	c.at = append(c.at, part{len(c.held), from})
	if len(c.held) > 0 && kindOf[c.held[len(c.held)-1]] != kindOf[text[from]] {
		c.marks++
	}
	for i := from + 1; i < to; i++ {
		if kindOf[text[i]] != kindOf[text[i-1]] {
			c.marks++
		}
	}
	c.held, c.end = append(c.held, text[from:to]...), to
}

func (c *chain) clear() { c.held, c.at, c.marks = c.held[:0], c.at[:0], 0 }

// source returns the stretch of the text behind a stretch of the chain, in whole pieces.
func (c *chain) source(from, to int, text string) (int, int) {
	return c.at[c.piece(from)].from, c.sourceEnd(to-1, text)
}

// piece is the index of the piece at an offset in the chain.
func (c *chain) piece(in int) int {
	low, high := 0, len(c.at)
	for high-low > 1 {
		if mid := (low + high) / 2; c.at[mid].in <= in {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

func (c *chain) sourceEnd(in int, text string) int {
	i := c.piece(in)
	n := len(c.held) - c.at[i].in
	if i+1 < len(c.at) {
		n = c.at[i+1].in - c.at[i].in
	}
	end := min(len(text), c.at[i].from+n)
	for n == 1 && end < len(text) && kindOf[text[end]] == digit {
		end++ // a number that is a single byte
	}
	return end
}

// maxGroup is the length of the longest piece of base64 that can be one of several on a line.
const maxGroup = 76

// groups returns the tokens and keys in groups of base64.
func (s *formatSet) groups(text string) []match {
	var out []match
	var all, plain chain // with and without the numbers at the start of lines
	numbers := 0
	flush := func() {
		if len(all.held) >= minEncoded {
			out = append(out, s.inGroups(text, &all)...)
			if numbers > 1 {
				out = append(out, s.inGroups(text, &plain)...)
			}
		}
		all.clear()
		plain.clear()
		numbers = 0
	}
	first := true // on its line
	for i := 0; i < len(text); {
		c := text[i]
		if kindOf[c] == 0 {
			switch {
			case c == '\n':
				first = true
			case c == '\\' && (byteAt(text, i+1) == 'n' || byteAt(text, i+1) == 'r'):
				first = true
				i++
			case c == '<':
				i += lengthOfTag(text[i:])
			case !isFrame[c]:
				flush()
			}
			i++
			continue
		}
		from := i
		letters, digits := 0, 0
		for i < len(text) && kindOf[text[i]] != 0 {
			switch kindOf[text[i]] {
			case digit:
				digits++
			case capital, small:
				letters++
			}
			i++
		}
		switch {
		case i-from > maxGroup:
			flush()
		case letters+digits == 0 && (first || afterQuote(text, from)):
			continue // the start of a comment, or an operator between pieces
		default:
			if first && letters == 0 {
				numbers++
			} else {
				plain.add(text, from, i)
			}
			all.add(text, from, i)
		}
		first = false
	}
	flush()
	return out
}

// isFrame holds the characters that may be between groups.
var isFrame = bytesOf(" \t\r\n\"'`#*|>,;:.()[]=\\&")

// lengthOfTag is the length of the tag at the start of a text, without its end, or 0.
func lengthOfTag(s string) int {
	const longest = 64
	return max(0, strings.IndexByte(s[:min(len(s), longest)], '>')-1)
}

func afterQuote(text string, at int) bool {
	for at > 0 && text[at-1] == ' ' {
		at--
	}
	return at > 0 && isQuote(text[at-1])
}

// A stretch of groups is decoded if the kind of its characters changes at least this often. Encoded
// tokens have more changes, and words fewer.
const (
	groupsLength  = 28
	groupsChanges = 9
	groupsRoom    = 32 // how much around such a stretch is included
)

// inGroups returns the tokens and keys in a chain of groups.
func (s *formatSet) inGroups(text string, c *chain) []match {
	if c.marks < groupsChanges || len(c.at) < 2 {
		return nil
	}
	var out []match
	held := c.held
	for _, m := range openSSHKeys(string(held)) {
		start, end := c.source(m.from, m.to, text)
		out = append(out, match{rule: m.rule, start: start, from: start, to: end})
	}
	changes, from, to := 0, -1, 0 // of the current stretch
	look := func() {
		if from < 0 {
			return
		}
		from, to := max(0, from-groupsRoom), min(len(held), to+groupsRoom)
		if c.piece(to-1)-c.piece(from) < 1 || c.whole(from, to) {
			return // it is one run, which was searched already
		}
		for at := from; to-at >= minEncoded; at += nextEncoded {
			window := string(held[at:min(to, at+maxEncoded)])
			for skip := range 4 {
				if r := s.hidesFrom(window[min(skip, len(window)):], mostEncoded); r != nil {
					start, end := c.source(from, to, text)
					out = append(out, match{rule: r, start: start, from: start, to: end})
					return
				}
			}
		}
	}
	for i := 1; i < len(held); i++ {
		if kindOf[held[i]] != kindOf[held[i-1]] {
			changes++
		}
		if i >= groupsLength && kindOf[held[i-groupsLength]] != kindOf[held[i-groupsLength+1]] {
			changes--
		}
		if i < groupsLength-1 || changes < groupsChanges {
			continue
		}
		if begin := i - groupsLength + 1; from < 0 {
			from = begin
		} else if begin > to+groupsRoom {
			look()
			from = begin
		}
		to = i + 1
	}
	look()
	return out
}

// whole reports whether all pieces of a stretch except the last are so long that they were searched
// as lines.
func (c *chain) whole(from, to int) bool {
	last := c.piece(to - 1)
	for i := c.piece(from); i < last; i++ {
		if c.at[i+1].in-c.at[i].in < minWrapped {
			return false
		}
	}
	return true
}

// numbers returns the tokens and keys in bytes that are written as numbers.
func (s *formatSet) numbers(text string) []match {
	var out []match
	var hexes, decimals, octals, binaries chain // of digits and of bytes
	look := func(c *chain, perByte, least int) {
		for at := 0; len(c.held)-at >= least && len(c.at) > 1; at += nextEncoded {
			to := min(len(c.held), at+maxEncoded)
			for skip := range perByte {
				held := c.held[at:to]
				if perByte > 1 {
					held = bytesOfDigits(held[skip:])
				}
				for _, m := range s.inBytes(held) {
					from, end := c.source(at+skip+perByte*m.from, min(len(c.held), at+skip+perByte*m.to), text)
					out = append(out, match{rule: m.rule, start: from, from: from, to: end})
				}
			}
		}
		c.clear()
	}
	flush := func() {
		look(&hexes, 2, 2*minDecoded)
		look(&decimals, 1, minDecoded)
		look(&octals, 1, minDecoded)
		look(&binaries, 1, minDecoded)
	}
	add := func(c *chain, word string, base, from, to int) {
		if v, ok := number(word, 0, len(word), base); ok && v <= 0x7f {
			c.at = append(c.at, part{len(c.held), from})
			c.held, c.end = append(c.held, byte(v)), to
		} else {
			look(c, 1, minDecoded)
		}
	}
	line := dumpLine{}
	for i := 0; i < len(text); {
		c := text[i]
		if !isAlphanumeric(c) {
			switch {
			case c == '\n':
				line = dumpLine{}
			case len(hexes.held)+len(decimals.held) == 0:
			case c == '|' && line.dump:
				i = endOfLine(text, i+1)
				continue
			case !isFrame[c] && strings.IndexByte("-+_/{}", c) < 0:
				flush()
			}
			i++
			continue
		}
		from := i
		for i < len(text) && isAlphanumeric(text[i]) {
			i++
		}
		word := from
		switch text[from:min(i, from+2)] {
		case "0x", "0X", "0o", "0O":
			word += 2
		default:
			if text[from] == 'x' {
				word++
			}
		}
		const longest = 64
		switch {
		case i-word > longest || i == word || !isHex(text[word:i]):
			if line.pairs > 1 {
				i = endOfLine(text, i) // skips a dump's text column, or a comment
				continue
			}
			flush()
		case !line.begun && isOffset(text, word, i):
			line.dump = true
		case line.dump && (line.pairs >= 16 || strings.HasSuffix(text[:from], "   ") && line.pairs > 0):
			i = endOfLine(text, i)
			continue
		default:
			hexes.add(text, word, i)
			line.pairs += (i - word + 1) / 2
			add(&decimals, text[from:min(i, from+maxNumber)], 10, from, i)
			add(&octals, withoutBase(text[word:min(i, word+maxNumber+1)], 'o'), 8, from, i)
			add(&binaries, withoutBase(text[from:min(i, from+maxBinary)], 'b'), 2, from, i)
		}
		line.begun = true
	}
	flush()
	return out
}

// maxBinary is the length of a byte in binary, with 0b, plus one.
const maxBinary = len("0b01100001") + 1

// withoutBase is a number without its leading 0o or 0b.
func withoutBase(word string, base byte) string {
	if len(word) > 2 && word[0] == '0' && word[1]|0x20 == base {
		return word[2:]
	}
	return word
}

// endOfLine is the position of the line feed at the end of a line, within the bound.
func endOfLine(text string, i int) int { return max(i, lineEnd(text, i)-1) }

// dumpLine is what is known of a line that may be part of a dump.
type dumpLine struct {
	begun, dump bool
	pairs       int
}

// isOffset reports whether a word is the offset at the start of a dump's line.
func isOffset(text string, from, to int) bool {
	const least = 4
	return to-from >= least && (byteAt(text, to) == ':' || strings.HasPrefix(text[to:], "  ") || byteAt(text, to) == '\t')
}

func isHex(s string) bool {
	for i := range len(s) {
		if kinds[s[i]]&hex == 0 {
			return false
		}
	}
	return true
}

// inBytes returns the tokens in some bytes, or all of the bytes if they hold another secret.
func (s *formatSet) inBytes(held []byte) (out []match) {
	for i := 0; i < len(held); i++ {
		from := i
		for i < len(held) && (held[i] >= ' ' && held[i] < 0x7f || held[i] == '\t' || held[i] == '\r' || held[i] == '\n') {
			i++
		}
		if i-from < minDecoded {
			continue
		}
		for _, m := range s.find(string(held[from:i])) {
			m.from, m.to = m.from+from, m.to+from
			out = append(out, m)
		}
	}
	if r := s.holds(held, mostEncoded); r != nil && (len(out) == 0 || r == keyInBase64) {
		out = append(out, match{rule: r, to: len(held)})
	}
	return out
}

// bytesOfDigits decodes hexadecimal digits.
func bytesOfDigits(digits []byte) []byte {
	b := make([]byte, 0, len(digits)/2)
	for i := 0; i+1 < len(digits); i += 2 {
		b = append(b, digitOf(digits[i])<<4|digitOf(digits[i+1]))
	}
	return b
}

func digitOf(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}
