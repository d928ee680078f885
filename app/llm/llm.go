package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Model is one language model. Any number of goroutines may ask it.
type Model interface {
	// Ask asks once. The error is an *Error, or that of ctx; what the question
	// took is told with an *Error as well.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is what a model is asked. All texts must be free of secrets.
type Question struct {
	// System is ours, and the same for many questions: APIs that can are asked to
	// keep it.
	System string
	// Shared is what the text begins with, if other questions begin with it too. APIs that
	// can are asked to keep that as well.
	Shared string
	// Text is the rest.
	Text string
	// Sample tells questions apart that are the same and are asked several times. It is
	// not sent.
	Sample int
	// Begun, if set, is called when an answer begins to come: from then on, the API has
	// what it was asked to keep. It may be called more than once, or never.
	Begun func()
	// Schema is the JSON Schema of the answer. APIs hold a model to the part of it
	// that they know, so that answers must be checked all the same.
	Schema Schema
	// MaxTokens bounds the answer.
	MaxTokens int
}

// Schema is a named JSON Schema, of an object. Every object in it, by the rules of
// both APIs, says "additionalProperties": false and names all its properties in
// "required": what may be missing is null instead. Properties are asked for in
// their order. What the APIs do not all know, such as lengths and patterns, is for
// whoever checks the answer, and is not sent.
type Schema struct {
	Name string // letters, digits, _ and -, at most 64
	JSON json.RawMessage
}

// Answer is a whole answer.
type Answer struct {
	Text string
	Use  Use
}

// Use is what a question took, in tokens, as the API counts them: 0 where it says
// nothing of it, as some servers do.
type Use struct {
	Input  int // read, those of Cached and Stored included
	Cached int // of these, those that the API had kept
	Stored int // and those that it keeps from now on, where it says so
	Output int // written
}

// Total is what budgets count.
func (u Use) Total() int { return u.Input + u.Output }

// Kind says why there is no answer.
type Kind string

// The kinds of Error.
const (
	Refused     Kind = "refused"     // the model would not answer
	CutOff      Kind = "cut off"     // the answer was longer than it may be
	TooLong     Kind = "too long"    // the question is longer than the model reads
	Limited     Kind = "limited"     // the API takes no more for a while
	Overloaded  Kind = "overloaded"  // so does everybody's
	Denied      Kind = "denied"      // the key or the account is not good
	Invalid     Kind = "invalid"     // the API does not take the question, or has no such model
	Unreachable Kind = "unreachable" // no answer, or one of the network's
	Malformed   Kind = "malformed"   // what came is no answer of the API
)

// Error says that a model did not answer to the end.
type Error struct {
	Kind   Kind
	Status int // of HTTP, if there was one
	// After is how long the API asks to be left alone, or 0.
	After time.Duration
	Use   Use // of an answer that ended too soon
	// Sent says that the API had the question and may have answered it: it may have
	// taken more than Use says.
	Sent bool
	Err  error // the cause, without a key and without what was asked, for the log
}

func (e *Error) Error() string {
	if e.Err == nil {
		return "the model's answer: " + string(e.Kind)
	}
	return fmt.Sprintf("the model's answer: %s: %v", e.Kind, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether asking again later can help.
func (e *Error) Temporary() bool {
	return e.Kind == Limited || e.Kind == Overloaded || e.Kind == Unreachable
}

// RetryAfter is how long to wait at least before asking again.
func (e *Error) RetryAfter() time.Duration { return e.After }
