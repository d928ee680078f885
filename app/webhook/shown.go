package webhook

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	nethtml "golang.org/x/net/html"
)

var (
	// gfm reads and renders Markdown as GitHub does, raw HTML included.
	gfm = goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Footnote),
		goldmark.WithRendererOptions(html.WithUnsafe()),
	)
	// blocks parses only the blocks of Markdown, not the elements within a line.
	blocks = goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(extension.Table, extension.Footnote),
	)
)

// maxOpeners is how many characters that begin an emphasis, a link or a tag a block may
// have. With more, parsing takes long, since the library compares each with each.
const maxOpeners = 500

// maxCells is how many cells the tables of a comment may have. The library gives each row
// as many cells as the head has, and each takes some microseconds. A few kilobytes of text
// could make millions of cells.
const maxCells = 10_000

// cellsIn returns an upper bound for the cells of the tables in the lines. The line below a
// table's head has only dashes, colons and pipes, perhaps in a quote or a list, and the
// table ends at a blank line.
func cellsIn(lines []string) int {
	rows, cells := 0, 0 // rows are the lines from this one up to the next blank one
	for _, line := range slices.Backward(lines) {
		if rows++; strings.TrimSpace(line) == "" {
			rows = 0
		}
		if pipes := strings.Count(line, "|"); pipes > 0 && strings.Contains(line, "-") && strings.Trim(line, " \t\v\f|:->+*.)0123456789") == "" {
			cells += (pipes + 1) * rows
		}
	}
	return cells
}

// maxDepth is how deeply quotes, list items and footnotes may be nested. maxWork bounds
// the depth times the number of lines: at each line, even an empty one, the library looks
// at all of the nested blocks.
const (
	maxDepth = 100
	maxWork  = 100_000
)

// nestedTooDeeply reports whether parsing the lines may take long, since quotes, list items
// and footnotes are nested too deeply.
func nestedTooDeeply(lines []string) bool {
	depth := 1
	for _, line := range lines {
		depth = max(depth, depthOf(line))
	}
	return depth >= maxDepth || depth*len(lines) > maxWork
}

// opener matches the beginning of a quote, a list item or a footnote.
var opener = regexp.MustCompile(`^(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$)|\[\^[^\]\s]+\]:)`)

// depthOf returns an upper bound for how many quotes, list items and footnotes a line is
// in. Each one that began in an earlier line takes at least two columns.
func depthOf(line string) int {
	openers, columns := 0, 0
	for line != "" && openers+columns/2 < maxDepth {
		switch line[0] {
		case ' ':
			columns++
		case '\t':
			columns += 4
		default:
			n := len(opener.FindString(line))
			if n == 0 {
				return openers + columns/2
			}
			openers++
			line = line[n-1:]
		}
		line = line[1:]
	}
	return openers + columns/2
}

// filtered are the tags that GitHub shows as text: its dialect's "disallowed raw HTML".
var filtered = regexp.MustCompile(`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext))\b`)

// firstShown returns the first candidate that a reader sees as the writer's own words, or
// -1. The candidates are the numbers of lines that begin with commandWord, in ascending
// order. In doubt a line does not count as shown: a person who means a command can write
// it in a paragraph of its own.
func firstShown(lines []string, candidates []int) (first int) {
	defer func() {
		if recover() != nil { // anybody may comment, and the libraries are not ours
			first = -1
		}
	}()
	if len(candidates) == 0 || cellsIn(lines) > maxCells || nestedTooDeeply(lines) {
		return -1
	}
	source := []byte(marked(lines, candidates))
	own, intricate := ownLines(source)
	if intricate {
		return -1
	}
	page := rendered(source)
	// The page differs if a mark changes how Markdown is read, such as a link's label.
	if !bytes.Equal(mark.ReplaceAll(page, []byte(commandWord)), rendered([]byte(unmarked.Replace(strings.Join(lines, "\n"))))) {
		return -1
	}
	shown := shownMarks(filtered.ReplaceAll(page, []byte("&lt;$1")))
	mail := mailFrom(lines, own)
	for _, i := range candidates {
		if i >= mail {
			return -1
		}
		if own[i] == ownWords && shown[i] {
			return i
		}
	}
	return -1
}

