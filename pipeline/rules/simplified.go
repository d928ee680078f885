package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// blockComment is a block comment that ends on its line. It is removed in languages without
// such comments too: a form is only ever matched in addition to the line itself.
var blockComment = regexp.MustCompile(`/\*[^*]*(?:\*+[^*/][^*]*)*\*+/`)

// simpleMarks are the bytes at which mayBeSimpler may be true.
var simpleMarks = byteSet("\"'!?.(<`s")

// maxLook is how far mayBeSimpler looks, in bytes.
const maxLook = 100

// commented reports whether a text may hold a block comment that ends on its line.
func commented(text string) bool {
	i := strings.Index(text, "/*")
	return i >= 0 && strings.Contains(text[i+2:], "*/")
}

// mayBeSimpler reports whether simplified may change a text without comments, by the byte at
// position i.
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

// pieceMarks are the bytes that may stand between a string and the string that continues it.
var pieceMarks = byteSet(" \t+.fFrRuUbB\"'")

// maxBefore bounds how much of a line is read to tell a closing quote from an opening one, in
// bytes.
const maxBefore = 200

// endsText reports whether the quote at position i may end a string rather than begin one.
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

// simplified removes what makes no difference from a line of code: comments within it, extra
// parentheses around a string or a name, and TypeScript's assertions. It joins strings that
// are in pieces.
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
	// Joined strings may stand in parentheses of their own.
	for range maxRounds {
		whole := concat(doubled(grouped(text)))
		if text = pieced(whole); text == whole {
			break
		}
	}
	return text
}

// loaders are functions that return the module that they name.
var loaders = []string{"require", "importlib.import_module", "import_module", "__import__", "import"}

// maxModule bounds the names of modules, in bytes.
const maxModule = 60

// moduleAt reads the call of a loader whose parenthesis is at position i, if the code uses the
// module right there. It returns the start and end of the call and the module's name, or an
// end of 0 if there is no such call.
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

// used reports whether the text after a value, or after the parentheses around it, takes a
// member of the value or calls it.
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

// inlined replaces the calls that load modules by the modules' names: require("a").b becomes
// a.b.
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

// maxRounds bounds how often strings are joined.
const maxRounds = 4

var (
	inParentheses = regexp.MustCompile("\\((?:[ \t]*\\()+[ \t]*([\"'`])")
	concatCall    = regexp.MustCompile("([\"'`])\\.concat\\(")
)

// doubled removes extra parentheses before strings in quotes, even if the strings continue on
// an unknown line.
func doubled(text string) string {
	if !strings.Contains(text, "((") && !strings.Contains(text, "( (") && !strings.Contains(text, "(\t(") {
		return text
	}
	return inParentheses.ReplaceAllString(text, "($1")
}

// concat replaces the call of concat by an operator.
func concat(text string) string {
	if !strings.Contains(text, ".concat(") {
		return text
	}
	return concatCall.ReplaceAllString(text, "$1 + (")
}

// pieced joins strings that are adjacent or have a plus or PHP's dot between them: "a" + "b"
// and "a" "b" become "ab". If one is a format string, so is the result.
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

// nextPiece returns the position of the quote that continues the string which ended before a
// position, and whether the continuation is a format string. Without a continuation it returns
// the position itself.
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
