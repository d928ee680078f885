package secrets

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// drawn makes a token of a format from its literal parts and random characters. The repository
// contains no such token, so no scanner reports one.
func drawn(f *format, seed uint64) string {
	draw := rand.New(rand.NewPCG(seed, 7))
	return drawnFrom(f.before, draw) + f.prefix + drawnFrom(f.rest, draw)
}

// drawnFrom makes a text that matches an expression of this package's formats, which have literals,
// classes, counts, groups and alternatives.
func drawnFrom(expression string, draw *rand.Rand) string {
	p := &template{rest: expression, draw: draw}
	return p.sequence()
}

type template struct {
	rest string
	draw *rand.Rand
}

func (p *template) sequence() string {
	var alternatives []string
	var out strings.Builder
	for p.rest != "" && p.rest[0] != ')' {
		if p.rest[0] == '|' {
			p.rest = p.rest[1:]
			alternatives = append(alternatives, out.String())
			out.Reset()
			continue
		}
		out.WriteString(p.repeated())
	}
	alternatives = append(alternatives, out.String())
	return alternatives[p.draw.IntN(len(alternatives))]
}

func (p *template) repeated() string {
	before := p.rest
	one := p.atom()
	piece := before[:len(before)-len(p.rest)]
	least := 1
	switch {
	case strings.HasPrefix(p.rest, "{"):
		end := strings.IndexByte(p.rest, '}')
		fmt.Sscanf(p.rest[1:end], "%d", &least)
		p.rest = p.rest[end+1:]
	case strings.HasPrefix(p.rest, "?"), strings.HasPrefix(p.rest, "*"):
		p.rest = p.rest[1:]
		return ""
	}
	after := p.rest
	out := []string{one}
	for len(out) < least {
		p.rest = piece
		out = append(out, p.atom())
	}
	p.rest = after
	return strings.Join(out, "")
}

func (p *template) atom() string {
	switch c := p.rest[0]; c {
	case '(':
		p.rest = strings.TrimPrefix(p.rest[1:], "?:")
		s := p.sequence()
		p.rest = p.rest[1:]
		return s
	case '[':
		end := strings.IndexByte(p.rest, ']')
		set := expand(p.rest[1:end])
		p.rest = p.rest[end+1:]
		return string(set[p.draw.IntN(len(set))])
	case '\\':
		c := p.rest[1]
		p.rest = p.rest[2:]
		if c == 'w' {
			set := expand("A-Za-z0-9_")
			return string(set[p.draw.IntN(len(set))])
		}
		return string(c)
	default:
		p.rest = p.rest[1:]
		return string(c)
	}
}

func expand(class string) []byte {
	class = strings.ReplaceAll(class, `\w`, "A-Za-z0-9_")
	class = strings.NewReplacer(`\t`, "\t", `\`, "").Replace(class)
	var out []byte
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			for c := class[i]; c <= class[i+2]; c++ {
				out = append(out, c)
			}
			i += 2
			continue
		}
		out = append(out, class[i])
	}
	return out
}

// disguises are the ways of writing a token that the package can read. The program or person that
// reads the text still gets the token.
var disguises = map[string]func(string) string{
	"as it is":               func(s string) string { return s },
	"in quotes":              func(s string) string { return `"` + s + `"` },
	"before a comma":         func(s string) string { return "[" + s + ", 1]" },
	"in brackets":            func(s string) string { return "f(" + s + ")" },
	"in a tag":               func(s string) string { return "<b>" + s + "</b>" },
	"in a URL":               func(s string) string { return "https://x/?t=" + s + "&u=1" },
	"percent-encoded":        func(s string) string { return each(s, "%%%02x") },
	"partly percent-encoded": func(s string) string { return url.QueryEscape(s[:3]) + fmt.Sprintf("%%%02X", s[3]) + s[4:] },
	"as \\x":                 func(s string) string { return each(s, `\x%02x`) },
	"as \\u":                 func(s string) string { return each(s, `\u%04x`) },
	"as \\u{}":               func(s string) string { return each(s, `\u{%x}`) },
	"as octal":               func(s string) string { return each(s, `\%03o`) },
	"as HTML by number":      func(s string) string { return each(s, "&#%d;") },
	"as HTML in hexadecimal": func(s string) string { return each(s, "&#x%x;") },
	"with soft hyphens":      func(s string) string { return each(s, "%c\u00ad") },
	"with a zero-width space": func(s string) string {
		return s[:5] + "\u200b" + s[5:]
	},
	"in full width": func(s string) string {
		return strings.Map(func(c rune) rune {
			if c <= ' ' {
				return c
			}
			return c - '!' + '\uff01'
		}, s)
	},
	"as \\uu":                    func(s string) string { return each(s, `\uu%04x`) },
	"as \\u{} with zeros":        func(s string) string { return each(s, `\u{%010x}`) },
	"as \\x{}":                   func(s string) string { return each(s, `\x{%x}`) },
	"as \\u{} of several":        func(s string) string { return `\u{` + strings.TrimSpace(each(s, "%x ")) + "}" },
	"as several in zeros":        func(s string) string { return `\u{  ` + each(s, "%06x\t  ") + "}" },
	"as lined \\u{}":             func(s string) string { return each(s, `\u{00_%x}`) },
	"as \\u{} in a row of zeros": func(s string) string { return each(s, `\u{%0400x}`) },
	"as HTML in a row of zeros":  func(s string) string { return each(s, "&#%0400d;") },
	"as \\u in a row of u":       func(s string) string { return each(s, `\`+strings.Repeat("u", 40)+`%04x`) },
	"as \\U":                     func(s string) string { return each(s, `\U%08x`) },
	"as itself": func(s string) string {
		at := strings.IndexFunc(s, func(c rune) bool { return c > '7' && !strings.ContainsRune("nrtfvabexuU", c) })
		return s[:at] + `\\` + s[at:]
	},
	"as HTML without ends": func(s string) string {
		at := strings.IndexFunc(s[1:], func(c rune) bool { return c > '9' })
		return s[:at] + fmt.Sprintf("&#%d", s[at]) + s[at+1:]
	},
	"as HTML with zeros":        func(s string) string { return each(s, "&#x%08x;") },
	"as HTML by name":           func(s string) string { return strings.ReplaceAll(s, "_", "&lowbar;") },
	"percent-encoded twice":     func(s string) string { return each(s, "%%25%02x") },
	"escaped twice":             func(s string) string { return each(s, `\\u%04x`) },
	"escaped in HTML":           func(s string) string { return each(s, "&amp;#%d;") },
	"after a line break":        func(s string) string { return `"a\n` + s + `"` },
	"after a tab":               func(s string) string { return `"a\t` + s + `"` },
	"after an encoded space":    func(s string) string { return "x=a%20" + s },
	"with a control character":  func(s string) string { return s[:5] + "\x01" + s[5:] },
	"with an escaped one":       func(s string) string { return s[:5] + `\u200b` + s[5:] },
	"with one in HTML":          func(s string) string { return s[:5] + "&#8203;" + s[5:] },
	"with one by its name":      func(s string) string { return s[:5] + "&ZeroWidthSpace;" + s[5:] },
	"with a Hangul filler":      func(s string) string { return s[:5] + "\u3164" + s[5:] },
	"with a byte of Latin-1":    func(s string) string { return s[:5] + "\xad" + s[5:] },
	"with a variation selector": func(s string) string { return s[:5] + "\ufe0f" + s[5:] },
	"in two pieces":             func(s string) string { return `"` + s[:5] + `" + "` + s[5:] + `"` },
	"in pieces without spaces":  func(s string) string { return `"` + s[:5] + `""` + s[5:] + `"` },
	"in pieces of a shell":      func(s string) string { return `"` + s[:5] + `"'` + s[5:] + `'` },
	"in pieces with prefixes":   func(s string) string { return `f"` + s[:5] + `" rb'` + s[5:] + `'` },
	"in pieces of C":            func(s string) string { return `u8"` + s[:5] + `" u8"` + s[5:] + `"` },
	"in pieces with a comment":  func(s string) string { return `"` + s[:5] + `" /* and */ + "` + s[5:] + `"` },
	"in escaped pieces":         func(s string) string { return `\"` + s[:5] + `\" + \"` + s[5:] + `\"` },
	"in pieces of a template":   func(s string) string { return "`" + s[:5] + "${'" + s[5:7] + "'}" + s[7:] + "`" },
	"in pieces by PHP":          func(s string) string { return `'` + s[:5] + `' . '` + s[5:] + `'` },
	"in pieces side by side":    func(s string) string { return `"` + s[:5] + `" "` + s[5:] + `"` },
	"in an escaped UTF-16":      func(s string) string { return each(s, `%c\x00`) },
	"in pieces of a list":       func(s string) string { return `["` + s[:5] + `", "` + s[5:] + `"].join("")` },
	"in pieces of an f-string":  func(s string) string { return `f"` + s[:5] + `{'` + s[5:] + `'}"` },
	"in hexadecimal":            func(s string) string { return fmt.Sprintf("0x%x", "token: "+s) },
	"in capital hexadecimal":    func(s string) string { return fmt.Sprintf("%X", "token: "+s) },
	"in base64 twice": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"auth": "` + base64.StdEncoding.EncodeToString([]byte("token: "+s)) + `"}`))
	},
	"in base64":          func(s string) string { return base64.StdEncoding.EncodeToString([]byte("token: " + s)) },
	"in base64 for URLs": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s + " and more")) },
}

func each(s, format string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// A made-up token of each format is found and replaced in each disguise, by default in a third
// of them.
func TestFormats(t *testing.T) {
	d := detector(t)
	some := sample.Map(t, len(disguises)/3, disguises)
	for i := range formats {
		f := &formats[i]
		t.Run(f.id+" "+f.prefix, func(t *testing.T) {
			token := drawn(f, uint64(i)+1)
			for name, disguise := range some {
				shown := disguise(token)
				if strings.HasPrefix(f.prefix, `"`) && strings.Contains(name, "pieces") {
					continue // the quotes belong to JSON, which can't join strings
				}
				file := facts("vendor/github.com/x/y/package-lock.json", "+x = "+shown, "+y")
				found := d.Redact(&file)
				if len(found) == 0 {
					t.Errorf("%s: %s is not found", name, shown)
					continue
				}
				if strings.Contains(file.Files[0].Hunks[0].Lines[0].Text, shown) {
					t.Errorf("%s: %s is not replaced", name, shown)
				}
			}
		})
	}
}