// maxPage bounds the HTML of a comment, in bytes. A comment has at most 64 KB, but each
// link to a definition repeats the definition's address.
const maxPage = 1 << 20

// page receives the HTML of a comment. It panics if the HTML is too large, since the
// renderer goes on after errors.
type page struct{ text []byte }

func (p *page) Write(text []byte) (int, error) {
	if len(p.text)+len(text) > maxPage {
		panic("the page of a comment is too large")
	}
	p.text = append(p.text, text...)
	return len(text), nil
}

// rendered returns the HTML of a text. It panics if the HTML is too large.
func rendered(source []byte) []byte {
	var p page
	if err := gfm.Convert(source, &p); err != nil {
		panic(err)
	}
	return p.text
}

// A mark replaces the commandWord of a line: it is the line's number between markStart and
// markEnd. Markdown and HTML treat these two as letters, and they occur nowhere else.
const (
	markStart = "\uE000"
	markEnd   = "\uE001"
)

var (
	unmarked = strings.NewReplacer(markStart, "\uFFFD", markEnd, "\uFFFD")
	mark     = regexp.MustCompile(markStart + `([0-9]+)` + markEnd)
)

// marked returns the text of the lines with a mark in each candidate.
func marked(lines []string, candidates []int) string {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i] = unmarked.Replace(lines[i])
	}
	for _, i := range candidates {
		lines[i] = markStart + strconv.Itoa(i) + markEnd + strings.TrimPrefix(lines[i], commandWord)
	}
	return strings.Join(lines, "\n")
}

// ownership says whose words a line of Markdown holds.
type ownership byte

const (
	noWords  ownership = iota // code, HTML, a table or a definition
	quoted                    // a quote or a formula
	ownWords                  // a paragraph, a heading or a list
)

// ownLines says for each line whose words it holds, and whether a block has more than
// maxOpeners.
func ownLines(source []byte) (own map[int]ownership, intricate bool) {
	own = map[int]ownership{}
	line, at := 0, 0 // the last line's number and offset: most blocks come in ascending order
	doc := blocks.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering || n.Type() == ast.TypeInline:
			return ast.WalkContinue, nil
		case n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindHTMLBlock:
			return ast.WalkSkipChildren, nil // no other block begins in them
		}
		whose := ownerOf(n)
		openers, dollars := 0, formulas{left: bytes.Count(n.Lines().Value(source), []byte("$"))}
		for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
			if s.Start < at {
				line, at = 0, 0
			}
			line += bytes.Count(source[at:s.Start], []byte("\n"))
			at = s.Start
			if own[line] = whose; dollars.open() {
				own[line] = quoted
			}
			words := s.Value(source)
			dollars.read(words)
			for _, c := range words {
				if strings.IndexByte("*_~[<", c) >= 0 {
					openers++
				}
			}
		}
		intricate = intricate || openers > maxOpeners
		return ast.WalkContinue, nil
	})
	return own, intricate
}

// formulas counts the dollar signs of a block. One or two of them begin and end a formula.
type formulas struct{ double, single, left int }

func (f *formulas) read(words []byte) {
	all, double := bytes.Count(words, []byte("$")), bytes.Count(words, []byte("$$"))
	f.double += double
	f.single += all - 2*double
	f.left -= all
}

// open reports whether the next text may be in a formula. A single dollar sign that no
// other follows means money.
func (f *formulas) open() bool { return f.double%2 == 1 || f.single%2 == 1 && f.left > 0 }

// ownerOf says whose words a block holds.
func ownerOf(block ast.Node) ownership {
	switch block.Kind() {
	case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
	default:
		return noWords
	}
	for p := block.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindBlockquote {
			return quoted
		}
	}
	return ownWords
}

// plainElements are the elements of paragraphs, headings and lists.
var plainElements = map[string]bool{
	"html": true, "body": true, "p": true, "ul": true, "ol": true, "li": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
}

