package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// The bounds of a text.
const (
	// MaxBytes is the size of 5,000 rules with a paragraph of words each.
	MaxBytes = 4 << 20
	maxDepth = 32
	// maxValues keeps the tree of a hostile text ("[0,0,0,...") near 30 MB.
	// 5,000 rules with every field set have 150,000 values.
	maxValues = 200_000
	// maxNumberLength and maxExponent keep arithmetic on numbers cheap:
	// 1e-999999999 is ten bytes, and a hundred megabytes as a fraction.
	maxNumberLength = 32
	maxExponent     = 300
	// maxKey keeps JSON Pointers short: each problem below a key quotes the key.
	maxKey = 1000
	// maxErrors bounds how many repeated keys are listed: the largest text can hold half a
	// million.
	maxErrors = 1000
)

// Options read texts that are larger than config. The zero value reads like [Parse], but corrects
// nothing.
type Options struct {
	MaxBytes  int // of the text; 0 means the MaxBytes of config
	MaxValues int // in the tree at one time, of some 150 bytes each; 0 means 200,000
	// Take, if set, gets each element of an array as soon as it is complete, inner ones first. An
	// element that it takes leaves the tree and no longer counts as one of its values, so a long
	// list can be read in little memory. Elements keep their places, whether others are taken or
	// not. An error ends the reading, and is its only result.
	Take func(*Node) (taken bool, err *Error)

	mend     bool
	comments bool // the text is JSONC
}

// Error is a problem with a text. Mended says that the meaning was clear, and that the tree is that
// of the corrected text.
type Error struct {
	Place
	Problem string
	Remedy  string
	Mended  bool
}

func (e Error) Error() string {
	pointer := ""
	if e.Pointer != "" {
		pointer = e.Pointer + ": "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s; %s", e.Document.Name, e.Line, e.Column, pointer, e.Problem, e.Remedy)
}

// Parse reads the document's only value. It reports and corrects errors that leave no doubt about
// what was meant, such as a comma after the last entry. For any other syntax error the node is nil,
// and that error is the last one. It reports up to 1,000 duplicate keys, and the tree has the first
// of each.
func Parse(doc *Document, text []byte) (*Node, []Error) { return Options{mend: true}.Parse(doc, text) }

// ParseJSONC is Parse for JSON with comments, which begin with // or /*, and with commas after last
// entries.
func ParseJSONC(doc *Document, text []byte) (*Node, []Error) {
	return Options{mend: true, comments: true}.Parse(doc, text)
}

// Parse is like the function Parse, with other bounds. If the text is not JSON at all, the node is
// nil and there is one error.
func (o Options) Parse(doc *Document, text []byte) (*Node, []Error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = MaxBytes
	}
	if o.MaxValues == 0 {
		o.MaxValues = maxValues
	}
	if err := doc.take(text, o.MaxBytes); err != nil {
		return nil, []Error{*err}
	}
	mended, err := doc.checkSyntax(o.mend, o.comments)
	if err != nil {
		return nil, append(mended, *err)
	}
	p := parser{Options: o, doc: doc, dec: json.NewDecoder(bytes.NewReader(doc.text)), errors: mended}
	p.dec.UseNumber()
	root, err := p.value(&Node{doc: doc})
	if err != nil {
		return nil, append(mended, *err)
	}
	return root, p.errors
}

// checkSyntax checks whether the text is JSON, and may correct it if it is not.
func (d *Document) checkSyntax(mend, comments bool) (mended []Error, err *Error) {
	if err = d.checkJSON(); err == nil || !mend {
		return nil, err
	}
	if mended = d.mend(comments); len(mended) > 0 || comments {
		err = d.checkJSON()
	}
	if comments && err != nil && err.Problem == faultComment.problem {
		err.Problem, err.Remedy = faultOpenComment.problem, faultOpenComment.remedy
	}
	return mended, err
}

// take sets the text of a document, unless it is too large or unreadable as a whole.
func (d *Document) take(text []byte, maxBytes int) *Error {
	if len(text) > maxBytes { // nothing else is checked in a text that is too large
		return &Error{Place: Place{Document: d, Line: 1, Column: 1}, Problem: fmt.Sprintf("the file has more than %d bytes", maxBytes), Remedy: "make it smaller"}
	}
	d.text, d.written = text, text
	d.lines = sync.OnceValue(func() []lineMark { return lineMarks(text) })
	return d.checkText()
}

