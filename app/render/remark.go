package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// remark is an entry in a format for other programs: a finding, something that the review lacks, or a
// problem of the config.
type remark struct {
	severity   pipeline.Severity
	path       string // at the head; empty if it is about no file of the change's repository
	start, end int    // lines; 0 for the whole file
	rule       string
	title      safe   // on one line
	text       safe   // what the title leaves open; equal to the title if that says all
	id         string // no other remark of the review has it
	finding    *pipeline.Finding
}

// The rules of remarks that are not findings.
const (
	ruleIncomplete = toolName + "/incomplete"
	ruleConfig     = toolName + "/config"
)

// remarks lists what the review lacks, the problems of the config, and the findings, by severity, worst
// first.
func remarks(v View) []remark {
	plain := newFindings(v, plainPen{}, linker{})
	var out []remark
	for _, i := range v.Review.Report.Incomplete {
		r := remark{severity: pipeline.SeverityInfo, path: i.Path, rule: ruleIncomplete, title: say("remark incomplete", i.Gating), text: plain.p.text(i.Why, maxReason)}
		if i.Gating {
			r.severity = pipeline.SeverityMajor
		}
		out = append(out, r)
	}
	for _, p := range v.Review.Facts.Config.Problems {
		r := remark{severity: pipeline.SeverityWarning, rule: ruleConfig, title: say("remark config", nil)} // if it keeps the review from passing, that is a remark of its own
		if p.Layer != config.LayerOrganisation || organisation(&v.Review.Facts) == "" {
			r.path, r.start, r.end = p.File, p.Line, p.Line
			p.File, p.Line = "", 0
		}
		r.text = plain.p.text(config.FormatProblem(p), 2*maxReason)
		out = append(out, r)
	}
	for _, f := range plain.list {
		r := remark{
			severity: severityOf(f), rule: ruleID(f), id: f.ID, finding: f,
			title: annotationTitle(plain, f), text: annotationText(plain, f),
		}
		if inFile(f) {
			r.path, r.start, r.end = f.Path, f.StartLine, f.EndLine
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b remark) int { return b.severity.Rank() - a.severity.Rank() })
	complete(out)
	return out
}

// complete gives each remark a text, an id that no other one has, and lines that a file can have.
func complete(list []remark) {
	ids := map[string]bool{}
	for i := range list {
		r := &list[i]
		if r.text == "" {
			r.text = r.title
		}
		if r.path == "" {
			r.start = 0
		}
		r.start = max(0, r.start)
		if r.end = max(r.start, r.end); r.start == 0 {
			r.end = 0
		}
		if r.id == "" {
			sum := sha256.Sum256([]byte(strings.Join([]string{r.rule, r.path, string(r.title), string(r.text)}, "\x00")))
			r.id = hex.EncodeToString(sum[:8])
		}
		r.id = unused(ids, r.id)
	}
}

// unused returns a name that is not in a set, with a number if it must, and adds it.
func unused(set map[string]bool, name string) string {
	out := name
	for n := 2; set[out]; n++ {
		out = fmt.Sprintf("%s-%d", name, n)
	}
	set[out] = true
	return out
}

// line returns what the remark is about, on one line.
func (r *remark) line() safe {
	if r.finding == nil && r.text != r.title {
		return say("remark line", struct{ Title, Text safe }{r.title, r.text})
	}
	return r.title
}

// whole returns title and text.
func (r *remark) whole() safe {
	if r.finding == nil {
		return r.line()
	}
	return message(r.title, r.text)
}

// place names the file and the line, or returns "".
func (r *remark) place() safe {
	out := literal(r.path, maxPath)
	if r.start > 0 {
		out += fmt.Sprintf(":%d", r.start)
	}
	return safe(out)
}

// Unplaced says what a format leaves out that has a place only for findings in files: findings about the
// change as a whole, and what the review lacks or the config has wrong outside any file.
func Unplaced(v View) []string {
	var out []string
	for _, r := range remarks(v) {
		if r.path == "" && r.finding == nil {
			out = append(out, string(r.line()))
		}
	}
	if whole := withoutFile(newFindings(v, plainPen{}, linker{})); whole != "" {
		out = append(out, string(whole))
	}
	return out
}

// levels are the names of a format for the four severities.
type levels struct{ critical, major, warning, info string }

func (l levels) of(s pipeline.Severity) string {
	switch s {
	case pipeline.SeverityCritical:
		return l.critical
	case pipeline.SeverityWarning:
		return l.warning
	case pipeline.SeverityInfo:
		return l.info
	}
	return l.major
}
