package normalize

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/linguist"
)

// maxSniffed is how much of an added file is read to see whether a tool generated it. Generators
// say so in the first lines, and minified code shows early.
const maxSniffed = 64 << 10

// setFlags sets the language and the flags of a file. They come from its path, and also from its
// text if the diff shows the whole file.
func setFlags(f *pipeline.File) {
	f.Language = language(f.Path)
	if _, l := interpreted(f); len(l) > 0 && (f.Language == "" || linguist.IsProse(f.Language)) {
		f.Language = l[0]
	}
	f.GeneratedByPath = linguist.IsGenerated(f.Path, nil) || generatedName(f.Path) || f.Bundle
	f.Generated = f.GeneratedByPath || linguist.IsGenerated(f.Path, sniff(f))
	f.Vendored = linguist.IsVendor(f.Path) && !handWritten(f.Path)
	f.ByBase = false
	f.Test = isTest(f.Path)
	f.Documentation = !f.Test && isDocumentation(f.Path, f.Language)
}

// generatedEndings are the endings that code generators give to file names, for files that go-enry
// recognises only by their content.
var generatedEndings = []string{
	".pb.go", ".pb.gw.go", ".pb.cc", ".pb.h", "_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb.js", "_pb.d.ts", "_pb.rb",
	".gen.go", ".gen.ts", ".g.dart", ".freezed.dart",
}

func generatedName(file string) bool {
	return slices.ContainsFunc(generatedEndings, func(ending string) bool { return strings.HasSuffix(file, ending) })
}

// handWritten reports whether people write the file although GitHub's classifier counts it as
// vendored, to keep it out of language statistics: workflows, git's own files, and packages named
// cache or env. In a Python environment, the code of others is in site-packages.
func handWritten(file string) bool {
	slashed := "/" + file
	for _, part := range []string{"/vendor/", "/node_modules/", "/site-packages/"} {
		if strings.Contains(slashed, part) {
			return false
		}
	}
	switch path.Base(file) {
	case ".gitignore", ".gitattributes", ".gitmodules":
		return true
	}
	return slices.ContainsFunc([]string{"/.github/", "/Jenkinsfile", "/Vagrantfile", "/cache/", "/env/"}, func(part string) bool {
		return strings.Contains(slashed, part)
	})
}

// sniff returns the start of a file that the change adds, or nil: a part of a file says too little.
func sniff(f *pipeline.File) []byte {
	if f.Status != pipeline.FileAdded {
		return nil
	}
	var text []byte
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			if len(text)+len(l.Text) > maxSniffed {
				return text
			}
			text = append(append(text, l.Text...), '\n')
		}
	}
	return text
}

// interpreted returns the languages of the interpreter in the first line of a script, if the change
// shows that line. There are none if nobody knows the interpreter. They count only if the file's
// name says nothing or says prose. Otherwise the line may be a comment, as in YAML, or mere text,
// as in HTML: it must not switch off the rules of the file's own language.
func interpreted(f *pipeline.File) (named bool, languages []string) {
	first, shown := firstLine(f)
	if !shown {
		return false, nil
	}
	return interpreterLine(first)
}

// firstLine is the first line of the file after the change, if the change shows it.
func firstLine(f *pipeline.File) (text string, shown bool) {
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			if l := &f.Hunks[i].Lines[j]; l.Op != pipeline.LineRemoved {
				return l.Text, l.New == 1 // no other line can be the first
			}
		}
	}
	return "", false
}

// Ambiguous reports whether a file may be in another language than its Language. Its first line may
// name an interpreter of another language, or an unknown one, and whoever runs the file may ignore
// the line. Or its name fits both a build file and a program. Or neither its name nor the part that
// the change shows says what it is.
func Ambiguous(f *pipeline.File) bool {
	byName := language(f.Path)
	if named, languages := interpreted(f); named && !slices.ContainsFunc(languages, func(l string) bool { return kin(l) == kin(byName) }) {
		return true
	}
	return builtFor(f.Path) || byName == "" && withoutFirstLine(f)
}

