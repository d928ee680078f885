package analytics

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// The text form: its width, and how many rows of a table it shows. All are in the other forms.
const (
	columns      = 100
	rowsOfMany   = 15 // if there are several tables
	rowsOfOne    = 200
	aboutColumns = 15
)

// Text is the summary for a terminal, at most 100 columns wide.
func Text(s *Summary) string {
	var b strings.Builder
	b.WriteString(s.title() + "\n")
	if s.By == "" && len(s.Hints) > 0 {
		b.WriteString("\nWhat stands out\n")
		for _, h := range s.Hints {
			wrapped(&b, "  - ", shown(h.Text))
		}
	}
	if s.By == "" && len(s.Probation) > 0 {
		b.WriteString("\nCandidates for probation\n")
		for _, c := range s.probation() {
			wrapped(&b, "  - ", shown(c))
		}
	}
	if s.By == "" {
		section(&b, "Reviews", s.Totals.reviews())
		section(&b, "Findings", s.Totals.findings())
	}
	for _, t := range s.Tables {
		if len(t.Rows) > 0 {
			t.text(&b, s.By != "")
		}
	}
	if s.By == "" || s.By == ByModel {
		calibrations(&b, s.Calibration)
	}
	return b.String()
}

func section(b *strings.Builder, title string, facts []fact) {
	fmt.Fprintf(b, "\n%s\n", title)
	before := ""
	for _, f := range facts {
		about := f.about
		if about == before {
			about = ""
		}
		before = f.about
		wrapped(b, fmt.Sprintf("  %-*s", aboutColumns, about), f.says)
	}
}

// wrapped writes a text after a lead. Lines that follow are as far to the right.
func wrapped(b *strings.Builder, lead, text string) {
	line := lead
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && width(line)+1+width(word) > columns {
			b.WriteString(line + "\n")
			line, empty = strings.Repeat(" ", width(lead)), true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// block is a row in the text: lines to the left and to the right of its figures.
type block struct {
	left, right []string
	figures     []string
}

// text writes the table.
func (t *Table) text(b *strings.Builder, alone bool) {
	rows, most := t.Rows, rowsOfMany
	if alone {
		most = rowsOfOne
	}
	rows = rows[:min(len(rows), most)]
	head := []string{"SHOWN", "ADDRESSED", "FIXED IN"}
	if rows[0].Reviews != nil {
		head = append([]string{"REVIEWS"}, head...)
	}
	all := []block{{left: []string{strings.ToUpper(string(t.By))}, figures: head, right: []string{"PRECISION, PULL REQUESTS JUDGED"}}}
	for i := range rows {
		r := &rows[i]
		all = append(all, r.block(printable(r.label(t.By)), t.By))
		if alone && len(r.Parts) > 1 {
			for j := range r.Parts {
				all = append(all, r.Parts[j].block("  "+printable(r.Parts[j].part()), byPart))
			}
		}
	}
	figures := make([]int, len(head))
	left, right := 0, 0
	for _, x := range all {
		for i, f := range x.figures {
			figures[i] = max(figures[i], width(f))
		}
		for _, l := range x.left {
			left = max(left, width(l))
		}
		for _, l := range x.right {
			right = max(right, width(l))
		}
	}
	room := columns - right - 2
	for _, n := range figures {
		room -= n + 2
	}
	left = min(left, max(room, 16))
	b.WriteString("\n")
	for _, x := range all {
		for i := range max(len(x.left), len(x.right)) {
			var line string
			if i < len(x.left) {
				line = plaintext.Cut(x.left[i], left)
			}
			line += strings.Repeat(" ", left-width(line))
			for k, f := range x.figures {
				if i > 0 {
					f = ""
				}
				line += strings.Repeat(" ", 2+figures[k]-width(f)) + f
			}
			if i < len(x.right) {
				line += "  " + x.right[i]
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	if n := len(t.Rows) - len(rows); n > 0 {
		how := "--format csv has all"
		if !alone {
			how = "--by " + string(t.By) + " has more"
		}
		fmt.Fprintf(b, "and %s: %s\n", plaintext.Count(n, "row"), how)
	}
}

func (r *Row) block(name string, by By) block {
	x := block{left: []string{name}, figures: []string{fmt.Sprint(r.Shown), r.addressed(), r.medianFix()}, right: precisions(r.Blocking, r.Other, Precision.short)}
	if r.Agent != "" {
		x.left = append(x.left, "  "+printable(r.Agent))
	}
	if r.Reviews != nil {
		x.figures = append([]string{fmt.Sprint(*r.Reviews)}, x.figures...)
	}
	if by == ByAgent || by == ByModel {
		if c := r.costs(); c != "" {
			x.right = append(x.right, c)
		}
	}
	return x
}

func calibrations(b *strings.Builder, all []Calibration) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\nHow often models were right, by the confidence that they stated\n")
	longest := 0
	for _, c := range all {
		longest = max(longest, min(40, width(printable(c.Model))))
	}
	for _, c := range all {
		name := plaintext.Cut(printable(c.Model), longest)
		for _, bin := range c.Bins {
			if bin.Judged == 0 {
				continue
			}
			fmt.Fprintf(b, "  %s%s  %.1f–%.1f  %s, %s judged\n", name, strings.Repeat(" ", longest-width(name)), bin.From, bin.To, bin.Share, plaintext.Count(bin.Judged, "finding"))
			name = ""
		}
	}
}

// maxShown bounds, in characters, what the text quotes in one place.
const maxShown = 400

func shown(s string) string { return plaintext.Cut(plaintext.Printable(s), maxShown) }

// printable makes a name safe for a line of a table.
func printable(s string) string { return plaintext.Printable(s) }
