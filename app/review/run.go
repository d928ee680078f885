package review

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/admission"
	"github.com/reviewgate/reviewgate/app/agents"
	"github.com/reviewgate/reviewgate/app/backtest"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/internal/panics"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// reviewRun is one run of the pipeline on a target.
type reviewRun struct {
	*heldTarget
	id      string
	src     *source
	agents  *agents.Review
	outcome run.Outcome
	// proposed are the config files that the change proposes. The trial that reads them may
	// be abandoned and end later.
	proposed atomic.Pointer[[]ports.ConfigBlob]
	// refused is the error with which GitHub refused a check on the head. The head may be
	// gone; the reads of the pipeline then show that.
	refused error
}

// review runs the pipeline on a held target and stores the review. Storing the review
// hands the target over to a publish job. handedOver is false if there is nothing to
// publish.
func (s *Service) review(ctx context.Context, held *heldTarget) (handedOver bool, err error) {
	// The review may be published already, if the process died before it finished the
	// generation.
	if done, err := s.Store.Published(ctx, held.lease.Key, held.state.Wanted); err != nil || done {
		return false, err
	}
	if err := s.verdicts.WithdrawOutdated(ctx, held.lease, held.state); err != nil {
		return false, err
	}
	r := s.newRun(ctx, held)
	err = s.run(ctx, r)
	switch {
	case errors.Is(err, errDraftSkipped), errors.Is(err, errSwitchedOff):
		if err := s.Store.StallCycle(ctx, held.lease); err != nil {
			return false, fmt.Errorf("stall the cycle of the session: %w", err)
		}
	}
	switch {
	case errors.Is(err, errDraftSkipped):
		return false, s.publisher.Draft(ctx, held.lease, held.state, r.src.InForce.Config.Settings.Check.Name)
	case errors.Is(err, errSwitchedOff):
		return false, s.publisher.Off(ctx, held.lease, held.state, r.outcome.Review.Facts.Repository.FullName())
	case errors.Is(err, normalize.ErrSuperseded):
		return false, publish.ErrSuperseded
	case err != nil:
		return false, err
	}
	return true, s.store(ctx, r)
}

// newRun prepares a run of the pipeline.
func (s *Service) newRun(ctx context.Context, held *heldTarget) *reviewRun {
	t := held.state.Target
	src := &source{PullSource: s.GitHub.Source(t), ticket: held.memory}
	src.layers = func(ctx context.Context) (inforce.InForce, error) { return s.configs.InForce(ctx, t, src.PullSource) }
	if held.state.Rerun.Full {
		s.GitHub.ForgetConfig(t)
	}
	id := newRunID()
	jobcontext.Of(ctx).SetRun(id)
	return &reviewRun{heldTarget: held, id: id, src: src, agents: s.agentsOf(ctx, t, src.PullSource)}
}

