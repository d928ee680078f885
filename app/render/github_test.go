package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

// The checks of this file look at markdown as GitHub does. A real renderer of GitHub
// flavoured markdown turns it into HTML, and keeps raw HTML. Then they search the text of
// the HTML for anything that GitHub would act on.

var gfm = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithRendererOptions(htmlrenderer.WithUnsafe()),
)

// rendered returns the page for a markdown text.
func rendered(md string) *html.Node {
	var b bytes.Buffer
	if err := gfm.Convert([]byte(md), &b); err != nil {
		panic(err)
	}
	page, err := html.Parse(&b)
	if err != nil {
		panic(err)
	}
	return page
}

// shape lists a page's elements, attributes and comments, without texts and code spans, so
// that texts of one layout have the same shape. It keeps the numbers in table cells, to
// notice a shifted column.
func shape(n *html.Node) []string {
	var out []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.CommentNode:
			out = append(out, "<!--"+n.Data+"-->")
			return
		case n.Type == html.ElementNode && n.Data == "code" && n.Parent.Data != "pre":
			return
		case n.Type == html.ElementNode:
			out = append(out, fmt.Sprint(n.Data, n.Attr))
			if n.Data == "pre" {
				for c := range n.ChildNodes() {
					out = append(out, fmt.Sprint(c.Data, c.Attr))
				}
				return
			}
			if n.Data == "td" && n.PrevSibling != nil && len(n.Attr) > 0 {
				out = append(out, textOf(n))
			}
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if n.Type == html.ElementNode {
			out = append(out, "/"+n.Data)
		}
	}
	walk(n)
	return out
}

// shapes caches the shapes of bland texts, which many views share.
var shapes sync.Map

// shapeOf returns the shape of the page for a markdown text.
func shapeOf(md string) []string {
	if known, ok := shapes.Load(md); ok {
		return known.([]string)
	}
	s := shape(rendered(md))
	shapes.Store(md, s)
	return s
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// acted holds patterns of texts on which GitHub acts outside code and links, with their
// sources. A pattern is wider if GitHub's exact rule is not known.
var acted = []struct {
	what string
	at   *regexp.Regexp
}{
	{"mention", regexp.MustCompile(`@[\p{L}\p{N}]`)},                                     // a word of letters, digits and hyphens
	{"e-mail address", regexp.MustCompile(`[A-Za-z0-9.+_-]@[._-]*[A-Za-z0-9]`)},          // GFM 6.9
	{"reference", regexp.MustCompile(`#[0-9]|(?i:\bgh-[0-9])`)},                          // "Autolinked references and URLs"
	{"commit", regexp.MustCompile(`(?i)\b[0-9a-f]{7,40}\b`)},                             // the same
	{"URL", regexp.MustCompile(`(?i)[a-z]://[\p{L}\p{N}]|\bwww\.[\p{L}\p{N}]`)},          // GFM 6.9
	{"address", regexp.MustCompile(`(?i)(?:mailto|xmpp):[\p{L}\p{N}]`)},                  // cmark-gfm
	{"emoji", regexp.MustCompile(`:(?:[a-z0-9_+-]*[a-z][a-z0-9_+-]*|\+1|-1|100|1234):`)}, // GitHub's own short codes become images
	{"math", regexp.MustCompile(`\$`)},                                                   // a backslash does not stop it
}

// live returns what GitHub would act on in a page, or "".
func live(page *html.Node) string {
	seen := map[string]bool{} // an attack is in many places
	for n := range page.Descendants() {
		if n.Type != html.TextNode || seen[n.Data] || inside(n, "code", "a") {
			continue
		}
		seen[n.Data] = true
		for _, a := range acted {
			if m := a.at.FindString(n.Data); m != "" {
				return fmt.Sprintf("%s %q in %q", a.what, m, n.Data)
			}
		}
	}
	return ""
}

func inside(n *html.Node, elements ...string) bool {
	for p := range n.Ancestors() {
		for _, e := range elements {
			if p.Type == html.ElementNode && p.Data == e {
				return true
			}
		}
	}
	return false
}

// blandPen uses the layout of the markdown pen, but replaces each text. It keeps only
// whether a text is empty and how many lines it has.
type blandPen struct{ markdownPen }

func (b blandPen) text(s string, limit int) safe {
	if b.markdownPen.text(s, limit) == "" {
		return ""
	}
	return "x"
}

func (b blandPen) para(s string, limit int) safe {
	n := len(paragraphs(s, limit))
	return safe(strings.TrimSuffix(strings.Repeat("x<br>", n), "<br>"))
}

func (b blandPen) code(s string, limit int) safe {
	if b.markdownPen.code(s, limit) == "" {
		return ""
	}
	return "`x`"
}

func (b blandPen) block(info string, _ []string) safe {
	return b.markdownPen.block(info, []string{"x"})
}
