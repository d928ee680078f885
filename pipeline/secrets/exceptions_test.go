package secrets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// excepted returns why a .gitleaks.toml allows the secrets in a file, and its problems.
func excepted(t *testing.T, text, path string, lines ...string) (reasons, problems []string) {
	t.Helper()
	e, problems := ReadExceptions([]byte(text))
	f := facts(path, lines...)
	c := detector(t).Change()
	f.Redactions = c.Redact(&f)
	c.Except(&f, &e)
	for _, r := range f.Redactions {
		reasons = append(reasons, r.Allowed)
	}
	for _, h := range f.Files[0].Hunks {
		for _, l := range h.Lines {
			if strings.Contains(l.Text, github) {
				t.Errorf("%q is not redacted", l.Text)
			}
		}
	}
	return reasons, problems
}

func TestExceptions(t *testing.T) {
	for name, tt := range map[string]struct {
		text, path string
		want       string // empty if the token stays a finding
	}{
		"a path":                  {"[[allowlists]]\ndescription = \"fixtures\"\npaths = ['''^test/''']", "test/a.go", "fixtures"},
		"another path":            {"[[allowlists]]\npaths = ['''^test/''']", "src/test/a.go", ""},
		"the old form":            {"[allowlist]\ndescription = \"old\"\npaths = ['''^test/''']", "test/a.go", "old"},
		"no description":          {"[[allowlists]]\npaths = ['''a\\.go''']", "a.go", "an allow list without a description"},
		"a word":                  {"[[allowlists]]\ndescription = \"w\"\nstopwords = [\"" + strings.ToUpper(github[6:14]) + "\"]", "a.go", "w"},
		"a short word":            {"[[allowlists]]\nstopwords = [\"gh\"]", "a.go", ""},
		"one of two":              {"[[allowlists]]\ndescription = \"or\"\npaths = ['''a\\.go''']\nstopwords = [\"nothing\"]", "a.go", "or"},
		"both of two":             {"[[allowlists]]\ncondition = \"AND\"\npaths = ['''a\\.go''']\nstopwords = [\"nothing\"]", "a.go", ""},
		"a part that is left":     {"[[allowlists]]\ncondition = \"AND\"\npaths = ['''a\\.go''']\nregexTarget = \"line\"\nregexes = [\"nothing\"]", "a.go", ""},
		"a commit and a path":     {"[[allowlists]]\ncondition = \"AND\"\ncommits = [\"abc\"]\npaths = ['''a\\.go''']", "a.go", ""},
		"a commit or a path":      {"[[allowlists]]\ndescription = \"p\"\ncommits = [\"abc\"]\npaths = ['''a\\.go''']", "a.go", "p"},
		"its rule":                {"[[allowlists]]\ndescription = \"r\"\ntargetRules = [\"github-pat\"]\npaths = ['''a\\.go''']", "a.go", "r"},
		"another rule":            {"[[allowlists]]\ntargetRules = [\"aws-access-token\"]\npaths = ['''a\\.go''']", "a.go", ""},
		"below its rule":          {"[[rules]]\nid = \"github-pat\"\n[[rules.allowlists]]\ndescription = \"own\"\npaths = ['''a\\.go''']", "a.go", "own"},
		"below another rule":      {"[[rules]]\nid = \"jwt\"\n[rules.allowlist]\npaths = ['''a\\.go''']", "a.go", ""},
		"every path":              {"[[allowlists]]\npaths = ['''.*''']", "a.go", ""},
		"every path, longer":      {"[[allowlists]]\npaths = ['''(^|/)[^/]*$''']", "a.go", ""},
		"every value":             {"[[allowlists]]\nregexes = ['''''']", "a.go", ""},
		"every value, longer":     {"[[allowlists]]\nregexes = ['''[0-9a-zA-Z]+''']", "a.go", ""},
		"no expression":           {"[[allowlists]]\nregexes = ['''(''']", "a.go", ""},
		"nothing":                 {"", "a.go", ""},
		"a misspelt AND":          {"[[allowlists]]\nconditon = \"AND\"\npaths = ['''a\\.go''']", "a.go", ""},
		"letters in another case": {"[[allowLists]]\nDescription = \"c\"\nstopWords = [\"" + github[6:14] + "\"]", "a.go", "c"},
		"a rule of its own":       {"[[rules]]\nid = \"mine\"\nregex = '''x'''", "a.go", ""},
	} {
		reasons, _ := excepted(t, tt.text, tt.path, "+token = \""+github+"\"")
		want := ""
		if tt.want != "" {
			want = pipeline.AllowedByGitleaks + tt.want
		}
		if len(reasons) != 1 || reasons[0] != want {
			t.Errorf("%s: %q, want %q", name, reasons, want)
		}
	}
}

