package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// shape says which characters and pairs of characters a line holds, of those that
// decide its other forms and its statement. Most lines hold none of them, so one
// pass over the bytes saves several.
type shape uint32

const (
	shapeOther     shape = 1 << iota // a byte beyond ASCII
	shapeEnd                         // a character that ends a line in some language
	shapeOpen                        // an opening parenthesis
	shapeBracket                     // an opening bracket
	shapeTag                         // <
	shapeHash                        // #
	shapeSemicolon                   // ;
	shapeBlank                       // a space, or a character that can't end a value, before a dot or an opening parenthesis
	shapeDot                         // a dot before a space, and ! before a character that may follow a value
	shapeName                        // a bracket before a quote or a space
	shapeMaybe                       // ?. and & before a letter
	shapeEscape                      // \ before a character that it may escape
	shapeTick                        // &# and a dot before a backtick
	shapeGetattr                     // r(
	shapeComment                     // the start of //, /*, --, <!
	shapeNested                      // ((, ). and )[
	shapeSimple                      // /*, !., ![ and a dot after a quote
	shapeQuote                       // a quote before a character that may separate pieces of a string
	shapeFree                        // < or a backtick where a value may begin, and words before a type
	shapeWord                        // an s before a space, as in words before a type
	shapeKey                         // a quote before a colon
	shapeText                        // a quote
)

// unusualShape holds the shapes of lines for which unusual may be true.
const unusualShape = shapeOther | shapeEnd | shapeBlank | shapeDot | shapeName | shapeMaybe | shapeEscape | shapeTick | shapeGetattr | shapeNested | shapeSimple | shapeQuote | shapeFree

// commentShape holds the shapes of lines that may contain a comment mark.
// anyCommentShape adds the semicolon, which starts a comment in some languages.
const (
	commentShape    = shapeHash | shapeComment
	anyCommentShape = commentShape | shapeSemicolon
)

// A byte's traits hold three sets of shapes: those of the byte alone, of the byte as
// the first of a pair, and of the byte as the second. The sets of pairs have no room
// for the last shape, which needs only one character.
const (
	firstTrait  = 22
	secondTrait = 43
)

var traits = func() (t [256]uint64) {
	single := func(s shape, bytes string) {
		for i := range len(bytes) {
			t[bytes[i]] |= uint64(s)
		}
	}
	pair := func(s shape, first, second string) {
		for i := range len(first) {
			t[first[i]] |= uint64(s) << firstTrait
		}
		for i := range len(second) {
			t[second[i]] |= uint64(s) << secondTrait
		}
	}
	for b := utf8.RuneSelf; b < len(t); b++ {
		t[b] |= uint64(shapeOther)
	}
	single(shapeEnd, "\r\v\f\x1c\x1d\x1e")
	single(shapeOpen, "(")
	single(shapeBracket, "[")
	single(shapeTag, "<")
	single(shapeHash, "#")
	single(shapeSemicolon, ";")
	single(shapeText, "\"'`")
	pair(shapeBlank, "\n \t!#%&(*+,-/:;<=>?@[\\^{|}~", ".(")
	pair(shapeDot, ".!", " \t.[(),}];+%?!")
	pair(shapeName, "[", "\"'` \t")
	pair(shapeMaybe, "?&", "."+letters)
	pair(shapeEscape, `\`, "01234567/.:-_ <>=;,@#"+letters)
	pair(shapeTick, "&.", "#`")
	pair(shapeGetattr, "r", "(")
	pair(shapeComment, "/<-", "/*-!")
	pair(shapeNested, "()", "(.[")
	pair(shapeSimple, "/!\"'`", "*.[")
	pair(shapeQuote, "\"'", " \t+fFrRuUbB\"'")
	pair(shapeFree, "\n \t!#%&(*+,-/:;<=>?@[\\^{|}~", "<`")
	pair(shapeWord, "s", " \t")
	pair(shapeKey, "\"'", ":")
	return t
}()

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// shapeOf returns the shape of a text.
func shapeOf(text string) shape {
	var all uint64
	before := traits['\n'] // a value may begin at the start of the text
	for i := range len(text) {
		t := traits[text[i]]
		all |= t&(1<<firstTrait-1) | before>>firstTrait&(t>>secondTrait)
		before = t
	}
	if shape(all)&shapeWord != 0 && (strings.Contains(text, "as ") || strings.Contains(text, "fies ") || strings.Contains(text, "s\t")) {
		all |= uint64(shapeFree)
	}
	return shape(all)
}

// setShapes sets the shapes of the lines on a hunk's new side. A line beyond the
// bounds gets all shapes.
func (m *scratch) setShapes(h *pipeline.Hunk) {
	m.shapes = m.shapes[:0]
	for i := range h.Lines {
		var s shape
		switch l := &h.Lines[i]; {
		case l.Op == pipeline.LineRemoved:
		case len(l.Text) > maxLine:
			s = ^shape(0)
		default:
			s = shapeOf(bounded(l.Text, maxLine))
		}
		m.shapes = append(m.shapes, s)
	}
}
