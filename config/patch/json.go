package patch

import (
	"bytes"
	"strings"

	"github.com/reviewgate/reviewgate/config/convert"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// intoJSON returns the text with a value at the end of a list, or of an object with a key.
func intoJSON(text []byte, in *jsontree.Node, key string, value []byte) ([][]byte, error) {
	steps := []string{key}
	if key == "" {
		steps = nil
	}
	added, err := written(nested(steps, value), convert.JSON)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(added, "\n")
	if key != "" { // the field without the braces around it
		lines = lines[1 : len(lines)-1]
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "  ")
		}
	}
	unit := indentUnit(text)
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		lines[i] = strings.Repeat(unit, (len(line)-len(rest))/2) + rest
	}
	return [][]byte{between(text, in, lines, jsonGap)}, nil
}

// between puts lines at the end of a list or an object in brackets. gap returns the length of the
// comment or text in quotes at the start of what it is given, and whether that is a comment.
func between(text []byte, in *jsontree.Node, lines []string, gap func(before byte, rest []byte) (length int, comment bool)) []byte {
	start := offsetOf(text, in.Place())
	last, end := start, start
	for i, depth := start+1, 0; i < len(text); i++ {
		c := text[i]
		if n, comment := gap(text[i-1], text[i:]); n > 0 {
			if i += n - 1; !comment {
				last = i
			}
			continue
		}
		if strings.IndexByte(" \t\r\n", c) >= 0 {
			continue
		}
		if c == '{' || c == '[' {
			depth++
		} else if c == '}' || c == ']' {
			if depth--; depth < 0 {
				end = i
				break
			}
		}
		last = i
	}
	tail := len(bytes.TrimRight(text[:end], " \t\r\n"))
	eol, outer := lineEnd(text), indentOf(text, start)
	inner := outer + indentUnit(text)
	if first := firstIn(in); first != nil {
		at := offsetOf(text, *first)
		if own := indentOf(text, at); len(bytes.TrimSpace(text[lineStart(text, at):at])) == 0 {
			inner = own
		}
	}
	added := eol + inner + strings.Join(lines, eol+inner)
	comma := ""
	switch {
	case text[last] == ',' && last > start:
		added += ","
	case last > start:
		comma = ","
	}
	if !bytes.Contains(text[tail:end], []byte("\n")) {
		added += eol + outer
	}
	return slicesOf(text[:last+1], comma, text[last+1:tail], added, text[tail:])
}

// firstIn is the place of the first entry of a list, or of the first key of an object.
func firstIn(n *jsontree.Node) *jsontree.Place {
	var p jsontree.Place
	switch {
	case len(n.Elems) > 0:
		p = n.Elems[0].Place()
	case len(n.Members) > 0:
		p = n.Members[0].KeyPlace()
	default:
		return nil
	}
	return &p
}

// jsonGap reads a string or comment of JSONC.
func jsonGap(_ byte, rest []byte) (length int, comment bool) {
	switch {
	case rest[0] == '"':
		return quoted(rest, '"'), false
	case bytes.HasPrefix(rest, []byte("//")):
		return upTo(rest, "\n"), true
	case bytes.HasPrefix(rest, []byte("/*")):
		return 2 + upTo(rest[2:], "*/"), true
	}
	return 0, false
}

// quoted is the length of the string at the start of a text, in which a backslash escapes the quote.
func quoted(text []byte, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text)
}

// upTo is the length of a text up to the end of a mark, or of the whole text.
func upTo(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}

func offsetOf(text []byte, p jsontree.Place) int {
	at := 0
	for range p.Line - 1 {
		at += upTo(text[at:], "\n")
	}
	return at + p.Column - 1
}

func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// indentOf returns the white space at the start of the line of an offset.
func indentOf(text []byte, offset int) string {
	line := text[lineStart(text, offset):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentUnit returns the indentation of the first indented line of a text.
func indentUnit(text []byte) string {
	for at := 0; at < len(text); at += upTo(text[at:], "\n") {
		line := bytes.TrimLeft(text[at:], " \t")
		if unit := indentOf(text, at); unit != "" && len(line) > 0 && strings.IndexByte("\r\n*", line[0]) < 0 {
			return unit
		}
	}
	return "  "
}

func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func slicesOf(head []byte, comma string, middle []byte, added string, tail []byte) []byte {
	return bytes.Join([][]byte{head, []byte(comma), middle, []byte(added), tail}, nil)
}
