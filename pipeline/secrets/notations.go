package secrets

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// decodeNotations decodes the notations for characters in mails, databases, XML and HTML documents
// and a few languages, and removes markup inside words: =5F and a line break after = in
// quoted-printable, a line break after ^ in Batch, =?utf-8?Q?...?= in a mail's header, +AF8- in
// UTF-7, U&'\0067' in SQL, `u{67} in PowerShell, _x005F_ in XML, CDATA sections, comments, and tags
// within a line. If decimal is set, it reads \103 as Lua and Haskell do. It returns nil if a text
// has none of this.
func decodeNotations(text string, decimal bool) *reading {
	var out *reader
	copied := 0
	var literal sqlText
	for i := 0; i < len(text); i++ {
		if !mayBeNotation[text[i]] && i >= literal.end {
			continue
		}
		c, n := rune(-1), 0
		if i < literal.end && text[i] == literal.escape {
			c, n = literal.character(text[i:literal.end])
		}
		if n == 0 {
			c, n = notationAt(text, i, decimal)
		}
		if n == 0 {
			if text[i] == '&' && i >= literal.end {
				literal = sqlTextAt(text, i)
			}
			continue
		}
		if out == nil {
			out = newReader(text)
		}
		out.copy(text, copied, i)
		if c >= 0 {
			out.put(c, i, n)
		}
		copied = i + n
		i = copied - 1
	}
	if out == nil {
		return nil
	}
	out.copy(text, copied, len(text))
	return out.reading(text)
}

var mayBeNotation = bytesOf("=?+&`_<]\\^")

// notationAt reads a notation for a character at an offset and returns its length: 0 if there is
// none. The character is -1 if it has no meaning.
func notationAt(text string, i int, decimal bool) (rune, int) {
	after := text[i+1:]
	switch text[i] {
	case '=':
		if n := wordOfMail(text[i:]); n > 0 {
			return -1, n
		}
		if v, ok := number(after, 0, 2, 16); ok && v >= ' ' && v < 0x7f {
			return v, 3
		}
		if n := softEnd(after); n > 0 && !setsName(after[n:]) && (isTokens(byteAt(text, i-1)) || byteAt(text, i-1) == '=') {
			return -1, 1 + n
		}
	case '^':
		if n := softEnd(after); n > 0 && isTokens(byteAt(text, i-1)) {
			return -1, 1 + n
		}
	case '?':
		if !strings.HasPrefix(after, "=") {
			return 0, 0
		}
		n := 2 + white(after[1:min(len(after), maxMark)])
		if word := wordOfMail(text[i+n:]); word > 0 {
			return -1, n + word
		}
	case '+':
		if strings.HasPrefix(after, "A") && len(after) >= 3 {
			return utf7(after)
		}
	case '`':
		if strings.HasPrefix(after, "u{") {
			end := strings.IndexByte(after[:min(len(after), maxMark)], '}')
			if v, ok := number(after, 2, end-2, 16); ok {
				return canonical(v), 1 + end + 1
			}
		}
	case '_':
		if strings.HasPrefix(after, "x") && byteAt(after, 5) == '_' {
			if v, ok := number(after, 1, 4, 16); ok {
				return canonical(v), 7
			}
		}
	case '<', ']':
		if n := markup(text[i:]); n > 0 && (isTokens(byteAt(text, i-1)) || byteAt(text, i-1) == '>' || isTokens(byteAt(text, i+n))) {
			return -1, n
		}
	case '\\':
		if decimal && strings.HasPrefix(after, "&") {
			return -1, 2 // the end of a number in Haskell
		}
		if decimal {
			return decimalEscape(after)
		}
	}
	return 0, 0
}

// wordOfMail is the length of the start of an encoded word in a mail's header, or 0.
func wordOfMail(s string) int {
	if !strings.HasPrefix(s, "=?") {
		return 0
	}
	return len(mailWord.FindString(s[:min(len(s), 60)]))
}

var mailWord = regexp.MustCompile(`^=\?[\w.:*-]{1,48}\?[QqBb]\?`)

// softEnd is the length of a line break that follows directly, or 0.
func softEnd(s string) int {
	n := blanks(s)
	if byteAt(s, n) == '\r' {
		n++
	}
	if byteAt(s, n) != '\n' {
		return 0
	}
	return n + 1
}

// setsName reports whether a line assigns a value to a name. The line before it may then do so too:
// an = at its end is an empty value and not a continued line.
func setsName(line string) bool {
	return settingOfName.MatchString(line[:min(len(line), maxMark)])
}

var settingOfName = regexp.MustCompile(`^[\w.-]+[ \t]*(?::|=[ \t]*(?:[^\s0-9a-fA-F]|[0-9a-fA-F][^0-9a-fA-F]))`)

// utf7 reads a character of a token that UTF-7 writes in base64. A + comes before s.
func utf7(s string) (rune, int) {
	b, err := base64.RawStdEncoding.DecodeString(s[:3])
	if err != nil || len(b) != 2 || b[0] != 0 || !isTokens(b[1]) {
		return 0, 0
	}
	n := 1 + 3
	if byteAt(s, 3) == '-' {
		n++
	} else if isBase64(byteAt(s, 3)) {
		return 0, 0
	}
	return rune(b[1]), n
}

