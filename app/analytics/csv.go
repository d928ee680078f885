package analytics

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// CSV writes the only table of a summary as RFC 4180 has it, with a header. What is unknown is an empty
// cell. The table of models also has its parts, as rows by part. A cell that a spreadsheet would
// compute begins with an apostrophe.
func CSV(w io.Writer, s *Summary) error {
	if s.By == "" || len(s.Tables) != 1 {
		return errors.New("CSV holds one table: name it with By")
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	_ = out.Write(csvHead()) // Flush keeps the error
	for i := range s.Tables[0].Rows {
		r := &s.Tables[0].Rows[i]
		_ = out.Write(r.csv(s.By))
		for j := range r.Parts {
			_ = out.Write(r.Parts[j].csv(byPart))
		}
	}
	out.Flush()
	return out.Error()
}

func csvHead() []string {
	head := []string{
		"by", "name", "agent", "prompt", "category", "reviews", "pull_requests", "shown", "unshown",
		"fixed", "accepted", "dismissed", "withdrawn", "obsolete", "not_raised_again", "overridden", "merged_open", "closed", "open",
		"dismissed_false_positive", "dismissed_wont_fix", "dismissed_duplicate", "dismissed_other",
	}
	for _, what := range []string{"blocking", "not_blocking"} {
		for _, column := range []string{"shown", "judged", "right", "precision", "precision_low", "precision_high"} {
			head = append(head, what+"_"+column)
		}
	}
	return append(head, "addressed_share", "median_fix_seconds", "cost_usd", "cost_per_addressed_usd", "missed")
}

func (r *Row) csv(by By) []string {
	o, d := r.Outcomes, r.Dismissals
	row := []string{string(by), harmless(r.Name), harmless(r.Agent), harmless(r.Prompt), harmless(r.Category), optional(r.Reviews)}
	for _, n := range []int{
		r.PullRequests, r.Shown, r.Unshown, o.Fixed, o.Accepted, o.Dismissed, o.Withdrawn, o.Obsolete, o.NotRaised, o.Overridden, o.MergedOpen, o.Closed, o.Open,
		d.FalsePositive, d.WontFix, d.Duplicate, d.Other,
	} {
		row = append(row, strconv.Itoa(n))
	}
	for _, p := range []Precision{r.Blocking, r.Other} {
		row = append(row, strconv.Itoa(p.Shown), strconv.Itoa(p.Judged), strconv.Itoa(p.Right))
		if p.Share == nil {
			row = append(row, "", "", "")
		} else {
			row = append(row, optional(&p.Share.Value), optional(&p.Share.Low), optional(&p.Share.High))
		}
	}
	return append(row, optional(r.AddressedShare), optional(r.MedianFixSeconds), optional(r.CostUSD), optional(r.CostPerAddressed), optional(r.Missed))
}

// optional writes a number, or nothing.
func optional[N int | int64 | float64](n *N) string {
	if n == nil {
		return ""
	}
	if f, is := any(*n).(float64); is {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(*n)
}

// harmless keeps spreadsheets from reading a text as a formula, and terminals from obeying it.
func harmless(s string) string {
	s = plaintext.Printable(s)
	if s != "" && strings.IndexByte("=+-@", s[0]) >= 0 {
		return "'" + s
	}
	return s
}
