package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Model is one language model. It can be used by any number of goroutines.
type Model interface {
	// Ask asks once. The error is an *Error, or the error of ctx. An *Error also has the
	// question's use.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is a question to a model. All its texts must be free of secrets.
type Question struct {
	// System is our text, which many questions share. APIs that can cache it are asked to.
	System string
	// Shared is the start of the text, if other questions start with it too. APIs that can
	// cache it are asked to.
	Shared string
	// Text is the rest.
	Text string
	// Sample distinguishes equal questions that are asked several times. It is not sent.
	Sample int
	// Begun, if set, is called when an answer starts to arrive. From then on the API has
	// cached what it was asked to. It may be called more than once, or never.
	Begun func()
	// Schema is the JSON Schema of the answer. APIs enforce only the part of it that they
	// know, so answers must still be checked.
	Schema Schema
	// MaxTokens limits the answer.
	MaxTokens int
}

// Schema is a named JSON Schema of an object. By the rules of both APIs, every object in it
// has "additionalProperties": false and lists all its properties in "required". An optional
// property may be null instead. Properties are requested in their order. Keywords that not
// all APIs know, such as lengths and patterns, are not sent. The code that reads the answer
// checks them.
type Schema struct {
	Name string // letters, digits, _ and -, at most 64
	JSON json.RawMessage
}

// Answer is a complete answer.
type Answer struct {
	Text string
	Use  Use
}

// Use is a question's use of tokens, as the API counts them. A count is 0 if the API does not
// report it, as some servers do not.
type Use struct {
	Input  int // tokens read, including Cached and Stored
	Cached int // those of them that the API had cached
	Stored int // those of them that it caches from now on, if it reports them
	Output int // tokens written
}

// Total is the number that budgets count.
func (u Use) Total() int { return u.Input + u.Output }

// Kind says why there is no answer.
type Kind string

// The kinds of Error.
const (
	Refused     Kind = "refused"     // the model would not answer
	CutOff      Kind = "cut off"     // the answer exceeded the limit
	TooLong     Kind = "too long"    // the question is longer than the model reads
	Limited     Kind = "limited"     // the API accepts no more questions for a while
	Overloaded  Kind = "overloaded"  // the API is overloaded for everybody
	Denied      Kind = "denied"      // the API refuses the key or the account
	Invalid     Kind = "invalid"     // the API refuses the question, or has no such model
	Unreachable Kind = "unreachable" // no answer, or one by a machine on the way
	Malformed   Kind = "malformed"   // the response is not an answer of the API
)

// Error says that a model did not finish its answer.
type Error struct {
	Kind   Kind
	Status int // HTTP status, or 0
	// After is how long the API asks to wait, or 0.
	After time.Duration
	Use   Use // use of an answer that ended too soon
	// Sent tells that the API got the question and may have answered it. It may have used
	// more than Use says.
	Sent bool
	Err  error // the cause for the log, without key and question
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