// Letters next to a token hide nothing if its prefix is long enough.
func TestGluedTokens(t *testing.T) {
	d := detector(t)
	for i := range formats {
		f := &formats[i]
		if f.apart || f.alone || f.before != "" {
			continue
		}
		file := facts("a.txt", "+"+"prefix"+drawn(f, uint64(i)+1)+"'")
		if found := d.Redact(&file); len(found) == 0 {
			t.Errorf("%s: %s is not found", f.id, drawn(f, uint64(i)+1))
		}
	}
}

// If the prefix is short, the end of a format verb or an escape before a token hides nothing
// either, but a letter of a word does.
func TestTextBeforeTokens(t *testing.T) {
	d := detector(t)
	for i := range formats {
		f := &formats[i]
		if f.before != "" || f.parts {
			continue
		}
		token := drawn(f, uint64(i)+1)
		glued := []string{"xu003d" + token}
		for _, verb := range []string{"%s", "%d", "%.0s", "%1$s", "%-8.3f", "%+v", "%*d", "%#x", "% x", "%c", "%lld", "%ls", "%zu", "%[1]s", "%[2]*[1]d", "%(name)s", "%<name>s", "%'.9d", "%%d", "%0" + strings.Repeat("0", 300) + "s"} {
			glued = append(glued, `"`+verb+token+`" % ""`)
		}
		if !f.alone {
			glued = append(glued, "_"+token, "TOKEN_"+token)
		}
		for _, text := range glued {
			file := facts("a.txt", "+x = "+text)
			if found := d.Redact(&file); len(found) == 0 {
				t.Errorf("%s: %s is not found", f.id, text)
			}
		}
	}
	draw := rand.New(rand.NewPCG(13, 7))
	for _, text := range []string{
		"cache_key_" + drawnFrom(low+`{64}`, draw), "pk_live_" + drawnFrom(word+`{30}`, draw), "lapdapi" + drawnFrom(low+`{32}`, draw), "MSG.ERROR_NO_2_CONNECTION.AND_NO_OTHER_4_5_ONE", "graphs_of_2024_01_02_and_of_all_other_days_there_are",
		"shelf_life_of_2024_and_of_all_other_years_there_are", "before_20240101_andAllOtherDaysThereAre", "disk-" + drawnFrom(`[a-f0-9]{32}`, draw), "migration.addapp_2024_01_02_settings_of_the_account", "sha1sum_" + drawnFrom(low+`{40}`, draw),
		"?q=100%20task-" + drawnFrom(low+`{32}`, draw), "50% of_the_disk-" + drawnFrom(low+`{32}`, draw), "%sxdapi" + drawnFrom(low+`{32}`, draw), "%(name)disk-" + drawnFrom(low+`{32}`, draw),
	} {
		file := facts("a.lock", "+"+text)
		if found := d.Redact(&file); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// These spellings hide a token or make it look like a placeholder.
func TestDisguisedTokens(t *testing.T) {
	d := detector(t)
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj4Hq7Zp", 6)
	var narrow []string
	for i := 0; i+31 <= len(body); i += 31 {
		narrow = append(narrow, "+"+body[i:i+31])
	}
	encoded24 := wrapped(base64.StdEncoding.EncodeToString([]byte("the password of the registry is ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y and no other")), 24)
	for name, lines := range map[string][]string{
		"an alphabet at its end":                    {"+t = \"sk-proj-q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5Ae2OtZq8Lk2Vn5Tx9Rb4Wc7Yd1T3BlbkFJMs6Hf3Jp0Gu5Ae2OtZq8Lk2Vn5Tx9Rb4Wc7Yd1-abcdefghijklmnopqrstuvwxyz\""},
		"a host with a port":                        {"+https://hooks.slack.com:443/services/T0Q8K3V5N/B7R4W9Y1M6H/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6H"},
		"slashes twice":                             {"+https://hooks.slack.com//services//T0Q8K3V5N/B7R4W9Y1M6H/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6H"},
		"a host of a government":                    {"+https://hooks.slack-gov.com/services/T0Q8K3V5N/B7R4W9Y1M6H/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6H"},
		"a version of an API":                       {"+https://discord.com/api/v10/webhooks/112233445566778899/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5Ae2OtZq8Lk2Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5"},
		"another with a port":                       {"+https://ptb.discord.com:443/api//webhooks/112233445566778899/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5Ae2OtZq8Lk2Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5"},
		"a host in capitals":                        {"+https://HOOKS.slack.com/services/T0Q8K3V5N/B7R4W9Y1M6H/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6H"},
		"another host in capitals":                  {"+https://Discord.COM/api/webhooks/112233445566778899/q8Kd3Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5Ae2OtZq8Lk2Vn5Tx9Rb4Wc7Yd1Ms6Hf3Jp0Gu5"},
		"an invisible letter":                       {"+t = \"ghp_aB3dE5fG7hI9jK1l\u17b4M3nO5pQ7rS9tU1vW3x4Y\""},
		"a file of credentials with another letter": {"+" + base64.StdEncoding.EncodeToString([]byte(`{"auths":{"ghcr.io":{"username":"b\u00f6t","password":"ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y"}}}`))},
		"one with a NUL":                            {"+" + base64.StdEncoding.EncodeToString([]byte("some words\x00ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y"))},
		"one after a path":                          {"+https://x.example/cfg/" + base64.StdEncoding.EncodeToString([]byte("password=ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y"))},
		"one that is very long":                     {"+" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("padding of words ", 2000)+"ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y"))},
		"one over lines":                            prefixed("+", wrapped(base64.StdEncoding.EncodeToString([]byte("the password of the registry is ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y")), 24)),
		"a key in narrow lines":                     slices.Concat([]string{"+-----BEGIN PRIVATE KEY-----"}, narrow, []string{"+-----END PRIVATE KEY-----"}),
		"one over lines of a comment":               prefixed("+# ", encoded24),
		"one over lines of a list":                  prefixed("+  - ", encoded24),
		"one over lines of an array":                quotedBy(encoded24, "+  \"", "\","),
		"gitleaks' own, escaped":                    {"+t = \"p8e-q8k3v5n7b4r9w1y6m2h5j8z3\\u0078\\u0037c1p4d9\""},
		"gitleaks' own, in pieces":                  {"+t = \"API-Q8K3V5N7B4R9W\" + \"1Y6M2H5J8Z3X7\""},
		"a key without an end":                      slices.Concat([]string{"+-----BEGIN PRIVATE KEY-----"}, narrow),
		"a key without a beginning":                 slices.Concat(narrow, []string{"+-----END PRIVATE KEY-----"}),
		"a quoted key without an end":               slices.Concat([]string{"+\"-----BEGIN PRIVATE KEY-----\\n\""}, quotedBy(narrow, "+\"", "\\n\"")),
		"one in UTF-16":                             {"+" + base64.StdEncoding.EncodeToString(wide("password: ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y"))},
		"one of both alphabets":                     {"+" + strings.Replace(strings.Replace(base64.StdEncoding.EncodeToString([]byte("\xff\xef\xbe>>>???~~~ ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y")), "+", "-", 1), "/", "_", 1)},
		"a decoy before it":                         {"+AKIAAAAAAAAAAAAAAKIA5QRT7VNZWK3XMPJH"},
		"a quote in a comment between":              {"+t = \"ghp_aB3dE5fG7hI9jK1\" + // it's the rest", "+  \"lM3nO5pQ7rS9tU1vW3x4Y\""},
		"a comment of one character":                {"+t = (\"ghp_aB3dE5fG7hI9jK1\"  #", "+  \"lM3nO5pQ7rS9tU1vW3x4Y\")"},
		"a comment that begins like an end":         {"+t = \"ghp_aB3dE5fG7hI9jK1\" /*/ and */ + \"lM3nO5pQ7rS9tU1vW3x4Y\""},
		"a comment of OCaml between":                {"+t = \"ghp_aB3dE5fG7hI9jK1\" (* and *) ^ \"lM3nO5pQ7rS9tU1vW3x4Y\""},
		"a comment between":                         {"+t = \"ghp_aB3dE5fG7hI9jK1\" + // the rest", "+  \"lM3nO5pQ7rS9tU1vW3x4Y\""},
		"a Python comment between":                  {"+t = (\"ghp_aB3dE5fG7hI9jK1\"  # the rest", "+  \"lM3nO5pQ7rS9tU1vW3x4Y\")"},
		"a long indentation":                        {"+t = \"ghp_aB3dE5fG7hI9jK1\" +", "+" + strings.Repeat(" ", 300) + "\"lM3nO5pQ7rS9tU1vW3x4Y\""},
		"a key with its first line split":           slices.Concat([]string{"+k = \"-----BEGIN PRIV\" +", "+\"ATE KEY-----\\n\" +"}, quoted(narrow), []string{"+\"-----END PRIVATE KEY-----\""}),
		"a key with its first line escaped":         slices.Concat([]string{"+-----BEGIN\\x20PRIVATE KEY-----"}, narrow, []string{"+-----END PRIVATE KEY-----"}),
		"a key in quoted lines":                     slices.Concat([]string{"+\"-----BEGIN PRIVATE KEY-----\" +"}, quoted(narrow), []string{"+\"-----END PRIVATE KEY-----\""}),
	} {
		file := facts("a.txt", lines...)
		if found := d.Redact(&file); len(found) == 0 {
			t.Errorf("%s: not found: %+v", name, file.Files[0].Hunks[0].Lines)
		}
	}
}

