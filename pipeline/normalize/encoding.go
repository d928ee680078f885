package normalize

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linguist"
)

// encodedByBase begins the reason for a file that git re-encodes on checkout.
const encodedByBase = "the base's " + AttributesFile + " sets " + attrEncoding

// sameText matches the encodings that keep ASCII and have one byte for each letter. With
// working-tree-encoding, git converts the UTF-8 of a blob on checkout. With other encodings, what
// runs is not what the diff shows.
var sameText = regexp.MustCompile(`^(?i:utf-?8|(?:us-)?ascii|latin-?[1-9]|iso[-_]?8859[-_]\d\d?|(?:windows-?|cp)125\d|koi8-[ru])$`)

// wideName matches the names of UTF-16 and UTF-32.
var wideName = regexp.MustCompile(`^(?i:utf-?(16|32)(?:le|be)?(?:-bom)?)$`)

// encoding is an encoding that may show other text than the blob: UTF-16, UTF-32, or any other.
type encoding int

const (
	utf16Encoding encoding = iota + 1
	utf32Encoding
	otherEncoding
)

// encodingWord reads an attribute and reports whether it sets the encoding, directly or by a macro.
// The encoding is 0 if it keeps the text.
func encodingWord(word string, macros map[string]encoding) (e encoding, ok bool) {
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

// encodingMacros are the macros of a file that set the encoding, directly or by other macros.
func encodingMacros(lines []attributeLine) map[string]encoding {
	const nested = 5 // more than any real file has
	macros := map[string]encoding{}
	for range nested {
		for _, l := range lines {
			if !l.macro {
				continue
			}
			for _, word := range l.words {
				if e, sets := encodingWord(word, macros); sets && (e != 0 || !l.unsure) {
					macros[l.pattern] = e
				}
			}
		}
	}
	return macros
}

// encodingLine is a line of an attributes file that sets or unsets the encoding.
type encodingLine struct {
	encoding   encoding
	at         int  // the index of the line's pattern
	everywhere bool // the pattern can't be read, so it may match any file
	bytewise   bool // the pattern counts bytes where ours counts letters
}

// encodingOf is the encoding in which a file is checked out, or 0 if it keeps the text.
func (a attributes) encodingOf(path string) encoding {
	if len(a.encodings) == 0 {
		return 0
	}
	var matching []int
	if a.paths != nil {
		matching = a.paths.Match(path)
	}
	ascii := !strings.ContainsFunc(path, func(r rune) bool { return r >= utf8.RuneSelf })
	var e encoding
	for _, l := range a.encodings {
		switch {
		case l.everywhere, l.bytewise && !ascii && l.encoding != 0:
			if e != 0 && e != l.encoding {
				e = otherEncoding // it may be either
			} else {
				e = l.encoding
			}
		case l.bytewise && !ascii:
		case slices.Contains(matching, l.at):
			e = l.encoding
		}
	}
	return e
}

// encoded lists the changed files that become other text on checkout, so that the diff does not
// show what they are.
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

// hides reports whether a changed file may be checked out as text that its lines don't show. In
// UTF-16 and UTF-32 that needs a line that becomes a stretch of plain ASCII, which a program that
// skips the rest may read. In a program, a stretch for a reader that skips only NULs is enough.
func (e encoding) hides(f *pipeline.File) bool {
	if e == otherEncoding || len(f.Hunks) == 0 {
		return true
	}
	runs := linguist.IsProgramming(f.Language) || f.Language == "" && path.Ext(f.Path) == "" || Ambiguous(f)
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			if l.Op != pipeline.LineAdded {
				continue
			}
			for _, w := range wides {
				if w.size != e.size() {
					continue
				}
				if bytes := w.write(l.Text); plainStretch(bytes) || runs && w.foreignStretch(bytes) {
					return true
				}
			}
		}
	}
	return false
}

func (e encoding) size() int {
	if e == utf32Encoding {
		return 4
	}
	return 2
}
