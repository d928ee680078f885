package sdk

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// classify turns an SDK's error into an Error. quote returns the part of a server's message
// that may be repeated.
func classify(err error, quote func(string) string) *llm.Error {
	var refused *refusal
	var broken *fault
	var lost *url.Error
	switch {
	case errors.As(err, &refused):
		return &llm.Error{Kind: refused.kind(), Status: refused.status, After: refused.after, Sent: refused.late(), Err: errors.New(refused.words(quote))}
	case errors.As(err, &broken):
		return &llm.Error{Kind: broken.kind, Status: broken.status, Sent: broken.sent || broken.status == http.StatusOK, Err: broken.forLog(quote)}
	case errors.As(err, &lost):
		return &llm.Error{Kind: llm.Unreachable, Err: errors.New("the request could not be made")}
	}
	// The SDK could not read the answer. Its error may repeat parts of the answer.
	return &llm.Error{Kind: llm.Malformed, Status: http.StatusOK, Sent: true, Err: errors.New("the answer is not what the API answers")}
}

// forLog returns the fault for the log. Go's error may repeat unreadable parts of an answer.
func (f *fault) forLog(quote func(string) string) error {
	text := f.err.Error()
	if f.foreign {
		text = cmp.Or(quote(text), "the connection failed")
	}
	if word := quote(f.word); isName(word) {
		text += " (" + word + ")"
	}
	return errors.New(text)
}

// words describe the refusal in one line.
func (r *refusal) words(quote func(string) string) string {
	text := fmt.Sprintf("HTTP %d", r.status)
	for _, word := range []string{r.content.Type, r.content.Code, r.content.Param} {
		if word = quote(word); isName(word) {
			text += " " + word
		}
	}
	if r.status < 400 {
		return text + ": the address leads elsewhere, or to no API: set base_url to where it ends"
	}
	// An API may repeat a key that it does not know.
	if message := quote(r.content.Message); message != "" && r.kind() != llm.Denied {
		text += ": " + message
	}
	return text
}

// isName distinguishes names of errors and parameters from texts.
func isName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-[]", r)
	})
}

const (
	// maxQuoted limits how much of a server's message an error repeats, in bytes.
	maxQuoted = 300
	// run is how many bytes in a row a message may share with the question: enough for the
	// name of a parameter.
	run = 24
	// keyRun is the same limit for the key, so that no part of it is repeated.
	keyRun = 8
)

// quotable returns the part of a server's message that may be repeated: one line of it, or
// nothing if it repeats a part of the key or of the question.
func quotable(message, key string, q llm.Question) string {
	// The message is cut first, so that a long one costs no more than a short one.
	if len(message) > maxQuoted {
		message = message[:maxQuoted]
	}
	if shares(message, key, min(keyRun, len(key))) {
		return ""
	}
	for _, text := range []string{q.Text, q.Shared, q.System} {
		// A server may have escaped the question, or written it in one line.
		if shares(message, text, run) || shares(letters(escapes.Replace(message)), letters(text), run) {
			return ""
		}
	}
	return plaintext.Printable(message)
}

var escapes = strings.NewReplacer(`\\`, "", `\n`, "", `\r`, "", `\t`, "")

// letters are a text's letters and digits.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// shares reports whether n bytes in a row of message occur in text.
func shares(message, text string, n int) bool {
	for i := 0; n > 0 && i+n <= len(message); i++ {
		if strings.Contains(text, message[i:i+n]) {
			return true
		}
	}
	return false
}
