package aggregate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/internal/comments"
)

// What a person says of a finding is bound to the code around it: so many lines of
// code on each side. A finding about more lines than maxAround is bound to all that
// the change does to its file.
const (
	aroundLines = 10
	maxAround   = 50
)

// arounds digests the code around findings. What the change does not touch is the
// base's, which no author can turn into a bait, and of which the diff shows more or
// less from head to head. So a digest holds what the change adds and removes near the
// finding, and how far away, and nothing of the lines between.
type arounds struct {
	files map[string]*pipeline.File
	head  string // SHA
	// values are the digests of secrets by their line, and others those of secrets in
	// the title, the description and commit messages, by rule.
	values map[lineOf]string
	others map[string][]string
	known  map[string]*shape
	made   map[lineRange]string
}

// lineOf is a line of a file on the head's side.
type lineOf struct {
	path string
	line int
}

// lineRange is a range of lines of a file on the head's side; from 0 for all of it.
type lineRange struct {
	path     string
	from, to int
}

// shape is what a change does to a file, without comments and blank lines.
type shape struct {
	rows  []row
	code  []int     // for each row, and for the end: how many lines of code stand before it
	shown []visible // of the head's lines, in their order
	whole sum       // of all of it
}

// visible is a range of lines, the last excluded, that the diff shows.
type visible struct {
	from, to int
	unseen   int // lines before it that the diff does not show
}

// row is a line of code on the head's side, or the lines that the change takes out
// before one.
type row struct {
	line   int // on the head's side
	change change
	sum    sum // of the text, where the change makes one
}

type change byte

const (
	unchanged change = ' '
	added     change = '+'
	removed   change = '-'
)

// sum is a digest that nobody finds a second text for.
type sum [8]byte

func newArounds(files map[string]*pipeline.File, facts *pipeline.PRFacts) *arounds {
	a := &arounds{
		files: files, head: facts.Head.SHA, values: map[lineOf]string{}, others: map[string][]string{},
		known: map[string]*shape{}, made: map[lineRange]string{},
	}
	for i := range facts.Redactions {
		switch r := &facts.Redactions[i]; {
		case r.Source != pipeline.RedactedLine:
			id := pipeline.SecretRulePrefix + r.RuleID
			a.others[id] = append(a.others[id], a.value(r))
		case r.Op != pipeline.LineRemoved:
			a.values[lineOf{r.Path, r.Line}] += a.value(r)
		}
	}
	return a
}

// value tells a secret from another one. Where nothing does, it is another one on each
// head.
func (a *arounds) value(r *pipeline.Redaction) string { return cmp.Or(r.Digest, a.head) }

// of returns the digest of the code around a finding: empty for one about no file.
// Where the diff of the file is not known it is another on each head.
func (a *arounds) of(f *item) string {
	if f.Path == "" {
		if values := a.others[f.RuleID]; len(values) > 0 {
			all := sumOf(slices.Sorted(slices.Values(values))...)
			return hex.EncodeToString(all[:])
		}
		return ""
	}
	p := lineRange{f.Path, f.StartLine, f.EndLine}
	if d, ok := a.made[p]; ok {
		return d
	}
	s := a.shape(f.Path)
	all := s.whole
	if p.from > 0 && p.to-p.from < maxAround && len(s.rows) > 0 {
		all = sha(s.around(nil, p.from, max(p.from, p.to)))
	}
	d := hex.EncodeToString(all[:])
	a.made[p] = d
	return d
}

func (a *arounds) shape(path string) *shape {
	if s := a.known[path]; s != nil {
		return s
	}
	s := &shape{}
	if f := a.files[path]; f != nil {
		s.read(f, a.values)
	}
	if len(s.rows) == 0 {
		s.whole = sumOf("head", a.head)
	}
	a.known[path] = s
	return s
}

