package render

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// finding is what the templates of findings are made from.
type finding struct {
	Number         int // of a blocking finding, else 0
	Title          safe
	Severity       word
	Place          safe
	Agents         safe
	Rule           safe
	Link           safe // to the rule's reference, in formats that have links
	Layer          safe // of config that the rule comes from, unless that is the defaults
	Reference      safe
	ID             safe
	State          safe
	NotIgnored     safe // why a comment that asks to ignore it is not obeyed
	Message        safe
	Why            safe
	Evidence       []safe
	Recommendation safe
	Perspectives   []safe
	Fix            safe
	More           int    // other places of the same finding
	Also           []safe // the first of them
}

// findings words findings one at a time, when it is known which of them fit.
type findings struct {
	p       pen
	k       linker
	diff    *diffIndex
	rules   map[string]RuleNote
	history bool // there is a previous report, so that new and open differ
	list    []*pipeline.Finding
	groups  [][]*pipeline.Finding // list, with what says the same put together
	serious int                   // how many groups at the start are critical or major
}

// newFindings orders a report's findings by gate severity, worst first; those
// of one severity stay in the report's order.
func newFindings(v View, p pen, k linker) *findings {
	r := &v.Review
	fs := &findings{p: p, k: k, diff: newDiffIndex(r.Facts.Files), rules: v.Rules, history: r.Report.Changes.PreviousReport != ""}
	for _, sev := range pipeline.Severities() {
		for i := range r.Report.Findings {
			if f := &r.Report.Findings[i]; severityOf(f) == sev {
				fs.list = append(fs.list, f)
			}
		}
	}
	fs.group()
	return fs
}

// severityOf is the severity that counts in the gate. A finding without a
// valid one counts as major: it is shown in full rather than lost.
func severityOf(f *pipeline.Finding) pipeline.Severity {
	switch {
	case f.GateSeverity.Valid():
		return f.GateSeverity
	case f.Severity.Valid():
		return f.Severity
	}
	return pipeline.SeverityMajor
}

// brief is the i-th group without what is said below its title.
func (fs *findings) brief(i int) finding {
	f := fs.groups[i][0]
	out := finding{
		Title:    fs.p.text(f.Title, maxTitle),
		Severity: word(severityOf(f)),
		Place:    fs.place(f),
		Agents:   fs.agents(f),
		Rule:     fs.p.code(f.RuleID, maxName),
		Link:     fs.referenceLink(f),
		Layer:    fs.layer(f),
		More:     len(fs.groups[i]) - 1,
	}
	if i < fs.serious {
		out.Number = i + 1
	}
	if out.Title == "" {
		out.Title = say("untitled", nil)
	}
	if fs.history {
		out.State = say("state", word(f.State))
	}
	return out
}

// full is the i-th group with all that is known of it, and of its places as
// much as d says.
func (fs *findings) full(i int, d depth) finding {
	f, out := fs.groups[i][0], fs.brief(i)
	out.Also = fs.also(fs.groups[i], d)
	out.NotIgnored = sentence(fs.p.text(notIgnored(f), maxReason))
	out.Reference = fs.p.text(fs.reference(f), maxReference)
	out.Message = fs.said(f.Message, f.Title)
	out.Why = fs.said(f.WhyItMatters, f.Title, f.Message)
	out.Recommendation = fs.said(f.Recommendation, f.Message, f.WhyItMatters)
	out.ID = fs.id(f)
	fix := fixOf(fs.diff, f)
	if fix != nil {
		out.Fix = fs.p.block("diff", visibleFix(fix))
	} else if n := len(codeLines(f.SuggestedFix)); n > maxFixLines || len(f.SuggestedFix) > maxFixBytes {
		out.Fix = say("fix too long", n)
	}
	out.Evidence = fs.evidence(f, fix)
	const maxPerspectives = 4
	out.Perspectives = first(f.Perspectives, maxPerspectives, func(p pipeline.Perspective) safe {
		return say("perspective", struct {
			Agent, Message, Recommendation safe
			Severity                       word
		}{fs.p.text(p.Agent, maxName), fs.p.text(p.Message, maxReason), fs.p.text(p.Recommendation, maxReason), severityWord(p.Severity)})
	})
	return out
}

// said is a text, unless it only repeats what was said before.
func (fs *findings) said(s string, before ...string) safe {
	for _, b := range before {
		if strings.TrimRight(s, ".") == strings.TrimRight(b, ".") {
			return ""
		}
	}
	return fs.p.para(s, maxMessage)
}

// evidence leaves out what the fix or the finding's words show anyway.
func (fs *findings) evidence(f *pipeline.Finding, fix []fixLine) []safe {
	const maxEvidence = 4
	var list []string
	for _, e := range f.Evidence {
		if e = strings.TrimSpace(e); e != "" && e != f.Title && e != f.Message && !shows(fix, e) {
			list = append(list, e)
		}
	}
	return first(list, maxEvidence, func(e string) safe { return fs.p.code(e, maxReason) })
}

func shows(fix []fixLine, s string) bool {
	for _, l := range fix {
		if l.op != pipeline.LineAdded && strings.Contains(l.text, s) {
			return true
		}
	}
	return false
}

func (fs *findings) agents(f *pipeline.Finding) safe {
	const maxAgents = 6
	names := []string{f.Agent}
	for _, r := range f.Reviewers {
		if r != f.Agent {
			names = append(names, r)
		}
	}
	joined, _ := list(", ", first(names, maxAgents, func(name string) safe { return fs.p.text(name, maxName) }))
	return joined
}

// place is where a finding stands, as a link where there is one.
func (fs *findings) place(f *pipeline.Finding) safe {
	if f.Path == "" {
		if f.Section == "" {
			return say("whole change", nil)
		}
		return say("in section", fs.p.text(f.Section, maxName))
	}
	return fs.at(f.Path, f.StartLine, f.EndLine)
}

func (fs *findings) at(path string, start, end int) safe {
	label := clipPath(path, maxPath)
	if start > 0 {
		label += fmt.Sprintf(":%d", start)
		if end > start {
			label += fmt.Sprintf("-%d", end)
		}
	}
	url := fs.k.file(path, start, end)
	if d := fs.diff.files[path]; d != nil && d.Status == pipeline.FileRemoved {
		url = fs.k.removed(path)
	}
	return fs.p.link(fs.p.code(label, 2*maxPath), url)
}

func severityWord(s pipeline.Severity) word {
	if !s.Valid() {
		return ""
	}
	return word(s)
}

// counts counts the findings of some of the groups.
func (fs *findings) counts(from, to int) pipeline.Counts {
	var c pipeline.Counts
	for _, g := range fs.groups[from:to] {
		for _, f := range g {
			c.Add(severityOf(f))
		}
	}
	return c
}
