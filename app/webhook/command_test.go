package webhook

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestParseCommand(t *testing.T) {
	const none = "-"
	long := strings.Repeat("x", 500)
	tests := map[string]struct{ text, want string }{
		"bare":                     {"/review", "review"},
		"with space after":         {"/review  \t", "review"},
		"subcommand":               {"/review help", "help"},
		"more words":               {"/review override because I say so", "override because I say so"},
		"blanks between words":     {"/review  dismiss\t 0f3a \u00a0 not  ours ", "dismiss 0f3a not ours"},
		"signs in a reason":        {"/review override `x` > <!-- y -->", "override `x` > <!-- y -->"},
		"reason of one line":       {"/review override because\nof this", "override because"},
		"tab":                      {"/review\thelp", "help"},
		"unknown":                  {"/review Frobnicate!", "Frobnicate!"},
		"after words":              {"Looks good.\n\n/review", "review"},
		"after a large table":      {strings.Repeat("a|", 20) + "\n" + strings.Repeat("-|", 20) + "\n" + strings.Repeat("1|2\n", 200) + "\n/review", "review"},
		"after 90,000 cells":       {strings.Repeat("a|", 300) + "\n" + strings.Repeat("-|", 300) + "\n" + strings.Repeat("a\n", 300) + "\n/review", none},
		"the first counts":         {"/review help\n/review", "help"},
		"CRLF":                     {"text\r\n/review full\r\nmore", "full"},
		"old Mac":                  {"text\r/review\rmore", "review"},
		"long word":                {"/review " + long, long},
		"control characters":       {"/review he\x00l\u202ep m\u2066e\u0085\u200b", "help me"},
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
		"pre behind a comment":     {"<!-- a --><pre>\n\n/review", none},
		"details behind a comment": {"<!-- a\nb --><details>\n\n/review", none},
		"an escaped end":           {"<details>\n\n\\</details>\n\n/review", none},
		"an end shown as code":     {"<details>\n\n    </details>\n\n/review", none},
		"an end in a comment":      {"<pre>\nx <!-- </pre> -->\n\n/review", none},
		"an end in an attribute":   {"<pre>\n<a title=\"</pre>\">\n\n/review", none},
		"an instruction":           {"<?x\n\n/review", none},
		"unparsed characters":      {"<![CDATA[\n\n/review", none},
		"a declaration":            {"<!DOCTYPE x\n\n/review", none},
		"mathematics":              {"$$\n/review\n$$", none},
		"mail over two lines":      {"On Monday Bob\n<bob@example.com> wrote:\n/review", none},
		"mail in Dutch":            {"ok\n\nVan: Bob\nVerzonden: maandag\nAan: carol\n\n/review override x", none},
		"mail in Polish":           {"Od: Bob\nWysłano: poniedziałek\nDo: carol\n\n/review", none},
		"mail in Chinese":          {"发件人：Bob\n发送时间：星期一\n收件人：carol\n\n/review", none},
		"mail in bold":             {"**Fra:** Bob\n**Sendt:** mandag\n**Til:** carol\n\n/review", none},
		"attributed in Danish":     {"Den man. 2. nov. 2026 kl. 10.11 skrev Bob:\n/review", none},
		"attributed in Japanese":   {"2026年11月2日(月) 10:11 Bob <bob@example.com>:\n/review", none},
		"one's own writing":        {"I wrote the missing tests:\n\n/review", "review"},
		"above":                    {"As Bob wrote above, two things are left:\n\n/review", "review"},
		"logs that were forwarded": {"I forwarded the logs, see here:\n\n/review", "review"},
		"rewritten":                {"Rewrote the parser, as follows:\n\n/review", "review"},
		"a forwarded mail":         {"---------- Forwarded message ---------\nfoo\n/review", none},
		"two words with colons":    {"Note: fixed\nReason: typo\n\n/review", "review"},
		"mail in Dutch on a line":  {"ok\n\nBob schreef op maandag:\n\n/review override x", none},
		"mail that Apple forwards": {"Begin forwarded message:\n\n/review override x", none},
		"mail in Korean":           {"Bob님이 작성:\n\n/review override x", none},
		"mail in German":           {"Von: Bob\nGesendet: heute\n\n/review", none},
		"mail in French":           {"-----Message d'origine-----\n/review", none},
		"a key shown in a line":    {"Press <kbd>x</kbd> and look.\n\n/review", "review"},
		"after closed details":     {"<details><summary>log</summary>\nx\n</details>\n\n/review", "review"},
		"after mathematics":        {"$$\nx\n$$\n\n/review", "review"},
		"after an instruction":     {"<?x ?>\n\n/review", "review"},
		"right under a quote":      {"> please do\n/review", none},
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
		"preformatted":             {"<pre>\n\n/review\n\n</pre>", none},
		"after preformatted":       {"<pre>\nx\n</pre>\n\n/review", "review"},
		"details":                  {"<details><summary>x</summary>\n\n/review\n\n</details>", none},
		"after details":            {"<details>\n<summary>x</summary>\n\ny\n\n</details>\n\n/review", "review"},
		"details never closed":     {"<DETAILS open>\n\n/review", none},
		"nested quote of HTML":     {"<blockquote><blockquote>\n\nx\n\n</blockquote>\n\n/review\n", none},
		"HTML block":               {"<p>\n/review\n</p>", none},
		"tag that goes on":         {"text <a title=\"\n/review\n\">x</a>", none},
		"title of a link":          {"[x](https://example.org \"\n/review\n\")", none},
		"title of a definition":    {"[x]: https://example.org '\n/review\n'", none},
		"text of an image":         {"![\n/review\n](https://example.org/x.png)", none},
		"code span of lines":       {"see `x\n/review\ny` there", none},
		"declaration":              {"<!DOCTYPE\n/review\n>", none},
		"CDATA":                    {"<![CDATA[\n/review\n]]>", none},
		"mail that is answered":    {"Thanks!\n\nOn Mon, 2 Nov 2026 at 10:00, Sam <sam@example.org> wrote:\n\n/review", none},
		"mail that is forwarded":   {"-----Original Message-----\nFrom: Sam\n\n/review", none},
		"tag in a code span":       {"the element `<pre>` is\n\n/review", "review"},
		"HTML in a reason":         {"/review override <pre> is safe", "override <pre> is safe"},
		"type in angle brackets":   {"use List<T> there\n\n/review", "review"},
		"template":                 {"<!-- Thanks! Describe your change.\nUse /review to ask again. -->\r\n\r\nFixes it.\r\n\r\n/review\r\n", "review"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			name, args, ok := ParseCommand(tt.text)
			got := strings.TrimSpace(name + " " + args)
			if !ok {
				got = none
			}
			if got != tt.want {
				t.Errorf("ParseCommand(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// Text that GitHub hides, strikes out or shows as something other than text is not a command,
// however far above it the cause is.
func TestHiddenTextIsNotACommand(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"comment left open by HTML":        {"<p><!--\n\n/review override x", false},
		"comment left open in a list":      {"- <!--\n\n/review override x", false},
		"comment left open in a quote":     {"> <!--\n\n/review override x", false},
		"comment left open behind another": {"<!-- a --> <!--\n\n/review override x", false},
		"comment ended outside its list":   {"- a\n\n  <!-- x\n-->\n\n/review override x", false},
		"comment with an odd end":          {"<p><!---> <i title=\" -->\n\n/review override x", false},
		"value left open by HTML":          {"<p title=\"\n\n/review override x", false},
		"value left open in a list":        {"1. <p title='\n\n/review override x", false},
		"value left open behind a comment": {"<!-- a --><p title=\"\n\n/review override x", false},
		"tag left open by HTML":            {"<h1>x</h1><p\n\n/review override x", false},
		"HTML that is whole":               {"<p align=\"center\">\n<img src=\"x>y.png\"><!-- z -->\n</p>\n\n/review", true},
		"HTML in a list":                   {"- <b>x</b>\n\n/review", true},
		"an end in a comment of HTML":      {"<details>\n<!--\n</details>\n-->\n\n/review", false},
		"an end in a value of HTML":        {"<details>\n<p title=\"\n</details>\n\">\n\n/review", false},
		"struck out from a quote on":       {"> <s>\n\n/review", false},
		"struck out by tildes":             {"~~a\n/review override x~~", false},
		"in emphasis":                      {"*a\n/review override x*", false},
		"in a note at the foot":            {"a[^1]\n\n[^1]: b\n/review override x", false},
		"in a list":                        {"- fixed\n/review", true},
		"in a hidden list":                 {"<ol hidden>\n\n/review override x", false},
		"mail below a rule":                {"yes\n\n________________\nBob said\n\n/review override x", false},
		"a comment for some parsers only":  {"a <!-- b -- c <details> -->\n\n/review override x", false},
		"forged marks":                     {"\uE0002\uE001\n<!--\n/review override x\n-->", false},
		"label of a definition":            {"See [the docs][\n/review override fine\n].\n\n[/review override fine]: https://example.com", false},
		"label of an image":                {"![x\n/review override x\n]\n\n[x /review override x]: https://example.com/a.png", false},
		"label behind a text":              {"![ok][\n/review override fine\n]\n\n[/review override fine]: https://example.com/a.png", false},
		"mathematics in a line":            {"so $a\n/review override x\nb$ holds", false},
		"below a price":                    {"it costs $5\n/review", true},
		"behind a comment that never ends": {"<p><!-- x --!>\n\n/review override x", false},
		"mathematics in a paragraph":       {"so $$\n/review override x\n$$", false},
		"row of a table":                   {"Command | Effect\n--- | ---\n/review override x | passes", false},
		"head of a table":                  {"/review override x | y\n--- | ---\n", false},
		"table of one column":              {"Command\n:-:\n/review override x", false},
		"after a table":                    {"| a |\n|---|\n| b |\n\n/review", true},
		"line of a quote that is broken":   {"> We could say\n/review override x\n> there", false},
		"below a quote in a list":          {"- > a\n/review override x", false},
		"below a quote of a list":          {"> - a\n/review override x", false},
		"a paragraph below a quote":        {"> a\nb\n\n/review", true},
		"above a rule":                     {"/review\n---", true},
		"attributed with a short year":     {"W dniu 02.11.26 o 10:11, Bob pisze:\n/review", false},
	} {
		if _, _, ok := ParseCommand(tt.text); ok != tt.want {
			t.Errorf("%s: %q is a command: %t", name, tt.text, ok)
		}
	}
}

// Anybody may comment, so no comment may take much memory. A comment has at most 65,536
// characters.
func TestHostileCommentsTakeLittleMemory(t *testing.T) {
	link := "[a]: /" + strings.Repeat("😀", 8_000) + "\n\n"
	formatted := "<p>"
	for i := range 490 {
		formatted += fmt.Sprintf("<b a=%d>", i)
	}
	for name, tt := range map[string]struct{ start, part string }{
		"links to a long address":         {link, "[a]\n\n"},
		"images of a long address":        {link, "![a]\n\n"},
		"elements that are opened again":  {formatted, "<p>a"},
		"empty lines in lists":            {strings.Repeat("- ", 99), "\n\n"},
		"empty lines in numbered lists":   {strings.Repeat("1. ", 99), "\n\n"},
		"empty lines in indented lists":   {"- a\n  - a\n    - a\n" + strings.Repeat(" ", 190) + "- a", "\n\n"},
		"lists of elements in many lists": {strings.Repeat("- ", 90), "# <b a=1>\n\n"},
		"notes":                           {"[^1]: n\n\n", "[^1]"},
	} {
		text := tt.start + strings.Repeat(tt.part, (60_000-utf8.RuneCountInString(tt.start))/len(tt.part)) + "\n\n/review"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ParseCommand(text)
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 200 { // in total, most of which is freed meanwhile
			t.Errorf("%s: %d MB", name, mb)
		}
	}
}

// The time must not grow with the square of the length. GitHub lets anyone write 65,536
// characters.
func BenchmarkParseCommandHostile(b *testing.B) {
	wide := strings.Repeat("a|", 8_000) + "\n" + strings.Repeat("-|", 8_000) + "\n"
	for name, part := range map[string]string{
		"comments": "x<!--\n", "fences": "```a`\n", "lists": "- - - - ", "backticks": "`` ` ", "quotes": "> > > > ", "brackets": "[", "images": "![](",
		"emphasis": "*a _b ", "tildes": "~a ", "tags": "<a ", "elements": "<b><i>", "entities": "&a", "table": "|", "rows": "a|b\n-|-\n", "notes": "[^a]: ",
		"definitions": "[a]: b '\n", "commands": "/review\n", "paragraphs": "/review x\n\n> ", "fields": "From: x\n", "nested": "- a\n  - ", "a wide table": "a|\n",
		"strikes": "~~", "links to a definition": "[a]\n\n", "elements again": "<p>a",
	} {
		text := strings.Repeat(part, 65536/len(part)) + "\n\n/review"
		if name == "a wide table" {
			text = wide + text[len(wide):]
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				ParseCommand(text)
			}
		})
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{
		"/review", "a\r\n/review help", "```\n/review\n```", "> /review", "<!--\n/review\n-->\n/review", "- ~~~\n  /review\n/review x", "\xff/review\n/review \xff",
		"/review dismiss 0f3a\tnot `ours`", "/review override -->", "x <!--\n/review --> y", "~~~\n/review",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, args, ok := ParseCommand(text)
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		for what, other := range map[string]string{"CRLF": strings.ReplaceAll(lines, "\n", "\r\n"), "LF": lines} {
			if n, a, o := ParseCommand(other); n != name || a != args || o != ok {
				t.Errorf("%q is the command %q %q, but with %s it is %q %q", text, name, args, what, n, a)
			}
		}
		// Text inside a quote, code or an HTML comment is not a command.
		for what, hidden := range map[string]string{
			"quoted":         "> " + strings.ReplaceAll(lines, "\n", "\n> "),
			"indented":       "    " + strings.ReplaceAll(lines, "\n", "\n    "),
			"fenced":         strings.Repeat("`", len(text)+3) + "\n" + lines,
			"tilde-fenced":   strings.Repeat("~", len(text)+3) + " text\n" + lines,
			"commented":      "<!--\n" + strings.ReplaceAll(lines, "-->", "--") + "\n-->",
			"never finished": "<!-- " + strings.ReplaceAll(lines, "-->", "--"),
		} {
			if name, _, ok := ParseCommand(hidden); ok {
				t.Errorf("%s %q is the command %q", what, hidden, name)
			}
		}
		if !ok {
			return
		}
		if !strings.HasPrefix(lines, "/review") && !strings.Contains(lines, "\n/review") {
			t.Errorf("a command in %q, though no line starts with one", text)
		}
		for _, word := range []string{name, args} {
			if !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q is not printable", word)
			}
		}
		// Plain text with the same command gives the same result, and the first command
		// counts.
		line := "/review"
		if name != "review" || args != "" {
			line = "/review " + name + " " + args
		}
		if n, a, _ := ParseCommand(line + "\n\n" + text); n != name || a != args {
			t.Errorf("%q is the command %q %q, and with %q before it %q %q", text, name, args, line, n, a)
		}
	})
}
