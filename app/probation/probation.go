package probation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/analytics"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Finder finds what is on probation.
type Finder struct {
	Configs    *inforce.Configs
	Probations ports.Probations
	Learning   ports.Learning
	Marks      ports.Marks
	Log        zerolog.Logger
	Now        func() time.Time
}

const (
	// period is how far back judgements count: what was wrong two years ago may be right by now.
	period = 365 * 24 * time.Hour
	// allEvery is how often all repositories are looked at, because judgements get too old without any
	// new entry, deliveries arrive late, and settings change.
	allEvery = 24 * time.Hour
)

// The marks of the last look at repositories with news, and of that at all repositories.
const (
	markNews = "probation"
	markAll  = "probation/all"
)

// Work looks at the repositories whose logs have news since the last time, and once a day at all. It
// can safely run again. A repository that fails does not keep the others from being looked at.
func (f *Finder) Work(ctx context.Context) error {
	now := f.Now()
	since, err := f.Marks.Mark(ctx, markNews)
	if err != nil {
		return fmt.Errorf("read when probation was looked at: %w", err)
	}
	all, err := f.Marks.Mark(ctx, markAll)
	if err != nil {
		return fmt.Errorf("read when probation was looked at: %w", err)
	}
	marks := []string{markNews}
	if now.Sub(all) >= allEvery {
		since = time.Time{}
		marks = append(marks, markAll)
	}
	repos, err := f.Probations.LoggedRepositories(ctx, since)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range repos {
		if err := f.repository(ctx, t, now); err != nil {
			errs = append(errs, fmt.Errorf("look for what is often wrong in %s/%s: %w", t.Owner, t.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err // the marks stay, so that another try looks at the same
	}
	for _, mark := range marks {
		if err := f.Marks.SetMark(ctx, mark, now); err != nil {
			return fmt.Errorf("record that probation was looked at: %w", err)
		}
	}
	return nil
}

// repository finds and stores what is on probation in a repository.
func (f *Finder) repository(ctx context.Context, t ports.Target, now time.Time) error {
	cfg, err := f.Configs.Known(ctx, t)
	if err != nil {
		return err
	}
	before, err := f.Probations.OnProbation(ctx, t.RepoID)
	if err != nil {
		return err
	}
	found, err := f.find(ctx, t, cfg, now.Add(-period))
	if err != nil {
		return err
	}
	found = append(found, unanswered(cfg, before, found)...)
	slices.SortFunc(found, compare)
	if slices.EqualFunc(before, found, same) && !cfg.Settings.Issues.Probation {
		return nil
	}
	tell := cfg.Settings.Issues.Probation && len(before)+len(found) > 0
	if err := f.Probations.SetProbations(ctx, t, found, tell); err != nil {
		return err
	}
	for i := range found {
		p := &found[i]
		if !slices.ContainsFunc(before, func(b ports.Probation) bool { return compare(b, *p) == 0 }) {
			f.Log.Info().Str("repository", t.Owner+"/"+t.Name).Str(string(p.Kind), p.ID).Int("judged", p.Judged).Float64("precision", p.Precision).
				Msg("people judge this wrong too often; it is proposed for evaluation")
		}
	}
	return nil
}

func compare(a, b ports.Probation) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// same reports whether two rows say the same.
func same(a, b ports.Probation) bool {
	return compare(a, b) == 0 && a.Judged == b.Judged && a.People == b.People && a.Precision == b.Precision && a.High == b.High &&
		a.Blocks == b.Blocks && slices.Equal(a.Samples, b.Samples)
}

// unanswered returns the rules that reviewgate put in evaluation by itself and that are no longer
// found. Nobody judges findings in evaluation, so they stay until a person answers.
func unanswered(cfg *config.Config, before, found []ports.Probation) (kept []ports.Probation) {
	for i := range before {
		p := before[i]
		if slices.ContainsFunc(found, func(x ports.Probation) bool { return compare(x, p) == 0 }) {
			continue
		}
		if rules := inforce.ProbationRules([]ports.Probation{p}); len(cfg.ProbationLayer(rules).Files) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// find returns what is judged wrong too often by findings of the given time or later, at most as many
// as are stored.
func (f *Finder) find(ctx context.Context, t ports.Target, cfg *config.Config, since time.Time) ([]ports.Probation, error) {
	if cfg.Settings.ProbationBar <= 0 {
		return nil, nil
	}
	which := ports.LogFilter{RepoID: t.RepoID, Since: since}
	options := analytics.Options{Since: since, Bar: cfg.Settings.ProbationBar}
	all, err := analytics.Summarise(ctx, f.Learning.Logs(ctx, which), options)
	if err != nil {
		return nil, err
	}
	found := rows(cfg, all.Probation, ports.ProbationRule)
	if wrong := rulesOf(all.Probation); len(wrong) > 0 {
		// An agent is not proposed for what these rules did: without them it may be right.
		if all, err = analytics.Summarise(ctx, without(f.Learning.Logs(ctx, which), wrong), options); err != nil {
			return nil, err
		}
	}
	found = append(found, rows(cfg, all.Probation, ports.ProbationAgent)...)
	found = found[:min(len(found), ports.MaxProbations)]
	if len(found) == 0 {
		return nil, nil
	}
	for log, err := range f.Learning.Logs(ctx, which) {
		if err != nil {
			return nil, err
		}
		h := learning.Replay(log)
		for i := range h.Findings {
			if x := &h.Findings[i]; !x.FirstAt.Before(since) {
				describe(found, &h, x)
			}
		}
	}
	return found, nil
}

// rows returns the candidates of a kind that may be proposed, the worst first.
func rows(cfg *config.Config, candidates []analytics.Candidate, kind ports.ProbationKind) (all []ports.Probation) {
	for i := range candidates {
		c := &candidates[i]
		p := ports.Probation{Kind: kind, ID: c.Rule, Judged: c.Judged.Judged, People: c.People, Precision: c.Precision.Value, High: c.Precision.High}
		if kind == ports.ProbationAgent {
			p.ID = c.Agent
		}
		if (kind == ports.ProbationRule) != (c.Rule != "") || !cfg.Judgeable(c.Rule, c.Agent) {
			continue
		}
		if !slices.ContainsFunc(all, func(x ports.Probation) bool { return x.ID == p.ID }) {
			all = append(all, p)
		}
	}
	return all
}

// rulesOf returns the rules of candidates.
func rulesOf(candidates []analytics.Candidate) map[string]bool {
	rules := map[string]bool{}
	for i := range candidates {
		if c := &candidates[i]; c.Rule != "" {
			rules[c.Rule] = true
		}
	}
	return rules
}

// without returns logs without the findings of some rules. It changes what the given ones yield.
func without(logs iter.Seq2[[]learning.Entry, error], rules map[string]bool) iter.Seq2[[]learning.Entry, error] {
	return func(yield func([]learning.Entry, error) bool) {
		for log, err := range logs {
			for i := range log {
				if r := log[i].Review; r != nil {
					r.Findings = slices.DeleteFunc(r.Findings, func(f learning.Finding) bool { return rules[f.Rule] })
				}
			}
			if !yield(log, err) {
				return
			}
		}
	}
}

// describe adds to what was found what a finding tells about it.
func describe(found []ports.Probation, h *learning.History, f *learning.Followed) {
	if !f.Shown || f.Outcome == learning.OutcomeUnshown {
		return
	}
	for i := range found {
		p := &found[i]
		if p.Kind == ports.ProbationRule && p.ID != f.Rule || p.Kind == ports.ProbationAgent && p.ID != f.Agent && !slices.Contains(f.Others, p.ID) {
			continue
		}
		p.Blocks = p.Blocks || f.Blocks()
		if f.Judged != nil && f.Judged.Judged.Own || !f.FalsePositive() && !f.TruePositive() {
			continue
		}
		p.Samples = append(p.Samples, ports.ProbationSample{Number: h.Number, Path: f.Path, Line: f.First, Outcome: f.Outcome})
		slices.SortFunc(p.Samples, func(a, b ports.ProbationSample) int {
			return cmp.Or(rank(a.Outcome)-rank(b.Outcome), b.Number-a.Number, cmp.Compare(a.Path, b.Path), a.Line-b.Line)
		})
		p.Samples = p.Samples[:min(len(p.Samples), ports.MaxProbationSamples)]
	}
}

// rank is smaller for a finding that was wrong.
func rank(o learning.Outcome) int {
	if o == learning.OutcomeDismissed {
		return 0
	}
	return 1
}
