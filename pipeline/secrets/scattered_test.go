package secrets

import (
	"encoding/base64"
	digits "encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomBytes are bytes that look random and depend only on the seed.
func randomBytes(n int, seed uint64) []byte {
	draw := rand.New(rand.NewPCG(seed, 21))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(draw.UintN(256))
	}
	return out
}

// keyBodies are the texts between the first and the last line of several kinds of keys.
func keyBodies() map[string]string {
	head := func(text string) []byte {
		b, _ := digits.DecodeString(text)
		return b
	}
	return map[string]string{
		"RSA":     base64.StdEncoding.EncodeToString(append(head("308204bd020100300d06092a864886f70d0101010500048204a7"), randomBytes(1190, 1)...)),
		"Ed25519": base64.StdEncoding.EncodeToString(append(head("302e020100300506032b657004220420"), randomBytes(32, 2)...)),
		"P-256":   base64.StdEncoding.EncodeToString(append(head("30770201010420"), randomBytes(114, 3)...)),
		"OpenSSH": base64.StdEncoding.EncodeToString(slices.Concat([]byte("openssh-key-v1\x00\x00\x00\x00\x04none\x00\x00\x00\x04none\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x003\x00\x00\x00\x0bssh-ed25519\x00\x00\x00 "), randomBytes(32, 4), []byte("\x00\x00\x00\x90"), randomBytes(140, 5))),
	}
}

// framedLines puts a frame around each line. In the frame, %s is the line and %d its number.
func framedLines(lines []string, frame string) (out []string) {
	for i, l := range lines {
		text := strings.ReplaceAll(strings.ReplaceAll(frame, "%s", l), "%d", fmt.Sprint(i+1))
		out = append(out, strings.Split(text, "\n")...)
	}
	return out
}

// A key is found in any lines and groups, whatever is around them, and none of its characters
// remains.
func TestScatteredKeys(t *testing.T) {
	const begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
	d := detector(t)
	for kind, body := range keyBodies() {
		groups := func(width, blank int) []string {
			var out []string
			for _, l := range wrapped(body, width) {
				out = append(out, strings.Join(wrapped(l, blank), " "))
			}
			return out
		}
		forms := map[string][]string{}
		for _, width := range []int{1, 2, 3, 4, 5, 7, 9, 31} {
			lines := wrapped(body, width)
			forms[fmt.Sprintf("%d columns", width)] = slices.Concat([]string{begin}, lines, []string{end})
			forms[fmt.Sprintf("%d columns on a line", width)] = []string{`k = "` + begin + `\n` + strings.Join(lines, `\n`) + `\n` + end + `"`}
			forms[fmt.Sprintf("%d columns with tabs", width)] = slices.Concat([]string{begin}, prefixed("\t", lines), []string{end})
			forms[fmt.Sprintf("%d columns with empty lines", width)] = strings.Split(begin+"\n"+strings.Join(lines, "\n\n")+"\n"+end, "\n")
		}
		for _, blank := range []int{1, 2, 4, 8, 16, 20, 31} {
			forms[fmt.Sprintf("a blank every %d", blank)] = slices.Concat([]string{begin}, groups(64, blank), []string{end})
			forms[fmt.Sprintf("a tab every %d", blank)] = strings.Split(strings.ReplaceAll(strings.Join(slices.Concat([]string{"-----BEGIN+PRIVATE+KEY-----"}, groups(64, blank), []string{"-----END+PRIVATE+KEY-----"}), "\n"), " ", "\t"), "\n")
			forms[fmt.Sprintf("a tab every %d", blank)] = strings.Split(strings.ReplaceAll(strings.ReplaceAll(strings.Join(slices.Concat([]string{begin}, groups(64, blank), []string{end}), "\n"), " ", "\t"), "\tPRIVATE\tKEY", " PRIVATE KEY"), "\n")
		}
		for _, width := range []int{7, 16, 30} {
			for _, frame := range []string{"%d %s", "%d: %s", "%d. %s", "%d) %s", "L%d %s", "<p>%s</p>", "<li>%s</li>", "<td class=\"key\">%s</td>", "| %s |", ": %s", "%s:", "key%d: %s", "key_%d = \"%s\"", "k[%d] = '%s';", "echo %s >> key.pem", "b.append(\"%s\")", "%s<br>", "{%s}", "@ %s", "\u2502 %s \u2502", "\"%d\": \"%s\",", "- {line: \"%s\"}", "%s # part %d", "%s\n<!-- -->"} {
				forms[fmt.Sprintf("%d columns in %q", width, frame)] = slices.Concat([]string{begin}, framedLines(wrapped(body, width), frame), []string{end})
			}
			pieces := wrapped(body, width)
			forms[fmt.Sprintf("a list of %d", width)] = []string{`["` + begin + `", "` + strings.Join(pieces, `", "`) + `", "` + end + `"]`}
			forms[fmt.Sprintf("a list of lines of %d", width)] = slices.Concat([]string{"[", `  "` + begin + `",`}, framedLines(pieces, `  "%s",`), []string{`  "` + end + `"`, "]"})
			forms[fmt.Sprintf("pieces of %d", width)] = []string{`k = "` + begin + `\n" + "` + strings.Join(pieces, `" + "`) + `" + "\n` + end + `"`}
			forms[fmt.Sprintf("pieces of %d after an intact line", width)] = []string{begin, `" + "` + strings.Join(pieces, `"+"`) + `"`, end}
			forms[fmt.Sprintf("paragraphs of %d on a line", width)] = []string{"<p>" + begin + "</p><p>" + strings.Join(pieces, "</p><p>") + "</p><p>" + end + "</p>"}
		}
		for name, lines := range forms {
			f := facts("a.txt", prefixed("+", lines)...)
			found := d.Redact(&f)
			left := texts(f)
			if len(found) != 1 || found[0].RuleID != rulePrivateKey || len(left) != len(lines) || shows(strings.Join(left, "\n"), body) {
				t.Errorf("%s, %s: %d found, left %.300q", kind, name, len(found), left)
			}
		}
	}
}