// read takes in a file's diff.
func (s *shape) read(f *pipeline.File, values map[lineOf]string) {
	indented := indents(f.Language)
	for _, h := range f.Hunks {
		head, base := comments.NewReader(f.Language), comments.NewReader(f.Language)
		next := h.NewStart
		var gone []string
		for _, l := range h.Lines {
			if l.Op == pipeline.LineRemoved {
				if text := code(&base, l.Text, indented); text != "" {
					gone = append(gone, text)
				}
				continue
			}
			if l.Op == pipeline.LineContext {
				base.Next(l.Text)
			}
			text := code(&head, l.Text, indented)
			next = l.New + 1
			if text == "" {
				continue
			}
			s.remove(gone, l.New)
			gone = nil
			if l.Op == pipeline.LineContext {
				s.rows = append(s.rows, row{line: l.New, change: unchanged})
			} else {
				made := sumOf(text)
				if value := values[lineOf{f.Path, l.New}]; value != "" {
					made = sumOf(text, value)
				}
				s.rows = append(s.rows, row{l.New, added, made})
			}
		}
		s.remove(gone, next)
		s.show(h.NewStart, next)
	}
	s.count()
}

// remove adds a row for lines that were taken out before one.
func (s *shape) remove(gone []string, line int) {
	if len(gone) > 0 {
		s.rows = append(s.rows, row{line, removed, sumOf(gone...)})
	}
}

// show notes which lines a hunk shows.
func (s *shape) show(from, to int) {
	shown := visible{from, to, from - 1}
	if n := len(s.shown); n > 0 {
		before := s.shown[n-1]
		shown.unseen = before.unseen + from - before.to
	}
	s.shown = append(s.shown, shown)
}

// count counts the lines of code before each row.
func (s *shape) count() {
	var all []byte
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

// around appends what the change does at lines on the head's side and near them.
func (s *shape) around(near []byte, from, to int) []byte {
	first := sort.Search(len(s.rows), func(i int) bool { return s.rows[i].line >= from })
	last := first + sort.Search(len(s.rows)-first, func(i int) bool { return s.rows[first+i].line > to })
	const most = 2 * aroundLines
	start, end := s.at(first, from), s.at(last, to+1)
	for i := first - 1; i >= 0; i-- {
		far := start - s.at(i, s.rows[i].line)
		if s.rows[i].change == removed {
			far += 2 // as far as the line of code that stood there
		}
		if far > most {
			break
		}
		near = s.rows[i].add(near, -far)
	}
	for i := first; i < last; i++ {
		near = s.rows[i].add(near, s.code[i]-s.code[first])
	}
	for i := last; i < len(s.rows); i++ {
		far := s.at(i, s.rows[i].line) - end + 2
		if far > most {
			break
		}
		near = s.rows[i].add(near, far)
	}
	return near
}

// at is how far down a line stands that comes before row i and after the one before
// that: two for each line of code, and one for each that the diff does not show, half
// of which are taken for code. So rather too many lines are near than too few.
func (s *shape) at(i, line int) int {
	unseen := line - 1
	if n := sort.Search(len(s.shown), func(i int) bool { return s.shown[i].from > line }); n > 0 {
		shown := s.shown[n-1]
		unseen = shown.unseen + max(0, line-shown.to)
	}
	return 2*s.code[i] + unseen
}

// add appends what the change does in the row, and how far from the finding that is.
func (r row) add(near []byte, far int) []byte {
	if r.change == unchanged {
		return near
	}
	near = binary.AppendVarint(append(near, byte(r.change)), int64(far))
	return append(near, r.sum[:]...)
}

// directive is a comment that changes what a program does: of Go's compiler and cgo, of
// a script's interpreter and its encoding.
var directive = regexp.MustCompile(`^\s*(?://\s*(?:go:|line |\+build|export )|/\*line |(?://|\*)?\s*#\s*(?:cgo|include|define|if|pragma)\b|#!|#.*coding[:=])`)

// code is what a line holds besides a comment and white space that means nothing.
func code(r *comments.Reader, text string, indented bool) string {
	after := r.Next(text)
	if directive.MatchString(text) {
		after = 0
	}
	text = strings.TrimRight(text[after:], " \t\r\v\f")
	if indented {
		return text
	}
	return collapsed(text)
}

// indents reports whether white space at the start of a line means something, or
// may, in a language.
func indents(language string) bool {
	r := comments.NewReader(language)
	return !r.Knows() || language == "Python" || language == "YAML"
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
	return sum(all[:8])
}
