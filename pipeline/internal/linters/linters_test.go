package linters

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// hunk makes a hunk of lines that begin with +, - or a space.
func hunk(lines ...string) *pipeline.Hunk {
	h := &pipeline.Hunk{NewStart: 1}
	for _, text := range lines {
		op := pipeline.LineContext
		if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
			op = pipeline.LineOp(text[:1])
		}
		l := pipeline.Line{Op: op, Text: text[min(1, len(text)):]}
		if op != pipeline.LineRemoved {
			h.NewLines++
			l.New = h.NewLines
		}
		h.Lines = append(h.Lines, l)
	}
	return h
}

// A suppression has the form that its linter reads, is in a comment of the language, and names a
// check of the rule or none.
func TestForms(t *testing.T) {
	rule := map[string][]string{
		"gosec": {"G204"}, "staticcheck": {"SA1004"}, "ruff": {"B006"}, "bandit": {"B602"}, "pylint": {"bare-except", "W0702"}, "eslint": {"no-eval", "@typescript-eslint/no-explicit-any"},
		"java": {"rawtypes", "PMD.EmptyCatchBlock"}, "phpcs": {"Generic.Files.A"}, "shellcheck": {"SC2086"}, "hadolint": {"DL3007"}, "sonarqube": {"S1"},
	}
	for _, tt := range []struct {
		language, text string
		by             string // empty if nothing asks about the second line
	}{
		{"Go", "x() //nolint", "golangci-lint"},
		{"Go", "x() // nolint:gosec", "golangci-lint"},
		{"Go", "x() //nolint:errcheck, GoSec // known", "golangci-lint"},
		{"Go", "x() //nolint:all", "golangci-lint"},
		{"Go", "x() //nolint:errcheck", ""},
		{"Go", "x() //nolint:gosecure", ""},
		{"Go", "x() //nolinting", ""},
		{"Go", "x() // see nolint", ""},
		{"Go", `x("//nolint")`, ""},
		{"Go", `x("a", "//nolint", 'b')`, ""},
		{"Go", "x(`//nolint", ""},
		{"Go", `x("it's") //nolint`, "golangci-lint"},
		{"Go", "x() // #nosec G204 -- known", "gosec"},
		{"Go", "x() // #nosec", "gosec"},
		{"Go", "x() // #nosec G101 G204", "gosec"},
		{"Go", "x() // #nosec G101", ""},
		{"Go", "x() //lint:ignore SA1004 known", "staticcheck"},
		{"Go", "x() //lint:ignore SA1005,SA1004 known", "staticcheck"},
		{"Go", "x() //lint:ignore SA1004", ""},
		{"Go", "x() // NOSONAR known", "SonarQube"},
		{"Go", "x(NOSONAR)", ""},
		{"Python", "x() //nolint", ""},
		{"Python", "x()  # noqa", "Ruff or Flake8"},
		{"Python", "x()  # noqa: E501, b006", "Ruff or Flake8"},
		{"Python", "x()  # noqa:E501 B006 known", "Ruff or Flake8"},
		{"Python", "x()  # noqa: E501", ""},
		{"Python", "x()  # type: ignore # noqa", "Ruff or Flake8"},
		{"Python", "x('# noqa')", ""},
		{"Python", "x()  # nosec B602", "Bandit"},
		{"Python", "x()  # nosec", "Bandit"},
		{"Python", "x()  # nosec: B601,B602", "Bandit"},
		{"Python", "x()  # nosec B601", ""},
		{"Python", "x()  # pylint: disable=bare-except", "Pylint"},
		{"Python", "x()  # pylint: disable=a, W0702", "Pylint"},
		{"Python", "x()  # pylint: disable=a", ""},
		{"TypeScript", "x() // eslint-disable-line", "ESLint"},
		{"TypeScript", "x() // eslint-disable-line no-alert, no-eval -- known", "ESLint"},
		{"TypeScript", "x() /* eslint-disable-line @typescript-eslint/no-explicit-any */", "ESLint"},
		{"TypeScript", "x() // eslint-disable-line no-alert -- no-eval", ""},
		{"TypeScript", "x('// eslint-disable-line')", ""},
		{"TypeScript", "x(`// eslint-disable-line", ""},
		{"Java", `@SuppressWarnings("rawtypes") List x;`, "linters"},
		{"Java", `@SuppressWarnings({"unchecked", "PMD.EmptyCatchBlock"}) List x;`, "linters"},
		{"Java", `@SuppressWarnings(value = "all") List x;`, "linters"},
		{"Java", `@SuppressWarnings("unchecked") List x;`, ""},
		{"Java", `// @SuppressWarnings("rawtypes")`, ""},
		{"Java", `x("@SuppressWarnings(all)")`, ""},
		{"Java", "x(); // NOSONAR", "SonarQube"},
		{"PHP", "x(); // phpcs:ignore Generic.Files.A -- known", "PHP_CodeSniffer"},
		{"PHP", "x(); // phpcs:ignore Generic.Files.B", ""},
		{"Ruby", "x() # rubocop:disable all", ""}, // comments of Ruby are not certain
		{"Ruby", "x() # NOSONAR", ""},
		{"", "x() // NOSONAR", ""},
		{"Go", "x(" + strings.Repeat("a", maxLine) + ") //nolint", ""},
	} {
		s, ok := Read(tt.language, hunk(" y()", " "+tt.text)).Of(1, rule)
		if s.By != tt.by || ok != (tt.by != "") || ok && (s.Line != 2 || !s.Old || s.Block) {
			t.Errorf("%s: %.80s: %+v, want %q", tt.language, tt.text, s, tt.by)
		}
	}
	if _, ok := Read("Go", hunk(" x() //nolint")).Of(0, map[string][]string{"eslint": {"no-eval"}}); ok {
		t.Error("a suppression is about a rule that is not mapped to its linter")
	}
}