// Nothing remains of a key in base64, however many lines it has.
func TestKeysInBase64AreRedactedWhole(t *testing.T) {
	d := detector(t)
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Join(wrapped(strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj4Hq7Zp", 30), 64), "\n") + "\n-----END PRIVATE KEY-----\n"
	for _, width := range []int{40, 64, 76} {
		for _, before := range []string{"", "Bag Attributes\n    localKeyID: 01\n"} {
			file := facts("x.txt", prefixed("+", wrapped(base64.StdEncoding.EncodeToString([]byte(before+key)), width))...)
			found := d.Redact(&file)
			left := 0
			for _, l := range file.Files[0].Hunks[0].Lines {
				if !strings.Contains(l.Text, "[redacted:") && strings.Trim(l.Text, "= ") != "" {
					left++
				}
			}
			if len(found) != 1 || left > 0 {
				t.Errorf("%d columns, %q: found %d times, %d lines left", width, before, len(found), left)
			}
		}
	}
}

// Nothing remains of a token, however long providers make it one day, or of a secret after its id.
func TestTokensAreRedactedWhole(t *testing.T) {
	d := detector(t)
	long := strings.Repeat("x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ", 80)
	key, hash := drawnFrom(`[A-Za-z0-9]{40}`, rand.New(rand.NewPCG(5, 7))), drawnFrom(`[a-f0-9]{32}`, rand.New(rand.NewPCG(6, 7)))
	for text, secret := range map[string]string{
		"ghs_1234567_eyJhbGciOiJSUzI1NiJ9.eyJ" + long + "." + long: long, "glpat-" + long: long, "ya29.c.b0A" + long: long, "pypi-AgE" + long: long, "ATATT3" + long: long, "sk-proj-" + long: long,
		"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t" + long: long,
		aws + "," + key: key, `new Credentials("` + aws + `", "` + key + `")`: key, aws + ": '" + key + "'": key, `Client("AC` + hash + `", "` + hash[8:] + hash[:8] + `")`: hash[8:] + hash[:8],
	} {
		f := facts("a.txt", "+"+text)
		found := d.Redact(&f)
		if left := f.Files[0].Hunks[0].Lines[0].Text; len(found) == 0 || strings.Contains(left, secret[len(secret)-16:]) {
			t.Errorf("%.60s: %d found, left %q", text, len(found), left)
		}
	}
}

// wide encodes an ASCII text in UTF-16.
func wide(text string) []byte {
	out := []byte{0xff, 0xfe}
	for i := range len(text) {
		out = append(out, text[i], 0)
	}
	return out
}

func wrapped(text string, width int) (lines []string) {
	for ; len(text) > width; text = text[width:] {
		lines = append(lines, text[:width])
	}
	return append(lines, text)
}

func quoted(lines []string) []string { return quotedBy(lines, "+\"", "\" +") }

func quotedBy(lines []string, before, after string) (out []string) {
	for _, l := range lines {
		out = append(out, before+strings.TrimPrefix(l, "+")+after)
	}
	return out
}

// A token may span lines: with a line break that the program ignores, or in pieces on lines of
// their own.
func TestTokensOverLines(t *testing.T) {
	d := detector(t)
	token := drawn(&formats[0], 3)
	for name, lines := range map[string][]string{
		"continued": {"+t = \"" + token[:10] + `\`, "+" + token[10:] + "\""},
		"indented":  {"+t = \"" + token[:10] + `\`, "+    " + token[10:] + "\""},
		"added":     {"+t = \"" + token[:10] + "\" +", "+    \"" + token[10:] + "\""},
		"listed":    {"+t = (\"" + token[:10] + "\"", "+    \"" + token[10:] + "\")"},
		"dotted":    {"+$t = '" + token[:10] + "'", "+    . '" + token[10:] + "';"},
	} {
		file := facts("a.py", lines...)
		found := d.Redact(&file)
		var rest []string
		for _, l := range file.Files[0].Hunks[0].Lines {
			rest = append(rest, l.Text)
		}
		if len(found) == 0 || len(rest) != len(lines) || strings.Contains(strings.Join(rest, ""), token[10:]) {
			t.Errorf("%s: %d found, left %q", name, len(found), rest)
		}
	}
}

// Calls and formats join pieces as operators do.
func TestTokensJoinedByACall(t *testing.T) {
	d := detector(t)
	for _, token := range []string{drawn(&formats[0], 3), "SG." + drawnFrom(`[A-Za-z0-9]{22}\.[A-Za-z0-9]{43}`, rand.New(rand.NewPCG(3, 7))), aws, stripe} {
		first, rest := token[:4], token[4:]
		if at := strings.LastIndexAny(token[:8], "_."); at > 0 {
			first, rest = token[:at+1], token[at+1:]
		}
		for _, call := range []string{
			`["%s", "%s"].join("")`, `"".join(["%s", "%s"])`, "strings.Join([]string{\n\t\"%s\",\n\t\"%s\",\n}, \"\")", `concat!("%s", "%s")`, `"%s".concat("%s")`, `paste0("%s", "%s")`, `implode("", ["%s", "%s"])`,
			`fmt.Sprintf("%%s%%s", "%s", "%s")`, `fmt.Sprintf("%s%%s", "%s")`, `"%s%%s" %% "%s"`, `"%s{}".format("%s")`, `${{ format('%s{0}', '%s') }}`, `printf '%s%%s' '%s'`,
			`f"%s{'%s'}"`, `"%s#{'%s'}"`, `T="%s"%s`, `T=%s"%s"`, "\"%s\" + `\n  \"%s\"",
			`"%s{t}".format(t="%s")`, `"%s{}".format("%s")`, `new StringBuilder("%s").append("%s")`, `"%s" + str("%s")`, `"%s" + String('%s')`, `T=${Y:-%s}%s`, `T=${Y-%s}%s`, "`${\"%s\"}%s`", "`${ '%s' }%s`",
		} {
			lines := strings.Split(fmt.Sprintf(call, first, rest), "\n")
			f := facts("a.txt", prefixed("+", lines)...)
			if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), rest) {
				t.Errorf("%q: %d found, left %q", lines, len(found), texts(f))
			}
		}
	}
	for _, list := range []string{
		`strings.Join([]string{"ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "hunter2000"}, "|")`, `join("sk-proj-", "the-name-of-a-project-2", "and-the-name-of-its-owner")`, `format("%s-%s", "sk-ant-", "claude-3-5-haiku-20241022")`,
	} {
		f := facts("a.txt", "+"+list)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", list, found)
		}
	}
}

