package ghtest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// hook is an App's webhook endpoint that records the requests it gets.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []received
}

type received struct {
	header http.Header
	body   []byte
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{status: http.StatusAccepted}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read a delivery: %v", err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, received{r.Header, body})
		w.WriteHeader(h.status)
		fmt.Fprint(w, "noted")
	}))
	t.Cleanup(h.Close)
	return h
}

// of lists the received deliveries of an event.
func (h *hook) of(event string) []received {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.got), func(r received) bool { return r.header.Get("X-GitHub-Event") != event })
}

// names lists the events received, as "event action".
func (h *hook) names(t *testing.T) []string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, r := range h.got {
		var fields struct {
			Action string `json:"action"`
		}
		if err := json.Unmarshal(r.body, &fields); err != nil {
			t.Fatal(err)
		}
		names = append(names, r.header.Get("X-GitHub-Event")+" "+fields.Action)
	}
	h.got = nil
	return names
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

func TestDeliveriesAreSigned(t *testing.T) {
	h := newHook(t)
	gh, repo, _ := shop(t, ghtest.Options{WebhookURL: h.URL, WebhookSecret: "s3cret", Events: []string{"pull_request"}})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	got := h.of("pull_request")
	if len(got) != 1 {
		t.Fatalf("%d deliveries instead of 1", len(got))
	}
	r := got[0]
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write(r.body)
	d := gh.Webhook.LastDelivery("pull_request")
	want := map[string]string{
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json", "X-Github-Event": "pull_request", "X-Github-Delivery": d.GUID,
		"X-Github-Hook-Installation-Target-Id": strconv.FormatInt(gh.AppID(), 10), "X-Github-Hook-Installation-Target-Type": "integration",
	}
	headers := map[string]string{}
	for key := range want {
		headers[key] = r.header.Get(key)
	}
	if diff := cmp.Diff(want, headers); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if d.Status != http.StatusAccepted || d.Outcome != "OK" || d.Response != "noted" || d.InstallationID != gh.InstallationID("acme") || d.RepositoryID != repo.ID() || !d.OK() {
		t.Errorf("delivery: %+v", d)
	}
	gh.Webhook.Set(h.URL, "")
	gh.Webhook.Ping()
	if s := h.of("ping")[0].header.Get("X-Hub-Signature-256"); s != "" {
		t.Errorf("signed without a secret: %s", s)
	}
}

// TestConversation plays a pull request's life and compares the events that an App gets.
func TestConversation(t *testing.T) {
	h := newHook(t)
	gh, repo, c := shop(t, ghtest.Options{WebhookURL: h.URL, WebhookSecret: "s3cret", Events: []string{"pull_request", "issue_comment", "merge_group"}})
	hears := func(want ...string) {
		t.Helper()
		settle(t, gh)
		if d := cmp.Diff(want, h.names(t)); d != "" {
			t.Errorf("events (-want +got):\n%s", d)
		}
	}
	hears("check_suite requested") // for the commit on main
	pr := repo.OpenPR(ghtest.PR{Fork: "mallory", Author: "mallory", Files: ghtest.Files{"a": "1"}})
	hears("pull_request opened")
	pr.Push(ghtest.Files{"a": "2"}, "more")
	hears("pull_request synchronize")
	other := repo.OpenPR(ghtest.PR{Head: "mine", Files: ghtest.Files{"b": "1"}})
	hears("check_suite requested", "pull_request opened")
	repo.Commit("mine", ghtest.Files{"b": "2"}, "pushed to the branch")
	hears("check_suite requested", "pull_request synchronize")
	repo.Commit("mine", ghtest.Files{"b": "3"}, "pushed quietly\n\n\nskip-checks: true")
	hears("pull_request synchronize")
	c.want(c.do("POST", "/repos/acme/shop/issues/1/comments", fields{"body": "ours"}), http.StatusCreated)
	hears("issue_comment created")
	group := repo.MergeGroup(pr, other)
	group.Destroy("invalidated")
	hears("merge_group checks_requested", "merge_group destroyed")
	gh.Suspend("acme")
	pr.Label("bug")
	gh.Unsuspend("acme")
	hears("installation suspend", "installation unsuspend")
	repo.Settings.SetInstalled(false)
	pr.Label("bug")
	hears("installation_repositories removed")
	repo.Settings.SetInstalled(true)
	pr.Merge()
	hears("installation_repositories added", "pull_request closed", "check_suite requested")
	other.RerequestSuite("bob")
	hears("check_suite rerequested")
}

