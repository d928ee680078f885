package comments

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// hostile are pieces of slow texts: each begins something that nothing ends, or ends something that
// nothing began.
var hostile = []string{`\'`, `\"`, "\\`", `"`, "'", "`", `'''`, `"""`, "(/[", "(/", "(/[]", "(/[/", "`${", "`${(/[", `"${`, `f"{`, "f'{", "{", "}", "/* ", "*/", "// ", "# ", "<!--", `\`, "a", "]", "'a' ", "$((", "<<A ", "<<'A "}

// hostileTexts returns texts of a size that repeat one of the pieces, or several of them.
func hostileTexts(size int) map[string]string {
	units := append([]string{}, hostile...)
	random := rand.New(rand.NewPCG(1, 2))
	for range sample.Size(10, 50) {
		var unit strings.Builder
		for range 2 + random.IntN(4) {
			unit.WriteString(hostile[random.IntN(len(hostile))])
		}
		units = append(units, unit.String())
	}
	out := map[string]string{}
	for _, unit := range units {
		out[unit] = strings.Repeat(unit, size/len(unit)+1)[:size]
	}
	return out
}

// A line of twice the size takes at most twice the work to find the end of a string or a regular
// expression. A megabyte would take minutes otherwise.
func TestWorkOfLines(t *testing.T) {
	const size, rest = 64 << 10, 256
	once, twice := hostileTexts(size), hostileTexts(2*size)
	for what, work := range map[string]func(text string) int{
		"Code of JavaScript": workOfCode("JavaScript"),
		"Code of Python":     workOfCode("Python"),
		"Code of Kotlin":     workOfCode("Kotlin"),
		"Code of Groovy":     workOfCode("Groovy"),
		"Behind": func(text string) int {
			texts := TextsOf(text + "*/")
			goLike.ended(texts.line, &texts)
			return texts.read
		},
		"arithmetic": func(text string) int {
			sums := arithmetic{line: text}
			for at := range len(text) {
				sums.length(at)
			}
			return sums.read
		},
		"Texts": func(text string) int {
			texts := TextsOf(text)
			for at := 0; at < len(text); at++ {
				at += max(0, texts.At(at)-1)
			}
			return texts.read
		},
	} {
		for unit := range once {
			for _, start := range []string{"", "x = (", "`${`${`${"} {
				if n, more := work(start+once[unit]), work(start+twice[unit]); more > 2*n+rest {
					t.Fatalf("%s: %q repeated takes %d steps for %d KB, and %d for twice as many", what, start+unit, n, size>>10, more)
				}
			}
		}
	}
}

func workOfCode(language string) func(text string) int {
	return func(text string) int {
		c := newCoder(language, text)
		c.code(0, 0)
		return c.texts.read
	}
}

// The memory of Texts does not change which strings it finds, wherever reading starts and whatever
// was found before.
func TestTexts(t *testing.T) {
	parts := []string{`"`, "'", "`", `\`, `\\`, "a", " "}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		line := b.String()
		texts := TextsOf(line)
		for at := random.IntN(len(line)); at < len(line); at++ {
			fresh := TextsOf(line)
			n, want := texts.At(at), fresh.At(at)
			if n != want {
				t.Fatalf("the text at %d of %q is %d bytes long, want %d", at, line, n, want)
			}
			at += max(0, n-1)
		}
	}
}

// Brackets and escapes in an earlier regular expression without an end do not affect a later one.
func TestCodeAfterUnclosedRegexps(t *testing.T) {
	for text, want := range map[string]string{
		`a(/[, /"/, "b(")`:        `a(/[, /"/, "  ")`,
		`a(/[, (/[, /[/"]/, "b")`: `a(/[, (/[, /[/"]/, " ")`,
		`\'\'\' + "a("`:           `\'\'\' + "  "`,
		`'a(\'\' + "b("`:          `'a(\'\' + "  "`,
		`'a(\\' + 'b(\' + "c("`:   `'    ' + 'b(\' + "  "`,
	} {
		if got := Code("JavaScript", text); got != want {
			t.Errorf("Code(%q) = %q, want %q", text, got, want)
		}
	}
}