// A suppression is about its own line, the next one, the next command, or the lines up to another
// comment. It is old if the change neither adds it nor brings other code to it.
func TestReach(t *testing.T) {
	rule := map[string][]string{"gosec": {"G204"}, "eslint": {"no-eval"}, "shellcheck": {"SC2086"}, "hadolint": {"DL3007"}, "java": {"rawtypes"}, "pylint": {"a"}}
	for name, tt := range map[string]struct {
		language string
		lines    []string
		want     string // by line: o for an old suppression, n for a new one, - for none
	}{
		"on its line":                            {"Go", []string{" a()", " x() //nolint", " b()"}, "-o-"},
		"above":                                  {"Go", []string{" //nolint", " x()", " b()"}, "-o-"},
		"in a block comment above":               {"JavaScript", []string{" {/* eslint-disable-next-line no-eval */}", " x()", " b()"}, "-o-"},
		"at the end of the line above":           {"Go", []string{" a() //nolint", " x()"}, "o-"},
		"last of the hunk":                       {"Go", []string{" x()", " //nolint"}, "--"},
		"for the next line only":                 {"Python", []string{" # pylint: disable-next=a", " x()", " b()"}, "-o-"},
		"added on the line":                      {"Go", []string{"-x()", "+x() //nolint"}, "-n"},
		"added above":                            {"Go", []string{"+//nolint", " x()"}, "-n"},
		"the line changes but for it":            {"Go", []string{"-x(1) //nolint", "+x(2) //nolint"}, "-o"},
		"another check is added":                 {"Go", []string{"-x() //nolint:errcheck", "+x() //nolint:errcheck,gosec"}, "-n"},
		"one is removed and two are added":       {"Go", []string{"-x() //nolint", "+x(1) //nolint", "+x(2) //nolint"}, "-on"},
		"it is removed elsewhere":                {"Go", []string{"-y() //nolint", " a()", "+x() //nolint"}, "--n"},
		"the line below is replaced":             {"Go", []string{" //nolint", "-x(1)", "+x(2)"}, "--o"},
		"a line is added below":                  {"Go", []string{" //nolint", "+x()", " y()"}, "-n-"},
		"both are replaced":                      {"Go", []string{"-//nolint", "-x(1)", "+\t//nolint", "+x(2)"}, "---o"},
		"a new one beside an old one":            {"JavaScript", []string{" // eslint-disable-next-line", "-x(1)", "+x() // eslint-disable-line"}, "--o"},
		"a block":                                {"JavaScript", []string{" a()", " /* eslint-disable no-eval */", "+x()", " /* eslint-enable no-eval */", " b()"}, "--oo-"},
		"a block of another check":               {"JavaScript", []string{" /* eslint-disable no-alert */", " x()"}, "--"},
		"a block that ends for another check":    {"JavaScript", []string{" /* eslint-disable */", " /* eslint-enable no-alert */", " x()"}, "-oo"},
		"a block that ends for all checks":       {"JavaScript", []string{" /* eslint-disable no-eval */", " /* eslint-enable */", " x()"}, "-o-"},
		"a new block":                            {"JavaScript", []string{"+/* eslint-disable */", " x()"}, "-n"},
		"a new block within an old one":          {"JavaScript", []string{" /* eslint-disable */", "+/* eslint-disable */", " x()"}, "-oo"},
		"a block that a line comment begins":     {"JavaScript", []string{" // eslint-disable", " x()"}, "--"},
		"a command of several lines":             {"Dockerfile", []string{" # hadolint ignore=DL3007", " FROM a \\", "   AS b", " RUN c"}, "-oo-"},
		"a command in a script":                  {"Shell", []string{" # shellcheck disable=SC2034,SC2086", " x $1", " y $1"}, "-o-"},
		"an annotation above":                    {"Java", []string{`   @SuppressWarnings("rawtypes")`, "   List x;", "   List y;"}, "-o-"},
		"an annotation with its code":            {"Java", []string{`   @SuppressWarnings("rawtypes") List x;`, "   List y;"}, "o-"},
		"removed":                                {"Go", []string{"-x() //nolint", "+x()"}, "--"},
		"removed from a block":                   {"JavaScript", []string{"-/* eslint-disable */", " x()"}, "--"},
		"a block that begins on the line itself": {"JavaScript", []string{" x() /* eslint-disable */", " y()"}, "-o"},
	} {
		read, got := Read(tt.language, hunk(tt.lines...)), ""
		for i := range tt.lines {
			s, ok := read.Of(i, rule)
			switch {
			case !ok:
				got += "-"
			case s.Old:
				got += "o"
			default:
				got += "n"
			}
			if block := strings.Contains(name, "block") && tt.language == "JavaScript" && !strings.Contains(name, "comment above"); ok && s.Block != block {
				t.Errorf("%s: the suppression is a block: %t", name, s.Block)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A rule can name exactly the linters that have a form.
func TestLintersOfTheSchema(t *testing.T) {
	text, err := config.SchemaText("review-rules")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Linters struct {
				Properties map[string]any
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, f := range forms {
		known = append(known, f.linters...)
	}
	slices.Sort(known)
	if diff := cmp.Diff(slices.Compact(known), slices.Sorted(maps.Keys(schema.Defs.Linters.Properties))); diff != "" {
		t.Errorf("linters (-forms +schema):\n%s", diff)
	}
}

// Reading four times as many lines, and asking about each, takes four times as long and not sixteen
// times.
func TestWork(t *testing.T) {
	const most, slack = 10, 2 * time.Second
	for language, piece := range map[string][]string{
		"Go":         {"+//nolint", "-x() //nolint", "+x() // #nosec"},
		"JavaScript": {"+/* eslint-disable no-eval */", "+/* eslint-enable no-alert */", "+// eslint-disable-next-line"},
		"Dockerfile": {"+# hadolint ignore=DL3007 \\", "+RUN \\"},
		"Python":     {"+" + strings.Repeat("# noqa ", 200), "+" + strings.Repeat("'", 1900) + "# noqa"},
	} {
		took := func(n int) time.Duration {
			var lines []string
			for range n {
				lines = append(lines, piece...)
			}
			h := hunk(lines...)
			start := time.Now()
			read := Read(language, h)
			for i := range lines {
				read.Of(i, map[string][]string{"eslint": {"x"}})
			}
			return time.Since(start)
		}
		n := sample.Size(400, 4000)
		if quarter, whole := took(n/4), took(n); whole > most*quarter+slack {
			t.Errorf("%s: %v for %d lines, but only %v for a quarter of them", language, whole, n, quarter)
		}
	}
}

// For any lines, a suppression stands on a line of the head at or above the line that it is about.
// Without a line that the base has or loses, nothing is old.
func FuzzRead(f *testing.F) {
	f.Add("Go", " //nolint\n-x() //nolint:gosec\n+x(\"//nolint\") // #nosec G204\n")
	f.Add("JavaScript", "+/* eslint-disable no-eval */\n x()\n+{/* eslint-disable-next-line */}\n/* eslint-enable */")
	f.Add("Python", "+x('''# noqa''') # noqa: B006 # nosec B602 # pylint: disable=a")
	f.Add("Dockerfile", "# hadolint ignore=DL3007\n\\\n\\\n+FROM \\")
	f.Add("Java", "+@SuppressWarnings({\"rawtypes\", \"\"\n @SuppressWarnings(\"rawtypes\")\n")
	rule := map[string][]string{"gosec": {"G204"}, "eslint": {"no-eval"}, "ruff": {"B006"}, "java": {"rawtypes"}, "hadolint": {"DL3007"}, "sonarqube": {"S1"}}
	f.Fuzz(func(t *testing.T, language, text string) {
		h := hunk(strings.Split(text, "\n")...)
		onlyAdded := !slices.ContainsFunc(h.Lines, func(l pipeline.Line) bool { return l.Op != pipeline.LineAdded })
		read := Read(language, h)
		for i := range h.Lines {
			s, ok := read.Of(i, rule)
			if ok && (s.Line < 1 || s.Line > h.NewLines || h.Lines[i].New > 0 && s.Line > h.Lines[i].New || s.By == "") {
				t.Fatalf("%+v is about line %d of %q", s, i, text)
			}
			if ok && s.Old && onlyAdded {
				t.Fatalf("%+v is old in %q, where all is new", s, text)
			}
		}
	})
}
