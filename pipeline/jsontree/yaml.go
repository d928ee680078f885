package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ParseYAML reads the only document of a YAML text into the tree that the same JSON would have, with
// the same bounds. Plain scalars are null, true, false and numbers as in YAML 1.2's core schema, and
// otherwise strings: no, on, 1_000 and 2026-01-01 are strings. Anchors, aliases, tags, merge keys,
// keys that are not strings, and numbers that JSON writes differently, such as 0o7, are errors. The
// errors are as those of [Parse], but nothing is corrected.
func ParseYAML(doc *Document, text []byte) (*Node, []Error) {
	if err := doc.take(text, MaxBytes); err != nil {
		return nil, []Error{*err}
	}
	doc.yaml = true
	if err := doc.checkYAMLText(); err != nil {
		return nil, []Error{*err}
	}
	read, err := doc.decodeYAML()
	if err != nil {
		return nil, []Error{*err}
	}
	r := yamlReader{doc: doc, at: yamlCursor{text: text, line: 1, column: 1}}
	root, err := r.value(read, &Node{doc: doc})
	switch {
	case err != nil:
		return nil, append(r.errors, *err)
	case r.unusable:
		return nil, r.errors
	}
	return root, r.errors
}

// maxYAMLMarks bounds the characters that may start a node of YAML, before the library reads the
// text: it needs some 300 bytes for each node. 5,000 long rules have 150,000.
const maxYAMLMarks = maxValues

// checkYAMLText finds what the library would read in another way than editors show it, and what
// would take too much memory to read.
func (d *Document) checkYAMLText() *Error {
	if IsPath(string(d.text)) {
		return d.errorAt(0, "this is a symbolic link, or plain text instead of YAML", "put the YAML file itself here: links are not followed")
	}
	marks := 0
	for i, r := range string(d.text) {
		switch {
		case r == '\r' && !bytes.HasPrefix(d.text[i:], []byte("\r\n")), r == 0x85, r == 0x2028, r == 0x2029:
			return d.errorAt(i, fmt.Sprintf("YAML reads the character U+%04X as a line break, but not everybody sees one", r), "end lines with a line feed, or write the character as an escape in double quotes")
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', 0x7f <= r && r < 0xa0:
			return d.errorAt(i, fmt.Sprintf("the control character U+%04X is not allowed in YAML", r), "remove it, or write it as an escape in double quotes")
		case r == ',' || r == '[' || r == '{' || r == ':' || r == '?' || r == '-':
			if r != ',' && r != '[' && r != '{' && i+1 < len(d.text) && strings.IndexByte(" \t\r\n,[]{}", d.text[i+1]) < 0 {
				continue // within a word
			}
			if marks++; marks > maxYAMLMarks {
				return d.errorAt(i, fmt.Sprintf("the file may have more than %d values", maxYAMLMarks), "make it smaller")
			}
		}
	}
	return nil
}

// decodeYAML returns the value of the text's only document, as the library reads it. The library
// panics on some wrong texts.
func (d *Document) decodeYAML() (value *yaml.Node, wrong *Error) {
	defer func() {
		if recover() != nil {
			value, wrong = nil, d.errorAt(0, "the YAML can't be read", "check the indentation and the comments")
		}
	}()
	empty := d.errorAt(0, "the file is empty", "remove it, or write an empty list or object into it")
	decoder := yaml.NewDecoder(bytes.NewReader(d.text))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, empty
	case err != nil:
		return nil, d.yamlError(err)
	case len(first.Content) != 1:
		return nil, empty
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		at := yamlCursor{text: d.text, line: 1, column: 1}
		return nil, d.errorAt(at.seek(second.Line, second.Column), "a second document starts here", "keep one document in the file and remove the rest")
	case !errors.Is(err, io.EOF):
		return nil, d.yamlError(err)
	}
	if value = first.Content[0]; value.Kind == yaml.ScalarNode && value.Value == "" && value.Style == 0 {
		return nil, empty
	}
	return value, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// yamlError puts a syntax error of the library into the user's terms. The library knows only the
