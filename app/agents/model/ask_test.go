package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// dispatched is the agent's result in a review.
func dispatched(t *testing.T, o Options, retries int) pipeline.AgentResult {
	t.Helper()
	task := testTask(shop())
	results, err := dispatch.Dispatch(t.Context(), pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{task.Entry}}, task.Facts, task.Classification,
		map[string]dispatch.Agent{"reviewer": asking(o)}, dispatch.Options{Limits: func(string) dispatch.Limits { return dispatch.Limits{Timeout: time.Minute, Retries: retries} }})
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

// asking asks the tests' model, whatever model the manifest names.
func asking(o Options) dispatch.Agent { return forModel{New(o)} }

type forModel struct{ *Agent }

func (f forModel) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	task.Model = modelName
	return f.Agent.Review(ctx, task)
}

// A question without a complete answer is a failure. People see our own words and nothing
// that the API sent. The log has the whole error.
func TestFailures(t *testing.T) {
	cause := errors.New("dial tcp 10.0.0.7:11434: account 4711")
	for kind, tt := range map[llm.Kind]struct {
		status    pipeline.AgentStatus
		note      string
		temporary bool
	}{
		llm.Refused:         {pipeline.AgentFailed, "the model refused to answer", false},
		llm.CutOff:          {pipeline.AgentFailed, "the model's answer was cut off after 8192 tokens: raise its max_output_tokens", false},
		llm.TooLong:         {pipeline.AgentFailed, "the question was longer than the model reads: lower its context_tokens, now 128000", false},
		llm.Limited:         {pipeline.AgentFailed, "the model's API takes no more questions for a while", true},
		llm.Overloaded:      {pipeline.AgentFailed, "the model's API is overloaded", true},
		llm.Denied:          {pipeline.AgentFailed, "the model's API denies access: the key or the account is not good", false},
		llm.Invalid:         {pipeline.AgentFailed, "the model's API does not take the question: see the server's log", false},
		llm.Unreachable:     {pipeline.AgentFailed, "the model can't be reached", true},
		llm.Malformed:       {pipeline.AgentMalformed, "what came is not an answer of the model's API", false},
		llm.Kind("unheard"): {pipeline.AgentFailed, "the model did not answer", false},
	} {
		m := &scripted{err: fmt.Errorf("ask: %w", &llm.Error{Kind: kind, After: 7 * time.Second, Err: cause, Use: llm.Use{Input: 10, Output: 5}})}
		o := testOptions(m)
		var used []pipeline.ModelUse
		var logged error
		o.Used = func(u pipeline.ModelUse) { used = append(used, u) }
		o.Failed = func(_ string, err error) { logged = err }
		r := dispatched(t, o, 0)
		if r.Status != tt.status || r.Note != tt.note || len(r.Output.Findings) > 0 {
			t.Errorf("%s: %s, %q", kind, r.Status, r.Note)
		}
		if !errors.Is(logged, cause) {
			t.Errorf("%s: the log has %v", kind, logged)
		}
		if len(used) != 1 || used[0].Input != 10 || used[0].Output != 5 || used[0].Asked != 1 {
			t.Errorf("%s: used %+v", kind, used)
		}
		_, err := New(o).Review(t.Context(), testTask(shop()))
		var passes interface {
			Temporary() bool
			RetryAfter() time.Duration
		}
		if errors.As(err, &passes) && (passes.Temporary() != tt.temporary || passes.RetryAfter() != 7*time.Second) {
			t.Errorf("%s: temporary %t after %s", kind, passes.Temporary(), passes.RetryAfter())
		}
	}
	if r := dispatched(t, testOptions(&scripted{err: cause}), 0); r.Status != pipeline.AgentFailed || r.Note != "the model could not be asked" {
		t.Errorf("any other error: %s, %q", r.Status, r.Note)
	}
}

