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

// refusal is how an API says that it has no answer: by a status other than 200, or
// in the middle of a stream.
type refusal struct {
	status int // of HTTP; in a stream, the one that the API has for it otherwise
	after  time.Duration
	said   said
}

func (r *refusal) Error() string { return fmt.Sprintf("HTTP %d", r.status) }

// maxAfter bounds how long an API may ask to be left alone.
const maxAfter = 24 * time.Hour

func readRefusal(resp *http.Response) *refusal {
	// What can't be read is as good as not said: the status says what matters.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	return &refusal{status: resp.StatusCode, after: retryAfter(resp.Header, time.Now()), said: readSaid(text)}
}

// retryAfter reads the headers by which both APIs say how long to wait: seconds or
// a date, or milliseconds in one of OpenAI's own.
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

// said is what stands in an error of either API. Servers that speak OpenAI's fill
// less of it, and some call the parts otherwise.
type said struct {
	Type, Code, Param, Message string
}

// readSaid reads what it finds: {"error": {...}} as both APIs write it,
// {"error": "..."} (LM Studio), the parts without a wrap (vLLM), or FastAPI's
// {"detail": "..." or [{"loc": [...], "msg": "..."}]} (Mistral).
func readSaid(text []byte) said {
	var doc map[string]any
	if json.Unmarshal(text, &doc) != nil {
		return said{}
	}
	switch inner := doc["error"].(type) {
	case map[string]any:
		doc = inner
	case string:
		return said{Message: inner}
	}
	s := said{Type: str(doc["type"]), Code: str(doc["code"]), Param: str(doc["param"]), Message: str(doc["message"])}
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

// kind says what of the kinds it is.
func (r *refusal) kind() llm.Kind {
	switch {
	case r.said.Type == "overloaded_error", r.status == 529: // Anthropic's own status
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
		return llm.Malformed // no API answers so: a redirect, or nothing
	case r.says("context_length_exceeded", "exceed_context_size", "prompt is too long", "exceed context limit", "context length", "context window", "context size"):
		return llm.TooLong
	case r.says("content_filter", "content filter", "content management policy", "usage policy", "content_policy_violation"):
		return llm.Refused
	}
	return llm.Invalid
}

// late reports whether a server gave up waiting for the API, which may have
// answered: 504, and 524 of Cloudflare's.
func (r *refusal) late() bool { return r.status == http.StatusGatewayTimeout || r.status == 524 }

// says reports whether any of words, in lower case, stands in what was said.
func (r *refusal) says(words ...string) bool {
	all := strings.ToLower(strings.Join([]string{r.said.Type, r.said.Code, r.said.Param, r.said.Message}, "\n"))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, w) })
}

// lacks reports whether the server says that it does not know something of the
// request, and calls it by one of names. That a value is wrong, or the schema, is
// something else: asking without would hide it.
func (r *refusal) lacks(names ...string) bool {
	if r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
		return false
	}
	return r.says(names...) && !r.says("invalid schema") &&
		r.says("unsupported", "not support", "unknown", "unrecognized", "unrecognised", "unexpected", "not permitted",
			"not allowed", "unavailable", "not available", "must be one of", "must be 'text'", "extra_forbidden")
}

// streamed is the status that Anthropic's API has for an error that it tells in
// the middle of a stream: https://platform.claude.com/docs/en/api/errors.
func streamed(s said) *refusal {
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
	}[s.Type]
	if status == 0 {
		status = http.StatusInternalServerError // api_error, and what is not known yet
	}
	return &refusal{status: status, said: s}
}
