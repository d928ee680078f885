// Package backtest computes what stored reviews would have been under another config. It asks
// neither GitHub nor a model. What can't be known without them is counted apart, and never read
// as a pass.
package backtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/replay"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Proposal is another config for stored reviews: files that replace one of their layers. Without
// files the layer is left out.
type Proposal struct {
	Layer string // config.LayerRepository, LayerOrganisation or LayerServer
	Files []config.File
}

// Backtester computes reviews under a proposal. Make one with New.
type Backtester struct {
	runner   *run.Runner
	replayer *replay.Replayer
	proposal Proposal
	// against is what the proposal is compared with: another one, or nil for the config that each
	// review used.
	against *Proposal
	same    map[question]bool

	// Named reports whether the report may name a review and quote what is in it. The others are
	// only counted. Without Named all are named.
	Named func(*ports.StoredReview) bool
	// Late is asked before each review, by the goroutine that calls Run. Once it returns true, Run
	// begins no further review. Without Late all are computed.
	Late func() bool
}

// question is an agent under two configs, by their keys.
type question struct {
	own, other [sha256.Size]byte
	agent      string
}

const maxQuestions = 10_000

// New returns a Backtester that compares a proposal with another one or, if that is nil, with the
// config that each review used. Only one goroutine may use it.
func New(runner *run.Runner, p Proposal, against *Proposal) *Backtester {
	return &Backtester{
		runner: runner, replayer: replay.New(runner), proposal: p, against: against,
		same: map[question]bool{},
	}
}

// Run computes the chosen reviews of an archive. An error of ctx or of the archive ends it.
func (b *Backtester) Run(ctx context.Context, from ports.Archive, which ports.ReviewFilter) (*Report, error) {
	out := newTally()
	var c *chain
	err := chains(ctx, from, which, walk{
		begin: func(key string) { c = newChain(key) },
		one:   func(s *ports.StoredReview) error { return b.one(ctx, s, c, out) },
		end:   func(how ports.PullEnd) { c.end(out, how) },
		bad:   out.failed,
		late:  b.Late,
	})
	if err != nil {
		return nil, err
	}
	return out.report(), nil
}

// walk says what happens with the reviews of an archive.
type walk struct {
	begin func(key string)                  // each pull request, before its first review
	one   func(s *ports.StoredReview) error // each review
	end   func(how ports.PullEnd)           // each pull request, after its last review. Empty if that is unknown
	bad   func(Failed)                      // each review that was altered since it was stored
	late  func() bool                       // asked before each review: the walk ends if it returns true. May be nil
}

// chains walks over the chosen reviews of an archive, one pull request after the other. A merge group
// holds changes of pull requests that count already, so it leaves out its reviews.
func chains(ctx context.Context, from ports.Archive, which ports.ReviewFilter, w walk) error {
	key := ""
	end := func() error {
		if key == "" {
			return nil
		}
		how, err := from.Ended(ctx, key)
		if err == nil {
			w.end(how)
		}
		return err
	}
	which.OnlyPulls = true
	for s, err := range replay.Ahead(ctx, from, which) {
		var altered *ports.AlteredError
		damaged := errors.As(err, &altered)
		switch {
		case err != nil && !damaged:
			return err
		case w.late != nil && w.late():
			if key != "" && (damaged || key == s.Key) {
				w.end("") // later reviews would show what people did
				return nil
			}
			return end()
		case damaged:
			w.bad(Failed{Run: altered.RunID, Why: altered.Error()})
			continue
		}
		if key != s.Key {
			if err := end(); err != nil {
				return err
			}
			key = s.Key
			w.begin(key)
		}
		if err := w.one(s); err != nil {
			return err
		}
	}
	return end()
}

// one computes one review. Only an error of ctx is returned: any other is part of the outcome.
func (b *Backtester) one(ctx context.Context, s *ports.StoredReview, c *chain, out *tally) error {
	c.unnamed = b.Named != nil && !b.Named(s)
	was, now, err := b.sides(ctx, s, c, out)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case err == nil:
		c.add(out, s, was, now)
	case c.unnamed:
		out.FailedMore++
	default:
		out.failed(Failed{Run: s.RunID, Pull: s.Review.Facts.PullName(), Why: err.Error()})
	}
	return nil
}

