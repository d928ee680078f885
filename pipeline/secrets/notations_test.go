package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// Tokens are found with escapes of mails, databases, shells and other languages, and with markup in
// them.
func TestTokensInOtherNotations(t *testing.T) {
	d := detector(t)
	characters := map[rune]string{}
	for name, c := range characterNames {
		if c > ' ' && c < 0x7f && !strings.HasPrefix(name, "FULLWIDTH") {
			characters[c] = name
		}
	}
	by := func(s string, escape func(c rune) string) string {
		var b strings.Builder
		for _, c := range s {
			b.WriteString(escape(c))
		}
		return b.String()
	}
	letters := each
	for _, token := range []string{drawn(&formats[0], 3), stripe, aws, drawn(&formats[6], 4)} {
		head, rest := token[:5], token[5:]
		forms := map[string]string{
			"names":                         `"` + by(token, func(c rune) string { return `\N{` + characters[c] + `}` }) + `"`,
			"one name":                      `"` + head + `\N{` + characters[rune(rest[0])] + `}` + rest[1:] + `"`,
			"names in lower case":           `"` + by(token, func(c rune) string { return `\N{` + strings.ToLower(characters[c]) + `}` }) + `"`,
			"an invisible character's name": `"` + head + `\N{ZERO WIDTH SPACE}` + rest + `"`,
			"points of Perl":                `"` + letters(token, `\N{U+%04X}`) + `"`,
			"octal of Perl":                 `"` + letters(token, `\o{%o}`) + `"`,
			"SQL":                           `U&'` + letters(token, `\%04x`) + `'`,
			"SQL in part":                   `SELECT U&'` + head + fmt.Sprintf(`\%04x`, rest[0]) + rest[1:] + `'`,
			"SQL, six digits":               `U&'` + letters(token, `\+%06x`) + `'`,
			"SQL, another escape":           `u&'` + letters(token, `!%04x`) + `' UESCAPE '!'`,
			"a shell":                       `$'` + letters(token, `\u%x`) + `'`,
			"a shell, U":                    `$'` + letters(token, `\U%x`) + `'`,
			"quoted-printable":              letters(token, "=%02X"),
			"quoted-printable in part":      head + fmt.Sprintf("=%02X", rest[0]) + rest[1:],
			"quoted-printable, lower case":  letters(token, "=%02x"),
			"a soft line break":             "t: " + token[:12] + "=\n" + token[12:],
			"a soft line break, spaces":     "t: " + token[:12] + "= \n" + token[12:],
			"a mail header":                 "Subject: =?utf-8?Q?" + head + fmt.Sprintf("=%02X", rest[0]) + rest[1:] + "?=",
			"a mail header, lower case":     "Subject: =?utf-8?q?" + letters(token, "=%02X") + "?=",
			"a mail header, two words":      "Subject: =?utf-8?Q?" + token[:12] + "?=\n =?utf-8?Q?" + token[12:] + "?=",
			"UTF-7":                         head + "+" + utf7Of(rest[0]) + "-" + rest[1:],
			"PowerShell":                    `"` + letters(token, "`u{%x}") + `"`,
			"XML's names":                   letters(token, "_x%04X_"),
			"Lua":                           `"` + letters(token, `\%03d`) + `"`,
			"Haskell":                       `"` + head + fmt.Sprintf(`\%d\&`, rest[0]) + rest[1:] + `"`,
			"unescape":                      letters(token, "%%u%04x"),
			"CDATA":                         "<t>" + head + "<![CDATA[" + rest + "]]></t>",
			"CDATA in the middle":           "<t>" + head + "<![CDATA[" + rest[:6] + "]]>" + rest[6:] + "</t>",
			"two of CDATA":                  "<t><![CDATA[" + head + "]]><![CDATA[" + rest + "]]></t>",
			"a comment of XML":              "<t>" + head + "<!-- no -->" + rest + "</t>",
			"a tag":                         head + "<wbr>" + rest,
			"tags":                          head + "<b class=\"x\">" + rest[:6] + "</b>" + rest[6:],
			"empty tags":                    head + "<i></i>" + rest,
			"a reference, and then a mail":  head + fmt.Sprintf("&#61;%02X", rest[0]) + rest[1:],
		}
		for name, form := range forms {
			lines := strings.Split(form, "\n")
			f := facts("a.txt", prefixed("+", lines)...)
			found := d.Redact(&f)
			left := strings.Join(texts(f), "\n")
			if len(found) == 0 || len(texts(f)) != len(lines) || strings.Contains(left, token[12:]) || shows(left, form) {
				t.Errorf("%s of %s: %d found, left %q", name, token, len(found), left)
			}
		}
	}
}

func utf7Of(c byte) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return "A" + string(letters[c>>4]) + string(letters[c&15<<2])
}
