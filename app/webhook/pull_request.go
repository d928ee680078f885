package webhook

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/classify"
)

type pullRequestEvent struct {
	envelope
	PullRequest struct {
		Number    int       `json:"number"`
		State     string    `json:"state"`
		Merged    bool      `json:"merged"`
		UpdatedAt time.Time `json:"updated_at"`
		ClosedAt  time.Time `json:"closed_at"`
		User      *account  `json:"user"`
		Head      struct {
			SHA string `json:"sha"`
		} `json:"head"`
		Base struct {
			Ref string `json:"ref"`
		} `json:"base"`
	} `json:"pull_request"`
	Before string  `json:"before"`
	Sender account `json:"sender"`
	Label  struct {
		Name string `json:"name"`
	} `json:"label"`
	// Changes says what an edit changed: a field is set if its value changed.
	Changes struct {
		Title json.RawMessage `json:"title"`
		Body  json.RawMessage `json:"body"`
		Base  *struct {
			Ref struct {
				From string `json:"from"`
			} `json:"ref"`
		} `json:"base"`
	} `json:"changes"`
}

func (e *pullRequestEvent) read(d *ports.Delivery, _ int64) error {
	reason := e.reason()
	// Edits and labels of a closed pull request need no review.
	if e.Action != "closed" && (reason == "" || e.PullRequest.State == "closed") {
		return nil
	}
	t, err := e.about()
	if err != nil {
		return err
	}
	if e.Action == "closed" {
		d.Asks = append(d.Asks, ports.Close{Target: t, Merged: e.PullRequest.Merged, At: e.PullRequest.ClosedAt})
		return nil
	}
	ask := ports.ReviewAsk{Target: t, Reason: reason, Fresh: e.fresh(), At: e.PullRequest.UpdatedAt, Before: e.before()}
	if user := e.PullRequest.User; user != nil {
		ask.Author = max(0, user.ID)
	}
	if e.Action == "reopened" {
		ask.ReopenedAt = e.PullRequest.UpdatedAt
	}
	if e.Action == "labeled" || e.Action == "unlabeled" {
		ask.LabelsOnly, ask.TypeLabel = true, e.typeLabel()
	}
	if push := e.push(t); push != nil {
		d.Asks = append(d.Asks, *push)
	}
	d.Asks = append(d.Asks, ask)
	return nil
}

// typeLabel reports whether the label may decide a change's type. If the label itself was
// deleted, the event has no name for it.
func (e *pullRequestEvent) typeLabel() bool {
	return e.Label.Name == "" || classify.TypedByLabel(e.Label.Name)
}

// push returns who sent the head. It is nil if the event does not say so, or names an App:
// nobody knows for whom the App pushed. Reopening a pull request is not a push, and others
// may have pushed while it was closed. A change of the base is not a push either, but it
// brings in the commits that only the old base had.
func (e *pullRequestEvent) push(t ports.Target) *ports.Push {
	if e.Action == "edited" && e.Changes.Base != nil {
		from, to := e.Changes.Base.Ref.From, e.PullRequest.Base.Ref
		if !branchName.MatchString(from) || !branchName.MatchString(to) {
			from, to = "", ""
		}
		return &ports.Push{Target: t, Retargeted: true, FromBase: from, ToBase: to}
	}
	opened, pushed := e.Action == "opened", e.Action == "synchronize" && e.before() != ""
	if !opened && !pushed || e.Sender.Type != "User" || !ownerLogin.MatchString(e.Sender.Login) {
		return nil
	}
	return &ports.Push{Target: t, Before: e.before(), Sender: e.Sender.Login, SenderID: e.Sender.ID}
}

// before returns the head that a push replaced, or "" if there is none or it is malformed.
func (e *pullRequestEvent) before() string {
	if e.Action != "synchronize" || !commitSHA.MatchString(e.Before) {
		return ""
	}
	return e.Before
}

func (e *pullRequestEvent) about() (ports.Target, error) {
	t, err := e.target()
	t.Kind = ports.TargetPull
	t.Number = e.PullRequest.Number
	t.HeadSHA = e.PullRequest.Head.SHA
	return t, errors.Join(err,
		positive("pull_request.number", int64(t.Number)),
		matching("pull_request.head.sha", commitSHA, t.HeadSHA),
	)
}

// reason says in words why the action asks for a review. It returns "" if it doesn't.
func (e *pullRequestEvent) reason() string {
	switch e.Action {
	case "opened":
		return "opened"
	case "reopened":
		return "reopened"
	case "synchronize":
		return "new commits"
	case "ready_for_review":
		return "ready for review"
	case "converted_to_draft":
		return "converted to draft"
	case "labeled":
		return "label added"
	case "unlabeled":
		return "label removed"
	case "edited":
		return e.edited()
	}
	return ""
}

// fresh reports whether the earlier result must be replaced while the review runs: it
// was about another base, or may have been written while the pull request was closed.
func (e *pullRequestEvent) fresh() bool {
	return e.Action == "edited" && e.Changes.Base != nil || e.Action == "reopened"
}

func (e *pullRequestEvent) edited() string {
	var what []string
	if e.Changes.Title != nil {
		what = append(what, "title edited")
	}
	if e.Changes.Body != nil {
		what = append(what, "description edited")
	}
	if e.Changes.Base != nil {
		what = append(what, "base changed")
	}
	return strings.Join(what, ", ")
}
