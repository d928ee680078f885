package secrets

import (
	"regexp"
	"sort"
	"strings"
)

// The functions in this file find private keys in lines of any width, with spaces in them, with
// numbers, tags or other words around them, and with marker lines that only some programs write.
// They don't know what frames a line. They take the letters and digits between the first and the
// last line of a key, remove what repeats, and check whether the rest changes between capitals,
// small letters and digits as random characters do.

// keyMark is the first or the last line of a private key.
type keyMark struct {
	from, to int
	first    bool
}

// maxMark is longer than such a line.
const maxMark = 160

// keyMarkLine also matches the lines of SSH's own format, with four dashes and spaces.
var keyMarkLine = regexp.MustCompile(`(?i)^-{2,5}[ \t]*(BEGIN|END)[ A-Z0-9_-]{1,100}PRIVATE KEY(?: BLOCK)?[ \t]*-{2,5}`)

// puttyMark comes before the private part of a PuTTY key file.
const puttyMark = "Private-Lines: "

// keyMarks returns the first and the last lines of keys in a text.
func keyMarks(text string) []keyMark {
	var out []keyMark
	for at := 0; ; {
		i := strings.Index(text[at:], "--")
		if i < 0 {
			return out
		}
		start := at + i
		at = start
		for at < len(text) && text[at] == '-' {
			at++
		}
		start = max(start, at-5)
		word := strings.TrimLeft(text[at:min(len(text), at+maxMark)], " \t")
		if !hasPrefixFold(word, "BEGIN") && !hasPrefixFold(word, "END") {
			continue
		}
		if n := len(keyMarkLine.FindString(text[start:min(len(text), at+maxMark)])); n > 0 {
			out = append(out, keyMark{start, start + n, hasPrefixFold(word, "BEGIN")})
			at = start + n
		}
	}
}

// maxScattered bounds the length of a key if the text does not show both its first and last line,
// or if there is other material between them. nearMark is how far from such a line the key may
// begin or end.
const (
	maxScattered = 32 << 10
	nearMark     = 1 << 10
)

// scatteredKeys returns the private keys in a text, whatever separates the characters of their
// lines.
func scatteredKeys(text string) []match {
	var out []match
	add := func(from, to int) {
		if n := len(out); n > 0 && from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, to)
			return
		}
		out = append(out, match{rule: keyInBase64, start: from, from: from, to: to})
	}
	marks := keyMarks(text)
	for i, m := range marks {
		after := len(text)
		if i+1 < len(marks) {
			after = marks[i+1].from
		}
		switch {
		case m.first && i+1 < len(marks) && !marks[i+1].first:
			if m.to+maxScattered >= after && len(randomIn(text[m.to:after])) > 0 {
				add(m.from, marks[i+1].to)
			} else if to := randomAfter(text, m.to, after); to > 0 {
				add(m.from, to)
			}
		case m.first:
			if to := randomAfter(text, m.to, after); to > 0 {
				add(m.from, to)
			}
		case i == 0 || !marks[i-1].first || marks[i-1].to+maxScattered < m.from:
			before := max(0, m.from-maxScattered)
			if i > 0 {
				before = max(before, marks[i-1].to)
			}
			if at := strings.LastIndex(text[before:m.from], "-----END"); at >= 0 {
				before += at // such as of a certificate
			}
			if found := randomIn(text[before:m.from]); len(found) > 0 {
				if last := found[len(found)-1]; m.from-(before+last[1]) < nearMark {
					add(before+last[0], m.to)
				}
			}
		}
	}
	for at := 0; ; {
		i := strings.Index(text[at:], puttyMark)
		if i < 0 {
			return out
		}
		at += i + len(puttyMark)
		end := len(text)
		if i := strings.Index(text[at:min(len(text), at+maxScattered)], "Private-"); i >= 0 {
			end = at + i
		}
		if to := randomAfter(text, at, end); to > 0 {
			out = append(out, match{rule: keyInBase64, start: at, from: at, to: to})
		}
	}
}

// The start of an OpenSSH private key, as bytes and in base64. Nothing else starts like this.
const (
	openSSHMagic  = "openssh-key-v1\x00"
	openSSHBase64 = "b3BlbnNzaC1rZXktdjE"
	// leastOpenSSH is the length of such a key up to its private part.
	leastOpenSSH = 128
)

// openSSHKeys returns the OpenSSH private keys in a text, with or without PEM lines around them.
func openSSHKeys(text string) (out []match) {
	for at := 0; ; {
		i := strings.Index(text[at:], openSSHBase64)
		if i < 0 {
			return out
		}
		from := at + i
		at = from + len(openSSHBase64)
		end := len(text)
		if i := strings.Index(text[at:min(len(text), at+maxScattered)], openSSHBase64); i >= 0 {
			end = at + i
		}
		to := randomAfter(text, at, end)
		if to == 0 {
			continue
		}
		for to < end && (isBase64(text[to]) || text[to] == '=') {
			to++
		}
		out = append(out, match{rule: keyInBase64, start: from, from: from, to: to})
		at = to
	}
}

// randomAfter returns the end of the random characters after a first line, or 0.
func randomAfter(text string, from, to int) int {
	to = min(to, from+maxScattered)
	if at := strings.Index(text[from:to], "-----BEGIN"); at >= 0 {
		to = from + at // such as of a certificate
	}
	found := randomIn(text[from:to])
	if len(found) == 0 || found[0][0] > nearMark {
		return 0
	}
	return from + found[0][1]
}

