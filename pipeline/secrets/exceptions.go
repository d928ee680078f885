package secrets

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/expression"
	names "github.com/reviewgate/reviewgate/policies/spelling"
)

// The bounds of the file beside its size: how many patterns and words it may have, the length of
// each in bytes, and how many instructions all patterns may expand to. A usual pattern has about
// 50; x{1000} is short to write and has 2,000.
const (
	maxExceptions      = 1000
	maxExceptionLength = 1000
	maxExceptionSize   = 20_000
)

// Exceptions are what a repository allows in gitleaks' notation. The zero value allows nothing.
type Exceptions struct {
	lists []exception
}

// Empty reports whether nothing is allowed.
func (e *Exceptions) Empty() bool { return len(e.lists) == 0 }

// exception is an allow list.
type exception struct {
	rules       []string // ids, or empty for all rules
	description string
	all         bool // every kind of criterion must hold, not just one
	paths       []*regexp.Regexp
	values      []*regexp.Regexp
	words       []string // in lower case
}

// ReadExceptions reads the text of a .gitleaks.toml. The problems name the parts that do not count;
// the other parts do.
func ReadExceptions(text []byte) (e Exceptions, problems []string) {
	if len(text) > normalize.MaxExceptions {
		return Exceptions{}, []string{fmt.Sprintf("it is larger than %d KB", normalize.MaxExceptions>>10)}
	}
	var file tomlTable
	if err := toml.Unmarshal(text, &file); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, _ := at.Position()
			return Exceptions{}, []string{fmt.Sprintf("line %d can't be read as TOML", row)}
		}
		return Exceptions{}, []string{"it can't be read as TOML"}
	}
	known, err := Default()
	if err != nil {
		return Exceptions{}, []string{"gitleaks' rules can't be read"}
	}
	r := exceptionReader{left: maxExceptions, ids: known.ids}
	file = file.lower()
	r.allowLists("", file, "")
	rules := r.tables("rules", file["rules"])
	for i, rule := range rules {
		at := fmt.Sprintf("rules, entry %d", i+1)
		if id, _ := r.text(at+", id", rule["id"]); id != "" {
			r.allowLists(at+", ", rule, id)
		}
	}
	if r.left < 0 {
		return Exceptions{}, []string{fmt.Sprintf("it has more than %d patterns and words", maxExceptions)}
	}
	return Exceptions{r.lists}, r.problems
}

type exceptionReader struct {
	lists    []exception
	problems []string
	left     int      // the number of patterns and words that may still be read
	size     int      // of the patterns so far, in instructions
	ids      []string // of gitleaks' rules
}

func (r *exceptionReader) problem(at, format string, args ...any) {
	const most = 20
	if len(r.problems) < most {
		r.problems = append(r.problems, at+": "+fmt.Sprintf(format, args...))
	}
}

// allowLists reads the allow lists of a table, for the whole file or for a rule.
func (r *exceptionReader) allowLists(at string, in tomlTable, rule string) {
	listNames := []string{"allowlist", "allowlists"}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if slices.Contains(listNames, key) {
			continue
		}
		if meant := names.Nearest(key, listNames, 2); meant != "" {
			r.problem(at+plaintext.Cut(key, 40), "gitleaks has no such key; did you mean %q?", meant)
		}
	}
	lists := r.tables(at+"allowlists", in["allowlists"])
	for i, l := range lists {
		r.list(fmt.Sprintf("%sallowlists, entry %d", at, i+1), l, rule)
	}
	switch l := in["allowlist"].(type) { // the form before gitleaks 8.25
	case nil:
	case map[string]any:
		r.list(at+"allowlist", tomlTable(l).lower(), rule)
	default:
		r.problem(at+"allowlist", "it must be one table; a list of them is called allowlists")
	}
}

// listKeys are the keys of an allow list.
var listKeys = []string{"description", "targetRules", "condition", "commits", "paths", "regexTarget", "regexes", "stopwords"}

