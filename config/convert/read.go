package convert

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// reader reads JSONC that is known to be valid.
type reader struct {
	text    []byte
	at      int
	pending []string // comments before the next value
	// beside takes a comment that follows a value on its line. It is nil at the start of a line.
	beside func(line string)
}

// readJSONC returns the document of a valid text with its comments, in YAML's form.
func readJSONC(text []byte) (*yaml.Node, error) {
	r := &reader{text: text}
	r.gap()
	doc := &yaml.Node{Kind: yaml.DocumentNode, HeadComment: r.taken()}
	root, err := r.value(doc)
	if err != nil {
		return nil, err
	}
	doc.Content = []*yaml.Node{root}
	r.gap()
	doc.FootComment = r.taken()
	return doc, nil
}

// taken returns the comments before the next value.
func (r *reader) taken() string {
	lines := r.pending
	r.pending = nil
	return strings.Join(lines, "\n")
}

// gap reads up to the next bracket, string or other value.
func (r *reader) gap() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '\n':
			r.beside = nil
			r.at++
		case strings.IndexByte(" \t\r,:", c) >= 0:
			r.at++
		case c == '/':
			r.comment()
		default:
			return
		}
	}
}

func (r *reader) comment() {
	rest := r.text[r.at:]
	end, inner := bytes.IndexByte(rest, '\n'), 2
	if end < 0 {
		end = len(rest)
	}
	text := rest[inner:end]
	if rest[1] == '*' {
		end = bytes.Index(rest[2:], []byte("*/")) + 4
		text = rest[2 : end-2]
	}
	r.at += end
	var lines []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "*"))
		if line != "" {
			lines = append(lines, "# "+strings.Map(printable, line))
		}
	}
	if r.beside != nil && len(lines) == 1 {
		r.beside(lines[0])
		return
	}
	r.pending = append(r.pending, lines...)
}

// printable replaces what YAML does not allow in a comment by a blank.
func printable(r rune) rune {
	if r != '\t' && !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// value reads a value. A comment behind the end of a list or an object goes above holder, the key or
// document that the value belongs to, or above the value itself if holder is nil.
func (r *reader) value(holder *yaml.Node) (*yaml.Node, error) {
	n := &yaml.Node{HeadComment: r.taken()}
	if holder == nil {
		holder = n
	}
	switch c := r.text[r.at]; c {
	case '{', '[':
		r.at++
		r.beside = nil
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if c == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		if err := r.entries(n); err != nil {
			return nil, err
		}
		if isShort(n) {
			r.beside = addBeside(n)
			return n, nil
		}
		r.beside = func(line string) { holder.HeadComment = joined(holder.HeadComment, line, "\n") }
		return n, nil
	}
	n.Kind = yaml.ScalarNode
	start := r.at
	if r.text[start] == '"' {
		for r.at++; r.text[r.at] != '"'; r.at++ {
			if r.text[r.at] == '\\' {
				r.at++
			}
		}
		r.at++
		if err := json.Unmarshal(r.text[start:r.at], &n.Value); err != nil {
			return nil, err
		}
		n.Tag, n.Style = "!!str", styleOf(n.Value)
	} else {
		for r.at < len(r.text) && strings.IndexByte(" \t\r\n,:]}/", r.text[r.at]) < 0 {
			r.at++
		}
		n.Value = string(r.text[start:r.at])
	}
	r.beside = addBeside(n)
	return n, nil
}

// entries reads the entries of a list or an object, and its closing bracket.
func (r *reader) entries(n *yaml.Node) error {
	for {
		r.gap()
		if c := r.text[r.at]; c == '}' || c == ']' {
			r.at++
			r.last(n, r.taken())
			return nil
		}
		if n.Kind == yaml.SequenceNode {
			e, err := r.value(nil)
			if err != nil {
				return err
			}
			n.Content = append(n.Content, e)
			continue
		}
		key, err := r.value(nil)
		if err != nil {
			return err
		}
		if isPlainKey(key.Value) {
			key.Style = 0
		}
		r.beside = nil
		r.gap()
		v, err := r.value(key)
		if err != nil {
			return err
		}
		key.HeadComment, v.HeadComment = joined(key.HeadComment, v.HeadComment, "\n"), ""
		n.Content = append(n.Content, key, v)
	}
}

// last puts a comment after the last entry of a list or an object.
func (r *reader) last(n *yaml.Node, comment string) {
	var at *yaml.Node
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		at = n.Content[len(n.Content)-2]
	case len(n.Content) > 0:
		at = n.Content[len(n.Content)-1]
	default:
		n.HeadComment = joined(n.HeadComment, comment, "\n")
		return
	}
	at.FootComment = joined(at.FootComment, comment, "\n")
}

// addBeside returns a function that adds a comment to those on the line of a value.
func addBeside(n *yaml.Node) func(line string) {
	return func(line string) {
		if n.LineComment != "" {
			line = strings.TrimPrefix(line, "# ")
		}
		n.LineComment = joined(n.LineComment, line, "; ")
	}
}

// joined joins two texts, of which any may be empty.
func joined(a, b, separator string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}
