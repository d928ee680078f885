package aggregate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// A person's decision about a finding is bound to the code around it: aroundLines lines of
// code on each side. A finding about more than maxAround lines is bound to everything that
// the change does to its file.
const (
	aroundLines = 10
	maxAround   = 50
	// beside is the number of unchanged lines that count on each side, including comments and
	// blank lines. GitHub shows that many beside each changed line.
	beside = 3
)

// surroundings computes digests of the code around findings. A digest covers what the change
// adds and removes near the finding, and how far away. Unchanged lines come from the base, so
// the author can't turn them into bait, and the diff shows more or fewer of them from head to
// head. So the digest covers only the nearest of them, to locate the finding in the file. It
// also covers the file's kind and directory.
type surroundings struct {
	files map[string]*pipeline.File
	facts *pipeline.PRFacts
	// values are the digests of secrets by line. others are the digests, by rule, of secrets in
	// the title, the description, commit messages and file names.
	values map[lineOf]string
	others map[string][]string
	shapes map[string]*shape
	cache  map[lineRange]string
	names  map[string]string // see byName
	rules  map[string]*config.Rule
	all    string // the digest of what the change does to all files, computed when needed
}

// lineOf is a line of a file on the head's side.
type lineOf struct {
	path string
	line int
}

// lineRange is a range of lines of a file on the head's side, or the whole file if from is 0.
type lineRange struct {
	path     string
	from, to int
}

// shape is what a change does to a file, without comments and blank lines.
type shape struct {
	rows  []row
	code  []int     // the number of lines of code before each row, and before the end
	shown []visible // of the head's lines, in order
	whole sum       // of everything
	kind  sum       // of the file's directory and classification
}

// visible is a range of lines that the diff shows, without to.
type visible struct {
	from, to int
	hidden   int // the number of earlier lines that the diff does not show
}

// row is a line of code on the head's side, or a group of removed lines before one.
type row struct {
	line   int // on the head's side
	change change
	sum    sum    // of the text, if the change adds or removes it
	text   string // otherwise
	hunk   int
	same   int // the number of unchanged lines that the diff shows before it
}

type change byte

const (
	unchanged change = ' '
	added     change = '+'
	removed   change = '-'
)

// sum is a digest that is long enough to prevent collisions. An author who found two texts
// with one digest could have one dismissed and push the other.
type sum [16]byte

func newSurroundings(files map[string]*pipeline.File, facts *pipeline.PRFacts, rules map[string]*config.Rule) *surroundings {
	a := &surroundings{
		rules: rules,
		files: files, facts: facts, values: map[lineOf]string{}, others: map[string][]string{},
		shapes: map[string]*shape{}, cache: map[lineRange]string{},
	}
	for i := range facts.Redactions {
		switch r := &facts.Redactions[i]; {
		case r.Source != pipeline.RedactedLine || r.Path == "":
			id := pipeline.SecretRulePrefix + r.RuleID
			a.others[id] = append(a.others[id], a.value(r))
		case r.Op != pipeline.LineRemoved:
			a.values[lineOf{r.Path, r.Line}] += a.value(r)
		}
	}
	return a
}

// value identifies a secret. A secret without a digest counts as a different one on each head.
func (a *surroundings) value(r *pipeline.Redaction) string { return cmp.Or(r.Digest, a.facts.Head.SHA) }

// of returns the digest of the code around a finding. If the file's diff is unknown, the digest
// differs from head to head. For a finding outside files, it is the digest of the text that the
// finding is about, or else of the finding's own text. It is "" if a model wrote that text, since a
// model's words differ from one review to the next. For a rule that looks at the whole change and
// may block, the digest also covers everything that the change does, since such a rule says the
// same about any change.
func (a *surroundings) of(f *item) string {
	if f.Path == "" {
		about := []string{f.Title, f.Message}
		switch values := a.others[f.RuleID]; {
		case len(values) > 0:
			about = slices.Sorted(slices.Values(values))
		case f.Section == pipeline.SectionTitle:
			about = []string{a.facts.Title}
		case f.Section == pipeline.SectionDescription:
			about = []string{a.facts.Body}
		case f.Model != "":
			return ""
		case a.ofAll(f):
			about = append(about, a.change())
		}
		all := sumOf(about...)
		return hex.EncodeToString(all[:])
	}
	near := a.around(lineRange{f.Path, f.StartLine, f.EndLine})
	if a.ofAll(f) { // the file is only the first one that makes the rule's condition hold
		all := sumOf(near, a.change())
		return hex.EncodeToString(all[:])
	}
	return near
}

