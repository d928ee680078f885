package reviewreport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Orchestrators know these texts of records that can't be used.
const (
	missingSection  = "Review report missing machine-readable section"
	recoverSection  = "Re-run review agent or parse human-readable content manually"
	parsingFailed   = "JSON parsing failed: "
	recoverJSON     = "Check review report for syntax errors in JSON block"
	recoverRequired = "Re-run review agent, or add what is missing to JSON block"
)

// required lists the fields that a record must have, in the order in which missing ones are named.
var required = []string{"status", "agent", "operation_type", "summary", "success_evidence"}

// Extract reads the machine-readable section of a review report. It always returns a record. A
// Broken record says why the report can't be used, with the line, the column (in bytes) and the
// JSON Pointer of the first fault.
//
// It ignores unknown fields. Its memory is limited to some 30 MB for the worst report of MaxBytes.
func Extract(markdown []byte) Record {
	if len(markdown) > MaxBytes {
		return broken(fmt.Sprintf("%sthe report has more than %d bytes", parsingFailed, MaxBytes), "Make review report shorter")
	}
	b, found := findBlock(markdown)
	switch {
	case !found:
		return broken(missingSection, recoverSection)
	case !b.closed:
		return broken(fmt.Sprintf("%sline %d: the json block is not closed", parsingFailed, b.line-1), recoverJSON)
	case len(strings.TrimSpace(string(b.text))) == 0:
		return broken(fmt.Sprintf("%sline %d: the json block is empty", parsingFailed, b.line-1), recoverJSON)
	}
	root, errs := jsontree.Parse(&jsontree.Document{}, b.text)
	if len(errs) > 0 {
		e := errs[0]
		return broken(parsingFailed+place(e.Place, b.line)+e.Problem+"; "+e.Remedy+andMore(len(errs)-1), recoverJSON)
	}
	d := decoder{line: b.line}
	record := d.record(root)
	switch {
	case len(d.missing) > 0:
		return broken(missingFields(b.line, d.missing), recoverRequired)
	case len(d.wrong) > 0:
		return broken(parsingFailed+d.wrong[0]+andMore(len(d.wrong)-1), recoverJSON)
	}
	return record
}

// place returns the position of a value in the report. The block's first line has the number line
// there.
func place(p jsontree.Place, line int) string {
	at := fmt.Sprintf("line %d, column %d: ", p.Line+line-1, p.Column)
	if p.Pointer != "" {
		at += plaintext.CutLine(p.Pointer, maxQuoted) + ": "
	}
	return at
}

// andMore returns the number of problems besides the one that is named, as text.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

func missingFields(line int, fields []string) string {
	noun := "field"
	if len(fields) > 1 {
		noun = "fields"
	}
	return fmt.Sprintf("Missing required %s: %s (in the json block on line %d)", noun, strings.Join(fields, ", "), line-1)
}

// decoder reads the tree of a record and collects its problems.
type decoder struct {
	line    int
	missing []string // the missing required fields
	wrong   []string
}

func (d *decoder) record(n *jsontree.Node) Record {
	if n.Kind != jsontree.Object {
		d.unfit(n, "an object")
		return Record{}
	}
	for _, field := range required {
		if n.Get(field) == nil {
			d.missing = append(d.missing, field)
		}
	}
	var checklist map[string]any
	if c := d.object(n, "validation_checklist"); c != nil {
		checklist, _ = c.Value().(map[string]any)
	}
	return Record{
		Status:              d.word(n, "status"),
		Agent:               d.word(n, "agent"),
		TaskID:              d.text(n, "task_id"),
		OperationType:       d.text(n, "operation_type"),
		Summary:             d.text(n, "summary"),
		ValidationChecklist: checklist,
		SuccessEvidence:     d.evidence(d.object(n, "success_evidence")),
		Confidence:          d.score(n, "confidence"),
		Severity:            d.word(n, "severity"),
		ExecutionTimestamp:  d.text(n, "execution_timestamp"),
	}
}

func (d *decoder) evidence(n *jsontree.Node) Evidence {
	var e Evidence
	if n.Get("quality_assessment") != nil {
		q := d.object(n, "quality_assessment")
		e.QualityAssessment = &QualityAssessment{
			CompletenessScore:  d.score(q, "completeness_score"),
			TestabilityScore:   d.score(q, "testability_score"),
			ClarityScore:       d.score(q, "clarity_score"),
			PainPointAlignment: d.score(q, "pain_point_alignment"),
		}
	}
	e.ReviewFindings.Recommendations = d.recommendations(d.object(n, "review_findings").Get("recommendations"))
	v := d.object(n, "validation_results")
	e.ValidationResults = ValidationResults{
		QualityThresholdMet:  d.yes(v, "quality_threshold_met"),
		PainPointAligned:     d.degree(v, "pain_point_aligned"),
		ArchitectureFeasible: d.degree(v, "architecture_feasible"),
	}
	return e
}

