package ghtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// description is GitHub's description, cut to the stand-in's routes.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := os.ReadFile("testdata/openapi/github.json")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	correct(doc)
	return doc, nil
})

// correct loosens the places where the description is stricter than GitHub: The head of a
// pull request whose fork was deleted has no repository. An account in the list of
// installations is a user or an enterprise, not both. The App that a check suite names may
// have subscribed to merge_group. In events the times of an installation are seconds since
// 1970, as in GitHub's examples.
func correct(doc *openapi3.T) {
	for _, name := range []string{"pull-request", "pull-request-simple"} {
		head := doc.Components.Schemas[name].Value.Properties["head"].Value
		repo := *head.Properties["repo"].Value
		repo.Nullable = true
		head.Properties["repo"] = &openapi3.SchemaRef{Value: &repo}
	}
	list := doc.Paths.Value("/app/installations").Get.Responses.Status(http.StatusOK).Value.Content["application/json"].Schema.Value
	account := list.Items.Value.Properties["account"].Value
	account.AnyOf, account.AllOf = account.AllOf, nil
	for _, name := range []string{"requested", "rerequested"} {
		suite := doc.Components.Schemas["webhook-check-suite-"+name].Value.Properties["check_suite"].Value
		event := suite.Properties["app"].Value.Properties["events"].Value.Items.Value
		event.Enum = append(event.Enum, "merge_group")
	}
	for _, name := range []string{"added", "removed"} {
		event := doc.Components.Schemas["webhook-installation-repositories-"+name].Value
		inst := *event.Properties["installation"].Value
		inst.Properties = maps.Clone(inst.Properties)
		for _, field := range []string{"created_at", "updated_at"} {
			inst.Properties[field] = openapi3.NewIntegerSchema().NewRef()
		}
		event.Properties["installation"] = inst.NewRef()
	}
}

// describedTransport compares every request and every answer with the description, and
// records which routes gave valid answers.
type describedTransport struct {
	client *client
	next   http.RoundTripper

	mu   sync.Mutex
	seen map[string]bool // routes with a valid 2xx answer
}

func (d *describedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	t := d.client.T
	t.Helper()
	doc, err := description()
	if err != nil {
		t.Fatalf("load the description: %v", err)
	}
	path := strings.TrimPrefix(req.URL.EscapedPath(), "/api/v3")
	route, params := ghtest.Match(req.Method, byNumber.ReplaceAllString(path, "/repos/any/repository"))
	if route == "" || path == "/graphql" { // which is held against GraphQL's own schema
		return d.next.RoundTrip(req)
	}
	if path, ok := params["path"]; ok && path == "" {
		params["path"] = "." // the root, which only the description's prose allows
	}
	method, template, _ := strings.Cut(route, " ")
	item := doc.Paths.Value(template)
	input := &openapi3filter.RequestValidationInput{
		Request: req.Clone(req.Context()), PathParams: params,
		Route:   &routers.Route{Spec: doc, Path: template, PathItem: item, Method: method, Operation: item.GetOperation(method)},
		Options: &openapi3filter.Options{SkipSettingDefaults: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body, input.Request.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
	}
	invalid := openapi3filter.ValidateRequest(req.Context(), input)

	resp, err := d.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		// Cut short on purpose: the caller meets the same error.
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), brokenReader{err}))
		return resp, nil //nolint:nilerr // the caller reads the error from the body
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if invalid != nil && resp.StatusCode < 400 {
		t.Errorf("%s accepted what the description forbids: %v", route, invalid)
	}
	d.checkAnswer(t, route, input, resp, body)
	return resp, nil
}

// byNumber matches redirects that name a repository by its id. The description lacks them,
// and they are answered like those by name.
var byNumber = regexp.MustCompile(`^/repositories/[0-9]+`)

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }

// checkAnswer compares an answer with the description. An error without a description must at
// least look like GitHub's.
func (d *describedTransport) checkAnswer(t *testing.T, route string, input *openapi3filter.RequestValidationInput, resp *http.Response, body []byte) {
	t.Helper()
	operation := input.Route.Operation
	described := operation.Responses.Status(resp.StatusCode) != nil
	if resp.StatusCode >= 400 {
		var e struct {
			Message string `json:"message"`
			Docs    string `json:"documentation_url"`
		}
		if err := json.Unmarshal(body, &e); err != nil || e.Message == "" || e.Docs == "" {
			t.Errorf("%s: error %d doesn't look like GitHub's: %.300s", route, resp.StatusCode, body)
		}
	}
	if !described {
		if resp.StatusCode < 300 {
			t.Errorf("%s: status %d is not described", route, resp.StatusCode)
		}
		return
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return // raw and diff media types, 304 and 204 have no schema
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: resp.StatusCode, Header: resp.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(input.Request.Context(), out); err != nil {
		t.Errorf("%s: answer %d is not as described: %.2000v", route, resp.StatusCode, err)
		return
	}
	if resp.StatusCode < 300 {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.seen == nil {
			d.seen = map[string]bool{}
		}
		d.seen[route] = true
	}
}
