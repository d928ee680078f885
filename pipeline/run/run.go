package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// Config is what a Runner is made from.
type Config struct {
	Version string           // of reviewgate, for the run record
	Now     func() time.Time // the only clock of the pipeline
	// Agents are added to those that config defines, by id, and stand in for
	// those of the same id.
	Agents map[string]dispatch.Agent
	// Engines is where compiled configs are kept. Default: the Runner's own.
	Engines *Engines
	// Key is the server's own. It makes the digests that tell a secret which somebody
	// dismissed from another one in its place. Without it such a dismissal ends with
	// each push.
	Key []byte
}

// Runner runs reviews. Any number of goroutines may use one.
type Runner struct {
	Config
	detector *secrets.Detector
	previews chan struct{} // one for each proposed config that is being tried
}

// NewRunner compiles what is the same for all configs.
func NewRunner(c Config) (*Runner, error) {
	d, err := secrets.Default()
	if err != nil {
		return nil, fmt.Errorf("load the secrets detector: %w", err)
	}
	if c.Engines == nil {
		c.Engines = &Engines{}
	}
	return &Runner{Config: c, detector: d, previews: make(chan struct{}, maxPreviews)}, nil
}

// Options are those of one run. All are optional.
type Options struct {
	RunID   string
	Trigger string // what asked for the run, in words
	// Previous returns the last report of another head.
	Previous func(ctx context.Context, facts *pipeline.PRFacts) (*pipeline.PreviousReport, error)
	// Again returns the last report on the same head, if there is one. It is asked where
	// models look: what blocked in it does not go away because they find something else
	// the next time.
	Again func(ctx context.Context, facts *pipeline.PRFacts) (*pipeline.PreviousReport, error)
	// Memory returns what people taught, as it stands once the facts are known.
	Memory func(ctx context.Context, facts *pipeline.PRFacts) (pipeline.Memory, error)
	// Carry lets results of the last review stand for those of agents.
	Carry Carry
	// Check is asked once the facts are known. An error ends the run and is
	// returned as it is.
	Check func(facts *pipeline.PRFacts, cfg *config.Config) error
	// Proposed returns the config that the change would bring, with its problems
	// in InForce.Problems. It is asked only where the change touches config.
	Proposed func(ctx context.Context, facts *pipeline.PRFacts) (*config.Config, error)
	// Outside makes the agents that reach out of the process, which the pipeline
	// can't by itself: those of the kinds report, code-scanning and llm. An agent
	// that it returns nil for is not registered, and fails.
	Outside func(OutsideAgent) dispatch.Agent
	// GapModel makes what asks a language model for gaps, where the settings name
	// one. The agent that it is made for has the id pipeline.GapDetector.
	GapModel func(OutsideAgent) GapModel
	// Comparer makes what asks a language model which findings are about one thing. The
	// agent that it is made for has the id pipeline.Matcher.
	Comparer func(OutsideAgent) Comparer
	// Verifier makes what asks a language model whether single findings of another are
	// right, where the settings name one. The agent that it is made for has the id
	// pipeline.Verifier.
	Verifier func(OutsideAgent) Verifier
	// File reads a file as it is at a commit: at least its first bytes up to
	// most. found is false where there is none. Without it nothing that findings
	// cite is looked up.
	File func(ctx context.Context, commit, path string, most int64) (text []byte, found bool, err error)
	// Secrets is given the change's secrets by the index of their redaction in the
	// facts, once these are read. They must not be stored or shown.
	Secrets func(value func(redaction int) string)
	// Progress is told what is being done, in a few words.
	Progress func(what string)
	// Panicked is told of a panic in a stage or an agent, for the log: its
	// text may hold anything, and is shown to nobody.
	Panicked func(where string, err error, stack []byte)
}

// OutsideAgent is an agent that reaches out of the process.
type OutsideAgent struct {
	Agent  config.Agent
	Config *config.Config
	// Redact replaces the secrets in a text by placeholders. What the agent reads
	// must pass through it before it is used.
	Redact func(text string) string
	// RedactBeside is Redact for what is read beside the change, such as issues that
	// it names: it knows the secrets that were found in the change, too. Instructions
	// do not pass through it: the change would have a say in them.
	RedactBeside func(text string) string
	// Shares says that models are asked more than once about the agent's files, so that APIs
	// should keep what these questions begin with.
	Shares bool
	// Manifest has all agents of the run.
	Manifest *pipeline.AgentManifest
	// Used takes what the agent's questions to models took, for the run's record. It
	// may be called after the run's end.
	Used func(pipeline.ModelUse)
	// Answered takes what models answered the agent, without secrets. What comes after the
	// run's end is lost.
	Answered func(task dispatch.Task, answer pipeline.RawAnswer)
}

// Outcome is a finished run.
type Outcome struct {
	Review     pipeline.Review
	Record     pipeline.RunRecord
	Config     *config.Config
	LabelsRead pipeline.LabelsRead
}

