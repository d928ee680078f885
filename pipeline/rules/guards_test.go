package rules

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// The checks that skip the rewriting of a text never skip a text that it would change.
func TestGuardsMissNoChange(t *testing.T) {
	parts := []string{
		" ", "\t", "\r", ".", "?", "`", "[", "]", "(", ")", "+", "!", "/", "*", "/*", "*/", `"`, "'", `""`, `"b"`, "'c'", `f"`, "?.(", "((",
		"a", "b1", "as", " as T", "if", "return", "getattr(", "getattr(a, ", ".concat(", "concat", "{", "}", ",", ":", ";", "é", "\\", "<", ">", "<a>", "&", "|", "0", "0, ", "String", "await ", "\"a\":", "a: ", "satisfies ", "new ", "| ", "c<", "=> ", "require(", "('b/c')", ", d)", "}", "=", ",", "-", "as b",
	}
	random := rand.New(rand.NewPCG(1, 2))
	changed := map[string]int{}
	for range sample.Size(200_000, 2_000_000) {
		var b strings.Builder
		for range 1 + random.IntN(9) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		text := b.String()
		for _, g := range []struct {
			name           string
			guarded, whole func(string) string
		}{{"dotted", dotted, dot}, {"simplified", simplified, simplify}} {
			want := g.whole(text)
			if got := g.guarded(text); got != want {
				t.Fatalf("%s(%q) = %q, want %q", g.name, text, got, want)
			}
			if want != text {
				changed[g.name]++
			}
		}
	}
	if changed["dotted"] < 1000 || changed["simplified"] < 1000 {
		t.Errorf("only %v texts were changed", changed)
	}
}
