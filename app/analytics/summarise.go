package analytics

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Options choose what a summary is about.
type Options struct {
	Since time.Time // only reviews and findings of this time or later
	By    By        // the only table; empty: models, agents and rules
	// Probation is what the server found on probation, which the summary repeats.
	Probation []ports.RepositoryProbation
}

// A worker takes this many logs at a time.
const logsAtATime = 64

// Summarise counts what the logs of pull requests say. It reads them once and keeps none of them. The
// result does not depend on their order.
func Summarise(ctx context.Context, logs iter.Seq2[[]learning.Entry, error], o Options) (*Summary, error) {
	if o.By != "" && !slices.Contains(Tables(), o.By) {
		return nil, fmt.Errorf("no table is by %q", o.By)
	}
	work := make(chan [][]learning.Entry)
	tallies := make([]*tally, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range tallies {
		t := newTally(o)
		tallies[i] = t
		workers.Go(func() {
			for batch := range work {
				for _, log := range batch {
					h := learning.Replay(log)
					t.pull(&h)
				}
			}
		})
	}
	err := feed(ctx, logs, work)
	close(work)
	workers.Wait()
	if err != nil {
		return nil, err
	}
	for _, t := range tallies[1:] {
		tallies[0].merge(t)
	}
	return tallies[0].summary(), nil
}

// feed hands the logs to the workers.
func feed(ctx context.Context, logs iter.Seq2[[]learning.Entry, error], to chan<- [][]learning.Entry) error {
	var batch [][]learning.Entry
	send := func() error {
		select {
		case to <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for log, err := range logs {
		if err != nil {
			return fmt.Errorf("read the logs of pull requests: %w", err)
		}
		if batch = append(batch, log); len(batch) < logsAtATime {
			continue
		}
		if err := send(); err != nil {
			return err
		}
	}
	return send()
}

// byPart is a table of models by prompt and category.
const byPart By = "part"

// tally collects a summary.
type tally struct {
	Options
	Totals
	cost      int64 // in billionths of a dollar
	greens    []int32
	tables    map[By]map[key]*group
	touched   []*group // in the pull request that is being read
	bins      map[string]*[10]Bin
	issues    map[issue]int // pull requests
	services  map[string]int
	nowIssues map[issue]bool
	names     map[int64]nameAt // of repositories
}

// nameAt is the name that a repository had at a time.
type nameAt struct {
	name string
	at   time.Time
}

func (n nameAt) newer(o nameAt) bool {
	return cmp.Or(n.at.Compare(o.at), cmp.Compare(n.name, o.name)) > 0
}

// issue is a rule or a category in a service.
type issue struct{ service, rule, category string }

func newTally(o Options) *tally {
	t := &tally{
		Options: o, tables: map[By]map[key]*group{}, bins: map[string]*[10]Bin{}, issues: map[issue]int{}, services: map[string]int{},
		nowIssues: map[issue]bool{}, names: map[int64]nameAt{},
	}
	for _, by := range []By{ByModel, ByAgent, ByRule, byPart, cmp.Or(o.By, ByRule)} {
		t.tables[by] = map[key]*group{}
	}
	return t
}

// group returns a group of a table, or nil if nobody asked for the table.
func (t *tally) group(by By, k key) *group {
	table := t.tables[by]
	if table == nil {
		return nil
	}
	g := table[k]
	if g == nil {
		g = &group{key: k}
		table[k] = g
	}
	return g
}

// pull takes in a pull request.
func (t *tally) pull(h *learning.History) {
	t.reviews(h)
	for _, e := range h.Decisions {
		if e.At.Before(t.Since) {
			continue
		}
		switch e.Decided.Action {
		case learning.Overrode:
			t.Human.Override++
		case learning.Rejected:
			t.Human.Reject++
		case learning.Approved:
			t.Human.Approved++
		case learning.Changes:
			t.Human.ChangesRequested++
		}
	}
	for i := range h.Findings {
		if f := &h.Findings[i]; !f.FirstAt.Before(t.Since) {
			t.finding(h, f)
		}
	}
	for _, g := range t.touched {
		g.endPull()
	}
	t.touched = t.touched[:0]
	for i := range t.nowIssues {
		t.issues[i]++
	}
	clear(t.nowIssues)
}

// reviews takes in the reviews of a pull request.
func (t *tally) reviews(h *learning.History) {
	any, failed, attempts := false, false, 0
	for _, e := range h.Reviews {
		if e.At.Before(t.Since) {
			continue
		}
		r := e.Review
		any = true
		t.Reviews++
		t.Decisions.count(r.Decision)
		t.Automatic.count(r.AutoDecision)
		if r.Decision.Blocks() {
			failed = true
		}
		attempts = max(attempts, r.FixIterations)
		for i := range r.Use {
			t.use(&r.Use[i])
		}
		for _, s := range orNone(r.Services) {
			t.services[s]++
			t.review(ByService, key{name: s})
		}
		t.review(ByRepository, t.repository(h))
		if t.tables[ByWeek] != nil {
			t.review(ByWeek, key{name: week(e.At)})
		}
	}
	if !any {
		return
	}
	t.PullRequests++
	t.fixIterations += attempts
	if failed {
		t.Failed++
	}
	t.green(h)
}

func (d *Decisions) count(what pipeline.Decision) {
	switch what {
	case pipeline.DecisionPass:
		d.Pass++
	case pipeline.DecisionPassWithWarnings:
		d.PassWithWarnings++
	case pipeline.DecisionNeedsFixes:
		d.NeedsFixes++
	default: // what is not known blocks
		d.Fail++
	}
}

func (a *Automatic) count(what pipeline.AutoDecision) {
	switch what {
	case pipeline.AutoApprove:
		a.Approve++
	case pipeline.AutoApproveWithNotes:
		a.ApproveWithNotes++
	case pipeline.AutoReject:
		a.Reject++
	case "":
		a.NoModels++
	default:
		a.Human++
	}
}

func (t *tally) review(by By, k key) {
	if g := t.group(by, k); g != nil {
		g.reviews++
	}
}

// repository returns the key of a pull request's repository, and remembers its name. A repository that
// was renamed has one row, with its newest name.
func (t *tally) repository(h *learning.History) key {
	last := h.Reviews[len(h.Reviews)-1]
	if last.RepositoryID == 0 {
		return key{name: h.Repository}
	}
	t.name(last.RepositoryID, nameAt{h.Repository, last.At})
	return key{repository: last.RepositoryID}
}

func (t *tally) name(repository int64, n nameAt) {
	if n.newer(t.names[repository]) {
		t.names[repository] = n
	}
}

// use takes in what questions to a model cost.
func (t *tally) use(u *learning.Use) {
	cost := int64(math.Round(u.Cost * 1e9))
	t.cost += cost
	t.group(ByAgent, key{name: u.Agent}).cost += cost
	t.group(ByModel, key{name: u.Model}).cost += cost
}

// green measures how long a pull request took to pass after its first review blocked.
func (t *tally) green(h *learning.History) {
	first := h.Reviews[0]
	if first.At.Before(t.Since) || !first.Review.Decision.Blocks() {
		return
	}
	at := overridden(h.Decisions)
	for _, e := range h.Reviews {
		if !e.Review.Decision.Blocks() {
			at = earlier(at, e.At)
			break
		}
	}
	switch {
	case !at.IsZero():
		t.Green.PullRequests++
		t.greens = append(t.greens, seconds(at.Sub(first.At)))
	case h.End != learning.KindClosed: // whoever gives a change up does not wait for it
		t.Green.NotYet++
	}
}

// overridden returns the time of the first override of a head that no later reject of that head took
// back, or the zero time. Decisions are in the order of time.
func overridden(decisions []*learning.Entry) (at time.Time) {
	type head struct{ sha, base string }
	standing := map[head]time.Time{}
	for _, e := range decisions {
		of := head{e.Decided.HeadSHA, e.Decided.BaseRef}
		switch e.Decided.Action {
		case learning.Overrode:
			standing[of] = earlier(standing[of], e.At)
		case learning.Rejected:
			delete(standing, of)
		}
	}
	for _, t := range standing {
		at = earlier(at, t)
	}
	return at
}

// earlier returns the earlier of two times. A zero time counts as missing.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// finding counts a finding.
func (t *tally) finding(h *learning.History, f *learning.Followed) {
	agents := append([]string{f.Agent}, f.Others...)
	for i, agent := range agents {
		if !slices.Contains(agents[:i], agent) {
			t.take(ByAgent, key{name: agent}, f)
		}
	}
	for _, m := range f.FoundBy {
		t.take(ByModel, key{name: m.Model}, f)
		t.take(byPart, key{name: m.Model, prompt: f.Prompt, category: f.Category}, f)
	}
	t.take(ByRule, key{name: f.Rule, agent: f.Agent}, f)
	t.take(ByCategory, key{name: f.Category}, f)
	if t.tables[ByRepository] != nil {
		t.take(ByRepository, t.repository(h), f)
	}
	if t.tables[ByWeek] != nil {
		t.take(ByWeek, key{name: week(f.FirstAt)}, f)
	}
	for _, s := range orNone(f.Services) {
		t.take(ByService, key{name: s}, f)
	}
	t.Findings.count(f)
	if !counts(f) {
		return
	}
	switch judge(f) {
	case right:
		t.calibrate(f, 1)
		t.missed(f)
	case wrong:
		t.calibrate(f, 0)
		return
	}
	for _, s := range f.Services {
		i := issue{service: s, rule: f.Rule}
		if f.Rule == "" {
			i.category = f.Category
		}
		if i.rule != "" || i.category != "" {
			t.nowIssues[i] = true
		}
	}
}

// take counts a finding in a group of a table.
func (t *tally) take(by By, k key, f *learning.Followed) {
	g := t.group(by, k)
	if g == nil {
		return
	}
	if !g.touched {
		g.touched = true
		t.touched = append(t.touched, g)
	}
	g.take(f)
}

// calibrate compares the confidence that each model stated for a finding with whether it is right.
func (t *tally) calibrate(f *learning.Followed, right int) {
	for _, m := range f.FoundBy {
		if m.Confidence <= 0 {
			continue
		}
		if t.bins[m.Model] == nil {
			t.bins[m.Model] = new([10]Bin)
		}
		bin := &t.bins[m.Model][int(min(0.9, m.Confidence)*10)]
		bin.Judged++
		bin.Right += right
	}
}

// missed counts the models that never made a right finding, although the review that showed it first
// asked them about it in the same way as those that made it then.
func (t *tally) missed(f *learning.Followed) {
	was := f.ShownFirst // lines move with later pushes, and so do questions
	if len(was.Models) == 0 || was.First <= 0 {
		return
	}
	asked := f.FoundIn().Asked
	var questions []question // in answer to which it was found
	for i := range asked {
		a := &asked[i]
		if a.Stage == was.Stage && madeBy(was.Models, a.Model) && (a.Agent == was.Agent || slices.Contains(was.Others, a.Agent)) {
			questions = append(questions, questionOf(a))
		}
	}
	var who []string
	for i := range asked {
		a := &asked[i]
		if a.Stage == was.Stage && !madeBy(f.FoundBy, a.Model) && !slices.Contains(who, a.Model) &&
			slices.Contains(questions, questionOf(a)) && contains(a.Lines, was.Path, was.First, max(was.First, was.Last)) {
			who = append(who, a.Model)
			t.group(ByModel, key{name: a.Model}).missed++
		}
	}
}

// question tells apart what models are asked for: a checklist, or what an agent without one is for.
type question struct{ checklist, agent string }

func questionOf(a *learning.Asked) question {
	if a.Checklist == "" {
		return question{agent: a.Agent}
	}
	return question{checklist: a.Checklist}
}

func madeBy(models []learning.Stated, model string) bool {
	return slices.ContainsFunc(models, func(m learning.Stated) bool { return m.Model == model })
}

// contains reports whether all lines of a file from first to last are among lines.
func contains(lines []learning.Lines, path string, first, last int) bool {
	for first <= last {
		next := first
		for _, l := range lines {
			if l.Path == path && l.First <= first && first <= l.Last {
				next = max(next, l.Last+1)
			}
		}
		if next == first {
			return false
		}
		first = next
	}
	return true
}

func (f *Findings) count(x *learning.Followed) {
	var g group
	g.take(x)
	f.merge(&g.Findings)
}

// merge adds what another worker counted.
func (t *tally) merge(o *tally) {
	a, b := &t.Totals, &o.Totals
	for _, n := range [][2]*int{
		{&a.PullRequests, &b.PullRequests}, {&a.Reviews, &b.Reviews}, {&a.Failed, &b.Failed}, {&a.fixIterations, &b.fixIterations},
		{&a.Decisions.Pass, &b.Decisions.Pass}, {&a.Decisions.PassWithWarnings, &b.Decisions.PassWithWarnings},
		{&a.Decisions.NeedsFixes, &b.Decisions.NeedsFixes}, {&a.Decisions.Fail, &b.Decisions.Fail},
		{&a.Automatic.Approve, &b.Automatic.Approve}, {&a.Automatic.ApproveWithNotes, &b.Automatic.ApproveWithNotes},
		{&a.Automatic.Reject, &b.Automatic.Reject}, {&a.Automatic.Human, &b.Automatic.Human}, {&a.Automatic.NoModels, &b.Automatic.NoModels},
		{&a.Human.Override, &b.Human.Override}, {&a.Human.Reject, &b.Human.Reject},
		{&a.Human.Approved, &b.Human.Approved}, {&a.Human.ChangesRequested, &b.Human.ChangesRequested},
		{&a.Green.PullRequests, &b.Green.PullRequests}, {&a.Green.NotYet, &b.Green.NotYet},
	} {
		*n[0] += *n[1]
	}
	a.Findings.merge(&b.Findings)
	t.cost += o.cost
	t.greens = append(t.greens, o.greens...)
	for by, table := range o.tables {
		for k, g := range table {
			t.group(by, k).merge(g)
		}
	}
	for model, bins := range o.bins {
		if t.bins[model] == nil {
			t.bins[model] = bins
			continue
		}
		for i := range bins {
			t.bins[model][i].Judged += bins[i].Judged
			t.bins[model][i].Right += bins[i].Right
		}
	}
	for i, n := range o.issues {
		t.issues[i] += n
	}
	for s, n := range o.services {
		t.services[s] += n
	}
	for id, n := range o.names {
		t.name(id, n)
	}
}

// summary returns what was counted, in order.
func (t *tally) summary() *Summary {
	s := &Summary{Since: t.Since, By: t.By, Totals: t.Totals}
	if t.PullRequests > 0 {
		mean := float64(t.fixIterations) / float64(t.PullRequests)
		s.Totals.AverageFixIterations = &mean
	}
	s.Totals.Green.MedianSeconds, s.Totals.Green.P90Seconds = median(t.greens), p90(t.greens)
	s.Totals.CostUSD = dollars(t.cost)
	for k, g := range t.tables[ByRepository] {
		if k.repository != 0 {
			g.name = t.names[k.repository].name
		}
	}
	for _, g := range t.tables[ByRule] {
		s.Totals.Blocking.add(g.blocking)
		s.Totals.Other.add(g.other)
	}
	s.Totals.Blocking.decide()
	s.Totals.Other.decide()
	for _, by := range []By{ByModel, ByAgent, ByRule} {
		rows := t.rows(by)
		if by == ByModel {
			s.models = rows
		}
		if t.By == "" {
			s.Tables = append(s.Tables, Table{by, rows})
		}
	}
	if t.By != "" {
		s.Tables = pipeline.List[Table]{{t.By, t.rows(t.By)}}
	}
	s.Calibration = t.calibration()
	for i := range t.Probation {
		s.Probation = append(s.Probation, candidate(&t.Probation[i]))
	}
	s.Services = t.common()
	s.Hints = s.hints()
	return s
}

// rows returns the rows of a table, those with the most findings first.
func (t *tally) rows(by By) (out pipeline.List[Row]) {
	parts := map[string]pipeline.List[Row]{}
	if by == ByModel {
		for _, g := range sorted(byPart, t.tables[byPart]) {
			parts[g.name] = append(parts[g.name], g.row(byPart))
		}
	}
	for _, g := range sorted(by, t.tables[by]) {
		r := g.row(by)
		r.Parts = parts[g.name]
		out = append(out, r)
	}
	return out
}

func sorted(by By, table map[key]*group) []*group {
	return slices.SortedFunc(maps.Values(table), func(a, b *group) int {
		if by == ByWeek {
			return a.compare(b.key)
		}
		return cmp.Or(b.Shown-a.Shown, a.compare(b.key))
	})
}

func (t *tally) calibration() (out pipeline.List[Calibration]) {
	for _, model := range slices.Sorted(maps.Keys(t.bins)) {
		c := Calibration{Model: model}
		for i, b := range t.bins[model] {
			b.From, b.To, b.Share = float64(i)/10, float64(i+1)/10, newShare(b.Right, b.Judged)
			c.Bins = append(c.Bins, b)
		}
		out = append(out, c)
	}
	return out
}

// common returns the services, those with the most reviews first, and what keeps being found in them.
func (t *tally) common() (out pipeline.List[Service]) {
	found := map[string]pipeline.List[Issue]{}
	for i, n := range t.issues {
		if n >= minIssuesPulls {
			found[i.service] = append(found[i.service], Issue{i.rule, i.category, n})
		}
	}
	for name, reviews := range t.services {
		if name == "" {
			continue
		}
		issues := found[name]
		slices.SortFunc(issues, func(a, b Issue) int {
			return cmp.Or(b.PullRequests-a.PullRequests, cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Category, b.Category))
		})
		out = append(out, Service{name, reviews, issues[:min(len(issues), MaxIssues)]})
	}
	slices.SortFunc(out, func(a, b Service) int {
		return cmp.Or(b.Reviews-a.Reviews, cmp.Compare(a.Service, b.Service))
	})
	return out
}

// orNone returns the names. It returns one empty name in place of an empty list.
func orNone(names []string) []string {
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// week returns the week of a time, such as 2026-W07.
func week(at time.Time) string {
	y, w := at.UTC().ISOWeek()
	return fmt.Sprintf("%d-W%02d", y, w)
}

// seconds returns a duration in whole seconds. Clocks may differ, so it is not negative.
func seconds(d time.Duration) int32 {
	return int32(min(max(0, d/time.Second), math.MaxInt32))
}
