package rules_test

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/rules"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// result holds the parts of a finding in which the engines must agree.
type result struct {
	Rule, Path, Section string
	Line                int
	House               string // what the message says about the base's places, and the severity
}

// naive is the engine in its simplest form: it runs every rule's regular expression on every line.
// The engine is compared with it. Both share the package comments, the forms of lines, the
// harmless calls and what counts as moved, so errors in these are in both.
type naive struct {
	rules []naiveRule
	whole []naiveWhole
}

type naiveWhole struct {
	id   string
	when *expression.Expression
}

func newNaive(t fataler, cfg []config.Rule) *naive {
	t.Helper()
	n := &naive{}
	compile := func(expression string) *regexp.Regexp {
		re, err := regexp.Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		return re
	}
	for i := range cfg {
		m := cfg[i].Match
		var when *expression.Expression
		if cfg[i].Enabled && cfg[i].When != "" {
			var err error
			if when, err = expression.Compile(cfg[i].When); err != nil {
				t.Fatal(err)
			}
		}
		if when != nil && m == nil {
			n.whole = append(n.whole, naiveWhole{cfg[i].ID, when})
		}
		if !cfg[i].Enabled || m == nil {
			continue
		}
		r := naiveRule{Rule: cfg[i], on: m.On, when: when}
		if r.on == "" {
			r.on = config.OnAdded
		}
		r.pattern = compile(m.Pattern)
		if m.Literal != "" {
			r.pattern = compile(regexp.QuoteMeta(m.Literal))
		}
		if m.Source != "" {
			r.safe = rules.Safe(t, r.Rule)
		}
		if m.NotPattern != "" {
			r.not = compile(m.NotPattern)
		}
		n.rules = append(n.rules, r)
	}
	return n
}

// scan returns the findings of all agents' rules.
func (n *naive) scan(facts *pipeline.PRFacts, classification *pipeline.Classification) []result {
	s := &naiveScan{naive: n, facts: facts, within: rules.StoodWithin(facts)}
	s.stood = map[string]func(file, hunk, line int) bool{}
	for _, r := range n.rules {
		s.stood[r.ID] = rules.Stood(fatalPanics{}, r.Rule, facts)
	}
	for i := range facts.Files {
		s.file(i, &facts.Files[i])
	}
	s.results = slices.DeleteFunc(s.results, func(f result) bool {
		i := slices.IndexFunc(n.rules, func(r naiveRule) bool { return r.ID == f.Rule })
		return f.Path != "" && s.refuted(n.rules[i].Match, f.Path)
	})
	s.messages()
	in := expression.Input{Facts: facts, Classification: classification, Budget: expression.NewBudget()}
	not := map[string]bool{}
	for i := range n.rules {
		if r := &n.rules[i]; r.when != nil && slices.ContainsFunc(s.results, func(f result) bool { return f.Rule == r.ID }) {
			holds, err := r.when.Holds(in)
			not[r.ID] = !holds && err == nil
		}
	}
	s.results = slices.DeleteFunc(s.results, func(f result) bool { return not[f.Rule] })
	for i := range s.results {
		s.house(&s.results[i])
	}
	for _, w := range n.whole {
		if holds, err := w.when.Holds(in); holds || err != nil {
			found := result{Rule: w.id}
			if found.Path, found.Line = rules.PlaceOf(w.when.Place(in)); found.Path == "" {
				found.Section = pipeline.SectionChange
			}
			s.results = append(s.results, found)
		}
	}
	if len(s.results) == 0 {
		return nil
	}
	return s.results
}

