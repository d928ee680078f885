package model

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// Endpoint is a model with what the server's config says of it.
type Endpoint struct {
	Model llm.Model
	config.ModelEndpoint
}

// Budget is what may be spent in all, whoever else spends of it.
type Budget interface {
	// Take sets tokens aside, those of the question and the longest answer. done
	// is called once, with what it took; the rest is free again. An error with a
	// method Skipped, such as a *dispatch.SkippedError, says that there are not
	// enough left.
	Take(ctx context.Context, model string, tokens int) (done func(use llm.Use), err error)
}

// Needs are what an agent needs from the review in addition to the config. All but Redact may be
// left out. The functions may be called from several goroutines at once.
type Needs struct {
	// Redact replaces the secrets in a text by placeholders.
	Redact func(text string) string
	// RedactBeside is Redact for the change and what is read with it: it may know
	// secrets by the change. Default: Redact.
	RedactBeside func(text string) string
	// Issues are those that the change is linked to, of the same repository. Only
	// the spec stage asks.
	Issues func(context.Context, *pipeline.PRFacts) ([]ports.LinkedIssue, error)
	Budget Budget // nil if all may be spent
	// Used is told what each question took, and Failed, for the log, why one got no
	// answer.
	Used   func(pipeline.ModelUse)
	Failed func(model string, err error)
	// Answered is told what a model answered to a task, without secrets.
	Answered func(task dispatch.Task, answer pipeline.RawAnswer)
	// Memory is what people taught about the repository, and what keeps being found there; nil if the
	// agent is told nothing about it.
	Memory *pipeline.Memory
	// Cycle is the cycle of the session in which the agent reviews; nil if it does not review in a session.
	Cycle *pipeline.SessionCycle
	// Round is that of the review, which its agents share. Default: the agent's own.
	Round *Round
	// Shares says that the task's models are asked several times about the same files, so
	// that the beginning of the questions is worth keeping.
	Shares bool
	// Files reads documents that the facts do not show whole; nil if nothing does.
	Files report.Files
	// Reported is told each report that a model made, with the document's path.
	Reported func(model string, r reviewreport.Report)
	// Manifest has the agents of the review, by which it is known what review reports are
	// judged in it; nil if none are.
	Manifest *pipeline.AgentManifest
}

// Options are what an Agent is made from, for one review of one change.
type Options struct {
	Needs
	Stage  string // pipeline.ReviewStageSpec, or else the quality stage
	Prompt string // markdown
	Rules  []config.Rule
	// ServiceRules returns the rules of a service that the agent may be told; nil if it is told none.
	ServiceRules func(service string) []string
	Models       map[string]Endpoint // by the names of the server's config
	Tokens       int                 // bounds what is spent on each model, read and written; 0 means no bound
	Risk         *Risk               // nil where all files weigh the same
	Random       io.Reader           // where codes come from; nil is crypto/rand
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

var _ dispatch.Agent = (*Agent)(nil)

// Review asks the task's model about the task's scope. The note says what
// was not shown to it, and what of its answer does not count: without a note, it
// has seen all and all counts. Where there is nothing to show, nothing is asked.
//
// Errors are a *dispatch.MalformedError, an *Error, a skip, or one of ctx or of
// what was given in Options.
func (a *Agent) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	out := pipeline.AgentOutput{Agent: task.Entry.Agent, Model: task.Model, Stage: a.stage()}
	none := dispatch.Answer{Output: out}
	endpoint, ok := a.Models[task.Model]
	if !ok || endpoint.Model == nil {
		return none, noModel(task.Model)
	}
	seen := a.look(task)
	if len(seen.files) == 0 {
		return dispatch.Answer{Output: out, Note: seen.note()}, nil
	}
	words, err := a.words(ctx, task.Facts, a.stage())
	if err != nil {
		return none, err
	}
	instructions := a.instructions(endpoint)
	room, err := a.room(endpoint, instructions.system, instructions.task)
	if err != nil {
		return none, err
	}
	shown, err := a.packSession(task, seen, words, room)
	if err != nil {
		return none, err
	}
	question, err := a.write(shown, instructions.task)
	if err != nil {
		return none, err
	}
	question.System, question.Schema, question.Sample = instructions.system, schema(), task.Run
	if shown.notesOn != nil {
		question.System += notesContract
	}
	if shown.session != nil {
		question.System += sessionContract
	}
	answer, err := a.ask(ctx, task, endpoint, question)
	if err != nil {
		return none, err
	}
	read, err := a.read(answer.Text, shown, instructions.rules)
	if err != nil {
		return none, &dispatch.MalformedError{Err: err}
	}
	out.Findings, out.ResidualConcerns, out.Voided = read.findings, read.concerns, read.voided
	return dispatch.Answer{Output: out, Asked: shown.asked(), Note: note(shown.notes(), read.notes(), instructions.notes(), seen.notes())}, nil
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
