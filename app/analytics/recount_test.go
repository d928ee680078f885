package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/learning"
)

var begin = time.Date(2026, 1, 26, 8, 0, 0, 0, time.UTC)

// each gives logs one by one.
func each(logs [][]learning.Entry) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		for _, log := range logs {
			if !yield(log, nil) {
				return
			}
		}
	}
}

// drawLogs draws logs of pull requests: findings come, change, are judged and go, in an order that can
// happen.
func drawLogs(seed uint64, n int) (logs [][]learning.Entry) {
	draw := dice{rand.New(rand.NewPCG(seed, 0))}
	for range n {
		logs = append(logs, draw.log())
	}
	return logs
}

type dice struct{ *rand.Rand }

func (d dice) pick(of ...string) string { return of[d.IntN(len(of))] }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d dice) minutes() time.Duration { return time.Duration(d.IntN(40*24*60)) * time.Minute }

func (d dice) some(most int, of ...string) (out pipeline.List[string]) {
	for _, i := range d.Perm(len(of))[:d.IntN(most+1)] {
		out = append(out, of[i])
	}
	return out
}

// drawn is a pull request while its log is drawn.
type drawn struct {
	dice
	base   learning.Entry
	log    []learning.Entry
	all    []learning.Finding // as the last review that had them
	failed int                // earlier heads that blocked
}

func (d dice) log() []learning.Entry {
	p := drawn{dice: d, base: learning.Entry{Repository: d.pick("acme/shop", "acme/web"), Number: 1 + d.IntN(99), At: begin.Add(d.minutes())}}
	for i := range d.IntN(5) {
		p.review(i)
		for range d.IntN(4) {
			p.says(fmt.Sprint("head", i))
		}
	}
	for range d.IntN(3) {
		p.add(learning.Kind(d.pick("closed", "merged", "reopened")))
	}
	return p.log
}

// add adds an entry, in one case of five at the time of the last one.
func (p *drawn) add(kind learning.Kind) *learning.Entry {
	if p.chance(80) {
		p.base.At = p.base.At.Add(p.minutes() / 20)
	}
	e := p.base
	e.Kind, e.Event = kind, fmt.Sprint(kind, " ", len(p.log))
	p.log = append(p.log, e)
	return &p.log[len(p.log)-1]
}

func (p *drawn) review(i int) {
	r := &learning.Review{
		HeadSHA: fmt.Sprint("head", i), Iteration: i + 1, Services: p.some(2, "cart", "web"), FixIterations: p.failed, Strategy: "parallel",
		AutoDecision: pipeline.AutoDecision(p.pick("", "auto_approve", "auto_approve_with_notes", "auto_reject", "human")),
	}
	for _, m := range []string{"small", "large"} {
		if p.chance(50) {
			r.Use = append(r.Use, learning.Use{Agent: p.pick("quality", "spec"), Model: m, Cost: 3 * p.Float64()})
		}
		for range p.IntN(3) {
			a := learning.Asked{Agent: p.pick("quality", "spec"), Model: m, Stage: p.pick("spec", "quality"), Checklist: p.pick("", "c1", "c1", "c2")}
			for range 1 + p.IntN(3) {
				first := 1 + p.IntN(9)
				a.Lines = append(a.Lines, learning.Lines{Path: p.pick("a.go", "a.go", "b.go"), First: first, Last: first + p.IntN(12)})
			}
			r.Asked = append(r.Asked, a)
		}
	}
	for k := range p.all {
		if p.changes(&p.all[k]) {
			r.Findings = append(r.Findings, p.all[k])
		}
	}
	for range p.IntN(4) {
		p.all = append(p.all, p.finding())
		r.Findings = append(r.Findings, p.all[len(p.all)-1])
	}
	r.Decision = "pass"
	for k := range p.all {
		switch f := &p.all[k]; {
		case f.Status != learning.StatusOpen:
		case f.Gate == pipeline.SeverityCritical || f.Holds:
			r.Decision = pipeline.Decision(p.pick("fail", "needs_fixes"))
		case r.Decision == "pass":
			r.Decision = "pass_with_warnings"
		}
	}
	if r.Decision.Blocks() {
		p.failed++
	}
	p.add(learning.KindReview).Review = r
}