// run runs the pipeline, and opens the check meanwhile. If the change must wait for memory,
// the error is a *admission.MemoryWait, and the check is open.
func (s *Service) run(ctx context.Context, r *reviewRun) error {
	var waits *admission.MemoryWait
	g, ctx := errgroup.WithContext(ctx)
	both(g, func() (err error) {
		r.refused, err = s.openEarly(ctx, r)
		return err
	}, func() (err error) {
		r.outcome, err = s.Pipeline.Run(ctx, r.src, s.runOptions(ctx, r))
		if errors.As(err, &waits) {
			return nil // the check is opened anyway
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if waits != nil {
		return waits
	}
	return nil
}

// runOptions returns what the pipeline may ask for during a run.
func (s *Service) runOptions(ctx context.Context, r *reviewRun) run.Options {
	key, t := r.lease.Key, r.state.Target
	return run.Options{
		RunID: r.id, Trigger: r.state.Reason,
		Previous: func(ctx context.Context, f *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
			return s.Store.PreviousReport(ctx, key, f.Head.SHA)
		},
		SameHead: func(ctx context.Context, f *pipeline.PRFacts) (*pipeline.PreviousReport, error) {
			return reportOfHead(ctx, s.Store.History, key, f.Head.SHA)
		},
		Memory: func(ctx context.Context, f *pipeline.PRFacts, c *pipeline.Classification) (pipeline.Memory, error) {
			m, err := s.decisions.Of(ctx, t, f)
			if err == nil {
				m.FalsePositives, m.Recurring, err = s.Keeper.Snapshot(ctx, memory.View{
					Target: t, Config: r.src.InForce.Config, Facts: f, Classification: c, Read: readFile(r.src),
				})
			}
			return m, err
		},
		Session: askSession(s.Sessions, r),
		Carry:   carry(s.Store.History, key, r.state.Rerun),
		Check: func(f *pipeline.PRFacts, cfg *config.Config) error {
			if err := checkFacts(f, cfg); err != nil {
				return err
			}
			return s.checks.ReopenForBase(ctx, r.lease, r.state, f)
		},
		Proposed: func(ctx context.Context, f *pipeline.PRFacts) (*config.Config, error) {
			cfg, files, err := s.configs.Proposed(ctx, t, f, &r.src.InForce)
			r.proposed.Store(&files)
			return cfg, err
		},
		Tests:    policyTests(s.configs, t, r.src),
		IOAgents: r.agents.Agent, GapModel: r.agents.GapModel, Comparer: r.agents.Comparer, Verifier: r.agents.Verifier,
		File:     readFile(r.src),
		Panicked: s.logPanic,
	}
}

// askSession returns a function that asks the reviewers of the session. It returns nil for a merge group,
// whose pull requests have sessions of their own.
func askSession(k *sessions.Keeper, r *reviewRun) func(context.Context, *pipeline.PRFacts, *pipeline.AgentManifest, *config.Config) (*pipeline.Session, error) {
	if r.state.Kind == ports.TargetGroup {
		return nil
	}
	return func(ctx context.Context, f *pipeline.PRFacts, m *pipeline.AgentManifest, cfg *config.Config) (*pipeline.Session, error) {
		return k.Ask(ctx, sessions.Asking{Lease: r.lease, Facts: f, Manifest: m, Config: cfg, Again: !r.state.Rerun.Decide})
	}
}

// store stores the review of a run, and what the run read.
func (s *Service) store(ctx context.Context, r *reviewRun) error {
	key, state, outcome := r.lease.Key, r.state, &r.outcome
	facts := &outcome.Review.Facts
	outcome.Record.APICalls = r.src.Calls()
	s.observe(ctx, outcome)
	if err := s.publisher.FollowHead(ctx, key, state, facts.Head.SHA); err != nil {
		return err
	}
	if r.refused != nil {
		return r.refused
	}
	if err := r.agents.Trouble(); err != nil {
		return err
	}
	if err := s.Store.SetReadsLabels(ctx, key, outcome.LabelsRead); err != nil {
		return fmt.Errorf("note whether labels matter: %w", err)
	}
	if err := noteScans(ctx, s.Store.Scans, key, state.Scans, r.agents.ScansRead(outcome, state.Scans)); err != nil {
		return err
	}
	stored := ports.StoredReview{
		RunID: outcome.Record.RunID, Key: key, Generation: state.Wanted,
		RepoID: state.RepoID, HeadSHA: facts.Head.SHA, BaseSHA: facts.Base.SHA,
		Review: outcome.Review, Config: slices.Concat(r.src.Blobs, s.proposedFiles(r)), Record: outcome.Record,
		FixLoop: nextLoop(state, &outcome.Review, r.src.InForce.Config),
	}
	stored.Session = s.Sessions.Outcome(&outcome.Review, key, r.src.InForce.Config)
	if len(s.Shadow.Files) > 0 {
		var err error
		shadow := backtest.New(s.Pipeline, backtest.Proposal{Layer: config.LayerServer, Files: s.Shadow.Files}, nil)
		stored.Review.Shadow, err = shadow.Shadow(ctx, &stored)
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			s.Log.Warn().EmbedObject(jobcontext.Of(ctx)).Err(err).Msg("review not computed under the shadow config")
		}
	}
	var err error
	if stored.Memory, err = countsOf(ctx, s.Store.History, state.Target, &stored); err != nil {
		return err
	}
	err = panics.Guard(func() (err error) {
		stored.Entry, err = entryOf(ctx, s.Store.Learning, state.Target, &stored, r.src.InForce.Config)
		return err
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil { // analytics must not make a review fail
		s.Log.Error().EmbedObject(jobcontext.Of(ctx)).Err(err).Msg("review left out of the log for analytics")
	}
	if err := s.Store.SaveReview(ctx, r.lease, stored); err != nil {
		return fmt.Errorf("store the review: %w", err)
	}
	return nil
}

// proposedFiles returns the config files that the change proposes, in the form in which a
// review stores them. The author may have put a secret into them.
func (s *Service) proposedFiles(r *reviewRun) []ports.ConfigBlob {
	files := r.proposed.Load()
	if files == nil {
		return nil
	}
	stored := slices.Clone(*files)
	for i := range stored {
		stored[i].Layer, stored[i].Text = ports.LayerProposed, []byte(s.Pipeline.Redact(string(stored[i].Text)))
	}
	return stored
}

// policyTests returns a function that runs the policy tests that a pull request proposes.
func policyTests(configs *inforce.Configs, t ports.Target, src ports.Change) func(context.Context, *pipeline.PRFacts, *run.Engine) *pipeline.PolicyTests {
	return func(ctx context.Context, f *pipeline.PRFacts, proposed *run.Engine) *pipeline.PolicyTests {
		files, err := configs.ProposedTests(ctx, t, src, f)
		return policytest.Proposed(ctx, proposed, files, err)
	}
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
// that check stays until the new result is known, since it may be the same. refused is GitHub's
// refusal of a check on this head.
func (s *Service) openEarly(ctx context.Context, r *reviewRun) (refused, err error) {
	t, head := r.state.Target, r.state.HeadSHA
	if err := s.checks.CancelOld(ctx, r.lease, t); err != nil {
		return nil, err
	}
	// The base may have changed to a branch whose config posts nothing, or gives the check
	// another name.
	if _, err := s.configs.ConfigBranch(ctx, t, r.src); err != nil {
		return nil, err
	}
	if head == "" {
		return nil, nil
	}
	if off, err := s.configs.SwitchedOff(ctx, t); err != nil || off {
		return nil, err
	}
	err = s.checks.Open(ctx, r.lease, r.state, head)
	if ports.IsFinal(err) {
		return err, nil
	}
	return nil, err
}

// Reasons why a review ends before its agents run.
var (
	errDraftSkipped = errors.New("draft: not reviewed")
	errSwitchedOff  = errors.New("switched off by config")
)

// checkFacts returns an error if config switches reviewgate off here or skips the draft. It
// runs before the facts are used.
func checkFacts(f *pipeline.PRFacts, cfg *config.Config) error {
	switch {
	case cfg.Mode(f.Repository.FullName()) == config.ModeOff:
		return errSwitchedOff
	case f.Draft && cfg.Settings.Drafts == config.DraftsSkip:
		return errDraftSkipped
	}
	return nil
}

// cycle reports the first decision of a cycle. Later answers may change it, but it is not counted again.
func (o *Observer) cycle(r *pipeline.Review) {
	rep := r.Report.Session
	if o.Cycle == nil || rep == nil || !rep.Decided || r.Session.Before.Cycle == rep.Cycle {
		return
	}
	o.Cycle(strconv.Itoa(rep.Rule))
	for i := range rep.Reviewers {
		row := &rep.Reviewers[i]
		o.Answer(row.Reviewer, cmp.Or(string(row.Verdict), string(row.State)))
	}
}

// observe logs one line for each stage and agent, and calls the observer. Failures are
// logged as warnings.
func (s *Service) observe(ctx context.Context, o *run.Outcome) {
	if s.Observe.Reviewed != nil {
		s.Observe.Reviewed(string(o.Review.Report.Decision), o.Record.Duration())
	}
	s.Observe.cycle(&o.Review)
	begun := o.Record.StartedAt // when the stage began: stages run one after the other
	dispatched := begun
	for _, st := range o.Record.Stages {
		s.Log.WithLevel(levelOf(st.Error != "")).EmbedObject(jobcontext.Of(ctx)).
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
		line := s.Log.WithLevel(levelOf(publish.AgentFailed(ended))).EmbedObject(jobcontext.Of(ctx))
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

// noteScans records which results of other Apps the review read, so that later events about
// them can be matched. last is what the last review read.
func noteScans(ctx context.Context, store ports.Scans, key string, last, reads ports.ScansRead) error {
	if len(reads.Agents) == 0 && len(last.Agents) == 0 {
		return nil // the usual case: no event about others' checks matters
	}
	if err := store.SetScans(ctx, key, reads); err != nil {
		return fmt.Errorf("note what was read of others' findings: %w", err)
	}
	return nil
}

// nextLoop returns the state of a target's fix loop after a review. It is stored with the
// review and takes effect when the review is published: one that is superseded before that
// must not count. Merge groups have no fix loop.
func nextLoop(state ports.TargetState, r *pipeline.Review, cfg *config.Config) fixloop.State {
	if state.Kind == ports.TargetGroup {
		return fixloop.State{}
	}
	set := cfg.Settings.FixLoop
	return fixloop.Next(state.FixLoop, fixloop.ReportOf(r, state.Resumes), fixloop.Settings{
		Attempts: set.MaxFixIterations, Turns: set.FixTimeoutTurns,
		Never: set.When == config.FixLoopNever, Always: set.When == config.FixLoopAlways,
	})
}

// agentsOf returns the factory of the agents for a target's review. ctx is the job's
// context, which has the ID of the run.
func (s *Service) agentsOf(ctx context.Context, t ports.Target, src ports.PullSource) *agents.Review {
	log := s.Log.With()
	if job := jobcontext.Of(ctx); job != nil {
		log = log.EmbedObject(job)
	}
	return agents.New(agents.Options{
		Target: t, Models: s.Models, Files: src, Discussion: src, Scanners: src, Scans: s.Store.Scans, Tokens: s.Store.Tokens,
		Log: log.Str("target", t.Key()).Logger(), Used: s.Observe.ModelUse,
	})
}
