package llm

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// classify makes an Error of what an SDK returned. quote says which part of a
// server's message may be repeated.
func classify(err error, quote func(string) string) *Error {
	var refused *refusal
	var broken *fault
	var lost *url.Error
	switch {
	case errors.As(err, &refused):
		return &Error{Kind: refused.kind(), Status: refused.status, After: refused.after, Err: errors.New(refused.words(quote))}
	case errors.As(err, &broken):
		return &Error{Kind: broken.kind, Status: broken.status, Err: broken.err}
	case errors.As(err, &lost):
		return &Error{Kind: Unreachable, Err: lost.Err}
	}
	// The SDK could not read the answer. What it says of that may repeat it.
	return &Error{Kind: Malformed, Status: http.StatusOK, Err: errors.New("the answer is not what the API answers")}
}

// words describe the refusal in one line.
func (r *refusal) words(quote func(string) string) string {
	text := fmt.Sprintf("HTTP %d", r.status)
	for _, word := range []string{r.said.Type, r.said.Code, r.said.Param} {
		if isName(word) {
			text += " " + word
		}
	}
	if r.status < 400 {
		return text + ": the address leads elsewhere, or to no API: set base_url to where it ends"
	}
	// An API may repeat a key that it does not know.
	if message := quote(r.said.Message); message != "" && r.kind() != Denied {
		text += ": " + message
	}
	return text
}

// isName tells names that an API gives to errors and parameters from texts.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-[]", r)
	})
}

const (
	// maxQuoted is how much of a server's message an error repeats, in bytes.
	maxQuoted = 300
	// run is how many bytes in a row a message may share with the question: enough
	// for the name of a parameter.
	run = 24
)

// quotable returns what may be repeated of a server's message: one line of it, and
// nothing if it repeats the key or the question.
func quotable(message, key string, q Question) string {
	// Cut before it is looked at, so that a long one costs no more than a short one.
	if len(message) > maxQuoted {
		message = message[:maxQuoted]
	}
	if key != "" && strings.Contains(message, key) {
		return ""
	}
	for i := 0; i+run <= len(message); i++ {
		if part := message[i : i+run]; strings.Contains(q.Text, part) || strings.Contains(q.System, part) {
			return ""
		}
	}
	message = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, message)
	return strings.Join(strings.Fields(message), " ")
}
