package secrets

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// keyLine is a "private key" marker in the first or last line of a key.
type keyLine struct {
	end   int
	first bool
}

// dashes reports whether a "private key" that ends at end can be in such a line.
func dashes(text string, end int) bool {
	_, after := around(text, end)
	return strings.Contains(after, "-----")
}

// begins reports whether the "private key" that ends at end is in the first line of a key, such as
// -----BEGIN RSA PRIVATE KEY-----.
func begins(text string, end int) bool { return marks(firstLine, text, end) }

// ends is begins for the last line of a key.
func ends(text string, end int) bool { return marks(finalLine, text, end) }

// marks matches an expression against the text around a "private key" if there are dashes.
func marks(line *regexp.Regexp, text string, end int) bool {
	before, after := around(text, end)
	return strings.Contains(before, "-----") && line.MatchString(before+after)
}

// around returns the text of a marker up to the end of its "private key", and the text after that.
func around(text string, end int) (string, string) {
	const before, after = len("-----BEGIN") + 100 + len("private key"), len(" BLOCK-----")
	return text[max(0, end-before):end], text[end:min(len(text), end+after)]
}

// These are as in gitleaks' expression.
var (
	firstLine = regexp.MustCompile(`(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
	finalLine = regexp.MustCompile(`(?i)-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
)

// minKey is the least length of the text between the first and the last line of a key.
const minKey = 64

// keyEnd returns the end of the key whose first line's "private key" ends at end, or 0 if the text
// doesn't show it.
func keyEnd(text string, end int) int {
	from := min(len(text), end+len("-----")+minKey)
	for at := from; ; at++ {
		i := strings.Index(text[at:], "-----")
		if i < 0 {
			return 0
		}
		at += i
		// (?i) equates K with one letter beyond ASCII.
		before := strings.ToUpper(text[max(from, at-5):at])
		if strings.HasSuffix(before, "EY") || strings.HasSuffix(before, "BLOCK") || strings.HasSuffix(before, literals.Folds[0]) {
			return at + len("-----")
		}
	}
}

// materialLine matches a line of a key's material, however short, with what programs write around
// it.
var materialLine = regexp.MustCompile(`^[\s"'` + "`" + `#*/+|>,;()-]*?([A-Za-z0-9+/]{8,}={0,2})(?:\\[nr])*[\s"'` + "`" + `,;+.()\\]*$`)

// lineEnds decodes escapes of line breaks.
var lineEnds = strings.NewReplacer(`\n`, "\n", `\r`, "")

// hasMaterial tells a key from bare marker lines, which programs that read keys contain: somewhere
// there are 32 characters of base64 in a row, with upper case, lower case and digits. Lines with
// nothing else form one row.
func hasMaterial(text string) bool {
	if inARow(text) {
		return true
	}
	if !strings.Contains(text, "\n") && !strings.Contains(text, `\n`) {
		return false // it is one line, which was checked
	}
	var row row
	for line := range strings.Lines(lineEnds.Replace(text)) {
		if strings.Trim(line, " \t\r\n\"'`,;+") == "" {
			continue // the rest of a string's end
		}
		m := materialLine.FindStringSubmatch(line)
		if m == nil {
			row.end()
			continue
		}
		if row.add(m[1]) {
			return true
		}
	}
	return false
}

// inARow is hasMaterial for a single line.
func inARow(text string) bool {
	var row row
	for len(text) > 0 {
		n := 0
		for n < len(text) && isMaterial(text[n]) {
			n++
		}
		if row.add(text[:n]) {
			return true
		}
		row.end()
		text = text[min(n+1, len(text)):]
	}
	return false
}

func isMaterial(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '='
}

// row is the state of hasMaterial for characters of base64 in a row. It stores no text: a key may
// have very many lines, and reading the row again for each would take quadratic time.
type row struct {
	length              int
	upper, lower, digit bool
}

// add adds characters to the row, and reports whether the row is now material.
func (r *row) add(text string) bool {
	r.length += len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z':
			r.upper = true
		case 'a' <= c && c <= 'z':
			r.lower = true
		case '0' <= c && c <= '9':
			r.digit = true
		}
	}
	return r.length >= 32 && r.upper && r.lower && r.digit
}

func (r *row) end() { *r = row{} }

// lastMaterial matches the last line of a key's material, which may be short.
var lastMaterial = regexp.MustCompile(`^[\s"'` + "`" + `#*/+|>-]*[A-Za-z0-9+/]{2,}={0,2}(\\[nr])*["'` + "`" + `,;+\s\\]*$`)

