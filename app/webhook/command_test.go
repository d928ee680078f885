package webhook

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestParseCommand(t *testing.T) {
	const none = "-"
	tests := map[string]struct{ text, want string }{
		"bare":                     {"/review", "review"},
		"with space after":         {"/review  \t", "review"},
		"subcommand":               {"/review help", "help"},
		"more words":               {"/review override because I say so", "override"},
		"tab":                      {"/review\thelp", "help"},
		"unknown":                  {"/review Frobnicate!", "Frobnicate!"},
		"after words":              {"Looks good.\n\n/review", "review"},
		"the first counts":         {"/review help\n/review", "help"},
		"CRLF":                     {"text\r\n/review full\r\nmore", "full"},
		"old Mac":                  {"text\r/review\rmore", "review"},
		"long word":                {"/review " + strings.Repeat("x", 500), strings.Repeat("x", maxCommandName)},
		"control characters":       {"/review he\x00l\u202ep", "help"},
		"nothing that prints":      {"/review \x00", none},
		"empty":                    {"", none},
		"in a sentence":            {"please /review this", none},
		"indented":                 {" /review", none},
		"indented code":            {"    /review", none},
		"longer word":              {"/reviewer", none},
		"path":                     {"/review/help", none},
		"other case":               {"/REVIEW", none},
		"other command":            {"/retest", none},
		"quoted":                   {"> /review", none},
		"after a quote":            {"> please do\n\n/review", "review"},
		"right under a quote":      {"> please do\n/review", "review"},
		"fenced":                   {"```\n/review\n```", none},
		"fenced with language":     {"```sh\n/review\n```", none},
		"after the fence":          {"```\n/review help\n```\n/review", "review"},
		"tildes":                   {"~~~\n/review\n~~~", none},
		"tildes don't end it":      {"```\n~~~\n/review\n```", none},
		"shorter doesn't end it":   {"````\n```\n/review\n````", none},
		"longer ends it":           {"```\nx\n`````\n/review", "review"},
		"text after doesn't end":   {"```\nx\n``` y\n/review", none},
		"unclosed fence":           {"```\n/review", none},
		"fence, CRLF":              {"```\r\n/review\r\n```\r\n", none},
		"indented fence":           {"   ```\n/review\n   ```", none},
		"code span is no fence":    {"```x```\n/review", "review"},
		"fence in a list":          {"1. ```sh\n   go test\n   ```\n\n/review", "review"},
		"fence left by its list":   {"- ```\n  x\n/review", "review"},
		"fence in nested list":     {"- 1. ```\n     x\n     ```\n/review", "review"},
		"fence within a quote":     {"> ```\n> x\n\n/review", "review"},
		"HTML comment":             {"<!--\n/review\n-->", none},
		"HTML comment, blank line": {"<!--\n\n/review\n-->", none},
		"unclosed HTML comment":    {"<!--\n/review", none},
		"after an HTML comment":    {"<!-- x -->\n/review", "review"},
		"after a long one":         {"<!--\n/review help\n-->\n/review", "review"},
		"comment within text":      {"text <!-- x\n/review\n--> more", none},
		"text, never closed":       {"see <!-- x\n/review", "review"},
		"text, closed elsewhere":   {"see <!-- x\n\n/review\n-->", "review"},
		"in a code span":           {"the marker `<!--` and\n/review\nnot -->", "review"},
		"fence within a comment":   {"<!--\n```\n-->\n/review", "review"},
		"comment within a fence":   {"```\n<!--\n```\n/review", "review"},
		"template":                 {"<!-- Thanks! Describe your change.\nUse /review to ask again. -->\r\n\r\nFixes it.\r\n\r\n/review\r\n", "review"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseCommand(tt.text)
			if !ok {
				got = none
			}
			if got != tt.want {
				t.Errorf("ParseCommand(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// The time it takes must not grow with the square of the length: 65,536
// characters are what GitHub lets anyone write.
func BenchmarkParseCommandHostile(b *testing.B) {
	for name, part := range map[string]string{"comments": "x<!--\n", "fences": "```a`\n", "lists": "- - - - ", "backticks": "`` ` "} {
		text := strings.Repeat(part, 65536/len(part))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				ParseCommand(text)
			}
		})
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"/review", "a\r\n/review help", "```\n/review\n```", "> /review", "<!--\n/review\n-->\n/review", "- ~~~\n  /review\n/review x", "\xff/review\n/review \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, ok := ParseCommand(text)
		if !ok {
			return
		}
		if n := utf8.RuneCountInString(name); n == 0 || n > maxCommandName || !utf8.ValidString(name) {
			t.Errorf("name %q", name)
		}
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("name %q would not print", name)
		}
		if !strings.HasPrefix(text, "/review") && !strings.Contains(text, "\n/review") && !strings.Contains(text, "\r/review") {
			t.Errorf("a command in %q, though no line begins with one", text)
		}
		// Everything quoted is no command.
		quoted := "> " + strings.NewReplacer("\r\n", "\n> ", "\n", "\n> ", "\r", "\n> ").Replace(text)
		if name, ok := ParseCommand(quoted); ok {
			t.Errorf("quoted %q commands %q", quoted, name)
		}
	})
}
