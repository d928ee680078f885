package jsontree

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the JSON type of a value.
type Kind int

// The JSON types.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Node is one JSON value. Text is the content of a string, the digits of a
// number, or "true" and "false".
type Node struct {
	Kind    Kind
	Text    string
	Elems   []*Node
	Members []Member // in the order of the text

	doc    *Document
	offset int
	parent *Node
	key    string // if it is in an object
	index  int    // if it is in an array
}

// Member is one member of an object.
type Member struct {
	Key   string
	Value *Node

	offset int // of the key
}

// Document is one text with its name. Owner belongs to the caller, who can record there what the
// text is part of.
type Document struct {
	Name  string
	Owner any

	text     []byte // the corrected text, if that was possible
	written  []byte // the original text
	inserted []int  // the offsets in text of inserted bytes, ascending
	yaml     bool
	lines    func() []lineMark
}

// Get returns the value of a member, or nil. It may be called on nil and on
// values that are not objects.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// At follows the path from n as far as it exists, and returns the last value on it.
func (n *Node) At(path ...string) *Node {
	for _, p := range path {
		var next *Node
		switch n.Kind {
		case Object:
			next = n.Get(p)
		case Array:
			if i, err := strconv.Atoi(p); err == nil && i >= 0 && i < len(n.Elems) {
				next = n.Elems[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// Overlay returns an object with the members of base in their order, replaced and followed by those
// of n. Its place is that of n, and its members keep their own places. Fields named in deep are
// objects that are overlaid in the same way if both have them.
func (n *Node) Overlay(base *Node, deep ...string) *Node {
	out := *n
	out.Members = append([]Member(nil), base.Members...)
	for _, m := range n.Members {
		at := memberIndex(out.Members, m.Key)
		if at < 0 {
			out.Members = append(out.Members, m)
			continue
		}
		below := out.Members[at].Value
		if m.Value.Kind == Object && below.Kind == Object && slices.Contains(deep, m.Key) {
			m.Value = m.Value.Overlay(below)
		}
		out.Members[at] = m
	}
	return &out
}

// With returns a copy of the object with another string at its end. The place of the string is that
// of the object.
func (n *Node) With(key, text string) *Node {
	value, out := *n, *n
	value.Kind, value.Text, value.Members = String, text, nil
	out.Members = append(slices.Clip(n.Members), Member{Key: key, Value: &value, offset: n.offset})
	return &out
}

func memberIndex(members []Member, key string) int {
	for i := range members {
		if members[i].Key == key {
			return i
		}
	}
	return -1
}

// Place is the position of a value. Line and Column start at 1. Column counts bytes, as compilers
// do. Pointer is an RFC 6901 JSON Pointer.
type Place struct {
	Document *Document
	Line     int
	Column   int
	Pointer  string
}

// Place returns where the value starts.
func (n *Node) Place() Place {
	return n.doc.place(n.offset, n.Pointer())
}

// KeyPlace returns where the key of a member starts. In an overlaid object, that may be in another
// text than the object itself.
func (m Member) KeyPlace() Place {
	return m.Value.doc.place(m.offset, m.Value.Pointer())
}

// Parent returns the array or object that contains the value, or nil for the root.
func (n *Node) Parent() *Node { return n.parent }

// Key returns the key of the value in its object, or "" if it is not in an object.
func (n *Node) Key() string { return n.key }

// Document returns the text that contains the value.
func (n *Node) Document() *Document { return n.doc }

// Pointer returns the RFC 6901 JSON Pointer to the value.
func (n *Node) Pointer() string {
	if n.parent == nil {
		return ""
	}
	step := n.key
	if n.parent.Kind == Array {
		step = strconv.Itoa(n.index)
	}
	return n.parent.Pointer() + "/" + EscapePointer(step)
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// EscapePointer escapes a key for a step of a JSON Pointer.
func EscapePointer(key string) string { return pointerEscaper.Replace(key) }

func (d *Document) place(offset int, pointer string) Place {
	offset -= sort.SearchInts(d.inserted, offset)
	block := offset / lineBlock
	mark := d.lines()[block]
	part := d.written[block*lineBlock : offset]
	start := mark.start
	if at := bytes.LastIndexByte(part, '\n'); at >= 0 {
		start = block*lineBlock + at + 1
	}
	return Place{Document: d, Line: mark.before + bytes.Count(part, []byte("\n")) + 1, Column: offset - start + 1, Pointer: pointer}
}

// lineBlock is the distance of the marks that locate a text's lines. An index of every line would
// be eight times as large as a text of only line breaks.
const lineBlock = 512

// lineMark holds, for the start of a block, the number of line breaks before it and the start of
// its line.
type lineMark struct{ before, start int }

func lineMarks(text []byte) []lineMark {
	marks := make([]lineMark, 1, len(text)/lineBlock+1)
	var m lineMark
	for from := 0; from+lineBlock <= len(text); from += lineBlock {
		block := text[from : from+lineBlock]
		if at := bytes.LastIndexByte(block, '\n'); at >= 0 {
			m.before, m.start = m.before+bytes.Count(block, []byte("\n")), from+at+1
		}
		marks = append(marks, m)
	}
	return marks
}

// Value returns the tree in the types of encoding/json, with numbers as json.Number.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case Array:
		list := make([]any, len(n.Elems))
		for i, e := range n.Elems {
			list[i] = e.Value()
		}
		return list
	case Object:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Key] = m.Value.Value()
		}
		return object
	}
	return nil
}

// AppendJSON appends the tree as compact JSON. It writes whole numbers without fraction and
// exponent, whatever their form in the text: 1.0 and 1e2 are integers in JSON Schema, but not in
// encoding/json.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case Bool:
		return append(b, n.Text...)
	case Number:
		return append(b, plainNumber(n.Text)...)
	case String:
		return appendString(b, n.Text)
	case Array:
		b = append(b, '[')
		for i, e := range n.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.AppendJSON(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.Key), ':')
			b = m.Value.AppendJSON(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// appendString does not escape <, > and &: globs and patterns are full of them, and no HTML is
// involved.
func appendString(b []byte, s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return append(append(append(b, '"'), s...), '"')
	}
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		// Encoding a string can't fail.
		panic(err)
	}
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// maxExactInteger is 2^53. Up to there, a float64 can represent every whole number.
const maxExactInteger = 1 << 53

func plainNumber(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExactInteger {
		return s
	}
	return strconv.FormatInt(int64(f), 10)
}

// PlaceIn returns where the byte at an offset of a string's Text is in the document, whatever
// escapes come before it. For an offset past its end it returns the end of the string.
func (n *Node) PlaceIn(offset int) Place {
	if n.doc.yaml {
		return n.placeInYAML(offset)
	}
	at := n.offset + 1 // after the quote
	for read := 0; read < offset && n.doc.text[at] != '"'; {
		size, written := 1, 1
		if n.doc.text[at] == '\\' {
			size, written = escaped(n.doc.text[at:])
		}
		read, at = read+size, at+written
	}
	return n.doc.place(at, n.Pointer())
}

// escaped returns how many bytes the escape at the start of a text stands for, and its own length.
func escaped(text []byte) (size, written int) {
	if text[1] != 'u' {
		return 1, 2
	}
	first := hexRune(text[2:])
	if utf16.IsSurrogate(first) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if r := utf16.DecodeRune(first, hexRune(text[8:])); r != utf8.RuneError {
			return utf8.RuneLen(r), 12
		}
	}
	if utf16.IsSurrogate(first) {
		first = utf8.RuneError // as in encoding/json
	}
	return utf8.RuneLen(first), 6
}

// hexRune reads the four hexadecimal digits at the start of a text of valid JSON.
func hexRune(text []byte) rune {
	v, err := strconv.ParseUint(string(text[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(v)
}