// shows reports whether a text has 16 characters of another in a row, whatever is between them.
func shows(text, of string) bool {
	left := strings.Map(func(c rune) rune {
		if c < 0x80 && isAlphanumeric(byte(c)) {
			return c
		}
		return -1
	}, strings.ReplaceAll(text, `[redacted:private-key]`, ""))
	of = strings.NewReplacer("+", "", "/", "", "=", "").Replace(of)
	for i := 0; i+16 <= len(of); i++ {
		if strings.Contains(left, of[i:i+16]) {
			return true
		}
	}
	return false
}

// A key is also found if only its first or last lines are shown, and with the marker lines of other
// programs.
func TestScatteredKeysInPart(t *testing.T) {
	d := detector(t)
	bodies := keyBodies()
	body := bodies["RSA"]
	prose := []string{"", "This is what the program reads at its start, and nothing else is told of it here.", "Whoever wants to know more has to look into the documentation of the server itself."}
	for name, lines := range map[string][]string{
		"no last line, 7 columns":        slices.Concat([]string{"-----BEGIN RSA PRIVATE KEY-----"}, wrapped(body[:400], 7)),
		"no last line, spaces":           slices.Concat([]string{"-----BEGIN RSA PRIVATE KEY-----"}, wrapped(strings.Join(wrapped(body[:400], 7), " "), 64)),
		"no last line, frames":           slices.Concat([]string{"-----BEGIN RSA PRIVATE KEY-----"}, framedLines(wrapped(body[:400], 12), "<li>%s</li>"), prose),
		"no first line, 7 columns":       slices.Concat(prose, wrapped(body[:400], 7), []string{"-----END RSA PRIVATE KEY-----"}),
		"no first line, frames":          slices.Concat(prose, framedLines(wrapped(body[:400], 12), "%d: <b>%s</b>"), []string{"-----END RSA PRIVATE KEY-----"}),
		"a last line too early":          slices.Concat([]string{"-----BEGIN PRIVATE KEY-----"}, prose, []string{"-----END PRIVATE KEY-----"}, wrapped(body[:400], 7), []string{"-----END PRIVATE KEY-----"}),
		"SSH2":                           slices.Concat([]string{"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", `Comment: "a key"`}, wrapped(body[:400], 70), []string{"---- END SSH2 ENCRYPTED PRIVATE KEY ----"}),
		"SSH2, no last line":             slices.Concat([]string{"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"}, wrapped(body[:400], 70)),
		"SSH2, no first line":            slices.Concat(wrapped(body[:400], 70), []string{"---- END SSH2 ENCRYPTED PRIVATE KEY ----"}),
		"SSH2, not encrypted":            slices.Concat([]string{"---- BEGIN SSH2 PRIVATE KEY ----"}, wrapped(body[:400], 70), []string{"---- END SSH2 PRIVATE KEY ----"}),
		"PuTTY, 7 columns":               slices.Concat([]string{"Private-Lines: 60"}, wrapped(body[:400], 7), []string{"Private-MAC: 00"}),
		"PuTTY, frames":                  slices.Concat([]string{"<p>Private-Lines: 60</p>"}, framedLines(wrapped(body[:400], 7), "<p>%s</p>"), []string{"<p>Private-MAC: 00</p>"}),
		"a table":                        slices.Concat([]string{"| -----BEGIN PRIVATE KEY----- |", "|-----|"}, framedLines(wrapped(body[:400], 7), "| %s |"), []string{"| -----END PRIVATE KEY----- |"}),
		"an escape in it":                slices.Concat([]string{"-----BEGIN PRIVATE KEY-----"}, wrapped(each(body[:400], `\x%02x`), 28), []string{"-----END PRIVATE KEY-----"}),
		"references in it":               {"-----BEGIN PRIVATE KEY-----", each(body[:400], "&#%d;"), "-----END PRIVATE KEY-----"},
		"quoted-printable":               slices.Concat([]string{"-----BEGIN PRIVATE KEY-----"}, framedLines(wrapped(body[:400], 7), "%s="), []string{"-----END PRIVATE KEY-----"}),
		"the first line split, and more": {`"-----BEGIN PRIV" + "ATE KEY-----` + `\n" + "` + strings.Join(wrapped(body[:400], 7), `" + "`) + `"`},
	} {
		f := facts("a.txt", prefixed("+", lines)...)
		found := d.Redact(&f)
		left := texts(f)
		if len(found) == 0 || found[0].RuleID != rulePrivateKey || len(left) != len(lines) || shows(strings.Join(left, "\n"), body[:400]) {
			t.Errorf("%s: %+v, left %.600q", name, found, left)
		}
	}
}