// house adds to a finding how many such places the base has in its directory, if there are many.
func (n *naiveScan) house(found *result) {
	i := slices.IndexFunc(n.rules, func(r naiveRule) bool { return r.ID == found.Rule })
	r := &n.rules[i]
	if !r.Style || r.on != config.OnAdded || r.strict() || found.Path == "" {
		return
	}
	places := 0
	for _, f := range n.facts.Files {
		was := f.Path
		if f.PreviousPath != "" {
			was = f.PreviousPath
		}
		if f.Status == pipeline.FileAdded || path.Dir(was) != path.Dir(found.Path) || !r.wants(&f) {
			continue
		}
		for _, h := range f.Hunks {
			reader := comments.NewReader(f.Language)
			for _, l := range h.Lines {
				if l.Op == pipeline.LineAdded {
					continue
				}
				text := l.Text
				if length := reader.Next(text); r.Match.Comments != nil && !*r.Match.Comments && r.language(&f) != "" {
					text = text[length:]
				}
				if r.matches(text, r.language(&f), lineBound) {
					places++
				}
			}
		}
	}
	if places >= 5 {
		found.House = fmt.Sprintf("in %d places of the same directory info", places)
	}
}

// refuted reports whether a line of the file, or of the change, speaks against a match.
func (n *naiveScan) refuted(m *config.Match, path string) bool {
	for _, f := range n.facts.Files {
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				says := func(pattern string) bool {
					return pattern != "" && l.Op != pipeline.LineRemoved && regexp.MustCompile(pattern).MatchString(read(l.Text, lineBound))
				}
				if f.Path == path && says(m.NotInFile) || !f.Documentation && says(m.NotInChange) {
					return true
				}
			}
		}
	}
	return false
}

type naiveRule struct {
	config.Rule
	on           string
	pattern, not *regexp.Regexp
	safe         func(statement, language string) bool // may be nil
	when         *expression.Expression
}

// mayBlock reports whether a finding of the rule can be major or critical, or its entry is final.
func (r *naiveRule) mayBlock() bool {
	worst := r.Severity.Rank()
	for _, s := range r.SeverityIn {
		worst = max(worst, s.Rank())
	}
	return r.Final || worst >= pipeline.SeverityMajor.Rank()
}

// early reports whether a line does not count yet.
func (r *naiveRule) early(line string, now time.Time) bool {
	return slices.ContainsFunc(r.Match.NotBefore, func(b config.NotBefore) bool {
		return now.Format(time.DateOnly) < b.Day && regexp.MustCompile(b.Pattern).MatchString(read(line, lineBound))
	})
}

type naiveScan struct {
	*naive
	facts   *pipeline.PRFacts
	results []result
	stood   map[string]func(file, hunk, line int) bool // by rule; see rules.Stood
	within  func(file, hunk, line, from, to int) bool  // see rules.StoodWithin
}

// fatalPanics is for what can't fail.
type fatalPanics struct{}

func (fatalPanics) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// These are the documented limits of the text that a rule reads.
const (
	lineBound = 1 << 20
	textBound = 256 << 10
)

// code returns the part of a hunk's line that a rule reads if it leaves comments out.
func (r *naiveRule) code(f *pipeline.File, h *pipeline.Hunk, i int) string {
	text := h.Lines[i].Text
	if r.Match.Comments == nil || *r.Match.Comments || r.language(f) == "" {
		return text
	}
	reader, length := comments.NewReader(f.Language), 0
	for j := range h.Lines[:i+1] {
		if op := h.Lines[j].Op; op == h.Lines[i].Op || op == pipeline.LineContext {
			length = reader.Next(h.Lines[j].Text)
		}
	}
	return text[length:]
}

// serious reports whether the rule reads added lines in all their forms.
func (r *naiveRule) serious() bool {
	return r.on == config.OnAdded && (r.Severity == pipeline.SeverityMajor || r.Severity == pipeline.SeverityCritical)
}

