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
	"github.com/reviewgate/reviewgate/pipeline/lru"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Proposal is another config for stored reviews: files that replace one of their layers. Without
// files the layer is left out.
type Proposal struct {
	Layer string // config.LayerRepository, LayerOrganisation or LayerServer
	Files []config.File
	// Concerns reports whether the proposal is for a repository, by its full name. Nil means all.
	Concerns func(repository string) bool
}

// Backtester computes reviews under a proposal. Make one with New.
type Backtester struct {
	runner   *run.Runner
	replayer *replay.Replayer
	proposal Proposal
	// against is what the proposal is compared with: another one, or nil for the config that each
	// review used.
	against *Proposal
	configs *lru.Cache[[sha256.Size]byte, *config.Config]
	same    map[question]bool
}

// question is an agent under two configs, by their keys. Without an agent it stands for the rules.
type question struct {
	own, other [sha256.Size]byte
	agent      string
}

const (
	maxConfigs   = 16
	maxQuestions = 10_000
)

// New returns a Backtester that compares a proposal with another one or, if that is nil, with the
// config that each review used. Only one goroutine may use it.
func New(runner *run.Runner, p Proposal, against *Proposal) *Backtester {
	return &Backtester{
		runner: runner, replayer: replay.New(runner), proposal: p, against: against,
		configs: lru.New[[sha256.Size]byte, *config.Config](maxConfigs, maxConfigs), same: map[question]bool{},
	}
}

// Run computes the chosen reviews of an archive, at most limit of them; 0 means all. An error of
// ctx or of the archive ends it.
func (b *Backtester) Run(ctx context.Context, from ports.Archive, which ports.ReviewFilter) (*Report, error) {
	out := newTally()
	var c *chain
	end := func() error {
		if c == nil {
			return nil
		}
		closed, merged, err := from.Ended(ctx, c.key)
		if err == nil {
			c.end(out, closed, merged)
		}
		return err
	}
	for s, err := range replay.Ahead(ctx, from, which) {
		var altered *ports.AlteredError
		switch {
		case errors.As(err, &altered):
			out.failed(Failed{Run: altered.RunID, Why: altered.Error()})
			continue
		case err != nil:
			return nil, err
		case b.proposal.Concerns != nil && !b.proposal.Concerns(s.Review.Facts.Repository.FullName()):
			continue
		}
		if c == nil || c.key != s.Key {
			if err := end(); err != nil {
				return nil, err
			}
			c = newChain(s.Key)
		}
		if err := b.one(ctx, s, c, out); err != nil {
			return nil, err
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return out.report(), nil
}

// one computes one review. Only an error of ctx is returned: any other is part of the outcome.
func (b *Backtester) one(ctx context.Context, s *ports.StoredReview, c *chain, out *tally) error {
	was := side{report: &s.Review.Report}
	var now side
	own, err := b.replayer.ConfigOf(s)
	if err == nil && b.against != nil {
		was, err = b.under(ctx, b.against, own, s, c.against)
	}
	if err == nil {
		now, err = b.under(ctx, &b.proposal, own, s, c.before)
	}
	if err == nil {
		c.add(out, s, was, now)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		out.failed(Failed{Run: s.RunID, Pull: pullOf(&s.Review.Facts), Why: err.Error()})
	}
	return nil
}

// side is a review under one of the compared configs.
type side struct {
	report  *pipeline.Report
	unknown pipeline.List[string]
}

// under computes a review under a proposal, and adds its report to those of the pull request.
func (b *Backtester) under(ctx context.Context, p *Proposal, own *config.Config, s *ports.StoredReview, before map[string]*pipeline.PreviousReport) (side, error) {
	other, err := b.configOf(p, s)
	if err != nil {
		return side{}, err
	}
	result, err := b.runner.Backtest(ctx, &s.Review, run.Under{
		Own: own, Config: other, Before: before,
		Same:      func(agent string) bool { return b.asksSame(agent, own, other) },
		SameRules: b.asksSame("", own, other),
	})
	if err != nil {
		return side{}, err
	}
	before[s.HeadSHA] = result.Report.AsPrevious()
	return side{&result.Report, result.Unknown}, nil
}

// configOf returns the config that a review would have used under a proposal.
func (b *Backtester) configOf(p *Proposal, s *ports.StoredReview) (*config.Config, error) {
	defaults, layers := inforce.LayersOf(s)
	if len(defaults.Files) == 0 {
		defaults = config.DefaultLayer()
	}
	layers = p.over(layers, &s.Review.Facts)
	key := keyOf(append([]config.Layer{defaults}, layers...))
	if cfg, ok := b.configs.Get(key); ok {
		return cfg, nil
	}
	cfg, problems := config.LoadOver(defaults, layers...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the proposal is not valid over the other layers of the review: %s", config.FormatProblem(problems[0]))
	}
	b.configs.Add(key, cfg, 1)
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

func keyOf(layers []config.Layer) [sha256.Size]byte {
	h := sha256.New()
	for _, l := range layers {
		fmt.Fprintf(h, "%q %q %d\n", l.Name, l.Organisation, len(l.Files))
		for _, f := range l.Files {
			fmt.Fprintf(h, "%q %x\n", f.Path, sha256.Sum256(f.Text))
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
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

// asked is everything in a config that an agent's result depends on, apart from its scope. Without
// an agent it is everything about rules.
func asked(agent string, cfg *config.Config) any {
	if agent == "" {
		floors := make([][]config.Rule, len(cfg.Floors))
		for i, f := range cfg.Floors {
			floors[i] = f.Config.Rules
		}
		return []any{cfg.Rules, floors}
	}
	at := slices.IndexFunc(cfg.Agents, func(a config.Agent) bool { return a.ID == agent })
	if at < 0 {
		return nil
	}
	a := cfg.Agents[at]
	prompt, _ := cfg.Prompt(&a)
	checklist := model.Checklist(cfg, a)
	thresholds := cfg.ThresholdsOf(agent)
	a.Name, a.Description, a.Final, a.TimeoutSeconds, a.Retries = "", "", false, 0, nil
	return []any{a, prompt.Text, checklist, thresholds, cfg.Settings.ModelEndpoints, cfg.Settings.Models}
}