func (d *decoder) recommendations(n *jsontree.Node) []Recommendation {
	switch {
	case n == nil:
		return nil
	case n.Kind != jsontree.Array:
		d.unfit(n, "a list")
		return nil
	case len(n.Elems) > MaxRecommendations:
		d.problem(n, fmt.Sprintf("there are %d recommendations, more than the limit of %d", len(n.Elems), MaxRecommendations), "keep the most important ones")
		return nil
	}
	list := make([]Recommendation, 0, len(n.Elems))
	for _, e := range n.Elems {
		if e.Kind != jsontree.Object {
			d.unfit(e, "an object with priority, category, finding, recommendation and location")
			continue
		}
		list = append(list, Recommendation{
			Priority:       d.text(e, "priority"),
			Category:       d.text(e, "category"),
			Finding:        d.text(e, "finding"),
			Recommendation: d.text(e, "recommendation"),
			Location:       d.text(e, "location"),
		})
	}
	return list
}

// object returns a member that is an object, or nil.
func (d *decoder) object(n *jsontree.Node, key string) *jsontree.Node {
	m := n.Get(key)
	if m != nil && m.Kind != jsontree.Object {
		d.unfit(m, "an object")
		return nil
	}
	return m
}

func (d *decoder) text(n *jsontree.Node, key string) string {
	m := n.Get(key)
	if m == nil {
		return ""
	}
	if m.Kind != jsontree.String {
		d.unfit(m, "a string")
		return ""
	}
	return m.Text
}

// word returns a text that decisions read and rationales quote. If it is given, it must not be
// empty or too long.
func (d *decoder) word(n *jsontree.Node, key string) string {
	s := d.text(n, key)
	m := n.Get(key)
	switch {
	case m == nil || m.Kind != jsontree.String:
	case !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }):
		d.problem(m, "this has neither letter nor digit", "write a word")
	case utf8.RuneCountInString(s) > MaxAgent:
		d.problem(m, fmt.Sprintf("this has more than %d characters", MaxAgent), "write a word")
	}
	return s
}

// score returns a number from 0 to 1, or nil.
func (d *decoder) score(n *jsontree.Node, key string) *float64 {
	const want = "a number from 0 to 1"
	m := n.Get(key)
	if m == nil {
		return nil
	}
	if m.Kind != jsontree.Number {
		d.unfit(m, want)
		return nil
	}
	f, err := strconv.ParseFloat(m.Text, 64)
	if err != nil || f < 0 || f > 1 {
		d.problem(m, m.Text+" is out of range", "write "+want)
		return nil
	}
	if f == 0 {
		f = 0 // -0 would be printed, so it becomes 0
	}
	return &f
}

// degree returns true or false, or a number from 0 to 1, as a Degree.
func (d *decoder) degree(n *jsontree.Node, key string) Degree {
	m := n.Get(key)
	switch {
	case m == nil:
		return 0
	case m.Kind == jsontree.Bool && m.Text == "true":
		return 1
	case m.Kind == jsontree.Bool:
		return 0
	case m.Kind != jsontree.Number:
		d.unfit(m, "true or false, or a number from 0 to 1")
		return 0
	}
	if f := d.score(n, key); f != nil {
		return Degree(*f)
	}
	return 0
}

func (d *decoder) yes(n *jsontree.Node, key string) bool {
	m := n.Get(key)
	if m == nil {
		return false
	}
	if m.Kind != jsontree.Bool {
		d.unfit(m, "true or false")
		return false
	}
	return m.Text == "true"
}

// unfit records a value of a wrong type.
func (d *decoder) unfit(n *jsontree.Node, want string) {
	remedy := "write " + want
	field := strings.TrimPrefix(n.Place().Pointer, "/")
	if n.Kind == jsontree.Null && field != "" && !slices.Contains(required, field) {
		remedy += ", or leave it out"
	}
	d.problem(n, "this is "+kinds[n.Kind], remedy)
}

var kinds = map[jsontree.Kind]string{
	jsontree.Null: "null", jsontree.Bool: "true or false", jsontree.Number: "a number", jsontree.String: "a string", jsontree.Array: "a list", jsontree.Object: "an object",
}

// maxQuoted is how much of a report messages quote, in characters.
const maxQuoted = 200

func (d *decoder) problem(n *jsontree.Node, problem, remedy string) {
	d.wrong = append(d.wrong, place(n.Place(), d.line)+problem+"; "+remedy)
}