// Quotes and escapes of shells and style sheets, and characters that are invisible or not taken for
// part of a token, hide no token.
func TestTokensWithSomethingInside(t *testing.T) {
	d := detector(t)
	for _, token := range []string{drawn(&formats[0], 3), "SG." + drawnFrom(`[A-Za-z0-9]{22}\.[A-Za-z0-9]{43}`, rand.New(rand.NewPCG(3, 7))), aws, stripe} {
		points := "\\u{" + strings.TrimSpace(each(token[:4], "%x ")) + "}" + token[4:]
		style := fmt.Sprintf("\\%x %s", token[0], token[1:])
		for _, text := range []string{
			token[:1] + "'" + token[1:2] + "'" + token[2:], token[:1] + `"` + token[1:2] + `"` + token[2:], "`" + token[:1] + "`" + token[1:] + "`", `"` + token[:1] + "`" + token[1:] + `"`, points, style,
			token[:9] + "\u00a0" + token[9:], token[:9] + "\u2800" + token[9:], token[:9] + "\r" + token[9:], token[:9] + "\u2009" + token[9:],
		} {
			f := facts("a.txt", "+t="+text)
			if found := d.Redact(&f); len(found) == 0 || strings.Contains(f.Files[0].Hunks[0].Lines[0].Text, token[9:]) {
				t.Errorf("%q: %d found, left %q", text, len(found), texts(f))
			}
		}
	}
	draw := rand.New(rand.NewPCG(17, 7))
	for _, text := range []string{"glpat\u2010" + drawnFrom(`[A-Za-z0-9]{20}`, draw), "ghp_" + drawnFrom(`[A-Za-z0-9]{12}`, draw) + "\ufb00" + drawnFrom(`[A-Za-z0-9]{22}`, draw)} {
		f := facts("a.txt", "+t="+text)
		if found := d.Redact(&f); len(found) == 0 {
			t.Errorf("%q is not found", text)
		}
	}
}

