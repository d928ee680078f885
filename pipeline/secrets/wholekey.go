package secrets

import (
	"regexp"
	"strings"
	"unicode/utf8"

	gitleaks "github.com/zricethezav/gitleaks/v8/config"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// keyExpression is gitleaks' expression for a private key. The engine follows it from all first
// lines at once, at 64 positions each, which takes some 4 µs for each byte of first lines.
const keyExpression = `(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S-]{64,}?KEY(?: BLOCK)?-----`

// wholeKeys finds what keyExpression matches, except what gitleaks' lists allow.
type wholeKeys struct{ lists []*allowList }

// newWholeKeys returns nil for another rule, or if gitleaks has changed this one.
func newWholeKeys(expression string, r *gitleaks.Rule, global []*allowList) *wholeKeys {
	if expression != keyExpression || r.Entropy != 0 || len(r.RequiredRules) > 0 || r.SkipReport {
		return nil
	}
	lists, ok := listsOf(r, global)
	if !ok {
		return nil
	}
	return &wholeKeys{lists}
}

// maxFirstLine is longer than the first line of a key if each letter has three bytes.
const maxFirstLine = 512

var wholeFirstLine = regexp.MustCompile(`(?i)^-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)

// find returns the keys in a piece of the text at path, by their offsets in it.
func (k *wholeKeys) find(piece, path string) []match {
	var out []match
	lines := lineTexts{text: piece, asked: map[lineText]bool{}}
	for at := 0; ; {
		i := strings.Index(piece[at:], "-----")
		if i < 0 {
			return out
		}
		at += i
		end := 0
		if hasPrefixFold(piece[at:], "-----BEGIN") {
			end = wholeKey(piece, at)
		}
		if end == 0 {
			at++
			continue
		}
		if !k.allow(namedAt{&lines, path, at, end}) {
			out = append(out, match{start: at, from: at, to: end})
		}
		at = end
	}
}

func (k *wholeKeys) allow(p namedAt) bool {
	whole := p.lines.text[p.from:p.to]
	for i := range k.lists {
		if k.lists[i].allows(p, whole, whole) {
			return true
		}
	}
	return false
}

// wholeKey is the end of the key that begins at an offset, or 0. Of nested first lines it takes the
// longest that an end follows.
func wholeKey(text string, at int) int {
	first := text[at:min(len(text), at+maxFirstLine)]
	for {
		line := wholeFirstLine.FindStringIndex(first)
		if line == nil {
			return 0
		}
		from := at + line[1]
		for range minKey {
			if from == len(text) {
				break
			}
			_, n := utf8.DecodeRuneInString(text[from:])
			from += n
		}
		if end := lastMark(text, from); end > 0 {
			return end
		}
		first = first[:line[1]-1]
	}
}

// lastMark is the end of the first KEY----- or KEY BLOCK----- from an offset on, or 0.
func lastMark(text string, from int) int {
	for at := from; ; at++ {
		i := strings.Index(text[at:], "-----")
		if i < 0 {
			return 0
		}
		at += i
		before := strings.ToUpper(literals.Unfold(text[max(from, at-len("\u212aEY BLOC\u212a")):at]))
		if strings.HasSuffix(before, "KEY") || strings.HasSuffix(before, "KEY BLOCK") {
			return at + len("-----")
		}
	}
}