// An agent whose model can't be asked fails. Other code decides whether to leave the agent
// out.
func TestNoModel(t *testing.T) {
	for name, want := range map[string]string{"": "no model is configured", "other": "no model is configured by the name of other"} {
		task := testTask(shop())
		task.Model = name
		if _, err := New(testOptions(&scripted{})).Review(t.Context(), task); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// purse is a budget.
type purse struct {
	left  int
	err   error
	taken []int
	done  []llm.Use
}

func (p *purse) Take(_ context.Context, _ string, tokens int) (func(llm.Use), error) {
	if p.err != nil {
		return nil, p.err
	}
	if tokens > p.left {
		return nil, &dispatch.SkippedError{Why: "over budget: the repository's tokens for today are spent"}
	}
	p.taken = append(p.taken, tokens)
	return func(u llm.Use) { p.done = append(p.done, u) }, nil
}

// The largest possible use of a question is reserved before it is asked. The real use is
// reported afterwards, whatever the result.
func TestBudget(t *testing.T) {
	m := &scripted{use: llm.Use{Input: 1000, Cached: 400, Output: 200}}
	o := testOptions(m)
	p := &purse{left: 1_000_000}
	o.Budget = p
	q, _, _ := ask(t, o, testTask(shop()))
	if want := Tokens(q.System) + Tokens(q.Text) + q.MaxTokens; len(p.taken) != 1 || p.taken[0] != want {
		t.Errorf("reserved %v, want %d", p.taken, want)
	}
	if diff := cmp.Diff([]llm.Use{m.use}, p.done); diff != "" {
		t.Error(diff)
	}

	m.err = &llm.Error{Kind: llm.CutOff, Use: llm.Use{Input: 1, Output: 2}}
	dispatched(t, o, 0)
	m.err = context.DeadlineExceeded
	dispatched(t, o, 0)
	if len(p.done) != 3 || p.done[1] != (llm.Use{Input: 1, Output: 2}) || p.done[2].Input < 1000 {
		t.Errorf("reported %+v", p.done)
	}

	m.err, p.left = nil, 10
	asked := len(m.asked)
	if r := dispatched(t, o, 3); r.Status != pipeline.AgentSkipped || r.Note != "over budget: the repository's tokens for today are spent" || len(m.asked) > asked {
		t.Errorf("over budget: %s, %q", r.Status, r.Note)
	}
	p.err = errors.New("no database")
	if r := dispatched(t, o, 0); r.Status != pipeline.AgentFailed || len(m.asked) > asked {
		t.Errorf("without a budget: %s, %q", r.Status, r.Note)
	}
}

// Use that an API does not report is estimated, unless the API said that it used nothing.
// Otherwise a model whose answers get lost would be asked without end.
func TestUnreportedUse(t *testing.T) {
	sent := func(kind llm.Kind) error { return &llm.Error{Kind: kind, Sent: true} }
	for name, tt := range map[string]struct {
		m             *scripted
		input, output bool
	}{
		"an answer":              {&scripted{}, true, true},
		"an answer with its use": {&scripted{use: llm.Use{Input: 1}}, false, false},
		"a lost answer":          {&scripted{err: sent(llm.Unreachable)}, true, false},
		"no answer":              {&scripted{err: sent(llm.Malformed)}, true, false},
		"no connection":          {&scripted{err: &llm.Error{Kind: llm.Unreachable}}, false, false},
		"refused by the API":     {&scripted{err: &llm.Error{Kind: llm.Limited, Status: 429}}, false, false},
	} {
		o := testOptions(tt.m)
		p := &purse{left: 1_000_000}
		o.Budget = p
		dispatched(t, o, 0)
		if len(p.done) != 1 || p.done[0].Input > 1000 != tt.input || p.done[0].Output > 0 != tt.output {
			t.Errorf("%s: reported %+v", name, p.done)
		}
	}
}

// A model that panics still uses up budget.
func TestPanicUsesUpBudget(t *testing.T) {
	o := testOptions(&scripted{})
	p := &purse{left: 1_000_000}
	o.Budget = p
	o.Models = map[string]Endpoint{modelName: {Model: panicking{}, ModelEndpoint: config.ModelEndpoint{Name: modelName}}}
	if r := dispatched(t, o, 0); r.Status != pipeline.AgentFailed || len(p.done) != 1 || p.done[0].Input < 1000 {
		t.Errorf("%s, reported %+v", r.Status, p.done)
	}
}

type panicking struct{}

func (panicking) Ask(context.Context, llm.Question) (llm.Answer, error) { panic("broken") }

// An agent has a token limit for each model, which includes failed attempts.
func TestTokensOfAnAgent(t *testing.T) {
	m := &scripted{use: llm.Use{Input: 9000, Output: 3000}}
	o := testOptions(m)
	o.Tokens = 20_000
	a := New(o)
	if _, err := a.Review(t.Context(), testTask(shop())); err != nil {
		t.Fatal(err)
	}
	_, err := a.Review(t.Context(), testTask(shop()))
	var skipped *dispatch.SkippedError
	if !errors.As(err, &skipped) || !strings.HasPrefix(skipped.Why, "over budget: of model_budget.per_agent 8000 tokens are left") || len(m.asked) != 1 {
		t.Errorf("%v after %d questions", err, len(m.asked))
	}

	small := testOptions(&scripted{})
	e := small.Models[modelName]
	e.ContextTokens = 4000
	small.Models[modelName] = e
	if r := dispatched(t, small, 0); r.Status != pipeline.AgentOK && r.Status != pipeline.AgentSkipped {
		t.Errorf("a small model: %s, %q", r.Status, r.Note)
	}
	e.ContextTokens = 2000
	small.Models[modelName] = e
	if r := dispatched(t, small, 0); r.Status != pipeline.AgentSkipped || !strings.HasPrefix(r.Note, "the model reads 2000 tokens") {
		t.Errorf("a tiny model: %s, %q", r.Status, r.Note)
	}
}

func TestCost(t *testing.T) {
	for name, tt := range map[string]struct {
		e    config.ModelEndpoint
		want float64
	}{
		"all prices":           {config.ModelEndpoint{InputPrice: 3, CachedPrice: 0.3, StoredPrice: 3.75, OutputPrice: 15}, 0.9 + 0.15 + 0.75 + 1.5},
		"no price for storing": {config.ModelEndpoint{InputPrice: 3, CachedPrice: 0.3, OutputPrice: 15}, 0.9 + 0.15 + 0.6 + 1.5},
		"input and output":     {config.ModelEndpoint{InputPrice: 3, OutputPrice: 15}, 3 + 1.5},
		"none":                 {config.ModelEndpoint{}, 0},
	} {
		if got := Cost(tt.e, llm.Use{Input: 1_000_000, Cached: 500_000, Stored: 200_000, Output: 100_000}); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %f, want %f", name, got, tt.want)
		}
	}
	e := config.ModelEndpoint{InputPrice: 3, OutputPrice: 15}
	if got := Cost(e, sane(llm.Use{Input: 10, Cached: 8, Stored: 1 << 60})); got < 0 || got > 1e-4 {
		t.Errorf("impossible counts cost %f", got)
	}
	m := &scripted{use: llm.Use{Input: 7, Cached: 1 << 60, Output: -1}}
	o := testOptions(m)
	var used []pipeline.ModelUse
	o.Used = func(u pipeline.ModelUse) { used = append(used, u) }
	ask(t, o, testTask(shop()))
	if diff := cmp.Diff([]pipeline.ModelUse{{Agent: "reviewer", Model: modelName, Asked: 1, Input: 7, Cached: 7}}, used); diff != "" {
		t.Error(diff)
	}
}

// Parallel questions share an agent's tokens. A question without enough tokens left waits for
// those under way, which may use less. If they do not, it is not asked.
func TestTokensOfParallelQuestions(t *testing.T) {
	m := &slow{}
	o := testOptions(&scripted{})
	o.Models[modelName] = Endpoint{Model: m, ModelEndpoint: o.Models[modelName].ModelEndpoint}
	o.Tokens, o.Random = 20_000, nil
	a := New(o)
	var wg sync.WaitGroup
	var over atomic.Int32
	for range 4 {
		wg.Go(func() {
			_, err := a.Review(t.Context(), testTask(shop()))
			var skipped *dispatch.SkippedError
			if errors.As(err, &skipped) {
				over.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if m.asked.Load()+over.Load() != 4 || over.Load() == 0 || m.asked.Load() < 2 || m.most.Load() != 1 {
		t.Errorf("%d questions were asked, %d of them in parallel, and %d were not", m.asked.Load(), m.most.Load(), over.Load())
	}
}

// slow answers late, and counts how many questions it gets at once.
type slow struct{ asked, now, most atomic.Int32 }

func (s *slow) Ask(context.Context, llm.Question) (llm.Answer, error) {
	s.asked.Add(1)
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	time.Sleep(20 * time.Millisecond)
	return llm.Answer{Text: none}, nil
}
