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

// SessionEvent is what an agent, or a person with /review, says about a pull request.
type SessionEvent struct {
	// ID is unique for each repository and agent. The same event again changes nothing.
	ID      string
	Kind    pipeline.SessionTrigger // any but TriggerFallback
	Target  Target
	Agent   string // empty for a person
	Summary string // without secrets, at most MaxSessionSummary characters
	Files   []string
	// FocusAreas and MaxWords are what the agent wants of reviewers; empty and 0 for the settings'.
	FocusAreas []string
	MaxWords   int
}

// sessionName is the form of an event's id, and of an agent's name.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9._:/@-]{1,200}$`)

// IsSessionName reports whether an event can have an id, or an agent a name: 1 to 200 letters, digits
// and . _ : / @ -
func IsSessionName(s string) bool { return sessionName.MatchString(s) }

// IsSessionText reports whether an event can have a text: valid UTF-8 without control characters. With
// lines, line breaks and tabs may stand in it.
func IsSessionText(s string, lines bool) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && !(lines && (r == '\n' || r == '\r' || r == '\t'))
	})
}

// SessionSettings are the settings that count for an event.
type SessionSettings struct {
	// Join is how long an event waits for others to join its cycle. With 0 the cycle begins at once,
	// unless one runs: the caller asks for the review.
	Join       time.Duration
	Fallback   time.Duration // without events until the fallback cycle; 0 for none
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

// ErrOtherEvent means that an event with the same ID is of another kind, or has another summary or pull
// request.
var ErrOtherEvent = errors.New("another event has this id")

// ErrTargetClosed means that a pull request is closed.
var ErrTargetClosed = errors.New("the pull request is closed")

// SessionRow is the stored state of a session.
type SessionRow struct {
	Key string
	// Cycle is the newest cycle; Number is 0 if none has begun. Running says that it is not decided.
	Cycle   pipeline.SessionCycle
	Running bool
	// Stalled says that no review is to come that could decide the running cycle: the pull request was
	// skipped, or its review was given up. The next review takes the cycle up again. If another cycle
	// begins before, it takes over the events of this one.
	Stalled bool
	// HeadSHA is the head about which reviewers were asked in the cycle; empty before that.
	HeadSHA string
	State   pipeline.SessionState // after the newest published decision
	Resumes int
	// Resumed is what the person saw who resumed the session last; nil if nobody has.
	Resumed *pipeline.SessionResume
	// SpokeAt is when an agent spoke last; zero if none has. The pull request is then no session,
	// although a person may have started cycles.
	SpokeAt time.Time
	// GatherAt is when the next cycle begins, and FallbackAt when the fallback cycle does; zero for
	// never. Pending counts the events that wait for the next cycle.
	GatherAt, FallbackAt time.Time
	Pending              int
}

// UnderReview reports whether a review is to come that decides the newest cycle.
func (r *SessionRow) UnderReview() bool { return r.Running && !r.Stalled }

// RequestKind is the kind of a request to a remote reviewer, or another receiver.
type RequestKind string

// The kinds.
const (
	RequestReview        RequestKind = "review_request"
	RequestClarification RequestKind = "clarification_request"
	RequestEscalation    RequestKind = "escalation"
)

// RequestState is the state of a request.
type RequestState string

// The states. Only a RequestReview is ever answered. The others are done when they are sent.
const (
	RequestOpen     RequestState = "open"     // to be sent, or waiting for its answer
	RequestAnswered RequestState = "answered" // validly, or sent
	RequestFailed   RequestState = "failed"   // there can be no answer any more, unless it comes by itself
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
	Digest   string // of the answer as it arrived, by which a repeated one is recognised
	Late     bool   // the answer came after the deadline
	// Again opens the request anew if it has failed, when it is stored again. It is not stored.
	Again bool
	// Outdated says that the answer came when another head or cycle was current already. It decides
	// nothing.
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
	// Signature identifies the signature with which the answer came; empty without one. A
	// signature counts for one request only.
	Signature string
}

// Sessions keeps the sessions of agents. The timers of a session are in its row: Fire makes what is
// due happen, in whichever process calls it first.
type Sessions interface {
	// Speak stores an event, once for each repository, agent and ID. It starts the time after which
	// the next cycle begins, unless that runs already or a cycle is not decided. An agent's event
	// also starts the time until the fallback anew. The target is stored if it is unknown. The errors
	// are ErrManyEvents, ErrOtherEvent and ErrTargetClosed. An installation that is gone is
	// ErrNotFound.
	Speak(ctx context.Context, e SessionEvent, s SessionSettings) (Spoken, error)
	// Fire begins the cycles that are due. It ends the requests whose deadline is over and asks for
	// the review that takes this into account, once, whether or not the cycle is decided. These are
	// the open requests about the newest head, in the newest cycle or outside of sessions. Fire returns
	// how many targets it changed. It begins no cycle while one is not decided, and no fallback cycle
	// while the session is paused or a target is closed.
	Fire(ctx context.Context) (n int, err error)
	// Session returns a session, or ErrNotFound. A target about which nobody spoke has one, without a
	// cycle, if reviewers outside of sessions were asked.
	Session(ctx context.Context, key string) (SessionRow, error)
	// AskReviewers stores requests of a run, each with the job that sends it, unless they are stored
	// already. If cycle is not 0, it also records that the reviewers of the running cycle are asked
	// about this head, by the deadline. It returns all requests of that cycle and head, and those of
	// the head without a cycle. If cycle is 0, it takes the newest cycle instead, if reviewers were
	// asked about this head in it.
	AskReviewers(ctx context.Context, l Lease, cycle int, headSHA string, deadline time.Time, requests []SessionRequest) ([]SessionRequest, error)
	// StallCycle marks the running cycle of a target as stalled, if there is one.
	StallCycle(ctx context.Context, l Lease) error
	// Requests returns a target's requests for reviews, newest first, at most limit, without their
	// bodies.
	Requests(ctx context.Context, key string, limit int) ([]SessionRequest, error)
	// Request returns a request, or ErrNotFound.
	Request(ctx context.Context, id string) (SessionRequest, error)
	// EndRequest records that a request was sent, if done is set, or can't be answered. If no other
	// request of its cycle and head is open then, EndRequest asks for the review that takes this into
	// account. A request that is not open stays as it is.
	EndRequest(ctx context.Context, id string, done bool, note string) error
	// Answer stores an answer to a RequestReview, whatever its state, and asks for the review that
	// takes it into account: when no other answer of the cycle is awaited, when it is a blocker, or
	// when it is late. An answer about an older head or an older cycle asks for nothing.
	Answer(ctx context.Context, a RequestAnswer) (AnswerOutcome, error)
}

// SessionOutcome is what a review changes in its session when it is published. The zero value
// changes nothing.
type SessionOutcome struct {
	// Cycle is the cycle that the review ended, and 0 if it ended none. A cycle in which nobody could be
	// asked ends without a decision.
	Cycle int
	State *pipeline.SessionState // nil if it stays as it was
	// Fallback is how long from now the fallback is due. 0 leaves its timer as it is, and a negative
	// value stops it.
	Fallback time.Duration
	// Requests are sent once the review is published, such as a clarification. The time from AskedAt
	// to Deadline then begins.
	Requests []SessionRequest
}

// RequestJob are the args of JobRequest.
type RequestJob struct {
	ID string `json:"id"`
	// Asked is when a request was opened anew, in microseconds. It distinguishes the job from the one
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
	ExpiresAt  time.Time // zero for never
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
	// RevokeToken revokes a token. It returns ErrNotFound if there is none with this id.
	RevokeToken(ctx context.Context, id int64) error
	// UseToken notes that a token was used.
	UseToken(ctx context.Context, id int64, at time.Time) error
}
