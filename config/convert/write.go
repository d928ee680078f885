package convert

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

var (
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./()-]*(?: [A-Za-z0-9_./()-]+)*$`)
	// surprising are the words that some readers of YAML take for null, true or false.
	surprising = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)
	plainKey   = regexp.MustCompile(`^[A-Za-z$_][A-Za-z0-9$_-]*$`)
	unquoted   = regexp.MustCompile(`^[ -~]*$`)
)

// isPlainKey reports whether a key needs no quotes.
func isPlainKey(s string) bool {
	return plainKey.MatchString(s) && (!surprising.MatchString(s) || s == "on")
}

// styleOf returns how a string is written in YAML.
func styleOf(s string) yaml.Style {
	switch {
	case plainText.MatchString(s) && !surprising.MatchString(s):
		return 0
	case strings.ContainsAny(s, `\"`) && unquoted.MatchString(s):
		return yaml.SingleQuotedStyle
	}
	return yaml.DoubleQuotedStyle
}

// shortList is the longest list, in characters, that is written on one line.
const shortList = 80

// isShort reports whether a list has only plain values without comments, and fits on a line.
func isShort(n *yaml.Node) bool {
	length := 0
	for _, e := range n.Content {
		if length += len(e.Value) + 4; e.Kind != yaml.ScalarNode || e.HeadComment+e.LineComment+e.FootComment != "" {
			return false
		}
	}
	return n.Kind == yaml.SequenceNode && length <= shortList
}

// writeYAML writes a document. It changes the styles of the nodes.
func writeYAML(doc *yaml.Node) ([]byte, error) {
	var style func(n *yaml.Node)
	style = func(n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && isShort(n) || n.Kind == yaml.MappingNode && len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, c := range n.Content {
			style(c)
		}
	}
	style(doc)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// writer writes JSON, with comments if they are wanted.
type writer struct {
	bytes.Buffer
	comments bool
}

func writeJSON(doc *yaml.Node, root *jsontree.Node, comments bool) []byte {
	w := &writer{comments: comments}
	n := doc.Content[0]
	w.above("", doc.HeadComment, n.HeadComment)
	w.value(n, root, "")
	w.WriteByte('\n')
	w.above("", n.LineComment, n.FootComment, doc.FootComment)
	return w.Bytes()
}

// above writes comments on lines of their own.
func (w *writer) above(indent string, comments ...string) {
	if !w.comments {
		return
	}
	for _, c := range comments {
		for _, line := range linesOf(c) {
			w.WriteString(strings.TrimRight(indent+"// "+line, " ") + "\n")
		}
	}
}

// value writes a value; n has its comments.
func (w *writer) value(n *yaml.Node, v *jsontree.Node, indent string) {
	switch {
	case v.Kind == jsontree.Object && len(v.Members) > 0:
		w.WriteString("{\n")
		for i, m := range v.Members {
			key, value := n.Content[2*i], n.Content[2*i+1]
			w.entry(entry{
				head: []string{key.HeadComment, key.LineComment, value.HeadComment}, foot: []string{value.FootComment, key.FootComment},
				key: string(asJSON(m.Key)) + ": ", node: value, value: m.Value, last: i == len(v.Members)-1,
			}, indent+"  ")
		}
		w.WriteString(indent + "}")
	case v.Kind == jsontree.Array && !isShort(n):
		w.WriteString("[\n")
		for i, e := range v.Elems {
			w.entry(entry{
				head: []string{n.Content[i].HeadComment}, foot: []string{n.Content[i].FootComment},
				node: n.Content[i], value: e, last: i == len(v.Elems)-1,
			}, indent+"  ")
		}
		w.WriteString(indent + "]")
	case v.Kind == jsontree.Array:
		w.WriteByte('[')
		for i, e := range v.Elems {
			if i > 0 {
				w.WriteString(", ")
			}
			w.value(n.Content[i], e, "")
		}
		w.WriteByte(']')
	default:
		w.Write(v.AppendJSON(nil))
	}
}

// entry is one of a list or an object.
type entry struct {
	head, foot []string // comments
	key        string   // with its colon; empty in a list
	node       *yaml.Node
	value      *jsontree.Node
	last       bool
}

func (w *writer) entry(e entry, indent string) {
	beside := e.node.LineComment
	if e.node.Kind != yaml.ScalarNode && !isShort(e.node) {
		e.head, beside = append(e.head, beside), ""
	}
	w.above(indent, e.head...)
	w.WriteString(indent + e.key)
	w.value(e.node, e.value, indent)
	if !e.last {
		w.WriteByte(',')
	}
	if w.comments && beside != "" {
		w.WriteString(" // " + strings.Join(linesOf(beside), " "))
	}
	w.WriteByte('\n')
	w.above(indent, e.foot...)
}

func asJSON(text string) []byte {
	return (&jsontree.Node{Kind: jsontree.String, Text: text}).AppendJSON(nil)
}
