package gh

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// TestEveryStatus gives every call every status. It compares the kind of error and the number
// of attempts.
func TestEveryStatus(t *testing.T) {
	const (
		never   = iota // asked once
		reads          // a read is asked once more
		always2        // a write too: nothing was done
	)
	statuses := map[int]struct {
		kind  ports.HostKind
		again int
	}{
		202: {ports.HostTransient, reads}, 203: {ports.HostTransient, reads}, 206: {ports.HostTransient, reads},
		300: {ports.HostTransient, reads}, 303: {ports.HostTransient, reads}, 304: {ports.HostTransient, reads},
		400: {ports.HostInvalid, never}, 401: {ports.HostForbidden, always2}, 402: {ports.HostInvalid, never},
		403: {ports.HostForbidden, never}, 404: {ports.HostNotFound, never}, 405: {ports.HostInvalid, never},
		406: {ports.HostInvalid, never}, 408: {ports.HostTransient, reads}, 409: {ports.HostInvalid, never},
		410: {ports.HostNotFound, never}, 413: {ports.HostInvalid, never}, 415: {ports.HostInvalid, never},
		422: {ports.HostInvalid, never}, 429: {ports.HostLimited, never}, 451: {ports.HostNotFound, never},
		500: {ports.HostTransient, reads}, 501: {ports.HostTransient, reads}, 502: {ports.HostTransient, reads},
		503: {ports.HostTransient, reads}, 504: {ports.HostTransient, reads}, 599: {ports.HostTransient, reads},
	}
	// Some statuses mean something special to some calls.
	special := map[string]string{
		"404 Organisation": "there is no .github", "410 Organisation": "there is no .github", "451 Organisation": "there is no .github",
		"404 Permission": "nobody known", "410 Permission": "nobody known", "451 Permission": "nobody known",
		"404 DeleteComment": "gone already", "410 DeleteComment": "gone already", "451 DeleteComment": "gone already",
		"404 RemoveLabel": "gone already", "410 RemoveLabel": "gone already", "451 RemoveLabel": "gone already",
		"404 Access": "not installed", "410 Access": "not installed", "451 Access": "not installed",
		"422 PullsOnHead": "no such commit", "202 Redeliver": "taken",
		"401 TeamMember": "nobody known", "403 TeamMember": "nobody known", "404 TeamMember": "nobody known", "410 TeamMember": "nobody known", "451 TeamMember": "nobody known",
	}
	bodies := []string{`{"message":"no"}`, `<html><body>no</body></html>`, ``}
	for status, want := range sample.Map(t, 14, statuses) {
		for name, call := range calls {
			// By default each call meets each status with one of the bodies.
			first := (status + len(name)) % len(bodies)
			for _, body := range slices.Concat(bodies[first:], bodies[:first])[:sample.Size(1, len(bodies))] {
				what := fmt.Sprintf("%d %s", status, name)
				synctest.Test(t, func(t *testing.T) {
					hub := &fake{answer: always(status, body)}
					err := call.do(t, hub.client(t, nil))
					asked, most := hub.asked(), 1
					if want.again == always2 || want.again == reads && call.method == http.MethodGet {
						most = 2
					}
					if special[what] != "" {
						if err != nil || asked > 2 {
							t.Errorf("%s: %v, but the status means: %s", what, err, special[what])
						}
						return
					}
					if asked != most {
						t.Errorf("%s: asked %d times, want %d", what, asked, most)
					}
					he := wantHostError(t, err, want.kind)
					if he.Status != status || he.Op == "" || strings.Contains(err.Error(), "<") {
						t.Errorf("%s: %+v: %v", what, he, err)
					}
				})
			}
		}
	}
}