// header matches a header line of an encrypted key or a PGP key.
var header = regexp.MustCompile(`^[\s"'` + "`" + `#*/+|>-]*(Proc-Type|DEK-Info|Version|Comment|Hash|Charset): `)

// puttyKey matches the private part of a PuTTY key file, and the line before it.
var puttyKey = regexp.MustCompile(`Private-Lines: [0-9]{1,3}\s+([A-Za-z0-9+/=][A-Za-z0-9+/=\s]{40,})`)

// puttyKeys returns the private keys in PuTTY's format, whose marker lines differ from those of
// PEM.
func (d *Detector) puttyKeys(text string) (out []match) {
	if !strings.Contains(text, "Private-Lines: ") {
		return nil
	}
	for _, at := range puttyKey.FindAllStringSubmatchIndex(text, -1) {
		if hasMaterial(text[at[2]:at[3]]) {
			out = append(out, match{rule: d.privateKey, start: at[0], from: at[2], to: at[3]})
		}
	}
	return out
}

// partialKeys returns the keys of which the text shows only the first or the last lines. Each has
// at least one line of key material.
func (s *search) partialKeys(found []match) []match {
	var known, out []match
	for _, m := range found {
		if m.rule == s.detector.privateKey {
			known = append(known, m)
		}
	}
	text := keyText{text: s.text}
	done := 0 // the end of the last key in out
	for _, l := range s.keyLines {
		end := l.end
		if inside(known, end) || inside(out, end) {
			continue
		}
		var m match
		if l.first {
			m.from, m.to = lineStart(s.text, end), text.after(lineEnd(s.text, end))
		} else {
			start := lineStart(s.text, end)
			m.from, m.to = text.before(start, min(start, done)), lineEnd(s.text, end)
		}
		switch {
		case text.material(m.from, m.to):
			m.rule, m.start = s.detector.privateKey, m.from
			out, done = append(out, m), m.to
		case !l.first && len(out) > 0 && m.from == done: // further lines of the last key
			out[len(out)-1].to, done = m.to, m.to
		}
	}
	return out
}

// inside reports whether one of the matches covers at. The matches are in ascending order.
func inside(matches []match, at int) bool {
	i, _ := slices.BinarySearchFunc(matches, at, func(m match, at int) int { return m.to - at })
	return i < len(matches) && matches[i].from < at
}

// keyText finds the lines of keys in a text. It caches what it read, since lines may belong to
// several keys: a comment in a key's header may hold a first line.
type keyText struct {
	text   string
	ends   map[int]int // the ends of a key's lines by their start
	starts map[int]int // the starts of a key's lines by their end
	// A stretch without material. No part of it has material either.
	from, to int
}

// material is hasMaterial for a stretch of the text.
func (k *keyText) material(from, to int) bool {
	if k.from <= from && to <= k.to {
		return false
	}
	if hasMaterial(k.text[from:to]) {
		return true
	}
	k.from, k.to = from, to
	return false
}

// after returns the end of the lines of a key that start at from.
func (k *keyText) after(from int) int {
	var passed []int
	for from < len(k.text) {
		if end, known := k.ends[from]; known {
			from = end
			break
		}
		passed = append(passed, from)
		to := lineEnd(k.text, from)
		line := strings.TrimRight(k.text[from:to], "\r\n")
		goesOn := materialLine.MatchString(line) || hasMaterial(line) || header.MatchString(line) || strings.TrimSpace(line) == ""
		if goesOn || lastMaterial.MatchString(line) {
			from = to
		}
		if !goesOn {
			break
		}
	}
	if k.ends == nil {
		k.ends = map[int]int{}
	}
	for _, at := range passed {
		k.ends[at] = from
	}
	return from
}

// before returns the start of the lines of a key that end at to. It is at least least, where the
// lines of another key end.
func (k *keyText) before(to, least int) int {
	if start, known := k.starts[to]; known {
		return max(start, least)
	}
	end := to
	for last := true; to > least; last = false {
		from := max(least, lineStart(k.text, to-1))
		line := strings.TrimRight(k.text[from:to], "\r\n")
		if !materialLine.MatchString(line) && !hasMaterial(line) && !(last && lastMaterial.MatchString(line)) {
			break
		}
		to = from
	}
	if k.starts == nil {
		k.starts = map[int]int{}
	}
	k.starts[end] = to
	return to
}