// around returns the digest of the code around some lines.
func (a *surroundings) around(p lineRange) string {
	if d, ok := a.cache[p]; ok {
		return d
	}
	s := a.shape(p.path)
	all := s.whole
	if p.from > 0 && p.to-p.from < maxAround && len(s.rows) > 0 {
		all = sha(s.near(s.kind[:], p.from, max(p.from, p.to)))
	}
	d := hex.EncodeToString(all[:])
	a.cache[p] = d
	return d
}

// ofAll reports whether a finding comes from a rule about the change as a whole, and may block.
func (a *surroundings) ofAll(f *item) bool {
	r := a.rules[f.RuleID]
	return r != nil && r.When != "" && r.Match == nil && f.Severity.Rank() >= pipeline.SeverityMajor.Rank()
}

// change is the digest of what the change does to all files.
func (a *surroundings) change() string {
	if a.all == "" {
		var all []byte
		for _, p := range slices.Sorted(maps.Keys(a.files)) {
			whole := a.shape(p).whole
			all = append(append(all, p...), whole[:]...)
		}
		whole := sha(all)
		a.all = hex.EncodeToString(whole[:])
	}
	return a.all
}

func (a *surroundings) shape(path string) *shape {
	if s := a.shapes[path]; s != nil {
		return s
	}
	s := &shape{}
	if f := a.files[path]; f != nil {
		s.read(f, a.values)
	}
	if len(s.rows) == 0 {
		s.whole = sumOf("head", a.facts.Head.SHA)
	}
	a.shapes[path] = s
	return s
}

// read reads a file's diff.
func (s *shape) read(f *pipeline.File, values map[lineOf]string) {
	s.kind = sumOf(path.Dir(f.Path), f.Language, fmt.Sprint(f.Test, f.Documentation, f.Vendored, f.Generated)+role(path.Base(f.Path)))
	indented, language := indents(f.Language), commentsOf(f)
	same := 0
	for i, h := range f.Hunks {
		head, base := comments.NewReader(language), comments.NewReader(language)
		next := h.NewStart
		var removedCode []string
		add := func(r row) {
			r.hunk, r.same = i, same
			s.rows = append(s.rows, r)
		}
		remove := func() {
			if len(removedCode) > 0 {
				add(row{line: next, change: removed, sum: sumOf(removedCode...)})
				removedCode = nil
			}
		}
		for _, l := range h.Lines {
			oldCode := ""
			if l.Op != pipeline.LineAdded {
				oldCode = code(&base, l.Text, indented)
			}
			if l.Op == pipeline.LineRemoved {
				if oldCode != "" {
					removedCode = append(removedCode, oldCode)
				}
				continue
			}
			newCode := code(&head, l.Text, indented)
			if newCode != "" && h.Returns {
				newCode += "\r" // to a shell it is part of the line
			}
			next = l.New
			switch {
			case l.Op == pipeline.LineContext && oldCode == strings.TrimSuffix(newCode, "\r"):
				if newCode != "" {
					remove()
					add(row{line: l.New, change: unchanged, text: newCode})
				}
				same++
			default:
				// Changes to other lines may also turn this line into a comment, or a comment
				// into code.
				if oldCode != "" {
					removedCode = append(removedCode, oldCode)
				}
				if newCode != "" {
					remove()
					digest := sumOf(newCode)
					if value := values[lineOf{f.Path, l.New}]; value != "" {
						digest = sumOf(newCode, value)
					}
					add(row{line: l.New, change: added, sum: digest})
				}
			}
			next = l.New + 1
		}
		if !head.Same(&base) { // the following lines become comments, or stop being comments
			removedCode = append(removedCode, "")
		}
		remove()
		s.show(h.NewStart, next)
	}
	s.count()
}

