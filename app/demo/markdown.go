package demo

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// gfm renders markdown as GitHub does in comments, where a line break stays one. It keeps raw HTML,
// which sanitise then filters.
var gfm = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(htmlrenderer.WithUnsafe(), htmlrenderer.WithHardWraps()),
)

// markdown renders a text as GitHub would show it. link returns the address on the page for an
// address on GitHub, or "" if the page has nothing of the kind.
func markdown(text string, link func(string) string) (template.HTML, error) {
	var b bytes.Buffer
	if err := gfm.Convert([]byte(text), &b); err != nil {
		return "", fmt.Errorf("render markdown: %w", err)
	}
	body := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(&b, body)
	if err != nil {
		return "", fmt.Errorf("parse rendered markdown: %w", err)
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	sanitise(body, link)
	b.Reset()
	for n := range body.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return "", fmt.Errorf("write sanitised HTML: %w", err)
		}
	}
	return template.HTML(b.String()), nil // sanitise let through only what is harmless
}

// allowed lists the elements that stay, out of those that GitHub lets through. No element in it
// changes how the text in it is parsed.
var allowed = []atom.Atom{
	atom.A, atom.B, atom.Blockquote, atom.Br, atom.Code, atom.Del, atom.Details, atom.Div, atom.Em,
	atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.I, atom.Li, atom.Ol, atom.P, atom.Pre, atom.S,
	atom.Strong, atom.Sub, atom.Summary, atom.Sup, atom.Table, atom.Tbody, atom.Td, atom.Th, atom.Thead, atom.Tr, atom.Ul,
}

// sanitise keeps the allowed elements below n, without attributes except the addresses of links, the
// alignment of cells and the languages of code. Of other elements only the text stays, and of those
// whose text is code, such as scripts, nothing.
func sanitise(n *html.Node, link func(string) string) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.TextNode:
		case c.Type == html.ElementNode && c.Namespace == "" && slices.Contains(allowed, c.DataAtom):
			c.Attr = harmless(c, link)
			if isJSON(c) {
				leaveOut(c)
			}
			sanitise(c, link)
			if c.DataAtom == atom.Blockquote {
				markAlert(c)
			}
		case c.Type == html.ElementNode && c.Namespace == "" && !isCode(c.DataAtom):
			if c.FirstChild != nil {
				next = c.FirstChild
			}
			for child := c.FirstChild; child != nil; child = c.FirstChild {
				c.RemoveChild(child)
				n.InsertBefore(child, c)
			}
			n.RemoveChild(c)
		default:
			n.RemoveChild(c)
		}
		c = next
	}
}

// isCode reports whether the text in an element is not for readers.
func isCode(a atom.Atom) bool {
	return slices.Contains([]atom.Atom{
		atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Noembed, atom.Noframes, atom.Iframe, atom.Xmp, atom.Plaintext,
		atom.Textarea, atom.Title, atom.Select, atom.Object, atom.Math, atom.Svg,
	}, a)
}

// harmless returns the attributes of an element that stay.
func harmless(n *html.Node, link func(string) string) []html.Attribute {
	var kept []html.Attribute
	for _, a := range n.Attr {
		switch {
		case n.DataAtom == atom.A && a.Key == "href":
			if to := address(a.Val, link); to != "" {
				kept = append(kept, html.Attribute{Key: "href", Val: to}, html.Attribute{Key: "rel", Val: "nofollow noreferrer"})
			}
		case (n.DataAtom == atom.Td || n.DataAtom == atom.Th) && a.Key == "style" && slices.Contains([]string{"text-align:right", "text-align:center"}, a.Val):
			kept = append(kept, html.Attribute{Key: "class", Val: strings.Replace(a.Val, "text-align:", "to-", 1)}) // the page allows no inline style
		case n.DataAtom == atom.Code && a.Key == "class" && strings.HasPrefix(a.Val, "language-") && !strings.Contains(a.Val, " "):
			kept = append(kept, a)
		}
	}
	return kept
}

// address returns where a link leads: within the page, or to another site by HTTPS.
func address(to string, link func(string) string) string {
	if strings.HasPrefix(to, webURL+"/") {
		return link(to)
	}
	if u, err := url.Parse(to); err != nil || u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return to
}

// isJSON reports whether an element is a block of JSON, which is for other programs.
func isJSON(n *html.Node) bool {
	code := n.FirstChild
	return n.DataAtom == atom.Pre && code != nil && slices.ContainsFunc(code.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && a.Val == "language-json"
	})
}

// leaveOut replaces a block of code by a note.
func leaveOut(n *html.Node) {
	lines := 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			lines += strings.Count(d.Data, "\n")
		}
	}
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
	n.Data, n.DataAtom = "p", atom.P
	em := &html.Node{Type: html.ElementNode, Data: "em", DataAtom: atom.Em}
	em.AppendChild(&html.Node{Type: html.TextNode, Data: "GitHub shows " + count(lines, "line") + " of JSON here. This page leaves them out."})
	n.AppendChild(em)
}

// markAlert makes a quotation an alert if it begins with a mark such as [!WARNING].
func markAlert(quote *html.Node) {
	p := quote.FirstChild
	for p != nil && p.Type != html.ElementNode {
		p = p.NextSibling
	}
	if p == nil || p.FirstChild == nil || p.FirstChild.Type != html.TextNode {
		return
	}
	for _, kind := range []string{"Note", "Tip", "Important", "Warning", "Caution"} {
		rest, ok := strings.CutPrefix(p.FirstChild.Data, "[!"+strings.ToUpper(kind)+"]")
		if !ok || strings.TrimSpace(rest) != "" {
			continue
		}
		quote.Attr = []html.Attribute{{Key: "class", Val: "alert " + strings.ToLower(kind)}}
		title := &html.Node{Type: html.ElementNode, Data: "strong", DataAtom: atom.Strong, Attr: []html.Attribute{{Key: "class", Val: "kind"}}}
		title.AppendChild(&html.Node{Type: html.TextNode, Data: kind})
		p.InsertBefore(title, p.FirstChild)
		p.RemoveChild(title.NextSibling)
	}
}
