package analytics

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxName bounds, in characters, a name in markdown.
const maxName = 120

// Markdown is the summary in GitHub's markdown. Names are inactive in it.
func Markdown(s *Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n", s.title())
	if s.By == "" && len(s.Hints) > 0 {
		b.WriteString("\n### What stands out\n\n")
		for _, h := range s.Hints {
			b.WriteString("- " + render.MarkdownText(h.Text, maxShown) + "\n")
		}
	}
	if s.By == "" && len(s.Probation) > 0 {
		b.WriteString("\n### Candidates for probation\n\n")
		for _, c := range s.probation() {
			b.WriteString("- " + render.MarkdownText(c, maxShown) + "\n")
		}
	}
	if s.By == "" {
		facts(&b, "Reviews", s.Totals.reviews())
		facts(&b, "Findings", s.Totals.findings())
	}
	for _, t := range s.Tables {
		if len(t.Rows) > 0 {
			t.markdown(&b, s.By != "")
		}
	}
	if (s.By == "" || s.By == ByModel) && len(s.Calibration) > 0 {
		b.WriteString("\n### How often models were right, by the confidence that they stated\n\n| model | stated | right | judged |\n|---|---|---|--:|\n")
		for _, c := range s.Calibration {
			for _, bin := range c.Bins {
				if bin.Judged > 0 {
					fmt.Fprintf(&b, "| %s | %.1f–%.1f | %s | %d |\n", render.MarkdownCode(c.Model, maxName), bin.From, bin.To, bin.Share, bin.Judged)
				}
			}
		}
	}
	return b.String()
}

func facts(b *strings.Builder, title string, all []fact) {
	fmt.Fprintf(b, "\n### %s\n\n| | |\n|---|---|\n", title)
	for _, f := range all {
		fmt.Fprintf(b, "| %s | %s |\n", f.about, render.MarkdownText(f.says, maxShown))
	}
}

func (t *Table) markdown(b *strings.Builder, alone bool) {
	rows, most := t.Rows, rowsOfMany
	if alone {
		most = rowsOfOne
	}
	rows = rows[:min(len(rows), most)]
	head := []string{string(t.By)}
	switch t.By {
	case ByRule:
		head = append(head, "agent")
	case ByService, ByRepository, ByWeek:
		head = append(head, "reviews")
	}
	names := len(head)
	head = append(head, "shown", "fixed", "accepted", "dismissed", "false positives", "addressed", "median fix", "precision, blocking", "precision, other")
	if t.By == ByModel || t.By == ByAgent {
		head = append(head, "cost for each addressed")
	}
	if t.By == ByModel {
		head = append(head, "missed")
	}
	fmt.Fprintf(b, "\n### By %s\n\n| %s |\n|", t.By, strings.Join(head, " | "))
	for i := range head {
		if i < names {
			b.WriteString("---|")
		} else {
			b.WriteString("--:|")
		}
	}
	b.WriteString("\n")
	for i := range rows {
		r := &rows[i]
		cells := []string{r.markdownName(t.By)}
		cells = append(cells, r.cells(t.By)...)
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		if !alone || len(r.Parts) < 2 {
			continue
		}
		for j := range r.Parts {
			part := &r.Parts[j]
			cells := append([]string{"↳ " + render.MarkdownCode(part.part(), maxName)}, part.cells(byPart)...)
			fmt.Fprintf(b, "| %s | | |\n", strings.Join(cells, " | ")) // no cost, and nothing missed
		}
	}
	if n := len(t.Rows) - len(rows); n > 0 {
		fmt.Fprintf(b, "\nand %s\n", plaintext.Count(n, "more row"))
	}
}

func (r *Row) markdownName(by By) string {
	if r.Name == "" {
		return r.label(by)
	}
	return render.MarkdownCode(r.Name, maxName)
}

// cells are the cells of a row after its name.
func (r *Row) cells(by By) (out []string) {
	if by == ByRule {
		out = append(out, render.MarkdownCode(r.Agent, maxName))
	}
	if r.Reviews != nil {
		out = append(out, fmt.Sprint(*r.Reviews))
	}
	for _, n := range []int{r.Shown, r.Outcomes.Fixed, r.Outcomes.Accepted, r.Outcomes.Dismissed, r.Dismissals.FalsePositive} {
		out = append(out, fmt.Sprint(n))
	}
	out = append(out, r.addressed(), r.medianFix())
	for _, p := range []Precision{r.Blocking, r.Other} {
		if p.Shown == 0 {
			out = append(out, dash)
		} else {
			out = append(out, p.String())
		}
	}
	if by == ByModel || by == ByAgent {
		cost := dash
		if r.CostPerAddressed != nil {
			cost = render.MarkdownText(money(*r.CostPerAddressed), maxName)
		}
		out = append(out, cost)
	}
	if r.Missed != nil {
		out = append(out, fmt.Sprint(*r.Missed))
	}
	return out
}
