package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// blockComment is a block comment that ends on its line. In languages that have none it is
// read as one all the same: a form is only ever matched beside the line itself.
var blockComment = regexp.MustCompile(`/\*[^*]*(?:\*+[^*/][^*]*)*\*+/`)

// simpleMarks are the bytes at which mayBeSimpler may hold.
var simpleMarks = byteSet("\"'!?.(<`s")

// maxLook is how far mayBeSimpler looks, in bytes.
const maxLook = 100

// commented reports whether a text may hold a block comment that ends on its line.
func commented(text string) bool {
	i := strings.Index(text, "/*")
	return i >= 0 && strings.Contains(text[i+2:], "*/")
}

// mayBeSimpler reports whether simplified may change a text that is not commented, by the
// byte at a place.
func mayBeSimpler(text string, i int) bool {
	switch next := at(text, i+1); text[i] {
	case '"', '\'':
		if !pieceMarks[next] {
			return false
		}
		from, _ := nextPiece(text, i+1)
		return comments.Quoted(text, from) > 0 && endsText(text, i)
	case '?':
		return next == '.' && at(text, i+2) == '('
	case '.':
		return strings.HasPrefix(text[i:], ".concat(")
	case '(':
		_, end, _ := moduleAt(text, i)
		return end > 0 || mayBeGrouped(text, i)
	case '!', '<', '`', 's':
		return mayBeGrouped(text, i)
	}
	return false
}

// pieceMarks are the bytes between which and a quote a text in pieces may go on.
var pieceMarks = byteSet(" \t+.fFrRuUbB\"'")

// maxBefore bounds how much of a line is read to tell the quote that ends a text from the
// one that begins one, in bytes.
const maxBefore = 200

// endsText reports whether the quote at a place may end a text, rather than begin one.
func endsText(text string, i int) bool {
	if i > maxBefore {
		return true
	}
	texts := comments.TextsOf(text[:i+1])
	for j := 0; j < i; j++ {
		if c := text[j]; c != '"' && c != '\'' {
			continue
		}
		if n := texts.At(j); n > 0 {
			j += n - 1
			if j == i {
				return true
			}
		}
	}
	return false
}

// simplified is a line of code without what makes no difference: comments within it,
// further pairs of parentheses around a text or a name, TypeScript's assertions. Texts in
// pieces are put together.
func simplified(text string) string {
	if !commented(text) && !isAnywhere(text, &simpleMarks, mayBeSimpler) {
		return text
	}
	return simplify(text)
}

func simplify(text string) string {
	if commented(text) {
		text = blockComment.ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, "?.(", "(")
	text = inlined(text)
	// Texts that were put together may stand in parentheses of their own.
	for range maxRounds {
		whole := concat(doubled(grouped(text)))
		if text = pieced(whole); text == whole {
			break
		}
	}
	return text
}

// loaders are calls that stand for the module that they name.
var loaders = []string{"require", "importlib.import_module", "import_module", "__import__", "import"}

// maxModule bounds the names of modules, in bytes.
const maxModule = 60

// moduleAt reads the call of a loader whose parenthesis stands at a place, if its module is
// used there and then: where it starts and ends, and the module's name. It ends at 0 if it is
// none.
func moduleAt(text string, i int) (start, end int, name string) {
	from := i + 1 + blanks(text, i+1)
	if !quotes(at(text, from)) {
		return 0, 0, ""
	}
	for _, loader := range loaders {
		start = i - len(loader)
		if !strings.HasSuffix(text[:i], loader) || start > 0 && (isWord(text[start-1]) || text[start-1] == '.') {
			continue
		}
		rest := text[from+1 : min(len(text), from+maxModule)]
		n := strings.IndexByte(rest, text[from])
		if n < 0 {
			return 0, 0, ""
		}
		end = from + 2 + n
		if end += blanks(text, end); at(text, end) != ')' || !used(text, end+1) {
			return 0, 0, ""
		}
		name = strings.ReplaceAll(strings.TrimPrefix(rest[:n], "node:"), "/", ".")
		if !isName(at(name, 0)) || strings.ContainsFunc(name, func(r rune) bool { return r != '.' && (r >= utf8.RuneSelf || !isWord(byte(r))) }) {
			return 0, 0, ""
		}
		return start, end + 1, name
	}
	return 0, 0, ""
}

// used reports whether what stands behind a value, or behind the parentheses around it, takes
// something of it or calls it.
func used(text string, i int) bool {
	if i += blanks(text, i); at(text, i) == ')' {
		i += 1 + blanks(text, i+1)
	}
	switch at(text, i) {
	case '.', '(':
		return true
	case '[':
		return text[i-1] == ')'
	}
	return strings.HasPrefix(text[i:], "?.")
}

// inlined is a text with the names of modules in place of the calls that load them:
// require("a").b is a.b.
func inlined(text string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '(' {
			continue
		}
		if start, end, name := moduleAt(text, i); end > 0 && start >= from {
			out.WriteString(text[from:start])
			out.WriteString(name)
			from, i = end, end-1
		}
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// maxRounds bounds how often texts are put together.
const maxRounds = 4

var (
	inParentheses = regexp.MustCompile("\\((?:[ \t]*\\()+[ \t]*([\"'`])")
	concatCall    = regexp.MustCompile("([\"'`])\\.concat\\(")
)

// doubled is a text without further parentheses before texts in quotes, which may go on in
// a line that is not known.
func doubled(text string) string {
	if !strings.Contains(text, "((") && !strings.Contains(text, "( (") && !strings.Contains(text, "(\t(") {
		return text
	}
	return inParentheses.ReplaceAllString(text, "($1")
}

// concat is a text with an operator in place of the call.
func concat(text string) string {
	if !strings.Contains(text, ".concat(") {
		return text
	}
	return concatCall.ReplaceAllString(text, "$1 + (")
}

// pieced puts texts together that stand side by side, or with a plus or PHP's dot between them: "a" +
// "b" and "a" "b" are "ab". One that is formatted makes the whole so.
func pieced(text string) string {
	if !strings.ContainsAny(text, "\"'") {
		return text
	}
	out := make([]byte, 0, len(text))
	texts := comments.TextsOf(text)
	for i := 0; i < len(text); i++ {
		c, n := text[i], 0
		if c == '"' || c == '\'' {
			n = texts.At(i)
		}
		if n == 0 {
			out = append(out, c)
			continue
		}
		start := len(out)
		out = append(out, text[i:i+n-1]...)
		i += n
		for {
			from, format := nextPiece(text, i)
			n := comments.Quoted(text, from)
			if n == 0 || text[from] != c && strings.IndexByte(text[from:from+n], c) >= 0 {
				break
			}
			if format && (start == 0 || out[start-1]|0x20 != 'f') {
				out = slices.Insert(out, start, 'f')
				start++
			}
			out = append(out, text[from+1:from+n-1]...)
			i = from + n
		}
		out = append(out, c)
		i--
	}
	return string(out)
}

// nextPiece returns where the quote stands that continues the text which ended before a
// place, or that place if none does, and whether the continuation is a format.
func nextPiece(text string, end int) (from int, format bool) {
	start := end + blanks(text, end)
	if c := at(text, start); c == '+' || c == '.' {
		start += 1 + blanks(text, start+1)
	}
	from = start
	for from-start < 2 && strings.IndexByte("fFrRuUbB", at(text, from)) >= 0 {
		format = format || at(text, from)|0x20 == 'f'
		from++
	}
	if q := at(text, from); q != '"' && q != '\'' {
		return end, false
	}
	return from, format
}
