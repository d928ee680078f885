package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// maxRequests bounds the requests of a target that a review looks at.
const maxRequests = 200

// maxOutdated bounds the outdated answers that a report shows.
const maxOutdated = 5

// reviewRequest is the body of a request for a review. The schema is that of the field "type".
type reviewRequest struct {
	Type       string            `json:"type"` // ports.RequestReview
	ID         string            `json:"id"`
	Repository string            `json:"repository"`
	Number     int               `json:"number"`
	BaseSHA    string            `json:"base_sha"`
	HeadSHA    string            `json:"head_sha"`
	ResultsURL string            `json:"results_url"`
	Reviewer   string            `json:"reviewer"`
	Targets    []string          `json:"targets"`
	Context    map[string]string `json:"context"` // what each agent reports, by "<agent>_summary"
	Files      []string          `json:"files,omitempty"`
	FocusAreas []string          `json:"focus_areas"`
	MaxWords   int               `json:"max_words"`
	// ResultsToken is added when the request is sent. It is not stored.
	ResultsToken string `json:"results_token,omitempty"`
}

// Asking is a review that asks the reviewers of its manifest. Without a manifest it asks nobody.
type Asking struct {
	Lease    ports.Lease
	Facts    *pipeline.PRFacts
	Manifest *pipeline.AgentManifest
	Config   *config.Config
	// Again asks reviewers once more if their requests about this head have failed.
	Again bool
}

// Ask asks those remote reviewers of a review's manifest who were not asked about this head yet. It
// returns what is known about the session, or nil if there is neither a session nor a remote reviewer.
func (k *Keeper) Ask(ctx context.Context, a Asking) (*pipeline.Session, error) {
	row, err := k.Sessions.Session(ctx, a.Lease.Key)
	if err != nil && !errors.Is(err, ports.ErrNotFound) {
		return nil, fmt.Errorf("read the session: %w", err)
	}
	s := &pipeline.Session{Before: row.State, Resumes: row.Resumes, Resumed: row.Resumed, Targets: row.Cycle.Targets}
	if a.Manifest == nil {
		return s, nil
	}
	var requests []ports.SessionRequest
	head, number := a.Facts.Head.SHA, 0
	deadline := k.Now().Add(k.minutes(a.Config.Settings.Sessions.Deadline))
	for _, id := range outsideSessions(a.Config, a.Manifest) {
		requests = append(requests, k.request(a, id, nil, deadline))
	}
	if row.Running || row.Cycle.Number > 0 && row.HeadSHA == head {
		cycle := row.Cycle
		s.Cycle = &cycle
	}
	if row.Running {
		number = row.Cycle.Number
		for _, id := range inSessions(a.Config, a.Manifest, s.Cycle) {
			requests = append(requests, k.request(a, id, s.Cycle, deadline))
		}
	}
	if row.Key == "" && len(requests) == 0 {
		return nil, nil //nolint:nilerr // there is no session
	}
	current, err := k.Sessions.AskReviewers(ctx, a.Lease, number, head, deadline, requests)
	if err != nil {
		return nil, fmt.Errorf("store the requests to reviewers: %w", err)
	}
	all, err := k.Sessions.Requests(ctx, a.Lease.Key, maxRequests)
	if err != nil {
		return nil, fmt.Errorf("read the answers of reviewers: %w", err)
	}
	k.choose(s, current, all, head)
	return s, nil
}

// choose fills in who was asked about the head: the current requests, and for any other reviewer of
// sessions its newest answer about this head, whose findings still apply. Answers that came after the
// head or the cycle had changed are outdated.
func (k *Keeper) choose(s *pipeline.Session, current, all []ports.SessionRequest, head string) {
	newest := 0
	for i := range current {
		s.Asked = append(s.Asked, asked(&current[i]))
		newest = max(newest, current[i].Cycle)
	}
	if s.Cycle != nil {
		newest = s.Cycle.Number
	}
	for i := range all { // the newest first
		q := &all[i]
		switch {
		case !q.Session || q.Cycle == newest && q.HeadSHA == head:
		case q.Outdated && q.Cycle >= newest-1 && len(s.Outdated) < maxOutdated:
			s.Outdated = append(s.Outdated, asked(q))
		case q.HeadSHA == head && q.Answer != nil && !q.Outdated && s.Of(q.Agent) == nil:
			s.Asked = append(s.Asked, asked(q))
		}
	}
	slices.SortFunc(s.Asked, compareAsked)
	slices.SortFunc(s.Outdated, compareAsked)
}

func compareAsked(a, b pipeline.AskedReviewer) int {
	return cmp.Or(strings.Compare(a.Reviewer, b.Reviewer), cmp.Compare(b.Cycle, a.Cycle), strings.Compare(a.HeadSHA, b.HeadSHA))
}

// asked returns the part of a request that a review reads.
func asked(q *ports.SessionRequest) pipeline.AskedReviewer {
	a := pipeline.AskedReviewer{
		Reviewer: q.Agent, State: pipeline.AskedWaiting, Note: q.Note, Session: q.Session, Late: q.Late,
		HeadSHA: q.HeadSHA, Cycle: q.Cycle, Deadline: q.Deadline,
	}
	switch {
	case q.Answer != nil:
		a.State, a.Answer, a.Note = pipeline.AskedAnswered, q.Answer, ""
	case q.State == ports.RequestFailed:
		a.State = pipeline.AskedMissing
	}
	return a
}

// request makes a request to a reviewer. c is its cycle, or nil for a request outside of sessions, which
// is about the work of the pull request's author.
func (k *Keeper) request(a Asking, reviewer string, c *pipeline.SessionCycle, deadline time.Time) ports.SessionRequest {
	f, set := a.Facts, &a.Config.Settings.Sessions
	id := newID()
	body := reviewRequest{
		Type: string(ports.RequestReview), ID: id, Repository: f.Repository.FullName(), Number: f.Number, BaseSHA: f.Base.SHA, HeadSHA: f.Head.SHA,
		ResultsURL: k.PublicURL + "/api/v1/results/" + id, Reviewer: reviewer,
		Targets: []string{f.Author.Login}, Context: map[string]string{}, FocusAreas: set.FocusAreas, MaxWords: set.MaxWords,
	}
	q := ports.SessionRequest{
		ID: id, Kind: ports.RequestReview, Key: a.Lease.Key, HeadSHA: f.Head.SHA, Agent: reviewer,
		AskedAt: k.Now(), Deadline: deadline, Again: a.Again,
	}
	if c != nil {
		q.Cycle, q.Session = c.Number, true
		body.Targets, body.Files, body.FocusAreas, body.MaxWords = c.Targets, c.Files, c.FocusAreas, c.MaxWords
		for _, s := range c.Context {
			body.Context[s.Agent+"_summary"] = s.Text
		}
	}
	if body.Targets == nil {
		body.Targets = []string{}
	}
	q.Body = encode(body)
	return q
}

func newID() string { return strings.ToLower(rand.Text()) }

// encode returns the body of a request as JSON. It can't fail: bodies are plain structs.
func encode(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}
