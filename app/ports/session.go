package ports

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// SessionEvent is what an agent, or a person with /review, reports about a pull request.
type SessionEvent struct {
	// ID is unique for each repository and agent. Reporting the same event again changes nothing.
	ID      string
	Kind    pipeline.SessionTrigger // any but TriggerFallback
	Target  Target
	Agent   string // empty for a person
	Summary string // without secrets, at most MaxSessionSummary characters
	Files   []string
	// FocusAreas and MaxWords are what the agent asks of reviewers. Empty and 0 mean the settings' values.
	FocusAreas []string
	MaxWords   int
}

// sessionName is the form of an event's id, and of an agent's name.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9._:/@-]{1,200}$`)

// IsSessionName reports whether an event can have an id, or an agent a name: 1 to 200 letters, digits
// and . _ : / @ -
func IsSessionName(s string) bool { return sessionName.MatchString(s) }

// IsSessionText reports whether an event can have a text: valid UTF-8 without control characters. If
// lines is set, the text may contain line breaks and tabs.
func IsSessionText(s string, lines bool) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && !(lines && (r == '\n' || r == '\r' || r == '\t'))
	})
}

// SessionSettings are the settings that apply to an event.
type SessionSettings struct {
	// Join is how long an event waits for others to join its cycle. If it is 0, the cycle begins at once
	// unless another one is under review, and the caller asks for the review.
	Join       time.Duration
	Fallback   time.Duration // the time without events before the fallback cycle; 0 means never
	FocusAreas []string      // the defaults
	MaxWords   int
}

// Bounds of sessions.
const (
	MaxSessionSummary = 4000 // characters
	MaxSessionFiles   = 100  // of an event
	MaxSessionPath    = 500  // characters of each
	MaxSessionFocus   = 10   // of an event
	MaxSessionArea    = 100  // characters of each
	MinSessionWords   = 20   // of a summary
	MaxSessionWords   = 1000 // of a summary
	// MaxSessionWaiting is how many events of agents may wait for the next cycle of one pull request.
	MaxSessionWaiting = 50
)

// Spoken is what became of an event.
type Spoken struct {
	Known bool // it was stored before
	// Cycle is the cycle that the event belongs to, or will belong to.
	Cycle int
}

// ErrManyEvents means that MaxSessionWaiting events wait already.
var ErrManyEvents = errors.New("too many events wait for the next cycle")

// ErrOtherEvent means that an event with the same ID has another kind, summary or pull request.
var ErrOtherEvent = errors.New("another event has this id")

// ErrTargetClosed means that a pull request is closed.
var ErrTargetClosed = errors.New("the pull request is closed")

// SessionRow is the stored state of a session.
type SessionRow struct {
	Key string
	// Cycle is the newest cycle; Number is 0 before the first. Running says that it is not decided.
	Cycle   pipeline.SessionCycle
	Running bool
	// Stalled says that no pending review can decide the running cycle: the pull request was skipped, or
	// its review was given up. The next review takes the cycle up again. If another cycle begins first,
	// it takes over the events of this one.
	Stalled bool
	// HeadSHA is the head that the cycle's reviewers were asked about; empty before that.
	HeadSHA string
	State   pipeline.SessionState // after the newest published decision
	Resumes int
	// Resumed has what the last person to resume the session saw; nil if nobody has resumed it.
	Resumed *pipeline.SessionResume
	// SpokeAt is when an agent last reported an event. If it is zero, no agent has, and the pull request
	// is not a session, although a person may have started cycles.
	SpokeAt time.Time
	// GatherAt is when the next cycle begins, and FallbackAt when the fallback cycle does; zero means
	// never. Pending counts the events that wait for the next cycle.
	GatherAt, FallbackAt time.Time
	Pending              int
}

// UnderReview reports whether the newest cycle is undecided and a pending review can decide it.
func (r *SessionRow) UnderReview() bool { return r.Running && !r.Stalled }

// RequestKind is the kind of a request to a remote reviewer or another receiver.
type RequestKind string

// The kinds.
const (
	RequestReview        RequestKind = "review_request"
	RequestClarification RequestKind = "clarification_request"
	RequestEscalation    RequestKind = "escalation"
)

// RequestState is the state of a request.
type RequestState string

// The states. Only a RequestReview is ever answered. Requests of other kinds are done once they are sent.
const (
	RequestOpen     RequestState = "open"     // to be sent, or waiting for its answer
	RequestAnswered RequestState = "answered" // with a valid answer, or sent
	RequestFailed   RequestState = "failed"   // no answer is expected, although one may still come
)

// SessionRequest is a request to a remote reviewer. A RequestReview is unique for each cycle, head and
// agent. Requests outside of sessions have the cycle 0.
type SessionRequest struct {
	ID      string
	Kind    RequestKind
	Key     string // of the target
	Cycle   int
	HeadSHA string
	Agent   string // the reviewer's id; empty for RequestEscalation
	// Body is the JSON that is sent, without the token for the answer.
	Body     []byte
	Session  bool // the answer is a verdict of the session
	AskedAt  time.Time
	Deadline time.Time
	State    RequestState
	Note     string // why there is no valid answer, for people
	Answer   *pipeline.SessionAnswer
	Digest   string // of the answer as it arrived, to recognise a repeated one
	Late     bool   // the answer came after the deadline
	// Again reopens a failed request when the request is stored again. Again itself is not stored.
	Again bool
	// Outdated says that the answer came after another head or cycle had become current, so that it
	// decides nothing.
	Outdated bool
}

// AnswerOutcome is what became of an answer.
type AnswerOutcome string