// excused reports whether each match is an exception by its own statement.
func (r *naiveRule) excused(text, language string) bool {
	const most = 50
	bare := comments.Bare(language, text)
	for i, m := range r.pattern.FindAllStringIndex(text, -1) {
		at := m[0]
		for at < m[1] && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		inComment := (r.Match.Comments == nil || *r.Match.Comments) && at < len(text) && bare[at] != text[at]
		if i == most || r.safe == nil && (r.not == nil || !r.not.MatchString(text)) {
			return false
		}
		if inComment {
			continue
		}
		parts, sure := comments.Statements(language, r.uncommented(bare, language, at), at, m[1], r.strict())
		var all, alone []bool // for each part, and for each part that matches by itself
		if !r.strict() {
			parts = parts[:1]
		}
		for _, part := range parts {
			if len(parts) > 1 && !strings.ContainsFunc(part, unicode.IsLetter) {
				continue
			}
			all = append(all, r.allows(part, language))
			if r.pattern.MatchString(part) {
				alone = append(alone, all[len(all)-1])
			}
		}
		if sure && len(all) > 1 && len(alone) > 0 {
			all = alone
		}
		if len(all) == 0 || slices.Contains(all, false) {
			return false
		}
	}
	return true
}

func (r *naiveRule) strict() bool {
	return r.Severity == pipeline.SeverityMajor || r.Severity == pipeline.SeverityCritical
}

// allows reports whether a statement excuses a match in it.
func (r *naiveRule) allows(statement, language string) bool {
	if r.safe != nil && r.safe(statement, language) {
		return true
	}
	if r.not == nil {
		return false
	}
	strict := r.strict()
	if !strict || r.not.MatchString(comments.Code(language, statement)) {
		return r.not.MatchString(statement)
	}
	matches := r.pattern.FindAllStringIndex(statement, -1)
	for _, m := range matches {
		excused := false
		for _, e := range r.not.FindAllStringIndex(statement, 50) {
			same := strings.TrimRight(statement[:e[1]], " \t,;)}") == strings.TrimRight(statement[:m[1]], " \t,;)}")
			excused = excused || same || e[0] <= m[0] && m[1] <= e[1]
		}
		if !excused {
			return false
		}
	}
	return len(matches) > 0 && len(matches) <= 50
}

// uncommented cuts code of an unknown language where a comment may begin after a position.
func (r *naiveRule) uncommented(bare, language string, from int) string {
	if !r.strict() || comments.Known(language) {
		return bare
	}
	for i := from + 1; i < len(bare); i++ {
		for _, mark := range []string{"#", "//", "--", "/*", "<!--"} {
			if strings.HasPrefix(bare[i:], mark) {
				return bare[:i]
			}
		}
	}
	return bare
}

// matchesText is matches for text that is not code.
func (r *naiveRule) matchesText(text string) bool {
	text = read(text, textBound)
	return r.pattern.MatchString(text) && (r.not == nil || !r.not.MatchString(text))
}

// read returns the part of a text that a rule reads: its start, without a carriage return at the end.
func read(text string, bound int) string {
	return strings.TrimSuffix(plaintext.Bytes(text, bound), "\r")
}

func (r *naiveRule) matches(text, language string, bound int) bool {
	text = read(text, bound)
	return r.pattern.MatchString(text) && !r.excused(text, language)
}

func (r *naiveRule) wants(f *pipeline.File) bool {
	any := func(globs []string) bool {
		return slices.ContainsFunc(globs, func(g string) bool { return doublestar.MatchUnvalidated(g, f.Path) })
	}
	m := r.Match
	onPath := r.on == config.OnFile || r.on == config.OnPath
	excluded := m.ExcludePaths
	if anyLanguage(f) && (r.Severity == pipeline.SeverityMajor || r.Severity == pipeline.SeverityCritical) {
		excluded = slices.DeleteFunc(slices.Clone(excluded), func(g string) bool { return g == "**/*.md" || strings.HasPrefix(g, "**/*.{md,") })
	}
	return (len(m.Paths) == 0 || any(m.Paths)) && !any(excluded) &&
		((r.Severity == pipeline.SeverityMajor || r.Severity == pipeline.SeverityCritical) && anyLanguage(f) || r.speaks(f)) &&
		(m.Tests == nil || *m.Tests || !f.Test) &&
		(onPath || !f.ByBase && (!skipped(f) || r.Severity == pipeline.SeverityCritical || r.Severity == pipeline.SeverityMajor))
}

