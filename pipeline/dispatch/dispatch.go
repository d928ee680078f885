package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Limits bound one agent's run.
type Limits struct {
	Timeout time.Duration // for all attempts together
	Retries int           // after the first attempt, only for transient errors
}

// Options control a dispatch.
type Options struct {
	Concurrency int                       // agents at once, at least 1; for each model, as many again
	Limits      func(agent string) Limits // of each agent
	// Observe, if set, is told of each agent that ended. It may be called from several goroutines
	// at once.
	Observe func(Observation)
	// Exists reports whether the head has a file, and the line if it is not 0. If Exists is nil, no
	// citation is looked up.
	Exists func(ctx context.Context, path string, line int) (bool, error)
}

// Observation describes an agent's run. Err is the last attempt's error, and Stack is set if it
// panicked.
type Observation struct {
	Agent    string
	Model    string // empty for an agent without a model
	Status   pipeline.AgentStatus
	Duration time.Duration
	Attempts int
	Err      error
	Stack    []byte
}

// A retry waits firstPause, doubled each time up to maxPause, plus or minus half.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Dispatch runs the manifest's agents and returns their results in the manifest's order. An agent
// that asks several models has one result for each. An agent that fails, panics, hangs or is not
// registered gets a result that says so, and affects no other agent. Agents that wait for a model
// delay neither agents without a model nor those that ask another one. The only error is that of
// ctx: a cancelled dispatch has no results.
func Dispatch(ctx context.Context, m pipeline.AgentManifest, facts *pipeline.PRFacts, c *pipeline.Classification, agents map[string]Agent, o Options) (pipeline.List[pipeline.AgentResult], error) {
	tasks := tasksOf(m, facts, c)
	results := make(pipeline.List[pipeline.AgentResult], len(tasks))
	slots := map[string]chan struct{}{} // by model
	for _, task := range tasks {
		if slots[task.Model] == nil {
			slots[task.Model] = make(chan struct{}, max(1, o.Concurrency))
		}
	}
	var wg sync.WaitGroup
	for i, task := range tasks {
		wg.Go(func() {
			free := slots[task.Model]
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
			case <-ctx.Done():
				return
			}
			id := task.Entry.Agent
			r := runner{agent: agents[id], task: task, options: o, limits: o.Limits(id)}
			var observation Observation
			results[i], observation = r.run(ctx)
			if o.Observe != nil && ctx.Err() == nil {
				o.Observe(observation)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("dispatch agents: %w", err)
	}
	return results, nil
}

// tasksOf returns one task for each question of an entry.
func tasksOf(m pipeline.AgentManifest, facts *pipeline.PRFacts, c *pipeline.Classification) []Task {
	var tasks []Task
	for _, entry := range m.Entries {
		for _, q := range entry.Questions() {
			tasks = append(tasks, Task{Entry: entry, Model: q.Model, Run: q.Run, Facts: facts, Classification: c})
		}
	}
	return tasks
}

// runner runs one agent.
type runner struct {
	agent   Agent
	task    Task
	options Options
	limits  Limits
}

// attempt is the result of an attempt. With an error, the answer counts only if the error says that
// it is a part.
type attempt struct {
	Answer
	err  error
	part bool
}

func (r runner) run(ctx context.Context) (pipeline.AgentResult, Observation) {
	id := r.task.Entry.Agent
	observation := Observation{Agent: id, Model: r.task.Model}
	start := time.Now() // monotonic: it only measures
	a := r.attempts(ctx, &observation)
	result := pipeline.AgentResult{Agent: id, Model: r.task.Model, Run: r.task.Run, Stage: r.task.Entry.Stage}
	result.Status, result.Note = r.status(a.err)
	if a.err == nil || a.part {
		a.Output.Agent = id // whatever the agent claims
		if r.task.Model != "" {
			a.Output.Model = r.task.Model
		}
		result.Output, result.Model, result.Reports, result.Documents = a.Output, a.Output.Model, a.Reports, a.Output.Documents
		if a.err == nil {
			result.Note = note(a.Note)
		}
		result.Asked, result.Remote = a.Asked, a.Remote
		result.WithoutRule, result.Unlisted = a.WithoutRule, a.Unlisted
		result.Citations = Citations(ctx, a.Output.Findings, r.task.Facts, r.options, id)
	}
	observation.Duration, observation.Err = time.Since(start), a.err
	if p := (*panicError)(nil); errors.As(a.err, &p) {
		observation.Err = p // without the words for people around it
	}
	observation.Status = result.Status
	return result, observation
}

// attempts runs the agent until an attempt succeeds or fails for good, or until time or retries run
// out. In the end, the last partial result counts.
func (r runner) attempts(ctx context.Context, seen *Observation) (last attempt) {
	if r.agent == nil {
		return attempt{err: errUnregistered}
	}
	var partial attempt
	defer func() {
		if last.err != nil && !last.part {
			last.Answer, last.part = partial.Answer, partial.part
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, r.limits.Timeout, ErrTimeout)
	defer cancel()
	pause := firstPause
	for {
		seen.Attempts++
		a := r.attempt(ctx)
		if a.part {
			partial = a
		}
		var p *panicError
		if errors.As(a.err, &p) {
			seen.Stack = p.stack
		}
		if a.err == nil || seen.Attempts > r.limits.Retries || !Temporary(a.err) {
			return a
		}
		wanted := retryAfter(a.err)
		if end, ok := ctx.Deadline(); ok && time.Until(end) < wanted {
			return a // there is no time for another attempt
		}
		select {
		case <-ctx.Done():
			return attempt{err: context.Cause(ctx)}
		case <-time.After(max(pause/2+rand.N(pause), wanted)):
		}
		pause = min(2*pause, maxPause)
	}
}

// attempt runs the agent once. An agent that does not stop when its time is up is abandoned, so
// that it can't delay the review.
func (r runner) attempt(ctx context.Context) attempt {
	answers := make(chan attempt, 1)
	go func() {
		var a attempt
		defer func() {
			if v := recover(); v != nil {
				a = attempt{err: Panicked(v)}
			}
			answers <- a
		}()
		a.Answer, a.err = r.agent.Review(ctx, r.task)
	}()
	select {
	case a := <-answers:
		var part *PartError
		a.part = errors.As(a.err, &part)
		if a.err != nil && ctx.Err() != nil {
			a.err = context.Cause(ctx)
		}
		return a
	case <-ctx.Done():
		return attempt{err: context.Cause(ctx)}
	}
}

var (
	errUnregistered = errors.New("not registered")

	// ErrTimeout is the cause of the cancellation of an agent's context when its time is up.
	ErrTimeout = errors.New("timed out")
)

// MalformedError says that an agent's answer could not be read.
type MalformedError struct{ Err error }

func (e *MalformedError) Error() string { return "malformed answer: " + e.Err.Error() }

// Unwrap returns the problem with the answer.
func (e *MalformedError) Unwrap() error { return e.Err }

// SkippedError says why an agent did not review, such as because a budget is spent. Any error with
// a method Skipped counts the same.
type SkippedError struct{ Why string }

func (e *SkippedError) Error() string { return "skipped: " + e.Why }

// Skipped returns the reason for people.
func (e *SkippedError) Skipped() string { return e.Why }

// WaitingError says until when a remote reviewer's answer may come.
type WaitingError struct{ Until string }

func (e *WaitingError) Error() string { return "it has until " + e.Until }

// NotAskedError says why a remote reviewer was not asked. That is not a failure.
type NotAskedError struct{ Why string }

func (e *NotAskedError) Error() string { return e.Why }

// PartError says why an agent reviewed only a part of its scope. The findings in its output count,
// and the agent did not finish.
type PartError struct{ Err error }

func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap returns the reason why the agent did not finish.
func (e *PartError) Unwrap() error { return e.Err }

// Panicked returns the error of a panic's value. The code that recovers the panic calls it. An
// agent uses it for panics in its own goroutines, which nobody else can recover.
func Panicked(value any) error { return &panicError{value: value, stack: debug.Stack()} }

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Temporary reports whether the error calls itself temporary.
func Temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// retryAfter is how long the error asks callers to wait, or 0.
func retryAfter(err error) time.Duration {
	var t interface{ RetryAfter() time.Duration }
	if errors.As(err, &t) {
		return t.RetryAfter()
	}
	return 0
}

// status turns an agent's error into its status and a note for people. The pull request shows the
// note, so a panic's text is only logged.
func (r runner) status(err error) (pipeline.AgentStatus, string) {
	var malformed *MalformedError
	var panicked *panicError
	var skipped interface{ Skipped() string }
	var waiting *WaitingError
	var notAsked *NotAskedError
	switch {
	case err == nil:
		return pipeline.AgentOK, ""
	case errors.Is(err, ErrTimeout):
		late := fmt.Sprintf("no answer within %s", r.limits.Timeout)
		if text := err.Error(); text != ErrTimeout.Error() {
			late += ": " + text
		}
		return pipeline.AgentTimedOut, note(late)
	case errors.As(err, &waiting):
		return pipeline.AgentWaiting, note(waiting.Error())
	case errors.As(err, &notAsked):
		return pipeline.AgentNotAsked, note(notAsked.Why)
	case errors.As(err, &malformed):
		return pipeline.AgentMalformed, note(malformed.Err.Error())
	case errors.As(err, &panicked):
		return pipeline.AgentFailed, "an internal error stopped it"
	case errors.As(err, &skipped):
		return pipeline.AgentSkipped, note(skipped.Skipped())
	}
	return pipeline.AgentFailed, note(err.Error())
}

// note bounds a note. 300 characters are enough for a cause in words.
func note(s string) string { return plaintext.CutLine(s, 300) }

// Agent is a reviewer. Review returns what it found in the task's scope, and must stop when ctx is
// done. With an error, the answer does not count, unless the error is a [*PartError]. For some kinds
// of agent the answer comes from outside the process, so aggregate validates it.
type Agent interface {
	Review(ctx context.Context, task Task) (Answer, error)
}

// Answer is the result of an agent. Most agents have only an output.
type Answer struct {
	Output pipeline.AgentOutput
	// Note is for people. It adds to a successful review, such as what the agent has not seen.
	Note string
	// Reports are the outcomes of the review reports that the agent read.
	Reports []pipeline.ReviewReportOutcome
	// Asked are the lines of the change that a model was asked about; see pipeline.AgentResult.
	Asked []pipeline.AskedLines
	// Remote says that a remote reviewer answered; see pipeline.AgentResult.
	Remote bool
	// WithoutRule and Unlisted say what an agent with rules did not look at or does not list; see
	// pipeline.AgentResult.
	WithoutRule, Unlisted int
}

// Task is what an agent is asked to review.
type Task struct {
	Entry          pipeline.ManifestEntry
	Model          string            // the model to ask, one of the entry's, or empty
	Run            int               // which of several runs with the model, from 0
	Facts          *pipeline.PRFacts // must not be changed
	Classification *pipeline.Classification
}