// A token whose characters are all written as escapes is found, however the escape is written, and
// nothing of it remains.
func TestTokensAsNumbersOfCharacters(t *testing.T) {
	d := detector(t)
	token := drawn(&formats[0], 3)
	longer := "github_pat_" + drawnFrom(`[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, rand.New(rand.NewPCG(4, 7)))
	row := func(s, format string) string { return `\u{` + strings.TrimSpace(each(s, format)) + "}" }
	for name, tt := range map[string]struct{ text, want string }{
		"zeros":               {row(token, "%06x "), "[redacted:github-pat]"},
		"blanks":              {`\u{` + each(token, "  %x ") + "}", "[redacted:github-pat] }"},
		"many spaces":         {row(token, "%x"+strings.Repeat(" ", 400)), "[redacted:github-pat]"},
		"a long token":        {row(longer, "%x "), "[redacted:github-fine-grained-pat]"},
		"a long token in two": {row(longer[:50], "%x ") + row(longer[50:], "%x "), "[redacted:github-fine-grained-pat]"},
		"escaped twice":       {`\` + row(longer, "%x "), "[redacted:github-fine-grained-pat]"},
		"in other text":       {row("it is "+longer+" or not", "%x "), `\u{69 74 20 69 73 20 [redacted:github-fine-grained-pat] 20 6f 72 20 6e 6f 74}`},
		"in a row of zeros":   {each(token, `\u{%0251x}`), "[redacted:github-pat]"},
		"in a longer row":     {each(token, `\u{%0999x}`), `\u{` + strings.Repeat("0", 999+len("}")-255) + "[redacted:github-pat]"},
	} {
		f := facts("a.rb", `+t = "`+tt.text+`"`)
		found := d.Redact(&f)
		if left := f.Files[0].Hunks[0].Lines[0].Text; len(found) != 1 || left != `t = "`+tt.want+`"` {
			t.Errorf("%s: %d found, left %s", name, len(found), left)
		}
	}
	for _, text := range []string{`\u{67 68`, `\u{}`, `\u{ }`, `\u{6g}`, `\u{110000}`, `\u{fffffffffffffffff67}`, `\x{`, `\u`, `\uuuu{`, `\u{67`} {
		if r := plainly("x" + text); r != nil {
			t.Errorf("%s is read as %q", text, r.text)
		}
	}
}

// Characters that stand for several letters in Unicode are read as these letters.
func TestTokensWithLigatures(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(19, 7))
	n := 0
	for c := rune(utf8.RuneSelf); c <= unicode.MaxRune; c++ {
		letters := norm.NFKC.String(string(c))
		if got := canonical(c); len(letters) == 1 && got != rune(letters[0]) {
			t.Errorf("%U is read as %q, want %q", c, got, letters)
		}
		if len(letters) < 2 || strings.IndexFunc(letters, func(c rune) bool { return c >= utf8.RuneSelf || !isTokens(byte(c)) }) >= 0 {
			continue
		}
		n++
		if r := plainly(string(c)); r == nil || r.text != letters {
			t.Errorf("%U is read as %+v, want %q", c, r, letters)
		}
	}
	if n < 100 {
		t.Errorf("%d characters", n)
	}
	for _, shown := range []string{"\ufb00", "\u338f", "\u2163", "\u2173", "\u33a2", "\u01c7", "\U0001f12d", "\u20a8", `\u338f`, `\u{2163}`, "&#x338f;", `\u{67 338f}`} {
		first, rest := drawnFrom(`[A-Za-z0-9]{12}`, draw), drawnFrom(`[A-Za-z0-9]{22}`, draw)
		f := facts("a.txt", "+t=ghp_"+first+shown+rest)
		if found := d.Redact(&f); len(found) != 1 || strings.Contains(texts(f)[0], first) || strings.Contains(texts(f)[0], rest) {
			t.Errorf("%+q: %d found, left %q", shown, len(found), texts(f))
		}
	}
}

// The pieces of a token may be separated by something that the program removes.
func TestTokensJoinedByRemoval(t *testing.T) {
	d := detector(t)
	token := drawn(&formats[0], 3)
	for name, lines := range map[string][]string{
		"between pieces":      {" t = \"" + token[:10] + "\" +", "-    \"no token\" +", "     \"" + token[10:] + "\""},
		"a line break":        {" t = \"" + token[:10] + `\`, "-no token", " " + token[10:] + "\""},
		"several lines":       {" t = (\"" + token[:10] + "\"", "-f()", "-g()", "     \"" + token[10:] + "\")"},
		"a key's first line":  {" -----BEGIN PRIVATE KEY-----", "-no key at all", " MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj4Hq7ZpMIIEvQIBADANBgkqhkiG9w0B"},
		"a replacement there": {" t = \"" + token[:10] + "\" +", "-    \"no token\" +", "+    // why", "     \"" + token[10:] + "\""},
	} {
		file := facts("a.py", lines...)
		found := d.Redact(&file)
		if !slices.ContainsFunc(found, func(r pipeline.Redaction) bool { return r.Op == pipeline.LineAdded }) {
			t.Errorf("%s: %+v", name, found)
		}
	}
	file := facts("a.py", " t = \""+token[:10]+"\" +", "     \""+token[10:]+"\"", "-x()", "+y()")
	for _, r := range d.Redact(&file) {
		if r.Op == pipeline.LineAdded {
			t.Errorf("a token that was there before: %+v", r)
		}
	}
}

// Some keys look like any hash, and only the provider's name for them identifies them. They are
// found in settings of any language and in any file.
func TestKeysKnownByTheirName(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(11, 7))
	for name, value := range map[string]string{
		"AWS_SECRET_ACCESS_KEY": drawnFrom(`[A-Za-z0-9+/]{40}`, draw), "aws_secret_key": drawnFrom(`[A-Za-z0-9+/]{40}`, draw), "secretAccessKey": drawnFrom(`[A-Za-z0-9+/]{40}`, draw),
		"DD_API_KEY": drawnFrom(`[a-f0-9]{32}`, draw), "DD_APP_KEY": drawnFrom(`[a-f0-9]{40}`, draw), "TWILIO_AUTH_TOKEN": drawnFrom(`[a-f0-9]{32}`, draw),
		"CF_API_TOKEN": drawnFrom(`[A-Za-z0-9_-]{40}`, draw), "HEROKU_API_KEY": drawnFrom(uuid, draw), "VERCEL_TOKEN": drawnFrom(`[A-Za-z0-9]{24}`, draw),
	} {
		for _, setting := range []string{
			"%s=%s", "%s: %s", "%s := \"%s\"", "'%s' => '%s'", "%s %s", "\"%s\": \"%s\",", "<%s>%s</x>", "f(\"%s\", \"%s\")", "process.env.%s || '%s'", "process.env['%s'] ?? '%s'", "${%s:-%s}",
			"- name: %s\n  value: %s", "- name: %s\n  value: \"%s\"", `{"name": "%s", "value": "%s"}`,
			`%s: str = "%s"`, `const %s: string = "%s"`, `val %s: String? = "%s"`, `let %s: &'static str = "%s";`, `string %s = "%s";`, `var %s string = "%s"`, `%s: Final[str] = "%s"`,
			`%s = b"%s"`, `%s = str("%s")`, `%s = string("%s")`, `%s = []byte("%s")`, `%s = os.getenv("X", "%s")`, `%s = process.env.X || "%s"`, `%s = process.env["X"] ?? '%s'`, `%s = ENV.fetch("X", "%s")`, `%s = os.environ.get("X") or "%s"`,
			`os.environ.get("%s") or "%s"`, `getenv("%s") ?: '%s'`, `ENV.fetch("%s") { "%s" }`, `%s = SecretString::new("%s".into())`, `%s = Field(default="%s")`, `%s = os.getenv(\n    "X",\n    "%s",\n)`, `set%s("%s")`, `b.with_%s( "%s" )`, `%s = """%s"""`, `%s = r#"%s"#`,
			"%s: |\n  %s", "%s: >-\n  %s\nother: 1", "\"%s\": |2 # why\n    %s", "variable \"%s\" {\n  type = string\n  sensitive = true\n  default = \"%s\"\n}", `variable "%s" { default = "%s" }`,
		} {
			lines := strings.Split(fmt.Sprintf(setting, name, value), "\n")
			f := facts("package-lock.json", prefixed("+", lines)...)
			if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), value) {
				t.Errorf("%s: %d found, left %q", lines, len(found), texts(f))
			}
		}
	}
	for _, setting := range []string{`{"value": "%[2]s", "name": "%[1]s"}`, "- value: %[2]s\n  name: %[1]s", `{ Value = "%[2]s", Name = "%[1]s" }`, `<add value="%[2]s" key="%[1]s"/>`} {
		value := drawnFrom(`[A-Za-z0-9+/]{40}`, draw)
		lines := strings.Split(fmt.Sprintf(setting, "AWS_SECRET_ACCESS_KEY", value), "\n")
		f := facts("package-lock.json", prefixed("+", lines)...)
		if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), value) {
			t.Errorf("%s: %d found, left %q", lines, len(found), texts(f))
		}
	}
	// A value of another name does not count.
	hash, longer := drawnFrom(`[a-f0-9]{32}`, draw), drawnFrom(`[a-f0-9]{40}`, draw)
	for _, text := range []string{
		`{"dd_api_key": null, "md5": "` + hash + `"}`, `twilio_auth_token: token, etag: "` + hash + `"`, `f(dd_api_key=key, md5="` + hash + `")`, `dd_api_key = key; md5 = "` + hash + `"`, `if not dd_api_key { return "` + hash + `" }`,
		`secretAccessKey: "aws/key", revision: "` + longer + `"`, `dd_api_key = sum("` + longer + `")`, `{"value": "` + hash + `", "other": 1, "name": "dd_api_key"}`, `"dd_api_key" and "` + hash + `"`,
	} {
		f := facts("deploy.lock", "+"+text)
		for _, r := range d.Redact(&f) {
			if r.RuleID != ruleGeneric {
				t.Errorf("%s: %+v", text, r)
			}
		}
	}
	for _, text := range []string{
		"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "DD_API_KEY: ${{ secrets.DD_API_KEY }}", "DD_API_KEY=0123456789abcdef0123456789abcdef", "DD_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"cloudflare_api_token: the_token_of_the_account_that_is_not_known", "VERCEL_TOKEN=abcdefghijklmnopqrstuvwx", "HEROKU_API_KEY=00000000-0000-0000-0000-000000000000", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
		"secretAccessKey: credentials.secretAccessKey", "DD_APP_KEY=deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
	} {
		f := facts("README.md", "+"+text)
		for _, r := range d.Redact(&f) {
			if r.RuleID != ruleGeneric { // the generic rule does not count in documentation
				t.Errorf("%s is reported as a secret by %s", text, r.RuleID)
			}
		}
	}
}

// Comments between such a name and its value do not hide the value in any file, and neither do
// other names with values in the same statement.
func TestKeysKnownByTheirNameInAnyStatement(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(23, 7))
	long := strings.Repeat("a comment ", 40)
	for name, value := range map[string]string{
		"aws_secret_access_key": drawnFrom(`[A-Za-z0-9+/]{40}`, draw), "dd_api_key": drawnFrom(`[a-f0-9]{32}`, draw), "VERCEL_TOKEN": drawnFrom(`[A-Za-z0-9]{24}`, draw),
	} {
		for _, setting := range []string{
			`%s = /* c */ "%s"`, "%s = # c\n  \"%s\"", "%s = // c\n  '%s'", "%s = -- c\n  \"%s\"", "%s = --[[ c ]] \"%s\"", `%s = (* c *) "%s"`, `%s = {- c -} "%s"`, `%s = <# c #> "%s"`,
			`%s /* c */ = "%s"`, "%s // c\n  = \"%s\"", `%s: /* c */ "%s",`, "%s: // c\n  \"%s\",", `"%s": /* c */ "%s"`, `"%s" /* c */ : "%s"`, "'%s' => # c\n '%s'", `#define %s /* c */ "%s"`, `<%s><!-- c -->%s</x>`,
			`%s = /* it's "c" */ "%s"`, "%s = # it's \"c\"\n  \"%s\"", "%s = #\n  \"%s\"", "%s = #\"c\"\n  \"%s\"", `%s = /*/ c */ "%s"`, `%s = /* c *//* d */ "%s"`, "%s = # c\n  # d\n\n  \"%s\"", "%s = /* c\nd */ \"%s\"", "%s = /* " + long + " */ \"%s\"", "%s = # " + long + "\n  \"%s\"",
			`f("%s", /* c */ "%s")`, "f(\"%s\", // c\n  \"%s\")", "f(\"%s\" // c\n  , \"%s\")", `%s = os.getenv("X" /* c */, "%s")`, `%s = get("http://x", /* c */ "%s")`, "%s =\n  SecretString::new(\"%s\".into())", "%s: // c\n  '%s'", "process.env.%s // c\n  || '%s'", `%s: &'static str = /* c */ "%s";`, `%s: /* c */ String = /* d */ "%s"`, `%s = /* c */ r#"%s"#`,
			"- name: %s # c\n  value: %s", "- name: %s\n  # c\n  value: \"%s\"", "%s: | # c\n  %s", "%s: # c\n  %s", "%s:\n  # c\n  %s\n", "variable \"%s\" { # c }\n  type = string // c\n  default = /* c */ \"%s\"\n}",
			`%s, x = "%s", 1`, `%s,x="%s",1`, `%s, x := "%s", 1`, `local %s, x = "%s"`, `var %s, x string = "%s", "y"`, `x, %s, y = 1, "%s", 2`, `x, y.%s, z = f(1, 2), "%s", 2`, `(%s, x) = ("%s", 1)`, `[%s, x] = ["%s", 1]`, `const [%s, x]: string[] = ["%s", "1"]`, `([%s, x] = ["%s", 1]);`,
			`my ($%s, $x) = ("%s", 1);`, `list($%s, $x) = ["%s", 1];`, `let (%s, x) = ("%s", 1);`, `d["%s"], x = "%s", 1`, `%s, *x = "%s", 1`, `%s, x = os.getenv("X", "%s"), 1`, `if x: %s, y = "%s", 1`, "x = f(1,\n  2)\n%s, y = \"%s\", 1 # :)", "(x,\n %s, y) = 1, \"%s\", 2", `%s, x /* c */ = /* d */ "%s", 1`,
		} {
			for _, path := range []string{"a.go", "a_test.py", "a.txt", "deploy.lock"} {
				lines := strings.Split(fmt.Sprintf(setting, name, value), "\n")
				f := facts(path, prefixed("+", lines)...)
				if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), value) {
					t.Errorf("%s: %q: %d found, left %q", path, lines, len(found), texts(f))
				}
			}
		}
		for _, setting := range []string{`{"value": "%[2]s", /* c */ "name": "%[1]s"}`, "- value: %[2]s # c\n  name: %[1]s", `{"value": "%[2]s", "name": /* c */ "%[1]s"}`} {
			lines := strings.Split(fmt.Sprintf(setting, name, value), "\n")
			f := facts("package-lock.json", prefixed("+", lines)...)
			if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), value) {
				t.Errorf("%s: %d found, left %q", lines, len(found), texts(f))
			}
		}
	}
	hash, longer := drawnFrom(`[a-f0-9]{32}`, draw), drawnFrom(`[a-f0-9]{40}`, draw)
	for _, text := range []string{
		"DD_API_KEY= # not set\nMD5=\"" + hash + "\"", "DD_API_KEY=\nMD5=\"" + hash + "\"", "dd_api_key: # not set\nmd5: " + hash, "dd_api_key: # c\n  md5: \"" + hash + "\"", "dd_api_key: str  # the key\nmd5 = \"" + hash + "\"",
		`f(dd_api_key, md5="` + hash + `")`, `f(dd_api_key, x, md5="` + hash + `", y=1)`, "f(\n  dd_api_key, md5=\"" + hash + "\",\n)", `dd_api_key, md5 = key, "` + hash + `"`, `x, dd_api_key, md5 = 1, key, "` + hash + `"`,
		"# dd_api_key\nmd5 = \"" + hash + "\"", "dd_api_key\n==========\nis not \"" + hash + "\"", `secretAccessKey /* see */, revision: "` + longer + `"`, `/* dd_api_key */ md5 = "` + hash + `"`, `dd_api_key = key /* c */; md5 = "` + hash + `"`,
	} {
		f := facts("deploy.lock", prefixed("+", strings.Split(text, "\n"))...)
		for _, r := range d.Redact(&f) {
			if r.RuleID != ruleGeneric {
				t.Errorf("%q: %+v", text, r)
			}
		}
	}
}