// line.
func (d *Document) yamlError(err error) *Error {
	m := yamlLine.FindStringSubmatch(err.Error())
	said := strings.TrimPrefix(err.Error(), "yaml: ")
	offset := 0
	if m != nil {
		said = err.Error()[len(m[0]):]
		if line, err := strconv.Atoi(m[1]); err == nil {
			if strings.HasPrefix(said, "did not find expected") {
				line++ // the library counts lines from 0 in these
			}
			at := yamlCursor{text: d.text, line: 1, column: 1}
			offset = at.seek(line, 1)
		}
	}
	line, _, _ := bytes.Cut(d.text[offset:], []byte("\n"))
	indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	offset += len(indent)
	const look = "check the indentation, the quotes and the brackets here and on the line before"
	switch {
	case bytes.Contains(indent, []byte("\t")):
		return d.errorAt(offset, "a tab indents this line", "indent with spaces")
	case strings.Contains(said, "max depth"):
		return d.errorAt(offset, fmt.Sprintf("values are nested more than %d deep", maxDepth), "nest them less deeply")
	case strings.Contains(said, "cannot start any token"):
		return d.errorAt(offset, "a value on this line starts with a character that YAML reserves", "put the value in quotes")
	case strings.Contains(said, "mapping values are not allowed"):
		return d.errorAt(offset, "there is a colon where no key can be", `put a text with ": " in quotes, or check the indentation`)
	case strings.Contains(said, "unknown escape character"):
		return d.errorAt(offset, "a backslash on this line starts no escape", `write patterns in single quotes, such as '\s'`)
	case strings.Contains(said, "unknown anchor"):
		return d.errorAt(offset, "aliases are not allowed", yamlAliasRemedy)
	case strings.Contains(said, "end of stream"):
		return d.errorAt(offset, "a quote that starts on this line is not closed", "close it")
	case strings.Contains(said, "',' or"):
		return d.errorAt(offset, "a bracket on this line lacks a comma or its end", "write a comma between entries, and close the bracket")
	case strings.Contains(said, "expected node content"):
		return d.errorAt(offset, "a bracket is not closed, or a value in it is missing", look)
	case strings.Contains(said, "expected ':'"):
		return d.errorAt(offset, "a line here has no colon after its key", "write key: value, or indent the line as part of the text above")
	case strings.Contains(said, "expected key"):
		return d.errorAt(offset, "this line, or one below it, does not fit the object that it is in", "check the indentation, and write key: value")
	case strings.Contains(said, "'-' indicator"):
		return d.errorAt(offset, "this line, or one below it, does not fit the list that it is in", "check the indentation, and begin each entry with a dash")
	}
	return d.errorAt(offset, "this is not YAML: "+said, look)
}

const yamlAliasRemedy = "write the value out, or put a text that starts with & or * in quotes"

// yamlCursor finds the bytes of places that the library gives as line and column, both from 1, with
// columns in characters. Steps in any direction take as long as they are wide.
type yamlCursor struct {
	text         []byte
	offset       int
	line, column int
}

// seek returns the offset of a place, or the nearest one in the text.
func (c *yamlCursor) seek(line, column int) int {
	for c.line < line {
		next := bytes.IndexByte(c.text[c.offset:], '\n')
		if next < 0 {
			break
		}
		c.offset, c.line, c.column = c.offset+next+1, c.line+1, 1
	}
	for c.line > line && c.line > 1 {
		end := bytes.LastIndexByte(c.text[:c.offset], '\n')
		start := bytes.LastIndexByte(c.text[:end], '\n') + 1
		c.offset, c.line, c.column = start, c.line-1, 1
	}
	for c.column < column && c.offset < len(c.text) && c.text[c.offset] != '\n' {
		_, size := utf8.DecodeRune(c.text[c.offset:])
		c.offset, c.column = c.offset+size, c.column+1
	}
	for c.column > column && c.column > 1 {
		_, size := utf8.DecodeLastRune(c.text[:c.offset])
		c.offset, c.column = c.offset-size, c.column-1
	}
	return c.offset
}

// yamlReader turns the library's nodes into a tree.
type yamlReader struct {
	doc      *Document
	at       yamlCursor
	values   int
	depth    int
	errors   []Error
	unusable bool // an error leaves open what was meant
}

func (r *yamlReader) refuse(offset int, problem, remedy string) {
	r.unusable = true
	if len(r.errors) < maxErrors {
		r.errors = append(r.errors, *r.doc.errorAt(offset, problem, remedy))
	}
}