// decimalEscape reads a character of a token by its number in two or three digits. A backslash
// comes before s.
func decimalEscape(s string) (rune, int) {
	n := 0
	for n < min(len(s), 3) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if v, ok := number(s, 0, n, 10); ok && n > 1 && v < 0x7f && isTokens(byte(v)) {
		return v, 1 + n
	}
	return 0, 0
}

// markup is the length of the invisible markup at the start of a text, or 0.
func markup(s string) int {
	const longest = 200
	switch {
	case strings.HasPrefix(s, "]]>"):
		return len("]]>")
	case strings.HasPrefix(s, "<![CDATA["):
		return len("<![CDATA[")
	case strings.HasPrefix(s, "<!--"):
		end := strings.Index(s[:min(len(s), longest)], "-->")
		return max(0, end+len("-->")) * min(1, end+1)
	case strings.HasPrefix(s, "<"):
		return len(inlineTag.FindString(s[:min(len(s), longest)]))
	}
	return 0
}

// inlineTag matches an HTML tag within a line.
var inlineTag = regexp.MustCompile(`^</?(?i:wbr|b|i|u|s|q|a|em|strong|small|big|span|font|code|tt|kbd|samp|var|mark|sub|sup|ins|del|abbr|bdi|bdo|nobr)(?:[ \t][^<>]*)?/?>`)

// sqlText is an SQL string with escapes of its own.
type sqlText struct {
	end    int
	escape byte
}

// sqlTextAt is the string that begins with the U&' whose & is at an offset.
func sqlTextAt(text string, i int) sqlText {
	quote := byteAt(text, i+1)
	if c := byteAt(text, i-1); c != 'U' && c != 'u' || quote != '\'' && quote != '"' {
		return sqlText{}
	}
	n := strings.IndexByte(text[i+2:min(len(text), i+maxSQLText)], quote)
	if n < 0 {
		return sqlText{}
	}
	t := sqlText{i + 2 + n, '\\'}
	if m := sqlEscape.FindStringSubmatch(text[t.end+1 : min(len(text), t.end+maxMark)]); m != nil {
		t.escape = m[1][0]
	}
	return t
}

const maxSQLText = 4 << 10

var sqlEscape = regexp.MustCompile(`^\s+(?i:UESCAPE)\s*'([^0-9A-Za-z+'"\s])'`)

// character reads an escape of the string: four digits, or six after a +.
func (t sqlText) character(s string) (rune, int) {
	at, digits := 1, 4
	if byteAt(s, 1) == '+' {
		at, digits = 2, 6
	}
	if v, ok := number(s, at, digits, 16); ok {
		return canonical(v), at + digits
	}
	return 0, 0
}

// namedCharacter reads \N{LOW LINE}, \N{U+5F} and \o{137}.
func namedCharacter(s string) (rune, int) {
	const longest = 48
	if byteAt(s, 2) != '{' {
		return 0, 0
	}
	end := strings.IndexByte(s[:min(len(s), longest)], '}')
	if end < 0 {
		return 0, 0
	}
	name := strings.ToUpper(strings.TrimSpace(s[3:end]))
	if s[1] == 'o' {
		v, ok := number(name, 0, len(name), 8)
		return v, length(ok, end+1)
	}
	if digits, ok := strings.CutPrefix(name, "U+"); ok {
		v, ok := number(digits, 0, len(digits), 16)
		return v, length(ok, end+1)
	}
	if v, ok := characterNames[name]; ok {
		return v, end + 1
	}
	return 0, 0
}

func length(ok bool, n int) int {
	if ok {
		return n
	}
	return 0
}

// characterNames are Unicode's names of the characters in tokens, and of a few invisible
// characters.
var characterNames = func() map[string]rune {
	out := map[string]rune{
		"LOW LINE": '_', "HYPHEN-MINUS": '-', "FULL STOP": '.', "PLUS SIGN": '+', "SOLIDUS": '/', "EQUALS SIGN": '=', "TILDE": '~', "COLON": ':', "SPACE": ' ', "DOLLAR SIGN": '$', "EXCLAMATION MARK": '!',
		"HYPHEN": '-', "PERIOD": '.', "SLASH": '/', "PERCENT SIGN": '%', "AMPERSAND": '&', "COMMERCIAL AT": '@', "VERTICAL LINE": '|',
		"ZERO WIDTH SPACE": '\u200b', "ZERO WIDTH NON-JOINER": '\u200c', "ZERO WIDTH JOINER": '\u200d', "SOFT HYPHEN": '\u00ad', "WORD JOINER": '\u2060', "ZERO WIDTH NO-BREAK SPACE": '\ufeff',
	}
	for i, digit := range []string{"ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"} {
		out["DIGIT "+digit] = rune('0' + i)
		out["FULLWIDTH DIGIT "+digit] = rune('0' + i)
	}
	for i := range 26 {
		letter := string(rune('A' + i))
		for _, width := range []string{"", "FULLWIDTH "} {
			out[width+"LATIN CAPITAL LETTER "+letter] = rune('A' + i)
			out[width+"LATIN SMALL LETTER "+letter] = rune('a' + i)
		}
	}
	return out
}()
