package secrets

import (
	"slices"
	"strings"
)

// A JSON web key may also be in YAML, in a program or in a query. Its members then have other
// quotes or none, and more spaces. Such short names show a key only if its kind is given too.

// maxJWK is how far the private members of a key may be from its kind, in bytes.
const maxJWK = 8 << 10

// jwkMembers returns the private members of keys, however they are set. It reads each character
// once, and a few before each long word.
func jwkMembers(text string) []match {
	kinds := append(wordsAt(text, "kty"), wordsAt(text, "crv")...)
	slices.Sort(kinds)
	var out []match
	to := 0
	for i, at := range kinds {
		from := max(to, at-maxJWK)
		to = min(len(text), at+maxJWK)
		if i+1 < len(kinds) && kinds[i+1]-maxJWK < to {
			to = max(from, kinds[i+1]-maxJWK) // the next key continues from there
		}
		for from > 0 && isBase64(text[from-1]) {
			from--
		}
		out = append(out, membersIn(text, from, to)...)
	}
	return out
}

// wordsAt returns the positions of a word in a text.
func wordsAt(text, word string) (at []int) {
	for from := 0; ; from += len(word) {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return at
		}
		from += i
		if !isWord(byteAt(text, from-1)) && !isWord(byteAt(text, from+len(word))) {
			at = append(at, from)
		}
	}
}

// The lengths of the shortest private members: of a symmetric key with 128 bits, and of others.
const (
	leastSymmetric = 22
	leastMember    = 42
)

// membersIn returns the private members whose values begin in a stretch of the text.
func membersIn(text string, from, to int) (out []match) {
	for i := from; i < to; i++ {
		if !isBase64(text[i]) {
			continue
		}
		begin := i
		i = endOfBase64(text, i)
		if i-begin < leastSymmetric {
			continue
		}
		name, at := memberBefore(text, begin)
		switch name {
		case "k":
		case "d", "p", "q", "dp", "dq", "qi":
			if i-begin < leastMember {
				continue
			}
		default:
			continue
		}
		if !isPlaceholderToken(text[begin:i]) {
			out = append(out, match{rule: jwkRule, start: at, from: begin, to: i})
		}
	}
	return out
}

var jwkRule = &rule{id: "jwk-private-key", description: title("jwk-private-key")}

// memberBefore returns the name that is set to the value at an offset, and the name's position:
// "d": "...", d='...', :d => ..., d: |- and a line break, (d, ...), <d>...
func memberBefore(text string, at int) (name string, begin int) {
	const most = 200
	least := max(0, at-most)
	skip := func(set string) {
		for at > least && strings.IndexByte(set, text[at-1]) >= 0 {
			at--
		}
	}
	const quotes, space = "\"'`\\", " \t\r\n"
	skip(quotes)
	skip(space)
	skip("|>-+0123456789") // of YAML, and of =>
	skip(space)
	before := at
	if skip(":=,>"); at == before && byteAt(text, at) != '>' {
		return "", 0
	}
	skip(space)
	skip(quotes + "])")
	end := at
	for at > least && isWord(text[at-1]) {
		at--
	}
	return text[at:end], at
}
