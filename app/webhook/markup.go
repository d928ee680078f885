package webhook

import (
	"regexp"
	"strings"
)

// markup follows what of a comment's text readers don't see as its own words: HTML,
// the titles of links, code spans of several lines, and mail that is answered. In
// doubt it hides: whoever means a command writes it in a paragraph of its own.
type markup struct {
	open  map[string]int // elements that are open, which blank lines don't end
	block bool           // hidden as far as the next blank line
	mail  bool           // hidden as far as the end
}

var (
	tag = regexp.MustCompile(`<(/?)([A-Za-z][A-Za-z0-9-]*)(?:[ \t/>][^<>]*|$)`)
	// unfinishedTag begins a tag that does not end on its line.
	unfinishedTag = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:[ \t][^>]*)?$`)
	htmlBlock     = regexp.MustCompile(`^ {0,3}<(?:/?[A-Za-z][A-Za-z0-9-]*(?:[ \t/>]|$)|[?]|![A-Z\[])`)
	// unfinishedLink is an image's or a link's text, address or title that goes on,
	// or a definition of one, which may.
	unfinishedLink = regexp.MustCompile(`\[[^\]]*$|\]\([^)]*$|^ {0,3}\[[^\]]+\]:`)
	answeredMail   = regexp.MustCompile(`(?i)^(?:(?:on|am|le|el) .{1,300}(?:wrote|schrieb|écrit|escribió).{0,300}:|-{2,} ?(?:original|forwarded|ursprüngliche).*|_{10,}|from: .+)\s*$`)
)

// enclosing are the elements whose text is shown as something else than the words
// of who comments, or not at all.
var enclosing = map[string]bool{
	"blockquote": true, "code": true, "del": true, "details": true, "div": true, "iframe": true, "kbd": true, "math": true, "noscript": true,
	"object": true, "option": true, "picture": true, "pre": true, "q": true, "s": true, "samp": true, "script": true, "select": true,
	"strike": true, "style": true, "summary": true, "svg": true, "table": true, "template": true, "textarea": true, "title": true,
	"tt": true, "var": true, "video": true, "xmp": true,
}

// hides reports whether a command on the line would not count, and moves on past it.
func (m *markup) hides(line string) bool {
	if strings.TrimSpace(line) == "" {
		m.block = false
		return true
	}
	hidden := m.mail || m.block || len(m.open) > 0
	if _, _, command := commandIn(line); command && !hidden {
		return false // what its reason says opens nothing
	}
	text := codeSpan.ReplaceAllString(line, "")
	for _, t := range tag.FindAllStringSubmatch(text, -1) {
		m.element(strings.ToLower(t[2]), t[1] == "/")
	}
	m.mail = m.mail || answeredMail.MatchString(line)
	m.block = m.block || htmlBlock.MatchString(text) || unfinishedTag.MatchString(text) || unfinishedLink.MatchString(text) || strings.Contains(text, "`")
	return hidden
}

// element opens or closes one.
func (m *markup) element(name string, closes bool) {
	switch {
	case !enclosing[name]:
	case !closes:
		if m.open == nil {
			m.open = map[string]int{}
		}
		m.open[name]++
	case m.open[name] > 1:
		m.open[name]--
	default:
		delete(m.open, name)
	}
}