// Run reviews what src reads. An error means that there is no review: the
// facts could not be read (a *StageError), the head moved
// (normalize.ErrSuperseded), ctx ended, or Check refused. Whatever fails later
// is part of the review, which then can't pass.
func (r *Runner) Run(ctx context.Context, src normalize.Source, o Options) (Outcome, error) {
	var out Outcome
	v := &out.Review
	out.Record = pipeline.RunRecord{RunID: o.RunID, Version: r.Version, Trigger: o.Trigger, StartedAt: r.Now()}
	t := &timer{now: r.Now, record: &out.Record, options: o}
	var engine *Engine
	var gaps []pipeline.GapLogEntry
	change := r.detector.Change()
	var base normalize.ConfigRead

	err := t.stage(pipeline.StageNormalize, "reading the change", func() (err error) {
		v.Facts, out.Config, err = normalize.Normalize(ctx, src, normalize.Options{ObservedAt: r.Now(), Redactor: change, Base: &base})
		v.Facts.Config.Problems = r.redactedProblems(v.Facts.Config.Problems)
		if err != nil {
			return err
		}
		if err := change.Allow(&v.Facts, out.Config.Settings.Secrets.Allow, v.Facts.ObservedAt); err != nil {
			return err
		}
		except(change, &v.Facts, out.Config, base.Exceptions)
		change.Sign(&v.Facts, r.Key)
		return nil
	})
	if err == nil && o.Secrets != nil {
		o.Secrets(change.Value)
	}
	if err == nil && o.Check != nil {
		err = o.Check(&v.Facts, out.Config)
	}
	if err == nil && o.Memory != nil {
		if v.Memory, err = o.Memory(ctx, &v.Facts); err != nil {
			err = fmt.Errorf("read what people taught: %w", err)
		}
	}
	if err != nil {
		return out, err
	}
	if engine, err = r.Engines.get(out.Config); err != nil {
		return out, err
	}
	out.LabelsRead = engine.labelsRead(&v.Facts)

	failed := t.then(nil, pipeline.StageClassify, "classifying", func() error {
		v.Classification = engine.classify.Classify(&v.Facts)
		return nil
	})
	failed = t.then(failed, pipeline.StageCompose, "choosing agents", func() error {
		v.Manifest = engine.compose.Compose(&v.Facts, &v.Classification)
		return nil
	})
	failed = t.then(failed, pipeline.StageGapDetect, "looking for gaps", func() (err error) {
		v.Manifest, gaps, err = engine.gaps.Detect(ctx, &v.Facts, &v.Classification, v.Manifest)
		r.redactGaps(gaps)
		if err != nil {
			return err
		}
		v.Manifest, err = engine.hold(ctx, &v.Facts, v.Manifest)
		return err
	})
	var last *LastReview
	if failed == nil {
		if last, err = r.lastReview(ctx, engine, v, o); err != nil {
			return out, err
		}
	}
	var asked *pipeline.AgentResult
	if gapModelOf(out.Config, o) != "" {
		failed = t.then(failed, pipeline.StageGapDetect, "asking for gaps", func() (err error) {
			g := gapRun{runner: r, engine: engine, review: v, gaps: gaps, timer: t, beside: change.Text}
			gaps, asked, err = g.ask(ctx, last, o)
			return err
		})
	}
	if o.Previous != nil {
		if v.Previous, err = o.Previous(ctx, &v.Facts); err != nil {
			return out, fmt.Errorf("read the previous report: %w", err)
		}
	}
	asksModels := slices.ContainsFunc(v.Manifest.Entries, func(e pipeline.ManifestEntry) bool { return len(e.Models) > 0 })
	if o.Again != nil && asksModels {
		if v.Again, err = o.Again(ctx, &v.Facts); err != nil {
			return out, fmt.Errorf("read the last report on this head: %w", err)
		}
	}
	in := aggregate.Input{
		Facts: &v.Facts, Classification: &v.Classification, Manifest: &v.Manifest,
		Gaps: gaps, Previous: v.Previous, Again: v.Again, Memory: v.Memory, Config: out.Config, Rules: engine.byID,
	}
	failed = t.then(failed, pipeline.StageDispatch, "running agents", func() (err error) {
		s := staged{in: in, options: t.dispatchOptions(out.Config, &v.Facts)}
		each := OutsideAgent{RedactBeside: change.Text, Manifest: &v.Manifest, Used: t.used, Answered: t.answered}
		s.agents = engine.agents(&v.Facts, &v.Classification, r.outside(engine.config, o, &v.Manifest, each))
		s.carried = r.carry(ctx, engine, v, last, o.Carry, s.options)
		s.redact = func(made pipeline.List[pipeline.AgentResult]) { r.redactRules(made, engine) }
		s.compared = r.comparing(engine, o, each, v, last, s.options)
		s.verified = r.verifying(engine, o, each, v, last, s.options)
		v.Results, err = s.dispatch(ctx)
		if asked != nil {
			v.Results = append(v.Results, *asked)
		}
		t.putAnswers(v.Results)
		t.record.Agents = append(t.record.Agents, s.carried.timings()...)
		return err
	})
	if err := context.Cause(ctx); err != nil {
		return out, err
	}
	in.Results, in.Failed = v.Results, failed
	in = settled(in)
	failed = t.then(nil, pipeline.StageAggregate, "deciding", func() error {
		v.Report = aggregate.Aggregate(in)
		return nil
	})
	if failed != nil {
		v.Report = aggregate.Failed(in, failed)
		in.Failed = failed
	}
	v.Report.ProposedConfig = r.preview(ctx, in, v.Report.Findings, change, o)
	if err := context.Cause(ctx); err != nil {
		return out, err
	}
	slices.SortFunc(out.Record.Agents, func(a, b pipeline.AgentTiming) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	out.Record.ModelUse = t.modelUse()
	out.Record.FinishedAt = r.Now()
	return out, nil
}

// StageError says which stage failed.
type StageError struct {
	Stage pipeline.Stage
	Err   error
}

func (e *StageError) Error() string { return fmt.Sprintf("%s: %v", e.Stage, e.Err) }

// Unwrap returns what went wrong in the stage.
func (e *StageError) Unwrap() error { return e.Err }

// PanicError is a panic in a stage.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// timer runs stages: it times them and catches their panics.
type timer struct {
	now     func() time.Time
	record  *pipeline.RunRecord
	options Options

	using   sync.Mutex // agents run side by side
	use     []pipeline.ModelUse
	answers map[asking][]pipeline.RawAnswer
}

// asking is who asked which model, and for which time.
type asking struct {
	agent, model string
	run          int
}

// answered keeps what a model answered.
func (t *timer) answered(task dispatch.Task, answer pipeline.RawAnswer) {
	t.using.Lock()
	defer t.using.Unlock()
	if t.answers == nil {
		t.answers = map[asking][]pipeline.RawAnswer{}
	}
	at := asking{task.Entry.Agent, task.Model, task.Run}
	t.answers[at] = append(t.answers[at], answer)
	t.answers[at] = t.answers[at][max(0, len(t.answers[at])-pipeline.MaxAnswers):]
}

// putAnswers gives the results what models answered for them. Those that were carried over
// have theirs.
func (t *timer) putAnswers(results []pipeline.AgentResult) {
	t.using.Lock()
	defer t.using.Unlock()
	for i := range results {
		if answers := t.answers[asking{results[i].Agent, results[i].Model, results[i].Run}]; len(answers) > 0 {
			results[i].Answers = slices.Clone(answers)
		}
	}
}

// used notes what an agent's question to a model took.
func (t *timer) used(u pipeline.ModelUse) {
	t.using.Lock()
	defer t.using.Unlock()
	for i := range t.use {
		if a := &t.use[i]; a.Agent == u.Agent && a.Model == u.Model {
			a.Asked, a.Input, a.Cached, a.Output = a.Asked+u.Asked, a.Input+u.Input, a.Cached+u.Cached, a.Output+u.Output
			a.CostUSD += u.CostUSD
			return
		}
	}
	t.use = append(t.use, u)
}

// modelUse is what was used so far, in order. An agent that was left behind when
// its time was up may tell of more, which the record then lacks.
func (t *timer) modelUse() []pipeline.ModelUse {
	t.using.Lock()
	defer t.using.Unlock()
	use := slices.Clone(t.use)
	slices.SortFunc(use, func(a, b pipeline.ModelUse) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return use
}

// then runs a stage unless one before it failed, and returns what the report
// has to say of the failure.
func (t *timer) then(failed *pipeline.Incompleteness, s pipeline.Stage, what string, f func() error) *pipeline.Incompleteness {
	if failed != nil {
		return failed
	}
	if err := t.stage(s, what, f); err != nil {
		return &pipeline.Incompleteness{What: "stage", Why: fmt.Sprintf("the stage %s failed", s), Gating: true}
	}
	return nil
}

func (t *timer) stage(s pipeline.Stage, what string, f func() error) (err error) {
	if t.options.Progress != nil {
		t.options.Progress(what)
	}
	start := t.now()
	defer func() {
		if v := recover(); v != nil {
			err = &StageError{Stage: s, Err: &PanicError{Value: v}}
			if t.options.Panicked != nil {
				t.options.Panicked(string(s), err, debug.Stack())
			}
		}
		timing := pipeline.StageTiming{Stage: s, DurationMS: milliseconds(t.now().Sub(start))}
		if err != nil {
			timing.Error = err.Error()
		}
		t.record.Stages = timed(t.record.Stages, timing)
	}()
	switch err := f(); {
	case err == nil, errors.Is(err, normalize.ErrSuperseded):
		return err
	default:
		return &StageError{Stage: s, Err: err}
	}
}

// timed adds a stage's timing, to that of the stage's first part where it has two.
func timed(stages []pipeline.StageTiming, s pipeline.StageTiming) []pipeline.StageTiming {
	if n := len(stages); n > 0 && stages[n-1].Stage == s.Stage {
		s.DurationMS += stages[n-1].DurationMS
		stages = stages[:n-1]
	}
	return append(stages, s)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
