package eval

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Text prints the figures for people.
func Text(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases, %d of them clean; defects in the others: %d\n\n", r.Cases, r.Clean, len(r.Defects))
	names := namesOf(r.Agents)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, names("agent", "model")+"\tcases\tfailed\tfindings\thits\tprecision\tfound\trecall\ton clean\ttokens in\tout\tcost\tp50\tmax\t")
	for _, x := range r.Agents {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t\n",
			names(x.Agent, or(x.Model)), x.Cases, x.Failed, x.Score.text(), x.tokens(), duration(x.P50MS), duration(x.MaxMS))
	}
	fmt.Fprintf(w, "%s\t%d\t–\t%s\t–\t–\t–\t–\t–\t\n", names("report", "–"), r.Cases, r.Report.text())
	_ = w.Flush() // to memory
	fmt.Fprintf(&b, "\nblocked: %d of %d cases with defects, %d of %d clean ones\n", r.Report.DefectCasesBlocked, r.Cases-r.Clean, r.Report.CleanBlocked, r.Clean)
	b.WriteString("the report finds, by language:")
	for i, p := range r.Parts {
		fmt.Fprintf(&b, "%s %s %d of %d", strings.Repeat(",", min(i, 1)), p.Name, p.Found, p.Defects)
	}
	b.WriteString("\n")
	return b.String()
}

// namesOf returns a function that writes an agent and a model as wide as the widest row:
// names stand to the left, figures to the right.
func namesOf(rows []Row) func(agent, model string) string {
	first, second := len("report"), len("model")
	for _, r := range rows {
		first, second = max(first, len(r.Agent)), max(second, len(r.Model))
	}
	return func(agent, model string) string { return fmt.Sprintf("%-*s  %-*s", first, agent, second, model) }
}

func (s *Score) text() string {
	return fmt.Sprintf("%d\t%d\t%s\t%d\t%s\t%d", s.Findings, s.Hits, percent(s.Precision), s.Found, percent(s.Recall), s.CleanFindings)
}

// tokens are the columns about a model's use. For other agents they are empty.
func (r *Row) tokens() string {
	if r.Asked == 0 {
		return "–\t–\t–"
	}
	return fmt.Sprintf("%d\t%d\t$%.4f", r.Input, r.Output, r.CostUSD)
}

func or(model string) string {
	if model == "" {
		return "–"
	}
	return model
}

func percent(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

func duration(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