// A PuTTY key has other marker lines than other keys.
func TestKeyOfPuTTY(t *testing.T) {
	key := []string{
		"PuTTY-User-Key-File-3: ssh-ed25519", "Encryption: none", "Public-Lines: 1", base64Line(1)[:40], "Private-Lines: 2", base64Line(2) + base64Line(3)[:21], base64Line(4)[:20], "Private-MAC: 0a1b2c",
	}
	f := facts("deploy.ppk", prefixed("+", key)...)
	found := detector(t).Redact(&f)
	left := strings.Join(texts(f), "\n")
	if len(found) != 1 || found[0].RuleID != rulePrivateKey || strings.Contains(left, key[5][:20]) || strings.Contains(left, key[6]) || !strings.Contains(left, key[3]) {
		t.Errorf("found %+v, left\n%s", found, left)
	}
}

// A placeholder in documentation is not reported.
func TestPlaceholdersOfFormats(t *testing.T) {
	d := detector(t)
	for _, text := range []string{
		"AKIAIOSFODNN7EXAMPLE", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_exampleexampleexampleexampleexample1",
		"github_pat_XXXXXXXXXXXXXXXXXXXXXX_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", "sk-ant-api03-...", "glpat-your-token-here-your-token",
		"npm_000000000000000000000000000000000000", "xoxb-1111-2222-placeholder", "sk_test_abcdefghijklmnopqrstuvwxyz", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
		"https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "AIza...", "hf_...", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c", "the prefix ghp_ and the prefix gho_",
		"void getShopInfo_undefinedTimestampRenderedAsUndefinedString() {",
	} {
		f := facts("README.md", "+"+text)
		for _, r := range d.Redact(&f) {
			t.Errorf("%s is reported as a secret by %s", text, r.RuleID)
		}
	}
}

