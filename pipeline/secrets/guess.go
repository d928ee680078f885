package secrets

import (
	"regexp"
	"slices"
	"strings"
)

// A value at one of these places is a secret if it looks random, since no format shows it. As with
// the generic rule, these don't count where made-up values are common.
const (
	ruleURLPassword = "password-in-url"
	ruleBearer      = "bearer-token"
)

// guessed is a kind of place that holds a secret.
type guessed struct {
	rule  *rule
	mark  string         // the start of the place
	regex *regexp.Regexp // from the mark on, with the value as its group
}

// maxGuessed is how far a place reaches after its mark, in bytes.
const maxGuessed = 400

var places = []guessed{
	{&rule{id: ruleURLPassword, description: "Found a password in an address."}, "://", regexp.MustCompile(`^://[^\s:/@"'<>(){}$]{0,64}:([^\s/@"'<>(){}$]{12,200})@[\w.-]+`)},
	{&rule{id: ruleBearer, description: "Found a token in a header."}, "earer ", regexp.MustCompile(`^earer +([\w.~+/-]{20,300}=*)`)},
}

// exampleHost matches the reserved host names that documentation uses.
var exampleHost = regexp.MustCompile(`^@(?:[\w.-]+\.)?example(?:\.(?:com|net|org|edu))?\.?$`)

// guesses returns values at these places that look random and overlap nothing in found.
func guesses(text string, found []match, skip func(from, to int) bool) (out []match) {
	for i := range places {
		p := &places[i]
		for at := 0; ; at += len(p.mark) {
			next := strings.Index(text[at:], p.mark)
			if next < 0 {
				break
			}
			at += next
			m := p.regex.FindStringSubmatchIndex(text[at:min(len(text), at+maxGuessed)])
			if m == nil || !looksRandom(text[at+m[2]:at+m[3]]) || exampleHost.MatchString(text[at+m[3]:at+m[1]]) {
				continue
			}
			from, to := at+m[2], at+m[3]
			if skip == nil || !skip(from, to) {
				out = append(out, match{rule: p.rule, start: at, from: from, to: to})
			}
		}
	}
	out = append(out, assignedPasswords(text, skip)...)
	if len(out) > 0 && len(found) > 0 {
		out = apartFrom(found, out)
	}
	return out
}

// apartFrom returns the matches that overlap none in found.
func apartFrom(found, matches []match) []match {
	found = slices.Clone(found)
	slices.SortFunc(found, func(a, b match) int { return a.from - b.from })
	ends := make([]int, len(found)) // the furthest end of the matches up to each index
	for i, m := range found {
		ends[i] = max(m.to, ends[max(0, i-1)])
	}
	return slices.DeleteFunc(matches, func(m match) bool {
		i, _ := slices.BinarySearchFunc(found, m.to, func(o match, to int) int { return o.from - to })
		return i > 0 && ends[i-1] > m.from
	})
}

// commonParts removes parts that are common in made-up passwords.
var commonParts = strings.NewReplacer("password", "", "passwd", "", "passw0rd", "", "pass", "", "secret", "", "token", "", "user", "", "admin", "", "root", "", "test", "", "1234", "", "123", "", "%s", "", "...", "")

// looksRandom reports whether a value looks randomly generated.
func looksRandom(value string) bool {
	const enough, different, digits = 10, 8, 2
	rest := commonParts.Replace(strings.ToLower(value))
	seen, n := map[rune]bool{}, 0
	for _, c := range withoutOrder(withoutRuns(rest)) {
		seen[c] = true
		if '0' <= c && c <= '9' {
			n++
		}
	}
	return len(rest) >= enough && len(seen) >= different && n >= digits && (!isPlaceholder(value) || hidesRandom(value))
}
