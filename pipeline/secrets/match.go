package secrets

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	gitleaks "github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// match is a secret in a text: the stretch to replace, and the rule.
type match struct {
	rule     *rule
	from, to int
	start    int  // the start of the rule's match, such as the name before the value
	token    bool // a provider's format found it
}

// matches returns the secrets in a text, in order. The text is the file at path or a part of it;
// path is empty for other texts. skip reports which stretches of the text need no search. It may be
// nil.
func (d *Detector) matches(text, path string, skip func(from, to int) bool) []match {
	var out []match
	if s := d.search(text); s != nil {
		out = dropNoise(text, s.gitleaks(path, skip))
		out = append(out, s.partialKeys(out)...)
	}
	out = append(out, d.puttyKeys(text)...)
	out = withFormats(text, out, skip, d.unique)
	out = append(out, guesses(text, out, skip)...)
	slices.SortStableFunc(out, func(a, b match) int { return cmp.Or(a.from-b.from, cmp.Compare(a.rule.id, b.rule.id)) })
	return out
}

// withFormats adds the tokens of providers' formats, also in disguise. If gitleaks found the same
// token or a part of it, the two become one match. unique finds what only gitleaks knows in a
// reading of the text.
func withFormats(text string, found []match, skip func(from, to int) bool, unique func(string) []match) []match {
	formats := allFormats()
	tokens := append(formats.find(text), formats.disguised(text, unique)...)
	if skip != nil {
		tokens = slices.DeleteFunc(tokens, func(m match) bool { return skip(m.from, m.to) })
	}
	if len(tokens) == 0 {
		return found
	}
	for i := range tokens {
		tokens[i].token = true
	}
	found = append(found, tokens...)
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	out := found[:1]
	for _, m := range found[1:] {
		if last := &out[len(out)-1]; m.from < last.to && (m.token || last.token) {
			last.unite(m)
			continue
		}
		out = append(out, m)
	}
	return out
}

// unite merges two overlapping matches. It keeps the more certain rule, or the first if both are
// equally certain.
func (m *match) unite(o match) {
	if m.rule.id == ruleGeneric || isSure(o.rule.id) && !isSure(m.rule.id) {
		m.rule = o.rule
	}
	m.to, m.start, m.token = max(m.to, o.to), min(m.start, o.start), true
}

// unique returns what those of gitleaks' rules find that know a token by a format of its own.
func (d *Detector) unique(text string) []match {
	s := d.search(text)
	if s == nil {
		return nil
	}
	s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return !uniqueRules[d.rules[c.rule].id] })
	return dropNoise(text, s.gitleaks("", nil))
}

// gitleaks returns what gitleaks finds in the text.
func (s *search) gitleaks(path string, skip func(from, to int) bool) []match {
	var out []match
	for _, c := range s.found {
		r := s.detector.rules[c.rule]
		if r.path != nil && !r.path.MatchString(path) || skip != nil && skip(c.from, c.to) {
			continue
		}
		out = append(out, r.matches(s.text, path, c)...)
	}
	out = dropOverlaps(out)
	return dropGeneric(out, func(m, o match) bool {
		return strings.Contains(s.text[o.from:o.to], s.text[m.from:m.to]) &&
			!strings.Contains(s.text[min(o.start, m.start):max(o.start, m.start)], "\n")
	})
}

// dropOverlaps removes duplicates of a rule from candidates that overlap.
func dropOverlaps(all []match) []match {
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rule.id, b.rule.id), a.start-b.start, b.to-a.to)
	})
	out := all[:0]
	for _, m := range all {
		if n := len(out); n > 0 && out[n-1].rule == m.rule && m.start < out[n-1].to {
			continue
		}
		out = append(out, m)
	}
	return out
}

// dropGeneric removes a generic match m if another rule has a better match o. In gitleaks, a better
// match has the same value on the same line. Matches far along a very long line are not checked.
func dropGeneric(all []match, better func(m, o match) bool) []match {
	others := slices.DeleteFunc(slices.Clone(all), func(m match) bool { return m.rule.id == ruleGeneric })
	slices.SortFunc(others, func(a, b match) int { return a.start - b.start })
	return slices.DeleteFunc(slices.Clone(all), func(m match) bool {
		if m.rule.id != ruleGeneric {
			return false
		}
		i, _ := slices.BinarySearchFunc(others, m.start-maxBefore, func(o match, at int) int { return o.start - at })
		for ; i < len(others) && others[i].start <= m.to+maxBefore; i++ {
			if better(m, others[i]) {
				return true
			}
		}
		return false
	})
}

// matches returns the secrets in a candidate.
func (r *rule) matches(text, path string, c candidate) []match {
	out := r.finder().find(text[c.from:c.to], path)
	for i := range out {
		m := &out[i]
		m.rule, m.start, m.from, m.to = r, m.start+c.from, m.from+c.from, m.to+c.from
	}
	return out
}

