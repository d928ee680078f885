package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Problem is the answer to a request that failed, in the form of RFC 9457.
type Problem struct {
	Type   string `json:"type"`  // a URI with an explanation, or about:blank
	Title  string `json:"title"` // the same for every problem of the type
	Status int    `json:"status"`
	Detail string `json:"detail"` // what is wrong here, and what to do about it
	// Errors lists the mistakes in the request's body, each with its place.
	Errors []Mistake `json:"errors,omitempty"`

	retryAfter time.Duration // 0 means no header
	allow      string        // the methods of the path
	challenge  string        // for WWW-Authenticate
}

// Mistake is a mistake in the body of a request.
type Mistake struct {
	Pointer string `json:"pointer"` // a JSON Pointer; empty means the whole body
	Detail  string `json:"detail"`
}

// docs is the page that explains the problems.
const docs = "https://github.com/reviewgate/reviewgate/blob/main/docs/api.md#"

// kind is a kind of problem with an explanation: its anchor on the page, and its title.
type kind struct{ anchor, title string }

// These are all the kinds of problem with an explanation.
var (
	kindBody     = kind{"invalid-body", "The body is not valid"}
	kindToken    = kind{"no-valid-token", "There is no valid token"}
	kindForbids  = kind{"the-token-forbids-it", "The token does not allow this"}
	kindClosed   = kind{"the-pull-request-is-closed", "The pull request is closed"}
	kindOff      = kind{"reviewgate-is-off", "Reviewgate is off"}
	kindOther    = kind{"the-id-is-taken", "The event's id is taken"}
	kindAnswered = kind{"the-answer-conflicts", "The answer conflicts with another one"}
	kindMany     = kind{"too-many-requests", "There are too many requests"}
	kindLater    = kind{"try-again-later", "The server can't do this now"}
)

// kinds lists all the kinds, for the test of the page.
var kinds = []kind{kindBody, kindToken, kindForbids, kindClosed, kindOff, kindOther, kindAnswered, kindMany, kindLater}

func (k kind) problem(status int, detail string, args ...any) *Problem {
	return &Problem{Type: docs + k.anchor, Title: k.title, Status: status, Detail: fmt.Sprintf(detail, args...)}
}

// plain returns a problem that its status explains.
func plain(status int, detail string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(detail, args...)}
}

func (p *Problem) after(d time.Duration) *Problem {
	p.retryAfter = d
	return p
}

// unauthorized returns the refusal of a request without a valid token.
func unauthorized(detail string, args ...any) *Problem {
	p := kindToken.problem(http.StatusUnauthorized, detail, args...)
	p.challenge = `Bearer realm="reviewgate"`
	return p
}

// Problems that occur in several places, so that all of these use the same words.
func noPull() *Problem {
	return plain(http.StatusNotFound, "The token's repository has no such pull request, or the App can't read it. Check the owner, the name and the number.")
}

func busy() *Problem {
	return kindLater.problem(http.StatusServiceUnavailable, "The server is already answering as many requests as it can at a time. Send this one again.").after(time.Second)
}

func failed() *Problem {
	return plain(http.StatusInternalServerError, "The server could not do this, and its log has the reason. Send the same request again later; that is safe.")
}

// An answer lists at most maxMistakes, each with at most maxMistake characters.
const (
	maxMistakes = 20
	maxMistake  = 300
)

// mistakesOf lists the errors in a body for its sender.
func mistakesOf(wrong []jsontree.Error) []Mistake {
	var out []Mistake
	for _, e := range wrong[:min(len(wrong), maxMistakes)] {
		detail := fmt.Sprintf("line %d, column %d: %s; %s", e.Line, e.Column, e.Problem, e.Remedy)
		if e.Pointer == "" || strings.HasPrefix(e.Problem, "the file") { // the parser calls it a file
			detail = strings.ReplaceAll(detail, "the file", "the body")
		}
		out = append(out, Mistake{
			Pointer: plaintext.Cut(e.Pointer, maxMistake),
			Detail:  plaintext.Cut(plaintext.Printable(detail), maxMistake),
		})
	}
	return out
}

// invalid returns the refusal of a body. The status is 400 if the body is not JSON, and 422 if its
// content is wrong.
func invalid(status int, mistakes []Mistake) *Problem {
	p := kindBody.problem(status, "The body has %s. Fix the mistakes that errors lists, and send it again.", plaintext.Count(len(mistakes), "mistake"))
	if len(mistakes) == maxMistakes {
		p.Detail = fmt.Sprintf("The body has %d mistakes or more. Fix the mistakes that errors lists, and send it again.", maxMistakes)
	}
	p.Errors = mistakes
	return p
}
