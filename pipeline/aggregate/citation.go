package aggregate

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/pipeline"
)

// citations knows which of the places that findings cite exist.
type citations struct {
	in       *input
	verified map[source]map[string]bool // places that whoever ran the agent verified
	symbols  map[string]bool            // symbols on lines of the head
}

// symbolForm matches a name, or several joined as in pkg.Func, Type::method, object->field or
// Class#method, with parentheses if it is called.
var symbolForm = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*(?:(?:\.|::|->|#)[\pL_$][\pL\pN_$]*){0,7}(?:\(\))?$`)

// placeForm matches a path with a line.
var placeForm = regexp.MustCompile(`^(.+):([1-9][0-9]{0,8})$`)

func newCitations(in *input, findings []*item) *citations {
	c := &citations{in: in, verified: map[source]map[string]bool{}, symbols: map[string]bool{}}
	for _, r := range in.Results {
		s := source{r.Agent, r.Model}
		if c.verified[s] == nil {
			c.verified[s] = map[string]bool{}
		}
		for _, citation := range r.Citations {
			c.verified[s][citation] = true
		}
	}
	wanted := map[string]bool{}
	for _, f := range findings {
		if f.claimsAuto() && symbolForm.MatchString(f.Citation) {
			wanted[strings.TrimSuffix(f.Citation, "()")] = true
		}
	}
	if len(wanted) > 0 {
		c.lookFor(wanted)
	}
	return c
}

// exists reports whether a finding cites a concrete place that exists: a path, a line, or a symbol.
func (c *citations) exists(f *item) bool {
	path, line := f.Citation, 0
	if m := placeForm.FindStringSubmatch(f.Citation); m != nil {
		path = m[1]
		line, _ = strconv.Atoi(m[2]) // at most nine digits match
	}
	symbol := symbolForm.MatchString(f.Citation)
	if !symbol && strings.ContainsAny(path, " \t\r\n") && c.in.files[path] == nil {
		return false // it is prose, not a place
	}
	return c.verified[f.source()][f.Citation] || c.hasLine(path, line) || symbol && c.symbols[strings.TrimSuffix(f.Citation, "()")]
}

// hasLine reports whether a file of the change exists at the head and has the line, as far as
// the diff shows.
func (c *citations) hasLine(path string, line int) bool {
	file := c.in.files[path]
	if file == nil || file.Status == pipeline.FileRemoved {
		return false
	}
	last := 0
	for _, h := range file.Hunks {
		for _, l := range h.Lines {
			last = max(last, l.New)
		}
	}
	return line <= last || line == 0
}

// lookFor records which symbols occur on lines of the head as whole words.
func (c *citations) lookFor(wanted map[string]bool) {
	for i := range c.in.Facts.Files {
		for _, h := range c.in.Facts.Files[i].Hunks {
			for _, l := range h.Lines {
				if l.Op != pipeline.LineRemoved {
					c.scan(l.Text, wanted)
				}
			}
		}
	}
}

// maxNames is the number of names that a symbol may join, as in symbolForm.
const maxNames = 8

// scan records the wanted symbols that begin at a name of the line.
func (c *citations) scan(line string, wanted map[string]bool) {
	names := namesIn(line)
	for i := range names {
		for k := i; k < min(len(names), i+maxNames); k++ {
			if k > i && !joint(line[names[k-1].end:names[k].start]) {
				break
			}
			if symbol := line[names[i].start:names[k].end]; wanted[symbol] {
				c.symbols[symbol] = true
			}
		}
	}
}

// span is a part of a line, in bytes.
type span struct{ start, end int }

func namesIn(line string) []span {
	var names []span
	start := -1
	for i, r := range line {
		switch {
		case start < 0 && (unicode.IsLetter(r) || r == '_' || r == '$'):
			start = i
		case start >= 0 && !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '$':
			names = append(names, span{start, i})
			start = -1
		}
	}
	if start >= 0 {
		names = append(names, span{start, len(line)})
	}
	return names
}

func joint(s string) bool { return s == "." || s == "::" || s == "->" || s == "#" }
