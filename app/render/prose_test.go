package render

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const z = zeroWidthSpace

func TestTextInMarkdown(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"ordinary prose is left alone", `It's 5 > 3 - "so" (see a/b.go:12); 50% + 2 = 1, e.g. snake_case & Co.: done!`,
			`It's 5 > 3 - "so" (see a/b.go:12); 50% + 2 = 1, e.g. snake_case & Co.: done!`},
		{"emoji and other scripts", "déjà vu 日本 🎉 ⚠️", "déjà vu 日本 🎉 ⚠️"},
		{"one line", " a \r\n\tb\u2028c  ", "a b c"},
		{"mention", "ask @octocat or @acme/ops", "ask @" + z + "octocat or @" + z + "acme/ops"},
		{"a single at sign", "5 @ 3", "5 @ 3"},
		{"references", "#12 acme/shop#3 GH-4 gh-5 # 6 #a", "#" + z + "12 acme/shop#" + z + "3 GH-" + z + "4 gh-" + z + "5 # 6 #a"},
		{"URL", "see https://a.example/x?y=1#z.", "see `https://a.example/x?y=1#z`."},
		{"URL in brackets", "(www.a.example)", "(`www.a.example`)"},
		{"code span", "error of `rows.Close()` dropped", "error of `rows.Close()` dropped"},
		{"code span with a mention", "`@octocat`", "`@" + z + "octocat`"},
		{"double code span", "``a ` b``", "``a ` b``"},
		{"a single backtick", "a ` b", "a \\` b"},
		{"spans side by side", "`a`www.b.example`c`", "`a` `www.b.example` `c`"},
		{"emphasis", "*a* _b_ __init__ ~~c~~", `\*a\* \_b\_ \_\_init\_\_ \~\~c\~&#126;`},
		{"image and link", "![a](b) [c](d)", `!\[a\](b) \[c\](d)`},
		{"HTML", "<img src=x> <!-- a --> &lt; &#64; AT&T a && b", "&lt;img src=x> &lt;!-- a --> &amp;lt; &amp;#" + z + "64; AT&amp;T a && b"},
		{"table", "a | b", `a \| b`},
		{"math", "$x$ costs ($5)", "`$x$` costs (`$5`)"},
		{"heading", "# a", `\# a`},
		{"reference at the start", "#1 a", "#" + z + "1 a"},
		{"list", "- a", `\- a`},
		{"numbered list", "1. a", `1\. a`},
		{"version number", "1.2.3 is out", "1.2.3 is out"},
		{"quote", "> a", `\> a`},
		{"rule", "---", `\---`},
		{"bidi", "a\u202eb\u2066", "aU+202EbU+2066"},
		{"zero width", "a\u200b\ufeff\u00adb", "aU+200BU+FEFFU+00ADb"},
		{"tags", "a\U000e0041", "aU+E0041"},
		{"control", "a\x00\x1b[1m\x7f\u009b", `aU+0000U+001B\[1mU+007FU+009B`},
		{"not UTF-8", "a\xffb", "a\ufffdb"},
		{"backslash", `a\`, `a\\`},
		{"blank code between halves", "@` `octocat", "@" + z + "\\` \\`octocat"},
		{"e-mail address", "a@b.example a@_b.example", "a@" + z + "b.example a@" + z + "\\_b.example"},
		{"long fraction", "1.005 * 100 is 100.49999999999999, or so", "1.005 \\* 100 is `100.49999999999999`, or so"},
		{"commit", "since a1b2c3d, of id 550e8400-e29b-41d4", "since `a1b2c3d`, of id `550e8400-e29b-41d4`"},
		{"short code", "a :tada: b, std::x, at 12:30:45, :ok", "a :" + z + "tada: b, std::x, at 12:30:45, :" + z + "ok"},
		{"table of one column", ":-", `\:-`},
		{"emoji with selectors", "⚠️ ℹ️ 1️⃣ a\ufe0f \ufe0f", "⚠️ ℹ️ 1️⃣ aU+FE0F U+FE0F"},
		{"pile of marks", "a" + strings.Repeat("\u0301", 10), "a" + strings.Repeat("\u0301", 8) + "U+0301U+0301"},
		{"blank character that is not a space", "a\u2800b", "aU+2800b"},
	} {
		if got := string(markdownPen{}.text(c.in, 500)); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.in, got, c.want)
		}
	}
}

// mayNeedSpans is true for every text that the search would match.
func TestTextsThatMayNeedSpans(t *testing.T) {
	misses := func(s string) bool { return spanned.MatchString(s) && !mayNeedSpans(s) }
	for _, s := range []string{
		"http://a", "x-y.z+1://a", "WwW.a", "(www.a", "MAILTO:a", "xMpP:a", "1234567", "1.2.abcdef0", "ABCDEFG1234567", "$", "a$", "$a", "\u017f://a",
	} {
		if misses(s) {
			t.Errorf("%q is missed", s)
		}
	}
	for _, s := range []string{"", "plain words: a/b.go:12, ww.x, mailt o:a", "abcdef 123456 abcdefg", "12:30:45"} {
		if mayNeedSpans(s) {
			t.Errorf("%q is searched", s)
		}
	}
	sample.Check(t, func(t *rapid.T) {
		if s := hostileText().Draw(t, "text"); misses(s) {
			t.Fatalf("%q is missed", s)
		}
	})
}

func TestCodeInMarkdown(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a/b.go:1", "`a/b.go:1`"},
		{"a`b", "``a`b``"},
		{"`a`", "`` `a` ``"},
		{"a``b`c", "```a``b`c```"},
		{" a ", "`  a  `"},
		{"new\nline\tand\rmore", "`new\\nline\\tand\\rmore`"},
		{"@types/x", "`@" + z + "types/x`"},
		{"a|b<c>[d](e)", "`a|b<c>[d](e)`"},
		{"a\u202eb", "`aU+202Eb`"},
		{"", ""},
	} {
		if got := string(markdownPen{}.code(c.in, 100)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestParagraphsAreClipped(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"one\n\n two\r\nthree", 100, "one<br>two<br>three"},
		{"one\ntwo\nthree", 7, "one<br>two…"},
		{"one\ntwo", 2, "on…"},
		{"one\ntwo", 4, "one…"},
		{"one\n\n\n", 3, "one"},
		{"", 3, ""},
	} {
		if got := string(markdownPen{}.para(c.in, c.limit)); got != c.want {
			t.Errorf("%q at %d: got %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

// Limits count the escapes of invisible characters, so that a text never exceeds its
// limit by them.
func TestLimitsCountWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"\U0010fffe\U0010fffe\U0010fffe", 9, "U+10FFFEU+10FFFE…"},
		{"a b c", 3, "a b…"},
		{"日本語", 2, "日本…"},
	} {
		if got := oneLine(c.in, c.limit); got != c.want {
			t.Errorf("%q at %d: got %q, want %q", c.in, c.limit, got, c.want)
		}
	}
	if got := clip(strings.Repeat("日", 100), 255); len(got) > 255 || !utf8.ValidString(got) || !strings.HasSuffix(got, "日…") {
		t.Errorf("clipped to %d bytes: %q", len(got), got)
	}
}

func TestLinksCannotBeBroken(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"https://a.example/b?c=1#d", "[x](https://a.example/b?c=1#d)"},
		{"", "x"},
		{"https://a.example/) @octocat", "x"},
		{"https://a.example/\n# b", "x"},
		{"https://a.example/<b>", "x"},
		{"javascript:alert(1)", "x"},
		{"https://a.example/" + strings.Repeat("b", maxURL), "x"},
	} {
		if got := string(markdownPen{}.link("x", c.url)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.url, got, c.want)
		}
	}
}

func TestBlockFence(t *testing.T) {
	got := string(markdownPen{}.block("diff", []string{"+a ```` b", "-c"}))
	if want := "`````diff\n+a ```` b\n-c\n`````"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongPathsAreCutAtTheFront(t *testing.T) {
	if got, want := clipPath("some/deep/folder/total.ts", 12), "…er/total.ts"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A command is shown as code from its dollar sign to its bracket.
func TestCommandsAreCode(t *testing.T) {
	for text, want := range map[string]string{
		"a title such as $(id) runs.":         "a title such as `$(id)` runs.",
		"a title such as $(curl a | sh) runs": "a title such as `$(curl a | sh)` runs",
		"use $TITLE.":                         "use `$TITLE`.",
		"($HOME)":                             "(`$HOME`)",
		"see https://a.example/b_(c), or not": "see `https://a.example/b_(c)`, or not",
		"(see https://a.example/b)":           "(see `https://a.example/b`)",
	} {
		if got := escapeProse(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