func (r *naiveRule) speaks(f *pipeline.File) bool {
	return len(r.Match.Languages) == 0 || slices.Contains(r.Match.Languages, f.Language)
}

// anyLanguage says whether the file may be a script in any language.
func anyLanguage(f *pipeline.File) bool {
	return f.Language == "" && !f.Documentation && path.Ext(f.Path) == "" || normalize.Ambiguous(f)
}

// language is the language in which the rule reads the file.
func (r *naiveRule) language(f *pipeline.File) string {
	if !r.speaks(f) {
		return ""
	}
	return f.Language
}

// skipped reports whether the file is generated or vendored by its path. Only serious
// rules look at its lines.
func skipped(f *pipeline.File) bool { return f.GeneratedByPath || f.Vendored }

func (n *naiveScan) file(file int, f *pipeline.File) {
	var wanted []*naiveRule
	for i := range n.rules {
		if r := &n.rules[i]; r.wants(f) {
			wanted = append(wanted, r)
		}
	}
	count := map[string]int{}
	add := func(r *naiveRule, line int, asked bool) {
		if !asked {
			count[r.ID]++
		}
		if asked || r.Match.MaxPerFile == 0 || count[r.ID] <= r.Match.MaxPerFile {
			n.results = append(n.results, result{Rule: r.ID, Path: f.Path, Line: line})
		}
	}
	for _, r := range wanted {
		arrived := f.Status == pipeline.FileAdded || f.Status == pipeline.FileRenamed || f.Status == pipeline.FileCopied
		if (r.on == config.OnPath && arrived || r.on == config.OnFile && f.Status != pipeline.FileRemoved) && r.matchesText(f.Path) {
			add(r, 0, false)
		}
	}
	language := f.Language
	if anyLanguage(f) && language == "Markdown" {
		language = "" // a script is code, whatever its name is
	}
	dialect := rules.DialectOf(f.Language, anyLanguage(f))
	for hunk, h := range f.Hunks {
		type match struct {
			rule  *naiveRule
			line  int
			text  string
			asked bool
			at    int // its index in the hunk
			added bool
		}
		above := ""
		asks := func(text, id string) bool {
			return strings.Contains(text, "reviewgate:ignore") && strings.Contains(text, id)
		}
		var net []match
		seen := map[string]bool{}
		place := func(r *naiveRule, line int) string { return fmt.Sprintf("%s %d", r.ID, line) }
		others := map[*naiveRule][]string{}
		block := 0
		settle := func(end int) { // at the end of a block of changed lines
			for len(net) > 0 {
				r := net[0].rule
				own := slices.DeleteFunc(slices.Clone(net), func(m match) bool { return m.rule != r })
				net = slices.DeleteFunc(net, func(m match) bool { return m.rule == r })
				for _, o := range others[r] { // each removed line cancels the line with the longest common start
					at, longest := -1, -1
					for i, m := range own {
						if c := len(common(m.text, o)); c > longest {
							at, longest = i, c
						}
					}
					if at >= 0 {
						own = slices.Delete(own, at, at+1)
					}
				}
				for _, m := range own {
					if !m.added || n.within(file, hunk, m.at, block, end) || !n.stood[r.ID](file, hunk, m.at) {
						add(r, m.line, m.asked)
					}
				}
			}
			clear(others)
			block = end + 1
		}
		for j, l := range h.Lines {
			if l.Op == pipeline.LineContext {
				settle(j)
			}
			for _, r := range wanted {
				added := l.Op == pipeline.LineAdded && r.on == config.OnAdded
				removed := l.Op == pipeline.LineRemoved && r.on == config.OnRemoved
				changed := l.Op != pipeline.LineContext && (r.on == config.OnAdded || r.on == config.OnRemoved)
				if !changed || !r.matches(r.code(f, &h, j), r.language(f), lineBound) || r.early(l.Text, n.facts.ObservedAt) {
					continue
				}
				line := l.New
				if removed {
					line = beside(f, h, j)
				}
				asked := asks(l.Text, r.ID) || asks(above, r.ID) || r.silenced(f.Language, h.Lines, j)
				switch {
				case !added && !removed:
					others[r] = append(others[r], l.Text)
				case r.Match.Net && !(r.on == config.OnAdded && r.mayBlock()):
					net = append(net, match{r, line, l.Text, asked, j, added})
				case added && n.stood[r.ID](file, hunk, j):
				default:
					add(r, line, asked)
				}
				if added {
					seen[place(r, j)] = true
				}
			}
			if l.Op == pipeline.LineAdded {
				for _, form := range rules.FormsOf(language, anyLanguage(f), strings.TrimSuffix(l.Text[:min(len(l.Text), lineBound)], "\r")) {
					for _, r := range wanted {
						if seen[place(r, j)] || !r.serious() || !r.matches(form, r.language(f), lineBound) || r.code(f, &h, j) == "" {
							continue
						}
						seen[place(r, j)] = true
						add(r, l.New, asks(l.Text, r.ID) || asks(above, r.ID) || r.silenced(f.Language, h.Lines, j))
					}
				}
			}
			if l.New > 0 {
				above = l.Text
			}
		}
		settle(len(h.Lines))
		read := rules.Statements(language, dialect, &h)
		first := len(read)
		if anyLanguage(f) && f.Language != "" {
			read = append(read, rules.Statements("", dialect, &h)...)
		}
		for i, s := range read {
			for _, text := range s.Texts {
				for _, r := range wanted {
					if (r.language(f) == "") != (i >= first || f.Language == "") {
						continue
					}
					if s.Remark && r.Match.Comments != nil && !*r.Match.Comments {
						continue
					}
					matched := false
					for j := s.Start; j <= s.Last; j++ {
						matched = matched || seen[place(r, j)]
					}
					stood := func(texts []string) bool {
						return slices.ContainsFunc(texts, func(text string) bool { return r.matches(text, r.language(f), lineBound) })
					}
					isNew := func(texts []string) bool { return !stood(texts) }
					if matched || !r.serious() || !r.matches(text, r.language(f), lineBound) || !slices.ContainsFunc(s.Before, isNew) {
						continue
					}
					seen[place(r, s.First)] = true
					add(r, h.Lines[s.First].New, asks(h.Lines[s.First].Text, r.ID) || r.silenced(f.Language, h.Lines, s.First))
				}
			}
		}
	}
}

