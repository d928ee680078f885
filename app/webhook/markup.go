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
	rest  bool           // hidden as far as the end
	html  []string       // lines of HTML that goes on as far as the next blank line
	// inner says that the HTML stands within something else, such as a list item. It may
	// end with that, before the next line.
	inner bool
	// indent is how far the HTML comment is indented that is open, or was open last.
	indent int
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
	// wrote what follows: it ends in a colon, and has a date and a time, or an address.
	field       = regexp.MustCompile(`^\s*[*_]{0,2}\p{L}[\p{L} .'-]{0,30}[*_]{0,2} ?[:：][*_]{0,2}\s*\S`)
	attribution = regexp.MustCompile(`^(?:.{0,300}\b(?:\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2})\b.{0,200}\d{1,2}[:.h]\d{2}.{0,300}|.{0,300}\d{1,2}[:.h]\d{2}.{0,200}\b(?:\d{4}|\d{1,2}[./-]\d{1,2}[./-]\d{2})\b.{0,300}|.{0,300}<\S+@\S+>.{0,300})[:：]\s*$`)
	// bounded begins a block that ends at a mark of its own, not at a blank line.
	bounded = regexp.MustCompile(`^ {0,3}(<\?|<!\[CDATA\[|<![A-Za-z]|\$\$)`)
	// closing is a tag that ends an element where nothing can make it a mere text.
	closing = regexp.MustCompile(`^ {0,3}</`)
	// html begins a line of HTML, perhaps within quotes and list items. GitHub shows it
	// as it is, so that a comment, a tag or a value which it does not end takes in all
	// that follows, paragraphs of their own too.
	html = regexp.MustCompile(`^((?: {0,3}(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]|$)))*)([ \t]*)<(?:/?[A-Za-z][A-Za-z0-9-]*(?:[ \t/>]|$)|!--)`)
	// innerQuote begins a quote in a list item.
	innerQuote = regexp.MustCompile(`^ {0,3}(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)+>`)
	// whole is a comment or a tag that is written in full, and left what is left of others.
	whole = regexp.MustCompile(`<!---->|<!--(?:[^->]|-[^->])(?:[^-]|-[^-])*-->|` +
		`<(/?)([A-Za-z][A-Za-z0-9-]*)(?:\s+[A-Za-z_:@][\w:.@-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+))?)*\s*/?>`)
	left = regexp.MustCompile(`<[A-Za-z/!?]`)
	// delimiter is the line of a table below its head.
	delimiter = regexp.MustCompile(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	tildes    = regexp.MustCompile(`~+`)
)

// enclosing are the elements whose text is shown as something else than the words
// of who comments, or not at all.
var enclosing = map[string]bool{
	"audio": true, "blockquote": true, "canvas": true, "cite": true, "code": true, "del": true, "details": true, "div": true, "iframe": true,
	"kbd": true, "math": true, "noembed": true, "noframes": true, "noscript": true, "object": true, "option": true, "picture": true, "plaintext": true, "pre": true, "q": true, "s": true, "samp": true, "script": true, "select": true,
	"strike": true, "style": true, "summary": true, "svg": true, "table": true, "template": true, "textarea": true, "title": true,
	"tt": true, "var": true, "video": true, "xmp": true,
}

// resumed are the elements that go on behind what they were opened in.
var resumed = map[string]bool{"code": true, "s": true, "strike": true, "tt": true}

// mailFields is how many fields in a row are the head of a mail.
const mailFields = 3

// hides reports whether a command on the line would not count, and moves on past it.
func (m *markup) hides(line string) bool {
	if strings.TrimSpace(line) == "" {
		m.endHTML()
		m.block, m.fields = false, 0
		return true
	}
	hidden := m.rest || m.block || len(m.open) > 0 || m.until != ""
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
	if m.readHTML(line); m.html == nil {
		m.tags(text)
	}
	if m.fields++; !field.MatchString(line) {
		m.fields = 0
	}
	m.rest = m.rest || m.fields >= mailFields || answeredMail.MatchString(line) || attribution.MatchString(line)
	m.block = m.block || m.html != nil || innerQuote.MatchString(line) || htmlBlock.MatchString(text) || unfinishedTag.MatchString(text) || unfinishedLink.MatchString(text) ||
		strings.Contains(text, "`") || delimits(line) || strings.Count(text, "$$")%2 == 1 || len(tildes.FindAllString(text, -1))%2 == 1
	return hidden
}

// tags opens and closes the elements of a line that is no HTML as a whole.
func (m *markup) tags(text string) {
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
}

// readHTML takes in a line that begins HTML, or goes on with it.
func (m *markup) readHTML(line string) {
	at := html.FindStringSubmatch(line)
	switch {
	case at != nil && (at[1] != "" || len(at[2]) > 3):
		m.inner = true
	case m.html == nil && (at == nil || strings.HasPrefix(line[len(at[0])-1:], "-")): // comments are followed elsewhere
		return
	case m.html == nil:
		m.inner = false
	}
	m.html = append(m.html, line)
	m.inner = m.inner || strings.Contains(line, "`") // what it closes may be shown as code
	m.rest = m.rest || m.inner && at != nil && dangles(line)
}

// endHTML opens and closes the elements of HTML that ends.
func (m *markup) endHTML() {
	text := strings.Join(m.html, "\n")
	for _, t := range whole.FindAllStringSubmatch(text, -1) {
		if closes := t[1] == "/"; !closes || !m.inner {
			m.element(strings.ToLower(t[2]), closes)
		}
	}
	m.rest = m.rest || dangles(text)
	m.html = nil
}

// dangles reports whether HTML leaves something open that takes in what follows.
func dangles(text string) bool { return left.MatchString(whole.ReplaceAllString(text, "")) }

// quoted moves on past a line of a quote. What follows without a blank line belongs to
// it: GitHub shows it there, and mail breaks long lines that it quotes. What is opened
// in a quote ends with it, but for a few elements and for what is not written in full.
func (m *markup) quoted(line string) {
	m.block = true
	if m.html != nil {
		m.html = append(m.html, line)
	}
	m.rest = m.rest || html.MatchString(line) && dangles(line)
	for _, t := range tag.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
		if name := strings.ToLower(t[2]); resumed[name] {
			m.element(name, t[1] == "/")
		}
	}
}

// after moves on past a line at the end of which no HTML comment is open. comment says
// that one was at its beginning.
func (m *markup) after(line string, comment bool) {
	start := strings.TrimLeft(line, " ")
	if !comment && !strings.HasPrefix(start, "<!--") {
		return
	}
	if comment && len(line)-len(start) < m.indent { // it ended with the list item around it
		m.rest = true
	}
	_, behind, _ := strings.Cut(strings.TrimPrefix(start, "<!--"), "-->")
	m.rest = m.rest || dangles(behind)
}

// delimits reports whether a line is the one below a table's head. A rule, or a line
// below a heading, is none.
func delimits(line string) bool {
	return strings.ContainsAny(line, "|:") && delimiter.MatchString(line)
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