// finding draws a new finding, of a rule or of models.
func (p *drawn) finding() learning.Finding {
	f := learning.Finding{
		ID: fmt.Sprint("f", len(p.all)), Agent: p.pick("quality", "spec", "security"), Rule: p.pick("", "R1", "R2"), Stage: p.pick("spec", "quality"),
		Others: p.some(1, "quality", "spec"), Prompt: p.pick("p1", "p2"), Severity: pipeline.SeverityMajor, Holds: p.chance(10),
		Gate: pipeline.Severity(p.pick("critical", "warning")), Category: p.pick("", "errors", "tests"),
		Path: p.pick("a.go", "a.go", "b.go"), Services: p.some(2, "cart", "web"), Status: learning.StatusOpen,
	}
	if p.chance(15) {
		f.Status = learning.StatusUnshown
	}
	p.moved(&f)
	return f
}

// moved draws where a finding is now, and who found it. A model may have found it through two agents.
func (p *drawn) moved(f *learning.Finding) {
	f.First, f.Models = p.IntN(10), nil
	f.Last = f.First + p.IntN(3)
	for _, m := range p.some(2, "small", "large") {
		for range 1 + p.IntN(5)/4 {
			f.Models = append(f.Models, learning.Stated{Model: m, Confidence: float64(p.IntN(21)) / 20})
		}
	}
}

// changes draws what becomes of a finding in the next review, and reports whether that says so.
func (p *drawn) changes(f *learning.Finding) bool {
	switch f.Status {
	case learning.StatusOpen, learning.StatusUnknown, learning.StatusUnshown:
		if p.chance(30) {
			return false
		}
		f.Status = learning.Status(p.pick("open", "open", "fixed", "fixed", "withdrawn", "obsolete", "not_raised_again", "unknown", "unshown"))
	default:
		if p.chance(85) {
			return false
		}
		f.Status = learning.StatusOpen // it is back
	}
	if f.Status == learning.StatusOpen {
		p.moved(f)
	}
	return true
}

// says draws what a person says after the review of a head, of a finding or of the head.
func (p *drawn) says(head string) {
	if len(p.all) == 0 || p.chance(25) {
		p.add(learning.KindDecided).Decided = &learning.Decided{
			Action: learning.Action(p.pick("override", "override", "reject", "github_approved", "github_changes_requested")), HeadSHA: head,
		}
		return
	}
	j := &learning.Judged{
		Findings: pipeline.List[string]{p.all[p.IntN(len(p.all))].ID}, Verdict: learning.Judgement(p.pick("dismissed", "dismissed", "accepted", "restored")),
		Person: p.pick("p", "q", "r", "s"), Own: p.chance(20),
	}
	if j.Verdict == learning.Dismissed {
		j.Class = learning.DismissalClass(p.pick("false_positive", "false_positive", "wont_fix", "duplicate", "other"))
	}
	p.add(learning.KindJudged).Judged = j
}

// recount is what the tests count on their own: the slow and obvious way.
type recount struct {
	t     rapid.TB
	pulls []learning.History
	since time.Time
}

// has reports whether a finding belongs to the group of a name.
type has func(h *learning.History, f *learning.Followed) bool

func (c recount) findings(in has) (out []*learning.Followed) {
	for i := range c.pulls {
		out = append(out, c.of(&c.pulls[i], in)...)
	}
	return out
}

// of returns the findings of one pull request, unshown ones too.
func (c recount) of(h *learning.History, in has) (out []*learning.Followed) {
	for i := range h.Findings {
		if f := &h.Findings[i]; !f.FirstAt.Before(c.since) && in(h, f) {
			out = append(out, f)
		}
	}
	return out
}

func everything(*learning.History, *learning.Followed) bool { return true }

func shownOnes(all []*learning.Followed) (out []*learning.Followed) {
	for _, f := range all {
		if f.Shown && f.Outcome != learning.OutcomeUnshown {
			out = append(out, f)
		}
	}
	return out
}

func number(all []*learning.Followed, is func(*learning.Followed) bool) (n int) {
	for _, f := range all {
		if is(f) {
			n++
		}
	}
	return n
}

func isWrong(f *learning.Followed) bool {
	return f.Outcome == "dismissed" && f.Judged.Judged.Class == "false_positive"
}

func isRight(f *learning.Followed) bool { return f.Outcome == "fixed" || f.Outcome == "accepted" }

