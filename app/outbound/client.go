package outbound

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/reviewgate/reviewgate/config"
)

// RequestIDHeader has the id of a request. The id stays the same when the request is sent again.
const RequestIDHeader = "X-Reviewgate-Request-Id"

// The bounds of an exchange.
const (
	connectLimit  = 10 * time.Second // for connecting, with TLS
	exchangeLimit = 30 * time.Second // for all of it
	maxBody       = 1 << 20          // bytes of an answer
	maxHeaders    = 64 << 10         // bytes of an answer's headers
)

// requestID matches a valid id. It allows no character that could end a header.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// Options are what a Client needs.
type Options struct {
	Version string // of reviewgate, for the User-Agent
	// Roots are the trusted certificate authorities; nil means the system's.
	Roots *x509.CertPool
}

// Client sends signed requests. Any number of goroutines may use it. It keeps no connections.
type Client struct {
	options  Options
	resolver *net.Resolver // nil means the system's
	connect  time.Duration
	exchange time.Duration
	now      func() time.Time
}

// New makes a client. It connects to nothing.
func New(o Options) *Client {
	return &Client{options: o, connect: connectLimit, exchange: exchangeLimit, now: time.Now}
}

// Response is an answer with a status of 2xx. Its body, of at most 1 MiB, is as the receiver sent
// it.
type Response struct {
	Status int
	Body   []byte
}

// Post signs a JSON body with the secret that it shares with a receiver, and sends it once. The secret
// has at least MinSecret characters. An id consists of 1 to 128 letters, digits and ". _ : -". The error
// is that of ctx if ctx has ended, and otherwise an *Error.
func (c *Client) Post(ctx context.Context, to config.Receiver, secret []byte, id string, body []byte) (Response, error) {
	within, cancel := context.WithTimeout(ctx, c.exchange)
	defer cancel()
	req, err := c.request(within, to, secret, id, body)
	if err != nil {
		return Response{}, err
	}
	transport, err := c.transport(to, req.URL)
	if err != nil {
		return Response{}, err
	}
	// A transport follows no redirects, keeps no cookies, and sends no password from a URL.
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return Response{}, c.failure(ctx, within, err)
	}
	defer resp.Body.Close()
	if err := statusError(resp, c.now()); err != nil {
		return Response{}, err
	}
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return Response{}, refused("sent a compressed answer, which is not supported")
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err == nil {
		// A receiver that notices that we hung up can still end its answer.
		err = within.Err()
	}
	if err != nil {
		return Response{}, c.failure(ctx, within, err)
	}
	if len(text) > maxBody {
		return Response{}, refused("sent more than %d MiB", maxBody>>20)
	}
	return Response{Status: resp.StatusCode, Body: text}, nil
}

func (c *Client) request(ctx context.Context, to config.Receiver, secret []byte, id string, body []byte) (*http.Request, error) {
	if !requestID.MatchString(id) {
		return nil, refused("the request's id %.40q has characters that an id can't have, or is not 1 to 128 characters long", id)
	}
	if len(secret) < MinSecret {
		return nil, refused("the secret is shorter than %d characters", MinSecret)
	}
	u, err := address(to.URL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, refused("the url can't be called") // the error repeats the URL
	}
	maps.Copy(req.Header, Sign(secret, c.now(), body))
	req.Header.Set(RequestIDHeader, id)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "reviewgate/"+c.options.Version)
	req.Header.Set("Accept-Encoding", "identity") // without it, a receiver may choose any coding
	return req, nil
}

// address reads a receiver's URL. The errors don't repeat it, because it may hold a password.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "", !validPort(u.Port()):
		return nil, refused("the url is not an HTTP address: write it as https://host/path")
	case u.User != nil:
		return nil, refused("the url has a user or a password: leave them out, because requests are signed")
	}
	return u, nil
}

func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

// transport makes a transport for one exchange. If connections were kept, a receiver could be
// called over a connection that only another receiver's allow_private permits.
func (c *Client) transport(to config.Receiver, u *url.URL) (*http.Transport, error) {
	g, err := newGuard(u.Scheme == "https", to.AllowPrivate)
	if err != nil {
		return nil, err
	}
	d := dialer{guard: g, resolver: c.resolver, roots: c.options.Roots, limit: c.connect}
	return &http.Transport{
		Proxy:                  nil, // a proxy would connect to addresses that nobody has checked
		DialContext:            d.dialPlain,
		DialTLSContext:         d.dialTLS,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaders,
	}, nil
}

// failure returns the error of Post for an exchange that failed. within is the exchange's own context,
// derived from the caller's.
func (c *Client) failure(caller, within context.Context, err error) error {
	var known *Error
	switch {
	case caller.Err() != nil:
		return caller.Err()
	case errors.As(err, &known):
		return known
	case within.Err() != nil:
		return passing("no answer within %s", seconds(c.exchange))
	}
	return exchangeError(err)
}
