package literals

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/google/go-cmp/cmp"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"pgregory.net/rapid"
)

func TestRequired(t *testing.T) {
	tests := []struct {
		expression string
		want       []string
	}{
		{`InsecureSkipVerify:\s*true`, []string{"insecureskipverify:"}},
		{`(?i)password`, []string{"password"}},
		{`\beval\s*\(`, []string{"eval"}},
		{`par(se|t)Float`, []string{"parsefloat", "partfloat"}},
		{`foo|barn`, []string{"foo", "barn"}},
		{`foo|[0-9]+`, nil},
		{`(foo)?bar`, []string{"foobar", "bar"}},
		{`(foo)*bar`, []string{"bar"}},
		{`(?:ab){2,}`, []string{"ab"}},
		{`(?:ab){2}`, []string{"abab"}},
		{`[Mm]d5\(`, []string{"md5("}},
		{`[a-z]+\.only\(`, []string{".only("}},
		{`\s+$`, nil},
		{`.{161,}`, nil},
		{`a`, nil},
		{`\x{fffd}ab`, []string{"ab"}},
		{`(?i)émile`, []string{"mile"}},
		{`émile`, []string{"émile"}},
		{"\u212aelvin", []string{"elvin"}},
		{"[\u212ab]elvin", []string{"belvin", "kelvin"}},
		{`(`, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Required(tt.expression)); diff != "" {
			t.Errorf("Required(%q) (-want +got):\n%s", tt.expression, diff)
		}
	}
}

// For every expression and text, a match contains a required literal.
func TestRequiredIsNecessary(t *testing.T) {
	sample.Check(t, func(t *rapid.T) { checkNecessary(t, genExpression(t), genText(t)) })
}

func FuzzRequired(f *testing.F) {
	f.Add(`(?i)secret[_-]?key`, "my SECRET-KEY")
	f.Add(`(?i)k`, "\u212a")
	f.Add("[\u017fx]ab", "\u017fab")
	f.Add("(a|b){2,3}c?", "abba\xff")
	f.Add(`[^\x00-\x{10FFFF}]`, "")
	f.Fuzz(func(t *testing.T, expression, text string) { checkNecessary(t, expression, text) })
}

func checkNecessary(t interface{ Fatalf(string, ...any) }, expression, text string) {
	re, err := regexp.Compile(expression)
	if err != nil || len(text) > 1<<12 {
		return
	}
	want := Required(expression)
	if !re.MatchString(text) {
		return
	}
	found := false
	NewMatcher(want).Find(Unfold(text), func([]int, int) { found = true })
	if want != nil && !found {
		t.Fatalf("%q matches %q, which unfolded holds none of %q", expression, text, want)
	}
	if text == Unfold(text) {
		checkNeeds(t, expression, text)
	}
}

// checkNeeds checks what is known of matches against a text without Folds.
func checkNeeds(t interface{ Fatalf(string, ...any) }, expression, text string) {
	need := Needs(expression)
	var words []string
	for _, l := range need.Literals {
		words = append(words, l.Text)
	}
	found := false
	NewMatcher(words).Find(text, func(ids []int, end int) {
		for _, id := range ids {
			found = found || need.Literals[id].IsAt(text, end)
		}
	})
	if need.Literals != nil && !found {
		t.Fatalf("%q matches %q, which has none of %+v in its place", expression, text, need.Literals)
	}
	var subject Text
	subject.Set(text)
	if !need.Guard.Holds(&subject) {
		t.Fatalf("%q matches %q, which its guard keeps away", expression, text)
	}
}

func TestNeeds(t *testing.T) {
	tests := []struct {
		expression  string
		holds, fail []string
	}{
		{`\bis\b\s*==`, []string{"it is == 1", "is=="}, []string{"this == 1", "isle == 1", "it is = 1"}},
		{`DO NOT MERGE`, []string{"DO NOT MERGE"}, []string{"do not merge"}},
		{`(?i)do not merge`, []string{"do not merge", "Do Not Merge"}, []string{"do merge"}},
		{`fee\w*\s*[!=]==?\s*[0-9]`, []string{"fee == 1", "fees !== 2"}, []string{"fee = 1", "coffee"}},
		{`(?i)(?:"\s*select\b[^"]*'"|f'\s*update\b[^']*\{)`, []string{`"SELECT x='"`, `F'Update a {`}, []string{`"select x"`, `f'update x'`, "select", "{'\""}},
		{`a`, []string{"a"}, []string{"b", "A"}},
		{`[0-9]+`, []string{"1", "b"}, nil},
	}
	for _, tt := range tests {
		need := Needs(tt.expression)
		passes := func(text string) bool {
			at := need.Literals == nil
			for end := range len(text) + 1 {
				for _, l := range need.Literals {
					at = at || end >= len(l.Text) && lower(text[end-len(l.Text):end]) == lower(l.Text) && l.IsAt(text, end)
				}
			}
			var subject Text
			subject.Set(text)
			return at && need.Guard.Holds(&subject)
		}
		for _, text := range tt.holds {
			if !passes(text) {
				t.Errorf("%q keeps %q away", tt.expression, text)
			}
		}
		for _, text := range tt.fail {
			if passes(text) {
				t.Errorf("%q lets %q through", tt.expression, text)
			}
		}
	}
}