// linterComments are the lines with comments for linters that the tests use.
var linterComments = map[string]struct{ language, linter, check, about string }{
	"key //nolint:gosec":                     {"Go", "gosec", "", "line"},
	"//nolint":                               {"Go", "gosec", "", "next"},
	"key /* eslint-disable-line no-key */":   {"JavaScript", "eslint", "no-key", "line"},
	"// eslint-disable-next-line no-ab -- x": {"JavaScript", "eslint", "no-ab", "next"},
	"/* eslint-disable no-key */ ab":         {"JavaScript", "eslint", "no-key", "from"},
	"/* eslint-enable */":                    {"JavaScript", "eslint", "", "to"},
	"ab // NOSONAR":                          {"Go JavaScript", "sonarqube", "", "line"},
	"\"key //nolint:gosec\"":                 {},
}

// silenced reports whether a comment asked the rule's linter before the change to be silent about a line.
func (r *naiveRule) silenced(language string, lines []pipeline.Line, i int) bool {
	asks := func(j int, about string) bool {
		c, known := linterComments[lines[j].Text]
		checks, mapped := r.Linters[c.linter]
		return known && lines[j].Op != pipeline.LineRemoved && c.about == about && mapped && slices.Contains(strings.Fields(c.language), language) &&
			(c.check == "" || slices.Contains(checks, c.check))
	}
	// block is the range of changed lines around a line.
	block := func(j int) (from, to int) {
		for from = j; from > 0 && lines[from-1].Op != pipeline.LineContext; from-- {
		}
		for to = j; to < len(lines) && lines[to].Op != pipeline.LineContext; to++ {
		}
		return from, to
	}
	old := func(j int) bool {
		if lines[j].Op == pipeline.LineContext {
			return true
		}
		left := 0
		from, to := block(j)
		for k := from; k < to; k++ {
			switch same := lines[k].Text == lines[j].Text; {
			case same && lines[k].Op == pipeline.LineRemoved:
				left++
			case same && k < j:
				left--
			}
		}
		return left > 0
	}
	for j := i; j >= 0; j-- {
		switch {
		case j == i:
			if asks(j, "line") && old(j) {
				return true
			}
			continue
		case asks(j, "to"):
			return false
		case asks(j, "from") && old(j):
			return true
		}
		between := slices.ContainsFunc(lines[j+1:i], func(l pipeline.Line) bool { return l.Op != pipeline.LineRemoved })
		if between || lines[i].Op == pipeline.LineRemoved || !asks(j, "next") || !old(j) {
			continue
		}
		from, to := block(i)
		if lines[i].Op == pipeline.LineContext || slices.ContainsFunc(lines[from:to], func(l pipeline.Line) bool { return l.Op == pipeline.LineRemoved }) {
			return true
		}
	}
	return false
}

