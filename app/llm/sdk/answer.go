package sdk

import (
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/llm"
)

// maxTokens is the largest count that is believed: more than any model reads.
const maxTokens = 1 << 30

// tokens reads a count that an API gives.
func tokens(n int64) int { return int(min(max(n, 0), maxTokens)) }

// use corrects counts. Cached and stored tokens are two different parts of those that were
// read.
func use(input, cached, stored, output int64) llm.Use {
	u := llm.Use{Input: tokens(input), Cached: tokens(cached), Stored: tokens(stored), Output: tokens(output)}
	u.Cached = min(u.Cached, u.Input)
	u.Stored = min(u.Stored, u.Input-u.Cached)
	return u
}

var errStopped = errors.New("the model stopped for a reason that was not asked for")

// whole refuses an empty answer, and one that is not text.
func whole(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return &fault{kind: llm.Malformed, status: http.StatusOK, err: errors.New("the answer is empty")}
	case !utf8.ValidString(text):
		return &fault{kind: llm.Malformed, status: http.StatusOK, err: errors.New("the answer is not UTF-8")}
	}
	return nil
}

// isString refuses a JSON value that is not text. The SDKs would turn a list into its JSON.
func isString(text, raw string) error {
	if text == "" || strings.HasPrefix(raw, `"`) {
		return nil
	}
	return &fault{kind: llm.Malformed, status: http.StatusOK, err: errors.New("the answer has no text")}
}
