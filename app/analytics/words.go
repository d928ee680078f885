package analytics

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Both forms for people, text and markdown, use the sentences of this file.

// fact is a line of the summary: what it is about, and what it says.
type fact struct{ about, says string }

// title says what the summary is about.
func (s *Summary) title() string {
	of := fmt.Sprintf("%s of %s", plaintext.Count(s.Totals.Reviews, "review"), plaintext.Count(s.Totals.PullRequests, "pull request"))
	if s.Since.IsZero() {
		return of
	}
	return of + " since " + s.Since.UTC().Format("2006-01-02")
}

// counted is a number of something.
type counted struct {
	what string
	n    int
}

// some lists the counts that are not zero.
func some(all ...counted) string {
	var parts []string
	for _, c := range all {
		if c.n != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.what, c.n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// reviews says how reviews ended.
func (t *Totals) reviews() []fact {
	d, a, h := t.Decisions, t.Automatic, t.Human
	all := []fact{
		{"decisions", some(counted{"pass", d.Pass}, counted{"pass with warnings", d.PassWithWarnings}, counted{"needs fixes", d.NeedsFixes}, counted{"fail", d.Fail})},
		{"models", some(counted{"approve", a.Approve}, counted{"approve with notes", a.ApproveWithNotes}, counted{"reject", a.Reject},
			counted{"leave it to people", a.Human}, counted{"take no part", a.NoModels})},
		{"people", some(counted{"override", h.Override}, counted{"reject", h.Reject},
			counted{"approved on GitHub against the decision", h.Approved}, counted{"requested changes against it", h.ChangesRequested})},
	}
	if t.AverageFixIterations != nil {
		all = append(all, fact{"fixes", fmt.Sprintf("%.1f on average; %s failed a review", *t.AverageFixIterations, plaintext.Count(t.Failed, "pull request"))})
	}
	if g := t.Green; g.MedianSeconds != nil {
		all = append(all, fact{"time to green", fmt.Sprintf("median %s, 90 %% within %s, in %s that failed the first review",
			duration(*g.MedianSeconds), duration(*g.P90Seconds), plaintext.Count(g.PullRequests, "pull request"))})
	}
	if n := t.Green.NotYet; n > 0 {
		all = append(all, fact{"not yet green", plaintext.Count(n, "pull request") + " that failed the first review"})
	}
	if t.CostUSD > 0 {
		all = append(all, fact{"cost", money(t.CostUSD) + " for questions to models"})
	}
	return all
}

// findings says what became of findings.
func (t *Totals) findings() []fact {
	f := &t.Findings
	o, d := f.Outcomes, f.Dismissals
	shown := fmt.Sprint(f.Shown)
	if f.Unshown > 0 {
		shown += fmt.Sprintf("; not shown %d", f.Unshown)
	}
	all := []fact{
		{"shown", shown},
		{"addressed", some(counted{"fixed", o.Fixed}, counted{"accepted", o.Accepted})},
		{"dismissed", some(counted{"false positive", d.FalsePositive}, counted{"won't fix", d.WontFix}, counted{"duplicate", d.Duplicate}, counted{"other reason", d.Other})},
		{"gone", some(counted{"withdrawn", o.Withdrawn}, counted{"obsolete", o.Obsolete}, counted{"not raised again", o.NotRaised})},
		{"left", some(counted{"overridden", o.Overridden}, counted{"merged open", o.MergedOpen}, counted{"closed", o.Closed}, counted{"open", o.Open})},
	}
	for _, p := range precisions(t.Blocking, t.Other, Precision.String) {
		all = append(all, fact{"precision", p})
	}
	return all
}

// maxCandidates bounds the candidates for probation that a person reads. All are in JSON.
const maxCandidates = 20

// probation describes each candidate for probation in a sentence.
func (s *Summary) probation() (out []string) {
	for i := range s.Probation {
		if i == maxCandidates {
			return append(out, "and "+strconv.Itoa(len(s.Probation)-i)+" more: --format json has all")
		}
		c := &s.Probation[i]
		out = append(out, fmt.Sprintf("The %s %s of %s was right in %d of %s in which it was judged. %s, none an author of the change, dismissed its findings as false positives.",
			c.Kind, named(c.ID), named(c.Repository), c.Right, plaintext.Count(c.Judged, "pull request"), people(c.People)))
	}
	return out
}

func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// precisions says how often findings were right, blocking ones and others apart.
func precisions(blocking, other Precision, say func(Precision) string) (out []string) {
	for _, p := range []struct {
		what string
		Precision
	}{{"blocking", blocking}, {"other", other}} {
		if p.Shown > 0 {
			out = append(out, p.what+": "+say(p.Precision))
		}
	}
	return out
}

// String is the precision with its interval, and with the number of pull requests behind it.
func (p Precision) String() string {
	of := fmt.Sprintf("%d of %s judged", p.Judged, plaintext.Count(p.Shown, "pull request"))
	if p.Share == nil {
		return "too few (" + of + ")"
	}
	return p.Share.String() + ", " + of
}

// short is String where the unit is already known.
func (p Precision) short() string {
	of := fmt.Sprintf("%d of %d", p.Judged, p.Shown)
	if p.Share == nil {
		return "too few (" + of + ")"
	}
	return p.Share.String() + ", " + of
}

// String is the share and its interval in percent.
func (s Share) String() string {
	return fmt.Sprintf("%s (%.0f–%.0f)", percent(s.Value), 100*s.Low, 100*s.High)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// addressed returns how many of the final findings were addressed, or a dash if no finding is final.
func (r *Row) addressed() string {
	if r.AddressedShare == nil {
		return dash
	}
	return fmt.Sprintf("%d of %d", r.Addressed(), r.Final())
}

func (r *Row) medianFix() string {
	if r.MedianFixSeconds == nil {
		return dash
	}
	return duration(*r.MedianFixSeconds)
}

// costs says what a model missed and what its findings cost, or is empty.
func (r *Row) costs() string {
	var parts []string
	if r.Missed != nil {
		parts = append(parts, fmt.Sprintf("missed %d", *r.Missed))
	}
	switch {
	case r.CostPerAddressed != nil:
		parts = append(parts, money(*r.CostPerAddressed)+" for each addressed finding")
	case r.CostUSD != nil:
		parts = append(parts, money(*r.CostUSD)+" spent, no finding addressed")
	}
	return strings.Join(parts, "; ")
}

// dash is shown for a value that does not exist.
const dash = "–"

// label is the name of a row, or the text shown in its place.
func (r *Row) label(by By) string {
	if r.Name != "" {
		return r.Name
	}
	return "(no " + string(by) + ")"
}

// part names a part of a model's findings.
func (r *Row) part() string {
	prompt := plaintext.Bytes(r.Prompt, 8)
	if prompt == "" {
		prompt = "(no prompt)"
	}
	if r.Category == "" {
		return prompt + " (no category)"
	}
	return prompt + " " + r.Category
}

func duration(seconds int64) string {
	s := float64(seconds)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", seconds)
	case s < 100*60:
		return fmt.Sprintf("%.0f min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%.0f h", s/3600)
	}
	return fmt.Sprintf("%.0f d", s/86400)
}

// money has enough digits that a small amount is not zero.
func money(usd float64) string {
	if usd == 0 || usd >= 1 {
		return fmt.Sprintf("$%.2f", usd)
	}
	return fmt.Sprintf("$%.*f", max(2, min(9, 2-int(math.Floor(math.Log10(usd))))), usd)
}

func width(s string) int { return utf8.RuneCountInString(s) }
