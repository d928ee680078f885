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
	until string         // hidden as far as the line that has it; empty if it is not open
	mail  bool           // hidden as far as the end
	// fields are the lines before this one that look like fields of a mail's head.
	fields int
}

var (
	tag = regexp.MustCompile(`<(/?)([A-Za-z][A-Za-z0-9-]*)(?:[ \t/>][^<>]*|$)`)
	// unfinishedTag begins a tag that does not end on its line.
	unfinishedTag = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:[ \t][^>]*)?$`)
	htmlBlock     = regexp.MustCompile(`^ {0,3}<(?:/?[A-Za-z][A-Za-z0-9-]*(?:[ \t/>]|$)|[?]|![A-Z\[])`)
	// unfinishedLink is an image's or a link's text, address or title that goes on,
	// or a definition of one, which may.
	unfinishedLink = regexp.MustCompile(`\[[^\]]*$|\]\([^)]*$|^ {0,3}\[[^\]]+\]:`)
	answeredMail   = regexp.MustCompile(`(?i)^(?:(?:on|am|le|el) .{1,300}(?:wrote|schrieb|écrit|escribió).{0,300}:|.{0,300}(?:wrote|schrieb|écrit|escribió|scritto|escreveu) ?:|-{2,} ?.{0,40}(?:original|origine|forwarded|ursprüngliche|message|nachricht|mensaje).*|_{10,}|(?:from|von|de|da|sent|gesendet|envoyé|enviado) ?: .+)\s*$`)
	// field is a line of a mail's head in any language, and attribution one that says who
	// wrote what follows: it ends in a colon, and has a year and a time, or an address.
	field       = regexp.MustCompile(`^\s*[*_]{0,2}\p{L}[\p{L} .'-]{0,30}[*_]{0,2} ?[:：][*_]{0,2}\s*\S`)
	attribution = regexp.MustCompile(`^(?:.{0,300}\b\d{4}\b.{0,200}\d{1,2}[:.h]\d{2}.{0,300}|.{0,300}\d{1,2}[:.h]\d{2}.{0,200}\b\d{4}\b.{0,300}|.{0,300}<\S+@\S+>.{0,300})[:：]\s*$`)
	// bounded begins a block that ends at a mark of its own, not at a blank line.
	bounded = regexp.MustCompile(`^ {0,3}(<\?|<!\[CDATA\[|<![A-Za-z]|\$\$)`)
	// closing is a tag that ends an element where nothing can make it a mere text.
	closing = regexp.MustCompile(`^ {0,3}</`)
)

// enclosing are the elements whose text is shown as something else than the words
// of who comments, or not at all.
var enclosing = map[string]bool{
	"blockquote": true, "code": true, "del": true, "details": true, "div": true, "iframe": true, "kbd": true, "math": true, "noscript": true,
	"object": true, "option": true, "picture": true, "pre": true, "q": true, "s": true, "samp": true, "script": true, "select": true,
	"strike": true, "style": true, "summary": true, "svg": true, "table": true, "template": true, "textarea": true, "title": true,
	"tt": true, "var": true, "video": true, "xmp": true,
}

// mailFields is how many fields in a row are the head of a mail.
const mailFields = 3

// hides reports whether a command on the line would not count, and moves on past it.
func (m *markup) hides(line string) bool {
	if strings.TrimSpace(line) == "" {
		m.block, m.fields = false, 0
		return true
	}
	hidden := m.mail || m.block || len(m.open) > 0 || m.until != ""
	if _, _, command := commandIn(line); command && !hidden {
		return false // what its reason says opens nothing
	}
	text := codeSpan.ReplaceAllString(line, "")
	if m.until != "" {
		if strings.Contains(text, m.until) {
			m.until = ""
		}
		return true
	}
	m.bounded(line)
	before := map[string]int{} // open before this line
	for name, n := range m.open {
		before[name] = n
	}
	for _, t := range tag.FindAllStringSubmatch(text, -1) {
		name, closes := strings.ToLower(t[2]), t[1] == "/"
		// A closing tag may be shown as code, escaped, or stand in a comment or an
		// attribute. It counts at the beginning of a line, or after its own beginning.
		if closes && !closing.MatchString(text) && m.open[name] <= before[name] {
			continue
		}
		m.element(name, closes)
	}
	if m.fields++; !field.MatchString(line) {
		m.fields = 0
	}
	m.mail = m.mail || m.fields >= mailFields || answeredMail.MatchString(line) || attribution.MatchString(line)
	m.block = m.block || htmlBlock.MatchString(text) || unfinishedTag.MatchString(text) || unfinishedLink.MatchString(text) || strings.Contains(text, "`")
	return hidden
}

// bounded notes a block that the line begins and does not end.
func (m *markup) bounded(line string) {
	b := bounded.FindStringSubmatchIndex(line)
	if b == nil {
		return
	}
	ends := map[byte]string{'?': "?>", '[': "]]>", '$': "$$"}
	mark := line[b[2]:b[3]]
	end := ">"
	if e, ok := ends[mark[len(mark)-1]]; ok {
		end = e
	}
	if !strings.Contains(line[b[3]:], end) {
		m.until = end
	}
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
