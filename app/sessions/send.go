package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

const (
	// firstWait is how long a request waits before it is sent again, doubled each time up to
	// longestWait.
	firstWait   = 2 * time.Second
	longestWait = time.Minute
	// maxInvalid is how often, at most, a request is sent to a reviewer whose answers are invalid.
	maxInvalid = 3
	// maxNote bounds the note on a failed request, in characters.
	maxNote = 200
)

// Work sends a request. It tries again with the same id while that can help and the deadline has not
// passed. If the response to a request for a review has a body, that is the answer.
func (k *Keeper) Work(ctx context.Context, job ports.RequestJob, attempt int) error {
	q, err := k.Sessions.Request(ctx, job.ID)
	if errors.Is(err, ports.ErrNotFound) {
		return nil // its pull request was deleted
	}
	if err != nil {
		return fmt.Errorf("read request %s: %w", job.ID, err)
	}
	if q.State != ports.RequestOpen {
		return nil // answered before it was sent again
	}
	if moot, err := k.moot(ctx, &q); err != nil || moot {
		return err
	}
	to, secret, ok := k.Receiver(q.Agent)
	if !ok {
		return k.Sessions.EndRequest(ctx, q.ID, false, "the server's config has no such receiver")
	}
	body, err := k.signable(&q)
	if err != nil {
		return err
	}
	response, err := k.Send(ctx, to, secret, q.ID, body)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err() // the queue keeps the job
	case err != nil:
		return k.unsent(ctx, &q, attempt, err)
	case q.Kind != ports.RequestReview:
		return k.Sessions.EndRequest(ctx, q.ID, true, "")
	case response.Status == http.StatusAccepted || len(bytes.TrimSpace(response.Body)) == 0:
		return nil // the answer comes later
	}
	_, err = k.Answer(ctx, q.ID, response.Body, "")
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	note := plaintext.CutLine(k.Redact("the answer is not a review result: "+invalid.Error()), maxNote)
	if attempt < maxInvalid && k.Now().Before(q.Deadline) {
		return &ports.RetryError{After: wait(attempt), Err: errors.New(note)}
	}
	return k.Sessions.EndRequest(ctx, q.ID, false, note)
}

// moot reports whether the answer to a request for a review is no longer needed: the target is closed,
// another cycle has begun, or the cycle's reviewers were asked about another head. It then ends the
// request. It ignores the head of the newest delivery, since deliveries come late and in any order.
func (k *Keeper) moot(ctx context.Context, q *ports.SessionRequest) (bool, error) {
	state, row, err := k.rows(ctx, q.Key)
	if errors.Is(err, ports.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	jobcontext.Of(ctx).SetAbout(state.Target)
	old := state.Closed || q.Cycle != 0 && (q.Cycle != row.Cycle.Number || q.HeadSHA != row.HeadSHA)
	if q.Kind != ports.RequestReview || !old {
		return false, nil
	}
	return true, k.Sessions.EndRequest(ctx, q.ID, false, "the request was dropped, because the pull request has moved on")
}

// signable returns the body of a request with the token for its answer.
func (k *Keeper) signable(q *ports.SessionRequest) ([]byte, error) {
	if q.Kind != ports.RequestReview {
		return q.Body, nil
	}
	var body reviewRequest
	if err := json.Unmarshal(q.Body, &body); err != nil {
		return nil, fmt.Errorf("decode request %s: %w", q.ID, err)
	}
	body.ResultsToken = k.Token(q.ID)
	return encode(body), nil
}

// unsent tries a request again later, or gives it up.
func (k *Keeper) unsent(ctx context.Context, q *ports.SessionRequest, attempt int, err error) error {
	var again interface {
		Temporary() bool
		RetryAfter() time.Duration
	}
	after := wait(attempt)
	temporary := errors.As(err, &again) && again.Temporary()
	if temporary {
		after = max(after, again.RetryAfter())
	}
	note := plaintext.CutLine(k.Redact(err.Error()), maxNote)
	if temporary && k.Now().Add(after).Before(q.Deadline) {
		return &ports.RetryError{After: after, Err: errors.New(note)}
	}
	k.Log.Warn().Str("request", q.ID).Str("agent", q.Agent).Str("error", note).Msg("request to a remote reviewer given up")
	return k.Sessions.EndRequest(ctx, q.ID, false, note)
}

// wait returns how long a request waits after this many attempts.
func wait(attempt int) time.Duration {
	return min(firstWait<<min(max(attempt-1, 0), 10), longestWait)
}