// Placeholders in documentation and programs are not keys.
func TestNoScatteredKeys(t *testing.T) {
	d := detector(t)
	const begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
	for _, lines := range [][]string{
		{begin + `\n...\n` + end}, {begin, "<your key here>", end}, {begin, "MIIEvQIBADANBgkq...", "...", end}, {begin, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", end},
		{begin, "Paste the private key of your GitHub App here, as you got it from GitHub on the page of", "its settings, with its first and last line. Keys of PKCS 1 and PKCS 8 are read, and RSA 2048", "is the least that counts: 2048, 3072 and 4096 bits are usual.", end},
		{"const (", "	first = \"" + begin + "\"", "	last = \"" + end + "\"", ")", "", "func parsePKCS8(b []byte) (*rsa.PrivateKey, error) {", "	block, _ := pem.Decode(b)", "	if block == nil { return nil, errNoPEM }", "	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)", "}"},
		{"if strings.HasPrefix(s, \"" + begin + "\") {", "	block, _ := pem.Decode(b)", "	if block == nil { return nil, errNoPEM }", "	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)", "	return key.(*rsa.PrivateKey), err", "}", "return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)"},
		{"-- BEGIN of the part about a private key --", "- MIIE is how it begins", "- and so on --"},
		{"the file begins with " + begin, "and the certificate is", "-----BEGIN CERTIFICATE-----", base64Line(1), base64Line(2), base64Line(3), base64Line(4), "-----END CERTIFICATE-----"},
		{"-----BEGIN CERTIFICATE-----", base64Line(1), base64Line(2), base64Line(3), "-----END CERTIFICATE-----", "the last line of the key is " + end},
	} {
		f := facts("README.md", prefixed("+", lines)...)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%q: %+v", lines, found)
		}
	}
}

// An OpenSSH private key is also found without PEM lines around it.
func TestKeysOfOpenSSHByTheirBeginning(t *testing.T) {
	d := detector(t)
	body := keyBodies()["OpenSSH"]
	half := len(body) / 2
	for name, text := range map[string]string{
		"a value": `tls_private_key = "` + body + `"`, "a call": `key("PRIVATE KEY", "` + body + `")`, "any name": `x := "` + body + `"`, "no quotes": "KEY=" + body, "JSON": `{"x": "` + body + `"}`, "an element": "<a>" + body + "</a>", "in a word": "eyJ" + body,
		"lines of YAML": "x: |\n  " + strings.Join(wrapped(body, 70), "\n  "), "lines of 76": strings.Join(wrapped(body, 76), "\n"), "narrow lines": strings.Join(wrapped(body, 7), "\n"), "groups": "x = " + strings.Join(wrapped(body, 8), " "), "escaped ends": `x = "` + strings.Join(wrapped(body, 70), `\n`) + `"`,
		"texts": "x = \"" + strings.Join(wrapped(body, 70), "\" +\n  \"") + "\"", "a sum": `x = "` + body[:half] + `" + "` + body[half:] + `"`, "a beginning in pieces": `x = "` + body[:9] + `" + "` + body[9:] + `"`, "a list": `["` + strings.Join(wrapped(body, 64), `", "`) + `"].join("")`, "an insertion": "`" + body[:20] + "${''}" + body[20:] + "`",
		"escapes": each(body, `\x%02x`), "base64 twice": "x = " + base64.StdEncoding.EncodeToString([]byte(body)), "hexadecimal": "x = " + digits.EncodeToString(decodedBody(t, body)), "a comment": "# " + strings.Join(wrapped(body, 70), "\n# "), "the beginning of one": body[:300],
	} {
		lines := strings.Split(text, "\n")
		f := facts("a.txt", prefixed("+", lines)...)
		found := d.Redact(&f)
		left := texts(f)
		if len(found) == 0 || found[0].RuleID != rulePrivateKey || len(left) != len(lines) || shows(strings.Join(left, "\n"), body[80:]) {
			t.Errorf("%s: %d found, left %.400q", name, len(found), left)
		}
	}
	for _, text := range []string{"an OpenSSH key begins with b3BlbnNzaC1rZXktdjE", `if strings.HasPrefix(body, "b3BlbnNzaC1rZXktdjEA") {`, body[:70], `magic = "openssh-key-v1"`, "b3BlbnNzaC1rZXktdjEAAAAA..."} {
		f := facts("a.txt", "+"+text)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

func decodedBody(t *testing.T, body string) []byte {
	b, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