// checkText finds what makes the whole text unreadable.
func (d *Document) checkText() *Error {
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
	if json.Valid(d.text) { // avoids the copy that Unmarshal makes
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(d.text, &raw)
	var syntax *json.SyntaxError
	switch {
	case !errors.As(err, &syntax):
		return d.errorAt(0, fmt.Sprintf("the file cannot be read: %v", err), "write JSON")
	case strings.Contains(syntax.Error(), "exceeded max depth"):
		return nil // the parser stops earlier and knows the place
	}
	// Offset is the number of bytes read, including the wrong one.
	return d.syntaxError(max(int(syntax.Offset)-1, 0), syntax)
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

// fault is a syntax error in the user's terms.
type fault struct{ problem, remedy string }

var (
	faultComment      = fault{"JSON has no comments", `remove it, or put the words into a "description"`}
	faultHash         = fault{"JSON has no comments that begin with #", "begin the comment with //"}
	faultOpenComment  = fault{"a comment that starts here is not closed", "close it by */, or begin each line with //"}
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

// IsPath reports whether a text looks like a path, which git stores instead of a symbolic link: one
// line without spaces that has a slash or the extension of a file.
func IsPath(text string) bool {
	return (strings.Contains(text, "/") || extension.MatchString(text)) && !strings.HasPrefix(text, "//") && !strings.ContainsAny(text, " \t\r\n[]{}\"")
}

// extension matches a name that ends with an extension of letters.
var extension = regexp.MustCompile(`\w\.[A-Za-z]{2,8}$`)

// syntaxError puts an error of encoding/json into the user's terms.
func (d *Document) syntaxError(offset int, err *json.SyntaxError) *Error {
	rest := d.text[min(offset, len(d.text)):]
	before := bytes.TrimRight(d.text[:min(offset, len(d.text))], " \t\r\n")
	switch {
	case IsPath(string(d.text)): // the text of a symbolic link is the path that it points to
		return d.errorAt(offset, "this is a symbolic link, or plain text instead of JSON", "put the JSON file itself here: links are not followed")
	case strings.Contains(err.Error(), "unexpected end"):
		return d.errorAt(len(d.text), "the file ends in the middle of a value", "close every string, bracket and brace")
	case strings.Contains(err.Error(), "after top-level value"):
		return d.errorAt(offset, "there is something after the end of the JSON value", "keep one value in the file and remove the rest")
	case bytes.HasPrefix(rest, []byte("/")) || bytes.HasPrefix(rest, []byte("#")):
		return d.errorOf(offset, faultComment)
	case len(before) == 0 && !bytes.HasPrefix(rest, []byte("'")) && !bytes.ContainsAny(d.text, "[]{}\""):
		return d.errorAt(offset, "this is not JSON", "write a list or an object")
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

// parser walks a text that is known to be valid JSON.
type parser struct {
	Options
	doc    *Document
	dec    *json.Decoder
	values int
	depth  int
	errors []Error
}

// next returns the next token and its start.
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

// value reads a value into n, whose place in its parent is already set.
func (p *parser) value(n *Node) (*Node, *Error) {
	tok, at, err := p.next()
	if err != nil {
		return nil, err
	}
	n.offset = at
	if p.values++; p.values > p.MaxValues {
		return nil, n.Error(fmt.Sprintf("the file has more than %d values", p.MaxValues), "make it smaller")
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
			return nil, n.Error(problemNumber, remedyNumber)
		}
	case json.Delim:
		if p.depth++; p.depth > maxDepth {
			return nil, n.Error(fmt.Sprintf("values are nested more than %d deep", maxDepth), "nest them less deeply")
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
	for i := 0; p.dec.More(); i++ {
		before := p.values
		e, err := p.value(&Node{doc: p.doc, parent: n, index: i})
		if err != nil {
			return err
		}
		taken := false
		if p.Take != nil {
			if taken, err = p.Take(e); err != nil {
				return err
			}
		}
		if taken {
			p.values = before
			continue
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
			p.repeated(v, key, at)
			continue
		}
		seen[key] = true
		n.Members = append(n.Members, Member{Key: key, Value: v, offset: at})
	}
	_, _, err := p.next()
	return err
}

// repeated reports a key that its object already has.
func (p *parser) repeated(v *Node, key string, at int) {
	if len(p.errors) < maxErrors {
		p.errors = append(p.errors, repeated(v, key, at))
	}
}

func repeated(v *Node, key string, at int) Error {
	return Error{Place: v.doc.place(at, v.Pointer()), Problem: fmt.Sprintf("%q occurs twice in one object", key), Remedy: "keep one of them"}
}

// Error returns an error about the value, with its place.
func (n *Node) Error(problem, remedy string) *Error {
	return &Error{Place: n.Place(), Problem: problem, Remedy: remedy}
}

const problemNumber = "the number is too long or too large"

var remedyNumber = fmt.Sprintf("write it in at most %d characters and with an exponent of at most %d", maxNumberLength, maxExponent)

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
