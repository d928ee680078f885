package plaintext

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"", 1, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"ab cd", 4, "ab…"},
		{"ab", 1, "…"},
	} {
		if got := Cut(test.text, test.n); got != test.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		" a\tb\n\nc ":       "a b c",
		"a\x00b\x1b[31m":    "a b [31m",
		"a\xff\xfeb":        "a b",
		"\u202egnp.exe":     "gnp.exe",
		"zero\u200bwidth":   "zero width",
		"Grüße, 世界 👋":       "Grüße, 世界 👋",
		"\u2028line\u2029x": "line x",
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}

// FuzzLimits checks that no function exceeds its limit, splits a character or invents text.
func FuzzLimits(f *testing.F) {
	for _, s := range []string{"", "abc", "äöü", "a\x80\x80\x80\x80\x80b", strings.Repeat("😀", 5), "a b  c"} {
		for n := range 5 {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n = max(n, 0); n < len(s) {
			first, last := Bytes(s, n), LastBytes(s, n)
			if len(first) > n || !strings.HasPrefix(s, first) || n-len(first) > utf8.UTFMax {
				t.Errorf("Bytes(%q, %d) = %q", s, n, first)
			}
			if len(last) > n || !strings.HasSuffix(s, last) || n-len(last) > utf8.UTFMax {
				t.Errorf("LastBytes(%q, %d) = %q", s, n, last)
			}
			if utf8.ValidString(s) && (!utf8.ValidString(first) || !utf8.ValidString(last)) {
				t.Errorf("a character of %q was split at %d: %q and %q", s, n, first, last)
			}
		}
		n = max(n, 1)
		cut := Cut(s, n)
		if whole := cut == s; whole != (utf8.RuneCountInString(s) <= n) && !strings.HasSuffix(s, "…") {
			t.Errorf("Cut(%q, %d) = %q", s, n, cut)
		}
		if utf8.RuneCountInString(cut) > n || !strings.HasPrefix(s, strings.TrimSuffix(cut, "…")) {
			t.Errorf("Cut(%q, %d) = %q", s, n, cut)
		}
		line := Printable(s)
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(line, "  ") || !utf8.ValidString(line) {
			t.Errorf("Printable(%q) = %q", s, line)
		}
	})
}