// In files that gitleaks skips, its rules for tokens of a unique format count.
func TestUniqueRulesOfGitleaksCountEverywhere(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(7, 7))
	for i := range d.rules {
		r := d.rules[i]
		if !uniqueRules[r.id] {
			continue
		}
		token, known := map[string]string{
			"adobe-client-secret":    "p8e-" + drawnFrom(`[a-z0-9]{32}`, draw),
			"gitlab-rrt":             "GR1348941" + drawnFrom(`[A-Za-z0-9]{20}`, draw),
			"octopus-deploy-api-key": "API-" + drawnFrom(`[A-Z0-9]{26}`, draw),
			"openshift-user-token":   "sha256~" + drawnFrom(`[A-Za-z0-9]{43}`, draw),
			"harness-api-key":        "pat." + drawnFrom(`[A-Za-z0-9]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`, draw),
			"infracost-api-token":    "ico-" + drawnFrom(`[A-Za-z0-9]{32}`, draw),
			"maxmind-license-key":    drawnFrom(`[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`, draw),
			"heroku-api-key-v2":      "HRKU-AA" + drawnFrom(`[0-9a-zA-Z]{58}`, draw),
			"twilio-api-key":         "SK" + drawnFrom(`[0-9a-f]{32}`, draw),
		}[r.id]
		if !known {
			continue
		}
		for _, path := range []string{"package-lock.json", "node_modules/a/b.js", "vendor/github.com/a/b.go", "logo.svg"} {
			f := facts(path, "+x = '"+token+"'")
			if found := d.Redact(&f); len(found) == 0 || found[0].RuleID != r.id {
				t.Errorf("%s in %s: %+v", r.id, path, found)
			}
		}
	}
	for id := range uniqueRules {
		if !slices.ContainsFunc(d.rules, func(r *rule) bool { return r.id == id }) {
			t.Errorf("gitleaks has no rule %s", id)
		}
	}
}

// A word next to a token does not make it a placeholder.
func TestWordsDoNotExcuseTokens(t *testing.T) {
	d := detector(t)
	token := drawn(&formats[0], 4)
	for _, text := range []string{token + "_example", "example_" + token, token + " # gitleaks:allow", token + "xxxxxxxxxxxx", "dummy" + token + "placeholder", token + " // example, changeme"} {
		f := facts("README.md", "+"+text)
		if found := d.Redact(&f); len(found) == 0 || strings.Contains(f.Files[0].Hunks[0].Lines[0].Text, token) {
			t.Errorf("%s: %d found, left %q", text, len(found), f.Files[0].Hunks[0].Lines[0].Text)
		}
	}
}

// The payload of the JWT in documentation does not excuse a token either. Only that whole JWT
// belongs to nobody.
func TestDocumentedJWTDoesNotExcuseTokens(t *testing.T) {
	d := detector(t)
	const header, signature = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
	documentedJWT := documentedJWTs[0]
	for i := range formats {
		f := &formats[i]
		token := drawn(f, uint64(i)+1)
		for _, text := range []string{
			token + "." + documentedJWT, token + "." + documentedJWT + ".", token + "." + header + "." + documentedJWT + "." + signature, "eyJ" + token + "." + documentedJWT + "." + signature,
			header + "." + documentedJWT + "." + token, header + "." + documentedJWT + "." + signature + "." + token, header + "." + documentedJWT + "." + token + strings.Repeat("-Zr8Kq4x", 20),
			token + "EXAMPLE", token + "xxxxxxxx", token + "123456", token + "1234567890abcdefghijklmnopqrstuvwxyz", "EXAMPLE-" + token, "your-" + token,
		} {
			if (f.apart || f.alone || f.before != "") && strings.HasPrefix(text, "eyJ"+token) || strings.Contains(f.rest, "d\"") || f.prefix[0] == '"' {
				continue
			}
			file := facts("README.md", "+x = "+text)
			if found := d.Redact(&file); len(found) == 0 || strings.Contains(file.Files[0].Hunks[0].Lines[0].Text, token) {
				t.Errorf("%s: %s: %d found", f.id, text, len(found))
			}
		}
	}
	for _, payload := range documentedJWTs {
		if file := facts("a.go", "+t = \""+header+"."+payload+"."+signature+"\""); len(d.Redact(&file)) > 0 {
			t.Errorf("the JWT in documentation with the payload %s is reported as a secret", payload)
		}
	}
	other := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"1234567891","name":"John Doe","admin":true}`))
	if file := facts("a.go", "+t = \""+header+"."+other+"."+signature+"\""); len(d.Redact(&file)) == 0 {
		t.Error("a JWT of another subject is not found")
	}
	file := facts("a.go", "+t = ghs_123456_"+strings.Replace(header, "J9", "K7", 1)+"."+documentedJWT+"."+signature)
	if len(d.Redact(&file)) == 0 {
		t.Error("a token of GitHub with that payload is not found")
	}
}

// A JWT that has expired is replaced, but nobody has to revoke it. What is not one, or has no time
// of expiry, is reported.
func TestExpiredJWT(t *testing.T) {
	d := detector(t)
	now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	const header, signature = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "q8Zr4KxT2mVbN7wPcE5sJd9HfLg3YuRa1oXtKi6BvQy"
	jwt := func(claims string) string {
		return header + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + "." + signature
	}
	at := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	for claims, reported := range map[string]bool{
		`{"sub":"shop","user":7,"exp":` + at(-25*time.Hour) + `}`:   false,
		`{"sub":"shop","user":7,"exp":` + at(-11*time.Minute) + `}`: false,
		`{"sub":"shop","user":7,"exp":` + at(-9*time.Minute) + `}`:  true,
		`{"sub":"shop","user":7,"exp":` + at(time.Hour) + `}`:       true,
		`{"sub":"shop","user":7,"exp":"` + at(-48*time.Hour) + `"}`: true,
		`{"sub":"shop","user":7,"exp":-1}`:                          true,
		`{"exp":4000000000,"EXP":1600000000,"user":7}`:              true,
		`{"sub":"shop","user":7,"iat":` + at(-48*time.Hour) + `}`:   true,
	} {
		file := facts("api/openapi.yaml", "+  token: "+jwt(claims))
		file.ObservedAt = now
		if found := d.Redact(&file); len(found) > 0 != reported {
			t.Errorf("%s: %d found, want some: %t", claims, len(found), reported)
		}
		if strings.Contains(file.Files[0].Hunks[0].Lines[0].Text, signature) {
			t.Errorf("%s is shown", claims)
		}
	}
	expired := jwt(`{"sub":"shop","user":7,"exp":` + at(-48*time.Hour) + `}`)
	for _, text := range []string{expired + " and " + jwt(`{"sub":"shop"}`), `key = "` + drawn(&formats[0], 1) + `" # ` + expired} {
		file := facts("api/client.py", "+"+text)
		file.ObservedAt = now
		if len(d.Redact(&file)) == 0 {
			t.Errorf("nothing is found in %s", text)
		}
	}
}

// The keys of Azure's emulators are in its documentation. A key of one's own beside them still counts.
func TestKeysOfEmulators(t *testing.T) {
	d := detector(t)
	const own = "q8Zr4KxT2mVbN7wPcE5sJd9HfLg3YuRa1oXtKi6BvQyWnM0eDzSjUhGpCl4FkAx7TrEoIbNcVwZsYdMfPgHaQw=="
	for _, key := range []string{
		"AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
		"AccountEndpoint=https://localhost:8081/;AccountKey=C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
	} {
		file := facts("storage/client.cs", `+var c = "`+key+`;";`)
		if found := d.Redact(&file); len(found) > 0 {
			t.Errorf("%s: %+v", key, found)
		}
		file = facts("storage/client.cs", `+var c = "`+key+`;"; var d = "AccountName=shop;AccountKey=`+own+`;";`)
		if found := d.Redact(&file); len(found) != 1 || strings.Contains(file.Files[0].Hunks[0].Lines[0].Text, own) {
			t.Errorf("%s: %+v", key, found)
		}
	}
}

