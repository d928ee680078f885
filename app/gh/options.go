package gh

import (
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// Config configures a Client. AppID and PrivateKey are required.
type Config struct {
	AppID      int64
	PrivateKey []byte // PEM, as GitHub issues it
	// V3URL and V4URL are the roots of the REST and GraphQL APIs. Default:
	// those of github.com.
	V3URL, V4URL string
	// WebURL is the URL of that GitHub's pages. If V3URL belongs to a proxy, git finds
	// the repositories at WebURL. May be empty.
	WebURL string
	// Transport sends the requests. Default: a new transport.
	Transport http.RoundTripper
	UserAgent string // default "reviewgate"
	Log       zerolog.Logger
	// OnCall, if set, is called after every request over the network, from many
	// goroutines and with the caller's context.
	OnCall func(context.Context, CallInfo)
	// OnRefused, if set, is called when GitHub refuses an installation's calls
	// because of a rate limit until a later time than was known. Installation 0
	// stands for the App's own calls. The refused call returns after OnRefused.
	OnRefused func(installation int64, until time.Time)
	// Timeout bounds a single request with its body. Default 30 s.
	Timeout time.Duration
	// CallsPerReview bounds the requests that one Source makes. Default 300.
	CallsPerReview int
	// OrganisationAge is how long an organisation's config is used before it is read
	// again. Default a minute.
	OrganisationAge time.Duration
}

// CallInfo describes one request to GitHub.
type CallInfo struct {
	Route         string        // method and path template, such as "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	Status        int           // 0 if there was no answer; 304 if the HTTP cache had the answer
	Duration      time.Duration // until the answer's body was read
	Installation  int64         // the call counts against its rate limit; 0 is the App, which also requests the tokens
	RateRemaining int           // -1 if the answer doesn't say
	RateLimit     int           // REST calls in each window, 0 if the answer doesn't say
	RateReset     time.Time     // when the window ends, by our clock; zero if the answer doesn't say
	Try           int           // from 1; more than 1 is a repeated try
	Date          time.Time     // when GitHub answered, by its own clock in whole seconds; zero if the answer doesn't say
}
