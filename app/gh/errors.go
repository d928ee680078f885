package gh

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// answerError is an answer without success.
type answerError struct {
	status     int
	retryAfter time.Duration
	message    string
	tooLarge   bool
}

func (e *answerError) Error() string {
	s := fmt.Sprintf("GitHub answered %d %s", e.status, http.StatusText(e.status))
	if e.message != "" {
		s += ": " + e.message
	}
	return s
}

// readError reads an answer without success.
func readError(resp *http.Response) *answerError {
	a := &answerError{status: resp.StatusCode}
	if after, ok := retryAfter(resp.Header, time.Now()); ok {
		a.retryAfter = after
	}
	if a.status == http.StatusAccepted {
		a.message = "not ready yet"
		return a
	}
	// An unreadable body counts as empty: the status determines the kind.
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	var body github.ErrorResponse
	_ = json.Unmarshal(text, &body) // a proxy's page is not JSON, and leaves it empty
	a.message = details(body.Message, body.Errors)
	a.tooLarge = slices.ContainsFunc(body.Errors, func(e github.Error) bool { return e.Code == "too_large" })
	return a
}

// details joins GitHub's message with its messages about single fields.
func details(message string, fields []github.Error) string {
	parts := []string{message}
	for _, f := range fields[:min(len(fields), 5)] {
		text := f.Message
		if text == "" {
			text = strings.TrimSpace(strings.Join([]string{f.Resource, f.Field, f.Code}, " "))
		}
		parts = append(parts, text)
	}
	return clean(strings.Join(parts, "; "))
}

// hostError turns an error into a *ports.HostError of the right kind. It returns nil for
// nil.
func hostError(op string, err error) error {
	var known *ports.HostError
	var limited *limitError
	var spent *budgetError
	var token *ghinstallation.HTTPError
	var answer *answerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &limited):
		return &ports.HostError{Op: op, Kind: ports.HostLimited, Status: limited.status, RetryAfter: limited.after, Err: limited}
	case errors.As(err, &spent):
		return &ports.HostError{Op: op, Kind: ports.HostBudget, Err: spent}
	case errors.As(err, &token) && token.Response != nil:
		return tokenError(op, token.Response)
	case errors.As(err, &answer):
		return &ports.HostError{Op: op, Kind: kindOf(answer.status), Status: answer.status, RetryAfter: answer.retryAfter, Err: answer}
	}
	// An error of the transport, a timeout, broken JSON, or the caller's context.
	return &ports.HostError{Op: op, Kind: ports.HostTransient, Err: err}
}

// tokenError explains why GitHub gave no token for the installation. Every other call
// needs the token first, so a 404 here says nothing about the object of that call. It
// means that the App has no access.
func tokenError(op string, resp *http.Response) error {
	defer resp.Body.Close() // left open by ghinstallation
	a := readError(resp)
	kind, why := kindOf(a.status), ""
	switch a.status {
	case http.StatusUnauthorized:
		why = "GitHub does not take the App's ID and private key"
	case http.StatusForbidden:
		why = "the App may not act for the installation"
		if strings.Contains(strings.ToLower(a.message), "suspended") {
			why = "the App's installation is suspended"
		}
	case http.StatusNotFound:
		kind, why = ports.HostForbidden, "the App is not installed there any more"
	case http.StatusUnprocessableEntity:
		kind, why = ports.HostForbidden, "the installation does not cover the repository, or lacks a permission"
	}
	err := fmt.Errorf("get a token for the installation: %w", a)
	if why != "" {
		err = fmt.Errorf("%s: %w", why, err)
	}
	return &ports.HostError{Op: op, Kind: kind, Status: a.status, RetryAfter: a.retryAfter, Err: err}
}

// kindOf returns the kind of a status that is neither a success nor a rate limit.
func kindOf(status int) ports.HostKind {
	switch {
	case status >= 500 || status < 400 || status == http.StatusRequestTimeout:
		// Below 400 are 202, "not ready yet", and redirects without a destination.
		return ports.HostTransient
	case status == http.StatusNotFound || status == http.StatusGone || status == http.StatusUnavailableForLegalReasons:
		return ports.HostNotFound
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return ports.HostForbidden
	}
	return ports.HostInvalid
}

func isNotFound(err error) bool {
	var host *ports.HostError
	return errors.As(err, &host) && host.Kind == ports.HostNotFound
}

// clean shortens a message to one printable line for a log or a comment.
func clean(s string) string { return plaintext.Cut(plaintext.Printable(s), 300) }
