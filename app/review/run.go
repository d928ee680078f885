package review

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// review does one generation of a target: it runs the pipeline and stores the review.
// Storing it hands the target over to the job that publishes it. done reports that there is
// nothing to publish.
func (s *Service) review(ctx context.Context, lease ports.Lease, state ports.TargetState, memory *admission.Ticket) (done bool, err error) {
	// The review may be published already, if the process died before it finished the
	// generation.
	if done, err := s.Store.Published(ctx, lease.Key, state.Wanted); err != nil || done {
		return done, err
	}
	if err := s.verdicts.WithdrawOutdated(ctx, lease, state); err != nil {
		return false, err
	}
	src := &source{PullSource: s.GitHub.Source(state.Target), ticket: memory}
	src.layers = func(ctx context.Context) (inforce.InForce, error) {
		return s.configs.InForce(ctx, state.Target, src.PullSource)
	}
	if state.Rerun.Full {
		s.GitHub.ForgetConfig(state.Target)
	}
	var outcome run.Outcome
	var unopened error
	var waits *admission.MemoryWait
	runID := newRunID()
	trail.Of(ctx).SetRun(runID)
	maker := s.agentsOf(ctx, state.Target, src.PullSource)
	g, gctx := errgroup.WithContext(ctx)
	both(g, func() (err error) {
		unopened, err = s.openEarly(gctx, lease, state, src)
		return err
	}, func() (err error) {
		outcome, err = s.Pipeline.Run(gctx, src, run.Options{
			RunID:   runID,
			Trigger: state.Reason,
			Previous: func(ctx context.Context, f *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
				return s.Store.PreviousReport(ctx, lease.Key, f.Head.SHA)
			},
			Again: func(ctx context.Context, f *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
				return s.again(ctx, lease.Key, f.Head.SHA)
			},
			Memory: func(ctx context.Context, f *pipeline.PRFacts) (pipeline.Memory, error) {
				return s.taught.Of(ctx, state.Target, f)
			},
			Carry: s.carry(lease.Key, state.Rerun),
			Check: func(f *pipeline.PRFacts, cfg *config.Config) error {
				if err := checkFacts(f, cfg); err != nil {
					return err
				}
				return s.checks.ReopenForBase(gctx, lease, state, f)
			},
			Proposed: func(ctx context.Context, f *pipeline.PRFacts) (*config.Config, error) {
				return s.configs.Proposed(ctx, state.Target, f, &src.InForce)
			},
			IOAgents: maker.Agent, GapModel: maker.GapModel, Comparer: maker.Comparer, Verifier: maker.Verifier,
			File:     readFile(src),
			Panicked: s.logPanic,
		})
		if errors.As(err, &waits) {
			return nil // the check is opened anyway
		}
		return err
	})
	err = g.Wait()
	switch {
	case err == nil && waits != nil:
		return false, waits
	case errors.Is(err, errDraftSkipped):
		return true, s.publisher.Draft(ctx, lease, state, src.InForce.Config.Settings.Check.Name)
	case errors.Is(err, errSwitchedOff):
		return true, s.publisher.Off(ctx, lease, state, outcome.Review.Facts.Repository.FullName())
	case errors.Is(err, normalize.ErrSuperseded):
		return false, publish.ErrSuperseded
	case err != nil:
		return false, err
	}
	facts := &outcome.Review.Facts
	outcome.Record.APICalls = src.Calls()
	s.observe(ctx, outcome)
	if err := s.publisher.FollowHead(ctx, lease.Key, state, facts.Head.SHA); err != nil {
		return false, err
	}
	if unopened != nil {
		return false, unopened
	}
	if err := maker.Trouble(); err != nil {
		return false, err
	}
	if err := s.Store.SetReadsLabels(ctx, lease.Key, outcome.LabelsRead); err != nil {
		return false, fmt.Errorf("note whether labels matter: %w", err)
	}
	if err := s.noteScans(ctx, state, maker.ScansRead(&outcome, state.Scans)); err != nil {
		return false, err
	}
	err = s.Store.SaveReview(ctx, lease, ports.StoredReview{
		RunID: outcome.Record.RunID, Key: lease.Key, Generation: state.Wanted,
		RepoID: state.RepoID, HeadSHA: facts.Head.SHA, BaseSHA: facts.Base.SHA,
		Review: outcome.Review, Config: src.Blobs, Record: outcome.Record,
		FixLoop: nextLoop(state, &outcome.Review, src.InForce.Config),
	})
	if err != nil {
		return false, fmt.Errorf("store the review: %w", err)
	}
	return false, nil
}