// theirs finds secrets with gitleaks' own detector.
type theirs struct {
	rule     *rule
	detector *detect.Detector
}

func newTheirs(r *rule, from gitleaks.Rule, global []*allowList) *theirs {
	from.Regex = r.regex.Get()
	cfg := gitleaks.Config{Rules: map[string]gitleaks.Rule{from.RuleID: from}}
	for _, l := range global {
		cfg.Allowlists = append(cfg.Allowlists, l.Allowlist)
	}
	d := detect.NewDetector(cfg)
	d.IgnoreGitleaksAllow = true
	return &theirs{r, d}
}

// find returns the secrets in a piece of the text at path, by their offsets in it. The detector
// returns the lines and columns of its matches, but not the position of the secret in them, so the
// expression runs again.
func (t *theirs) find(piece, path string) []match {
	findings := t.detector.Detect(fragment(piece, path))
	if len(findings) == 0 {
		return nil
	}
	var out []match
	for _, at := range t.rule.regex.Get().FindAllStringIndex(piece, -1) {
		if len(findings) == 0 {
			break
		}
		// As in the detector, without surrounding line feeds.
		whole := piece[at[0]:at[1]]
		trimmed := strings.Trim(whole, "\n")
		if trimmed != findings[0].Match {
			continue
		}
		from := at[0] + strings.Index(whole, trimmed)
		m := match{start: from, from: from, to: from + len(trimmed)}
		if i := strings.LastIndex(trimmed, findings[0].Secret); i >= 0 && !t.rule.fragmentary() {
			m.from, m.to = from+i, from+i+len(findings[0].Secret)
		}
		out = append(out, m)
		findings = findings[1:]
	}
	return out
}

// fragment is a piece of a file in the detector's type.
func fragment(text, path string) detect.Fragment { //nolint:staticcheck // Deprecated in favour of a type that Detect takes from v9 on.
	return detect.Fragment{Raw: text, FilePath: path} //nolint:staticcheck // The same.
}

// fragmentary reports whether the rule's group holds only a part of the secret. The whole match is
// the secret then.
func (r *rule) fragmentary() bool { return r.id == ruleJWTBase64 || r.id == ruleTeams }

// dropNoise removes matches of gitleaks that are of no interest: placeholders in documentation and
// examples, the ids of versions, and generic matches within others.
func dropNoise(text string, all []match) []match {
	all = dropGeneric(all, func(m, o match) bool { return o.from < m.to && m.from < o.to })
	return slices.DeleteFunc(all, func(m match) bool {
		value := text[m.from:m.to]
		if m.rule.id == rulePrivateKey {
			return !hasMaterial(value)
		}
		return isPlaceholder(value) && !hidesRandom(value) || isDocumentedJWT(value) || isInDocumented(text, m.from, m.to) ||
			m.rule.id == ruleGeneric && isVersion(text, m.from, m.to)
	})
}

// versionBefore matches text whose last word before an assignment is the version of an API, a model or
// a schema.
var versionBefore = regexp.MustCompile(`(?i)(?:^|[^a-z_-])(?:api|model|schema)?[-_]?version["']?\s*(?::=|[:=])?\s*["'` + "`" + `]?$`)

var wholeUUID = regexp.MustCompile(`^(?i:` + uuid + `)$`)

// isVersion reports whether a value is a UUID that the text before it calls a version.
func isVersion(text string, from, to int) bool {
	const near = 30
	start := max(0, from-near)
	at := versionBefore.FindStringIndex(text[start:from])
	return at != nil && (at[0] > 0 || start == 0) && wholeUUID.MatchString(text[from:to])
}

// placeholderWords are common in placeholders in documentation.
var placeholderWords = []string{"example", "placeholder", "changeme", "change-me", "change_me", "your-", "your_", "yourtoken", "yourapikey", "redacted", "dummy"}

// documented are keys in a provider's own documentation. Azure's open its emulators of storage and of
// Cosmos DB, which know no others.
var documented = []string{
	"AKIAIOSFODNN7EXAMPLE", "AKIAI44QH8DHBEXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
	"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
	"C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
}

// isInDocumented reports whether text[from:to] is part of a documented key. The generic rule finds only the
// part of a key up to its first slash or plus sign.
func isInDocumented(text string, from, to int) bool {
	return slices.ContainsFunc(documented, func(key string) bool {
		if to-from > len(key) {
			return false
		}
		start := max(0, to-len(key))
		at := strings.Index(text[start:min(len(text), from+len(key))], key)
		return at >= 0 && start+at <= from && to <= start+at+len(key)
	})
}

// documentedJWTs are the payloads of the tokens on jwt.io, now and before, which tests and documentation
// copy: {"sub":"1234567890","name":"John Doe","iat":1516239022}, with "admin":true, and both with that alone.
var documentedJWTs = []string{
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ",
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0",
	"eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9",
}

