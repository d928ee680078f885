package linters

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// reach is which lines a suppression is about.
type reach int

const (
	ofLine    reach = iota // its own line
	ofNext                 // the next line
	ofEither               // its own line, or the next one if nothing else is on its own
	ofCommand              // the command that begins on the next line
	opens                  // the lines up to one that closes
	closes
)

// form is a way to ask a linter for silence.
type form struct {
	by        string   // the linter, as people call it
	linters   []string // whose checks it silences, by their names in rules
	languages []string // nil means all
	mark      string   // a text that each suppression of the form holds
	pattern   *regexp.Regexp
	reach     reach
	named     bool // it names linters, and not their checks
	part      part // in which it stands
}

var (
	goLinters  = []string{"errcheck", "errorlint", "forcetypeassert", "gosec", "govet", "staticcheck"}
	javaScript = []string{"JavaScript", "TypeScript", "TSX", "Vue", "Svelte", "Astro"}
)

// forms lists all forms. The first group of a pattern has the names of checks. Without names, a
// suppression is about all checks.
var forms = []form{
	{by: "golangci-lint", linters: goLinters, languages: []string{"Go"}, mark: "nolint", pattern: regexp.MustCompile(`//\s?nolint(?::\s*([\w-]+(?:\s*,\s*[\w-]+)*))?(?:\s|$)`), reach: ofEither, named: true},
	{by: "gosec", linters: []string{"gosec"}, languages: []string{"Go"}, mark: "#nosec", pattern: regexp.MustCompile(`#nosec\b(?:[:\s]\s*(G\d+(?:[\s,]+G\d+)*))?`), reach: ofEither},
	{by: "staticcheck", linters: []string{"staticcheck"}, languages: []string{"Go"}, mark: "lint:ignore", pattern: regexp.MustCompile(`//lint:ignore\s+(\S+)\s+\S`), reach: ofEither},
	{by: "Ruff or Flake8", linters: []string{"ruff"}, languages: []string{"Python"}, mark: "noqa", pattern: regexp.MustCompile(`#\s*(?:noqa|NOQA)\b(?:\s*:([\w\s,]*))?`), reach: ofLine},
	{by: "Bandit", linters: []string{"bandit"}, languages: []string{"Python"}, mark: "nosec", pattern: regexp.MustCompile(`#\s*nosec\b(?:[:\s]\s*(B\d+(?:[\s,]+B\d+)*))?`), reach: ofLine},
	{by: "Pylint", linters: []string{"pylint"}, languages: []string{"Python"}, mark: "pylint:", pattern: regexp.MustCompile(`#\s*pylint:\s*disable=([\w-]+(?:\s*,\s*[\w-]+)*)`), reach: ofLine},
	{by: "Pylint", linters: []string{"pylint"}, languages: []string{"Python"}, mark: "pylint:", pattern: regexp.MustCompile(`#\s*pylint:\s*disable-next=([\w-]+(?:\s*,\s*[\w-]+)*)`), reach: ofNext},
	{by: "ESLint", linters: []string{"eslint"}, languages: javaScript, mark: "eslint-disable-line", pattern: regexp.MustCompile(`(?://|/\*)\s*eslint-disable-line\b(.*)`), reach: ofLine},
	{by: "ESLint", linters: []string{"eslint"}, languages: javaScript, mark: "eslint-disable-next-line", pattern: regexp.MustCompile(`(?://|/\*|<!--)\s*eslint-disable-next-line\b(.*)`), reach: ofNext},
	{by: "ESLint", linters: []string{"eslint"}, languages: javaScript, mark: "eslint-disable", pattern: regexp.MustCompile(`(?:/\*|<!--)\s*eslint-disable(\s.*|\*/.*|-->.*)?$`), reach: opens},
	{by: "ESLint", linters: []string{"eslint"}, languages: javaScript, mark: "eslint-enable", pattern: regexp.MustCompile(`(?:/\*|<!--)\s*eslint-enable(\s.*|\*/.*|-->.*)?$`), reach: closes},
	{by: "linters", linters: []string{"java"}, languages: []string{"Java"}, mark: "@SuppressWarnings", pattern: regexp.MustCompile(`@SuppressWarnings\(\s*(?:value\s*=\s*)?([^()]*)\)`), reach: ofEither, part: inCode},
	{by: "PHP_CodeSniffer", linters: []string{"phpcs"}, languages: []string{"PHP"}, mark: "phpcs:ignore", pattern: regexp.MustCompile(`(?://|#|/\*)\s*@?phpcs:ignore\b(.*)`), reach: ofEither},
	{by: "ShellCheck", linters: []string{"shellcheck"}, languages: []string{"Shell"}, mark: "shellcheck", pattern: regexp.MustCompile(`#\s*shellcheck\s+disable=(\w+(?:,\w+)*)`), reach: ofCommand},
	{by: "hadolint", linters: []string{"hadolint"}, languages: []string{"Dockerfile"}, mark: "hadolint", pattern: regexp.MustCompile(`#\s*hadolint\s+ignore=(\w+(?:\s*,\s*\w+)*)`), reach: ofCommand},
	{by: "SonarQube", linters: []string{"sonarqube"}, mark: "NOSONAR", pattern: regexp.MustCompile(`\bNOSONAR\b`), reach: ofLine},
}