// The outcomes.
const (
	AnswerStored   AnswerOutcome = "stored"
	AnswerKnown    AnswerOutcome = "known"    // the same answer was stored before
	AnswerConflict AnswerOutcome = "conflict" // another answer was stored before
	AnswerReplayed AnswerOutcome = "replayed" // the signature was used for another request
)

// RequestAnswer is an answer to store.
type RequestAnswer struct {
	ID     string // of the request
	Answer pipeline.SessionAnswer
	Digest string
	// Signature identifies the answer's signature; empty without a signature. A signature is good for one
	// request only.
	Signature string
}

// Sessions keeps the sessions of agents. The timers of a session are in its row. Fire acts on the timers
// that are due, in whichever process calls it first.
type Sessions interface {
	// Speak stores an event, once for each repository, agent and ID. It starts the timer of the next
	// cycle, unless that runs already or a cycle is under review. An agent's event also restarts the
	// timer of the fallback. Speak stores the target if it is unknown. The errors are ErrManyEvents,
	// ErrOtherEvent, ErrTargetClosed and, if the installation is gone, ErrNotFound.
	Speak(ctx context.Context, e SessionEvent, s SessionSettings) (Spoken, error)
	// Fire begins the cycles that are due. It also ends the open requests whose deadline has passed, if
	// they are about the newest head, and in the newest cycle or outside of sessions. It then asks once
	// for the review that takes this into account, whether or not the cycle is decided. Fire begins no
	// cycle while one is under review, and no fallback cycle while the session is paused or the target
	// is closed. It returns how many targets it changed.
	Fire(ctx context.Context) (n int, err error)
	// Session returns a session, or ErrNotFound. A target without events also has one, without a cycle,
	// if reviewers outside of sessions were asked.
	Session(ctx context.Context, key string) (SessionRow, error)
	// AskReviewers stores the requests of a run, each with the job that sends it, unless they are stored
	// already. If cycle is not 0, it also records that the reviewers of the running cycle are asked
	// about this head, and the deadline for their answers. It returns all requests of that cycle about
	// the head, and those about the head outside of sessions. If cycle is 0, it returns those of the
	// newest cycle instead, provided that the cycle's reviewers were last asked about this head.
	AskReviewers(ctx context.Context, l Lease, cycle int, headSHA string, deadline time.Time, requests []SessionRequest) ([]SessionRequest, error)
	// StallCycle marks the running cycle of a target as stalled, if there is one.
	StallCycle(ctx context.Context, l Lease) error
	// Requests returns a target's requests for reviews, newest first, at most limit, without their
	// bodies.
	Requests(ctx context.Context, key string, limit int) ([]SessionRequest, error)
	// Request returns a request, or ErrNotFound.
	Request(ctx context.Context, id string) (SessionRequest, error)
	// EndRequest records that a request was sent if done is set, and otherwise that it won't be answered.
	// If no other request of its cycle and head is then open, EndRequest asks for the review that takes
	// this into account. A request that is not open stays as it is.
	EndRequest(ctx context.Context, id string, done bool, note string) error
	// Answer stores an answer to a RequestReview, whatever the request's state. It asks for the review
	// that takes the answer into account if no other answer of the cycle is awaited, if the answer is a
	// blocker, or if it is late. An answer about an older head or cycle asks for no review.
	Answer(ctx context.Context, a RequestAnswer) (AnswerOutcome, error)
}

// SessionOutcome is what a review changes in its session when it is published. The zero value
// changes nothing.
type SessionOutcome struct {
	// Cycle is the cycle that the review ended, or 0 if no cycle ended. A cycle ends without a decision if
	// nobody could be asked.
	Cycle int
	State *pipeline.SessionState // nil if it stays as it was
	// Fallback is the time until the fallback is due. 0 leaves the timer as it is, and a negative value
	// stops it.
	Fallback time.Duration
	// Requests, such as a clarification, are sent once the review is published. Their time from AskedAt
	// to Deadline begins then.
	Requests []SessionRequest
}

// RequestJob are the args of JobRequest.
type RequestJob struct {
	ID string `json:"id"`
	// Asked is when the request was reopened, in microseconds. It distinguishes the job from the one
	// before, which may still run.
	Asked int64 `json:"asked,omitempty"`
}

// APIToken is a token of an agent for the API. The token itself is not stored.
type APIToken struct {
	ID         int64
	Hash       []byte // SHA-256 of the token
	Repository Target // without a number and a head
	Agent      string
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero means never
	RevokedAt  time.Time // zero if it is not revoked
	UsedAt     time.Time // to the hour; zero if it was never used
}

// MaxAPITokens is how many tokens of a repository may be valid at a time.
const MaxAPITokens = 100

// ErrManyTokens means that a repository has MaxAPITokens tokens.
var ErrManyTokens = errors.New("the repository has too many tokens")

// APITokens keeps the tokens of agents.
type APITokens interface {
	// AddToken stores a new token and returns its id, or ErrManyTokens.
	AddToken(ctx context.Context, t APIToken) (id int64, err error)
	// TokenByHash returns the token with a hash, whether or not it is still valid, or ErrNotFound.
	TokenByHash(ctx context.Context, hash []byte) (APIToken, error)
	// ListTokens lists all tokens by id.
	ListTokens(ctx context.Context) ([]APIToken, error)
	// RevokeToken revokes a token. It returns ErrNotFound if the id is unknown.
	RevokeToken(ctx context.Context, id int64) error
	// UseToken notes that a token was used.
	UseToken(ctx context.Context, id int64, at time.Time) error
}