// show records the lines that a hunk shows.
func (s *shape) show(from, to int) {
	shown := visible{from, to, from - 1}
	if n := len(s.shown); n > 0 {
		before := s.shown[n-1]
		shown.hidden = before.hidden + from - before.to
	}
	s.shown = append(s.shown, shown)
}

// count counts the lines of code before each row.
func (s *shape) count() {
	all := s.kind[:]
	n := 0
	for _, r := range s.rows {
		s.code = append(s.code, n)
		if r.change != removed {
			n++
		}
		all = r.add(all, 0)
	}
	s.code = append(s.code, n)
	s.whole = sha(all)
}

// near appends what the change does at and near the lines from and to on the head's side.
func (s *shape) near(near []byte, from, to int) []byte {
	first := sort.Search(len(s.rows), func(i int) bool { return s.rows[i].line >= from })
	last := first + sort.Search(len(s.rows)-first, func(i int) bool { return s.rows[first+i].line > to })
	const most = 2 * aroundLines
	start, end := s.distance(first, from), s.distance(last, to+1)
	above, below := s.same(first, last)
	for i := first - 1; i >= 0; i-- {
		r := &s.rows[i]
		far := start - s.distance(i, r.line)
		if r.change == removed {
			far += 2 // the distance of the line of code that was there
		}
		if far > most {
			break
		}
		if r.change != unchanged || above-r.same <= beside && r.hunk == s.hunk(from) {
			near = r.add(near, -far)
		}
	}
	for i := first; i < last; i++ {
		near = s.rows[i].add(near, s.code[i]-s.code[first])
	}
	for i := last; i < len(s.rows); i++ {
		r := &s.rows[i]
		far := s.distance(i, r.line) - end + 2
		if far > most {
			break
		}
		if r.change != unchanged || r.same-below < beside && r.hunk == s.hunk(to) {
			near = r.add(near, far)
		}
	}
	return near
}

// same counts the unchanged lines that the diff shows before row first, and before row last.
func (s *shape) same(first, last int) (above, below int) {
	if first < len(s.rows) {
		above = s.rows[first].same
	} else if first > 0 {
		above = s.rows[first-1].upTo()
	}
	if last > first {
		return above, s.rows[last-1].upTo()
	}
	return above, above
}

// upTo is the number of unchanged lines that the diff shows up to and including the row.
func (r *row) upTo() int {
	if r.change == unchanged {
		return r.same + 1
	}
	return r.same
}

// hunk is the index of the hunk that shows a line, or -1.
func (s *shape) hunk(line int) int {
	n := sort.Search(len(s.shown), func(i int) bool { return s.shown[i].from > line }) - 1
	if n < 0 || line >= s.shown[n].to {
		return -1
	}
	return n
}

// distance measures how far down the file a line between rows i-1 and i is. Each line of code
// counts two, and each line that the diff does not show counts one, as if half of those were code.
// In doubt too many lines count as near rather than too few.
func (s *shape) distance(i, line int) int {
	hidden := line - 1
	if n := sort.Search(len(s.shown), func(i int) bool { return s.shown[i].from > line }); n > 0 {
		shown := s.shown[n-1]
		hidden = shown.hidden + max(0, line-shown.to)
	}
	return 2*s.code[i] + hidden
}

// add appends what the change does in the row, and the row's distance from the finding.
func (r *row) add(near []byte, far int) []byte {
	if r.change == unchanged {
		same := sumOf(r.text)
		return append(append(near, byte(unchanged)), same[:]...)
	}
	near = binary.AppendVarint(append(near, byte(r.change)), int64(far))
	return append(near, r.sum[:]...)
}

// roles are words in a file's name that say where the file is used, or that it is not used.
var roles = strings.Fields(`example examples sample samples template templates tmpl dist demo dummy dev devel development debug local test tests testing
	qa uat staging stage sandbox mock mocks fake fakes stub stubs fixture fixtures disabled off ignore bak backup old orig draft wip
	prod production live release main init setup conftest index windows linux darwin wasm`)

// role is what a file's name says about where the file is used.
func role(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return !slices.Contains(roles, w) })
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") { // tools skip such files
		words = append(words, "hidden")
	}
	return strings.Join(words, " ")
}

