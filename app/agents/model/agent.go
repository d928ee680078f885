package model

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Endpoint is a model with what the server's config says of it.
type Endpoint struct {
	Model llm.Model
	config.ModelEndpoint
}

// Issue is one that the change is linked to.
type Issue struct {
	Number      int
	Title, Body string
}

// Budget is what may be spent in all, whoever else spends of it.
type Budget interface {
	// Take sets tokens aside, those of the question and the longest answer. done
	// is called once, with what it took; the rest is free again. An error with a
	// method Skipped, such as a *dispatch.SkippedError, says that there are not
	// enough left.
	Take(ctx context.Context, model string, tokens int) (done func(use llm.Use), err error)
}

// Options are what an Agent is made from, for one review of one change.
type Options struct {
	Stage  string // pipeline.ReviewStageSpec, or else the quality stage
	Prompt string // markdown
	Rules  []config.Rule
	Models map[string]Endpoint // by the names of the server's config
	// Redact replaces the secrets in a text by placeholders.
	Redact func(text string) string
	// RedactBeside is Redact for the change and what is read with it: it may know
	// secrets by the change. Nil is Redact.
	RedactBeside func(text string) string
	// Issues are those that the change is linked to, of the same repository. Only
	// the spec stage asks; nil where there are none.
	Issues func(context.Context, *pipeline.PRFacts) ([]Issue, error)
	// Tokens bounds what is spent on each model, read and written; 0 is no bound.
	Tokens int
	Budget Budget // nil where all may be spent
	Risk   *Risk  // nil where all files weigh the same
	// Used is told what each question took, and Failed, for the log, why one got no
	// answer. They may be called from several goroutines at once, and be nil.
	Used   func(pipeline.ModelUse)
	Failed func(model string, err error)
	// Answered is told what a model answered to a task, without secrets. It may be called
	// from several goroutines at once, and be nil.
	Answered func(task dispatch.Task, answer pipeline.RawAnswer)
	// Round is that of the review, which its agents share; nil is one of the agent's own.
	Round *Round
	// Shares says that the task's models are asked several times about the same files, so
	// that the beginning of the questions is worth keeping.
	Shares bool
	// Random is where codes come from: crypto/rand, where it is nil.
	Random io.Reader
}

// Agent asks language models about one change. Any number of goroutines may use
// it.
type Agent struct {
	Options

	mu       sync.Mutex
	spent    map[string]int // tokens, by model
	reserved map[string]int // of these, for questions under way
	released *sync.Cond     // some are no longer reserved
}

// New returns an agent.
func New(o Options) *Agent {
	if o.RedactBeside == nil {
		o.RedactBeside = o.Redact
	}
	if o.Round == nil {
		o.Round = &Round{}
	}
	a := &Agent{Options: o, spent: map[string]int{}, reserved: map[string]int{}}
	a.released = sync.NewCond(&a.mu)
	return a
}

var _ dispatch.Noter = (*Agent)(nil)

// Review returns the findings of ReviewAndNote alone.
func (a *Agent) Review(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
	out, _, err := a.ReviewAndNote(ctx, task)
	return out, err
}

// ReviewAndNote asks the task's model about the task's scope. The note says what
// was not shown to it, and what of its answer does not count: without a note, it
// has seen all and all counts. Where there is nothing to show, nothing is asked.
//
// Errors are a *dispatch.MalformedError, an *Error, a skip, or one of ctx or of
// what was given in Options.
func (a *Agent) ReviewAndNote(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, string, error) {
	out := pipeline.AgentOutput{Agent: task.Entry.Agent, Model: task.Model, Stage: a.stage()}
	endpoint, ok := a.Models[task.Model]
	if !ok || endpoint.Model == nil {
		return out, "", noModel(task.Model)
	}
	seen := a.look(task)
	if len(seen.files) == 0 {
		return out, seen.note(), nil
	}
	words, err := a.words(ctx, task.Facts, a.stage())
	if err != nil {
		return out, "", err
	}
	instructions := a.instructions(endpoint)
	room, err := a.room(endpoint, instructions.system, instructions.task)
	if err != nil {
		return out, "", err
	}
	shown, err := a.pack(seen, words, room)
	if err != nil {
		return out, "", err
	}
	question, err := a.write(shown, instructions.task)
	if err != nil {
		return out, "", err
	}
	question.System, question.Schema, question.Sample = instructions.system, schema(), task.Run
	answer, err := a.ask(ctx, task, endpoint, question)
	if err != nil {
		return out, "", err
	}
	read, err := a.read(answer.Text, shown, instructions.rules)
	if err != nil {
		return out, "", &dispatch.MalformedError{Err: err}
	}
	out.Findings, out.ResidualConcerns, out.Voided = read.findings, read.concerns, read.voided
	return out, note(shown.notes(), read.notes(), instructions.notes(), seen.notes()), nil
}

func (a *Agent) stage() string {
	if a.Stage == pipeline.ReviewStageSpec {
		return pipeline.ReviewStageSpec
	}
	return pipeline.ReviewStageQuality
}

func noModel(name string) error {
	if name == "" {
		return fmt.Errorf("no model is configured")
	}
	return fmt.Errorf("no model is configured by the name of %s", name)
}
