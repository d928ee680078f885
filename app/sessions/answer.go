package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

// The bounds of an answer. Longer texts are cut, and more issues are refused.
const (
	maxIssues      = 200
	maxDescription = 2000 // characters
	maxPath        = 1000 // characters
)

// InvalidError says what is wrong with an answer.
type InvalidError struct{ Errors []jsontree.Error }

// Error returns the first mistake.
func (e *InvalidError) Error() string {
	if len(e.Errors) == 0 {
		return "invalid"
	}
	first := e.Errors[0].Error()
	if more := len(e.Errors) - 1; more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}

// Answer accepts the answer to a request for a review. signature identifies the answer's signature. It is
// empty if the answer came with the request's token or in the response to the request. If an answer does
// not name its request, its signature is good for one request only. The errors are ports.ErrNotFound and
// *InvalidError.
func (k *Keeper) Answer(ctx context.Context, id string, raw []byte, signature string) (ports.AnswerOutcome, error) {
	q, err := k.Sessions.Request(ctx, id)
	if err == nil && q.Kind != ports.RequestReview {
		err = ports.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	answer, named, err := k.read(&q, raw)
	if err != nil {
		return "", err
	}
	if named {
		signature = ""
	}
	sum := sha256.Sum256(raw)
	outcome, err := k.Sessions.Answer(ctx, ports.RequestAnswer{ID: id, Answer: answer, Digest: hex.EncodeToString(sum[:]), Signature: signature})
	if err != nil {
		return "", fmt.Errorf("store the answer to request %s: %w", id, err)
	}
	k.Log.Info().Str("request", id).Str("agent", q.Agent).Str("verdict", string(answer.Verdict)).Str("outcome", string(outcome)).Msg("answer of a remote reviewer")
	return outcome, nil
}

// read reads a review result, which must come from the reviewer who was asked. named reports whether the
// result names its request.
func (k *Keeper) read(q *ports.SessionRequest, raw []byte) (a pipeline.SessionAnswer, named bool, err error) {
	r, wrong := fourrules.DecodeOne("the answer", raw)
	if len(wrong) > 0 {
		return a, false, &InvalidError{wrong}
	}
	refuse := func(field, problem, remedy string) error {
		return &InvalidError{[]jsontree.Error{r.Refuse(field, problem, remedy)}}
	}
	if r.Reviewer != q.Agent {
		return a, false, refuse("reviewer", fmt.Sprintf("the reviewer is %q, but %s was asked", plaintext.CutLine(k.Redact(r.Reviewer), 80), q.Agent), "write the name from the request")
	}
	if r.ID != "" && r.ID != q.ID {
		return a, false, refuse("id", "the id belongs to another request", "write the id from the request, or leave it out")
	}
	if len(r.Payload.Issues) > maxIssues {
		return a, false, refuse("payload", fmt.Sprintf("the answer has %d issues, more than the limit of %d", len(r.Payload.Issues), maxIssues), "send only the worst ones")
	}
	var body reviewRequest
	if err := json.Unmarshal(q.Body, &body); err != nil {
		return a, false, fmt.Errorf("decode request %s: %w", q.ID, err)
	}
	a = pipeline.SessionAnswer{
		Verdict: pipeline.SessionVerdict(r.Payload.Verdict), Summary: fourrules.Cut(k.Redact(r.Payload.Summary), body.MaxWords), At: k.Now().UTC(),
	}
	for _, x := range r.Payload.Issues {
		a.Issues = append(a.Issues, pipeline.SessionIssue{
			Severity: x.Severity, Description: plaintext.Cut(k.Redact(x.Description), maxDescription),
			File: plaintext.Cut(k.Redact(x.File), maxPath), Line: x.Line,
		})
	}
	return a, r.ID != "", nil
}

// Signer returns the secret with which the reviewer signs its answer to a request, or ports.ErrNotFound.
func (k *Keeper) Signer(ctx context.Context, id string) (secret []byte, err error) {
	q, err := k.Sessions.Request(ctx, id)
	if err != nil {
		return nil, err
	}
	_, secret, ok := k.Receiver(q.Agent)
	if !ok || q.Kind != ports.RequestReview {
		return nil, errors.Join(ports.ErrNotFound, errors.New("the server's config has no such reviewer"))
	}
	return secret, nil
}