// shownMarks returns the numbers of the marks that a page shows as plain words.
func shownMarks(page []byte) map[int]bool {
	shown := map[int]bool{}
	if bytes.Contains(page, []byte("--!>")) || formatted(page) > maxFormatted { // GitHub may not end an HTML comment at --!>
		return shown
	}
	root, err := nethtml.Parse(bytes.NewReader(page))
	if err != nil { // the elements are nested too deeply
		return shown
	}
	for n := range root.Descendants() {
		switch {
		case n.Type == nethtml.CommentNode && strings.Contains(n.Data, "--") && strings.Contains(n.Data, "<"):
			return shown // GitHub may read the comment as text and tags
		case n.Type == nethtml.TextNode && isPlain(n):
			for _, m := range mark.FindAllStringSubmatch(n.Data, -1) {
				if i, err := strconv.Atoi(m[1]); err == nil {
					shown[i] = true
				}
			}
		}
	}
	return shown
}

// formatting are the elements that an HTML parser opens again in each paragraph until they
// are closed.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// maxFormatted is how many elements of a page may be opened again. Each takes some 200
// bytes.
const maxFormatted = 200_000

// formatted returns an upper bound for how many elements of a page are opened again: each
// tag and each text may open all elements before it. HTML keeps at most three equal
// elements, and one link.
func formatted(page []byte) int {
	alike := map[string]int{}
	open, all := 0, 0
	tokens := nethtml.NewTokenizer(bytes.NewReader(page))
	for {
		switch tokens.Next() {
		case nethtml.ErrorToken:
			return all
		case nethtml.TextToken:
			all += open
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			all += open
			tag := string(tokens.Raw())
			name, _ := tokens.TagName()
			if formatting[string(name)] {
				if string(name) == "a" {
					tag = "a"
				}
				if alike[tag]++; alike[tag] <= 3 {
					open++
				}
			}
		}
	}
}

// isPlain reports whether a text is only in plain elements. In raw HTML, an attribute may
// hide an element.
func isPlain(n *nethtml.Node) bool {
	for p := range n.Ancestors() {
		if p.Type == nethtml.ElementNode && (!plainElements[p.Data] || slices.ContainsFunc(p.Attr, isUnusual)) {
			return false
		}
	}
	return true
}

// isUnusual reports whether Markdown never writes the attribute. It only writes the numbers
// of lists.
func isUnusual(a nethtml.Attribute) bool { return a.Key != "start" }

var (
	answeredMail = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:(?:on|am|le|el) .{1,300}(?:wrote|schrieb|écrit|escribió) ?:|.{0,300}\b(?:wrote|schrieb|escribió|scritto|escreveu|kirjoitti|pisze|napisał|napsal) ?:|.{0,300}(?:écrit|schreef|skrev|написал|писал|yazdı|כתב|작성).{0,100}:|.{0,40}\b(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada).{0,40}:|-{2,} ?.{0,40}(?:original|origine|forwarded|ursprüngliche|message|nachricht|mensaje).*|(?:from|von|de|da|sent|gesendet|envoyé|enviado) ?: .+)\s*$`)
	})
	// field matches a line of a mail's header in any language. attribution matches a line
	// that says who wrote the following text: it ends in a colon, and has a date and a
	// time, or an address.
	field       = regexp.MustCompile(`^\s*[*_]{0,2}\p{L}[\p{L} .'-]{0,30}[*_]{0,2} ?[:：][*_]{0,2}\s*\S`)
	attribution = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:.{0,300}\b(?:\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2})\b.{0,200}\d{1,2}[:.h]\d{2}.{0,300}|.{0,300}\d{1,2}[:.h]\d{2}.{0,200}\b(?:\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2})\b.{0,300}|.{0,300}<\S+@\S+>.{0,300})[:：]\s*$`)
	})
)

// mailRule matches the line that Outlook draws above a quoted mail.
var mailRule = regexp.MustCompile(`^_{10,}\s*$`)

// mailFields is how many fields in a row make the header of a mail.
const mailFields = 3

// mailFrom returns the number of the line at which a quoted mail begins, or the number of
// lines. It ignores code, HTML, quotes and commands.
func mailFrom(lines []string, own map[int]ownership) int {
	fields := 0
	for i, line := range lines {
		if _, _, command := commandIn(line); command || own[i] != ownWords && !mailRule.MatchString(line) {
			fields = 0
			continue
		}
		if fields++; !field.MatchString(line) {
			fields = 0
		}
		if fields == mailFields || mailRule.MatchString(line) || answeredMail().MatchString(line) || attribution().MatchString(line) {
			return i
		}
	}
	return len(lines)
}
