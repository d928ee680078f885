package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
)

// The vendors' own addresses.
const (
	anthropicURL = "https://api.anthropic.com/"
	openaiURL    = "https://api.openai.com/v1/"
)

// New creates a model from the API, Model and BaseURL of e. key may be empty if there is a
// BaseURL; then no key is sent. Nothing is sent before the first question. The error says
// what can't be used in e or key, without the key.
func New(e config.ModelEndpoint, key string) (llm.Model, error) { return NewOver(nil, e, key) }

// NewOver is New with a transport for the model's requests. If it is nil, the model has its
// own, which uses the proxy in HTTPS_PROXY, HTTP_PROXY and NO_PROXY, if any.
func NewOver(transport http.RoundTripper, e config.ModelEndpoint, key string) (llm.Model, error) {
	key = strings.TrimSpace(key) // a file's last newline
	if e.Model == "" {
		return nil, errors.New("the model's name is missing: set model to what the API calls it")
	}
	if key == "" && e.BaseURL == "" {
		return nil, errors.New("there is no key: set the variable that key_env names, or the base_url of a server that needs none")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the key has a character that an HTTP header can't contain: copy the key alone and as a whole")
	}
	own := map[string]string{config.APIAnthropic: anthropicURL, config.APIOpenAI: openaiURL}[e.API]
	if own == "" {
		return nil, fmt.Errorf("there is no API %q: api is %s or %s", e.API, config.APIAnthropic, config.APIOpenAI)
	}
	api, err := address(e.BaseURL, own)
	if err != nil {
		return nil, err
	}
	if e.API == config.APIAnthropic {
		return newMessages(e.Model, key, api, transport), nil
	}
	return newChat(e.Model, key, api, transport), nil
}

// address reads a base URL. The SDKs append their path to it.
func address(base, own string) (*url.URL, error) {
	if base == "" {
		base = own
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The error of url.Parse repeats the address, which may hold a password.
		return nil, errors.New("base_url is not an address: write it as https://host/path")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, errors.New("base_url is not an HTTP address: write it as https://host/path")
	case u.User != nil:
		return nil, errors.New("base_url contains a user name or a password: leave it out, and put the key in the variable that key_env names")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("base_url has a query or a fragment, which would be lost: end it with the path")
	}
	return u, nil
}

// reduced returns the schema in the form that APIs accept. The error says what every API
// would refuse in the question, before it costs a request.
func reduced(q llm.Question) (json.RawMessage, error) {
	switch {
	case q.Text == "":
		return nil, errors.New("there is nothing to ask")
	case q.MaxTokens < 1:
		return nil, fmt.Errorf("the limit of %d tokens leaves no room for an answer", q.MaxTokens)
	}
	return q.Schema.Reduced()
}

// endpoint is the common part of both APIs' models.
type endpoint struct {
	model string
	key   string
}

// failure turns an SDK's error into the error of Ask.
func (e *endpoint) failure(ctx context.Context, q llm.Question, use llm.Use, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := classify(err, func(message string) string { return quotable(message, e.key, q) })
	out.Use = use
	return out
}
