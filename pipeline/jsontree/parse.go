package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// The bounds of a text.
const (
	// MaxBytes is what 5,000 rules with a paragraph of words each take up.
	MaxBytes = 4 << 20
	maxDepth = 32
	// maxValues keeps the tree of a hostile text ("[0,0,0,...") near 30 MB.
	// 5,000 rules with every field set have 150,000 values.
	maxValues = 200_000
	// maxNumberLength and maxExponent keep arithmetic on numbers cheap:
	// 1e-999999999 is ten bytes, and a hundred megabytes as a fraction.
	maxNumberLength = 32
	maxExponent     = 300
	// maxKey keeps JSON Pointers short: each problem below a key quotes it.
	maxKey = 1000
)

// Error is one thing that is wrong with a text. Mended says that it is known
// what was meant: the tree is that of the text put right.
type Error struct {
	Place
	Problem string
	Remedy  string
	Mended  bool
}

func (e Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s; %s", e.Document.Name, e.Line, e.Column, e.Problem, e.Remedy)
}

// Parse reads the document's only value. Faults of which there is no doubt what
// was meant, such as a comma after the last entry, are reported and mended; at
// another fault of the syntax the node is nil, and that is the last error.
// Duplicate keys are all reported, and the tree goes on with the first of each.
func Parse(doc *Document, text []byte) (*Node, []Error) {
	doc.text = text
	doc.lines = sync.OnceValue(func() []int { return lineStarts(text) })
	if err := doc.checkText(); err != nil {
		return nil, []Error{*err}
	}
	mended, err := doc.checkSyntax()
	if err != nil {
		return nil, append(mended, *err)
	}
	p := parser{doc: doc, dec: json.NewDecoder(bytes.NewReader(doc.text)), errors: mended}
	p.dec.UseNumber()
	root, err := p.value(&Node{doc: doc})
	if err != nil {
		return nil, append(mended, *err)
	}
	return root, p.errors
}

// checkSyntax finds out whether the text is JSON, and mends what it can of one
// that is not.
func (d *Document) checkSyntax() (mended []Error, err *Error) {
	if err = d.checkJSON(); err == nil {
		return nil, nil
	}
	if mended = d.mend(); len(mended) > 0 {
		err = d.checkJSON()
	}
	return mended, err
}

// checkText finds what makes the text as a whole unreadable.
func (d *Document) checkText() *Error {
	if len(d.text) > MaxBytes {
		return d.errorAt(0, fmt.Sprintf("the file has more than %d bytes", MaxBytes), "make it smaller")
	}
	if bytes.HasPrefix(d.text, []byte("\xef\xbb\xbf")) {
		return d.errorAt(0, "the file starts with a byte order mark", "save it as UTF-8 without one")
	}
	if !utf8.Valid(d.text) {
		return d.errorAt(firstInvalid(d.text), "the file is not valid UTF-8 here", "save it as UTF-8")
	}
	return nil
}

func (d *Document) checkJSON() *Error {
	if len(bytes.TrimSpace(d.text)) == 0 {
		return d.errorAt(0, "the file is empty", "remove it, or write an empty list or object into it")
	}
	var raw json.RawMessage
	err := json.Unmarshal(d.text, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// Offset is the number of bytes read, the offending one included.
		return d.syntaxError(max(int(syntax.Offset)-1, 0), syntax)
	}
	if err != nil {
		return d.errorAt(0, "the file cannot be read: "+err.Error(), "write JSON")
	}
	return nil
}

func firstInvalid(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}

// fault is a fault of the syntax in a user's words.
type fault struct{ problem, remedy string }

var (
	faultComment      = fault{"JSON has no comments", `remove it, or put the words into a "description"`}
	faultSingleQuotes = fault{"JSON has no single quotes", `write strings in double quotes`}
	faultLastComma    = fault{"there is a comma after the last entry", "remove the comma"}
	faultNoComma      = fault{"a comma or a closing bracket is missing before this", "write one after the previous value"}
	faultEscape       = fault{"the backslash before this starts no JSON escape", `write two backslashes for one, such as "\\s" in a pattern`}
)

func (d *Document) errorAt(offset int, problem, remedy string) *Error {
	return &Error{Place: d.place(offset, ""), Problem: problem, Remedy: remedy}
}

func (d *Document) errorOf(offset int, f fault) *Error {
	return d.errorAt(offset, f.problem, f.remedy)
}

func (d *Document) tooDeep(offset int) *Error {
	return d.errorAt(offset, fmt.Sprintf("values are nested more than %d deep", maxDepth), "nest them less deeply")
}

