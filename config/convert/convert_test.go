package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
)

func convert(t *testing.T, f config.File, format string) Result {
	t.Helper()
	r, err := File(f, format)
	if err != nil {
		t.Fatalf("%s to %s: %v", f.Path, format, err)
	}
	return r
}

const commentedYAML = `# Ours.
# Ask the platform team.

- id: test-focused-01 # noisy
  enabled: false
# The API ends in March.
- id: shop-no-legacy-api
  severity: major # until then
  description: "legacy.shop.internal is switched off in March: call api.shop.internal/v2."
  match:
    # with the path
    pattern: '\blegacy\.shop\.internal\b'
    on: added
    paths: ["src/**", "*.go"] # code
    languages:
      - Go # ours
      # and the old one
      - Perl

# The end.
`

const commentedJSONC = `// Ours.
// Ask the platform team.
[
  {
    "id": "test-focused-01", // noisy
    "enabled": false
  },
  // The API ends in March.
  {
    "id": "shop-no-legacy-api",
    "severity": "major", // until then
    "description": "legacy.shop.internal is switched off in March: call api.shop.internal/v2.",
    "match": {
      // with the path
      "pattern": "\\blegacy\\.shop\\.internal\\b",
      "on": "added",
      "paths": ["src/**", "*.go"], // code
      "languages": [
        "Go", // ours
        // and the old one
        "Perl"
      ]
    }
  }
]
// The end.
`

// Comments stay where they are, in both directions.
func TestCommentsStay(t *testing.T) {
	got := convert(t, config.File{Path: "d/review-rules.yaml", Text: []byte(commentedYAML)}, JSONC)
	if diff := cmp.Diff(commentedJSONC, string(got.File.Text)); diff != "" || got.File.Path != "d/review-rules.jsonc" || len(got.Lost) > 0 {
		t.Errorf("%s, lost %q (-want +got):\n%s", got.File.Path, got.Lost, diff)
	}
	back := convert(t, got.File, YAML)
	if diff := cmp.Diff(commentedYAML, string(back.File.Text)); diff != "" || back.File.Path != "d/review-rules.yaml" || len(back.Lost) > 0 {
		t.Errorf("%s, lost %q (-want +got):\n%s", back.File.Path, back.Lost, diff)
	}
}

// JSON has no comments, so each is named as lost.
func TestCommentsThatJSONLoses(t *testing.T) {
	for _, f := range []config.File{{Path: "review-rules.yml", Text: []byte(commentedYAML)}, {Path: "review-rules.jsonc", Text: []byte(commentedJSONC)}} {
		got := convert(t, f, JSON)
		want := []string{"Ours.", "Ask the platform team.", "noisy", "The API ends in March.", "until then", "with the path", "code", "ours", "and the old one", "The end."}
		slices.Sort(want)
		slices.Sort(got.Lost)
		if diff := cmp.Diff(want, got.Lost); diff != "" || strings.Contains(string(got.File.Text), "//") || got.File.Path != "review-rules.json" {
			t.Errorf("%s: lost (-want +got):\n%s", f.Path, diff)
		}
	}
}

// Comments in odd places are kept, or named as lost. The values never change.
func TestOddComments(t *testing.T) {
	for _, text := range []string{
		"{ /* a */ \"mode\" /* b */ : /* c */ \"off\" /* d */, /* e */ } /* f */",
		"{\n  // a\n}", "{} // a", "// a\n{}", "/*\n * a\n * b\n */\n{\"check\": { // c\n  \"name\": \"n\" /* d\n e */\n  // f\n  }, // g\n}",
		"{\"gate\": {\"conditions\": [ // a\n {\"when\": \"critical > 0\", \"decision\": \"fail\"}, // b\n // c\n ] // d\n } // e\n}",
		"{\"final\": [\n // a\n]}", "// \x1b[31m a \u2028 b \x07\n{}", "/**/{}", "// # a\n{}", "{\"mode\": \"off\" // http://x // y\n}",
	} {
		f := config.File{Path: "review-settings.jsonc", Text: []byte(text)}
		doc, err := read(f)
		if err != nil {
			t.Fatal(err)
		}
		r := convert(t, f, YAML)
		kept := string(r.File.Text)
		for _, c := range comments(doc) {
			if !strings.Contains(kept, c) && !slices.Contains(r.Lost, c) {
				t.Errorf("%s: the comment %q is neither kept nor lost:\n%s", text, c, kept)
			}
		}
		if len(r.Lost) > 0 {
			t.Errorf("%s: lost %q:\n%s", text, r.Lost, kept)
		}
	}
}

