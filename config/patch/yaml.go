package patch

import (
	"bytes"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config/convert"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// maxTries bounds the lines below which a new entry is tried.
const maxTries = 50

// intoYAML returns texts with a value at the end of a list, or of an object with a key. The best comes
// first. Where the last entry has lines that are indented less than it, only a later text is right.
func intoYAML(text []byte, in *jsontree.Node, key string, value []byte) ([][]byte, error) {
	start := offsetOf(text, in.Place())
	if text[start] != '[' && text[start] != '{' {
		column := in.Place().Column - 1
		lines, err := blockOf(key, value)
		if err != nil {
			return nil, err
		}
		return below(text, in, lines, column), nil
	}
	line, err := onOneLine(nested(slices.DeleteFunc([]string{key}, func(k string) bool { return k == "" }), value))
	if err != nil {
		return nil, err
	}
	if key != "" {
		line = line[1 : len(line)-1]
	}
	texts := [][]byte{inFlow(text, in, line)}
	if firstIn(in) == nil && !isInFlow(text, in) {
		lines, err := blockOf(key, value)
		if err != nil {
			return nil, err
		}
		texts = slices.Insert(texts, 0, inPlace(text, in, lines))
	}
	return texts, nil
}

// blockOf returns the lines of a new entry, or of a new field.
func blockOf(key string, value []byte) ([]string, error) {
	step := key
	if key == "" {
		step = "-"
	}
	added, err := written(nested([]string{step}, value), convert.YAML)
	return strings.Split(added, "\n"), err
}

// below returns texts with lines below the last entry of a block, indented like it.
func below(text []byte, in *jsontree.Node, lines []string, column int) (texts [][]byte) {
	inObject := in.Kind == jsontree.Object
	var last jsontree.Place
	if inObject {
		last = in.Members[len(in.Members)-1].KeyPlace()
	} else {
		last = in.Elems[len(in.Elems)-1].Place()
	}
	eol, indent := lineEnd(text), strings.Repeat(" ", column)
	added := eol + indent + strings.Join(lines, eol+indent)
	ends, best, open := []int{}, 0, true
	for at := lineStart(text, offsetOf(text, last)); at < len(text); {
		next := at + upTo(text[at:], "\n")
		line := bytes.TrimRight(text[at:next], "\r\n")
		ends = append(ends, at+len(line))
		own := len(line) - len(bytes.TrimLeft(line, " "))
		isEmpty := len(bytes.TrimSpace(line)) == 0
		isEntry := inObject && own == column && bytes.HasPrefix(append(bytes.Clone(line[own:]), ' '), []byte("- "))
		if len(ends) > 1 && !isEmpty && own <= column && !isEntry {
			open = false
		}
		if open && !isEmpty {
			best = len(ends) - 1
		}
		if len(ends) > best+maxTries {
			break
		}
		at = next
	}
	for _, end := range ends[best:] {
		texts = append(texts, slicesOf(text[:end], "", nil, added, text[end:]))
	}
	return texts
}

// inFlow puts a value on one line at the end of a list or an object in brackets.
func inFlow(text []byte, in *jsontree.Node, line string) []byte {
	out := between(text, in, []string{line}, yamlGap)
	if start := offsetOf(text, in.Place()); !bytes.Contains(text[start:start+flowLength(text[start:])], []byte("\n")) {
		// The whole list is on one line, so the new value is, too.
		at := start + flowLength(text[start:]) - 1
		before := bytes.TrimRight(text[:at], " \t,")
		separator := ", "
		if last := before[len(before)-1]; last == '[' || last == '{' {
			separator = ""
		}
		out = slicesOf(text[:len(before)], separator, nil, line, text[at:])
	}
	return out
}

// flowLength is the length of the list or object in brackets at the start of a text.
func flowLength(text []byte) int {
	for i, depth := 0, 0; i < len(text); i++ {
		before := byte('\n')
		if i > 0 {
			before = text[i-1]
		}
		if n, _ := yamlGap(before, text[i:]); n > 0 {
			i += n - 1
			continue
		}
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// yamlGap reads a text in quotes or a comment of YAML within brackets.
func yamlGap(before byte, rest []byte) (length int, comment bool) {
	blank := strings.IndexByte(" \t\r\n", before) >= 0
	starts := blank || strings.IndexByte("[{,:", before) >= 0
	switch {
	case rest[0] == '#' && blank:
		return upTo(rest, "\n"), true
	case rest[0] == '"' && starts:
		return quoted(rest, '"'), false
	case rest[0] == '\'' && starts:
		n := 1 + upTo(rest[1:], "'")
		for n < len(rest) && rest[n] == '\'' { // a doubled quote stands for one in the text
			n += 1 + upTo(rest[n+1:], "'")
		}
		return n, false
	}
	return 0, false
}

// isInFlow reports whether a value is inside brackets.
func isInFlow(text []byte, n *jsontree.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if c := text[offsetOf(text, p.Place())]; c == '[' || c == '{' {
			return true
		}
	}
	return false
}

// inPlace puts lines in the place of an empty list or object, below the line of its key. What follows
// on the line stays there.
func inPlace(text []byte, in *jsontree.Node, lines []string) []byte {
	start := offsetOf(text, in.Place())
	rest := start + flowLength(text[start:])
	eol := lineEnd(text)
	if in.Parent() == nil {
		return slicesOf(text[:start], "", nil, strings.Join(lines, eol), text[rest:])
	}
	end := rest + len(bytes.TrimRight(text[rest:rest+upTo(text[rest:], "\n")], "\r\n"))
	indent := indentOf(text, start) + "  "
	added := eol + indent + strings.Join(lines, eol+indent)
	return slicesOf(bytes.TrimRight(text[:start], " "), "", bytes.TrimRight(text[rest:end], " "), added, text[end:])
}
