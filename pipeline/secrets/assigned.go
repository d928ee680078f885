package secrets

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ruleAssigned finds passwords that contain signs. The generic rule misses them: it knows keys of
// letters and digits.
const ruleAssigned = "assigned-password"

var assignedRule = &rule{id: ruleAssigned, description: "Found a password that is assigned to a name."}

const (
	// The bounds on such a password's length, and on how far before it its name may be.
	minPassword   = 8
	maxPassword   = 128
	maxNameBefore = 96
)

// afterName matches the text between a name and the quote of its value: the assignment, possibly
// as the default for a missing value, and wrappers of the value.
var afterName = regexp.MustCompile(`^(?:\(\)|["'\])]{0,3})[ \t]*(?:` + strings.Join([]string{
	`:[ \t]*[\w.<>\[\]&*?' ]{1,24}=`, `[ \t](?:string|String|str|STRING)[ \t]*=`, `(?::|:?=)[ \t]*\\?\r?\n`, `(?:\|\||\?\?|\?)?=|:=|=>|:|\(|,`, `\|\||\?\?|\?:|or[ \t]`,
	`(?::?=|:)[ \t]*[\w.$()\[\]'"-]{1,60}[ \t]*(?:\|\||\?\?|\?:|[ \t]or[ \t])`, `[ \t]value=`, `,?[ \t]*\r?\n?[ \t]*["']?value["']?[ \t]*[:=]`,
}, "|") + `)[ \t]*(?:[bBrRuUfFL@$]{1,2}|u8|r#{1,3}|new \w{1,20}\(|[\[(]|\[\]byte\(|(?:String::from|std::string)\(|&\w{1,20} +|!!?\w{1,20} +)?$`)

var (
	// wordsBefore matches words before a name whose value follows after a space.
	wordsBefore = regexp.MustCompile(`(?i)(?:^|[ \t])(?:ENV|ARG|WITH|ENCRYPTED|SET|(?:ROLE|USER)[ \t]+[\w."]{1,40})[ \t]+$`)
	// identifiedBy matches the words before a password in SQL.
	identifiedBy = regexp.MustCompile(`(?i)\bIDENTIFIED[ \t]+(?:WITH[ \t]+\w{1,30}[ \t]+)?BY[ \t]+(?:PASSWORD[ \t]+)?$`)
)

// isAssigned reports whether the value after a text is assigned to the name at the offsets.
func isAssigned(before string, from, to int) bool {
	if rest := before[to:]; len(rest) > 0 && strings.Trim(rest, " \t") == "" {
		return strings.HasPrefix(before[from:], "--") || before[from:to] == "PASSWORD" || wordsBefore.MatchString(before[:from])
	}
	return afterName.MatchString(before[to:])
}

// maxNames is how many names before a value are tried.
const maxNames = 3

// assignee returns the last name before a value that sounds like a password's and that the value is
// assigned to. If there is none, to is 0.
func assignee(before string) (from, to int) {
	if strings.HasSuffix(before, " ") {
		if m := identifiedBy.FindStringIndex(before); m != nil {
			return m[0], m[1]
		}
	}
	at := len(before)
	for range maxNames {
		for at--; at >= 0 && !beginsSecret(before, at); at-- {
		}
		if at < 0 {
			break
		}
		from, to = at, at
		for to < len(before) && isNameByte(before[to]) {
			to++
		}
		for from > 0 && isNameByte(before[from-1]) {
			from--
		}
		if namesSecret(before[from:to]) && isAssigned(before, from, to) {
			return from, to
		}
		at = from
	}
	return 0, 0
}

// beginsSecret reports whether one of the secretWords begins at an offset.
func beginsSecret(text string, at int) bool {
	for _, w := range secretWords {
		if n := len(w.word); text[at]|' ' == w.word[0] && len(text)-at >= n && strings.EqualFold(text[at:at+n], w.word) {
			return true
		}
	}
	return false
}

// secretWords end the names of passwords and keys. Other letters may come directly before the word
// only if that is set.
var secretWords = []struct {
	word   string
	within bool
}{
	{"password", true}, {"passwd", true}, {"passphrase", true}, {"secretkey", true}, {"secret_key", true}, {"secret-key", true}, {"apikey", true}, {"api_key", true}, {"api-key", true},
	{"pwd", false}, {"pswd", false}, {"pass", false}, {"secret", false}, {"token", false},
}

// nameSuffix matches a suffix of a name that says nothing about what it names.
var nameSuffix = regexp.MustCompile(`(?:[_.-](?i:prod|production|dev|staging|stage|live|local|value|str|string|plain|text)|Value|Prod|Dev|Staging|Live|String|Plain|Text)$`)

// namesSecret reports whether the last word of a name means a password or a key.
func namesSecret(name string) bool {
	name = strings.TrimRight(name, "0123456789_")
	if m := nameSuffix.FindStringIndex(name); m != nil {
		name = name[:m[0]]
	}
	low := strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(w struct {
		word   string
		within bool
	}) bool {
		at := len(name) - len(w.word)
		if !strings.HasSuffix(low, w.word) {
			return false
		}
		return w.within || at == 0 || !isLetter(name[at-1]) || kindOf[name[at]] == capital && kindOf[name[at-1]] == small
	})
}

