package gh

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/review"
)

// answerError is an answer that is no success.
type answerError struct {
	status     int
	retryAfter time.Duration
	message    string
}

func (e *answerError) Error() string {
	s := fmt.Sprintf("GitHub answered %d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		s += ": " + e.message
	}
	return s
}

// hostError says what kind of trouble an error is. It returns nil for nil.
func hostError(op string, err error) error {
	var known *review.HostError
	var limited *limitError
	var primary *github.RateLimitError
	var token *ghinstallation.HTTPError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &limited):
		return &review.HostError{Op: op, Kind: review.HostLimited, Status: limited.status, RetryAfter: limited.after, Err: limited}
	case errors.As(err, &primary):
		after := clampWait(time.Until(primary.Rate.Reset.Time))
		return &review.HostError{Op: op, Kind: review.HostLimited, RetryAfter: after, Err: &limitError{after: after, message: primary.Message}}
	case errors.As(err, &token) && token.Response != nil:
		return tokenError(op, token.Response)
	}
	if a := answerOf(err); a != nil {
		return &review.HostError{Op: op, Kind: kindOf(a.status), Status: a.status, RetryAfter: a.retryAfter, Err: a}
	}
	// Transport, timeouts, broken JSON, or the caller's context.
	return &review.HostError{Op: op, Kind: review.HostTransient, Err: err}
}

// tokenError is trouble with the installation's token, which every other call
// needs first.
func tokenError(op string, resp *http.Response) error {
	if limited, _ := refusal(resp); limited != nil {
		resp.Body.Close()
		return hostError(op, limited)
	}
	defer resp.Body.Close() // left open by ghinstallation
	// What can't be read counts as empty: the status tells the kind.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	a := &answerError{status: resp.StatusCode, message: messageOf(text)}
	kind := kindOf(a.status)
	if a.status == http.StatusUnprocessableEntity {
		// The repository is not, or no longer, among the installation's.
		kind = review.HostForbidden
	}
	err := fmt.Errorf("get a token for the installation: %w", a)
	return &review.HostError{Op: op, Kind: kind, Status: a.status, Err: err}
}

// kindOf sorts statuses that are no success and no rate limit.
func kindOf(status int) review.HostKind {
	switch {
	case status >= 500 || status < 400 || status == http.StatusRequestTimeout:
		// Below 400 are 202, "not ready yet", and redirects that led nowhere.
		return review.HostTransient
	case status == http.StatusNotFound || status == http.StatusGone || status == http.StatusUnavailableForLegalReasons:
		return review.HostNotFound
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return review.HostForbidden
	}
	return review.HostInvalid
}

// answerOf finds the answer in go-github's errors.
func answerOf(err error) *answerError {
	var plain *github.ErrorResponse
	var otp *github.TwoFactorAuthError
	var later *github.AcceptedError
	switch {
	case errors.As(err, &plain):
	case errors.As(err, &otp):
		plain = (*github.ErrorResponse)(otp)
	case errors.As(err, &later):
		return &answerError{status: http.StatusAccepted, message: "not ready yet"}
	default:
		return nil
	}
	a := &answerError{status: plain.Response.StatusCode, message: details(plain.Message, plain.Errors)}
	if after, ok := waitFrom(plain.Response.Header, time.Now()); ok {
		a.retryAfter = after
	}
	return a
}

// details joins GitHub's message with what it says of single fields.
func details(message string, fields []github.Error) string {
	parts := []string{message}
	for _, f := range fields[:min(len(fields), 5)] {
		said := f.Message
		if said == "" {
			said = strings.TrimSpace(strings.Join([]string{f.Resource, f.Field, f.Code}, " "))
		}
		parts = append(parts, said)
	}
	return clean(strings.Join(parts, "; "))
}

func messageOf(text []byte) string {
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &said) != nil {
		return "" // a proxy's page, say
	}
	return clean(said.Message)
}

// clean makes a message fit for one line of a log or a comment.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "..."
	}
	return strings.TrimSpace(s)
}