// Nothing that the author of a change writes after a token, around it or between its parts allows
// it.
func TestExceptionsIgnoreAddedText(t *testing.T) {
	for name, tt := range map[string]struct{ list, line string }{
		"a word after":          {`stopwords = ["sandbox"]`, github + "sandbox"},
		"a pattern after":       {`regexes = ["sandbox[0-9]$"]`, github + "sandbox1"},
		"a pattern of no rule":  {`regexes = ["^$"]`, `"` + github[:9] + `" + "` + github[9:] + `"`},
		"a pattern of all":      {`regexes = ["(?i).*example.*"]`, github + "-example"},
		"a pattern's end":       {`regexes = ["^ghp_.*_test$"]`, github + "_test"},
		"a pattern's option":    {`regexes = ["^ghp_[A-Za-z0-9]+(_test|-example)$"]`, github + "_test"},
		"a word across the end": {`stopwords = ["` + github[len(github)-3:] + `-sandbox"]`, github + "-sandbox"},
		"a word between":        {`stopwords = ["sandbox"]`, `"` + github[:9] + `" + /* sandbox */ "` + github[9:] + `"`},
		"a pattern between":     {`regexes = ["sandbox"]`, `"` + github[:9] + `" /* sandbox */ "` + github[9:] + `"`},
		"a word in a region":    {`stopwords = ["sandbox"]`, "https://hooks.slack.com/services/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/sandbox"},
	} {
		reasons, problems := excepted(t, "[[allowlists]]\ndescription = \"d\"\n"+tt.list, "a.go", "+t = "+tt.line)
		if len(problems) > 0 || len(reasons) == 0 || strings.Join(reasons, "") != "" {
			t.Errorf("%s: allowed %q, problems %q", name, reasons, problems)
		}
	}
	for name, tt := range map[string]struct{ list, value string }{
		"a whole token":               {`regexes = ["^` + github + `$"]`, github},
		"a longer token":              {`regexes = ["^` + github + `_test$"]`, github + "_test"},
		"a longer token as a word":    {`stopwords = ["` + github + `_test"]`, github + "_test"},
		"a token, whatever follows":   {`regexes = ["^` + github + `"]`, github + "_test"},
		"a pattern within, and after": {`regexes = ["` + github[6:14] + `.*"]`, github + "_test"},
	} {
		if reasons, _ := excepted(t, "[[allowlists]]\ndescription = \"d\"\n"+tt.list, "a.go", "+t = "+tt.value); strings.Join(reasons, "") != pipeline.AllowedByGitleaks+"d" {
			t.Errorf("%s: %q", name, reasons)
		}
	}
}