// syntaxError says in a user's words what encoding/json says in a parser's.
func (d *Document) syntaxError(offset int, err *json.SyntaxError) *Error {
	rest := d.text[min(offset, len(d.text)):]
	before := bytes.TrimRight(d.text[:min(offset, len(d.text))], " \t\r\n")
	switch {
	case strings.Contains(err.Error(), "exceeded max depth"):
		return d.tooDeep(offset)
	case !bytes.ContainsAny(d.text, "\n[]{}\""): // a link's text is the path that it leads to
		return d.errorAt(offset, "this is no JSON but a line of text, as in the place of a link", "write a list or an object; links are not followed, so put the file itself here")
	case strings.Contains(err.Error(), "unexpected end"):
		return d.errorAt(len(d.text), "the file ends in the middle of a value", "close every string, bracket and brace")
	case strings.Contains(err.Error(), "after top-level value"):
		return d.errorAt(offset, "there is something after the end of the JSON value", "keep one value in the file and remove the rest")
	case bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("#")):
		return d.errorOf(offset, faultComment)
	case bytes.HasPrefix(rest, []byte("'")):
		return d.errorOf(offset, faultSingleQuotes)
	case bytes.HasSuffix(before, []byte(",")) && (bytes.HasPrefix(rest, []byte("}")) || bytes.HasPrefix(rest, []byte("]"))):
		return d.errorOf(len(before)-1, faultLastComma)
	case strings.Contains(err.Error(), "after array element") || strings.Contains(err.Error(), "after object key:value pair"):
		return d.errorOf(offset, faultNoComma)
	case strings.Contains(err.Error(), "in string escape"):
		return d.errorOf(offset, faultEscape)
	case strings.Contains(err.Error(), "in string literal"):
		return d.errorAt(offset, "a string contains a line break or a control character", `write \n or \t, and close the string on its own line`)
	}
	return d.errorAt(offset, "this is not JSON: "+strings.TrimPrefix(err.Error(), "json: "), "check the quotes, commas and brackets around it")
}

// parser walks a text that is known to be well-formed.
type parser struct {
	doc    *Document
	dec    *json.Decoder
	values int
	depth  int
	errors []Error
}

// next returns the next token and where it starts.
func (p *parser) next() (json.Token, int, *Error) {
	at := int(p.dec.InputOffset())
	for at < len(p.doc.text) && strings.IndexByte(" \t\r\n,:", p.doc.text[at]) >= 0 {
		at++
	}
	tok, err := p.dec.Token()
	if err != nil {
		return nil, at, p.doc.errorAt(at, "this is not JSON: "+err.Error(), "check the quotes, commas and brackets around it")
	}
	return tok, at, nil
}

// value reads a value into n, of which the place in its parent is set.
func (p *parser) value(n *Node) (*Node, *Error) {
	tok, at, err := p.next()
	if err != nil {
		return nil, err
	}
	n.offset = at
	if p.values++; p.values > maxValues {
		return nil, p.doc.errorAt(at, fmt.Sprintf("the file has more than %d values", maxValues), "make it smaller")
	}
	switch t := tok.(type) {
	case nil:
	case bool:
		n.Kind, n.Text = Bool, strconv.FormatBool(t)
	case string:
		n.Kind, n.Text = String, t
	case json.Number:
		n.Kind, n.Text = Number, t.String()
		if !reasonable(n.Text) {
			return nil, p.doc.errorAt(at, "the number is too long or too large", fmt.Sprintf("write it in at most %d characters and with an exponent of at most %d", maxNumberLength, maxExponent))
		}
	case json.Delim:
		if p.depth++; p.depth > maxDepth {
			return nil, p.doc.tooDeep(at)
		}
		defer func() { p.depth-- }()
		if t == '[' {
			return n, p.array(n)
		}
		return n, p.object(n)
	}
	return n, nil
}

func (p *parser) array(n *Node) *Error {
	n.Kind = Array
	for p.dec.More() {
		e, err := p.value(&Node{doc: p.doc, parent: n, index: len(n.Elems)})
		if err != nil {
			return err
		}
		n.Elems = append(n.Elems, e)
	}
	_, _, err := p.next()
	return err
}

func (p *parser) object(n *Node) *Error {
	n.Kind = Object
	seen := map[string]bool{}
	for p.dec.More() {
		tok, at, err := p.next()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return p.doc.errorAt(at, "an object's key is not a string", "put the key in double quotes")
		}
		if len(key) > maxKey {
			return p.doc.errorAt(at, fmt.Sprintf("a key is longer than %d bytes", maxKey), "write a shorter one")
		}
		v, err := p.value(&Node{doc: p.doc, parent: n, key: key})
		if err != nil {
			return err
		}
		if seen[key] {
			p.errors = append(p.errors, Error{
				Place:   p.doc.place(at, v.pointer()),
				Problem: fmt.Sprintf("%q occurs twice in one object", key),
				Remedy:  "keep one of them",
			})
			continue
		}
		seen[key] = true
		n.Members = append(n.Members, Member{Key: key, Value: v, offset: at})
	}
	_, _, err := p.next()
	return err
}

func reasonable(number string) bool {
	if len(number) > maxNumberLength {
		return false
	}
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		return true
	}
	exponent, err := strconv.Atoi(number[at+1:])
	return err == nil && exponent <= maxExponent && exponent >= -maxExponent
}
