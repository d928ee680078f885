package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Headless renders a report for programs that asked for a review and read the answer
// line by line. It lists the fixes that are applied without asking, the findings that
// somebody has to judge (worst first), concerns, questions, and what the review lacks.
// It leaves out empty sections, and shows the others in full. No agent's text can begin
// or end a line.
func Headless(r *pipeline.Report) string {
	p := plainPen{}
	lines := []safe{say("headless head", nil)}
	list := func(heading string, items []safe) {
		if len(items) > 0 {
			lines = append(append(lines, say(heading, len(items))), items...)
		}
	}
	var fixes, rest []safe
	for i := range r.Findings {
		f := &r.Findings[i]
		h := headlessFinding{
			Severity: word(severityOf(f)), Section: p.code(headlessPlace(f), unlimited), Title: p.text(f.Title, unlimited),
			Reviewers: headlessReviewers(f, p), Confidence: safe(fmt.Sprintf("%.2f", f.Confidence)),
			Why: p.text(headlessWhy(f), unlimited), Fix: p.code(f.SuggestedFix, unlimited),
		}
		if f.AutofixClass == pipeline.AutofixAuto {
			fixes = append(fixes, say("headless fix", h))
		} else {
			rest = append(rest, say("headless finding", h))
		}
	}
	list("headless fixes", fixes)
	list("headless findings", rest)
	list("headless concerns", headlessTexts(r.ResidualConcerns, p))
	list("headless questions", headlessTexts(r.DeferredQuestions, p))
	list("headless coverage", headlessCoverage(r, p))
	lines = append(lines, say("headless end", nil))
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(string(l) + "\n")
	}
	return b.String()
}

type headlessFinding struct {
	Severity                                        word // as it counts in the gate
	Section, Title, Reviewers, Confidence, Why, Fix safe
}

// headlessWhy says why a finding matters. For a contradiction it returns the message,
// which has what each side says.
func headlessWhy(f *pipeline.Finding) string {
	if len(f.Perspectives) > 0 {
		return f.Message
	}
	return cmp.Or(f.WhyItMatters, f.Message)
}

// headlessPlace returns the path, the line and the section, as far as the finding has them.
func headlessPlace(f *pipeline.Finding) string {
	place := f.Path
	if place != "" && f.StartLine > 0 {
		place += fmt.Sprintf(":%d", f.StartLine)
	}
	for _, also := range f.Also {
		place += fmt.Sprintf(", :%d", also.StartLine)
	}
	if place != "" && f.Section != "" {
		return place + ", " + f.Section
	}
	return place + f.Section
}

// headlessReviewers names all reviewers who agree with a finding.
func headlessReviewers(f *pipeline.Finding, p pen) safe {
	names := f.Reviewers
	if len(names) == 0 {
		names = pipeline.List[string]{f.Agent}
	}
	return p.text(strings.Join(names, ", "), unlimited)
}

func headlessTexts(list []pipeline.SourcedText, p pen) []safe {
	var out []safe
	for _, t := range list {
		out = append(out, say("headless text", struct{ Text, Source safe }{p.text(t.Text, unlimited), p.text(t.Source, unlimited)}))
	}
	return out
}

// headlessCoverage lists what the review lacks, and the agents whose findings were
// dropped.
func headlessCoverage(r *pipeline.Report, p pen) []safe {
	var out []safe
	for _, i := range r.Incomplete {
		out = append(out, say("headless incomplete", struct {
			Gating     bool
			Where, Why safe
		}{i.Gating, p.code(i.Path, unlimited), p.text(i.Why, unlimited)}))
	}
	for _, c := range r.Coverage {
		if c.Dropped > 0 {
			out = append(out, say("headless dropped", struct {
				Count int
				Agent safe
			}{c.Dropped, p.text(c.Agent, unlimited)}))
		}
	}
	return out
}
