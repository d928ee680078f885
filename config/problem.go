package config

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxProblems bounds the problems that are reported of a layer. Nobody would read more, and
// they would not fit into a check run.
const maxProblems = 100

// FormatProblem writes a problem on one line, as compilers do:
//
//	file:line:column: /json/pointer: what is wrong; what to write
//
// Invisible characters, and those that change how the line is displayed, are escaped.
func FormatProblem(p pipeline.ConfigProblem) string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.File != "" {
		b.WriteString(": ")
	}
	if p.Pointer != "" {
		b.WriteString(p.Pointer + ": ")
	}
	b.WriteString(p.Problem)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return escapeHidden(b.String())
}

// escapeHidden escapes control and format characters (bidirectional overrides, zero-width
// characters) and other invisible characters, as Go and JSON do.
func escapeHidden(s string) string {
	const brailleBlank = 0x2800
	var b strings.Builder
	for _, r := range s {
		if r == brailleBlank || !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			quoted := strconv.QuoteToASCII(string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// problems collects what is wrong with one layer.
type problems struct {
	layer  string
	source string // of the layer
	list   []pipeline.ConfigProblem
}

// at reports a problem at a place.
func (p *problems) at(place jsontree.Place, problem, remedy string) {
	p.list = append(p.list, pipeline.ConfigProblem{
		Layer:   p.layer,
		File:    place.Document.Name,
		Line:    place.Line,
		Column:  place.Column,
		Pointer: shortened(place.Pointer),
		Problem: problem,
		Remedy:  remedy,
	})
}

// shortened cuts a pointer and escapes its control characters, so that a very long key does not
// fill the line.
func shortened(pointer string) string { return plaintext.Cut(plaintext.Printable(pointer), 200) }

// of reports a problem of a value.
func (p *problems) of(n *jsontree.Node, problem, remedy string) {
	p.at(n.Place(), problem, remedy)
}

// owns reports whether the layer wrote a value.
func (p *problems) owns(n *jsontree.Node) bool { return n.Document().Owner == p }

// ordered returns the problems by file, place and wording, without duplicates and at most
// maxProblems of them.
func (p *problems) ordered() []pipeline.ConfigProblem {
	slices.SortFunc(p.list, func(a, b pipeline.ConfigProblem) int {
		return cmp.Or(
			cmp.Compare(fileRank(a.File), fileRank(b.File)),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Pointer, b.Pointer),
			cmp.Compare(a.Problem, b.Problem),
		)
	})
	list := slices.Compact(p.list)
	if len(list) <= maxProblems {
		return list
	}
	more := len(list) - (maxProblems - 1)
	return append(list[:maxProblems-1:maxProblems-1], pipeline.ConfigProblem{
		Layer:   p.layer,
		Problem: fmt.Sprintf("%d more problems are not shown", more),
		Remedy:  "fix those above first",
	})
}

// didYouMean returns a remedy: the name that was probably meant by the word, or the other
// remedy if no name is near. It does not search once there are more problems than are shown.
func (p *problems) didYouMean(word string, names iter.Seq[string], other string) string {
	if len(p.list) > maxProblems {
		return other
	}
	if near := nearest(word, slices.Sorted(names)); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return other
}

// shown quotes a value from a config file. It cuts a long value, so that the message stays
// readable.
func shown(s string) string {
	const limit = 60
	if runes := []rune(s); len(runes) > limit {
		s = string(runes[:limit]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// article puts "a" or "an" before a noun.
func article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) || strings.HasPrefix(noun, "llm") { // an L
		return "an " + noun
	}
	return "a " + noun
}

// choices lists the values that may be written: "a, b or c".
func choices(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// whole reports a problem of a file as a whole.
func (p *problems) whole(file, problem, remedy string) {
	p.list = append(p.list, pipeline.ConfigProblem{Layer: p.layer, File: file, Problem: problem, Remedy: remedy})
}
