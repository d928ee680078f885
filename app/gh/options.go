package gh

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// Config is what a Client is made from. AppID and PrivateKey are needed.
type Config struct {
	AppID      int64
	PrivateKey []byte // PEM, as GitHub hands it out
	// V3URL and V4URL are the roots of the REST and GraphQL APIs. Default:
	// those of github.com.
	V3URL, V4URL string
	// WebURL is where people open that GitHub. Git finds the repositories there if
	// V3URL is a proxy's. May be empty.
	WebURL string
	// Transport carries the requests. Default: one of its own.
	Transport http.RoundTripper
	UserAgent string // default "reviewgate"
	Log       zerolog.Logger
	// OnCall, if set, is told of every request that went over the network. It
	// is called from many goroutines, with the context of what asked.
	OnCall func(context.Context, CallInfo)
	// OnRefused, if set, is told until when GitHub refuses an installation's
	// calls for a rate limit, or for 0 the App's own, whenever that is later
	// than was known. The call that was refused returns after it.
	OnRefused func(installation int64, until time.Time)
	// Timeout bounds a single request, its body included. Default 30 s.
	Timeout time.Duration
	// CallsPerReview bounds the requests that one Source makes. Default 300.
	CallsPerReview int
	// OrganisationAge is for how long an organisation's config is used without
	// looking again. Default a minute.
	OrganisationAge time.Duration
}

// CallInfo tells of one request to GitHub.
type CallInfo struct {
	Route         string        // method and path template, such as "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	Status        int           // 0 if there was no answer; 304 where the HTTP cache had it
	Duration      time.Duration // until the answer's body was read
	Installation  int64         // whose rate limit counts it; 0 is the App, which asks for the tokens too
	RateRemaining int           // -1 if the answer didn't say
	RateLimit     int           // calls of REST in each window, 0 if the answer didn't say
	RateReset     time.Time     // when the window ends, by our clock; zero if the answer didn't say
	Try           int           // from 1; more than 1 is the repetition of a read
	Date          time.Time     // when it answered by its own clock, in whole seconds; zero if it didn't say
}