// list reads one allow list. A list with an unknown key or type does not count: without that part
// it might allow more than was meant.
func (r *exceptionReader) list(at string, l tomlTable, rule string) {
	clear := true
	for _, key := range slices.Sorted(maps.Keys(l)) {
		if slices.ContainsFunc(listKeys, func(known string) bool { return strings.EqualFold(known, key) }) {
			continue
		}
		meant := ""
		if name := names.Nearest(key, listKeys, 2); name != "" {
			meant = fmt.Sprintf("; did you mean %q?", name)
		}
		r.problem(at, "the list does not count, since an allow list has no key %q%s", plaintext.Cut(key, 40), meant)
		clear = false
	}
	text := func(key string) string {
		s, ok := r.text(at+", "+key, l[strings.ToLower(key)])
		clear = clear && ok
		return s
	}
	texts := func(key string) []string {
		list, ok := r.texts(at+", "+key, l[strings.ToLower(key)])
		clear = clear && ok
		return list
	}
	e := exception{rules: texts("targetRules"), description: text("description")}
	condition, target, commits := text("condition"), text("regexTarget"), texts("commits")
	paths, regexes, words := texts("paths"), texts("regexes"), texts("stopwords")
	if r.left -= len(paths) + len(regexes) + len(words) + 1; !clear || r.left < 0 {
		return
	}
	if rule != "" {
		e.rules = []string{rule}
	}
	for _, id := range e.rules {
		if !slices.Contains(r.ids, id) {
			meant := ""
			if name := names.Nearest(id, r.ids, 2); name != "" {
				meant = fmt.Sprintf("; did you mean %q?", name)
			}
			r.problem(at, "there is no rule %q, so nothing is allowed for it%s", plaintext.Cut(id, 40), meant)
		}
	}
	switch strings.ToUpper(condition) {
	case "", "OR", "||":
	case "AND", "&&":
		e.all = true
	default:
		r.problem(at, "the condition is neither AND nor OR")
		return
	}
	whole := true
	if target != "" && target != "secret" && len(regexes) > 0 {
		r.problem(at, "regexTarget %q is not supported: regexes are compared with the secret alone", plaintext.Cut(target, 40))
		regexes, whole = nil, false
	}
	if len(commits) > 0 {
		r.problem(at, "commits are not supported: a review is of all commits of a change")
		whole = false
	}
	var ok bool
	e.paths, ok = r.patterns(at+", paths", paths, anyPath)
	whole = whole && ok
	e.values, ok = r.patterns(at+", regexes", regexes, anyValue)
	whole = whole && ok
	for _, w := range words {
		if w = strings.ToLower(w); len(w) < leastStopWord {
			r.problem(at, "the stopword %q is shorter than %d characters", w, leastStopWord)
			whole = false
			continue
		}
		e.words = append(e.words, w)
	}
	if e.all && !whole { // the remaining part would allow more
		return
	}
	if len(e.paths)+len(e.values)+len(e.words) > 0 {
		r.lists = append(r.lists, e)
	}
}

// tomlTable is a TOML table.
type tomlTable map[string]any

// lower is the table with its keys in lower case, as gitleaks reads them.
func (t tomlTable) lower() tomlTable {
	out := tomlTable{}
	for _, key := range slices.Sorted(maps.Keys(t)) {
		out[strings.ToLower(key)] = t[key]
	}
	return out
}

func (r *exceptionReader) tables(at string, v any) (out []tomlTable) {
	list, ok := allOf[map[string]any](v)
	if !ok {
		r.problem(at, "it must be a list of tables")
	}
	for _, t := range list {
		out = append(out, tomlTable(t).lower())
	}
	return out
}

func (r *exceptionReader) texts(at string, v any) ([]string, bool) {
	list, ok := allOf[string](v)
	if !ok {
		r.problem(at, "it must be a list of strings")
	}
	return list, ok
}

func (r *exceptionReader) text(at string, v any) (string, bool) {
	s, ok := v.(string)
	if v != nil && !ok {
		r.problem(at, "it must be a string")
	}
	return s, ok || v == nil
}

// allOf returns a list of values of one type. It is empty if v is nil.
func allOf[T any](v any) (out []T, ok bool) {
	if v == nil {
		return nil, true
	}
	list, ok := v.([]any)
	for _, e := range list {
		t, typed := e.(T)
		if !typed {
			return nil, false
		}
		out = append(out, t)
	}
	return out, ok
}

// leastStopWord is the least length of a word whose presence allows a value.
const leastStopWord = 3

// Paths and values that have nothing in common: a pattern that matches all of them matches
// everything.
var (
	anyPath  = []string{"main.go", "src/api/Client.java", ".env", "deploy/prod/values.yaml", "README"}
	anyValue = []string{"zR8kQ4xTn6Wp1LvB7mYc3Jd9", "ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3x4Y", "-----BEGIN RSA PRIVATE KEY-----", "0123456789", "qwertzuiop"}
)

