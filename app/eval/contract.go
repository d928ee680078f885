package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The bounds of the files that are scored.
const (
	MaxScoredBytes  = 64 << 20
	maxScoredValues = 2_000_000
	maxScoredCases  = 10_000
	maxCaseDefects  = 200
	maxCaseFindings = 1_000 // RunDiffs lists no more
	maxLine         = 1 << 30
	maxCostUSD      = 1e9
	maxWrong        = 1_000 // errors that are listed
)

// ExpectedCase is a change whose defects are known. A clean change has none.
type ExpectedCase struct {
	Case    string
	Defects []Defect
}

// Reviewed holds a tool's findings in one change.
type Reviewed struct {
	Case     string
	Status   CaseStatus // empty if the file has none
	Findings []pipeline.Finding
	CostUSD  *float64 // nil if the file has none
}

// ReviewedCases holds a tool's findings in all changes.
type ReviewedCases struct {
	Cases   []Reviewed
	CostUSD *float64 // of all cases together, nil if the file has none
}

// LeftOut describes the fields of a file that are not read.
type LeftOut struct {
	Count int
	First jsontree.Place
}

// ReadExpected reads the expected defects, in any of three forms: an object with "cases", a
// list of defects that name their case, or an object with a list of defects by case.
// docs/reference/eval-files.md has the fields. A file with errors can't be used.
func ReadExpected(name string, text []byte) ([]ExpectedCase, LeftOut, []jsontree.Error) {
	var out []ExpectedCase
	r := readCases(name, text, "defects", "a defect")
	for i := range r.cases {
		c := &r.cases[i]
		e := ExpectedCase{Case: c.name}
		for _, f := range r.items(c, maxCaseDefects) {
			e.Defects = append(e.Defects, r.defect(f))
		}
		out = append(out, e)
	}
	return out, r.leftOut, r.wrong
}

// ReadFindings reads a tool's findings: the JSON of [Findings], a list of findings that
// name their case, or an object with a list of findings by case. A file with errors can't
// be used.
func ReadFindings(name string, text []byte) (ReviewedCases, LeftOut, []jsontree.Error) {
	var out ReviewedCases
	r := readCases(name, text, "findings", "a finding")
	out.CostUSD = r.cost(r.root)
	for i := range r.cases {
		c := &r.cases[i]
		reviewed := Reviewed{Case: c.name}
		if c.object != nil {
			reviewed.CostUSD = r.cost(c.object)
			f := jsontree.FieldsOf(c.object, "a case")
			reviewed.Status = CaseStatus(f.Text("status"))
			r.refuse(f.Wrong...)
		}
		for _, f := range r.items(c, maxCaseFindings) {
			reviewed.Findings = append(reviewed.Findings, r.finding(f))
		}
		out.Cases = append(out.Cases, reviewed)
	}
	return out, r.leftOut, r.wrong
}

// casesReader reads a file of cases.
type casesReader struct {
	root    *jsontree.Node
	list    string // the key of a case's list
	what    string // the name of its items in errors
	cases   []listedCase
	index   map[string]int
	leftOut LeftOut
	wrong   []jsontree.Error
}

// listedCase is a case with its items.
type listedCase struct {
	name   string
	object *jsontree.Node // nil if the file has no object for the case
	items  []*jsontree.Node
}

func readCases(name string, text []byte, list, what string) *casesReader {
	r := &casesReader{list: list, what: what, index: map[string]int{}}
	root, errs := jsontree.Options{MaxBytes: MaxScoredBytes, MaxValues: maxScoredValues}.Parse(&jsontree.Document{Name: name}, text)
	if r.wrong = errs; len(errs) > 0 {
		return r
	}
	r.root = root
	switch {
	case root.Kind == jsontree.Array:
		for _, n := range root.Elems {
			f := jsontree.FieldsOf(n, what)
			if name := f.Needed("case"); name != "" {
				r.add(name, n, nil, n)
			}
			r.refuse(f.Wrong...)
		}
	case root.Get("cases") != nil:
		whole := jsontree.FieldsOf(root, "the file")
		for _, n := range whole.List("cases") {
			f := jsontree.FieldsOf(n, "a case")
			if name := f.Needed("case"); name != "" {
				if _, twice := r.index[name]; twice {
					f.Refuse("case", fmt.Sprintf("the case %.100q is there twice", name), "put its "+list+" into one list")
				}
				r.add(name, n, n, f.NeededList(list)...)
			}
			r.refuse(f.Wrong...)
		}
		r.refuse(whole.Wrong...)
	case root.Kind == jsontree.Object:
		f := jsontree.FieldsOf(root, "the file")
		for _, m := range root.Members {
			r.add(m.Key, m.Value, nil, f.List(m.Key)...)
		}
		r.refuse(f.Wrong...)
	default:
		r.refuse(*root.Error("the file has no cases", `write {"cases": [{"case": "NAME", "`+list+`": []}]}`))
	}
	return r
}

// refuse adds errors, up to maxWrong.
func (r *casesReader) refuse(wrong ...jsontree.Error) {
	r.wrong = append(r.wrong, wrong[:min(len(wrong), max(0, maxWrong-len(r.wrong)))]...)
}

