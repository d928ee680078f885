package gapdetect

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// kindsOfLine writes a letter for each byte of a line: c(ode), s(tring) or
// (comm)e(nt).
func kindsOfLine(r *reader, text string) string {
	r.next(text, true)
	var b strings.Builder
	for _, k := range r.kinds {
		b.WriteByte(map[kind]byte{inCode: 'c', inStrings: 's', inComments: 'e'}[k])
	}
	return b.String()
}

func TestKinds(t *testing.T) {
	tests := []struct{ language, text, want string }{
		{"Go", `a("x//") // "y"`, `cccsssscceeeeee`},
		{"Go", "a(`//`)", "cccsssc"},
		{"Go", `a('"', '\'', "//")`, `cccsscccssscccsssc`},
		{"Go", `f(a /* b */, "c")`, `cccceeeeeeecccssc`},
		{"Go", "\t * a star at the start", "eeeeeeeeeeeeeeeeeeeeeee"},
		{"Go", "\t*p = 1", "ccccccc"},
		{"Go", "x := `SELECT -- a", "ccccccsssssssssss"},
		{"TypeScript", "`a${b}c` // d", "csccccssceeee"},
		{"TypeScript", `don't // it's`, `cccccceeeeeee`},
		{"TypeScript", `see http://x`, `cccccccccccc`},
		{"Rust", `fn f<'a>(x: &'a T) // 'b`, `ccccccccccccccccccceeeee`},
		{"Python", `a = '#' # b`, `cccccsscee` + `e`},
		{"Python", `"""a "b" c""" + d`, `cccsssssssssscccc`},
		{"Python", `"""a "b" // c`, `cccssssssssss`},
		{"Ruby", `a "#{b}" # c`, `cccsssssceee`},
		{"PHP", `#[Route("/a")] // b`, `cccccccccsssccceeee`},
		{"SQL", `a = '--' -- b`, `cccccsssceeee`},
		{"HTML", `<b> <!-- c --> d`, `cccceeeeeeeeeecc`},
		{"Go", ``, ``},
		{"Klingon", `// a`, ``},
	}
	for _, test := range tests {
		if got := kindsOfLine(&reader{syntax: syntaxes[test.language]}, test.text); got != test.want {
			t.Errorf("%s:\n%s\n%s, want\n%s", test.language, test.text, got, test.want)
		}
	}
}

// A comment continues on the next lines, even if nobody asks about them.
func TestKindsOfLaterLines(t *testing.T) {
	r := &reader{syntax: syntaxes["Java"]}
	r.next("int a; /* from here", false)
	r.next("bcrypt", false)
	if got, want := kindsOfLine(r, `x "y" */ z`), "eeeeeeeecc"; got != want {
		t.Errorf("the last line of the comment is %s, want %s", got, want)
	}
	if got, want := kindsOfLine(r, "z"), "c"; got != want {
		t.Errorf("the line after it is %s, want %s", got, want)
	}
}

// Every byte of every line has a kind, in every language.
func TestEveryByteHasAKind(t *testing.T) {
	var languages []string
	for l := range syntaxes {
		languages = append(languages, l)
	}
	slices.Sort(languages)
	sample.Check(t, func(t *rapid.T) {
		r := &reader{syntax: syntaxes[rapid.SampledFrom(languages).Draw(t, "language")]}
		for _, line := range rapid.SliceOf(rapid.StringOf(rapid.RuneFrom([]rune("a 'é\"`\\/*#-<!>$[{}\n")))).Draw(t, "lines") {
			r.next(line, true)
			if len(r.kinds) != len(line) || slices.Contains(r.kinds, 0) {
				t.Fatalf("the kinds of %q are %v", line, r.kinds)
			}
		}
	})
}

// A match outside the parts that a signal looks within does not count. In an unknown language,
// every match counts.
func TestSignalsLookWithin(t *testing.T) {
	signal := func(concern string, within ...string) config.Signal {
		return config.Signal{ID: concern, Enabled: true, Concern: concern, Pattern: "secret", Within: within, Domain: concern, Agent: "a"}
	}
	d, err := New(&config.Config{
		Agents: []config.Agent{{ID: "a", Enabled: true}},
		Signals: []config.Signal{
			signal("anywhere"), signal("code", config.WithinCode),
			signal("text", config.WithinStrings, config.WithinComments),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		language, line string
		want           []string
	}{
		{"Go", `secret()`, []string{"anywhere", "code"}},
		{"Go", `a("secret")`, []string{"anywhere", "text"}},
		{"Go", `a() // secret`, []string{"anywhere", "text"}},
		{"Go", `a("secret", secret)`, []string{"anywhere", "code", "text"}},
		{"Go", `within a comment of the lines around: secret`, []string{"anywhere", "text"}},
		{"Klingon", `# secret`, []string{"anywhere", "code", "text"}},
	}
	for _, test := range tests {
		f := added("src/a", test.language, test.line)
		if strings.HasPrefix(test.line, "within") {
			lines := f.Hunks[0].Lines
			f.Hunks[0].Lines = append(pipeline.List[pipeline.Line]{
				{Op: pipeline.LineContext, New: 9, Text: "/* a"}, {Op: pipeline.LineRemoved, Text: "b */"},
			}, lines...)
		}
		_, log, err := d.Detect(t.Context(), &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{f}}, &pipeline.Classification{}, pipeline.AgentManifest{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range log {
			got = append(got, g.Concern)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q shows %v, want %v", test.language, test.line, got, test.want)
		}
	}
}
