package backtest

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxShown bounds, in characters, what the text quotes of a finding or an error.
const maxShown = 200

// Text is the report for a terminal.
func Text(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Summary())
	if len(r.Decisions) > 0 {
		b.WriteString("\n")
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(w, "before\tafter\treviews")
		for _, d := range r.Decisions {
			note := ""
			if d.From == d.To {
				note = "  unchanged"
			}
			fmt.Fprintf(w, "%s\t%s\t%d%s\n", d.From, d.To, d.Reviews, note)
		}
		_ = w.Flush() // to memory
	}
	changes(&b, "Newly blocked", r.Blocked, r.BlockedMore)
	changes(&b, "Newly passing", r.Passing, r.PassingMore)
	changes(&b, "Otherwise changed", r.Other, r.OtherMore)
	if len(r.Findings) > 0 {
		b.WriteString("\nFindings, each counted once for its pull request:\n\n")
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(w, "agent\trule\tgained\tof these fixed later\tlost\tother severity")
		for _, f := range r.Findings {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\n", shown(f.Agent), shown(f.Rule), f.Gained, f.LaterChanged, f.Lost, f.Regraded)
		}
		_ = w.Flush() // to memory
	}
	if len(r.Unknown) > 0 || r.Incomplete > 0 {
		b.WriteString("\nUnknown, and never read as a pass:\n\n")
		for _, u := range r.Unknown {
			fmt.Fprintf(&b, "  %s: %s\n", reviews(u.Reviews), shown(u.What))
		}
		if r.Incomplete > 0 {
			fmt.Fprintf(&b, "  %s: a part of the change was not read\n", reviews(r.Incomplete))
		}
	}
	if len(r.Evaluated) > 0 {
		b.WriteString("\nIn evaluation, and therefore not counted:\n\n")
		for _, id := range r.Evaluated {
			fmt.Fprintf(&b, "  %s\n", shown(id))
		}
	}
	if len(r.Ignored) > 0 {
		b.WriteString("\nWhat does not count in the proposal:\n\n")
		for _, i := range r.Ignored {
			fmt.Fprintf(&b, "  %s\n", shown(i))
		}
	}
	notComputed(&b, r.Failed, r.FailedMore)
	return b.String()
}

// notComputed lists the reviews that could not be computed.
func notComputed(b *strings.Builder, failed []Failed, others int) {
	if len(failed) == 0 {
		return
	}
	b.WriteString("\nNot computed:\n\n")
	for _, f := range failed {
		fmt.Fprintf(b, "  %s: %s\n", shown(strings.TrimSpace(f.Run+" "+f.Pull)), shown(f.Why))
	}
	more(b, others)
}

// Markdown is the same in a block of code, in which nothing is active.
func Markdown(r *Report) string { return fenced(Text(r)) }

func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + fence + "\n"
}

// Summary is the report in one paragraph.
func (r *Report) Summary() string {
	changed := r.Changed()
	s := fmt.Sprintf("Of %s, this changes %s: %s, %s.", reviews(r.Reviews), plaintext.Count(changed, "decision"),
		listed(len(r.Blocked)+r.BlockedMore, "newly blocked", r.BlockedOverridden),
		listed(len(r.Passing)+r.PassingMore, "newly passing", r.PassingOverridden))
	if n := r.UnknownReviews(); n > 0 {
		s += fmt.Sprintf(" %s can't be known.", plaintext.Count(n, "decision"))
	}
	return s
}

// listed counts changes, and how many of them people had overridden.
func listed(n int, what string, overrode int) string {
	s := fmt.Sprintf("%d %s", n, what)
	if overrode > 0 {
		s += fmt.Sprintf(" (people overrode %d of them)", overrode)
	}
	return s
}

func changes(b *strings.Builder, title string, list []Change, others int) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, c := range list {
		fmt.Fprintf(b, "  %s head %.7s, %s to %s: %s (%s)\n", shown(c.Pull), shown(c.Head), c.From, c.To, shown(c.Because), c.People)
	}
	more(b, others)
}

func more(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "  and %d more\n", n)
	}
}

func reviews(n int) string { return plaintext.Count(n, "review") }

func shown(s string) string { return plaintext.Cut(plaintext.Printable(s), maxShown) }