func (c recount) equal(what string, got, want any) {
	c.t.Helper()
	if !reflect.DeepEqual(got, want) {
		c.t.Fatalf("%s: %v, want %v", what, text(got), text(want))
	}
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func (c recount) counts(what string, got Findings, all []*learning.Followed) {
	c.t.Helper()
	shown := shownOnes(all)
	outcome := func(o learning.Outcome) int {
		return number(shown, func(f *learning.Followed) bool { return f.Outcome == o })
	}
	class := func(k learning.DismissalClass) int {
		return number(shown, func(f *learning.Followed) bool { return f.Outcome == "dismissed" && f.Judged.Judged.Class == k })
	}
	c.equal(what, got, Findings{
		Shown: len(shown), Unshown: len(all) - len(shown),
		Outcomes: Outcomes{
			Fixed: outcome("fixed"), Accepted: outcome("accepted"), Dismissed: outcome("dismissed"), Withdrawn: outcome("withdrawn"), Obsolete: outcome("obsolete"),
			NotRaised: outcome("not_raised_again"), Overridden: outcome("overridden"), MergedOpen: outcome("merged_open"), Closed: outcome("closed"), Open: outcome("open"),
		},
		Dismissals: Dismissals{FalsePositive: class("false_positive"), WontFix: class("wont_fix"), Duplicate: class("duplicate"), Other: class("other")},
	})
}

// precision counts the pull requests with blocking findings of a group, or with others.
func (c recount) precision(in has, blocking bool) (p Precision) {
	for i := range c.pulls {
		var list []*learning.Followed
		for _, f := range shownOnes(c.of(&c.pulls[i], in)) {
			if (f.Holds || f.Gate == "critical" || f.Gate == "major") == blocking {
				list = append(list, f)
			}
		}
		if len(list) > 0 {
			p.Shown++
		}
		switch {
		case number(list, isWrong) > 0:
			p.Judged++
		case number(list, isRight) > 0:
			p.Judged++
			p.Right++
		}
	}
	if p.Judged >= 20 && float64(p.Judged)/float64(p.Shown) >= 0.3-1e-9 {
		p.Share = share(p.Right, p.Judged)
	}
	return p
}

func share(part, of int) *Share {
	low, high := learning.Wilson(part, of)
	return &Share{float64(part) / float64(of), low, high}
}

func middle(values []float64) *int64 {
	if len(values) == 0 {
		return nil
	}
	sort.Float64s(values)
	m := int64(math.Floor((math.Floor(values[(len(values)-1)/2]) + math.Floor(values[len(values)/2])) / 2))
	return &m
}

func (c recount) row(by By, r Row) {
	in := c.group(by, r)
	what := string(by) + " " + text([]string{r.Name, r.Agent, r.Prompt, r.Category}) + ": "
	all := c.findings(in)
	shown := shownOnes(all)
	c.counts(what+"findings", r.Findings, all)
	c.equal(what+"blocking", r.Blocking, c.precision(in, true))
	c.equal(what+"not blocking", r.Other, c.precision(in, false))
	pulls := 0
	for i := range c.pulls {
		if len(shownOnes(c.of(&c.pulls[i], in))) > 0 {
			pulls++
		}
	}
	c.equal(what+"pull requests", r.PullRequests, pulls)
	var fixes []float64
	for _, f := range shown {
		if f.Outcome == "fixed" {
			fixes = append(fixes, f.GoneAt.Sub(f.FirstAt).Seconds())
		}
	}
	c.equal(what+"median", r.MedianFixSeconds, middle(fixes))
	addressed := number(shown, isRight)
	if final := number(shown, func(f *learning.Followed) bool { return f.Outcome != "open" }); final > 0 {
		s := float64(addressed) / float64(final)
		c.equal(what+"addressed", r.AddressedShare, &s)
	} else {
		c.equal(what+"addressed", r.AddressedShare == nil, true)
	}
	reviews, cost := 0, 0.0
	for _, h := range c.pulls {
		for _, e := range c.reviews(h) {
			switch by {
			case ByService:
				if slices.Contains(e.Review.Services, r.Name) || r.Name == "" && len(e.Review.Services) == 0 {
					reviews++
				}
			case ByRepository:
				if h.Repository == r.Name {
					reviews++
				}
			case ByWeek:
				if isoWeek(e.At) == r.Name {
					reviews++
				}
			}
			for _, u := range e.Review.Use {
				if by == ByModel && u.Model == r.Name || by == ByAgent && u.Agent == r.Name {
					cost += u.Cost
				}
			}
		}
	}
	switch by {
	case ByService, ByRepository, ByWeek:
		c.equal(what+"reviews", *r.Reviews, reviews)
	default:
		c.equal(what+"reviews", r.Reviews == nil, true)
	}
	if by == ByAgent || by == ByModel {
		if (r.CostUSD == nil) != (cost == 0) || cost > 0 && math.Abs(*r.CostUSD-cost) > 1e-6 {
			c.t.Fatalf("%scost %v, want %v", what, text(r.CostUSD), cost)
		}
		each := cost > 0 && addressed > 0
		if (r.CostPerAddressed != nil) != each || each && math.Abs(*r.CostPerAddressed-cost/float64(addressed)) > 1e-6 {
			c.t.Fatalf("%scost for each addressed finding: %v", what, text(r.CostPerAddressed))
		}
	} else {
		c.equal(what+"cost", r.CostUSD == nil && r.CostPerAddressed == nil, true)
	}
	if by != ByModel {
		c.equal(what+"missed", r.Missed == nil, true)
		return
	}
	c.equal(what+"missed", *r.Missed, c.missed(r.Name))
	sum := 0
	for _, part := range r.Parts {
		c.row(byPart, part)
		sum += part.Shown + part.Unshown
	}
	c.equal(what+"parts", sum, r.Shown+r.Unshown)
}

func isoWeek(at time.Time) string {
	y, w := at.ISOWeek()
	return strconv.Itoa(y) + "-W" + strconv.Itoa(w + 100)[1:]
}

// made returns the models that made a finding in any review, with what each stated first.
func made(h *learning.History, f *learning.Followed) (out []learning.Stated) {
	for _, e := range h.Reviews {
		for _, x := range e.Review.Findings {
			if x.ID != f.ID {
				continue
			}
			for _, m := range x.Models {
				if !slices.ContainsFunc(out, func(o learning.Stated) bool { return o.Model == m.Model }) {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

func (c recount) group(by By, r Row) has {
	models := func(h *learning.History, f *learning.Followed) (out []string) {
		for _, m := range made(h, f) {
			out = append(out, m.Model)
		}
		return out
	}
	return func(h *learning.History, f *learning.Followed) bool {
		switch by {
		case ByRule:
			return f.Rule == r.Name && f.Agent == r.Agent
		case ByAgent:
			return f.Agent == r.Name || slices.Contains(f.Others, r.Name)
		case ByModel:
			return slices.Contains(models(h, f), r.Name)
		case byPart:
			return slices.Contains(models(h, f), r.Name) && f.Prompt == r.Prompt && f.Category == r.Category
		case ByService:
			return slices.Contains(f.Services, r.Name) || r.Name == "" && len(f.Services) == 0
		case ByRepository:
			return h.Repository == r.Name
		case ByCategory:
			return f.Category == r.Name
		}
		return isoWeek(f.FirstAt) == r.Name
	}
}

// missed counts the right findings of others on lines that a model was asked about.
func (c recount) missed(model string) (n int) {
	for i := range c.pulls {
		h := &c.pulls[i]
		for _, f := range shownOnes(c.of(h, everything)) {
			if isRight(f) && !slices.ContainsFunc(made(h, f), func(m learning.Stated) bool { return m.Model == model }) && missedBy(model, f) {
				n++
			}
		}
	}
	return n
}

func missedBy(model string, f *learning.Followed) bool {
	var was learning.Finding
	for _, x := range f.FoundIn().Findings {
		if x.ID == f.ID {
			was = x
		}
	}
	for _, a := range f.FoundIn().Asked {
		for _, b := range f.FoundIn().Asked {
			found := slices.ContainsFunc(was.Models, func(m learning.Stated) bool { return m.Model == b.Model })
			its := b.Agent == was.Agent || slices.Contains(was.Others, b.Agent)
			alike := a.Checklist == b.Checklist && (a.Checklist != "" || a.Agent == b.Agent)
			if a.Model == model && found && its && alike && a.Stage == was.Stage && b.Stage == was.Stage && asksAll(a, was) {
				return true
			}
		}
	}
	return false
}

func asksAll(a learning.Asked, f learning.Finding) bool {
	if f.First == 0 {
		return false
	}
	for line := f.First; line <= f.Last; line++ {
		if !slices.ContainsFunc(a.Lines, func(l learning.Lines) bool { return l.Path == f.Path && l.First <= line && line <= l.Last }) {
			return false
		}
	}
	return true
}

func (c recount) reviews(h learning.History) (out []*learning.Entry) {
	for _, e := range h.Reviews {
		if !e.At.Before(c.since) {
			out = append(out, e)
		}
	}
	return out
}

func (c recount) totals(got Totals) {
	var want Totals
	var green []float64
	var iterations, cost float64
	actions := map[learning.Action]int{}
	automatic := map[pipeline.AutoDecision]int{}
	decisions := map[pipeline.Decision]int{}
	for _, h := range c.pulls {
		for _, e := range h.Decisions {
			if !e.At.Before(c.since) {
				actions[e.Decided.Action]++
			}
		}
		reviews := c.reviews(h)
		if len(reviews) == 0 {
			continue
		}
		want.PullRequests++
		most, failed := 0, false
		for _, e := range reviews {
			want.Reviews++
			decisions[e.Review.Decision]++
			automatic[e.Review.AutoDecision]++
			failed = failed || e.Review.Decision == "fail" || e.Review.Decision == "needs_fixes"
			most = max(most, e.Review.FixIterations)
			for _, u := range e.Review.Use {
				cost += u.Cost
			}
		}
		iterations += float64(most)
		if failed {
			want.Failed++
		}
		if first := h.Reviews[0]; len(reviews) == len(h.Reviews) && (first.Review.Decision == "fail" || first.Review.Decision == "needs_fixes") {
			var passes []time.Time
			for _, e := range h.Reviews {
				if e.Review.Decision == "pass" || e.Review.Decision == "pass_with_warnings" {
					passes = append(passes, e.At)
				}
			}
			for i, e := range h.Decisions {
				takenBack := slices.ContainsFunc(h.Decisions[i:], func(x *learning.Entry) bool {
					return x.Decided.Action == "reject" && x.Decided.HeadSHA == e.Decided.HeadSHA
				})
				if e.Decided.Action == "override" && !takenBack {
					passes = append(passes, e.At)
				}
			}
			switch {
			case len(passes) == 0 && h.End == "closed":
			case len(passes) == 0:
				want.Green.NotYet++
			default:
				want.Green.PullRequests++
				green = append(green, max(0, slices.MinFunc(passes, time.Time.Compare).Sub(first.At).Seconds()))
			}
		}
	}
	want.Decisions = Decisions{decisions["pass"], decisions["pass_with_warnings"], decisions["needs_fixes"], decisions["fail"]}
	want.Automatic = Automatic{automatic["auto_approve"], automatic["auto_approve_with_notes"], automatic["auto_reject"], automatic["human"], automatic[""]}
	want.Human = Human{actions["override"], actions["reject"], actions["github_approved"], actions["github_changes_requested"]}
	if want.PullRequests > 0 {
		mean := iterations / float64(want.PullRequests)
		want.AverageFixIterations = &mean
	}
	want.Green.MedianSeconds = middle(green)
	for i := range green { // sorted by now
		below := 0
		for _, v := range green {
			if v <= green[i] {
				below++
			}
		}
		if float64(below) >= 0.9*float64(len(green))-1e-9 {
			v := int64(green[i])
			want.Green.P90Seconds = &v
			break
		}
	}
	c.counts("all findings", got.Findings, c.findings(everything))
	if math.Abs(got.CostUSD-cost) > 1e-6 {
		c.t.Fatalf("cost %v, want %v", got.CostUSD, cost)
	}
	for _, rule := range []string{"", "R1", "R2"} {
		for _, agent := range []string{"quality", "spec", "security"} {
			in := c.group(ByRule, Row{Name: rule, Agent: agent})
			want.Blocking.add(c.precision(in, true))
			want.Other.add(c.precision(in, false))
		}
	}
	want.Blocking.decide()
	want.Other.decide()
	got.fixIterations, want.Findings, want.CostUSD = 0, got.Findings, got.CostUSD
	c.equal("totals", got, want)
}

func (c recount) calibration(got []Calibration) {
	var want []Calibration
	for _, model := range []string{"large", "small"} {
		row, any := Calibration{Model: model}, false
		for i := range 10 {
			b := Bin{From: float64(i) / 10, To: float64(i+1) / 10}
			for k := range c.pulls {
				h := &c.pulls[k]
				for _, f := range shownOnes(c.of(h, everything)) {
					for _, m := range made(h, f) {
						if m.Model != model || m.Confidence == 0 || m.Confidence < b.From || m.Confidence >= b.To && (i < 9 || m.Confidence > 1) {
							continue
						}
						if isRight(f) {
							b.Right++
						}
						if isRight(f) || isWrong(f) {
							b.Judged++
							any = true
						}
					}
				}
			}
			if b.Judged > 0 {
				b.Share = share(b.Right, b.Judged)
			}
			row.Bins = append(row.Bins, b)
		}
		if any {
			want = append(want, row)
		}
	}
	c.equal("calibration", got, want)
}

func (c recount) services(got []Service) {
	var want []Service
	for _, name := range []string{"cart", "web"} {
		s := Service{Service: name}
		for _, h := range c.pulls {
			for _, e := range c.reviews(h) {
				if slices.Contains(e.Review.Services, name) {
					s.Reviews++
				}
			}
		}
		for _, what := range []Issue{{"", "errors", 0}, {"", "tests", 0}, {"R1", "", 0}, {"R2", "", 0}} {
			for i := range c.pulls {
				if len(shownOnes(c.of(&c.pulls[i], func(_ *learning.History, f *learning.Followed) bool {
					return f.Rule == what.Rule && (f.Rule != "" || f.Category == what.Category) && slices.Contains(f.Services, name) && !isWrong(f)
				}))) > 0 {
					what.PullRequests++
				}
			}
			if what.PullRequests >= 2 {
				s.Issues = append(s.Issues, what)
			}
		}
		sort.SliceStable(s.Issues, func(i, j int) bool { return s.Issues[i].PullRequests > s.Issues[j].PullRequests })
		if s.Reviews > 0 {
			want = append(want, s)
		}
	}
	sort.SliceStable(want, func(i, j int) bool { return want[i].Reviews > want[j].Reviews })
	c.equal("services", text(got), text(want))
}

// Every number equals what a slow and obvious count gives, and no order of the logs changes anything.
func TestSummaryIsRight(t *testing.T) {
	t.Parallel()
	precisions, missed := 0, 0
	for i, by := range append(Tables(), "") {
		o := Options{By: by}
		if i%2 > 0 {
			o.Since = begin.Add(20 * 24 * time.Hour)
		}
		s := checkSummary(t, drawLogs(uint64(i), 600), o)
		for _, m := range s.models {
			missed += *m.Missed
		}
		if s.Totals.Blocking.Share != nil {
			precisions++
		}
	}
	if precisions == 0 || missed == 0 {
		t.Errorf("the logs have %d precisions and %d missed findings", precisions, missed)
	}
}

func TestDrawnSummaryIsRight(t *testing.T) {
	t.Parallel()
	sample.Check(t, func(t *rapid.T) {
		o := Options{By: rapid.SampledFrom(append(Tables(), "")).Draw(t, "by")}
		if rapid.Bool().Draw(t, "of a period") {
			o.Since = begin.Add(20 * 24 * time.Hour)
		}
		checkSummary(t, drawLogs(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "pull requests")), o)
	})
}

func checkSummary(t rapid.TB, logs [][]learning.Entry, o Options) *Summary {
	got, err := Summarise(context.Background(), each(logs), o)
	if err != nil {
		t.Fatal(err)
	}
	c := recount{t: t, since: o.Since}
	for _, log := range logs {
		c.pulls = append(c.pulls, learning.Replay(log))
	}
	c.totals(got.Totals)
	for _, table := range got.Tables {
		c.table(table)
	}
	c.calibration(got.Calibration)
	c.services(got.Services)

	slices.Reverse(logs)
	again, err := Summarise(context.Background(), each(logs), o)
	if err != nil || text(again) != text(got) {
		t.Fatalf("in another order: %v\n%s\nwant\n%s", err, text(again), text(got))
	}
	return got
}

// table checks that each finding has its rows, and that no row is there twice.
func (c recount) table(table Table) {
	seen := map[string]bool{}
	for _, r := range table.Rows {
		c.row(table.By, r)
		seen[text([]string{r.Name, r.Agent})] = true
	}
	if len(seen) != len(table.Rows) {
		c.t.Fatalf("a row of the table by %s is there twice", table.By)
	}
	for i := range c.pulls {
		h := &c.pulls[i]
		for _, f := range c.of(h, everything) {
			has := slices.ContainsFunc(table.Rows, func(r Row) bool { return c.group(table.By, r)(h, f) })
			if !has && (table.By != ByModel || len(made(h, f)) > 0) {
				c.t.Fatalf("no row of the table by %s has the finding %s", table.By, text(f.Finding))
			}
		}
	}
}

func TestSummariseFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	logs := func(yield func([]learning.Entry, error) bool) { yield(nil, broken) }
	if _, err := Summarise(t.Context(), logs, Options{}); !errors.Is(err, broken) {
		t.Errorf("%v, want the reader's error", err)
	}
	if _, err := Summarise(context.Background(), each(nil), Options{By: "person"}); err == nil {
		t.Error("there is no table by person")
	}
}