// TestGarbageIsRefused answers every call with successes that hold garbage. No call may take
// them for an empty list, a closed pull request, or a write that succeeded.
func TestGarbageIsRefused(t *testing.T) {
	long := strings.Repeat("[", 1<<20)
	garbage := map[string]func() io.ReadCloser{
		"empty":          func() io.ReadCloser { return http.NoBody },
		"null":           func() io.ReadCloser { return io.NopCloser(strings.NewReader("null\n")) },
		"object":         func() io.ReadCloser { return io.NopCloser(strings.NewReader("{}")) },
		"text":           func() io.ReadCloser { return io.NopCloser(strings.NewReader(`"hello"`)) },
		"number":         func() io.ReadCloser { return io.NopCloser(strings.NewReader(`7`)) },
		"nothing inside": func() io.ReadCloser { return io.NopCloser(strings.NewReader(`[{}]`)) },
		"nulls inside":   func() io.ReadCloser { return io.NopCloser(strings.NewReader(`[null]`)) },
		"a page":         func() io.ReadCloser { return io.NopCloser(strings.NewReader("<!DOCTYPE html><html>log in</html>")) },
		"NULs":           func() io.ReadCloser { return io.NopCloser(strings.NewReader("\x00\x00\x00")) },
		"not UTF-8":      func() io.ReadCloser { return io.NopCloser(strings.NewReader("\xff\xfe{\x00}")) },
		"deep":           func() io.ReadCloser { return io.NopCloser(strings.NewReader(long)) },
		"two documents":  func() io.ReadCloser { return io.NopCloser(strings.NewReader(openPullJSON + openPullJSON)) },
		"cut short":      func() io.ReadCloser { return cut(openPullJSON[:40]) },
		"cut at the end": func() io.ReadCloser { return cut(openPullJSON) },
		"wrong types": func() io.ReadCloser {
			return io.NopCloser(strings.NewReader(`{"number":"x","id":"y","total_count":[],"permission":7}`))
		},
		"other errors": func() io.ReadCloser { return io.NopCloser(strings.NewReader(`{"message":"oops","type":""}`)) },
	}
	// These calls need nothing from the answer's body.
	bodiless := map[string]bool{
		"UpdateCheck": true, "UpdateComment": true, "DeleteComment": true, "React": true, "ReactOnLine": true, "Redeliver": true,
		"UpdateIssue": true, "AddLabel": true, "RemoveLabel": true,
	}
	for kind, body := range sample.Map(t, 6, garbage) {
		for name, call := range calls {
			status := success[call.method]
			synctest.Test(t, func(t *testing.T) {
				hub := &fake{}
				hub.answer = func(*http.Request) *http.Response {
					r := reply(status, "")
					r.Body, r.ContentLength = body(), -1
					return r
				}
				err := call.do(t, hub.client(t, nil))
				what := kind + " to " + name
				switch {
				case bodiless[name] && !strings.HasPrefix(kind, "cut"):
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
				case err == nil:
					t.Errorf("%s was accepted", what)
				default:
					wantHostError(t, err, ports.HostTransient)
					most := 1
					if call.method == http.MethodGet {
						most = 2
					}
					if hub.asked() != most {
						t.Errorf("%s: asked %d times, want %d", what, hub.asked(), most)
					}
				}
			})
		}
	}
}

func TestTransportErrors(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, call := range calls {
		for kind, answer := range map[string]func(*http.Request) *http.Response{
			"reset": func(*http.Request) *http.Response { return nil },
			"no answer": func(r *http.Request) *http.Response {
				<-r.Context().Done()
				return nil
			},
			"slow body": func(r *http.Request) *http.Response {
				resp := reply(200, "")
				resp.Body = io.NopCloser(&drip{r})
				return resp
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				hub := &fake{answer: answer}
				start := time.Now()
				err := call.do(t, hub.client(t, nil))
				he := wantHostError(t, err, ports.HostTransient)
				most := 1
				if call.method == http.MethodGet {
					most = 2
				}
				if hub.asked() != most || he.Status != 0 {
					t.Errorf("%s to %s: asked %d times, want %d: %v", kind, name, hub.asked(), most, err)
				}
				if took := time.Since(start); took > 2*defaultTimeout+2*retryDelay {
					t.Errorf("%s to %s: gave up after %s", kind, name, took)
				}
			})
		}
	}
}

// drip is a body that sends a byte a second until its request is given up.
type drip struct{ req *http.Request }

func (d *drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-d.req.Context().Done():
		return 0, d.req.Context().Err()
	}
}