// A text that a reader of YAML could take for something else is in quotes.
func TestStringsInYAML(t *testing.T) {
	text := `{"a": ["no", "on", "1_000", "2026-01-01", "0o7", "~", "null", "", " x", "x ", "- a", "a: b", "a #b", "#", "&a", "*a", "!a", "@a", "%a", "\u2028", "\t", "a\nb\n", "\\d", "'", "\"", "é", "<<", "1", "1e3", "-", "?", "|", ">", "=", "\u0000", "{", "[a]"], "on": true, "<<": 1, "1": 2, "no": null, "": 1.50, "x y": 1e2}`
	f := config.File{Path: "review-settings.json", Text: []byte(text)}
	r := convert(t, f, YAML)
	for _, line := range []string{`  - "no"`, `  - "2026-01-01"`, `"on": true`, `'\d'`} {
		line = strings.Replace(line, `"on": true`, `on: true`, 1)
		if !strings.Contains(string(r.File.Text), line) {
			t.Errorf("there is no line %s in:\n%s", line, r.File.Text)
		}
	}
}

// All shipped files and all examples stay equal through all formats and back.
func TestRoundTrip(t *testing.T) {
	var files []config.File
	for _, f := range config.DefaultLayer().Files {
		if config.FileOf(f.Path) != "" {
			files = append(files, f)
		}
	}
	examples, err := filepath.Glob("../../docs/examples/*/*/*.json")
	if err != nil || len(examples) < 8 {
		t.Fatalf("%d files, %v", len(examples), err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, config.File{Path: name, Text: text})
	}
	for _, f := range files {
		r := convert(t, f, YAML)
		r = convert(t, r.File, JSONC)
		r = convert(t, r.File, YAML)
		if r = convert(t, r.File, JSON); len(r.Lost) > 0 {
			t.Errorf("%s lost %q", f.Path, r.Lost)
		}
		was, err := parse(f)
		if err != nil {
			t.Fatal(err)
		}
		is, err := parse(r.File)
		if err != nil || string(was.AppendJSON(nil)) != string(is.AppendJSON(nil)) {
			t.Errorf("%s changed, %v", f.Path, err)
		}
	}
}

// What can't be read is not converted.
func TestUnreadable(t *testing.T) {
	_, err := File(config.File{Path: "review-rules.yaml", Text: []byte("a: &x 1\nb: *x\n")}, JSON)
	if err == nil || !strings.Contains(err.Error(), "review-rules.yaml:1:4: anchors are not allowed") || !strings.Contains(err.Error(), "review-rules.yaml:2:4: aliases") {
		t.Errorf("error %v", err)
	}
}

// A file with the line ends of Windows keeps them in all formats, and its values and comments.
func TestLineEndsOfWindows(t *testing.T) {
	f := config.File{Path: "review-rules.yaml", Text: []byte(strings.ReplaceAll(commentedYAML, "\n", "\r\n"))}
	for _, format := range []string{JSONC, YAML, JSON, JSONC} {
		r := convert(t, f, format)
		if text := string(r.File.Text); strings.Count(text, "\n") != strings.Count(text, "\r\n") || strings.Count(text, "\r") != strings.Count(text, "\r\n") || len(r.Lost) > 0 != (format == JSON) {
			t.Errorf("%s: %q, lost %q", format, text, r.Lost)
		}
		f = r.File
	}
}
