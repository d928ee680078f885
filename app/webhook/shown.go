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

// maxDepth is how many quotes, list items and footnotes may stand in one another, and
// maxWork bounds that times the number of lines: at each line, even an empty one, the
// library looks at all of them.
const (
	maxDepth = 100
	maxWork  = 100_000
)

// nestedTooDeeply reports whether reading the lines takes long, since a line begins or
// continues many quotes, list items and footnotes.
func nestedTooDeeply(lines []string) bool {
	depth := 1
	for _, line := range lines {
		depth = max(depth, depthOf(line))
	}
	return depth >= maxDepth || depth*len(lines) > maxWork
}

// opener begins a quote, a list item or a footnote.
var opener = regexp.MustCompile(`^(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$)|\[\^[^\]\s]+\]:)`)

// depthOf bounds from above how many quotes, list items and footnotes a line is in. Each
// that began in a line before takes two columns at least.
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
	if len(candidates) == 0 || cellsIn(lines) > maxCells || nestedTooDeeply(lines) {
		return -1
	}
	source := []byte(marked(lines, candidates))
	own, intricate := ownLines(source)
	if intricate {
		return -1
	}
	page := rendered(source)
	// A mark changes what stands in a link's label, say.
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

// maxPage bounds the page of a comment, in bytes. A comment has at most 64 KB, but each
// link to a definition repeats the definition's address.
const maxPage = 1 << 20

// page takes what a comment is rendered to. It panics where that is too much: the
// renderer goes on after errors.
type page struct{ text []byte }

func (p *page) Write(text []byte) (int, error) {
	if len(p.text)+len(text) > maxPage {
		panic("the page of a comment is too large")
	}
	p.text = append(p.text, text...)
	return len(text), nil
}

// rendered is the page of a text. It panics where the page is too large.
func rendered(source []byte) []byte {
	var p page
	if err := gfm.Convert(source, &p); err != nil {
		panic(err)
	}
	return p.text
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

// formulas counts the dollar signs of a block, which begin and end formulas: two of them,
// or one.
type formulas struct{ double, single, left int }

func (f *formulas) read(words []byte) {
	all, double := bytes.Count(words, []byte("$")), bytes.Count(words, []byte("$$"))
	f.double += double
	f.single += all - 2*double
	f.left -= all
}

// open reports whether what comes next may be in a formula. A single dollar sign without
// another behind it is money.
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

// plainElements are those in which the words of a paragraph, a heading or a list stand.
var plainElements = map[string]bool{
	"html": true, "body": true, "p": true, "ul": true, "ol": true, "li": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true,
}

// shownMarks returns the numbers of the marks that a page shows as plain words.
func shownMarks(page []byte) map[int]bool {
	shown := map[int]bool{}
	if bytes.Contains(page, []byte("--!>")) || formatted(page) > maxFormatted { // GitHub may not end a comment there
		return shown
	}
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

// formatting are the elements that HTML opens again in each paragraph until they are
// closed.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// maxFormatted is how many elements a page may have that are opened again, at some 200
// bytes each.
const maxFormatted = 200_000

// formatted bounds from above how many elements of a page are opened again: each tag and
// text may open all before it. HTML keeps three that are alike, and one link.
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
	answeredMail = regexp.MustCompile(`(?i)^(?:(?:on|am|le|el) .{1,300}(?:wrote|schrieb|écrit|escribió) ?:|.{0,300}\b(?:wrote|schrieb|escribió|scritto|escreveu|kirjoitti|pisze|napisał|napsal) ?:|.{0,300}(?:écrit|schreef|skrev|написал|писал|yazdı|כתב|작성).{0,100}:|.{0,40}\b(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|mensagem encaminhada).{0,40}:|-{2,} ?.{0,40}(?:original|origine|forwarded|ursprüngliche|message|nachricht|mensaje).*|(?:from|von|de|da|sent|gesendet|envoyé|enviado) ?: .+)\s*$`)
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
