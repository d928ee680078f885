package eval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Scored is how well findings and expected defects agree.
type Scored struct {
	Cases      int `json:"cases"` // expected cases
	CleanCases int `json:"clean_cases"`
	// Unreviewed counts the cases that were not reviewed, or not to the end. Their defects
	// count as missed, unless they were found.
	Unreviewed int `json:"unreviewed_cases"`
	// CleanCasesWithFindings counts the clean cases with findings.
	CleanCasesWithFindings int `json:"clean_cases_with_findings"`
	Duplicates             int `json:"duplicates"` // false positives that name a defect once more
	Agreement
	Severities []SeverityScore `json:"severities"` // worst first, those that occur
	Cost       Cost            `json:"cost"`
	Defects    []ScoredDefect  `json:"defects"`         // by case, in the order of the file
	Others     []ScoredFinding `json:"false_positives"` // by case, in the order of the file
	// Unknown are cases with findings that the expected cases don't contain. They are not
	// scored.
	Unknown []string `json:"unknown_cases"`
}

// Agreement are the figures of some findings and some defects.
type Agreement struct {
	TruePositives  int      `json:"true_positives"`
	FalsePositives int      `json:"false_positives"`
	FalseNegatives int      `json:"false_negatives"`
	Precision      *Measure `json:"precision"` // nil without findings
	Recall         *Measure `json:"recall"`    // nil without defects
	F1             *Measure `json:"f1"`        // nil without either
}

// Measure is a share, from 0 to 1, with its interval of 95 % confidence.
type Measure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// SeverityScore holds the figures of one severity: the defects of that severity, found or
// missed, and the wrong findings of that severity. A defect's own severity counts, not that
// of the finding.
type SeverityScore struct {
	Severity pipeline.Severity `json:"severity"` // empty if none is given
	Agreement
}

// Cost is the cost of the reviews in US dollars. It is nil if the findings don't say.
type Cost struct {
	Total           *float64 `json:"total_usd"`
	PerCase         *float64 `json:"per_case_usd"`
	PerTruePositive *float64 `json:"per_true_positive_usd"`
}

// ScoredDefect says whether an expected defect was found.
type ScoredDefect struct {
	Case     string            `json:"case"`
	Path     string            `json:"path"`
	Line     int               `json:"line"` // the first, or 0
	Severity pipeline.Severity `json:"severity"`
	Title    string            `json:"title"`
	FoundAs  *ScoredFinding    `json:"found_as"` // nil if it was missed
}

// ScoredFinding is a finding that was scored.
type ScoredFinding struct {
	Case     string            `json:"case"`
	Path     string            `json:"path"`
	Line     int               `json:"line"`
	Severity pipeline.Severity `json:"severity"`
	Title    string            `json:"title"`
	// Duplicate says that another finding already counts for the same defect.
	Duplicate bool `json:"duplicate"`
}

// counts are true positives, false positives and false negatives.
type counts struct{ tp, fp, fn int }

func (c *counts) add(d counts) { c.tp, c.fp, c.fn = c.tp+d.tp, c.fp+d.fp, c.fn+d.fn }

// all stands for every severity.
const all = pipeline.Severity("all")

// bySeverity are counts of each severity, and of all.
type bySeverity map[pipeline.Severity]counts

func (b bySeverity) add(s pipeline.Severity, d counts) {
	for _, s := range []pipeline.Severity{s, all} {
		sum := b[s]
		sum.add(d)
		b[s] = sum
	}
}

// ScoreFindings compares findings with the expected defects. It matches each finding with at
// most one defect and each defect with at most one finding, so that as many as possible
// match. A second finding for a defect is a false positive. It is an error if no case is in
// both.
func ScoreFindings(expected []ExpectedCase, reported ReviewedCases) (Scored, error) {
	reviewed := map[string]*Reviewed{}
	for i := range reported.Cases {
		reviewed[reported.Cases[i].Case] = &reported.Cases[i]
	}
	s := Scored{Defects: []ScoredDefect{}, Others: []ScoredFinding{}, Unknown: []string{}, Severities: []SeverityScore{}}
	sums := bySeverity{}
	var cost float64
	costs, known := 0, 0
	for i := range expected {
		e := &expected[i]
		s.Cases++
		r := reviewed[e.Case]
		if r == nil {
			r = &Reviewed{} // a list of findings does not name a case without findings
		} else {
			known++
		}
		delete(reviewed, e.Case)
		if r.CostUSD != nil {
			cost += *r.CostUSD
			costs++
		}
		s.score(e, r, sums)
	}
	if known == 0 && len(reported.Cases) > 0 {
		return s, fmt.Errorf("no case of the findings, such as %.100q, is expected: name the cases alike", reported.Cases[0].Case)
	}
	if s.Cases == 0 {
		return s, errors.New("nothing is expected: list at least one case")
	}
	for _, r := range reported.Cases {
		if reviewed[r.Case] != nil {
			s.Unknown = append(s.Unknown, r.Case)
		}
	}
	s.Agreement = sums[all].agreement()
	for _, severity := range append(pipeline.Severities(), "") {
		if c, ok := sums[severity]; ok {
			s.Severities = append(s.Severities, SeverityScore{severity, c.agreement()})
		}
	}
	switch {
	case costs > 0:
		s.Cost.Total = &cost
	case len(s.Unknown) == 0:
		s.Cost.Total = reported.CostUSD
	}
	if s.Cost.Total != nil {
		s.Cost.PerCase = quotient(*s.Cost.Total, s.Cases)
		s.Cost.PerTruePositive = quotient(*s.Cost.Total, s.TruePositives)
	}
	return s, nil
}