// add adds items to a case.
func (r *casesReader) add(name string, at, object *jsontree.Node, items ...*jsontree.Node) {
	i, ok := r.index[name]
	if !ok {
		i = len(r.cases)
		if i == maxScoredCases {
			r.refuse(*at.Error(fmt.Sprintf("there are more than %d cases", maxScoredCases), "split the file"))
		}
		if i >= maxScoredCases {
			return
		}
		r.index[name] = i
		r.cases = append(r.cases, listedCase{name: name, object: object})
	}
	r.cases[i].items = append(r.cases[i].items, items...)
}

// items returns the items of a case. More than most are an error.
func (r *casesReader) items(c *listedCase, most int) []*jsontree.Fields {
	if len(c.items) > most {
		r.refuse(*c.items[most].Error(fmt.Sprintf("the case %.100q lists more than %d", c.name, most), "leave out the least important"))
		return nil
	}
	var out []*jsontree.Fields
	for _, n := range c.items {
		out = append(out, jsontree.FieldsOf(n, r.what))
	}
	return out
}

// The names of fields: ours first, then those of other tools and data sets.
var (
	pathKeys  = []string{"path", "file", "file_path", "filename"}
	bodyKeys  = []string{"body", "message", "description", "comment"}
	knownKeys = slices.Concat(pathKeys, bodyKeys, []string{"case", "line", "lines", "start_line", "end_line", "severity", "category", "title"})
)

// first returns the first text among fields with the same meaning.
func first(f *jsontree.Fields, keys []string) string {
	for _, k := range keys {
		if text := f.Text(k); text != "" {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// path returns an item's path in the form that diffs use.
func (r *casesReader) path(f *jsontree.Fields) string {
	return strings.TrimPrefix(first(f, pathKeys), "./")
}

// ranges returns the lines of an item: line, start_line and end_line, or each of lines.
func (r *casesReader) ranges(f *jsontree.Fields) []Range {
	var out []Range
	start, end := max(f.Count("start_line", maxLine), f.Count("line", maxLine)), f.Count("end_line", maxLine)
	switch {
	case start > 0 && end > 0 && end < start:
		f.Refuse("end_line", fmt.Sprintf("end_line %d is before the first line, %d", end, start), "write the last line of the range")
	case start > 0:
		out = append(out, Range{start, max(start, end)})
	}
	for _, n := range f.List("lines") {
		line, err := strconv.Atoi(n.Text)
		if n.Kind != jsontree.Number || err != nil || line < 1 || line > maxLine {
			r.refuse(*n.Error("this is not a line number", "write the line's number, from 1, without quotes"))
			continue
		}
		out = append(out, Range{line, line})
	}
	return out
}

// severity returns one of the four severities, or "" for an unknown word.
func severity(f *jsontree.Fields) pipeline.Severity {
	s, _ := pipeline.ParseSeverity(f.Text("severity"))
	return s
}

func (r *casesReader) defect(f *jsontree.Fields) Defect {
	d := Defect{
		Path: r.path(f), Lines: r.ranges(f), Severity: severity(f), Category: strings.ToLower(strings.TrimSpace(f.Text("category"))),
		What: f.Text("title"), Rules: f.Texts("rules"),
	}
	if d.What == "" {
		d.What = first(f, bodyKeys)
	}
	for _, w := range f.Texts("words") {
		if w = strings.ToLower(strings.TrimSpace(w)); w != "" {
			d.Words = append(d.Words, w)
		}
	}
	if d.Path == "" && len(d.Words) == 0 && len(f.Wrong) == 0 {
		f.Needed("path")
	}
	r.take(f, "words", "rules")
	return d
}

func (r *casesReader) finding(f *jsontree.Fields) pipeline.Finding {
	out := pipeline.Finding{
		Path: r.path(f), Title: f.Text("title"), Message: first(f, bodyKeys), Severity: severity(f),
		Category: f.Text("category"), RuleID: f.Text("rule_id"),
	}
	for i, l := range r.ranges(f) {
		if i == 0 {
			out.StartLine, out.EndLine = l.First, l.Last
		}
		out.StartLine, out.EndLine = min(out.StartLine, l.First), max(out.EndLine, l.Last)
	}
	if out.Path == "" && out.Title == "" && out.Message == "" && len(f.Wrong) == 0 {
		f.Needed("title")
	}
	r.take(f, "rule_id", "section", "gate_severity", "confidence", "agents", "said_by")
	return out
}

// take collects the errors of an item, and counts its fields that are not read: all except
// the known keys and others.
func (r *casesReader) take(f *jsontree.Fields, others ...string) {
	r.refuse(f.Wrong...)
	for _, m := range f.Unknown(knownKeys...) {
		if slices.Contains(others, m.Key) {
			continue
		}
		if r.leftOut.Count++; r.leftOut.Count == 1 {
			r.leftOut.First = m.KeyPlace()
		}
	}
}

// cost returns usage.cost_usd of an object, or nil.
func (r *casesReader) cost(n *jsontree.Node) *float64 {
	c := n.Get("usage").Get("cost_usd")
	if c == nil || c.Kind == jsontree.Null {
		return nil
	}
	v, err := strconv.ParseFloat(c.Text, 64)
	if c.Kind != jsontree.Number || err != nil || v < 0 || v > maxCostUSD {
		r.refuse(*c.Error("this is not a cost", "write US dollars as a number, without quotes"))
		return nil
	}
	return &v
}