// maxLine is the length of the longest line that is read, in bytes. Nobody writes a comment on a
// longer one.
const maxLine = 2000

// asked is a suppression on a line.
type asked struct {
	*form
	names []string // of checks; nil means all
	alone bool     // nothing else is on the line
}

// key is the same for suppressions that ask for the same.
func (a *asked) key() string { return a.mark + "\x00" + strings.Join(a.names, "\x00") }

// maxOfForm bounds the suppressions of one form on a line. Further ones don't count.
const maxOfForm = 10

// reads returns the suppressions of a line.
func reads(language, text string) (out []asked) {
	if len(text) > maxLine || !comments.Known(language) {
		return nil
	}
	var parts []part
	for i := range forms {
		f := &forms[i]
		if !strings.Contains(text, f.mark) || f.languages != nil && !slices.Contains(f.languages, language) {
			continue
		}
		if parts == nil {
			parts = partsOf(language, text)
		}
		for _, m := range f.pattern.FindAllStringSubmatchIndex(text, maxOfForm) {
			if parts[m[0]] != f.part {
				continue
			}
			a := asked{form: f, alone: strings.Trim(text[:m[0]], " \t{/*") == "" && (f.part == inComment || strings.TrimSpace(text[m[1]:]) == "")}
			if len(m) > 2 && m[2] >= 0 {
				a.names = namesIn(text[m[2]:m[3]])
			}
			out = append(out, a)
		}
	}
	return out
}

// part is what a byte of a line belongs to.
type part byte

const (
	inComment part = iota
	inCode
	inString // or nobody knows, after a quote without a partner
)

// partsOf tells for each byte of a line what it belongs to.
func partsOf(language, text string) []part {
	parts := make([]part, len(text))
	bare, texts := comments.Bare(language, text), comments.TextsOf(text)
	for i := 0; i < len(text); i++ {
		switch {
		case bare[i] != text[i]:
			parts[i] = inComment
		case strings.IndexByte("\"'`", text[i]) >= 0:
			end := len(text)
			if n := texts.At(i); n > 0 {
				end = i + n
			}
			for ; i < end; i++ {
				parts[i] = inString
			}
			i--
		default:
			parts[i] = inCode
		}
	}
	return parts
}

// namesIn returns the names of a list, without the reason that may follow it.
func namesIn(list string) []string {
	for _, end := range []string{"--", "*/"} {
		list, _, _ = strings.Cut(list, end)
	}
	return strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" \t,\"{}", r) })
}

// silences reports whether the suppression is about one of a rule's checks. The rule names them by
// linter.
func (a *asked) silences(rule map[string][]string) bool {
	return slices.ContainsFunc(a.linters, func(linter string) bool {
		checks, mapped := rule[linter]
		if !mapped || len(a.names) == 0 {
			return mapped
		}
		if a.named {
			checks = []string{linter}
		}
		return slices.ContainsFunc(a.names, func(name string) bool {
			return name == "all" || slices.ContainsFunc(checks, func(check string) bool { return strings.EqualFold(check, name) })
		})
	})
}
