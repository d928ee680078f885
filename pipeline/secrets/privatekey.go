package secrets

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// keyLine is a "private key" in the first or the last line of one.
type keyLine struct {
	end   int
	first bool
}

// dashes reports whether a "private key" that ends at end can stand in such a line.
func dashes(text string, end int) bool {
	_, after := around(text, end)
	return strings.Contains(after, "-----")
}

// begins reports whether the "private key" that ends at end stands in the
// first line of one: -----BEGIN RSA PRIVATE KEY----- and its like.
func begins(text string, end int) bool { return marks(firstLine, text, end) }

// ends is begins for the last line of a key.
func ends(text string, end int) bool { return marks(finalLine, text, end) }

// marks asks an expression about what is around a "private key", where dashes are.
func marks(line *regexp.Regexp, text string, end int) bool {
	before, after := around(text, end)
	return strings.Contains(before, "-----") && line.MatchString(before+after)
}

// around returns what a marker has up to the end of its "private key", and after it.
func around(text string, end int) (string, string) {
	const before, after = len("-----BEGIN") + 100 + len("private key"), len(" BLOCK-----")
	return text[max(0, end-before):end], text[end:min(len(text), end+after)]
}

// As in gitleaks' expression.
var (
	firstLine = regexp.MustCompile(`(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
	finalLine = regexp.MustCompile(`(?i)-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
)

// minKey is the least text between the first and the last line of a key.
const minKey = 64

// keyEnd returns where the key ends whose first line's "private key" ends at
// end; 0 where the text doesn't show it.
func keyEnd(text string, end int) int {
	from := min(len(text), end+len("-----")+minKey)
	for at := from; ; at++ {
		i := strings.Index(text[at:], "-----")
		if i < 0 {
			return 0
		}
		at += i
		// A K may be spelt with the one letter beyond ASCII that (?i) takes for it.
		before := strings.ToUpper(text[max(from, at-5):at])
		if strings.HasSuffix(before, "EY") || strings.HasSuffix(before, "BLOCK") || strings.HasSuffix(before, literals.Folds[0]) {
			return at + len("-----")
		}
	}
}

// materialLine is a line of a key's material, however short, with what programs have
// around it.
var materialLine = regexp.MustCompile(`^[\s"'` + "`" + `#*/+|>,;()-]*?([A-Za-z0-9+/]{8,}={0,2})(?:\\[nr])*[\s"'` + "`" + `,;+.()\\]*$`)

// lineEnds writes escapes of a line's end out.
var lineEnds = strings.NewReplacer(`\n`, "\n", `\r`, "")

// hasMaterial tells a key from the mere lines around one, which programs that
// read keys have in their text: somewhere 32 characters of base64 stand in a
// row, of which some are upper case, lower case and digits. Lines that hold nothing else
// are one row.
func hasMaterial(text string) bool {
	if inARow(text) {
		return true
	}
	if !strings.Contains(text, "\n") && !strings.Contains(text, `\n`) {
		return false // it is one line, which was looked at
	}
	row := ""
	for line := range strings.Lines(lineEnds.Replace(text)) {
		if strings.Trim(line, " \t\r\n\"'`,;+") == "" {
			continue // what is left of a string's end
		}
		m := materialLine.FindStringSubmatch(line)
		if m == nil {
			row = ""
			continue
		}
		if row += m[1]; inARow(row) {
			return true
		}
	}
	return false
}

func inARow(text string) bool {
	for i := 0; i < len(text); i++ {
		start := i
		var upper, lower, digit bool
		for ; i < len(text); i++ {
			switch c := text[i]; {
			case 'A' <= c && c <= 'Z':
				upper = true
			case 'a' <= c && c <= 'z':
				lower = true
			case '0' <= c && c <= '9':
				digit = true
			case c != '+' && c != '/' && c != '=':
				goto done
			}
		}
	done:
		if i-start >= 32 && upper && lower && digit {
			return true
		}
	}
	return false
}

// lastMaterial is the last line of a key's material, which may be short.
var lastMaterial = regexp.MustCompile(`^[\s"'` + "`" + `#*/+|>-]*[A-Za-z0-9+/]{2,}={0,2}(\\[nr])*["'` + "`" + `,;+\s\\]*$`)

// header is a line of an encrypted key's or a PGP key's head.
var header = regexp.MustCompile(`^[\s"'` + "`" + `#*/+|>-]*(Proc-Type|DEK-Info|Version|Comment|Hash|Charset): `)

// puttyKey is the part of a PuTTY key file that must stay private, and the line before it.
var puttyKey = regexp.MustCompile(`Private-Lines: [0-9]{1,3}\s+([A-Za-z0-9+/=][A-Za-z0-9+/=\s]{40,})`)

// puttyKeys returns the private keys in the format of PuTTY, which has other lines than
// PEM's around them.
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

// partialKeys returns the keys of which the text shows the first or the last
// lines only. Each holds a line of key material, at least.
func (s *search) partialKeys(found []match) []match {
	var known, out []match
	for _, m := range found {
		if m.rule == s.detector.privateKey {
			known = append(known, m)
		}
	}
	text := s.text
	for _, l := range s.keyLines {
		end := l.end
		if inside(known, end) || inside(out, end) {
			continue
		}
		var m match
		if l.first {
			m.from, m.to = lineStart(text, end), keyAfter(text, lineEnd(text, end))
		} else {
			m.from, m.to = keyBefore(text, lineStart(text, end)), lineEnd(text, end)
		}
		if hasMaterial(text[m.from:m.to]) {
			m.rule, m.start = s.detector.privateKey, m.from
			out = append(out, m)
		}
	}
	return out
}

// inside reports whether one of the matches, which are in ascending order,
// covers at.
func inside(matches []match, at int) bool {
	i, _ := slices.BinarySearchFunc(matches, at, func(m match, at int) int { return m.to - at })
	return i < len(matches) && matches[i].from < at
}

// keyAfter returns where the lines of a key end that start at from.
func keyAfter(text string, from int) int {
	for from < len(text) {
		to := lineEnd(text, from)
		line := strings.TrimRight(text[from:to], "\r\n")
		switch {
		case materialLine.MatchString(line), hasMaterial(line), header.MatchString(line), strings.TrimSpace(line) == "":
			from = to
		case lastMaterial.MatchString(line):
			return to
		default:
			return from
		}
	}
	return from
}

// keyBefore returns where the lines of a key start that end at to.
func keyBefore(text string, to int) int {
	for last := true; to > 0; last = false {
		from := lineStart(text, to-1)
		line := strings.TrimRight(text[from:to], "\r\n")
		if !materialLine.MatchString(line) && !hasMaterial(line) && !(last && lastMaterial.MatchString(line)) {
			break
		}
		to = from
	}
	return to
}
