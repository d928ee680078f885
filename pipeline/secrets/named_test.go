package secrets

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Our own finders find what gitleaks' detector finds, value by value, in any text.
func TestOwnFindersAgreeWithGitleaks(t *testing.T) {
	d := detector(t)
	cfg, err := defaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	values, err := withoutPaths(cfg.Allowlists)
	if err != nil {
		t.Fatal(err)
	}
	global := allowLists(values)
	n := 0
	for _, r := range d.rules {
		if _, ok := r.finder().(*theirs); ok {
			continue
		}
		n++
		from := cfg.Rules[r.id]
		from.Keywords = nil
		gitleaks := newTheirs(r, from, global)
		text := rapid.Custom(func(t *rapid.T) string {
			part := rapid.OneOf(rapid.StringMatching(r.regex.String()), rapid.SampledFrom(near), rapid.SampledFrom(r.literals), rapid.StringMatching(`[A-Za-z0-9+/]{4,40}={0,2}`))
			separator := rapid.SampledFrom([]string{"\n", " ", "", "=", "\"", "\n\n"})
			var b strings.Builder
			for range rapid.IntRange(1, 12).Draw(t, "parts") {
				b.WriteString(part.Draw(t, "part"))
				b.WriteString(separator.Draw(t, "separator"))
			}
			return b.String()
		})
		seeds := sample.Size(3, 60)
		if r.id == ruleGeneric || r.id == rulePrivateKey {
			seeds *= 30
		}
		for seed := range seeds {
			text, path := text.Example(seed), []string{"", "a.go", "b.bb", "c/d.inc"}[seed%4]
			if r.path != nil && !r.path.MatchString(path) {
				path = "main.tf"
			}
			if diff := gocmp.Diff(gitleaks.find(text, path), r.finder().find(text, path), cmpopts.EquateEmpty(), gocmp.AllowUnexported(match{}), gocmp.Comparer(func(a, b *rule) bool { return a == b })); diff != "" {
				t.Errorf("%s in %q (-gitleaks +ours):\n%s", r.id, text, diff)
			}
		}
	}
	if n < 90 {
		t.Errorf("%d rules use our own finders, want 90 or more: have gitleaks' expressions changed?", n)
	}
}

// near are the parts of values that are assigned to names.
var near = []string{
	"-----BEGIN PRIVATE KEY-----", "-----begin a private \u212aey block-----", "-----END PRIVATE KEY-----", "KEY BLOC\u212a-----", "-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", strings.Repeat("é", 40),
	"key", "api_key", "API", "secret", "my.token-", "\u017fecret", "\u212aey", "password", "a\u017f\u212a-", "=", ":", " => ", "?=", "||", ",", "'", "\"", "`", ";", `\n`, `\r`, "\r", "\n", " ",
	"abcdefghij1", "A1b2C3d4E5f6G7h8", "a/b+c/d1e2f3g4h5==", "example", "random_access", "import { a } from 'key", "--mount=type=secret,", "LICENSE = \"key=A1b2C3d4E5f6G7h8\"", "SRC_key=\"",
	"....", "----", "é", "\xff", "primary_key = 'q8Zr2LxV7bNcJm5PdYh8'", strings.Repeat("Az9.", 45), strings.Repeat("b64+/", 40),
}
