package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// The private members of a key in JSON are found however they are set.
func TestMembersOfJWK(t *testing.T) {
	d := detector(t)
	value := func(n int) string { return base64.RawURLEncoding.EncodeToString(randomBytes(n, uint64(n))) }
	for _, form := range []string{
		`{"kty":"EC","crv":"P-256","d":  "%s"}`, `{"kty":"EC","d"   :   "%s"}`, "{\"kty\":\"EC\",\n\"d\"\n : \"%s\"}", "{\"kty\":\"EC\",\n\"d\":\n\n  \"%s\"}", `{kty:'EC', d:'%s'}`, `{"crv":"Ed25519",'d': '%s'}`,
		"kty: EC\nd: %s", "kty: EC\nd: \"%s\"", "- kty: EC\n  d: >-\n    %s", "d: |\n  %s\ncrv: P-256", `kty = "EC"` + "\n" + `d = "%s"`, `{:kty => "EC", :d => "%s"}`, `['kty' => 'EC', 'd' => '%s']`, "<kty>EC</kty><d>%s</d>",
		`{\"kty\":\"EC\",\"d\":\"%s\"}`, "kty=EC&d=%s", "kty: \"EC\",\nd: `%s`", `("kty", "EC"), ("d", "%s")`, `jwk["kty"] = "EC"; jwk["d"] = "%s"`,
	} {
		for _, n := range []int{32, 48, 57, 66, 256} {
			secret := value(n)
			lines := strings.Split(fmt.Sprintf(form, secret), "\n")
			f := facts("package-lock.json", prefixed("+", lines)...)
			found := d.Redact(&f)
			if left := strings.Join(texts(f), "\n"); len(found) != 1 || found[0].RuleID != "jwk-private-key" || strings.Contains(left, secret[len(secret)-16:]) {
				t.Errorf("%.80s, %d bytes: %+v, left %.200q", form, n, found, left)
			}
		}
	}
	for _, name := range []string{"p", "q", "dp", "dq", "qi"} {
		f := facts("a.lock", "+kty: RSA", "+"+name+": "+value(128))
		if found := d.Redact(&f); len(found) != 1 || found[0].RuleID != "jwk-private-key" {
			t.Errorf("%s: %+v", name, found)
		}
	}
	f := facts("a.lock", "+{\"kty\": \"oct\",", "+ \"k\": \""+value(32)+"\"}")
	if found := d.Redact(&f); len(found) != 1 || found[0].RuleID != "jwk-private-key" {
		t.Errorf("k: %+v", found)
	}
	for _, form := range []string{
		"d: %s", "{d: '%s'}", "kty: EC\nx: %s", "kty: EC\ny: \"%s\"", "kty: RSA\nn: %s", "kty: EC\nid: %s", "kty: EC\nx5t: %s", "kty: EC\nkid: %s", "kty: EC\n%s", "kty: EC\nd: yes\nx: %s", "a package of kty\nsha256-d %s", "crv is a word, d-%s", "empty: d\ncrvs: %s",
	} {
		f := facts("a.lock", prefixed("+", strings.Split(fmt.Sprintf(form, value(32)), "\n"))...)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", form, found)
		}
	}
}