// common returns the common start of two texts.
func common(a, b string) string {
	for n := range min(len(a), len(b)) {
		if a[n] != b[n] {
			return a[:n]
		}
	}
	return a[:min(len(a), len(b))]
}

// beside returns the line of the new file after removed line i, or the last line of the hunk.
func beside(f *pipeline.File, h pipeline.Hunk, i int) int {
	if f.Status == pipeline.FileRemoved {
		return 0
	}
	last := 0
	for j, l := range h.Lines {
		if l.New > 0 {
			if last = l.New; j > i {
				return l.New
			}
		}
	}
	return last
}

func (n *naiveScan) messages() {
	for i := range n.rules {
		r := &n.rules[i]
		m := r.Match
		narrow := len(m.Paths)+len(m.ExcludePaths)+len(m.Languages) > 0 || m.Tests != nil && !*m.Tests
		if narrow && !slices.ContainsFunc(n.facts.Files, func(f pipeline.File) bool { return r.wants(&f) }) {
			continue
		}
		add := func(section, text string) {
			if r.matchesText(text) {
				n.results = append(n.results, result{Rule: r.ID, Section: section})
			}
		}
		switch r.on {
		case config.OnTitle:
			add("title", n.facts.Title)
		case config.OnBody:
			add("description", n.facts.Body)
		case config.OnCommitMessage:
			for _, c := range n.facts.Commits {
				add("commit "+c.SHA[:min(7, len(c.SHA))], c.Message)
			}
		}
	}
}

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// classification is the classification of the changes in the tests.
var classification = &pipeline.Classification{
	Domains: pipeline.List[pipeline.Domain]{{ID: "api", Files: pipeline.List[pipeline.DomainFile]{{Path: "a.go"}}}},
	Risk:    pipeline.Risk{Score: 30, Level: pipeline.RiskMedium},
}

// findings runs the engine for one agent over the whole change.
func findings(t fataler, cfg []config.Rule, facts *pipeline.PRFacts, agent string) []pipeline.Finding {
	t.Helper()
	return answer(t, cfg, facts, everything(agent)).Output.Findings
}

func answer(t fataler, cfg []config.Rule, facts *pipeline.PRFacts, task dispatch.Task) dispatch.Answer {
	t.Helper()
	e, err := rules.Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Scan(facts, classification).Agent(task.Entry.Agent).Review(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var housePlaces = regexp.MustCompile(`in \d+ places of the same directory`)

func results(findings []pipeline.Finding) []result {
	var out []result
	for _, f := range findings {
		r := result{Rule: f.RuleID, Path: f.Path, Section: f.Section, Line: f.StartLine}
		if house := housePlaces.FindString(f.Message); house != "" {
			r.House = house + " " + string(f.Severity)
		}
		out = append(out, r)
	}
	return out
}
