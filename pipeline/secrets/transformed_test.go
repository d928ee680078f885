package secrets

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

// A string that a call turns into a token counts as the token.
func TestTransformedTokens(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(47, 7))
	rest := drawnFrom(`[A-Z][a-z0-9]{3}[A-Za-z0-9]{32}`, draw)
	token := "ghp_" + rest
	swapped := strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, token)
	between := func(s, sign string) string { return strings.Join(strings.Split(s, ""), sign) }
	hexes := drawnFrom(`[a-f][a-f0-9]{63}`, draw)
	for _, text := range []string{
		`"` + between(token, "-") + `".replaceAll("-", "")`, `"` + between(token, "#") + `".replace(/#/g, "")`, `"` + between(token, "-") + `".split("-").join("")`, `"` + between(token, "-") + `".replace("-", "")`, `"` + between(token, "-") + `".gsub("-", "")`, `"` + between(token, "-") + `".delete("-")`, `"` + between(token, ".") + `".Replace(".", "")`,
		`"ghp-` + rest + `".tr("-", "_")`, `"ghp-` + rest + `".replace("-", "_")`, `"ghp@@` + rest + `".replace("@@", "_")`, `str_replace("-", "_", "ghp-` + rest + `")`, `strings.ReplaceAll("ghp-` + rest + `", "-", "_")`, `REPLACE('ghp-` + rest + `', '-', '_')`, `re.sub("-", "", "` + between(token, "-") + `")`, `string.gsub("ghp-` + rest + `", "-", "_")`,
		`"GHP_".lower() + "` + rest + `"`, `"GHP_".toLowerCase() + "` + rest + `"`, `"GHP_".downcase + "` + rest + `"`, `strtolower("GHP_") . "` + rest + `"`, `strings.ToLower("GHP_") + "` + rest + `"`, `"` + swapped + `".swapcase()`, `"DOP_V1_` + strings.ToUpper(hexes) + `".lower()`, `"GHP-".replace("-", "_").lower() + "` + rest + `"`,
		`"` + between(token, "-~") + `".replace(/(-|~)/g, "")`, `"` + between(token, " ") + `".replace(/\s+/g, "")`, `"ghp#` + rest + `".replace("#", "_", 1)`, `"ghp#` + rest + `".translate(str.maketrans("#", "_"))`, `strtr("ghp-` + rest + `", "-", "_")`,
		`["` + rest[18:] + `", "` + rest[:18] + `", "ghp_"].reverse().join("")`, `"".join(reversed(["` + rest[18:] + `", "` + rest[:18] + `", "ghp_"]))`, `"".join(["` + rest[18:] + `", "` + rest[:18] + `", "ghp_"][::-1])`,
		`"%(b)s%(a)s" % {"a": "` + rest[:18] + rest[18:] + `", "b": "ghp_"}`, `Template("$a$b").substitute(a="ghp_", b="` + rest + `")`, `Template("$b$a").substitute(a="` + rest + `", b="ghp_")`,
	} {
		f := facts("a.txt", "+t = "+text)
		found := d.Redact(&f)
		if left := texts(f)[0]; len(found) == 0 || strings.Contains(left, rest[5:20]) || strings.Contains(left, swapped[10:30]) {
			t.Errorf("%s: %d found, left %s", text, len(found), left)
		}
	}
}

// Several calls and formats that each multiply a text's length don't make it long together.
func TestTransformedTextsStayShort(t *testing.T) {
	d := detector(t)
	long := `"ghp_` + strings.Repeat("a", 2000) + `"`
	for name, text := range map[string]string{
		"calls":            long + strings.Repeat(`.replace("a", "aaaa")`, maxCalls),
		"a call around it": `replace("a", "aaaa", ` + long + `)`,
		"a format":         `"` + strings.Repeat("{0}", 300) + `".format(` + long + `)`,
		"names":            `"` + strings.Repeat("%(a)s", 300) + `" % {"a": ` + long + `}`,
		"places":           `fmt.Sprintf("` + strings.Repeat("%[1]s", 300) + `", ` + long + `)`,
	} {
		f := facts("a.js", "+x = "+text)
		d.Redact(&f) // only the second run is measured
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d.Redact(&f)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%s: a text of %d bytes took %d KB of memory", name, len(text), took>>10)
		}
	}
}