func TestLostAndFoundDeliveries(t *testing.T) {
	h := newHook(t)
	gh, repo, _ := shop(t, ghtest.Options{WebhookURL: h.URL, Permissions: noChecks, Events: []string{"pull_request"}})
	app := newClient(t, gh)
	gh.Webhook.Withhold("pull_request")
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	lost := gh.Webhook.LastDelivery("pull_request")
	if lost.OK() || lost.Status != 0 || len(h.names(t)) != 0 {
		t.Errorf("a withheld delivery was sent: %+v", lost)
	}
	gh.Webhook.Resume()
	h.answer(http.StatusServiceUnavailable)
	pr.Label("bug")
	if d := gh.Webhook.LastDelivery("pull_request"); d.OK() || d.Status != http.StatusServiceUnavailable {
		t.Errorf("delivery: %+v", d)
	}
	h.answer(http.StatusOK)
	h.names(t)

	app.want(app.do("POST", fmt.Sprintf("/app/hook/deliveries/%d/attempts", lost.ID), nil), http.StatusAccepted)
	settle(t, gh)
	if names := h.names(t); !slices.Equal(names, []string{"pull_request opened"}) {
		t.Errorf("redelivered: %v", names)
	}
	if d := gh.Webhook.LastDelivery("pull_request"); d.GUID != lost.GUID || !d.Redelivery || !d.OK() || d.ID == lost.ID {
		t.Errorf("redelivery: %+v", d)
	}
	app.refused(app.do("POST", "/app/hook/deliveries/1/attempts", nil), http.StatusNotFound, "Not Found")
	if _, err := gh.Webhook.Redeliver("none"); err == nil {
		t.Error("an unknown delivery was redelivered")
	}

	for query, want := range map[string][]string{
		"":                {"200 OK", "503 Invalid HTTP Response: 503", "502 failed to connect to host"},
		"&status=success": {"200 OK"},
		"&status=failure": {"503 Invalid HTTP Response: 503", "502 failed to connect to host"},
	} {
		if d := cmp.Diff(want, deliveryLog(app, query)); d != "" {
			t.Errorf("delivery log %q (-want +got):\n%s", query, d)
		}
	}
	app.refused(app.do("GET", "/app/hook/deliveries?cursor=123", nil), http.StatusBadRequest, "Invalid cursor")
	app.refused(app.do("GET", "/app/hook/deliveries?status=lost", nil), http.StatusUnprocessableEntity, "status")
}

// noChecks are the permissions without those for which GitHub sends check suites.
var noChecks = map[string]string{"metadata": "read", "pull_requests": "write"}

// deliveryLog reads the log in pages of two, newest first.
func deliveryLog(app *client, query string) []string {
	app.Helper()
	var log []string
	for path := "/app/hook/deliveries?per_page=2" + query; path != ""; {
		r := app.get(path)
		for i := range r.len() {
			log = append(log, fmt.Sprintf("%.0f %s", r.field(i, "status_code"), r.field(i, "status")))
		}
		next, more := strings.CutSuffix(r.header.Get("Link"), `>; rel="next"`)
		path = ""
		if more {
			path = strings.TrimPrefix(next, "<"+app.gh.URL)
		}
	}
	return log
}

// TestUnansweredDeliveries: a dead server costs no time, and a slow one as long as GitHub
// waits.
func TestUnansweredDeliveries(t *testing.T) {
	held := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(held) })
	dead := httptest.NewServer(nil)
	dead.Close()
	gh := ghtest.Start(t, ghtest.Options{WebhookTimeout: 50 * time.Millisecond})
	app := newClient(t, gh)
	gh.Webhook.Set(slow.URL, "")
	gh.Webhook.Ping()
	gh.Webhook.Set(dead.URL, "")
	gh.Webhook.Ping()
	if d := cmp.Diff([]string{"502 failed to connect to host", "504 timed out"}, deliveryLog(app, "")); d != "" {
		t.Errorf("delivery log (-want +got):\n%s", d)
	}
	if d := gh.Webhook.Deliveries(); d[0].Status != 0 || d[0].Duration < 50*time.Millisecond || d[1].Status != 0 || d[1].Duration > time.Second {
		t.Errorf("deliveries: %+v", d)
	}
}

