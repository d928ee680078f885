package secrets

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
)

// oneByOne writes each character of a text in a format, with a separator between.
func oneByOne(s, format, separator string) string {
	var out []string
	for _, c := range s {
		out = append(out, fmt.Sprintf(format, c))
	}
	return strings.Join(out, separator)
}

// utf16Digits are the hexadecimal digits of a text in UTF-16, in little- or big-endian order.
func utf16Digits(s string, smallFirst bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if smallFirst {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return fmt.Sprintf("%x", b)
}

// numberedForms are ways of writing a token with the first half h and the rest r: some or all of
// its characters by their numbers, or another string's value in their place.
func numberedForms(token string) map[string]string {
	h, r := token[:len(token)/2], token[len(token)/2:]
	one, tail := r[0], r[1:]
	return map[string]string{
		"chr":                           "x = " + oneByOne(token, "chr(%d)", "+"),
		"chr of PHP":                    "$x = " + oneByOne(token, "chr(%d)", "."),
		"chr, hexadecimal":              "x = " + oneByOne(token, "chr(0x%02x)", " + "),
		"CHR":                           "SELECT " + oneByOne(token, "CHR(%d)", " || "),
		"CHAR":                          "SELECT CONCAT(" + oneByOne(token, "CHAR(%d)", ", ") + ")",
		"Chr of Basic":                  "x = " + oneByOne(token, "Chr(%d)", " & "),
		"ChrW":                          "x = " + oneByOne(token, "ChrW( %d )", " & "),
		"string.char":                   "x = " + oneByOne(token, "string.char(%d)", " .. "),
		"fromCharCode":                  "x = " + oneByOne(token, "String.fromCharCode(%d)", "+"),
		"fromCodePoint":                 "x = " + oneByOne(token, "String.fromCodePoint(0x%x)", " + "),
		"rune":                          "x := " + oneByOne(token, "string(rune(%d))", " + "),
		"a cast of PowerShell":          "$x = " + oneByOne(token, "[char]%d", "+"),
		"a cast of PowerShell, 0x":      "$x = " + oneByOne(token, "[char]0x%02x", " + "),
		"a cast of Java":                `x = "" + ` + oneByOne(token, "(char)%d", " + "),
		"chr of Ruby":                   "x = " + oneByOne(token, "%d.chr", " + "),
		"over lines":                    "x = (" + oneByOne(token, "chr(%d)", " +\n  ") + ")",
		"chr between strings":           fmt.Sprintf(`x = "%s" + chr(%d) + "%s"`, h, one, tail),
		"CHR between strings":           fmt.Sprintf(`'%s' || CHR(%d) || '%s'`, h, one, tail),
		"a cast between strings":        fmt.Sprintf(`"%s" + (char) %d + "%s"`, h, one, tail),
		"fromCharCode in a template":    fmt.Sprintf("`%s${String.fromCharCode(%d)}%s`", h, one, tail),
		"%c":                            fmt.Sprintf(`sprintf("%s%%c%s", '%c')`, h, tail, one),
		"%c and %s":                     fmt.Sprintf(`sprintf("%s%%c%%s", '%c', "%s")`, h, one, tail),
		"%b":                            fmt.Sprintf(`printf '%s%%b' '%s'`, h, r),
		"UTF-16":                        "x = '" + utf16Digits(token, true) + "'",
		"UTF-16, big-endian":            "x = '" + utf16Digits(token, false) + "'",
		"UTF-16 with a mark":            "x = 0xfffe" + utf16Digits(token, true),
		"UTF-16 with a mark, capitals":  "x = X'FEFF" + strings.ToUpper(utf16Digits(token, false)) + "'",
		"UTF-32":                        "x = '" + oneByOne(token, "%02x000000", "") + "'",
		"a PHP heredoc and a string":    "$x = <<<EOT\n" + h + "\nEOT . \"" + r + "\";",
		"a nowdoc of PHP, indented":     "$x = <<<'EOT'\n  " + h + "\n  EOT\n. '" + r + "';",
		"a string and a PHP heredoc":    "$x = '" + h + "' . <<<\"EOT\"\n" + r + "\nEOT;",
		"two heredocs of PHP":           "$x = <<<A\n" + h + "\nA . <<<B\n" + r + "\nB;",
		"a Ruby heredoc and a string":   "x = <<~EOT.chomp + \"" + r + "\"\n  " + h + "\nEOT",
		"a heredoc of Ruby, strip":      "x = <<-'EOT'.strip + '" + r + "'\n" + h + "\n  EOT\nputs x",
		"a string and a Ruby heredoc":   "x = \"" + h + "\" + <<~EOT\n  " + r + "\nEOT",
		"two heredocs of Ruby":          "x = <<~A.chomp + <<~B\n  " + h + "\nA\n  " + r + "\nB",
		"a heredoc of Perl":             "my $x = \"" + h + "\" . <<\"EOT\";\n" + r + "\nEOT",
		"a heredoc of several lines":    "$x = <<<EOT\nthe token:\n" + h + "\nEOT . \"" + r + "\";",
		"a notebook":                    "\"x = (\\\"" + h + "\\\"\\n\",\n    \"     \\\"" + r + "\\\")\"",
		"a notebook, with +":            "    \"x = (\\\"" + h + "\\\" +\\n\",\n    \"     \\\"" + r + "\\\")\\n\"",
		"a notebook, within a list":     "\"x = [\\\"" + h + "\\\",\\n\",\n\"     \\\"" + r + "\\\"]\"",
		"code in joined strings":        "c = \"x = (\\\"" + h + "\\\"\\n\" +\n \"  \\\"" + r + "\\\")\"",
		"code in simple quotes":         "c = 'x = \\'" + h + "\\' +\\n' +\n '  \\'" + r + "\\''",
		"a continued line in Batch":     "set x=" + h + "^\n" + r,
		"a continued line with a quote": "set \"x=" + h + "^\n" + r + "\"",
		"a continued line in DOS":       "set x=" + h + "^\r\n" + r,
	}
}

// A token is found if numbers stand for its characters, or other strings' values for its parts.
func TestTokensByNumbersAndOtherStrings(t *testing.T) {
	d := detector(t)
	for _, token := range ofPieces() {
		for name, form := range numberedForms(token) {
			lines := strings.Split(form, "\n")
			f := facts("a.txt", prefixed("+", lines)...)
			found := d.Redact(&f)
			left := strings.Join(texts(f), "\n")
			if len(found) == 0 || len(texts(f)) != len(lines) {
				t.Errorf("%s: %.300q: %d found", name, form, len(found))
				continue
			}
			for i := 0; i+6 <= len(token); i++ {
				if part := token[i : i+6]; strings.Contains(left, part) {
					t.Errorf("%s: %.300q: left %.300q", name, form, left)
					break
				}
			}
		}
	}
}

// These lists of words, members, alternatives and numbers are not tokens.
func TestOtherStringsThatAreNotTokens(t *testing.T) {
	d := detector(t)
	hash := fmt.Sprintf("%x", randomBytes(32, 3))
	for _, text := range []string{
		`%w[ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- AKIA ASIA hunter2000]`, `qw(sk_live_ customerSubscriptionCreated invoicePaymentSucceeded)`, `%w[AKIA ASIA ABIA ACCA AROA AIDA ANPA ANVA].join("|")`, "%w[\n  dop_v1_\n  digitalocean\n  kubernetes-cluster-2\n]",
		`{"prefix": "ghp_", "sha256": "` + hash + `"}`, `[{"prefix": "dop_v1_"}, {"sha256": "` + hash + `"}]`, "{\n  \"a\": \"dop_v1_\",\n  \"integrity\": \"" + hash + "\"\n}", `x ? "dop_v1_" : "digitalocean-kubernetes-cluster-2-in-the-north-of-europe-and-more-words"`,
		`prefix = a ? "ghp_" : "gho_"; sum = "` + hash + `"`, `{a: "dop_v1_"}.a; b = "` + hash + `"`, "\"prefix = \\\"dop_v1_\\\"\\n\",\n\"sum = \\\"" + hash + "\\\"\\n\"", "x = <<~EOT\n  dop_v1_\nEOT\nsum = \"" + hash + "\"", "$x = <<<EOT\ndop_v1_\nEOT;\n$y = '" + hash + "';",
		"cat > x <<EOF\nkey: dop_v1_\nEOF\nsum=\"" + hash + "\"", "set x=dop_v1_^\n /sum:" + hash, "set x=dop_v1_\n" + hash, `f(103) + f(104) + f(112) + f(95)`, `x = '` + utf16Digits("the quick brown fox jumps over the lazy dog", true) + `'`, oneByOne("the quick brown fox jumps over the lazy dog", "chr(%d)", "+"),
		"git\n<<<<<<< HEAD\n\"dop_v1_\"\n=======\n\"" + hash + "\"\n>>>>>>> b", "cout << \"dop_v1_\" << endl;\nsum = \"" + hash + "\"",
	} {
		f := facts("a.txt", prefixed("+", strings.Split(text, "\n"))...)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}
