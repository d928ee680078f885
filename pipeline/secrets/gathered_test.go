package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// Encoded secrets are found in groups and lines of any width, and in lists and dumps.
func TestGatheredTokens(t *testing.T) {
	d := detector(t)
	pairs := func(text, format, separator string) string {
		var out []string
		for i := range len(text) {
			out = append(out, fmt.Sprintf(format, text[i]))
		}
		return strings.Join(out, separator)
	}
	for i, token := range []string{drawn(&formats[0], 3), stripe, drawn(&formats[6], 4)} {
		text := "the token: " + token + " and no more"
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		forms := map[string]string{}
		for _, width := range []int{2, 3, 4, 7, 8, 12, 15} {
			groups := wrapped(encoded, width)
			forms[fmt.Sprintf("base64 in lines of %d", width)] = strings.Join(groups, "\n")
			forms[fmt.Sprintf("base64 in indented lines of %d", width)] = "data:\n  " + strings.Join(groups, "\n  ") + "\nother: 1"
			forms[fmt.Sprintf("base64 in groups of %d", width)] = "t = " + strings.Join(groups, " ")
			forms[fmt.Sprintf("base64 with colons every %d", width)] = strings.Join(groups, ":")
			forms[fmt.Sprintf("base64 in a list of %d", width)] = `["` + strings.Join(groups, `", "`) + `"]`
			forms[fmt.Sprintf("base64 in pieces of %d", width)] = `decode("` + strings.Join(groups, `" + "`) + `")`
			forms[fmt.Sprintf("base64 in a comment of %d", width)] = "# " + strings.Join(groups, "\n# ")
			forms[fmt.Sprintf("base64 with escaped ends every %d", width)] = `"` + strings.Join(groups, `\n`) + `"`
			if width > 3 {
				forms[fmt.Sprintf("base64 with numbers of lines of %d", width)] = strings.Join(framedLines(groups, "%d: %s"), "\n")
				forms[fmt.Sprintf("base64 in paragraphs of %d", width)] = strings.Join(framedLines(groups, "<p>%s</p>"), "\n")
			}
		}
		digits := fmt.Sprintf("%x", text)
		for _, width := range []int{2, 3, 4, 6, 8, 15, 16, 30} {
			for _, separator := range []string{" ", ":", "-", "\n", ", ", `", "`, "\t", " : ", "  ", ".", "\n    ", "_"} {
				forms[fmt.Sprintf("%d digits with %q", width, separator)] = "x = '" + strings.Join(wrapped(digits, width), separator) + "'"
			}
		}
		forms["fromhex"] = `bytes.fromhex("` + pairs(token, "%02x", " ") + `")`
		forms["capitals"] = pairs(token, "%02X", ":")
		forms["an array of C"] = "char t[] = {" + pairs(token, "0x%02x", ", ") + "};"
		forms["an array of C over lines"] = "char t[] = {\n  " + strings.Join(wrapped(pairs(token, "0x%02x", ", "), 48), "\n  ") + "\n};"
		forms["a list of numbers"] = "bytes([" + pairs(token, "%d", ", ") + "])"
		forms["numbers with blanks"] = pairs(token, "%d", " ")
		forms["a dump of xxd"] = dump(text, "%08x: ", 2, false)
		forms["a dump of hexdump"] = dump(text, "%08x  ", 1, true)
		for name, form := range forms {
			lines := strings.Split(form, "\n")
			f := facts("a.txt", prefixed("+", lines)...)
			found := d.Redact(&f)
			left := strings.Join(texts(f), "\n")
			if len(found) == 0 || len(texts(f)) != len(lines) || shows(left, encoded[16:len(encoded)-8]) || shows(left, digits[22:len(digits)-22]) && !strings.Contains(name, "dump") {
				t.Errorf("token %d, %s: %d found, left %.600q", i, name, len(found), left)
			}
		}
	}
}

// dump formats a text as programs that show bytes do.
func dump(text, offset string, group int, bars bool) string {
	var out []string
	for i := 0; i < len(text); i += 16 {
		line := text[i:min(len(text), i+16)]
		hexes := ""
		for j := range len(line) {
			hexes += fmt.Sprintf("%02x", line[j])
			if (j+1)%group == 0 {
				hexes += " "
			}
		}
		if bars {
			out = append(out, fmt.Sprintf(offset+"%-49s |%s|", i, hexes, line))
		} else {
			out = append(out, fmt.Sprintf(offset+"%-41s %s", i, hexes, line))
		}
	}
	return strings.Join(out, "\n")
}

// Words, hashes, dumps and tables of numbers hold no secret.
func TestGatheredNonTokens(t *testing.T) {
	d := detector(t)
	var table, hashes []string
	for i := range 40 {
		table = append(table, strings.Join(wrapped(fmt.Sprintf("%x", randomBytes(16, uint64(i))), 2), " "))
		hashes = append(hashes, strings.Join(wrapped(base64.StdEncoding.EncodeToString(randomBytes(32, uint64(i))), 8), " "))
	}
	for name, text := range map[string]string{
		"a dump": strings.Join(table, "\n"), "fingerprints": strings.ReplaceAll(strings.Join(table, "\n"), " ", ":"), "groups": strings.Join(hashes, "\n"),
		"a dump of words": dump(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 10), "%08x: ", 2, false), "prose": strings.Repeat("The quick brown fox jumps over the lazy dog, and 12 others do as well. ", 10),
	} {
		f := facts("a.txt", prefixed("+", strings.Split(text, "\n"))...)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