// TestDeliveriesAreKeptForThreeDays: older ones can't be sent again.
func TestDeliveriesAreKeptForThreeDays(t *testing.T) {
	clock := newClock()
	gh := ghtest.Start(t, ghtest.Options{Now: clock.now})
	old := gh.Webhook.Ping()
	clock.move(72*time.Hour - time.Second)
	gh.Webhook.Ping()
	attempts := fmt.Sprintf("/app/hook/deliveries/%d/attempts", old.ID)
	app := newClient(t, gh)
	// The App's tokens use the machine's time.
	app.auth = "Bearer " + signJWT(t, gh, jwt.SigningMethodRS256, func(m jwt.MapClaims) {
		m["iat"], m["exp"] = clock.now().Unix(), clock.now().Add(time.Minute).Unix()
	})
	app.want(app.do("POST", attempts, nil), http.StatusAccepted)
	settle(t, gh)
	if n := len(deliveryLog(app, "")); n != 3 {
		t.Errorf("%d deliveries listed, want 3", n)
	}
	clock.move(time.Second)
	app.refused(app.do("POST", attempts, nil), http.StatusNotFound, "Not Found")
	app.refused(app.do("GET", fmt.Sprintf("/app/hook/deliveries/%d", old.ID), nil), http.StatusNotFound, "Not Found")
	if n := len(deliveryLog(app, "")); n != 2 {
		t.Errorf("%d deliveries listed, want 2", n)
	}
}

// TestOverlappingDeliveries: the log lists deliveries in the order in which they started,
// whichever ended first. No page of the log skips one.
func TestOverlappingDeliveries(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-GitHub-Event") == "slow" {
			close(held)
			<-release
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(h.Close)
	gh := ghtest.Start(t, ghtest.Options{WebhookURL: h.URL})
	var wg sync.WaitGroup
	wg.Go(func() { gh.Webhook.Send("slow", "", map[string]any{}) })
	<-held
	gh.Webhook.Ping()
	gh.Webhook.Ping()
	close(release)
	wg.Wait()
	want := []string{"200 OK", "200 OK", "418 Invalid HTTP Response: 418"}
	if d := cmp.Diff(want, deliveryLog(newClient(t, gh), "")); d != "" {
		t.Errorf("delivery log (-want +got):\n%s", d)
	}
}

// TestRedeliverAtOnce: many attempts at one event may run in parallel.
func TestRedeliverAtOnce(t *testing.T) {
	h := newHook(t)
	gh, repo, _ := shop(t, ghtest.Options{WebhookURL: h.URL, Permissions: noChecks, Events: []string{"pull_request"}})
	repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a": "1"}})
	guid := gh.Webhook.LastDelivery("pull_request").GUID
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := gh.Webhook.Redeliver(guid); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(gh.Webhook.Deliveries()); n != 9 {
		t.Errorf("%d attempts in the log instead of 9", n)
	}
}

func TestWaitFor(t *testing.T) {
	gh, repo, _ := shop(t, ghtest.Options{})
	pr := repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	var wg sync.WaitGroup
	wg.Go(func() { pr.Comment("alice", "here") })
	waitFor(t, gh, func() bool { return len(pr.Comments()) == 1 })
	wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := gh.WaitFor(ctx, func() bool { return false }); err == nil {
		t.Error("waiting for an event that never comes succeeded")
	}
}

// TestCloseReleasesHeldRequests: a request that a hook holds doesn't keep the Server from closing.
func TestCloseReleasesHeldRequests(t *testing.T) {
	gh, err := ghtest.New(ghtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	gh.On("GET /app", func(x *ghtest.Exchange) {
		close(held)
		<-x.Context().Done()
	})
	c := newClient(t, gh)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.try("GET", "/app", nil); err == nil {
			t.Error("a closed server answered")
		}
	})
	<-held
	if err := gh.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
