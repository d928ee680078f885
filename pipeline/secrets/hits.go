package secrets

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// The functions in this file look at what follows a literal and report whether a match is possible.
// They may let too much through, but never too little.

// assigned reports whether an assignment follows the name that ends at end: at most 23 spaces,
// quotes and parts of names, then an operator.
func assigned(text string, end int) bool {
	_, ok := operator(text, end)
	return ok
}

// maxName is generous: a name may continue after the literal, and letters that (?i) adds to \w have
// up to three bytes.
const maxName = 128

func operator(text string, end int) (at int, ok bool) {
	limit := min(len(text), end+maxName)
	for i := end; i < limit; i++ {
		switch kinds[text[i]] & (name | blank | operators) {
		case operators:
			return i, true
		case 0:
			return 0, false
		}
	}
	return 0, false
}

// assignedTo is assigned for values that start with one of the prefixes.
func assignedTo(prefixes ...string) func(text string, end int) bool {
	return func(text string, end int) bool {
		at, ok := operator(text, end)
		if !ok {
			return false
		}
		// Up to three characters of the operator and five spaces and quotes.
		for ; at < len(text) && (kinds[text[at]]&(blank|operators) != 0 || text[at] == '`'); at++ {
		}
		return slices.ContainsFunc(prefixes, func(p string) bool {
			return hasPrefixFold(text[at:], p)
		})
	}
}

// assignedKey is assigned for the generic rule, whose literals are words that every program is full
// of. It also looks at the value: the value has ten characters or more, one of them not a letter,
// and an entropy above 3.5 bits, which takes twelve distinct characters.
func assignedKey(text string, end int) bool { return assignedValue(text, end, keyLike) }

// assignedText is assignedKey for a value of any ten characters.
func assignedText(text string, end int) bool {
	return assignedValue(text, end, func(string) bool { return true })
}

func assignedValue(text string, end int, like func(string) bool) bool {
	at, ok := operator(text, end)
	if !ok {
		return false
	}
	// Up to three characters of the operator and five spaces and quotes.
	last := min(len(text), at+maxName)
	for i := at + 1; i < last; {
		if kinds[text[i]]&value == 0 {
			if kinds[text[i]]&(blank|operators) == 0 && text[i] != '`' {
				return false
			}
			i++
			continue
		}
		start := i
		i = valueEnd(text, i)
		if i < 0 {
			return false
		}
		if i-start >= 10 && like(text[start:i]) && (i == len(text) || kinds[text[i]]&blank != 0 || strings.IndexByte("`;\\", text[i]) >= 0) {
			return true
		}
		// An equals sign is both an operator and a part of values.
		if strings.Trim(text[start:i], "=") != "" {
			return false
		}
	}
	return false
}

// longValue is longer than what the generic rule matches of a value with characters other than
// base64: 150 characters of up to three bytes each, after eight that may belong to the operator.
const longValue = 3 * 160

// valueEnd returns the end of the run of value characters that begins at an offset, or -1 if the
// run is too long for a value.
func valueEnd(text string, at int) int {
	others := 0 // characters that base64 lacks or has only at its end, where there are at most three
	for i := at; i < len(text); i++ {
		k := kinds[text[i]]
		if k&value == 0 {
			return i
		}
		if i-at > 8 && (text[i] == '=' || text[i] == '.' || text[i] == '-' || text[i] == '_') {
			others++
		}
		if others > 3 && i-at > longValue {
			return -1
		}
	}
	return len(text)
}

func keyLike(run string) bool {
	if len(run) > 256 {
		return true
	}
	var seen [256]bool
	distinct, odd := 0, false
	for i := 0; i < len(run); i++ {
		c := run[i]
		if !seen[c] {
			seen[c] = true
			distinct++
		}
		odd = odd || kinds[c]&letter == 0
	}
	return odd && distinct >= 12
}

// kindSecret reports whether "kind:" is followed by a secret.
func kindSecret(text string, end int) bool {
	rest := strings.TrimLeft(text[end:min(len(text), end+64)], " \t\"'")
	return len(rest) >= 6 && (strings.EqualFold(rest[:6], "secret") || rest[0] >= 0x80 || rest[1] >= 0x80)
}

// vaultToken reports whether "hvs." or "s." is followed by 24 or more letters and digits.
func vaultToken(text string, end int) bool { return follow(text, end, 24, name) }

// hexFollows reports whether "SK" is followed by 32 hexadecimal digits.
func hexFollows(text string, end int) bool { return follow(text, end, 32, hex) }

func follow(text string, end, n int, k kind) bool {
	if len(text)-end < n {
		return false
	}
	for _, c := range []byte(text[end : end+n]) {
		if kinds[c]&k == 0 {
			return false
		}
	}
	return true
}

// kind is a set of classes of bytes.
type kind uint8

const (
	name      kind = 1 << iota // part of a name, or beyond ASCII
	blank                      // white space or a quote
	operators                  // starts an operator
	value                      // part of a value
	letter                     // a letter, underscore, dot or dash: a value without digits has only these
	hex
)

var kinds = func() (k [256]kind) {
	set := func(chars string, class kind) {
		for _, c := range []byte(chars) {
			k[c] |= class
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const digits = "0123456789"
	set(letters+digits+"_.-", name|value)
	set(letters+"_.-", letter)
	set("=+/", value)
	set(" \t", name)
	set(" \t\r\n\f\v'\"", blank)
	set("=>:|?,", operators)
	set(digits+"abcdefABCDEF", hex)
	for c := 0x80; c < 0x100; c++ {
		k[c] |= name | value
	}
	return k
}()

// hasPrefixFold ignores case as (?i) does, where letters of several bytes may equal an ASCII
// letter.
func hasPrefixFold(text, prefix string) bool {
	text = literals.Unfold(text[:min(len(text), 3*len(prefix))])
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}