// A comparison or a tree with a missing part is refused.
func TestAnswersWithMissingParts(t *testing.T) {
	for name, tt := range map[string]struct{ call, body string }{
		"comparison without files":    {"group", `{"total_commits":1,"commits":[]}`},
		"comparison without a count":  {"group", `{"files":[],"commits":[]}`},
		"file without a name":         {"Files", `[{"status":"added","sha":"x"}]`},
		"checks without a count":      {"Checks", `{"check_runs":[]}`},
		"checks without runs":         {"Checks", `{"total_count":0}`},
		"check run without an id":     {"Checks", `{"total_count":1,"check_runs":[{"name":"reviewgate"}]}`},
		"comment without an id":       {"Comments", `[{"body":"hello"}]`},
		"pull request without a head": {"Pull", `{"number":12,"state":"open","base":{"sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}`},
		"pull request, short head":    {"Pull", `{"number":12,"state":"open","head":{"sha":"b"},"base":{"sha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}`},
		"pull request, no state":      {"PullRequest", strings.Replace(openPullJSON, `"state":"open",`, "", 1)},
		"tree without a SHA":          {"Config", `{"tree":[],"truncated":false}`},
		"tree without entries":        {"Config", `{"sha":"` + someSHA + `","truncated":false}`},
		"tree that may be cut":        {"Config", `{"sha":"` + someSHA + `","tree":[]}`},
		"entry without a SHA":         {"Config", `{"sha":"` + someSHA + `","tree":[{"path":".github","type":"tree"}],"truncated":false}`},
		"entry without a type":        {"Organisation", `{"sha":"` + someSHA + `","tree":[{"path":".github","sha":"` + someSHA + `"}],"truncated":false}`},
		"entry without a name":        {"ProposedConfig", `{"sha":"` + someSHA + `","tree":[{"type":"tree","sha":"` + someSHA + `"}],"truncated":false}`},
		"delivery without a GUID":     {"FailedDeliveries", `[{"id":1,"delivered_at":"2026-11-20T12:00:00Z"}]`},
		"delivery without a time":     {"FailedDeliveries", `[{"id":1,"guid":"g"}]`},
		"delivery without an id":      {"Payload", `{"request":{"payload":{}}}`},
		"installation without an id":  {"Installations", `[{"account":{"login":"acme"}}]`},
		"issue without a number":      {"Issues", `[{"state":"open","created_at":"2026-11-20T12:00:00Z"}]`},
		"issue without a state":       {"Issue", `{"number":5,"created_at":"2026-11-20T12:00:00Z"}`},
		"issue without a time":        {"CreateIssue", `{"number":5,"state":"open"}`},
		"repository without a name":   {"Repositories", `{"total_count":1,"repositories":[{"id":5,"owner":{"login":"acme"}}]}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			hub := &fake{answer: always(200, tt.body)}
			if err := calls[tt.call].do(t, hub.client(t, nil)); err == nil {
				t.Errorf("%s was accepted", name)
			} else {
				wantHostError(t, err, ports.HostTransient)
			}
		})
	}
}

// FuzzAnswers reads any bytes as any answer. Reading never panics, and an accepted answer is
// complete.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(openPullJSON))
	f.Add([]byte(`{"total_count":1,"check_runs":[{"id":5,"app":{"id":42}}],"files":[{"filename":"a","status":"added"}],"total_commits":1}`))
	f.Add([]byte(`[{"id":5,"guid":"g","delivered_at":"2026-11-20T12:00:00Z","number":1,"head":{"sha":"x"}},null]`))
	f.Add([]byte(`{"sha":"` + someSHA + `","tree":[{"path":"a","type":"blob","sha":"` + someSHA + `"}],"truncated":false}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, into := range []answer{
			new(pullAnswer), new(pullList), new(fileList), new(commitList), new(comparison), new(commitsOfComparison), new(repositoryAnswer),
			new(checkAnswer), new(checkList), new(comment), new(commentList), new(installationAnswer), new(installationList),
			new(repositoryList), new(attempts), new(directory), new(issue), new(issueList),
		} {
			if asJSON(into)(strings.NewReader(string(text))) != nil {
				continue
			}
			if !json.Valid(text) || into.whole() != nil {
				t.Errorf("%q was accepted as %T", text, into)
			}
		}
	})
}