// noPassword matches quoted values of such names that are not passwords: formats, placeholders,
// markup, URLs, expressions, hashes and encrypted values.
var noPassword = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`%[-+0-9.]*[a-z]\b|%\w+%|%\(`, `\{\w*\}|\{\{|[$#]\{|\$\(|#\{|^\$\w+$|\{[a-z_.]+\}`, `<[a-z/!?%]|\w>`, `://|^(?:mailto|data|arn|vault|file|sha\d+|enc|env|op|ref|urn):|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$`,
	`\.\*|\.\+|\]\+|\]\*|\(\?|\[\^|a-z|0-9|\\[a-z0-9\[(]|^\^|\|\|`, `\(\)|\[\w*\]|\w=["']|^[\w.-]+\[|&#?\w+;|^\(.*\)$|^[-+0-9.e]+$|\w\.\w+\(`, `^\$(?:2[abxy]?|1|5|6|y|argon\w*|scrypt|pbkdf2[\w-]*)\$|^(?:ENC|CIPHER|\{cipher\}|\{ssha\})`, `^@[\w.-]+@$|\*{3}|\.{3}|x{4}|your|change.?me`,
}, "|"))

// likeCode matches what looks like a path, a list, a selector, a query or a call. A random value
// may look so too.
var likeCode = regexp.MustCompile(`^[./~#@&:*]*[/\w.:,;|@~-]*$|^[\w.$>-]+\(|=>|->|>|[?&]\w+=`)

// numberedWord matches a word followed by a number.
var numberedWord = regexp.MustCompile(`^[A-Z]?[a-z]{3,}[0-9]+$|^[A-Z]{4,}[0-9]+$`)

// isMixed reports whether at least half of a value is in short pieces that mix capitals, small
// letters and digits, as words and numbers hardly do. A piece with two kinds of characters counts
// half as much as one with three, or the same if the kinds change often. At least one piece must
// have three.
func isMixed(value string) bool {
	const longest, often, enough = 16, 5, 3
	mixed, all, points, full := 0, 0, 0, false
	for _, piece := range strings.FieldsFunc(value, func(c rune) bool { return c >= utf8.RuneSelf || c == '_' || !isWord(byte(c)) }) {
		all += len(piece)
		var has [3]bool
		last, changes := -1, 0
		for i := range len(piece) {
			kind := 0
			switch c := piece[i]; {
			case isDigit(c):
				kind = 1
			case 'A' <= c && c <= 'Z':
				kind = 2
			}
			has[kind] = true
			if last >= 0 && kind != last && !(last == 2 && kind == 0 && i == 1) {
				changes++
			}
			last = kind
		}
		kinds := 0
		for _, h := range has {
			if h {
				kinds++
			}
		}
		switch {
		case len(piece) > longest || numberedWord.MatchString(piece):
		case kinds == len(has):
			mixed, points, full = mixed+len(piece), points+2, true
			if changes >= often {
				points++
			}
		case kinds == 2 && has[1]:
			mixed, points = mixed+len(piece), points+1
			if changes > 1 {
				points++
			}
		}
	}
	return full && points >= enough && 2*mixed >= all
}

// signsOfPasswords are common in passwords and rare in names and words.
const signsOfPasswords = "!@#$%^&*?~+<>()[]{}|;:,"

// passwordAt returns the end of the password that begins after a quote, or 0.
func passwordAt(text string, from int, quote byte) int {
	letters, digits, others := 0, 0, 0
	to := from
	for ; to < len(text) && text[to] != quote; to++ {
		c := text[to]
		switch {
		case c <= ' ' || c >= 0x7f || c == '"' || c == '`' || to-from == maxPassword:
			return 0
		case isLetter(c):
			letters++
		case isDigit(c):
			digits++
		case strings.IndexByte(signsOfPasswords, c) >= 0:
			others++
		}
	}
	if to == len(text) || to-from < minPassword || letters == 0 || digits == 0 || others == 0 {
		return 0
	}
	return to
}

// assignedPasswords returns the values with letters, digits and signs that are assigned to names of
// passwords.
func assignedPasswords(text string, skip func(from, to int) bool) (out []match) {
	for i := 0; i < len(text); i++ {
		quote := text[i]
		if !isQuote(quote) {
			continue
		}
		begin := i // of the quote, which may be a triple quote
		if i > 1 && text[i-1] == quote && text[i-2] == quote {
			begin = i - 2
		}
		if begin == 0 || strings.IndexByte(" \t\n=:>(,[bBrRuUfFL8#@$", text[begin-1]) < 0 {
			continue
		}
		to := passwordAt(text, i+1, quote)
		if to == 0 || skip != nil && skip(i+1, to) {
			continue
		}
		before := beforeValue(text, begin)
		name, end := assignee(before)
		if end == 0 || !isPassword(text[i+1:to]) {
			continue
		}
		out = append(out, match{rule: assignedRule, start: begin - len(before) + name, from: i + 1, to: to})
		i = to
	}
	return out
}

// beforeValue is the text before the quote of a value on its line. If the line has hardly any, it
// includes the line before.
func beforeValue(text string, quote int) string {
	const hardly = len(`"value": !!str `)
	before := text[max(0, quote-maxNameBefore):quote]
	line := strings.LastIndexByte(before, '\n')
	if line >= 0 && len(strings.TrimLeft(before[line:], " \t\r\n")) <= hardly {
		line = strings.LastIndexByte(before[:line], '\n')
	}
	return before[line+1:]
}

// isPassword reports whether a value with letters, digits and signs is more than the words and runs
// of a made-up one.
func isPassword(value string) bool {
	const least = 5
	if noPassword.MatchString(value) || likeCode.MatchString(value) && !isMixed(value) || isPlaceholder(value) && !hidesRandom(value) {
		return false
	}
	seen := map[rune]bool{}
	for _, c := range withoutOrder(withoutRuns(commonParts.Replace(strings.ToLower(value)))) {
		seen[c] = true
	}
	return len(seen) >= least
}
