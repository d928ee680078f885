package backtest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Previewer backtests the config that a pull request proposes, for its comment.
type Previewer struct {
	Targets   ports.Targets
	History   ports.History
	Archive   ports.Archive
	Backtests ports.Backtests
	Version   string // of reviewgate
	Log       zerolog.Logger
	Now       func() time.Time

	Most int           // reviews that are computed. Default 500
	For  time.Duration // after which no further review is begun. Default 10 s

	running sync.Mutex // one backtest at a time, beside the reviews of the process
}

const (
	previewDays = 90
	previewMost = 500
	previewFor  = 10 * time.Second
	// previewGrace is for the review that is being computed when the time is over. A backtest
	// that takes even longer is dropped.
	previewGrace = 20 * time.Second
	// previewEngines bounds the compiled configs of a backtest, in bytes: some seven of the size of
	// the defaults. They are compiled for it alone, and take memory beside those of the reviews.
	previewEngines = 64 << 20
	maxNamed       = 5
	maxWhy         = 3
)

var errBusy = errors.New("another backtest is running")

// Work computes what a job asks for, and has the comment show it. It does nothing if the pull
// request has another head or proposes something else by now.
func (p *Previewer) Work(ctx context.Context, job ports.BacktestJob, _ int) error {
	if !p.running.TryLock() {
		return errBusy // and tried again: a waiting job would take a worker from reviews
	}
	defer p.running.Unlock()
	return panics.Guard(func() error { return p.work(ctx, job) })
}

func (p *Previewer) work(ctx context.Context, job ports.BacktestJob) error {
	state, err := p.Targets.Target(ctx, job.Key)
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err != nil || state.Closed || state.HeadSHA != job.HeadSHA {
		return err
	}
	r, err := p.History.ReviewOfHead(ctx, job.Key, job.HeadSHA, "")
	if err != nil || r == nil {
		return err
	}
	files, proposal := inforce.ProposedFiles(r)
	if proposal == "" || proposal != job.Proposal {
		return nil
	}
	begun := p.Now()
	result, err := p.backtest(ctx, state.Target, files, r.Review.Facts.Head.Fork)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p.Log.Warn().EmbedObject(state.Target).Msg("the backtest of a proposed config took too long and was dropped")
		return nil
	}
	if err != nil || result.Reviews == 0 {
		return err
	}
	saved := ports.ConfigBacktest{HeadSHA: job.HeadSHA, Proposal: proposal, Result: result}
	err = p.Backtests.SaveConfigBacktest(ctx, job.Key, saved, render.Notice{Kind: render.NoticeBacktest}.String())
	if errors.Is(err, ports.ErrNotFound) {
		return nil
	}
	if err == nil {
		p.Log.Info().EmbedObject(state.Target).Int("reviews", result.Reviews).Int("changed", result.Changed).
			Int64("ms", p.Now().Sub(begun).Milliseconds()).Msg("proposed config backtested")
	}
	return err
}

// backtest computes the newest reviews under a proposal. The runner is its own, so that proposed
// configs don't push those in use out of the cache.
//
// An organisation's config is tried on all of its repositories only if the proposal comes from
// somebody who may push to the organisation's own. With a fork of it anybody could propose one rule
// after another, and learn from the numbers what is in private code.
func (p *Previewer) backtest(ctx context.Context, about ports.Target, files []config.File, fork bool) (out pipeline.ConfigBacktest, err error) {
	most, limit := p.Most, p.For
	if most == 0 {
		most = previewMost
	}
	if limit == 0 {
		limit = previewFor
	}
	now := p.Now()
	proposal, organisation := Proposal{config.LayerRepository, files}, false
	if ports.IsOrganisationRepo(about) {
		proposal.Layer, organisation = config.LayerOrganisation, !fork
	}
	chosen, err := p.Backtests.ChooseReviews(ctx, about, organisation, now.AddDate(0, 0, -previewDays), most)
	if err != nil || len(chosen.Heads) == 0 {
		return out, err
	}
	runner, err := run.NewRunner(run.Config{Version: p.Version, Now: p.Now, Engines: run.NewEnginesWithin(previewEngines)})
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit+previewGrace)
	defer cancel()
	b := New(runner, proposal, nil)
	begun := map[ports.ChosenHead]bool{}
	b.Named = func(s *ports.StoredReview) bool {
		begun[ports.ChosenHead{Key: s.Key, HeadSHA: s.HeadSHA}] = true
		return s.RepoID == about.RepoID
	}
	cut := false
	b.Late = func() bool {
		cut = p.Now().Sub(now) >= limit
		return cut
	}
	report, err := b.Run(ctx, Chosen{p.Archive, chosen}, ports.ReviewFilter{})
	if err != nil {
		return out, err
	}
	out = summary(report)
	out.Days, out.Stored, out.Organisation, out.OutOfTime = previewDays, chosen.Stored, organisation, cut
	if out.Reviews = len(chosen.Heads); cut {
		out.Reviews = len(begun)
	}
	out.Unknown += out.Reviews - report.Reviews // those that failed, or that were altered or deleted meanwhile
	return out, nil
}

// Chosen is the chosen part of an archive, by pull request, the one reviewed last first. It leaves
// out heads that were reviewed for the first time after the choice.
type Chosen struct {
	ports.Archive
	Reviews ports.ChosenReviews
}

// Archived implements ports.Archive.
func (n Chosen) Archived(ctx context.Context, _ ports.ReviewFilter) iter.Seq2[*ports.StoredReview, error] {
	return func(yield func(*ports.StoredReview, error) bool) {
		chosen, read := map[ports.ChosenHead]bool{}, map[string]bool{}
		for _, h := range n.Reviews.Heads {
			chosen[h] = true
		}
		for _, h := range n.Reviews.Heads {
			if read[h.Key] {
				continue
			}
			read[h.Key] = true
			for s, err := range n.Archive.Archived(ctx, ports.ReviewFilter{Key: h.Key, Since: n.Reviews.Since}) {
				if err == nil && !chosen[ports.ChosenHead{Key: s.Key, HeadSHA: s.HeadSHA}] {
					continue
				}
				if !yield(s, err) {
					return
				}
			}
		}
	}
}

// summary is what the comment says of a report.
func summary(r *Report) (out pipeline.ConfigBacktest) {
	const maxText = 300
	out = pipeline.ConfigBacktest{
		Changed: r.Changed(), Elsewhere: r.Unnamed, Unknown: r.UnknownReviews(),
		Blocked: len(r.Blocked) + r.BlockedMore, BlockedOverridden: r.BlockedOverridden,
		Passing: len(r.Passing) + r.PassingMore, PassingOverridden: r.PassingOverridden,
	}
	unknown := slices.Clone(r.Unknown)
	slices.SortStableFunc(unknown, func(a, b Unknown) int { return b.Reviews - a.Reviews })
	for _, u := range unknown[:min(len(unknown), maxWhy)] {
		out.Why = append(out.Why, plaintext.Cut(u.What, maxText))
	}
	for _, c := range slices.Concat(r.Blocked, r.Passing, r.Other) {
		if len(out.Named) == maxNamed {
			break
		}
		_, number, _ := strings.Cut(c.Pull, "#")
		out.Named = append(out.Named, pipeline.BacktestedReview{
			Pull: "#" + number, HeadSHA: c.Head, From: c.From, To: c.To, Because: plaintext.Cut(c.Because, maxText), People: string(c.People),
		})
	}
	return out
}
