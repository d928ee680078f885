package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// What the config's schema says that a model has where it says nothing.
const (
	defaultContext = 128_000
	defaultAnswer  = 8192
)

// minRoom is the least room for a change that a model is asked about, in tokens.
const minRoom = 500

func window(e Endpoint) int {
	if e.ContextTokens > 0 {
		return e.ContextTokens
	}
	return defaultContext
}

// longest is how long an answer may be, in tokens: with a small model not more
// than a quarter of what it reads.
func longest(e Endpoint) int {
	n := e.MaxOutputTokens
	if n <= 0 {
		n = defaultAnswer
	}
	return min(n, window(e)/4)
}

// room is what is left for the change, in tokens, beside the texts of the instructions. Where
// the agent's tokens leave less than the model reads, it waits for those that are set aside:
// questions under way may take less.
func (a *Agent) room(e Endpoint, instructions ...string) (int, error) {
	taken := longest(e)
	for _, text := range instructions {
		taken += Tokens(text)
	}
	room := window(e)/10*9 - taken
	if a.Tokens > 0 {
		a.mu.Lock()
		left := a.left(e, window(e))
		a.mu.Unlock()
		if left-taken < minRoom {
			return 0, overBudget(left, taken+minRoom)
		}
		room = min(room, left-taken)
	}
	if room < minRoom {
		return 0, &dispatch.SkippedError{Why: fmt.Sprintf("the model reads %d tokens, and the instructions and the answer take %d", window(e), taken)}
	}
	return room, nil
}

// left is how many of the agent's tokens are left on a model. While they are fewer than
// wanted, and others are set aside, it waits. The caller holds mu.
func (a *Agent) left(e Endpoint, wanted int) int {
	for a.reserved[e.Name] > 0 && a.Tokens-a.spent[e.Name] < wanted {
		a.released.Wait()
	}
	return a.Tokens - a.spent[e.Name]
}

// reserve sets tokens aside for a question, since others may be asked beside it, until
// release is called. The error says that not so many are left.
func (a *Agent) reserve(e Endpoint, tokens int) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Tokens > 0 {
		if left := a.left(e, tokens); left < tokens {
			return nil, overBudget(left, tokens)
		}
	}
	add := func(tokens int) {
		a.spent[e.Name] += tokens
		a.reserved[e.Name] += tokens
	}
	add(tokens)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		add(-tokens)
		a.released.Broadcast()
	}, nil
}

func overBudget(left, tokens int) error {
	return &dispatch.SkippedError{Why: fmt.Sprintf("over budget: of model_budget.per_agent %d tokens are left, and the question and the answer may take %d", max(left, 0), tokens)}
}

// ask asks once, in its turn and within the budget, and has what it took recorded whatever
// happens.
func (a *Agent) ask(ctx context.Context, task dispatch.Task, e Endpoint, q llm.Question) (llm.Answer, error) {
	q.MaxTokens = longest(e)
	begun, err := a.Round.turn(ctx, e.Name, q)
	if err != nil {
		return llm.Answer{}, err
	}
	defer begun()
	q.Begun = begun
	estimate := Tokens(q.System) + Tokens(q.Shared) + Tokens(q.Text)
	release, err := a.reserve(e, estimate+q.MaxTokens)
	if err != nil {
		return llm.Answer{}, err
	}
	defer release()
	done := func(llm.Use) {}
	if a.Budget != nil {
		if done, err = a.Budget.Take(ctx, e.Name, estimate+q.MaxTokens); err != nil {
			return llm.Answer{}, err
		}
	}
	// What is not told counts as read: a question that was given up, because its
	// time was up, is paid for all the same, and some servers tell nothing.
	use := llm.Use{Input: estimate}
	defer func() {
		done(use)
		a.record(task, e, use)
	}()
	answer, err := e.Model.Ask(ctx, q)
	var failed *llm.Error
	switch {
	case err == nil:
		use = reportedUse(answer.Use, llm.Use{Input: estimate, Output: Tokens(answer.Text)})
		if a.Answered != nil {
			a.Answered(task, a.raw(answer.Text))
		}
		return answer, nil
	case errors.As(err, &failed) && failed.Sent:
		use = reportedUse(failed.Use, use)
	case failed != nil:
		use = sane(failed.Use)
	}
	if a.Failed != nil {
		a.Failed(e.Name, err)
	}
	return llm.Answer{}, a.failure(ctx, e, err)
}

// raw is an answer as it is kept: without secrets, and not longer than anybody reads.
func (a *Agent) raw(text string) pipeline.RawAnswer {
	if len(text) > maxAnswer {
		text = text[:maxAnswer]
	}
	text = a.RedactBeside(strings.ToValidUTF8(text, "\uFFFD"))
	sum := sha256.Sum256([]byte(text))
	out := pipeline.RawAnswer{SHA256: hex.EncodeToString(sum[:]), Text: text}
	if len(text) > pipeline.MaxAnswer {
		out.Text, out.Cut = strings.ToValidUTF8(text[:pipeline.MaxAnswer], ""), true
	}
	return out
}

func (a *Agent) record(task dispatch.Task, e Endpoint, use llm.Use) {
	a.mu.Lock()
	a.spent[e.Name] += use.Total()
	a.mu.Unlock()
	if a.Used != nil {
		a.Used(pipeline.ModelUse{
			Agent: task.Entry.Agent, Model: task.Model, Asked: 1,
			Input: use.Input, Cached: use.Cached, Output: use.Output, CostUSD: Cost(e.ModelEndpoint, use),
		})
	}
}

// reportedUse returns what the API reported that a question used, or our estimate if it
// reported nothing: an API that never reports must not be asked without end.
func reportedUse(reported, estimate llm.Use) llm.Use {
	if reported = sane(reported); reported.Total() > 0 {
		return reported
	}
	return estimate
}

// sane is a use as it can be: an API's figures are an API's.
func sane(u llm.Use) llm.Use {
	const most = 1_000_000_000
	u.Input, u.Output = min(max(u.Input, 0), most), min(max(u.Output, 0), most)
	u.Cached = min(max(u.Cached, 0), u.Input)
	u.Stored = min(max(u.Stored, 0), u.Input-u.Cached)
	return u
}

// Cost is what a use costs by the endpoint's prices, in US dollars. What has no
// price of its own costs as much as other input: rather too much than too little.
func Cost(e config.ModelEndpoint, u llm.Use) float64 {
	const million = 1e6
	plain := float64(u.Input-u.Cached-u.Stored) * e.InputPrice
	cached := float64(u.Cached)*cmp.Or(e.CachedPrice, e.InputPrice) + float64(u.Stored)*cmp.Or(e.StoredPrice, e.InputPrice)
	return (plain + cached + float64(u.Output)*e.OutputPrice) / million
}