// value reads a value into n, whose place in its parent is already set.
func (r *yamlReader) value(y *yaml.Node, n *Node) (*Node, *Error) {
	n.offset = r.at.seek(y.Line, y.Column)
	if r.values++; r.values > maxValues {
		return nil, n.Error(fmt.Sprintf("the file has more than %d values", maxValues), "make it smaller")
	}
	r.checkPlain(y, n.offset)
	switch y.Kind {
	case yaml.ScalarNode:
		return n, r.scalar(y, n)
	case yaml.SequenceNode, yaml.MappingNode:
		if r.depth++; r.depth > maxDepth {
			return nil, n.Error(fmt.Sprintf("values are nested more than %d deep", maxDepth), "nest them less deeply")
		}
		defer func() { r.depth-- }()
		if y.Kind == yaml.MappingNode {
			return n, r.object(y, n)
		}
		n.Kind = Array
		for i, e := range y.Content {
			elem, err := r.value(e, &Node{doc: r.doc, parent: n, index: i})
			if err != nil {
				return nil, err
			}
			n.Elems = append(n.Elems, elem)
		}
	}
	return n, nil
}

// checkPlain refuses what JSON does not have.
func (r *yamlReader) checkPlain(y *yaml.Node, offset int) {
	switch {
	case y.Kind == yaml.AliasNode:
		r.refuse(offset, "aliases are not allowed", yamlAliasRemedy)
	case y.Anchor != "":
		r.refuse(offset, "anchors are not allowed", yamlAliasRemedy)
	case y.Style&yaml.TaggedStyle != 0 || offset < len(r.doc.text) && r.doc.text[offset] == '!':
		r.refuse(offset, "tags are not allowed", "remove it, or put a text that starts with ! in quotes")
	}
}

func (r *yamlReader) object(y *yaml.Node, n *Node) *Error {
	n.Kind = Object
	seen := map[string]bool{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at := r.at.seek(k.Line, k.Column)
		key := Node{doc: r.doc, offset: at}
		r.checkPlain(k, at)
		if k.Kind == yaml.ScalarNode {
			if err := r.scalar(k, &key); err != nil {
				return err
			}
		}
		switch {
		case k.Kind == yaml.AliasNode: // already refused
		case k.Value == "<<" && k.Style == 0:
			r.refuse(at, "merge keys are not allowed", "write the fields out")
		case key.Kind != String:
			r.refuse(at, "an object's key is not a string", "put the key in quotes")
		case len(key.Text) > maxKey:
			return r.doc.errorAt(at, fmt.Sprintf("a key is longer than %d bytes", maxKey), "write a shorter one")
		}
		v, err := r.value(y.Content[i+1], &Node{doc: r.doc, parent: n, key: key.Text})
		if err != nil {
			return err
		}
		if seen[key.Text] && len(r.errors) < maxErrors {
			r.errors = append(r.errors, repeated(v, key.Text, at))
		}
		if !seen[key.Text] {
			n.Members = append(n.Members, Member{Key: key.Text, Value: v, offset: at})
		}
		seen[key.Text] = true
	}
	return nil
}

var (
	jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
	yamlNumber = regexp.MustCompile(`^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

func (r *yamlReader) scalar(y *yaml.Node, n *Node) *Error {
	n.Kind, n.Text = String, y.Value
	if y.Style&^yaml.TaggedStyle != 0 { // quoted, or a block
		return nil
	}
	switch y.Value {
	case "", "~", "null", "Null", "NULL":
		n.Kind, n.Text = Null, ""
		return nil
	case "true", "True", "TRUE", "false", "False", "FALSE":
		n.Kind, n.Text = Bool, strings.ToLower(y.Value)
		return nil
	}
	switch {
	case jsonNumber.MatchString(y.Value):
		n.Kind = Number
		if !reasonable(n.Text) {
			return n.Error(problemNumber, remedyNumber)
		}
	case yamlNumber.MatchString(y.Value):
		r.refuse(n.offset, "this number is not written as in JSON", "write it in decimal digits without + and leading zeros, or put it in quotes if it is a text")
	}
	return nil
}

// placeInYAML is PlaceIn for a string of YAML. If the text of the string is not as it is written, it
// returns the start of the string.
func (n *Node) placeInYAML(offset int) Place {
	start := n.offset
	if start < len(n.doc.text) && (n.doc.text[start] == '"' || n.doc.text[start] == '\'') {
		start++
	}
	if !bytes.HasPrefix(n.doc.text[start:], []byte(n.Text)) {
		return n.Place()
	}
	return n.doc.place(start+min(offset, len(n.Text)), n.Pointer())
}
