package normalize

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/reviewgate/reviewgate/pipeline"
)

// encodedByBase begins the reason why a file is unread whose text git writes anew.
const encodedByBase = "the base's " + AttributesFile + " sets " + attrEncoding

// By working-tree-encoding git turns the UTF-8 of a blob into other bytes when it checks a
// file out. What runs is then not what the diff shows, unless the encoding keeps ASCII and
// has one byte for each letter.
var sameText = regexp.MustCompile(`^(?i:utf-?8|(?:us-)?ascii|latin-?[1-9]|iso[-_]?8859[-_]\d\d?|(?:windows-?|cp)125\d|koi8-[ru])$`)

// wideName matches the names of UTF-16 and UTF-32.
var wideName = regexp.MustCompile(`^(?i:utf-?(16|32)(?:le|be)?(?:-bom)?)$`)

// encoding is one that may show other text than the blob: UTF-16, UTF-32, or any other.
type encoding int

const (
	otherEncoding encoding = iota + 1
	utf16Encoding
	utf32Encoding
)

// encodingWord reads an attribute, and says whether it sets the encoding, also by a macro.
// An encoding that keeps the text is 0.
func encodingWord(word string, macros map[string]encoding) (e encoding, said bool) {
	name, value, _ := strings.Cut(word, "=")
	switch e, macro := macros[word]; {
	case macro:
		return e, true
	case strings.TrimLeft(name, "-!") != attrEncoding:
		return 0, false
	case value == "" || sameText.MatchString(value):
		return 0, true
	}
	switch m := wideName.FindStringSubmatch(value); {
	case m == nil:
		return otherEncoding, true
	case m[1] == "16":
		return utf16Encoding, true
	}
	return utf32Encoding, true
}

// encodingMacros are the macros of a file that set the encoding, also by one another.
func encodingMacros(text []byte) map[string]encoding {
	if !bytes.Contains(text, []byte(attrEncoding)) || !bytes.Contains(text, []byte("[attr]")) {
		return nil
	}
	const nested = 5 // more than anybody has
	macros := map[string]encoding{}
	for range nested {
		for line := range bytes.Lines(text) {
			rest, macro := strings.CutPrefix(strings.Trim(string(line), " \t\r\n"), "[attr]")
			words := attributeWords(rest)
			if !macro || len(words) == 0 {
				continue
			}
			for _, word := range words[1:] {
				if e, said := encodingWord(word, macros); said {
					macros[words[0]] = e
				}
			}
		}
	}
	return macros
}

// encodingOf is the encoding that a file is checked out in, or 0 if that keeps its text.
func (a attributes) encodingOf(path string) encoding {
	if a.paths == nil {
		return 0
	}
	var e encoding
	for _, i := range a.paths.Match(path) {
		if _, said := a.lines[i][attrEncoding]; said {
			e = a.encodings[i]
		}
	}
	return e
}

// encoded lists the files with changed content that become other text when they are
// checked out: nobody can read in the diff what they are.
func (a attributes) encoded(files []pipeline.File) []pipeline.Incompleteness {
	var list []pipeline.Incompleteness
	for i := range files {
		f := &files[i]
		e := a.encodingOf(f.Path)
		if e == 0 || !changesContent(f.Status) || !e.hides(f) {
			continue
		}
		if f.Status == pipeline.FileRenamed && len(f.Hunks) == 0 && a.encodingOf(f.PreviousPath) == e {
			continue
		}
		list = append(list, pipeline.Incompleteness{
			What: "patch", Path: f.Path, Gating: true,
			Why: encodedByBase + " for it, so what is checked out differs from what the diff shows; take the attribute out in a pull request of its own, or have somebody comment /review accept unread",
		})
	}
	return list
}

// hides reports whether a changed file may be checked out as text that its lines don't
// show: in UTF-16 and UTF-32 only if one of them becomes a stretch of plain ASCII, which
// a program that skips the rest may read.
func (e encoding) hides(f *pipeline.File) bool {
	if e == otherEncoding || len(f.Hunks) == 0 {
		return true
	}
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			if l.Op == pipeline.LineAdded && (plainStretch(e.write(binary.LittleEndian, l.Text)) || plainStretch(e.write(binary.BigEndian, l.Text))) {
				return true
			}
		}
	}
	return false
}

// write encodes a text in UTF-16 or UTF-32.
func (e encoding) write(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, c := range text {
		if e == utf32Encoding {
			out = order.AppendUint32(out, uint32(c))
			continue
		}
		for _, u := range utf16.AppendRune(nil, c) {
			out = order.AppendUint16(out, u)
		}
	}
	return out
}
