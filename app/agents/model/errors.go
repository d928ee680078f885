package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Error says, for people, why a model gave no answer. What the API said of it is
// in the chain, for the log alone: it may name hosts and accounts.
type Error struct {
	Why string
	Err *llm.Error
}

func (e *Error) Error() string { return e.Why }

// Unwrap returns what the API said.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether asking again later can help.
func (e *Error) Temporary() bool { return e.Err.Temporary() }

// RetryAfter is how long to wait at least before asking again.
func (e *Error) RetryAfter() time.Duration { return e.Err.RetryAfter() }

// failure is what a failed question comes to. It is never an answer.
func (a *Agent) failure(ctx context.Context, e Endpoint, err error) error {
	var failed *llm.Error
	if !errors.As(err, &failed) {
		if ctx.Err() != nil {
			return err
		}
		return errors.New("the model could not be asked") // and the log has why
	}
	if failed.Kind == llm.Malformed {
		return &dispatch.MalformedError{Err: errors.New("what came is not an answer of the model's API")}
	}
	return &Error{Why: why(failed, e), Err: failed}
}

// why says what happened and, where somebody can, what to do about it.
func why(err *llm.Error, e Endpoint) string {
	switch err.Kind {
	case llm.Refused:
		return "the model refused to answer"
	case llm.CutOff:
		return fmt.Sprintf("the model's answer was cut off after %d tokens: raise its max_output_tokens", longest(e))
	case llm.TooLong:
		return fmt.Sprintf("the question was longer than the model reads: lower its context_tokens, now %d", window(e))
	case llm.Limited:
		return "the model's API takes no more questions for a while"
	case llm.Overloaded:
		return "the model's API is overloaded"
	case llm.Denied:
		return "the model's API denies access: the key or the account is not good"
	case llm.Invalid:
		return "the model's API does not take the question: see the server's log"
	case llm.Unreachable:
		return "the model can't be reached"
	}
	return "the model did not answer"
}
