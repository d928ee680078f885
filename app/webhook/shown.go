package webhook

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	// blocks reads the blocks of Markdown alone, not what stands in a line.
	blocks = goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(extension.Table, extension.Footnote),
	)
)

// maxOpeners is how many characters a block may have that begin an emphasis, a link or
// a tag. With more of them reading it takes long, for the library compares each with
// each.
const maxOpeners = 500

// maxCells is how many cells the tables of a comment may have. The library gives each row
// as many cells as the head has, at some microseconds each, and a few kilobytes of text
// could come to millions of them.
const maxCells = 10_000

// cellsIn bounds from above how many cells the tables in the lines have. The line below a
// table's head has nothing but dashes, colons and pipes, perhaps in a quote or a list, and
// the table ends at a blank line.
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

// deeplyNested begins a line with more quotes, list items and footnotes, one in another,
// than anybody writes.
var deeplyNested = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t]|\[\^[^\]\s]+\]:)){100}`)

// filtered are the tags that GitHub shows as text: its dialect's "disallowed raw HTML".
var filtered = regexp.MustCompile(`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext))\b`)

// firstShown returns the first of the candidates, which are lines in ascending order,
// that a reader sees as words of the writer, or -1. Each candidate begins with
// commandWord. In doubt a line is not shown: whoever means a command writes it in a
// paragraph of its own.
func firstShown(lines []string, candidates []int) (first int) {
	defer func() {
		if recover() != nil { // anybody may comment, and the libraries are not ours
			first = -1
		}
	}()
	if len(candidates) == 0 || cellsIn(lines) > maxCells {
		return -1
	}
	source := []byte(marked(lines, candidates))
	if deeplyNested.Match(source) {
		return -1
	}
	own, intricate := ownLines(source)
	if intricate {
		return -1
	}
	var page bytes.Buffer
	if err := gfm.Convert(source, &page); err != nil {
		return -1
	}
	shown := shownMarks(filtered.ReplaceAll(page.Bytes(), []byte("&lt;$1")))
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

// markStart and markEnd stand around the number of a line, in the place of its
// commandWord. They are letters to Markdown and HTML, and stand nowhere else.
const (
	markStart = "\uE000"
	markEnd   = "\uE001"
)

var (
	unmarked = strings.NewReplacer(markStart, "\uFFFD", markEnd, "\uFFFD")
	mark     = regexp.MustCompile(markStart + `([0-9]+)` + markEnd)
)

// marked is the text of the lines with a mark in each candidate.
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
	noWords  ownership = iota // code, HTML, a table, a definition
	quoted                    // a quote's, or a formula
	ownWords                  // a paragraph's, a heading's or a list's
)

// ownLines says for each line whose words it holds, and whether a block has more than
// maxOpeners.
func ownLines(source []byte) (own map[int]ownership, intricate bool) {
	own = map[int]ownership{}
	line, at := 0, 0 // where the line before begins: most blocks come in ascending order
	doc := blocks.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering || n.Type() == ast.TypeInline:
			return ast.WalkContinue, nil
		case n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindHTMLBlock:
			return ast.WalkSkipChildren, nil // nothing in them begins anything
		}
		whose := ownerOf(n)
		openers, dollars := 0, 0
		for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
			if s.Start < at {
				line, at = 0, 0
			}
			line += bytes.Count(source[at:s.Start], []byte("\n"))
			at = s.Start
			if own[line] = whose; dollars%2 == 1 { // two dollar signs begin and end a formula
				own[line] = quoted
			}
			words := s.Value(source)
			dollars += bytes.Count(words, []byte("$$"))
			for _, c := range words {
				if strings.IndexByte("*_[<", c) >= 0 {
					openers++
				}
			}
		}
		intricate = intricate || openers > maxOpeners
		return ast.WalkContinue, nil
	})
	return own, intricate
}

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

// plainElements are those in which the words of a paragraph, a heading or a list stand.
var plainElements = map[string]bool{
	"html": true, "body": true, "p": true, "ul": true, "ol": true, "li": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
}

// shownMarks returns the numbers of the marks that a page shows as plain words.
func shownMarks(page []byte) map[int]bool {
	shown := map[int]bool{}
	root, err := nethtml.Parse(bytes.NewReader(page))
	if err != nil { // elements within elements by the hundred
		return shown
	}
	for n := range root.Descendants() {
		switch {
		case n.Type == nethtml.CommentNode && strings.Contains(n.Data, "--") && strings.Contains(n.Data, "<"):
			return shown // GitHub may take it for text and tags
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

// isPlain reports whether a text stands in plain elements alone. An attribute, which
// raw HTML may have, may hide an element.
func isPlain(n *nethtml.Node) bool {
	for p := range n.Ancestors() {
		if p.Type == nethtml.ElementNode && (!plainElements[p.Data] || slices.ContainsFunc(p.Attr, isUnusual)) {
			return false
		}
	}
	return true
}

// isUnusual reports whether an attribute is none that Markdown writes, which are the
// numbers of lists.
func isUnusual(a nethtml.Attribute) bool { return a.Key != "start" }

var (
	answeredMail = regexp.MustCompile(`(?i)^(?:(?:on|am|le|el) .{1,300}(?:wrote|schrieb|écrit|escribió).{0,300}:|.{0,300}(?:wrote|schrieb|écrit|escribió|scritto|escreveu) ?:|-{2,} ?.{0,40}(?:original|origine|forwarded|ursprüngliche|message|nachricht|mensaje).*|(?:from|von|de|da|sent|gesendet|envoyé|enviado) ?: .+)\s*$`)
	// field is a line of a mail's head in any language, and attribution one that says who
	// wrote what follows: it ends in a colon, and has a date and a time, or an address.
	field       = regexp.MustCompile(`^\s*[*_]{0,2}\p{L}[\p{L} .'-]{0,30}[*_]{0,2} ?[:：][*_]{0,2}\s*\S`)
	attribution = regexp.MustCompile(`^(?:.{0,300}\b(?:\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2})\b.{0,200}\d{1,2}[:.h]\d{2}.{0,300}|.{0,300}\d{1,2}[:.h]\d{2}.{0,200}\b(?:\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2})\b.{0,300}|.{0,300}<\S+@\S+>.{0,300})[:：]\s*$`)
)

// mailRule is a line that Outlook draws above an answered mail.
var mailRule = regexp.MustCompile(`^_{10,}\s*$`)

// mailFields is how many fields in a row are the head of a mail.
const mailFields = 3

// mailFrom returns the first line behind which an answered mail stands, or the number
// of lines. Code, HTML, quotes and commands say nothing of that.
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
		if fields == mailFields || mailRule.MatchString(line) || answeredMail.MatchString(line) || attribution.MatchString(line) {
			return i
		}
	}
	return len(lines)
}