// Words do not excuse what gitleaks finds either, or values at places of secrets.
func TestWordsDoNotExcuseRandomValues(t *testing.T) {
	d := detector(t)
	const value = "Zr8Kq4xTn6Wp1LvB7mYc3Jd9"
	for _, text := range []string{
		"postgres://app:" + value + "example@db.prod.internal:5432/app", "postgres://app:" + value + "@db.prod.example-shop.internal:5432/app", "postgres://app:xxxxxxxxxx" + value + "@db.prod.internal/app",
		"X: Bearer " + value + "EXAMPLE", "X: Bearer changeme" + value, "api_key = \"dummy-" + value + "\"",
		`curl https://a.internal -H "Authorization: Bearer ` + value + `..."`,
	} {
		f := facts("deploy/run.txt", "+"+text)
		if found := d.Redact(&f); len(found) == 0 || strings.Contains(f.Files[0].Hunks[0].Lines[0].Text, value) {
			t.Errorf("%s: %d found", text, len(found))
		}
	}
	for _, text := range []string{
		"postgres://app:" + value + "@db.example.com:5432/app", "postgres://app:" + value + "@db.example/app", "postgres://app:your-password-of-2024-here@db.internal/app", "X: Bearer your-own-api-token-from-2024-12-31",
		`curl https://a.internal -H "Authorization: Bearer shop_pat_..."`, `curl https://a.internal -H "Authorization: Bearer <SHOP_TOKEN>"`,
		`api_key = "your-Api-Key-v2-of-2024"`, `api_key = "example_key_1234567890"`,
	} {
		f := facts("deploy/run.txt", "+"+text)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// nearMisses are texts made to be slow. Each is repeated up to a megabyte.
var nearMisses = map[string]func(i int) string{
	"almost a token": always("ghp_0123456789abcdefghijABCDEFGHIJ01234 "), "names": func(i int) string { return fmt.Sprintf("password = api_key_%d_abc=", i) },
	"names and values": func(i int) string { return fmt.Sprintf("password = api_key_%d_abc= ", i) }, "key=": always("key="), "folded": always("\u017fecret="),
	"prefixes": always("ghp_"), "base64": always("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNk"), "digits": always("0123456789"), "quotes": always(`"`), "pieces": always(`"a" + "b" + `),
	"escapes": always(`\u0067`), "percent": always("%67"), "entities": always("&#103;"), "zero width": always("\u200b"), "full width": always("\uff47"), "marks": always("AZDO"), "JWT": always("eyJ"),
	"words": always("password = "), "first lines of keys": always("-----BEGIN PRIVATE KEY-----"), "last lines of keys": always("-----END PRIVATE KEY-----"), "curl": always("curl -u "),
	"base64 twice": always("UVVKRFJFVkdSMGhKU2t0TVRVNVBVRkZTVTFSVlZsZFlXVnBoWW1Oaw"), "hexadecimal": always("6162636465666768696a6b6c6d6e6f70"), "lists": always(`join("ghp_", "aB3dE5fG7", `),
	"names of keys": always("aws_secret_access_key "), "names in fields": always(`"value": "a", "name": "aws_secret_access_key`), "defaults": always("aws_secret_access_key\" {\n"), "calls": always(`aws_secret_access_key=f("a", `), "points": always(`\u{67 `), "points that end": always(`\u{67 68 000069}`), "points of one escape": after(`\u{`, "67 "), "letters of one shape": always("\u338f"), "verbs": always("%-0s"), "names and comments": always("dd_api_key /* # -- "), "names and dashes": always("dd_api_key--"), "names among others": always("dd_api_key, x = "), "insertions": always("${A:-"), "returns": always("a\r"), "keys in JSON": always(`"d": "`), "marks in the middle": always("T3BlbkFJ"),
	"adjacent strings": func(i int) string { return fmt.Sprintf(`"aB%d", `, i) }, "strings in comments": always(`"#`), "strings in comment lines": always("// \"a\"\n"), "blocks without ends": always(`"/*`), "blocks": always(`"a" /* "`), "other marks": always("[[q(%q($$R\"("), "inserted": always("a{b#{"), "inserted strings": always(`a{{"b"}}`),
	"formats": always(`"%s{}a1", `), "ends of strings": always(`"+'`), "empty strings": always(`"" + `), "names between": always(`"a1B2" x(`),
	"short base64":   always("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w "),
	"lines of a key": after("-----BEGIN PRIVATE KEY-----", "abcdefgh"), "lines of a key, escaped": after("-----BEGIN PRIVATE KEY-----", `abcdefgh\n`), "lines of PuTTY's key": after("Private-Lines: 14", "abcdefgh"),
	"first lines in comments": always("Comment: -----BEGIN PRIVATE KEY-----"), "first lines in comments and lines": always("Comment: -----BEGIN PRIVATE KEY-----\nabcdefgh"),
	"numbers of characters":   always("chr(65)+"),
	"numbers among strings":   always(`"a1B2" + 12345 + `),
	"numbers in templates":    always("a{12}b${3456}"),
	"numbers for strings":     always(`"%d%c" % (95, 0x5f), `),
	"beginnings of OpenSSH's": always("b3BlbnNzaC1rZXktdjEA "),
	"passwords":               always(`x="aB1!aB1!aB1!"`), "passwords and names": always(`password=="aB1!aB1c%s"`), "passwords one after another": always(`password='aB3$dE5^a`),
	"calls that transform strings": always(`"a-b1-C2".replace("-", "").lower()+`),
	"reversed rows":                always(`["a1B2","c"].reverse().join(""),`),
	"strings that formats repeat":  always(`"{0}{0}{0}{0}{0}{0}{0}{0}".format("ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),`),
	"strings that calls lengthen":  always(`"ghp_aaaaaaaaaaaaaaaa".replace("a", "aaaa").replace("a", "aaaa").replace("a", "aaaa"),`),
	"expressions replaced":         always(`"a-b1-C2".replace(/(-|~)+/g, ""),`),
	"octal numbers":                always("0147 0b1100111 "), "letters of other scripts": always("\u04bb\u0435"),
	"names in formats":          always(`"$a{b}%(c)s" + `),
	"lists with a separator":    always(`"-", ["sk-ant", "pa", "aB3"].join("_"), `),
	"beginnings in lists":       always(`"SG","ghp","sk-ant-aB3dE5fG7","gl",`),
	"heredocs":                  always("<<A\n"),
	"lists of words":            always("%w[a b "),
	"strings in strings":        always(`"\"`),
	"choices":                   always(`(1?"a":"b")+`),
	"members":                   always(`{a:"b"}.a+`),
	"last lines after material": always("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYm1 -----END PRIVATE KEY-----"),
}

// after returns a first piece, followed by another piece repeated many times.
func after(first, piece string) func(int) string {
	return func(i int) string {
		if i == 0 {
			return first
		}
		return piece
	}
}

func always(piece string) func(int) string { return func(int) string { return piece } }

// BenchmarkNearMisses measures a megabyte, on one line and with a piece on each line.
func BenchmarkNearMisses(b *testing.B) {
	d := detector(b)
	for _, name := range slices.Sorted(maps.Keys(nearMisses)) {
		for _, lines := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s, lines %t", name, lines), func(b *testing.B) {
				var text []string
				for size, i := 0, 0; size < 1<<20; i++ {
					text = append(text, nearMisses[name](i))
					size += len(text[i])
				}
				if !lines {
					text = []string{strings.Join(text, "")}
				}
				text = prefixed("+", text)
				for b.Loop() {
					f := facts("a.txt", text...)
					d.Redact(&f)
				}
				b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Second), "s/MB")
			})
		}
	}
}