func genExpression(t *rapid.T) string {
	atom := rapid.SampledFrom([]string{
		"a", "ab", "K", "s", "é", `\.`, ".", "[ks]", "[a-c]", "[^a]", `\b`, "^", "$", "(?i:ask)", "(a|b)", "(ab|k)?", "(?:s|sa)*", "x{2}", "(?:ab){1,3}", "a+",
		"\u212a", "[\u017fa]", "[\u212ab]c", "(?i:\u017fk)",
	})
	parts := rapid.SliceOfN(atom, 1, 6).Draw(t, "parts")
	sep := rapid.SampledFrom([]string{"", "", "|"}).Draw(t, "separator")
	return rapid.SampledFrom([]string{"", "(?i)"}).Draw(t, "flags") + strings.Join(parts, sep)
}

func genText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "c", "k", "K", "s", "S", "\u212a", "\u017f", "é", ".", "x", "\xff", " ", "ab",
	}), 0, 12).Draw(t, "text"), "")
}

// A Matcher and a Finder find what a search for each literal alone finds.
func TestMatcherFindsAll(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "b", "A", "ab", "_", "\x00", "é", "\xff"})
		word := rapid.Map(rapid.SliceOfN(piece, 0, 4), func(p []string) string { return strings.Join(p, "") })
		words := rapid.SliceOfN(word, 0, 8).Draw(t, "literals")
		text := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "text"), "")

		type place struct{ ID, End int }
		var got, unordered, want []place
		NewMatcher(words).Find(text, func(ids []int, end int) {
			for _, id := range ids {
				got = append(got, place{id, end})
			}
		})
		NewFinder(words).All().Find(text, func(ids []int, end int) {
			for _, id := range ids {
				unordered = append(unordered, place{id, end})
			}
		})
		for end := 1; end <= len(text); end++ {
			for id, w := range words {
				if w != "" && strings.HasSuffix(lower(text[:end]), lower(w)) {
					want = append(want, place{id, end})
				}
			}
		}
		order := func(a, b place) int {
			if a.End != b.End {
				return a.End - b.End
			}
			return a.ID - b.ID
		}
		slices.SortFunc(got, order)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("literals %q in %q (-want +got):\n%s", words, text, diff)
		}
		slices.SortFunc(unordered, order)
		if diff := cmp.Diff(want, unordered); diff != "" {
			t.Fatalf("literals %q in %q by a Finder (-want +got):\n%s", words, text, diff)
		}
	})
}

var benchWords = []string{"insecureskipverify", "eval(", "parsefloat", "password", "tofixed", "<<<<<<<", "debugger", "innerhtml", "md5", "math.random", "chmod", "verify=false", "outline", "tabindex", ".only(", "time.sleep", "console.log", "http://", "privileged", "0.0.0.0/0"}

var benchText = strings.Repeat("\tif err := scanner.Process(ctx, \"https://example.org\", value); err != nil { return fmt.Errorf(\"process: %w\", err) }\n", 4096)

func BenchmarkMatcher(b *testing.B) {
	m := NewMatcher(benchWords)
	b.SetBytes(int64(len(benchText)))
	for b.Loop() {
		n := 0
		m.Find(benchText, func([]int, int) { n++ })
	}
}

func BenchmarkFinder(b *testing.B) {
	f := NewFinder(benchWords).All()
	b.SetBytes(int64(len(benchText)))
	for b.Loop() {
		n := 0
		f.Find(benchText, func([]int, int) { n++ })
	}
}

// BenchmarkLibrary shows why the automaton is our own: the library's is about as fast but needs a
// lower-case copy.
func BenchmarkLibrary(b *testing.B) {
	trie := ahocorasick.NewTrieBuilder().AddStrings(benchWords).Build()
	b.SetBytes(int64(len(benchText)))
	for b.Loop() {
		n := 0
		trie.Walk([]byte(strings.ToLower(benchText)), func(_, _, _ int64) bool { n++; return true })
	}
}