func (r *exceptionReader) patterns(at string, texts, samples []string) (out []*regexp.Regexp, whole bool) {
	whole = true
	for i, text := range texts {
		re, why := r.pattern(text, samples)
		if why != "" {
			r.problem(at, "entry %d %s", i+1, why)
			whole = false
			continue
		}
		out = append(out, re)
	}
	return out, whole
}

// pattern compiles a pattern, or says why it does not count.
func (r *exceptionReader) pattern(text string, samples []string) (re *regexp.Regexp, why string) {
	if len(text) > maxExceptionLength {
		return nil, fmt.Sprintf("is longer than %d characters", maxExceptionLength)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, "is not a regular expression"
	}
	// This comes before compiling, where a short pattern can become large.
	size := expression.PatternSize(tree)
	if r.size+size > maxExceptionSize {
		return nil, fmt.Sprintf("expands to about %d instructions, and all patterns together may have %d", size, maxExceptionSize)
	}
	r.size += size
	if re, err = regexp.Compile(text); err != nil {
		return nil, "is not a regular expression"
	}
	if !slices.ContainsFunc(samples, func(s string) bool { return !re.MatchString(s) }) {
		return nil, "matches everything, so it is refused"
	}
	return re, ""
}

// reason is why a value is allowed at its place, or "".
func (e *Exceptions) reason(r *pipeline.Redaction, value string) string {
	least := len(value)
	if isProviderRule(r.RuleID) {
		least = allFormats().least(r.RuleID, value)
	}
	for i := range e.lists {
		l := &e.lists[i]
		if len(l.rules) > 0 && !slices.Contains(l.rules, r.RuleID) || !l.allows(r.Path, value, least) {
			continue
		}
		if l.description == "" {
			return pipeline.AllowedByGitleaks + "an allow list without a description"
		}
		return pipeline.AllowedByGitleaks + plaintext.CutLine(strings.ToValidUTF8(l.description, ""), 200)
	}
	return ""
}

// allows reports whether a list allows a value at a path. Only the first least bytes of the value
// count: they are already a token, to which an author could append anything. An expression is
// matched with them alone. If it could look further, the end of its match does not show what
// decided it. An expression is also matched with the whole value if it spells out a single text of
// at least least bytes from start to end: then the base names this exact token, and appending to
// another token can't produce it.
func (l *exception) allows(path, value string, least int) bool {
	lower := strings.ToLower(value)
	some := false
	for _, kind := range []struct {
		there, holds bool
	}{
		{len(l.paths) > 0, path != "" && slices.ContainsFunc(l.paths, func(re *regexp.Regexp) bool { return re.MatchString(path) })},
		{len(l.values) > 0, slices.ContainsFunc(l.values, func(re *regexp.Regexp) bool {
			return least > 0 && re.MatchString(value[:least]) || spelled(re) == value
		})},
		{len(l.words) > 0, slices.ContainsFunc(l.words, func(w string) bool {
			return strings.Contains(strings.ToLower(value[:least]), w) || len(w) >= least && w == lower
		})},
	} {
		if !kind.there {
			continue
		}
		if l.all && !kind.holds {
			return false
		}
		some = some || kind.holds
	}
	return some
}

// spelled is the only text that an expression matches, if it is anchored at both ends and matches
// no other text, or "".
func spelled(re *regexp.Regexp) string {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	tree = tree.Simplify()
	anchored := tree.Op == syntax.OpConcat && len(tree.Sub) == 3 && tree.Sub[0].Op == syntax.OpBeginText && tree.Sub[2].Op == syntax.OpEndText
	if !anchored || tree.Sub[1].Op != syntax.OpLiteral || tree.Sub[1].Flags&syntax.FoldCase != 0 {
		return ""
	}
	return string(tree.Sub[1].Rune)
}

// Except records in the facts which of their redactions the base's .gitleaks.toml allows, in
// addition to Allow. Allowed secrets stay redacted.
func (c *Change) Except(facts *pipeline.PRFacts, e *Exceptions) {
	if len(e.lists) == 0 {
		return
	}
	for i := range facts.Redactions {
		r := &facts.Redactions[i]
		if value := c.Value(i); value != "" && r.Allowed == "" {
			r.Allowed = e.reason(r, value)
		}
	}
}