// A stretch is random if the kind of its characters changes this often in randomLength letters and
// digits. In random base64 it changes about 30 times, and hardly ever less in the smallest key, a
// third of which is not random.
const (
	randomLength  = 48
	randomChanges = 18
	leastCapitals = 7
	leastSmall    = 7
	leastDigits   = 2
	mostDigits    = 20
)

// sameLineEnds decodes escapes of line breaks and keeps the length.
var sameLineEnds = strings.NewReplacer(`\n`, "\n ", `\r`, "\r ")

// randomIn returns the stretches of a text that are random without the words that repeat.
func randomIn(text string) (found [][2]int) {
	text = sameLineEnds.Replace(text)
	words := wordsIn(text)
	letters := 0
	for _, w := range words {
		letters += w[1] - w[0]
	}
	if letters < randomLength {
		return nil
	}
	words = withoutFrames(text, words)
	var at []int // the offsets of the remaining characters
	for _, w := range words {
		for i := w[0]; i < w[1]; i++ {
			at = append(at, i)
		}
	}
	var n [kindsOfBase64]int // the number of each kind in the window
	changes := 0
	for i := range at {
		n[kindOf[text[at[i]]]]++
		if i > 0 && kindOf[text[at[i]]] != kindOf[text[at[i-1]]] {
			changes++
		}
		if first := i - randomLength; first >= 0 {
			n[kindOf[text[at[first]]]]--
			if kindOf[text[at[first]]] != kindOf[text[at[first+1]]] {
				changes--
			}
		}
		if i < randomLength-1 || changes < randomChanges || n[capital] < leastCapitals || n[small] < leastSmall || n[digit] < leastDigits || n[digit] > mostDigits {
			continue
		}
		from, to := at[i-randomLength+1], at[i]+1
		if n := len(found); n > 0 && from <= found[n-1][1] {
			found[n-1][1] = to
		} else {
			found = append(found, [2]int{from, to})
		}
	}
	if len(at) >= longPieces*len(words) {
		for i := range found {
			found[i] = withoutProse(text, words, found[i])
		}
	}
	return found
}

// longPieces is the average length of a key's pieces from which hardly any looks like a word or a
// number.
const longPieces = 3

// withoutProse is a random stretch without the words next to the key at its beginning and end.
func withoutProse(text string, words [][2]int, stretch [2]int) [2]int {
	const most = randomLength / 2 // of the stretch next to the key
	first := sort.Search(len(words), func(i int) bool { return words[i][1] > stretch[0] })
	last := sort.Search(len(words), func(i int) bool { return words[i][0] >= stretch[1] }) - 1
	from, to := stretch[0], stretch[1]
	for first < last && isProse(text[words[first][0]:words[first][1]]) && words[first][1]-from < most {
		first++
		stretch[0] = words[first][0]
	}
	for last > first && isProse(text[words[last][0]:words[last][1]]) && to-words[last][0] < most {
		last--
		stretch[1] = words[last][1]
	}
	return stretch
}

// isProse reports whether people write a word like this.
func isProse(word string) bool {
	for i := 1; i < len(word); i++ {
		if kindOf[word[i]] != small {
			return false
		}
	}
	return kindOf[word[0]] != digit
}

// The kinds of characters of base64. All others have kind 0.
const (
	capital = 1 + iota
	small
	digit
	sign
	kindsOfBase64
)

var kindOf = func() (k [256]uint8) {
	for c := range 256 {
		switch {
		case 'A' <= c && c <= 'Z':
			k[c] = capital
		case 'a' <= c && c <= 'z':
			k[c] = small
		case '0' <= c && c <= '9':
			k[c] = digit
		case c == '+' || c == '/' || c == '-' || c == '_':
			k[c] = sign
		}
	}
	return k
}()

func isAlphanumeric(c byte) bool { k := kindOf[c]; return k != 0 && k != sign }

// wordsIn returns the runs of ASCII letters and digits in a text.
func wordsIn(text string) (words [][2]int) {
	for i := 0; i < len(text); i++ {
		if !isAlphanumeric(text[i]) {
			continue
		}
		from := i
		for i < len(text) && isAlphanumeric(text[i]) {
			i++
		}
		words = append(words, [2]int{from, i})
	}
	return words
}

// withoutFrames removes numbers and the words that repeat, ignoring numbers in them, such as those
// of tags and variables.
func withoutFrames(text string, words [][2]int) [][2]int {
	// A word with this share of all words is more frequent than any piece of a key.
	const least, share = 4, 16
	name := func(w [2]int) string {
		word := text[w[0]:w[1]]
		if len(word) > 1 && strings.ContainsAny(word, "0123456789") {
			word = strings.Map(func(c rune) rune {
				if '0' <= c && c <= '9' {
					return -1
				}
				return c
			}, word)
		}
		return word
	}
	times := map[string]int{}
	letters, others := 0, 0
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = name(w)
		if names[i] != "" {
			letters, others = letters+w[1]-w[0], others+1
			times[names[i]]++
		}
	}
	var out [][2]int
	for i, w := range words {
		number := names[i] == "" || w[1]-w[0] == 1 && kindOf[text[w[0]]] == digit
		if number && letters >= longPieces*others {
			continue
		}
		if w[1]-w[0] > 1 && names[i] != "" && times[names[i]] >= max(least, len(words)/share) {
			continue
		}
		out = append(out, w)
	}
	return out
}
