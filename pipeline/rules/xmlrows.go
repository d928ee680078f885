package rules

import (
	"slices"
	"sort"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// xmlRows are the elements that hold only text, as one row for each parent:
// <artifactId>a</artifactId><version>1</version>. A parent may begin or end outside the hunk.
func xmlRows(h *pipeline.Hunk) []statement {
	x := xmlReader{hunk: h, open: map[string]int{}, stack: make([]element, 1)}
	var text strings.Builder
	for _, i := range newSideOf(h) {
		x.lines = append(x.lines, i)
		x.starts = append(x.starts, text.Len())
		text.WriteString(bounded(h.Lines[i].Text, maxLine))
		text.WriteByte('\n')
	}
	x.text = text.String()
	if strings.IndexByte(x.text, '<') < 0 {
		return nil
	}
	x.read()
	for len(x.stack) > 0 {
		x.pop()
	}
	return x.out
}

// xmlReader reads the elements of a hunk's new side.
type xmlReader struct {
	hunk   *pipeline.Hunk
	text   string // of all lines
	starts []int  // the position of each line in the text
	lines  []int  // the index of each line in the hunk
	stack  []element
	open   map[string]int // the number of open elements by name
	out    []statement
}

// element is an open element. The first on the stack is the element that contains the start
// of the hunk.
type element struct {
	name   string
	at     int // the position where it begins
	pieces []string
	nested bool // it contains elements
	leaves []leaf
}

// leaf is an element that holds only text.
type leaf struct {
	text     string
	from, to int // its lines in the hunk
	added    int // its first added line, or -1
}

// top is the innermost open element.
func (x *xmlReader) top() *element { return &x.stack[len(x.stack)-1] }

// read reads the whole text.
func (x *xmlReader) read() {
	for at := 0; at < len(x.text); {
		next := strings.IndexByte(x.text[at:], '<')
		if next < 0 {
			x.write(x.text[at:])
			return
		}
		x.write(x.text[at : at+next])
		at = x.markup(at + next)
	}
}

// write adds to the text of the open element. Text between elements means nothing.
func (x *xmlReader) write(text string) {
	if e := x.top(); !e.nested && len(x.stack) > 1 && len(e.pieces) < maxStatementAll {
		if text = strings.TrimSpace(plaintext.Bytes(text, maxPiece)); text != "" {
			e.pieces = append(e.pieces, text)
		}
	}
}

// markup reads the markup at a position, which begins with an angle bracket, and returns its
// end.
func (x *xmlReader) markup(at int) int {
	rest := x.text[at:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		return x.after(at+len("<!--"), "-->")
	case strings.HasPrefix(rest, "<![CDATA["):
		from := at + len("<![CDATA[")
		end := x.after(from, "]]>")
		x.write(strings.TrimSuffix(x.text[from:end], "]]>"))
		return end
	case strings.HasPrefix(rest, "<?"):
		return x.after(at, "?>")
	}
	end := x.tagEnd(at + 1)
	body := strings.TrimSuffix(x.text[at+1:end], ">")
	switch {
	case strings.HasPrefix(body, "/"):
		x.close(strings.TrimSpace(body[1:]), end-1)
	case strings.HasSuffix(body, "/") || !isName(x.byteAt(at+1)):
	default:
		x.top().nested = true
		name := body
		if i := strings.IndexAny(body, " \t\r\n"); i >= 0 {
			name = body[:i]
		}
		x.open[name]++
		if len(x.stack) == maxOpen {
			x.forget(maxOpen / 2)
		}
		x.stack = append(x.stack, element{name: name, at: at})
	}
	return end
}

// byteAt is byte i of the text, or 0.
func (x *xmlReader) byteAt(i int) byte { return at(x.text, i) }

// after is the position after the next mark from a position on, or the end of the text.
func (x *xmlReader) after(from int, mark string) int {
	if i := strings.Index(x.text[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(x.text)
}

// tagEnd is the position after the bracket that ends a tag. Quoted values in the tag may hold
// brackets.
func (x *xmlReader) tagEnd(from int) int {
	quote := byte(0)
	for i := from; i < len(x.text); i++ {
		switch c := x.text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(x.text)
}

// close ends the innermost element of a name and the elements in it. An end tag without a
// start tag belongs to the element that contains the start of the hunk.
func (x *xmlReader) close(name string, end int) {
	if x.open[name] == 0 {
		for len(x.stack) > 0 {
			x.pop()
		}
		x.stack = append(x.stack, element{})
		clear(x.open)
		return
	}
	for x.top().name != name {
		x.pop()
	}
	e := *x.top()
	x.pop()
	if e.nested {
		return
	}
	parent := x.top()
	l := leaf{text: "<" + name + ">" + plaintext.Bytes(joined(e.pieces), maxPiece) + "</" + name + ">", from: x.line(e.at), to: x.line(end), added: -1}
	for i := l.to; i >= l.from; i-- {
		if isAdded(x.hunk, i) {
			l.added = i
		}
	}
	parent.leaves = append(parent.leaves, l)
}

// line is the line of the hunk at a position of the text.
func (x *xmlReader) line(at int) int {
	return x.lines[sort.SearchInts(x.starts, at+1)-1]
}

// maxOpen bounds the open elements, so that a text full of start tags takes little memory.
const maxOpen = 1000

// forget ends the n outermost elements. The siblings of inner elements are still complete. The last
// of the n stays without its name and content, since the stack begins with an element that no tag ends.
func (x *xmlReader) forget(n int) {
	for i := range n {
		x.finish(&x.stack[i])
	}
	x.stack[n-1] = element{}
	x.stack = slices.Delete(x.stack, 0, n-1)
}

// pop ends the innermost element.
func (x *xmlReader) pop() {
	x.finish(x.top())
	x.stack = x.stack[:len(x.stack)-1]
}

// finish adds the rows of the leaves in an element that ends.
func (x *xmlReader) finish(e *element) {
	if x.open[e.name]--; x.open[e.name] <= 0 {
		delete(x.open, e.name)
	}
	for from := 0; from < len(e.leaves); {
		to, size := from, 0
		for to < len(e.leaves) && (to == from || size+len(e.leaves[to].text) <= maxStatement) {
			size += len(e.leaves[to].text)
			to++
		}
		x.row(e.leaves[from:to])
		if to == len(e.leaves) {
			break
		}
		from = max(from+1, to-overlap)
	}
}

// row adds leaves of one parent as a row if the change adds one of them.
func (x *xmlReader) row(leaves []leaf) {
	var text, was strings.Builder
	first := -1
	for _, l := range leaves {
		text.WriteString(l.text)
		if l.added < 0 {
			was.WriteString(l.text)
		} else if first < 0 {
			first = l.added
		}
	}
	if first < 0 {
		return
	}
	row := rowOf(text.String(), was.String(), leaves[0].from, first, leaves[len(leaves)-1].to)
	for i := range leaves[1:] {
		if between := (lineSpan{leaves[i].to + 1, leaves[i+1].from}); between.from < between.to {
			row.blocks = append(row.blocks, between)
		}
	}
	x.out = append(x.out, row)
}
