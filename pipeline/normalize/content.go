package normalize

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// ContentKind says what a file's bytes are.
type ContentKind int

const (
	// ContentUnknown is neither text nor of a known format.
	ContentUnknown ContentKind = iota
	// ContentBinary is a format on a short list, by both its name and its first bytes.
	ContentBinary
	// ContentText is text in any encoding that Decode reads.
	ContentText
)

// UnknownBytes says why a ContentUnknown file counts as unread. If that gates, it also says
// what to do.
func UnknownBytes(gating bool) string {
	const why = "it is neither text nor a known binary format that can't be run. Its bytes were searched for secrets, and no rule saw it"
	if gating {
		return why + unknownRemedy
	}
	return why
}

const unknownRemedy = "; if it is binary, give it the attribute binary in the base's " + AttributesFile + ", or have somebody comment /review accept unread"

// Content describes a file's bytes.
type Content struct {
	Kind ContentKind
	Text []byte // in UTF-8 and without NULs, if the kind is ContentText
	// SaysText is set if the name, a byte order mark, the first line or the mode says that the
	// file is text. Bytes that nobody can read must not pass then.
	SaysText bool
}

// LookAt finds out what the bytes of a file are. The author of a change chooses the name and
// the first bytes, so neither alone makes a file binary. A file is binary only if its name and
// bytes agree on a format of the list, it is not executable, and it is not mostly text.
func LookAt(file string, executable bool, content []byte) Content {
	text, isText := Decode(content)
	if isText {
		return Content{Kind: ContentText, Text: text, SaysText: true}
	}
	shebang := bytes.HasPrefix(withoutMark(content), []byte("#!"))
	if !executable && !shebang && knownFormat(file, content) {
		return Content{Kind: ContentBinary}
	}
	return Content{SaysText: executable || shebang || byteOrder(content) != nil || namedAsText(file)}
}

// namedAsText reports whether the name says that a file is text: it has a language, or begins
// with a dot, as settings do.
func namedAsText(file string) bool {
	return TextByName(file) && (language(file) != "" || strings.HasPrefix(path.Base(file), "."))
}

// knownFormat reports whether a file has a format without text for programs, by its extension
// and its first bytes.
func knownFormat(file string, content []byte) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(file), "."))
	return slices.ContainsFunc(magicOf[ext], func(m magic) bool { return len(content) >= m.at && bytes.HasPrefix(content[m.at:], []byte(m.is)) })
}

// magic is the bytes that every file of a format has at an offset.
type magic struct {
	at int
	is string
}

// magicOf lists, by extension, the first bytes of the known formats.
var magicOf = func() map[string][]magic {
	of := map[string][]magic{}
	for _, format := range []struct {
		extensions string
		at         int
		is         string
	}{
		{"png", 0, "\x89PNG\r\n\x1a\n"}, {"jpg jpeg", 0, "\xff\xd8\xff"}, {"gif", 0, "GIF87a"}, {"gif", 0, "GIF89a"},
		{"webp", 8, "WEBP"}, {"ico", 0, "\x00\x00\x01\x00"}, {"tif tiff", 0, "II*\x00"}, {"tif tiff", 0, "MM\x00*"},
		{"psd", 0, "8BPS"}, {"icns", 0, "icns"}, {"avif heic mp4 m4a m4v mov", 4, "ftyp"},
		{"ttf", 0, "\x00\x01\x00\x00"}, {"otf", 0, "OTTO"}, {"woff", 0, "wOFF"}, {"woff2", 0, "wOF2"},
		{"mp3", 0, "ID3"}, {"mp3", 0, "\xff\xfb"}, {"ogg ogv", 0, "OggS"}, {"flac", 0, "fLaC"}, {"wav", 8, "WAVE"}, {"avi", 8, "AVI "},
		{"mkv webm", 0, "\x1a\x45\xdf\xa3"},
		{"zip jar war ear whl nupkg apk aab ipa docx xlsx pptx odt ods odp epub", 0, "PK\x03\x04"},
		{"gz tgz crate", 0, "\x1f\x8b\x08"}, {"bz2", 0, "BZh"}, {"xz", 0, "\xfd7zXZ\x00"}, {"zst", 0, "\x28\xb5\x2f\xfd"},
		{"7z", 0, "7z\xbc\xaf\x27\x1c"}, {"rar", 0, "Rar!\x1a\x07"}, {"pdf", 0, "%PDF-"},
		{"class", 0, "\xca\xfe\xba\xbe"}, {"wasm", 0, "\x00asm"}, {"exe dll", 0, "MZ"}, {"so o", 0, "\x7fELF"},
		{"a lib", 0, "!<arch>\n"}, {"dylib", 0, "\xcf\xfa\xed\xfe"}, {"db sqlite sqlite3", 0, "SQLite format 3\x00"},
		{"parquet", 0, "PAR1"}, {"npy", 0, "\x93NUMPY"}, {"doc xls ppt msi", 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"},
	} {
		for ext := range strings.FieldsSeq(format.extensions) {
			of[ext] = append(of[ext], magic{format.at, format.is})
		}
	}
	return of
}()