// sides computes the two sides that are compared. What was in force is read from the stored report,
// unless another version made that: then it is computed too, so that only the config differs.
func (b *Backtester) sides(ctx context.Context, s *ports.StoredReview, c *chain, out *tally) (was, now side, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pipeline.PanicError{Value: v}
		}
	}()
	own, err := b.replayer.ConfigOf(s)
	if err != nil {
		return was, now, err
	}
	before, err := own, error(nil)
	if b.against != nil {
		before, err = b.configOf(b.against, s)
	}
	if err != nil {
		return was, now, err
	}
	after, err := b.configOf(&b.proposal, s)
	if err != nil {
		return was, now, err
	}
	out.evaluated(after)
	for _, p := range after.Weakened() {
		if p.Layer == b.proposal.Layer && !c.unnamed {
			out.ignored(config.FormatProblem(p))
		}
	}
	// If the rules run again on one side, they do so on the other: another version may find more.
	sameRules := b.asksSame(rules, own, before) && b.asksSame(rules, own, after)
	was = side{report: &s.Review.Report}
	if b.against != nil || s.Record.Version != b.runner.Version {
		if was, err = b.under(ctx, own, before, s, c.against, sameRules); err != nil {
			return was, now, err
		}
	}
	now, err = b.under(ctx, own, after, s, c.before, sameRules)
	return was, now, err
}

// side is a review under one of the compared configs.
type side struct {
	report  *pipeline.Report
	unknown pipeline.List[string]
	agents  pipeline.List[string] // whose findings are unknown
	either  bool                  // what is unknown may also make the decision milder
}

// under computes a review under another config, and adds its report to those of the pull request.
func (b *Backtester) under(ctx context.Context, own, other *config.Config, s *ports.StoredReview, before *reports, sameRules bool) (side, error) {
	result, err := b.runner.Backtest(ctx, &s.Review, run.Under{
		Own: own, Config: other, SameRules: sameRules,
		Same: func(agent string) bool { return b.asksSame(agent, own, other) },
		Before: func(head string) *pipeline.PreviousReport {
			report, _ := before.Get(head)
			return report
		},
	})
	if err != nil {
		return side{}, err
	}
	before.Add(s.HeadSHA, result.Report.AsPrevious(), 1)
	return side{&result.Report, result.Unknown, result.Agents, result.Either}, nil
}

// configOf returns the config that a review would have used under a proposal.
func (b *Backtester) configOf(p *Proposal, s *ports.StoredReview) (*config.Config, error) {
	defaults, layers := inforce.LayersOf(s)
	cfg, err := b.replayer.Load(defaults, p.over(layers, &s.Review.Facts))
	if err != nil {
		return nil, fmt.Errorf("the config is not valid over the other layers of the review: %w", err)
	}
	return cfg, nil
}

// over returns layers with the proposal's in the place of the one with its name.
func (p *Proposal) over(layers []config.Layer, facts *pipeline.PRFacts) []config.Layer {
	proposed := config.Layer{Name: p.Layer, Source: "the proposal", Files: p.Files}
	if p.Layer == config.LayerOrganisation {
		proposed.Organisation = facts.Repository.Owner
	}
	out := slices.DeleteFunc(slices.Clone(layers), func(l config.Layer) bool { return l.Name == p.Layer })
	if len(p.Files) == 0 {
		return out
	}
	at := slices.IndexFunc(out, func(l config.Layer) bool { return config.LayerRank(l.Name) > config.LayerRank(p.Layer) })
	if at < 0 {
		at = len(out)
	}
	return slices.Insert(out, at, proposed)
}

// asksSame reports whether an agent is asked the same under two configs, apart from the files that
// it looks at.
func (b *Backtester) asksSame(agent string, own, other *config.Config) bool {
	if own.Key == other.Key {
		return true
	}
	q := question{own.Key, other.Key, agent}
	same, known := b.same[q]
	if !known {
		if len(b.same) >= maxQuestions {
			clear(b.same)
		}
		same = reflect.DeepEqual(asked(agent, own), asked(agent, other))
		b.same[q] = same
	}
	return same
}

// rules stands for all rules in place of an agent.
const rules = ""

// asked is everything in a config that the result of an agent depends on that does more than read
// the facts, apart from its scope and its models' names.
func asked(agent string, cfg *config.Config) any {
	switch agent {
	case rules:
		floors := make([][]config.Rule, len(cfg.Floors))
		for i, f := range cfg.Floors {
			floors[i] = f.Config.Rules
		}
		return []any{cfg.Rules, floors}
	case pipeline.GapDetector: // is shown what was chosen, and what could be
		return []any{cfg.Agents, cfg.Policies, cfg.Domains, cfg.Signals, cfg.Settings.ModelEndpoints}
	}
	at := slices.IndexFunc(cfg.Agents, func(a config.Agent) bool { return a.ID == agent })
	if at < 0 {
		return nil
	}
	a := cfg.Agents[at]
	if a.Kind == config.KindReport {
		return []any{a.Kind, a.Reports, cfg.ThresholdsOf(agent)}
	}
	if a.Kind != config.KindLLM {
		return []any{a.Kind, a.Scanning}
	}
	prompt, _ := cfg.Prompt(&a)
	return []any{a.Kind, a.LLM, prompt.Text, model.Checklist(cfg, a), cfg.ThresholdsOf(agent), cfg.Settings.ModelEndpoints}
}