// kin is the language that stands for all languages with the same interpreters.
func kin(language string) string {
	switch language {
	case "TypeScript", "TSX":
		return "JavaScript"
	case "Gradle":
		return "Groovy"
	case "Gradle Kotlin DSL":
		return "Kotlin"
	}
	return language
}

// withoutFirstLine reports whether the change shows lines of a file with an unknown extension, but
// not the first line, which might name an interpreter. CGI scripts are always programs.
func withoutFirstLine(f *pipeline.File) bool {
	switch ext := strings.ToLower(path.Ext(f.Path)); {
	case ext == ".cgi" || ext == ".fcgi":
		return true
	case ext == "" || f.Documentation || !TextByName(f.Path) || len(f.Hunks) == 0:
		return false
	}
	_, shown := firstLine(f)
	return !shown
}

// language returns the language by file name or extension. Linguist lists many extensions for
// several languages, in alphabetical order. language takes the common one, since looking into the
// file costs too much here. A template of a program is in the program's language.
func language(file string) string {
	if l := linguist.LanguageByFilename(file); l != "" {
		return l
	}
	if path.Base(file) == "pip.conf" {
		return "INI"
	}
	ext := strings.ToLower(path.Ext(file))
	switch ext {
	case ".phtml", ".pht", ".php7", ".php8":
		return "PHP" // embedded in HTML
	case ".psql", ".tsql":
		return "SQL"
	case ".cgi", ".fcgi":
		return "" // the first line decides
	}
	if slices.Contains(templates, ext) {
		if l := language(strings.TrimSuffix(file, path.Ext(file))); l == "YAML" || l == "SQL" || linguist.IsProgramming(l) {
			return l
		}
	}
	l := languageByExtension(file, ext)
	if built, _ := languageOfBuild(file); built != "" && (l == "" || plainWord.MatchString(ext)) {
		return built // Dockerfile.dev
	}
	return l
}

func languageByExtension(file, ext string) string {
	candidates := linguist.LanguagesByExtension(file)
	if len(candidates) == 0 {
		return ""
	}
	if l := commonLanguage(ext); slices.Contains(candidates, l) {
		return l
	}
	return candidates[0]
}

// builds matches names of build files, with the additions that people make.
var builds = regexp.MustCompile(`(?i)^(Dockerfile|Containerfile|Makefile)(?:([-_.]).*)?$`)

// plainWord matches additions to such a name that are numbers, or also extensions of rare
// languages.
var plainWord = regexp.MustCompile(`^\.(?:\d+|app|d|es|inc|me|ms|n|nginx|slim|st|ui)$`)

// languageOfBuild is the language of a build file, whatever its extension is. dotted reports
// whether a dot follows the name.
func languageOfBuild(file string) (language string, dotted bool) {
	base := path.Base(file)
	if !strings.ContainsAny(base[:1], "DdCcMm") {
		return "", false // nearly all files: this is faster than the expression
	}
	m := builds.FindStringSubmatch(base)
	switch {
	case m == nil:
		return "", false
	case strings.EqualFold(m[1], "Makefile"):
		return "Makefile", m[2] == "."
	}
	return "Dockerfile", m[2] == "."
}

// builtFor reports whether a file's name fits both a build file and a program: Dockerfile.java may
// be in either language.
func builtFor(file string) bool {
	built, dotted := languageOfBuild(file)
	if !dotted {
		return false
	}
	ext := strings.ToLower(path.Ext(file))
	l := languageByExtension(file, ext)
	return l != "" && l != built && !linguist.IsProse(l) && !slices.Contains(templates, ext)
}

// templates are extensions of templates, which follow the file's own extension.
var templates = []string{".j2", ".jinja", ".jinja2", ".erb", ".ejs", ".tmpl", ".tpl", ".gotmpl", ".template", ".in", ".mustache"}