func quotient(v float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	v /= float64(n)
	return &v
}

// score compares the findings of one case with its defects, and adds to the sums.
func (s *Scored) score(e *ExpectedCase, r *Reviewed, sums bySeverity) {
	if r.Status == CaseUnusable || r.Status == CaseUnfinished {
		s.Unreviewed++
	}
	if len(e.Defects) == 0 {
		s.CleanCases++
		if len(r.Findings) > 0 {
			s.CleanCasesWithFindings++
		}
	}
	m := match(e.Defects, r.Findings)
	hit := make([]bool, len(r.Findings))
	for j := range e.Defects {
		d := &e.Defects[j]
		scored := ScoredDefect{Case: e.Case, Path: d.Path, Severity: d.Severity, Title: d.What}
		if len(d.Lines) > 0 {
			scored.Line = d.Lines[0].First
		}
		if i := m.by[j]; i == none {
			sums.add(d.Severity, counts{fn: 1})
		} else {
			hit[i] = true
			f := scoredFinding(e.Case, &r.Findings[i])
			scored.FoundAs = &f
			sums.add(cmp.Or(d.Severity, f.Severity), counts{tp: 1})
		}
		s.Defects = append(s.Defects, scored)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if hit[i] {
			continue
		}
		sums.add(f.Severity, counts{fp: 1})
		other := scoredFinding(e.Case, f)
		if other.Duplicate = len(m.does[i]) > 0; other.Duplicate {
			s.Duplicates++
		}
		s.Others = append(s.Others, other)
	}
}

func scoredFinding(name string, f *pipeline.Finding) ScoredFinding {
	return ScoredFinding{Case: name, Path: f.Path, Line: f.StartLine, Severity: f.Severity, Title: cmp.Or(f.Title, headline(f.Message))}
}

// headline is the beginning of a text that has no title.
func headline(text string) string {
	const most = 100
	line, _, _ := strings.Cut(text, "\n")
	return plaintext.Cut(line, most)
}

// agreement computes the figures from counts.
func (c counts) agreement() Agreement {
	a := Agreement{TruePositives: c.tp, FalsePositives: c.fp, FalseNegatives: c.fn}
	a.Precision, a.Recall = wilson(c.tp, c.tp+c.fp), wilson(c.tp, c.tp+c.fn)
	// F1 depends only on the share of true positives in all three counts, and grows with it.
	// The interval of that share therefore gives the interval of F1.
	if m := wilson(c.tp, c.tp+c.fp+c.fn); m != nil {
		f1 := func(share float64) float64 { return 2 * share / (1 + share) }
		a.F1 = &Measure{f1(m.Value), f1(m.Low), f1(m.High)}
	}
	return a
}

// wilson returns a share with Wilson's score interval, or nil if of is 0.
func wilson(part, of int) *Measure {
	if of == 0 {
		return nil
	}
	low, high := learning.Wilson(part, of)
	return &Measure{float64(part) / float64(of), low, high}
}

// ScoredText prints the figures for people.
func ScoredText(s Scored) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases, %d of them clean; defects in the others: %d\n\n", s.Cases, s.CleanCases, s.TruePositives+s.FalseNegatives)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "severity\ttrue positives\tfalse positives\tfalse negatives\tprecision\trecall\tF1\t")
	for _, r := range append(slices.Clone(s.Severities), SeverityScore{all, s.Agreement}) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t\n", cmp.Or(r.Severity, "not told"), r.TruePositives, r.FalsePositives, r.FalseNegatives,
			r.Precision.text(), r.Recall.text(), r.F1.text())
	}
	_ = w.Flush() // to memory
	fmt.Fprintf(&b, "\nclean cases with a finding: %d of %d\nfalse positives that repeat a true one: %d\n", s.CleanCasesWithFindings, s.CleanCases, s.Duplicates)
	if s.Unreviewed > 0 {
		fmt.Fprintf(&b, "not reviewed to the end: %d cases, whose defects count as missed unless they were found\n", s.Unreviewed)
	}
	b.WriteString("cost: " + s.Cost.text() + "\n")
	return b.String()
}

func (m *Measure) text() string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*m.Value, 100*m.Low, 100*m.High)
}

func (c *Cost) text() string {
	if c.Total == nil {
		return "the findings don't say"
	}
	text := fmt.Sprintf("$%.4f, $%.4f a case", *c.Total, *c.PerCase)
	if c.PerTruePositive != nil {
		text += fmt.Sprintf(", $%.4f a true positive", *c.PerTruePositive)
	}
	return text
}
