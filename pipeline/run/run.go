package run

import (
	"bytes"
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

// Config is what a Runner needs.
type Config struct {
	Version string           // of reviewgate, for the run record
	Now     func() time.Time // the only clock of the pipeline
	// Agents are added to those that config defines, by id, and replace those with the same id.
	Agents map[string]dispatch.Agent
	// Engines caches compiled configs. The default is a cache of the Runner's own.
	Engines *Engines
	// Key belongs to the server. It makes the digests that tell a dismissed secret from another
	// one in its place. Without it, the dismissal of a secret ends with each push.
	Key []byte
}

// Runner runs reviews. Any number of goroutines may use one.
type Runner struct {
	Config
	detector *secrets.Detector
	previews chan struct{} // holds an element for each running trial of a proposed config
	testing  chan struct{} // holds an element for each proposed config whose tests run
}

// NewRunner compiles what all configs share.
func NewRunner(c Config) (*Runner, error) {
	d, err := secrets.Default()
	if err != nil {
		return nil, fmt.Errorf("load the secrets detector: %w", err)
	}
	if c.Engines == nil {
		c.Engines = NewEngines()
	}
	return &Runner{Config: c, detector: d, previews: make(chan struct{}, maxPreviews), testing: make(chan struct{}, maxPreviews)}, nil
}

// Forget drops the compiled configs that no run uses. The next run compiles its own again.
func (r *Runner) Forget() { r.Engines.forget() }

// Options are the options of one run.
type Options struct {
	RunID   string
	Trigger string // what asked for the run, in words
	// Previous returns the last report of another head.
	Previous func(ctx context.Context, facts *pipeline.PRFacts) (*pipeline.PreviousReport, error)
	// SameHead returns the last report on the same head, if there is one. It is called if models
	// review: what blocked does not go away because they find something else the next time.
	SameHead func(ctx context.Context, facts *pipeline.PRFacts) (*pipeline.PreviousReport, error)
	// Memory returns what people taught, once the change is classified, since records of memory belong
	// to services. If classifying failed, the classification is empty.
	Memory func(ctx context.Context, facts *pipeline.PRFacts, classification *pipeline.Classification) (pipeline.Memory, error)
	// Session asks the remote reviewers of the manifest. After a failed stage, the manifest is nil and
	// nobody is asked. Session returns what is known about the session, or nil. If Session itself is nil,
	// no remote reviewer is asked.
	Session func(ctx context.Context, facts *pipeline.PRFacts, manifest *pipeline.AgentManifest, cfg *config.Config) (*pipeline.Session, error)
	// Carry lets results of the last review replace those of agents.
	Carry Carry
	// Check is called once the facts are known. An error ends the run and is returned unchanged.
	Check func(facts *pipeline.PRFacts, cfg *config.Config) error
	// Proposed returns the config that the change would bring, with its problems in
	// InForce.Problems. It is called only if the change touches config; without it, no proposed
	// config is tried.
	Proposed func(ctx context.Context, facts *pipeline.PRFacts) (*config.Config, error)
	// Tests runs the policy tests, as they will be after the merge, under the proposed config. It
	// returns nil if the config has no tests. It must not return before everything that it started has
	// ended.
	Tests func(ctx context.Context, facts *pipeline.PRFacts, proposed *Engine) *pipeline.PolicyTests
	// Only limits the review to some agents and rules. Then nothing looks for gaps, and no proposed
	// config is tried.
	Only *Only
	// Running counts the agents that run, including those that the run abandoned. It may be nil.
	Running *sync.WaitGroup
	// IOAgents makes the agents of the kinds that are not built in: they do I/O, which the pipeline
	// can't do on its own. If it returns nil, the agent is not registered, and fails.
	IOAgents func(IOAgent) dispatch.Agent
	// GapModel makes what asks a language model for gaps, if the settings name one. It gets an
	// agent with the id pipeline.GapDetector.
	GapModel func(IOAgent) GapModel
	// Comparer makes what asks a language model which findings are about the same problem. It gets
	// an agent with the id pipeline.Matcher.
	Comparer func(IOAgent) Comparer
	// Verifier makes what asks a language model whether single findings of another model are right,
	// if the settings name one. It gets an agent with the id pipeline.Verifier.
	Verifier func(IOAgent) Verifier
	// File reads a file at a commit: at least its first bytes, up to most. found is false if there
	// is no such file. Without File, no citation is looked up.
	File func(ctx context.Context, commit, path string, most int64) (text []byte, found bool, err error)
	// Secrets gets a function that returns the change's secrets by the index of their redaction,
	// once the facts are read. The secrets must not be stored or shown.
	Secrets func(value func(redaction int) string)
	// Progress is told what is being done, in a few words.
	Progress func(what string)
	// Panicked is told of a panic in a stage or an agent, for the log. The panic's text may hold
	// anything, and is shown to nobody.
	Panicked func(where string, err error, stack []byte)
}

// IOAgent describes an agent that does I/O.
type IOAgent struct {
	Agent  config.Agent
	Config *config.Config
	// Redact replaces the secrets in a text by placeholders. Everything that the agent reads must
	// pass through it before it is used.
	Redact func(text string) string
	// RedactOther is Redact for texts that belong to the change, such as issues that it names. It
	// also knows the secrets that were found in the change. Instructions must not pass through it,
	// or the change could alter them.
	RedactOther func(text string) string
	// Memory is what people taught about the repository, for agents that ask models about the change.
	// It is nil for those that ask for gaps or about findings.
	Memory *pipeline.Memory
	// Cycle is the cycle of the session in which the agent reviews, or nil.
	Cycle *pipeline.SessionCycle
	// Shares says that models are asked more than once about the agent's files, so that APIs should
	// cache what these questions have in common.
	Shares bool
	// Manifest has all agents of the run.
	Manifest *pipeline.AgentManifest
	// Evaluation says that the agent runs in evaluation: its failures must affect nothing else.
	Evaluation bool
	// Used is told what the agent's questions to models used, for the run's record. It may be
	// called after the end of the run.
	Used func(pipeline.ModelUse)
	// Answered is told what models answered the agent, without secrets. Answers after the end of
	// the run are lost.
	Answered func(task dispatch.Task, answer pipeline.RawAnswer)
}

// Outcome is a finished run.
type Outcome struct {
	Review     pipeline.Review
	Record     pipeline.RunRecord
	Config     *config.Config
	LabelsRead pipeline.LabelsRead
}

// Run reviews what src reads. An error means that there is no review: the facts could not be read
// (a *pipeline.StageError), the head moved (normalize.ErrSuperseded), ctx ended, or Check refused. Any later
// failure is part of the review, which then can't pass.
func (r *Runner) Run(ctx context.Context, src normalize.Source, o Options) (Outcome, error) {
	var out Outcome
	v := &out.Review
	out.Record = pipeline.RunRecord{RunID: o.RunID, Version: r.Version, Trigger: o.Trigger, StartedAt: r.Now()}
	t := &timer{now: r.Now, record: &out.Record, options: o}
	var engine *Engine
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
	if err != nil {
		return out, err
	}
	if engine, err = r.Engines.get(out.Config); err != nil {
		return out, err
	}
	out.LabelsRead = engine.labelsRead(&v.Facts)

	failed := t.then("", pipeline.StageClassify, "classifying", func() error {
		v.Classification = engine.classify.Classify(&v.Facts)
		return nil
	})
	if o.Memory != nil {
		if v.Memory, err = o.Memory(ctx, &v.Facts, &v.Classification); err != nil {
			return out, fmt.Errorf("read what people taught: %w", err)
		}
	}
	failed = t.then(failed, pipeline.StageCompose, "choosing agents", func() error {
		v.Manifest = engine.compose.Compose(&v.Facts, &v.Classification)
		return nil
	})
	failed = t.then(failed, pipeline.StageGapDetect, "looking for gaps", func() (err error) {
		v.Manifest, v.Gaps, err = engine.gaps.Detect(ctx, &v.Facts, &v.Classification, v.Manifest)
		r.redactGaps(v.Gaps)
		if err != nil {
			return err
		}
		v.Manifest, err = engine.hold(ctx, &v.Facts, v.Manifest)
		return err
	})
	var lacks pipeline.List[pipeline.Incompleteness]
	if o.Only != nil {
		lacks = make(pipeline.List[pipeline.Incompleteness], 1)
		v.Manifest, lacks[0] = o.Only.limit(v.Manifest)
		v.Gaps = nil
	}
	var last *LastReview
	if failed == "" {
		if last, err = r.lastReview(ctx, engine, v, o); err != nil {
			return out, err
		}
	}
	var gapResult *pipeline.AgentResult
	if gapModelOf(out.Config, o) != "" {
		failed = t.then(failed, pipeline.StageGapDetect, "asking for gaps", func() (err error) {
			g := gapRun{runner: r, engine: engine, review: v, gaps: v.Gaps, timer: t, beside: change.Text}
			v.Gaps, gapResult, err = g.ask(ctx, last, o)
			return err
		})
	}
	if o.Previous != nil {
		if v.Previous, err = o.Previous(ctx, &v.Facts); err != nil {
			return out, fmt.Errorf("read the previous report: %w", err)
		}
	}
	asksModels := slices.ContainsFunc(v.Manifest.Entries, func(e pipeline.ManifestEntry) bool { return len(e.Models) > 0 })
	if o.SameHead != nil && asksModels {
		if v.SameHead, err = o.SameHead(ctx, &v.Facts); err != nil {
			return out, fmt.Errorf("read the last report on this head: %w", err)
		}
	}
	if o.Session != nil {
		manifest := &v.Manifest
		if failed != "" {
			manifest = nil // nobody is asked, but a pause remains in force
		}
		if v.Session, err = o.Session(ctx, &v.Facts, manifest, out.Config); err != nil {
			return out, fmt.Errorf("ask the session's reviewers: %w", err)
		}
	}
	in := aggregate.Input{
		Facts: &v.Facts, Classification: &v.Classification, Manifest: &v.Manifest, Session: v.Session,
		Gaps: v.Gaps, Previous: v.Previous, SameHead: v.SameHead, Memory: v.Memory, Config: out.Config, Rules: engine.byID,
	}
	failed = t.then(failed, pipeline.StageDispatch, "running agents", func() (err error) {
		s := staged{in: in, options: t.dispatchOptions(out.Config, &v.Facts)}
		each := IOAgent{RedactOther: change.Text, Manifest: &v.Manifest, Used: t.used, Answered: t.answered}
		s.agents = r.agents(engine, o, v, each)
		s.carried = r.carry(ctx, engine, v, last, o.Carry, s.options)
		s.redact = func(results pipeline.List[pipeline.AgentResult]) { r.redactRules(results, engine) }
		s.compared = r.comparing(engine, o, each, v, last, s.options)
		s.verified = r.verifying(engine, o, each, v, last, s.options)
		v.Results, err = s.dispatch(ctx)
		if gapResult != nil {
			v.Results = append(v.Results, *gapResult)
		}
		t.putAnswers(v.Results)
		t.record.Agents = append(t.record.Agents, s.carried.timings()...)
		return err
	})
	if err := context.Cause(ctx); err != nil {
		return out, err
	}
	in.Results, in.Failed = v.Results, failureOf(failed)
	in = reconciled(in)
	v.Failed = failed
	if failed = t.then("", pipeline.StageAggregate, "deciding", func() error {
		v.Report = aggregate.Aggregate(in)
		return nil
	}); failed != "" {
		v.Failed, in.Failed = failed, failureOf(failed)
		v.Report = aggregate.Failed(in, in.Failed)
	}
	v.Report.Incomplete = append(v.Report.Incomplete, lacks...) // the gate does not read it
	if err := r.evaluate(ctx, &out, last, IOAgent{RedactOther: change.Text, Used: t.used}, o, t); err != nil {
		return out, err
	}
	v.Report.ProposedConfig = r.preview(ctx, in, v.Report.Findings, change, o)
	if len(v.Report.ProposedConfig.Files) > 0 {
		v.Proposed = &v.Report.ProposedConfig
	}
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

// timer runs stages: it times them and catches their panics.
type timer struct {
	now     func() time.Time
	record  *pipeline.RunRecord
	options Options

	using   sync.Mutex // agents run side by side
	use     []pipeline.ModelUse
	answers map[asking][]pipeline.RawAnswer
}

// asking identifies one of several runs of an agent with a model.
type asking struct {
	agent, model string
	run          int
}

// answered stores what a model answered.
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

// putAnswers adds to the results what models answered for them. Carried results already have
// theirs.
func (t *timer) putAnswers(results []pipeline.AgentResult) {
	t.using.Lock()
	defer t.using.Unlock()
	for i := range results {
		if answers := t.answers[asking{results[i].Agent, results[i].Model, results[i].Run}]; len(answers) > 0 {
			results[i].Answers = slices.Clone(answers)
		}
	}
}

// used adds what an agent's question to a model used.
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

// modelUse is what was used so far, in order. An agent that was abandoned when its time was up may
// report more later, which the record then lacks.
func (t *timer) modelUse() []pipeline.ModelUse {
	t.using.Lock()
	defer t.using.Unlock()
	use := slices.Clone(t.use)
	slices.SortFunc(use, func(a, b pipeline.ModelUse) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return use
}

// then runs a stage unless an earlier one failed, and returns the stage that failed, if any.
func (t *timer) then(failed, s pipeline.Stage, what string, f func() error) pipeline.Stage {
	if failed != "" {
		return failed
	}
	if err := t.stage(s, what, f); err != nil {
		return s
	}
	return ""
}

// failureOf is what the report says about a failed stage, or nil if none failed.
func failureOf(failed pipeline.Stage) *pipeline.Incompleteness {
	if failed == "" {
		return nil
	}
	return &pipeline.Incompleteness{What: "stage", Why: fmt.Sprintf("the stage %s failed", failed), Gating: true}
}

func (t *timer) stage(s pipeline.Stage, what string, f func() error) (err error) {
	if t.options.Progress != nil {
		t.options.Progress(what)
	}
	start := t.now()
	defer func() {
		if v := recover(); v != nil {
			err = &pipeline.StageError{Stage: s, Err: &pipeline.PanicError{Value: v}}
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
		return &pipeline.StageError{Stage: s, Err: err}
	}
}

// timed adds a stage's timing. If the stage has two parts, it adds the timing to that of the first.
func timed(stages []pipeline.StageTiming, s pipeline.StageTiming) []pipeline.StageTiming {
	if n := len(stages); n > 0 && stages[n-1].Stage == s.Stage {
		s.DurationMS += stages[n-1].DurationMS
		stages = stages[:n-1]
	}
	return append(stages, s)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// maxCited is how much of a file is read to find a cited line, in bytes. No source file is larger.
const maxCited = 4 << 20

// exists returns a function that looks up at the head what a finding cites. It returns nil if no
// file can be read.
func (o *Options) exists(facts *pipeline.PRFacts) func(ctx context.Context, path string, line int) (bool, error) {
	if o.File == nil {
		return nil
	}
	return func(ctx context.Context, path string, line int) (bool, error) {
		text, found, err := o.File(ctx, facts.Head.SHA, path, maxCited)
		return found && hasLine(text, line), err
	}
}

// hasLine reports whether a text has a line, counted from 1. Every text has line 0, which is the
// file itself.
func hasLine(text []byte, line int) bool {
	lines := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		lines++
	}
	return line <= lines
}