// A part that does not count is named with its place, and a part above the bounds does not count.
func TestExceptionsThatDoNotCount(t *testing.T) {
	var many strings.Builder
	for i := range maxExceptions {
		fmt.Fprintf(&many, "[[allowlists]]\nstopwords = [\"word%d\"]\n", i)
	}
	for name, tt := range map[string]struct{ text, problem string }{
		"not TOML":               {"[[allowlists]\n", "line 1 can't be read as TOML"},
		"another type":           {"\nallowlists = 7\n", "allowlists: it must be a list of tables"},
		"one string":             {"[allowlist]\npaths = \"web\"", "allowlist, paths: it must be a list of strings"},
		"a list of mixed types":  {"[[allowlists]]\npaths = [\"web\", 7]", "allowlists, entry 1, paths: it must be a list of strings"},
		"a number":               {"[[allowlists]]\ndescription = 7", "allowlists, entry 1, description: it must be a string"},
		"a list in the old form": {"[[allowlist]]\npaths = ['x']", "allowlist: it must be one table; a list of them is called allowlists"},
		"rules":                  {"rules = ['jwt']", "rules: it must be a list of tables"},
		"a key":                  {"[[allowlists]]\nstopword = ['word']\npaths = ['x']", `allowlists, entry 1: the list does not count, since an allow list has no key "stopword"; did you mean "stopwords"?`},
		"another key":            {"[[allowlists]]\nsomething = 7", `allowlists, entry 1: the list does not count, since an allow list has no key "something"`},
		"a list's name":          {"[[allow_lists]]\npaths = ['x']", `allow_lists: gitleaks has no such key; did you mean "allowlists"?`},
		"a rule":                 {"[[rules]]\nid = \"github-patt\"\n[[rules.allowlists]]\npaths = ['x']", `rules, entry 1, allowlists, entry 1: there is no rule "github-patt", so nothing is allowed for it; did you mean "github-pat"?`},
		"a target rule":          {"[[allowlists]]\ntargetRules = [\"zzz\"]\npaths = ['x']", `allowlists, entry 1: there is no rule "zzz", so nothing is allowed for it`},
		"too large":              {strings.Repeat("#", normalize.MaxExceptions+1), "it is larger than 256 KB"},
		"too many":               {many.String(), "it has more than 1000 patterns and words"},
		"everything":             {"[[allowlists]]\npaths = ['''go''', '''.''']", "allowlists, entry 1, paths: entry 2 matches everything, so it is refused"},
		"an expression":          {"[[rules]]\nid = \"jwt\"\n[[rules.allowlists]]\nregexes = ['''(''']", "rules, entry 1, allowlists, entry 1, regexes: entry 1 is not a regular expression"},
		"a target":               {"[allowlist]\nregexTarget = \"line\"\nregexes = ['''x''']", `allowlist: regexTarget "line" is not supported: regexes are compared with the secret alone`},
		"a condition":            {"[allowlist]\ncondition = \"XOR\"\nregexes = ['''x''']", "allowlist: the condition is neither AND nor OR"},
		"a long pattern":         {"[allowlist]\nregexes = ['''" + strings.Repeat("x", maxExceptionLength+1) + "''']", "allowlist, regexes: entry 1 is longer than 1000 characters"},
		"a commit":               {"[allowlist]\ncommits = ['abc']\npaths = ['x']", "allowlist: commits are not supported: a review is of all commits of a change"},
		"a short word":           {"[allowlist]\nstopwords = ['''ab''']", `allowlist: the stopword "ab" is shorter than 3 characters`},
		"a large pattern":        {"[allowlist]\nregexes = ['''" + strings.Repeat("x{1000}", 21) + "''', 'y']", "allowlist, regexes: entry 1 expands to about 42001 instructions, and all patterns together may have 20000"},
	} {
		_, problems := excepted(t, tt.text, "a.go", "+x = 1")
		if len(problems) != 1 || problems[0] != tt.problem {
			t.Errorf("%s: %q, want %q", name, problems, tt.problem)
		}
	}
}

func FuzzExceptions(f *testing.F) {
	f.Add("[[allowlists]]\npaths = ['''^test/''']\nstopwords = [\"x\"]\n")
	f.Add("[allowlist]\nregexes = [\"a|\"]\n[[rules]]\nid = \"jwt\"\n[rules.allowlist]\ncondition = \"AND\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, _ := ReadExceptions([]byte(text))
		e.reason(&pipeline.Redaction{RuleID: "jwt", Path: "a.go"}, "value")
	})
}