// TextByName reports whether a file of this name may hold text that agents should read. Any file
// may, except in wholly binary formats: a file with an unknown name may hold a script, settings or
// a key.
func TextByName(file string) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(file), "."))
	return ext == "" || strings.HasPrefix(path.Base(file), ".") && strings.Count(path.Base(file), ".") == 1 || !slices.Contains(binaryFormats, ext)
}

// binaryFormats are the extensions of formats without text that a program or a person would read.
var binaryFormats = strings.Fields(`
	png jpg jpeg gif webp avif bmp ico icns tif tiff psd heic
	ttf otf woff woff2 eot
	mp3 mp4 m4a m4v mov avi mkv webm wav flac ogg ogv aac
	zip gz tgz bz2 xz zst 7z rar tar jar war ear whl gem crate nupkg apk aab ipa deb rpm msi dmg iso cab
	pdf doc docx xls xlsx ppt pptx odt ods odp epub
	bin exe dll so dylib a lib o obj class pyc pyo pyd wasm
	db sqlite sqlite3 mdb parquet avro orc arrow npy npz h5 hdf5 onnx safetensors tflite
	mo swf jks keystore p12 pfx der glb fbx blend sketch lockb
`)

// commonLanguage is the language that a shared extension usually means.
func commonLanguage(ext string) string {
	switch ext {
	case ".rs":
		return "Rust"
	case ".php", ".inc":
		return "PHP"
	case ".sql":
		return "SQL"
	case ".md":
		return "Markdown"
	case ".yml", ".yaml":
		return "YAML"
	case ".html":
		return "HTML"
	case ".m":
		return "Objective-C"
	case ".fs":
		return "F#"
	case ".v":
		return "Verilog"
	case ".cls":
		return "Apex"
	case ".sol":
		return "Solidity"
	case ".txt":
		return "Text"
	case ".cfg":
		return "INI"
	}
	return ""
}

// isTest extends linguist.IsTest, which knows nine forms of file names, by the directories and
// endings that test frameworks look for, and by the usual names of directories for tests.
func isTest(file string) bool {
	dir, base := path.Split(file)
	for s := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		switch s = strings.ToLower(s); s {
		case "test", "tests", "__tests__", "spec", "specs", "testdata", "e2e", "__mocks__", "__snapshots__", "loadtest", "loadtests", "k6", "gatling":
			return true
		}
		// Not every folder whose name ends in test: a product can have an ab-test or lab-tests.
		s = strings.ReplaceAll(s, "_", "-")
		if strings.HasSuffix(s, "-e2e") {
			return true
		}
		kind, rest, _ := strings.Cut(s, "-")
		switch kind {
		case "e2e": // end-to-end tests, but not end-to-end encryption
			if !strings.HasPrefix(rest, "enc") && !strings.HasPrefix(rest, "crypt") {
				return true
			}
		case "integration", "unit", "load", "smoke", "functional", "acceptance", "perf", "performance", "system":
			if rest == "test" || rest == "tests" {
				return true
			}
		}
	}
	stem, ext, _ := strings.Cut(base, ".")
	ext = "." + ext
	switch {
	case strings.Contains(ext, ".test.") || strings.Contains(ext, ".spec."):
		return true
	case strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") || stem == "conftest":
		return true
	case strings.HasPrefix(stem, "test_") && ext == ".py":
		return true
	}
	switch ext {
	case ".java", ".kt", ".scala", ".cs", ".swift", ".php", ".groovy":
		return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Spec")
	}
	return linguist.IsTest(file)
}

// isDocumentation extends linguist.IsDocumentation, which knows directories and well-known names,
// by the languages of prose.
func isDocumentation(file, lang string) bool {
	switch lang {
	case "Markdown", "MDX", "reStructuredText", "AsciiDoc":
		return true
	}
	return linguist.IsDocumentation(file)
}