// directive matches a comment that may change what a program does. Most have no space after
// the comment mark: //go:build, #!/bin/sh, #SBATCH, #Requires, MySQL's /*!. Many begin with a
// sign, a word and a colon, or a word in capitals: comments for migration tools, init scripts,
// docblocks, notebooks and builds. No list of tools would be complete, so every comment of such
// a form counts.
var directive = regexp.MustCompile(`^\s*(?:(?://|#|--|;|%|/\*|<#|<!--)[\pL!+@$%#&:>/]|` +
	mark + `(?:[+@!$%&:>~|=#]|-\*-|[\w./-]+[ \t]*[:=]|[\w./-]+(?:[ \t][\w-]+){1,2}[ \t]*[:=](?:\s|$)|[A-Z]{2,}\b|` +
	`(?:cgo|include|define|undef|if|else|elif|endif|pragma|error|line|export|extern|vim?|ex)\b|.*coding[:=]|MAGIC\b|Databricks\b))`)

// mark matches the mark that begins a comment or a line within one.
const mark = `(?:(?://+|#+|--+|;+|%+|/?\*+|<!--+|<#)[ \t]*)?`

// filled matches a comment with something that a template engine, an annotation reader or a
// server may run or replace.
var filled = regexp.MustCompile(`\{\{|\{%|<%|<\?|\[%|\$\{|#\{|(?:^|[\s(*{])@\w|` +
	`<!--\s*(?:#|esi\b|/?ko\b)|^\s*(?://|#)\s*(?:cargo-deps:|using |DEPS )`)

// In some files, comments hold other code: C for cgo, or a script's dependencies.
var (
	cgo    = regexp.MustCompile(`^\s*import\s+"C"|\bC\.\w`)
	script = regexp.MustCompile(`^# /// \w`)
)

// commentsOf is the language whose comments a file has. It is empty if the comments may hold
// code.
func commentsOf(f *pipeline.File) string {
	holds := map[string]*regexp.Regexp{"Go": cgo, "Python": script}[f.Language]
	if holds != nil && slices.ContainsFunc(f.Hunks, func(h pipeline.Hunk) bool {
		return slices.ContainsFunc(h.Lines, func(l pipeline.Line) bool { return holds.MatchString(l.Text) })
	}) {
		return ""
	}
	return f.Language
}

// code is a line without its comment and without white space that has no meaning. A comment
// that ends in a backslash may continue on the next line, so it stays.
func code(r *comments.Reader, text string, indented bool) string {
	after := r.Next(text)
	end := strings.TrimRight(text, " \t\r\v\f")
	if after > 0 && (strings.HasSuffix(end, `\`) || strings.HasSuffix(end, "??/") || directive.MatchString(text) || filled.MatchString(text)) {
		after = 0
	}
	broken := ""
	if strings.HasSuffix(end, `\`) && text[len(end):] != "" {
		broken = " " // so the next line does not continue this one
	}
	if strings.IndexByte(text[len(end):], '\r') >= 0 {
		broken += "\r" // only some lines have one
	}
	text = end[min(after, len(end)):] + broken
	if indented {
		return text
	}
	if i := strings.IndexAny(text, "\"'`"); i >= 0 { // white space in quotes has a meaning
		return spaced(text[:i]) + text[i:]
	}
	return spaced(text) + broken
}

// spaced replaces each run of spaces and tabs by one space, and removes those at the ends.
// No other character separates words in every language.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
}

// indenting are the languages known to package comments in which indentation has a meaning: it
// makes a block, a recipe or a continued value, or keeps a line from ending a string of several
// lines.
var indenting = []string{"Python", "YAML", "Shell", "Dockerfile", "Makefile", "PowerShell", "HCL", "Scala", "INI"}

// indents reports whether indentation has a meaning in a language, or may have one.
func indents(language string) bool {
	r := comments.NewReader(language)
	return !r.Knows() || slices.Contains(indenting, language)
}

// sumOf hashes the texts with their lengths: "ab", "c" and "a", "bc" differ.
func sumOf(texts ...string) sum {
	var all []byte
	for _, t := range texts {
		all = binary.AppendUvarint(all, uint64(len(t)))
		all = append(all, t...)
	}
	return sha(all)
}

func sha(b []byte) sum {
	all := sha256.Sum256(b)
	return sum(all[:len(sum{})])
}
