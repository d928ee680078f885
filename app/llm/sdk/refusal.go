package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
)

// refusal is an API's error instead of an answer: a status other than 200, or an error in the
// middle of a stream.
type refusal struct {
	status  int // of HTTP; in a stream, the one that the API has for it otherwise
	after   time.Duration
	content apiError
}

func (r *refusal) Error() string { return fmt.Sprintf("HTTP %d", r.status) }

// maxAfter limits how long an API may ask to wait.
const maxAfter = 24 * time.Hour

func readRefusal(resp *http.Response) *refusal {
	// An unreadable body counts as empty, because the status says what matters.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	return &refusal{status: resp.StatusCode, after: retryAfter(resp.Header, time.Now()), content: readAPIError(text)}
}

// retryAfter reads the headers in which both APIs say how long to wait: seconds, a date, or
// milliseconds in a header of OpenAI's.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return within(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return within(s * float64(time.Second))
	}
	if t, err := http.ParseTime(text); err == nil {
		return within(float64(t.Sub(now)))
	}
	return 0
}

func within(d float64) time.Duration {
	if math.IsNaN(d) || d < 0 {
		return 0
	}
	return time.Duration(min(d, float64(maxAfter)))
}

// apiError is the content of either API's error. Servers that speak OpenAI's API fill in less of
// it, and some use other names.
type apiError struct {
	Type, Code, Param, Message string
}

// readAPIError reads an error in any of these forms: {"error": {...}} from both APIs, {"error":
// "..."} (LM Studio), the parts without a wrapper (vLLM), or FastAPI's {"detail": "..." or
// [{"loc": [...], "msg": "..."}]} (Mistral).
func readAPIError(text []byte) apiError {
	var doc map[string]any
	if json.Unmarshal(text, &doc) != nil {
		return apiError{}
	}
	switch inner := doc["error"].(type) {
	case map[string]any:
		doc = inner
	case string:
		return apiError{Message: inner}
	}
	s := apiError{Type: str(doc["type"]), Code: str(doc["code"]), Param: str(doc["param"]), Message: str(doc["message"])}
	switch detail := doc["detail"].(type) {
	case string:
		s.Message = detail
	case []any:
		if len(detail) > 0 {
			first, _ := detail[0].(map[string]any)
			s.Type, s.Message = str(first["type"]), str(first["msg"])
			if loc, _ := first["loc"].([]any); len(loc) > 0 {
				s.Param = str(loc[len(loc)-1])
			}
		}
	}
	return s
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// kind returns the refusal's kind.
func (r *refusal) kind() llm.Kind {
	switch {
	case r.content.Type == "overloaded_error", r.status == 529: // Anthropic's own status
		return llm.Overloaded
	case r.says("insufficient_quota", "billing_hard_limit_reached", "credit balance is too low"):
		return llm.Denied // answered as 429 or 400, but neither waiting nor asking otherwise helps
	}
	switch r.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return llm.Denied
	case http.StatusTooManyRequests:
		return llm.Limited
	case http.StatusRequestEntityTooLarge:
		return llm.TooLong
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return llm.Unreachable
	}
	switch {
	case r.status >= 500:
		return llm.Unreachable
	case r.status < 400:
		return llm.Malformed // no API answers like this: a redirect, or nothing
	case r.says("context_length_exceeded", "exceed_context_size", "prompt is too long", "exceed context limit", "context length", "context window", "context size"):
		return llm.TooLong
	case r.says("content_filter", "content filter", "content management policy", "usage policy", "content_policy_violation"):
		return llm.Refused
	}
	return llm.Invalid
}

// late reports whether a server gave up waiting for the API, which may have answered: 504,
// and Cloudflare's 524.
func (r *refusal) late() bool { return r.status == http.StatusGatewayTimeout || r.status == 524 }

// says reports whether the error contains any of words, in lower case.
func (r *refusal) says(words ...string) bool {
	all := strings.ToLower(strings.Join([]string{r.content.Type, r.content.Code, r.content.Param, r.content.Message}, "\n"))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, w) })
}

// lacks reports whether the server says that it does not know a parameter of the request,
// under one of names. A wrong value or a wrong schema is different, because asking without it
// would hide the fault.
func (r *refusal) lacks(names ...string) bool {
	if r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
		return false
	}
	return r.says(names...) && !r.says("invalid schema") &&
		r.says("unsupported", "not support", "unknown", "unrecognized", "unrecognised", "unexpected", "not permitted",
			"not allowed", "unavailable", "not available", "must be one of", "must be 'text'", "extra_forbidden")
}

// streamed is the status of Anthropic's API for an error in the middle of a stream:
// https://platform.claude.com/docs/en/api/errors.
func streamed(content apiError) *refusal {
	status := map[string]int{
		"invalid_request_error": 400,
		"authentication_error":  401,
		"billing_error":         402,
		"permission_error":      403,
		"not_found_error":       404,
		"request_too_large":     413,
		"rate_limit_error":      429,
		"timeout_error":         504,
		"overloaded_error":      529,
	}[content.Type]
	if status == 0 {
		status = http.StatusInternalServerError // api_error, and unknown errors
	}
	return &refusal{status: status, content: content}
}