// isDocumentedJWT reports whether all of a value is a JWT with such a payload. If the value holds
// anything else, somebody may have added the payload to a real token.
func isDocumentedJWT(value string) bool {
	parts := strings.Split(value, ".")
	return len(parts) == 3 && strings.HasPrefix(value, "eyJ") && slices.Contains(documentedJWTs, parts[1])
}

// clockSkew is how wrong the clock of a server or of a developer may be. Libraries that check tokens
// allow for a minute or five.
const clockSkew = 10 * time.Minute

// hasExpired reports whether all of a value is a JWT that expired before now, so that a clock that is
// wrong by some minutes changes nothing.
func hasExpired(value string, now time.Time) bool {
	parts := strings.Split(value, ".")
	if len(parts) != 3 || now.IsZero() {
		return false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return false
	}
	var claims map[string]any // not a struct, which takes EXP for exp
	if json.Unmarshal(payload, &claims) != nil {
		return false
	}
	expires, isNumber := claims["exp"].(float64) // seconds since 1970
	return isNumber && expires >= 0 && expires < float64(now.Add(-clockSkew).Unix())
}

// isPlaceholderToken recognises placeholders for tokens. A word such as "example" does not make a
// complete token harmless: whoever writes the token could add the word.
func isPlaceholderToken(value string) bool {
	if slices.Contains(documented, value) || isDocumentedJWT(value) {
		return true
	}
	rest := withoutOrder(withoutRuns(withoutWords(value)))
	// The shortest tokens have 16 random characters after their prefix.
	const enough, different = 16, 8
	rest = strings.ReplaceAll(rest, " ", "")
	seen := map[rune]bool{}
	for _, c := range rest {
		seen[c] = true
	}
	return len(rest) < enough || len(seen) < different || isWords(value)
}

// withoutWords is a value in lower case without the words of placeholders.
func withoutWords(value string) string {
	rest := strings.ToLower(value)
	for _, w := range placeholderWords {
		rest = strings.ReplaceAll(rest, w, " ")
	}
	return rest
}

// hidesRandom reports whether a value without a format contains a random part next to the words and
// runs of a placeholder: letters and digits in a row, as made-up values hardly have.
func hidesRandom(value string) bool {
	const enough, different, digits = 16, 8, 3
	for _, part := range strings.FieldsFunc(withoutRuns(withoutWords(value)), func(c rune) bool { return c == '_' || c >= utf8.RuneSelf || !isWord(byte(c)) }) {
		part = withoutOrder(part)
		seen, n := map[rune]bool{}, 0
		for _, c := range part {
			seen[c] = true
			if '0' <= c && c <= '9' {
				n++
			}
		}
		if len(part) >= enough && len(seen) >= different && n >= digits {
			return true
		}
	}
	return false
}

// isWords reports whether a value is made of lower-case words, or of words that begin with a capital
// letter, such as a long name. Of 20 random letters and digits, hardly ever so many are lower-case
// letters. A URL may hold words beside a token.
func isWords(value string) bool {
	const few, long, share = 2, 32, 8
	capitals, digits := 0, 0
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			capitals++
		}
	}
	return capitals+digits <= few ||
		digits == 0 && len(value) >= long && capitals <= len(value)/share && !strings.Contains(value, "/")
}

// withoutRuns removes runs of four or more of one character.
func withoutRuns(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		if j-i < 4 {
			b.WriteString(s[i:j])
		}
		i = j
	}
	return b.String()
}

// withoutOrder removes runs of eight or more consecutive characters, such as "abcdefgh" and
// "01234567".
func withoutOrder(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i + 1
		for j < len(s) && (s[j] == s[j-1]+1 || s[j] == '0' && s[j-1] == '9' || s[j] == 'a' && s[j-1] == 'z') {
			j++
		}
		if j-i < 8 {
			b.WriteString(s[i:j])
		}
		i = j
	}
	return b.String()
}

// isCutOff reports whether a value is the prefix of a kind of token and dots, such as sk-live-... A
// password may end in dots, so it does not count.
func isCutOff(value string) bool {
	const longest = 12
	for _, dots := range []string{"...", "…"} {
		if prefix, cut := strings.CutSuffix(value, dots); cut {
			return len(prefix) <= longest && (prefix == "" || strings.ContainsAny(prefix[len(prefix)-1:], "-_")) && !strings.ContainsAny(prefix, "0123456789")
		}
	}
	return false
}

// isPlaceholder recognises values that are cut off or in angle brackets, and words and runs of one
// character that no random value of some length has.
func isPlaceholder(value string) bool {
	if isCutOff(value) || strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">") {
		return true
	}
	lower := strings.ToLower(value)
	for _, word := range placeholderWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	const run = 8
	same := 0
	for i := 1; i < len(lower); i++ {
		if lower[i] != lower[i-1] {
			same = 0
		} else if same++; same == run-1 {
			return true
		}
	}
	return false
}
