package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/app/ports"
)

// event is the payload of an event that may ask for something.
type event interface {
	base() *envelope
	// requireAction returns an error if the payload lacks the action that it is routed by.
	requireAction() error
	// read adds to the delivery what the event asks for. app is the ID of our App.
	read(d *ports.Delivery, app int64) error
}

// events has a row for each event that may ask for something.
var events = map[string]func() event{
	"pull_request":                payload[pullRequestEvent],
	"issue_comment":               payload[issueCommentEvent],
	"pull_request_review":         payload[reviewEvent],
	"pull_request_review_comment": payload[reviewEvent],
	"check_run":                   payload[checkRunEvent],
	"check_suite":                 payload[checkSuiteEvent],
	"code_scanning_alert":         payload[alertEvent],
	"merge_group":                 payload[mergeGroupEvent],
	"push":                        payload[pushEvent],
	"installation":                payload[installationEvent],
	"installation_repositories":   payload[installationEvent],
	"repository":                  payload[repositoryEvent],
	"repository_dispatch":         payload[dispatchEvent],
}

// payload returns an empty payload of the type E.
func payload[E any, P interface {
	*E
	event
}]() event {
	return P(new(E))
}

// read fills in what the event's payload asks for.
func (h *Handler) read(d *ports.Delivery, body []byte) error {
	empty, ok := events[d.Event]
	if !ok {
		return readOther(d, body)
	}
	e := empty()
	if err := decode(body, e); err != nil {
		return err
	}
	e.base().apply(d)
	if err := e.requireAction(); err != nil {
		return err
	}
	err := e.read(d, h.AppID)
	if p, ok := e.(interface{ about() (ports.Target, error) }); ok {
		if t, err := p.about(); err == nil {
			d.About = t
		}
	}
	return err
}

// envelope is what every event of an installation carries.
type envelope struct {
	Action       string `json:"action"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	Repository repository `json:"repository"`
}

type repository struct {
	ID            int64   `json:"id"`
	Name          string  `json:"name"`
	Owner         account `json:"owner"`
	DefaultBranch string  `json:"default_branch"`
}

type account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// ghost is the account that GitHub shows instead of a deleted one. In payloads a deleted
// account may be null.
const ghost = "ghost"

// author returns the account that opened a pull request, or ghost for null.
func (a *account) author() account {
	if a == nil {
		return account{Login: ghost}
	}
	return *a
}

func (e *envelope) base() *envelope { return e }

// requireAction implements event.
func (e *envelope) requireAction() error {
	if e.Action == "" {
		return errors.New("action is missing")
	}
	return nil
}

// apply copies the fields that are recorded for every delivery, even if nothing is done
// for it.
func (e *envelope) apply(d *ports.Delivery) {
	d.Action = recordable(e.Action, maxAction)
	d.Installation = max(e.Installation.ID, 0)
	d.RepoID = max(e.Repository.ID, 0)
	if t, err := e.target(); err == nil {
		d.About = t
	}
}

// target returns a target with the payload's repository. It fails if a required field
// is missing or malformed.
func (e *envelope) target() (ports.Target, error) {
	t := ports.Target{
		Installation: e.Installation.ID,
		RepoID:       e.Repository.ID,
		Owner:        e.Repository.Owner.Login,
		Name:         e.Repository.Name,
	}
	return t, errors.Join(
		positive("installation.id", t.Installation),
		positive("repository.id", t.RepoID),
		matching("repository.owner.login", ownerLogin, t.Owner),
		repositoryName(t.Name),
	)
}

// readOther records an event that the App does nothing for. The payload must be a JSON
// object, but its fields may have any types.
func readOther(d *ports.Delivery, body []byte) error {
	var e envelope
	err := decode(body, &e)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) && wrongType.Field != "" {
		err = nil
	}
	e.apply(d)
	return err
}

// decode reads a payload. It skips unknown fields, since GitHub often adds new ones.
func decode(body []byte, into any) error {
	if b := bytes.TrimLeft(body, " \t\r\n"); len(b) == 0 || b[0] != '{' {
		return errors.New("the payload is not a JSON object")
	}
	err := json.Unmarshal(body, into)
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType):
		return &payloadError{fmt.Sprintf("%s has the wrong type: %s", strings.TrimPrefix(wrongType.Field, "envelope."), wrongType.Value), err}
	case errors.As(err, &syntax):
		return &payloadError{fmt.Sprintf("the payload is not valid JSON (byte %d)", syntax.Offset), err}
	case err != nil:
		return &payloadError{"the payload can't be read", err}
	}
	return nil
}

// payloadError tells the sender what is wrong with a payload.
type payloadError struct {
	what  string
	cause error
}

func (e *payloadError) Error() string { return e.what }
func (e *payloadError) Unwrap() error { return e.cause }

var (
	// Letters, digits and single hyphens; enterprise-managed accounts add an
	// underscore.
	ownerLogin = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	// Logins of apps end in [bot].
	userLogin = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?$`)
	repoName  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	commitSHA = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

func positive(field string, n int64) error {
	if n <= 0 {
		return fmt.Errorf("%s is missing or not positive", field)
	}
	return nil
}

func matching(field string, pattern *regexp.Regexp, value string) error {
	if !pattern.MatchString(value) {
		return fmt.Errorf("%s is missing or malformed", field)
	}
	return nil
}

func repositoryName(name string) error {
	if name == "." || name == ".." {
		return errors.New("repository.name is malformed")
	}
	return matching("repository.name", repoName, name)
}

// maxAction bounds an action's name, in characters. The sender of a
// repository_dispatch event chooses its action freely.
const maxAction = 100

// recordable makes a text safe to log and to store in any database, and cuts
// it to at most n characters.
func recordable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if r := []rune(s); len(r) > n {
		s = string(r[:n])
	}
	return s
}