// both runs two functions in parallel. It turns a panic into an error, so that one review
// can't crash the other reviews of the process.
func both(g *errgroup.Group, a, b func() error) {
	g.Go(func() error { return panics.Guard(a) })
	g.Go(func() error { return panics.Guard(b) })
}

func (s *Service) logPanic(where string, err error, stack []byte) {
	s.Log.Error().Str("in", where).Err(err).Str("stack", string(stack)).Msg("panic")
}

// openEarly opens the check while the facts are still being read, and completes the checks
// of older heads. If the head already has a completed check and nobody asked for a new one,
// that check stays until the result is known, which may be the same. refused is the error
// with which GitHub refused a check on this head. The head may be gone; the reads that run
// in parallel will show that.
func (s *Service) openEarly(ctx context.Context, lease ports.Lease, state ports.TargetState, src ports.Change) (refused, err error) {
	if err := s.checks.CancelOld(ctx, lease, state.Target); err != nil {
		return nil, err
	}
	// The base may have changed to a branch whose config posts nothing, or gives the check
	// another name.
	if _, err := s.configs.ConfigBranch(ctx, state.Target, src); err != nil {
		return nil, err
	}
	if state.HeadSHA == "" {
		return nil, nil
	}
	if off, err := s.configs.SwitchedOff(ctx, state.Target); err != nil || off {
		return nil, err
	}
	err = s.checks.Open(ctx, lease, state, state.HeadSHA)
	var host *ports.HostError
	if errors.As(err, &host) && !host.Temporary() {
		return err, nil
	}
	return nil, err
}

// Reasons why a review ends before its agents run.
var (
	errDraftSkipped = errors.New("draft: not reviewed")
	errSwitchedOff  = errors.New("switched off by config")
)

// checkFacts is called as soon as the facts are known and before they are used.
func checkFacts(f *pipeline.PRFacts, cfg *config.Config) error {
	switch {
	case cfg.Mode(f.Repository.FullName()) == config.ModeOff:
		return errSwitchedOff
	case f.Draft && cfg.Settings.Drafts == config.DraftsSkip:
		return errDraftSkipped
	}
	return nil
}

// observe logs one line for each stage and agent, and calls the observer. Failures are
// logged as warnings.
func (s *Service) observe(ctx context.Context, o run.Outcome) {
	if s.Observe.Reviewed != nil {
		s.Observe.Reviewed(string(o.Review.Report.Decision), o.Record.Duration())
	}
	begun := o.Record.StartedAt // when the stage began: stages run one after the other
	dispatched := begun
	for _, st := range o.Record.Stages {
		s.Log.WithLevel(levelOf(st.Error != "")).EmbedObject(trail.Of(ctx)).
			Str("stage", string(st.Stage)).Float64("took_ms", st.DurationMS).Str("error", st.Error).Msg("stage")
		if s.Observe.Stage != nil {
			s.Observe.Stage(ctx, string(st.Stage), begun, milliseconds(st.DurationMS))
		}
		if st.Stage == pipeline.StageDispatch {
			dispatched = begun
		}
		begun = begun.Add(milliseconds(st.DurationMS))
	}
	type source struct{ agent, model string }
	status := map[source]pipeline.AgentStatus{}
	for _, r := range o.Review.Results {
		status[source{r.Agent, r.Model}] = r.Status
	}
	for _, a := range o.Record.Agents {
		if a.Attempts == 0 {
			continue // carried over
		}
		ended := status[source{a.Agent, a.Model}]
		line := s.Log.WithLevel(levelOf(publish.AgentFailed(ended))).EmbedObject(trail.Of(ctx))
		if a.Model != "" {
			line.Str("model", a.Model)
		}
		line.Str("agent", a.Agent).Str("status", string(ended)).Float64("took_ms", a.DurationMS).Int("attempts", a.Attempts).Msg("agent")
		if s.Observe.Agent != nil {
			s.Observe.Agent(ctx, a.Agent, string(ended), dispatched, milliseconds(a.DurationMS))
		}
	}
}

func levelOf(trouble bool) zerolog.Level {
	if trouble {
		return zerolog.WarnLevel
	}
	return zerolog.DebugLevel
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// newRunID returns a random ID of 80 bits, short enough to be read aloud.
func newRunID() string { return strings.ToLower(rand.Text()[:16]) }
