package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Text is the report for a terminal: what differs, what was assumed, and the counts.
func Text(r *Report) string {
	var b strings.Builder
	assumed := map[string]int{}
	for i := range r.Results {
		c := &r.Results[i]
		for _, agent := range c.Assumed {
			assumed[agent]++
		}
		name := plaintext.Printable(c.Name)
		for _, d := range c.Differences {
			fmt.Fprintf(&b, "case %s: %s\n", name, plaintext.Printable(d))
		}
		if c.Status == Failed {
			fmt.Fprintf(&b, "  %s:%d\n", plaintext.Printable(c.File), c.Line)
		}
		if c.Status == NotRun {
			fmt.Fprintf(&b, "case %s: not run, because time ran out\n", name)
		}
	}
	if len(assumed) > 0 {
		var list []string
		for _, agent := range slices.Sorted(maps.Keys(assumed)) {
			list = append(list, fmt.Sprintf("%s (%s)", agent, cases(assumed[agent])))
		}
		fmt.Fprintf(&b, "assumed to find nothing, because the case has no output: %s\n", strings.Join(list, ", "))
	}
	fmt.Fprintln(&b, r.Summary())
	return b.String()
}

// Summary is the report's last line.
func (r *Report) Summary() string {
	s := fmt.Sprintf("%s, %d passed, %d failed", cases(r.Cases), r.Passed, r.Failed)
	if r.NotRun > 0 {
		s += fmt.Sprintf(", %d not run within %d s", r.NotRun, int(MaxTime.Seconds()))
	}
	return s
}

func cases(n int) string {
	if n == 1 {
		return "1 case"
	}
	return fmt.Sprintf("%d cases", n)
}
