package glob

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"pgregory.net/rapid"
)

func TestValidateRefuses(t *testing.T) {
	tests := map[string]string{ // the pattern, and a part of the remedy
		"":                                     "write **",
		"[z-a]":                                "write a-z",
		"[]":                                   "[abc]",
		"[a":                                   "close it",
		"[a/b]":                                "{alternatives}",
		"!x":                                   "own field",
		"./x":                                  "repository's root",
		"a/./x":                                "repository's root",
		"../x":                                 "repository's root",
		"{..,a}/x":                             "repository's root",
		"/abs":                                 "leave it out",
		"{/abs,rel}":                           "leave it out",
		"dir/":                                 "write dir/**",
		"a//b":                                 "leave one",
		"a\x00b":                               "use ?",
		"a\nb":                                 "use ?",
		"a\xff":                                "use ?",
		"a\uFFFD":                              "use ?",
		strings.Repeat("a", 257):               "split it",
		"{a,{b,c}}":                            "write each combination",
		"{a,[bc]}":                             "write each combination",
		"{a,b":                                 "close it",
		"a}":                                   `\}`,
		"{a,b}{a,b}{a,b}{a,b}{a,b}":            "split it",
		"{1,2,3,4,5,6,7,8}{1,2,3,4,5,6,7,8,9}": "split it",
		`src\main.go`:                          `use "/"`,
		`a\`:                                   `write \\`,
		"src/**.ts":                            "write **/*.ext",
		"a***":                                 "write **/*.ext",
		"*{*,x}/y":                             "pattern of its own",
		"**{/x,}":                              "pattern of its own",
		"{*}{*}":                               "pattern of its own",
		"{,}":                                  "write **",
	}
	for pattern, remedy := range tests {
		err := Validate(pattern)
		if err == nil {
			t.Errorf("Validate(%q) = nil, want an error", pattern)
		} else if !strings.Contains(err.Error(), remedy) {
			t.Errorf("Validate(%q) = %q, want it to say %q", pattern, err, remedy)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern  string
		yes, not []string
	}{
		{"**", []string{"a", "a/b", "a\nb/\xff"}, nil},
		{"go.mod", []string{"go.mod"}, []string{"a/go.mod", "go.mods"}},
		{"a/b/**", []string{"a/b/c", "a/b/c/d", "a/b"}, []string{"a/bc", "x/a/b/c"}},
		{"**/go.mod", []string{"go.mod", "a/go.mod"}, []string{"ago.mod", "go.mod/a"}},
		{"**/cmd/main.go", []string{"cmd/main.go", "x/cmd/main.go"}, []string{"xcmd/main.go"}},
		{"**/*.{ts,tsx}", []string{"a.ts", "b/c.tsx", "b/.ts", "odd\nname.ts"}, []string{"a.tsxx", "ts"}},
		{"**/auth/**", []string{"auth/a", "x/auth/y/z", "x/auth"}, []string{"oauth/a", "x/authy/b"}},
		{"**/db/migrations/**", []string{"db/migrations/1.sql", "x/db/migrations/1"}, []string{"db/x/migrations/1"}},
		{"*.go", []string{"a.go"}, []string{"b/a.go"}},
		{"src/**/*_test.go", []string{"src/a_test.go", "src/b/c/a_test.go"}, []string{"src/a.go", "lib/a_test.go"}},
		{"v?/[a-c]*", []string{"v1/abc", "vß/c"}, []string{"v12/a", "v1/d", "v1/a/b"}},
		{`\[id\]/**`, []string{"[id]/page.tsx"}, []string{"i/page.tsx"}},
		{"{src,lib}/{a,b}.go", []string{"src/a.go", "lib/b.go"}, []string{"src/c.go"}},
		{"a{,/**}", []string{"a", "a/b"}, []string{"b/a"}},
	}
	for _, tt := range tests {
		set, err := Compile([]string{tt.pattern})
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.pattern, err)
			continue
		}
		for _, p := range tt.yes {
			if !set.Any(p) {
				t.Errorf("%q does not match %q", tt.pattern, p)
			}
		}
		for _, p := range tt.not {
			if set.Any(p) {
				t.Errorf("%q matches %q", tt.pattern, p)
			}
		}
	}
}

// What the guide says of globs is so: each matches what the table says, and mistakes have the remedy.
func TestGuideOnGlobs(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n### Globs\n")
	section, _, _ = strings.Cut(section, "\n### ")
	quoted := func(cell string) (words []string) {
		for i, part := range strings.Split(cell, "`") {
			if i%2 == 1 {
				words = append(words, part)
			}
		}
		return words
	}
	matched, refused := 0, 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || len(quoted(cells[1])) != 1 {
			continue
		}
		pattern, yes := quoted(cells[1])[0], quoted(cells[2])
		if len(cells) == 4 {
			refused++
			if Validate(pattern) == nil {
				t.Errorf("%s is not refused", pattern)
			}
			if strings.TrimSpace(cells[2]) == "`"+yes[0]+"`" && Validate(yes[0]) != nil {
				t.Errorf("%s is refused, too", yes[0])
			}
			continue
		}
		matched++
		set, err := Compile([]string{pattern})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range yes {
			if !set.Any(path) {
				t.Errorf("%s does not match %s", pattern, path)
			}
		}
		for _, path := range quoted(cells[3]) {
			if set.Any(path) {
				t.Errorf("%s matches %s", pattern, path)
			}
		}
	}
	if matched < 10 || refused < 5 {
		t.Errorf("the guide has %d globs and %d mistakes", matched, refused)
	}
}

func TestMatchGivesAscendingIndexesOnce(t *testing.T) {
	set, err := Compile([]string{"x", "**/*.go", "{a,a/**}", "**", "a/?.go", "a/**"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5}, set.Match("a/b.go")); diff != "" {
		t.Errorf("Match (-want +got):\n%s", diff)
	}
	if got := set.Match(""); len(got) != 0 {
		t.Errorf("Match of the empty path = %v, want none", got)
	}
}

func TestCompileNamesThePattern(t *testing.T) {
	_, err := Compile([]string{"a", "/b"})
	if err == nil || !strings.Contains(err.Error(), `"/b"`) {
		t.Errorf("Compile = %v, want an error that names the pattern", err)
	}
}

// doublestarMatch returns doublestar's answer for the pattern as written. A directory's own path
// counts as inside it (dir/** matches dir). doublestar misses that if the ** comes from
// alternatives: dir/{**,x}.
func doublestarMatch(t interface{ Fatalf(string, ...any) }, pattern, path string, ours bool) bool {
	ok, err := doublestar.Match(pattern, path)
	if err != nil {
		t.Fatalf("doublestar refuses %q, which Validate accepts: %v", pattern, err)
	}
	if !ok && ours && strings.Contains(pattern, "{") {
		// Alternatives are written out, because doublestar does not see that the text after a star
		// may be empty, as in *{,}.
		for _, p := range writtenOut(pattern) {
			ok = ok || doublestar.MatchUnvalidated(p, path)
		}
	}
	if !ok && ours && strings.Contains(pattern, "{") {
		ok = doublestar.MatchUnvalidated(pattern, path+"/inside") && doublestar.MatchUnvalidated(pattern, path+"/in/side")
	}
	return ok
}

// writtenOut replaces groups by each of their alternatives.
func writtenOut(pattern string) []string {
	open, parts, end := -1, []string(nil), -1
	for i, from := 0, 0; i < len(pattern) && end < 0; i++ {
		switch {
		case pattern[i] == '\\':
			i++
		case pattern[i] == '{' && open < 0:
			open, from = i, i+1
		case open >= 0 && (pattern[i] == ',' || pattern[i] == '}'):
			parts = append(parts, pattern[from:i])
			if from = i + 1; pattern[i] == '}' {
				end = i + 1
			}
		}
	}
	if end < 0 {
		return []string{pattern}
	}
	var all []string
	for _, part := range parts {
		all = append(all, writtenOut(pattern[:open]+part+pattern[end:])...)
	}
	return all
}

// The tables give the same answers as doublestar.
func TestMatchAgreesWithDoublestar(t *testing.T) {
	segment := rapid.StringOfN(rapid.RuneFrom([]rune("ab.*?é,!-")), 1, 4, -1)
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"**", "*", "?", "*.a", "a", "b", "[ab]", "[!a]", `\*`, "{a,b}", "{a,**}", "{a/b,}", "a{,.b}", "{*.a,b?}"}),
		segment)
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab.*é,\n\xff")), 1, 3, -1), 1, 4).Draw(t, "segments"), "/")
	})
	sample.Check(t, func(t *rapid.T) {
		var patterns []string
		for range rapid.IntRange(1, 5).Draw(t, "patterns") {
			p := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), "/")
			if Validate(p) == nil {
				patterns = append(patterns, p)
			}
		}
		set, err := Compile(patterns)
		if err != nil {
			t.Fatal(err)
		}
		path := name.Draw(t, "path")
		var want []int
		got := set.Match(path)
		for i, p := range patterns {
			if doublestarMatch(t, p, path, slices.Contains(got, i)) {
				want = append(want, i)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q on %q (-doublestar +ours):\n%s", patterns, path, diff)
		}
		if set.Any(path) != (len(want) > 0) {
			t.Fatalf("%q on %q: Any differs from Match", patterns, path)
		}
	})
}

func FuzzMatch(f *testing.F) {
	for _, p := range []string{"**/*.go", "{a,b}/**", "[a-c]?", `\*`, "a{/**,}", "**/x/**", "[!-]", "{a,b}{/,x}{b,c}", "{a,b}/{b,c}/{x,y}{.go,}", "{a,{b}}", "{a,b}{a,b}{a,b}{a,b}{a,b}", "**/{a,}{,b}/*{.go,.ts}"} {
		f.Add(p, "a/b/x.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		set, err := Compile([]string{pattern})
		if err != nil || path == "" || len(path) > 4096 {
			return
		}
		got := set.Any(path)
		if want := doublestarMatch(t, pattern, path, got); got != want {
			t.Fatalf("%q on %q = %v, doublestar says %v", pattern, path, got, want)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	var patterns []string
	for i := range 25 {
		patterns = append(patterns, fmt.Sprintf("services/s%d/**", i), fmt.Sprintf("**/*.{e%d,f%d}", i, i),
			fmt.Sprintf("**/area%d/**", i), fmt.Sprintf("src/**/part%d/*.ts", i))
	}
	set, err := Compile(patterns)
	if err != nil {
		b.Fatal(err)
	}
	paths := make([]string, 3000)
	for i := range paths {
		paths[i] = fmt.Sprintf("src/area%d/part%d/file%d.ts", i%40, i%30, i)
	}
	for b.Loop() {
		for _, p := range paths {
			set.Match(p)
		}
	}
}
