package secrets

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
)

// A token is found if it is encoded several times, written in numbers of other bases, put before a
// text, or spelt with letters of other scripts.
func TestTokensInFurtherForms(t *testing.T) {
	d := detector(t)
	encoded := func(text string, times int) string {
		for range times {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		return text
	}
	rest := drawnFrom(`[A-Za-z0-9]{36}`, rand.New(rand.NewPCG(53, 7)))
	token := "ghp_" + rest
	for _, text := range []string{
		encoded(token, 2), encoded(token, 3), encoded("token: "+token, 3), "x = b64(b64(b64('" + encoded(token, 3) + "')))", encoded("a=1; t="+token+";", 4),
		"[" + oneByOne(token, "0o%o", ", ") + "]", "{" + oneByOne(token, "0%o", ", ") + "}", oneByOne(token, "%03o", " "), "[" + oneByOne(token, "0b%b", ", ") + "]", oneByOne(token, "%08b", " "),
		`"` + rest + `".prepend("ghp_")`, `"` + rest + `".dup.prepend("ghp_")`, `'` + rest + `'.prepend('ghp_')`, `String.new("` + rest + `").prepend("ghp_")`,
		"g\u04bbp_" + rest, "gh\u0440_" + rest, `"g` + "\u04bb" + `p_` + rest + `"`, "&#x261;hp_" + rest, "gհp_" + rest,
	} {
		f := facts("a.txt", "+t = "+text)
		if found := d.Redact(&f); len(found) == 0 || strings.Contains(texts(f)[0], rest) {
			t.Errorf("%s: %d found, left %s", text, len(found), texts(f))
		}
	}
	body := wrapped(keyBodies()["Ed25519"], 64)
	for _, name := range []string{"PRIVAT\u0415 KEY", "\u0420RIVATE KEY", "PRIVATE \u041aEY", "PRIVATE K\u0395Y", "PRIV\u0410TE KEY"} {
		f := facts("a.txt", prefixed("+", append(append([]string{"-----BEGIN " + name + "-----"}, body...), "-----END "+name+"-----"))...)
		if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), body[0]) {
			t.Errorf("%s: %d found, left %s", name, len(found), texts(f))
		}
	}
}
