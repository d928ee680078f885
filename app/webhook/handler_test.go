package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
)

const testApp = 42

var (
	secret = []byte("current")
	older  = []byte("previous")
	noon   = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// inbox records what was accepted.
type inbox struct {
	got []ports.Delivery
	say ports.Accepted
	err error
}

func (b *inbox) accept(_ context.Context, d ports.Delivery) (ports.Accepted, error) {
	b.got = append(b.got, d)
	return b.say, b.err
}

func newHandler(t testing.TB, b *inbox, change func(*Config)) *Handler {
	t.Helper()
	c := Config{Secrets: [][]byte{secret, older}, AppID: testApp, Accept: b.accept, Now: func() time.Time { return noon }}
	if change != nil {
		change(&c)
	}
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func sign(key []byte, body string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// delivery is a request as GitHub sends it.
func delivery(event, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/github/hook", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	r.Header.Set("X-Hub-Signature-256", sign(secret, body))
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A database that hangs makes a delivery fail in time for GitHub to record it.
func TestStoringHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	h := newHandler(t, &inbox{}, func(c *Config) {
		c.MaxStoring = 10 * time.Millisecond
		c.Accept = func(context.Context, ports.Delivery) (ports.Accepted, error) {
			<-release
			return ports.Accepted{}, nil
		}
	})
	answered := make(chan *httptest.ResponseRecorder, 1)
	go func() { answered <- serve(h, delivery("ping", `{"zen": "Mind your words."}`)) }()
	select {
	case r := <-answered:
		if r.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d, %s", r.Code, r.Body)
		}
	case <-time.After(maxStoring / 2):
		t.Error("no answer")
	}
}

// withoutAbout compares deliveries without what only the log shows; see
// TestLogNamesWhatADeliveryIsAbout.
var withoutAbout = cmpopts.IgnoreFields(ports.Delivery{}, "About")

// The log line of a delivery names the repository, and the pull request and head where the
// event has them.
func TestLogNamesWhatADeliveryIsAbout(t *testing.T) {
	const repository = `"installation":{"id":7},"repository":{"id":1001,"name":"shop","owner":{"login":"acme"}}`
	for name, test := range map[string]struct{ event, body, want string }{
		"pull request": {"pull_request", opened, "repo=acme/shop pr=12 head=ec26c3e"},
		"command": {
			"issue_comment", `{"action":"created",` + repository + `,"issue":{"number":12,"pull_request":{},"user":{"login":"alice"}},` +
				`"comment":{"id":9,"body":"/review","user":{"login":"bob","type":"User"}}}`, "repo=acme/shop pr=12",
		},
		"nothing to do":        {"pull_request", strings.Replace(opened, "opened", "assigned", 1), "repo=acme/shop pr=12 head=ec26c3e"},
		"comment on an issue":  {"issue_comment", `{"action":"created",` + repository + `,"issue":{"number":12},"comment":{"id":9,"body":"hi","user":{"login":"bob","type":"User"}}}`, "repo=acme/shop"},
		"event of no interest": {"star", `{"action":"created",` + repository + `}`, "repo=acme/shop"},
		"check run": {
			"check_run", `{"action":"completed",` + repository + `,"check_run":{"head_sha":"` + sha1Head + `","app":{"id":9},` +
				`"pull_requests":[{"number":12,"base":{"repo":{"id":1001}}},{"number":3,"base":{"repo":{"id":9}}}]}}`, "repo=acme/shop pr=12 head=ec26c3e",
		},
		"check run of two pull requests": {
			"check_run", `{"action":"completed",` + repository + `,"check_run":{"head_sha":"` + sha1Head + `","app":{"id":9},` +
				`"pull_requests":[{"number":12,"base":{"repo":{"id":1001}}},{"number":14,"base":{"repo":{"id":1001}}}]}}`, "repo=acme/shop head=ec26c3e",
		},
		"check suite":             {"check_suite", `{"action":"completed",` + repository + `,"check_suite":{"head_sha":"` + sha1Head + `","app":{"id":9}}}`, "repo=acme/shop head=ec26c3e"},
		"malformed head":          {"check_suite", `{"action":"requested",` + repository + `,"check_suite":{"head_sha":"main","app":{"id":9}}}`, "repo=acme/shop"},
		"alert on a pull request": {"code_scanning_alert", `{"action":"created",` + repository + `,"ref":"refs/pull/12/merge"}`, "repo=acme/shop pr=12"},
		"alert on a branch":       {"code_scanning_alert", `{"action":"created",` + repository + `,"ref":"refs/heads/main"}`, "repo=acme/shop"},
		"merge group": {
			"merge_group", `{"action":"checks_requested",` + repository + `,"merge_group":{"head_sha":"` + sha1Head + `","base_sha":"` + sha1Base + `",` +
				`"head_ref":"refs/heads/gh-readonly-queue/main/pr-12-` + sha1Head + `"}}`, "repo=acme/shop pr=12 head=ec26c3e",
		},
		"no repository": {"ping", `{"zen":"Keep it logically awesome."}`, ""},
	} {
		var log bytes.Buffer
		h := newHandler(t, &inbox{}, func(c *Config) { c.Log = zerolog.New(&log) })
		serve(h, delivery(test.event, test.body))
		var line struct {
			Repo, Head string
			PR         int
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v: %s", name, err, log.String())
		}
		var got []string
		if line.Repo != "" {
			got = append(got, "repo="+line.Repo)
		}
		if line.PR != 0 {
			got = append(got, fmt.Sprintf("pr=%d", line.PR))
		}
		if line.Head != "" {
			got = append(got, "head="+line.Head)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

const (
	sha1Head = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
	sha1Base = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
)

const opened = `{"action":"opened","installation":{"id":7},"repository":{"id":1001,"name":"shop","owner":{"login":"acme"}},` +
	`"pull_request":{"number":12,"head":{"sha":"` + sha1Head + `"}}}`

func TestRefused(t *testing.T) {
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	drop := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Del(name) }
	}
	edit := func(old, new string) string {
		edited := strings.Replace(opened, old, new, 1)
		if edited == opened {
			t.Fatalf("%q is not in the payload", old)
		}
		return edited
	}
	keep := func(*http.Request) {}
	tests := map[string]struct {
		body   string
		change func(*http.Request)
		status int
	}{
		"GET":                      {opened, func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"no content type":          {opened, drop("Content-Type"), 400},
		"form":                     {opened, set("Content-Type", "application/x-www-form-urlencoded"), 400},
		"text":                     {opened, set("Content-Type", "text/plain"), 400},
		"no signature":             {opened, drop("X-Hub-Signature-256"), 401},
		"empty signature":          {opened, set("X-Hub-Signature-256", ""), 401},
		"SHA-1 only":               {opened, set("X-Hub-Signature-256", "sha1=7d38cdd689735b008b3c702edd92eea23791c5f6"), 401},
		"signature not hex":        {opened, set("X-Hub-Signature-256", "sha256="+strings.Repeat("z", 64)), 401},
		"short signature":          {opened, set("X-Hub-Signature-256", "sha256=00"), 401},
		"two signatures":           {opened, func(r *http.Request) { r.Header.Add("X-Hub-Signature-256", sign(secret, opened)) }, 401},
		"other secret":             {opened, set("X-Hub-Signature-256", sign([]byte("guess"), opened)), 401},
		"empty secret":             {opened, set("X-Hub-Signature-256", sign(nil, opened)), 401},
		"signed another body":      {opened, set("X-Hub-Signature-256", sign(secret, opened+" ")), 401},
		"unsigned and not JSON":    {"{", set("X-Hub-Signature-256", sign([]byte("guess"), "{")), 401},
		"no event":                 {opened, drop("X-GitHub-Event"), 400},
		"malformed event":          {opened, set("X-GitHub-Event", "pull request\n"), 400},
		"no delivery":              {opened, drop("X-GitHub-Delivery"), 400},
		"malformed delivery":       {opened, set("X-GitHub-Delivery", "1; drop table"), 400},
		"empty body":               {"", keep, 400},
		"truncated JSON":           {opened[:len(opened)-10], keep, 400},
		"two values":               {opened + opened, keep, 400},
		"array":                    {"[]", keep, 400},
		"null":                     {"null", keep, 400},
		"string":                   {`"opened"`, keep, 400},
		"deep nesting":             {`{"a":` + strings.Repeat("[", 100000), keep, 400},
		"action not a string":      {edit(`"opened"`, `5`), keep, 400},
		"number a string":          {edit(`"number":12`, `"number":"12"`), keep, 400},
		"number negative":          {edit(`"number":12`, `"number":-12`), keep, 400},
		"number a fraction":        {edit(`"number":12`, `"number":12.5`), keep, 400},
		"number too large":         {edit(`"number":12`, `"number":99999999999999999999`), keep, 400},
		"number without end":       {edit(`"number":12`, `"number":`+strings.Repeat("9", 60000)), keep, 400},
		"number missing":           {edit(`"number":12,`, ``), keep, 400},
		"installation missing":     {edit(`"installation":{"id":7},`, ``), keep, 400},
		"installation a string":    {edit(`{"id":7}`, `"7"`), keep, 400},
		"repository missing":       {edit(`"repository":{"id":1001,"name":"shop","owner":{"login":"acme"}},`, ``), keep, 400},
		"repository null":          {edit(`{"id":1001,"name":"shop","owner":{"login":"acme"}}`, `null`), keep, 400},
		"repository id zero":       {edit(`"id":1001`, `"id":0`), keep, 400},
		"owner climbs":             {edit(`"login":"acme"`, `"login":".."`), keep, 400},
		"owner has a slash":        {edit(`"login":"acme"`, `"login":"acme/x"`), keep, 400},
		"name climbs":              {edit(`"name":"shop"`, `"name":".."`), keep, 400},
		"name with a query":        {edit(`"name":"shop"`, `"name":"shop?x=1"`), keep, 400},
		"name with a NUL":          {edit(`"name":"shop"`, `"name":"shop\u0000"`), keep, 400},
		"name with a line end":     {edit(`"name":"shop"`, `"name":"shop\n"`), keep, 400},
		"head missing":             {edit(`"sha":"`+sha1Head+`"`, ``), keep, 400},
		"head a branch":            {edit(sha1Head, `main`), keep, 400},
		"head too short":           {edit(sha1Head, sha1Head[:39]), keep, 400},
		"head in capitals":         {edit(sha1Head, strings.ToUpper(sha1Head)), keep, 400},
		"pull request an array":    {edit(`"pull_request":{"number":12,"head":{"sha":"`+sha1Head+`"}}`, `"pull_request":[]`), keep, 400},
		"larger than the limit":    {opened + strings.Repeat(" ", 5000), keep, 413},
		"larger, without a length": {opened + strings.Repeat(" ", 5000), func(r *http.Request) { r.ContentLength = -1 }, 413},
		"shorter than promised":    {opened, func(r *http.Request) { r.Body = io.NopCloser(brokenReader{}) }, 400},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var b inbox
			h := newHandler(t, &b, func(c *Config) { c.MaxBody = 4096 })
			if len(tt.body) > 50000 {
				h = newHandler(t, &b, nil)
			}
			r := delivery("pull_request", tt.body)
			tt.change(r)
			w := serve(h, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			var said struct{ Status, Error string }
			if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said.Error == "" || said.Status != "" {
				t.Errorf("answer %q does not say what is wrong", w.Body)
			}
			if strings.Count(w.Body.String(), "\n") != 1 || strings.Contains(said.Error, "\n") || w.Body.Len() > 1000 {
				t.Errorf("answer %q is not one short line", w.Body)
			}
			if tt.status == 405 && w.Header().Get("Allow") != "POST" {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
			if len(b.got) != 0 {
				t.Errorf("accepted although it was refused: %+v", b.got)
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestSettingsRefused(t *testing.T) {
	accept := (&inbox{}).accept
	for name, c := range map[string]Config{
		"no secret":        {Accept: accept},
		"an empty secret":  {Accept: accept, Secrets: [][]byte{{}}},
		"one empty secret": {Accept: accept, Secrets: [][]byte{secret, {}}},
		"no Accept":        {Secrets: [][]byte{secret}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSecretRotation(t *testing.T) {
	for _, key := range [][]byte{secret, older} {
		var b inbox
		r := delivery("pull_request", opened)
		r.Header.Set("X-Hub-Signature-256", sign(key, opened))
		if w := serve(newHandler(t, &b, nil), r); w.Code != 202 || len(b.got) != 1 {
			t.Errorf("signed with %q: status %d", key, w.Code)
		}
	}
}

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		event  string
		inbox  inbox
		status int
		body   string
		seen   string
	}{
		"accepted":  {"pull_request", inbox{}, 202, `{"status":"accepted"}`, "pull_request accepted"},
		"duplicate": {"pull_request", inbox{say: ports.Accepted{Duplicate: true}}, 202, `{"status":"duplicate"}`, "pull_request duplicate"},
		"no-op":     {"star", inbox{say: ports.Accepted{NoOp: true}}, 202, `{"status":"no_op"}`, "star no_op"},
		"ping":      {"ping", inbox{say: ports.Accepted{NoOp: true}}, 200, `{"status":"no_op"}`, "ping no_op"},
		"no store": {"pull_request", inbox{err: errors.New("disk full: /var/lib")}, 503,
			`{"error":"the delivery could not be stored; deliver it again"}`, "pull_request failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var seen string
			h := newHandler(t, &tt.inbox, func(c *Config) {
				c.Observe = func(_ context.Context, d ports.Delivery, _, outcome string, _ time.Duration) {
					seen = d.Event + " " + outcome
				}
			})
			w := serve(h, delivery(tt.event, opened))
			if w.Code != tt.status || strings.TrimSpace(w.Body.String()) != tt.body {
				t.Errorf("answer %d %s, want %d %s", w.Code, w.Body, tt.status, tt.body)
			}
			if seen != tt.seen {
				t.Errorf("observed %q, want %q", seen, tt.seen)
			}
		})
	}
}

func TestUnsignedEventIsNotAMetric(t *testing.T) {
	seen := "nothing"
	h := newHandler(t, &inbox{}, func(c *Config) {
		c.Observe = func(_ context.Context, d ports.Delivery, _, outcome string, _ time.Duration) {
			seen = d.Event + "/" + outcome
		}
	})
	r := delivery("made_up", "{}")
	r.Header.Set("X-Hub-Signature-256", sign([]byte("guess"), "{}"))
	serve(h, r)
	if seen != "/rejected" {
		t.Errorf("observed %q", seen)
	}
}

// pull and group are the targets of the payloads below.
var (
	pull = ports.Target{Kind: ports.TargetPull, Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop", Number: 12, HeadSHA: sha1Head}
	base = ports.Delivery{GUID: "72d3162e-cc78-11e3-81ab-4c9367dc0958", Installation: 7, RepoID: 1001, ReceivedAt: noon}
)

// headless is a target as comments name it.
func headless(t ports.Target) ports.Target {
	t.HeadSHA = ""
	return t
}

const envelopeJSON = `"installation":{"id":7},"repository":{"id":1001,"name":"shop","owner":{"login":"acme"}}`

func TestAsks(t *testing.T) {
	pr := func(action, more string) string {
		return `{"action":"` + action + `",` + envelopeJSON + `,"pull_request":{"number":12,"head":{"sha":"` + sha1Head + `"}}` + more + `}`
	}
	asked := func(reason string, labels bool) []ports.Ask {
		return []ports.Ask{ports.ReviewAsk{Target: pull, Reason: reason, LabelsOnly: labels}}
	}
	ofType := func(reason string) []ports.Ask {
		return []ports.Ask{ports.ReviewAsk{Target: pull, Reason: reason, LabelsOnly: true, TypeLabel: true}}
	}
	retargeted := func(reason, from, to string) []ports.Ask {
		return []ports.Ask{ports.Push{Target: pull, Retargeted: true, FromBase: from, ToBase: to}, ports.ReviewAsk{Target: pull, Reason: reason, Fresh: true}}
	}
	tests := map[string]struct {
		event, action, body string
		want                []ports.Ask
	}{
		"opened":            {"pull_request", "opened", pr("opened", ""), asked("opened", false)},
		"reopened":          {"pull_request", "reopened", pr("reopened", ""), []ports.Ask{ports.ReviewAsk{Target: pull, Reason: "reopened", Fresh: true}}},
		"pushed":            {"pull_request", "synchronize", pr("synchronize", ""), asked("new commits", false)},
		"ready":             {"pull_request", "ready_for_review", pr("ready_for_review", ""), asked("ready for review", false)},
		"draft":             {"pull_request", "converted_to_draft", pr("converted_to_draft", ""), asked("converted to draft", false)},
		"title":             {"pull_request", "edited", pr("edited", `,"changes":{"title":{"from":"x"}}`), asked("title edited", false)},
		"body":              {"pull_request", "edited", pr("edited", `,"changes":{"body":{"from":null}}`), asked("description edited", false)},
		"title, body, base": {"pull_request", "edited", pr("edited", `,"changes":{"title":{},"body":{},"base":{"ref":{}}}`), retargeted("title edited, description edited, base changed", "", "")},
		"base":              {"pull_request", "edited", strings.Replace(pr("edited", `,"changes":{"base":{"ref":{"from":"scratch"}}}`), `"pull_request":{`, `"pull_request":{"base":{"ref":"main"},`, 1), retargeted("base changed", "scratch", "main")},
		"edited nothing":    {"pull_request", "edited", pr("edited", `,"changes":{}`), nil},
		"labeled":           {"pull_request", "labeled", pr("labeled", `,"label":{"name":"help wanted"}`), asked("label added", true)},
		"unlabeled":         {"pull_request", "unlabeled", pr("unlabeled", `,"label":{"name":"type: urgent"}`), asked("label removed", true)},
		"label of a type":   {"pull_request", "labeled", pr("labeled", `,"label":{"name":"Type: Bug"}`), ofType("label added")},
		"deleted label":     {"pull_request", "unlabeled", pr("unlabeled", ""), ofType("label removed")},
		"closed":            {"pull_request", "closed", pr("closed", ""), []ports.Ask{ports.Close{Target: pull}}},
		"merged": {"pull_request", "closed", strings.Replace(pr("closed", ""), `"pull_request":{`, `"pull_request":{"merged":true,`, 1),
			[]ports.Ask{ports.Close{Target: pull, Merged: true}}},
		"closed at a time": {"pull_request", "closed", strings.Replace(pr("closed", ""), `"pull_request":{`, `"pull_request":{"closed_at":"2026-11-20T11:59:30Z",`, 1),
			[]ports.Ask{ports.Close{Target: pull, At: noon.Add(-30 * time.Second)}}},
		"assigned":           {"pull_request", "assigned", pr("assigned", ""), nil},
		"action of tomorrow": {"pull_request", "blessed", pr("blessed", ""), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkAsk(t, tt.event, tt.action, tt.body, tt.want) })
	}
}

func checkAsk(t *testing.T, event, action, body string, want []ports.Ask) {
	t.Helper()
	var b inbox
	if w := serve(newHandler(t, &b, nil), delivery(event, body)); w.Code != 202 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	expected := base
	expected.Event, expected.Action, expected.Asks = event, action, want
	if diff := cmp.Diff([]ports.Delivery{expected}, b.got, withoutAbout); diff != "" {
		t.Errorf("delivery (-want +got):\n%s", diff)
	}
}

func TestMergeGroup(t *testing.T) {
	group := func(action, ref string) string {
		return `{"action":"` + action + `",` + envelopeJSON + `,"merge_group":{"head_sha":"` + sha1Head + `","base_sha":"` + sha1Base + `","head_ref":"` + ref + `"}}`
	}
	target := func(number int, ref string) ports.Target {
		return ports.Target{Kind: ports.TargetGroup, Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop",
			Number: number, HeadSHA: sha1Head, BaseSHA: sha1Base, HeadRef: ref}
	}
	const queue = "refs/heads/gh-readonly-queue/"
	for ref, number := range map[string]int{
		queue + "main/pr-104-" + sha1Base:                104,
		queue + "release/2.x/pr-7-" + sha1Base:           7,
		queue + "pr-5-" + sha1Base + "/pr-6-" + sha1Base: 6,
		queue + "main/pr-104-" + strings.Repeat("a", 64): 104,
		queue + "main/pr-0-" + sha1Base:                  0,
		queue + "main/pr-99999999999-" + sha1Base:        0,
		queue + "main/pr-104-" + sha1Base[:10]:           0,
		"refs/heads/something-else":                      0,
	} {
		checkAsk(t, "merge_group", "checks_requested", group("checks_requested", ref), []ports.Ask{ports.ReviewAsk{Target: target(number, ref), Reason: "entered the merge queue"}})
	}
	ref := queue + "main/pr-104-" + sha1Base
	checkAsk(t, "merge_group", "destroyed", group("destroyed", ref), []ports.Ask{ports.Close{Target: target(104, ref)}})
	for name, body := range map[string]string{
		"no head":            strings.Replace(group("checks_requested", ref), sha1Head, "", 1),
		"no base":            strings.Replace(group("checks_requested", ref), `"`+sha1Base+`",`, `"",`, 1),
		"ref with a space":   group("checks_requested", "refs/heads/a b"),
		"ref of no branch":   group("checks_requested", "refs/tags/v1"),
		"merge_group a list": `{"action":"destroyed",` + envelopeJSON + `,"merge_group":[]}`,
	} {
		if w := serve(newHandler(t, &inbox{}, nil), delivery("merge_group", body)); w.Code != 400 {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

func TestComments(t *testing.T) {
	comment := func(edits ...string) string {
		body := `{"action":"created",` + envelopeJSON + `,"issue":{"number":12,"user":{"login":"alice","type":"User"},"pull_request":{"url":"u"}},` +
			`"comment":{"id":55,"body":"/review","user":{"login":"bob","type":"User"}},"sender":{"login":"bob","type":"User"}}`
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(body, edits[i]) {
				t.Fatalf("%q is not in the payload", edits[i])
			}
			body = strings.ReplaceAll(body, edits[i], edits[i+1])
		}
		return body
	}
	command := func(name, sender, author string) []ports.Ask {
		return []ports.Ask{ports.Command{Place: ports.PlaceConversation, CommentID: 55, Target: headless(pull), Sender: sender, Author: author, Name: name, ReceivedAt: noon}}
	}
	tests := map[string]struct {
		action, body string
		want         []ports.Ask
	}{
		"a command":             {"created", comment(), command("review", "bob", "alice")},
		"a subcommand":          {"created", comment("/review", "/review help"), command("help", "bob", "alice")},
		"on a bot's PR":         {"created", comment(`"alice","type":"User"`, `"renovate[bot]","type":"Bot"`), command("review", "bob", "renovate[bot]")},
		"on a deleted author's": {"created", comment(`{"login":"alice","type":"User"}`, `null`), command("review", "bob", "ghost")},
		"words":                 {"created", comment("/review", "please review"), nil},
		"edited":                {"edited", comment(`"created"`, `"edited"`), nil},
		"deleted":               {"deleted", comment(`"created"`, `"deleted"`), nil},
		"on an issue":           {"created", comment(`,"pull_request":{"url":"u"}`, ``), nil},
		"by a bot":              {"created", comment(`"bob","type":"User"`, `"reviewgate[bot]","type":"Bot"`), nil},
		"by a bot for a person": {"created", comment(`"sender":{"login":"bob","type":"User"}`, `"sender":{"login":"bob","type":"Bot"}`), nil},
		"by an App in a name":   {"created", comment(`"id":55,`, `"id":55,"performed_via_github_app":{"id":9},`), nil},
		"by no App":             {"created", comment(`"id":55,`, `"id":55,"performed_via_github_app":null,`), command("review", "bob", "alice")},
		"sent by someone else":  {"created", comment(`"sender":{"login":"bob"`, `"sender":{"login":"eve"`), nil},
		"by a mannequin":        {"created", comment(`"bob","type":"User"`, `"bob","type":"Mannequin"`), nil},
		// A comment without a command is not routed, so its fields may be missing.
		"words, fields missing": {"created", comment(`"id":55,`, ``, "/review", "thanks"), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkAsk(t, "issue_comment", tt.action, tt.body, tt.want) })
	}
	for name, body := range map[string]string{
		"no id":          comment(`"id":55,`, ``),
		"id a string":    comment(`55`, `"55"`),
		"no number":      comment(`"number":12,`, ``),
		"no author":      comment(`"login":"alice",`, ``),
		"strange sender": comment(`"bob"`, `"bob/../.."`),
		"body a number":  comment(`"/review"`, `5`),
	} {
		if w := serve(newHandler(t, &inbox{}, nil), delivery("issue_comment", body)); w.Code != 400 {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
	}
}

// The body of a review and comments on lines are commands just like comments in the
// conversation. Each counts once, and an edit never counts.
func TestReviewsCommand(t *testing.T) {
	event := func(what, action string, edits ...string) string {
		body := `{"action":"` + action + `",` + envelopeJSON + `,"pull_request":{"number":12,"state":"open","user":{"login":"alice","type":"User"},"head":{"sha":"` + sha1Head + `"}},` +
			`"` + what + `":{"id":55,"body":"/review dismiss 0f3a not  ours","user":{"login":"bob","type":"User"}},"sender":{"login":"bob","type":"User"}}`
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(body, edits[i]) {
				t.Fatalf("%q is not in the payload", edits[i])
			}
			body = strings.ReplaceAll(body, edits[i], edits[i+1])
		}
		return body
	}
	const words, line = "pull_request_review", "pull_request_review_comment"
	said := func(place ports.CommentPlace, author string, received, written time.Time) []ports.Ask {
		return []ports.Ask{ports.Command{
			Place: place, CommentID: 55, Target: headless(pull), Sender: "bob", Author: author, Name: "dismiss", Args: "0f3a not ours", ReceivedAt: received, WrittenAt: written,
		}}
	}
	dismissal := func(place ports.CommentPlace) []ports.Ask { return said(place, "alice", noon, time.Time{}) }
	for name, tt := range map[string]struct {
		event, action, body string
		want                []ports.Ask
	}{
		"a review":                            {words, "submitted", event("review", "submitted"), dismissal(ports.PlaceReview)},
		"a review without words":              {words, "submitted", event("review", "submitted", `"/review dismiss 0f3a not  ours"`, "null"), nil},
		"a review, edited":                    {words, "edited", event("review", "edited"), nil},
		"a review, dismissed":                 {words, "dismissed", event("review", "dismissed"), nil},
		"a review by a bot":                   {words, "submitted", event("review", "submitted", `"bob","type":"User"`, `"reviewgate[bot]","type":"Bot"`), nil},
		"a comment":                           {line, "created", event("comment", "created"), dismissal(ports.PlaceReviewLine)},
		"a comment, edited":                   {line, "edited", event("comment", "edited"), nil},
		"a comment, deleted":                  {line, "deleted", event("comment", "deleted"), nil},
		"a comment by a bot":                  {line, "created", event("comment", "created", `"bob","type":"User"`, `"reviewgate[bot]","type":"Bot"`), nil},
		"sent by someone else":                {line, "created", event("comment", "created", `"sender":{"login":"bob"`, `"sender":{"login":"eve"`), nil},
		"a deleted author's":                  {line, "created", event("comment", "created", `{"login":"alice","type":"User"}`, `null`), said(ports.PlaceReviewLine, "ghost", noon, time.Time{})},
		"closed":                              {line, "created", event("comment", "created", `"state":"open"`, `"state":"closed"`), nil},
		"a thread, resolved":                  {"pull_request_review_thread", "resolved", event("thread", "resolved"), nil},
		"a review that was lost for an hour":  {words, "submitted", event("review", "submitted", `"id":55,`, `"id":55,"submitted_at":"2026-11-20T11:00:00Z",`), said(ports.PlaceReview, "alice", noon.Add(-time.Hour), noon.Add(-time.Hour))},
		"a comment by a clock that is behind": {line, "created", event("comment", "created", `"id":55,`, `"id":55,"created_at":"2026-11-20T11:59:30Z",`), said(ports.PlaceReviewLine, "alice", noon, noon.Add(-30*time.Second))},
		"a comment from the future":           {line, "created", event("comment", "created", `"id":55,`, `"id":55,"created_at":"2027-11-20T12:00:00Z",`), said(ports.PlaceReviewLine, "alice", noon, noon.AddDate(1, 0, 0))},
	} {
		t.Run(name, func(t *testing.T) { checkAsk(t, tt.event, tt.action, tt.body, tt.want) })
	}
	for name, body := range map[string]string{
		"no id":          event("review", "submitted", `"id":55,`, ``),
		"no number":      event("review", "submitted", `"number":12,`, ``),
		"no author":      event("review", "submitted", `"login":"alice",`, ``),
		"strange sender": event("review", "submitted", `"bob"`, `"bob/../.."`),
		"body a number":  event("review", "submitted", `"/review dismiss 0f3a not  ours"`, `5`),
		"no action":      event("review", ""),
	} {
		if w := serve(newHandler(t, &inbox{}, nil), delivery(words, body)); w.Code != 400 {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
	}
}

// When a comment has or had the section of a review report, its edit or deletion by anybody
// is a change of a report. Whether the author's report counts is decided later.
func TestReportsInComments(t *testing.T) {
	const section = `# Review\n\n## Machine-Readable Review Data\n\n...`
	comment := func(action, body, before string, edits ...string) string {
		text := `{"action":"` + action + `",` + envelopeJSON + `,"issue":{"number":12,"user":{"login":"alice","type":"User"},"pull_request":{"url":"u"}},` +
			`"comment":{"id":55,"body":"` + body + `","user":{"login":"bob","type":"User"}},"changes":{"body":{"from":"` + before + `"}},"sender":{"login":"carol","type":"User"}}`
		return strings.NewReplacer(edits...).Replace(text)
	}
	report := []ports.Ask{ports.ReportNews{Target: headless(pull), Author: "bob"}}
	tests := map[string]struct {
		action, body string
		want         []ports.Ask
	}{
		"created":     {"created", comment("created", section, ""), report},
		"edited":      {"edited", comment("edited", section, section), report},
		"edited into": {"edited", comment("edited", section, "Soon."), report},
		"edited out":  {"edited", comment("edited", "Withdrawn.", section), report},
		"deleted":     {"deleted", comment("deleted", section, ""), report},
		"pinned":      {"pinned", comment("pinned", section, ""), nil},
		"words":       {"created", comment("created", "See the machine-readable review data.", ""), nil},
		"quoted":      {"created", comment("created", "> ## Machine-Readable Review Data", ""), nil},
		"on an issue": {"created", comment("created", section, "", `,"pull_request":{"url":"u"}`, ""), nil},
		"on a closed": {"created", comment("created", section, "", `"number":12`, `"number":12,"state":"closed"`), nil},
		"by a bot":    {"created", comment("created", section, "", `"bob","type":"User"`, `"reviewgate[bot]","type":"Bot"`), nil},
		"by an app's": {"edited", comment("edited", section, "", `"carol","type":"User"`, `"tidy[bot]","type":"Bot"`), report},
		"by an author": {"created", comment("created", `/review\n`+section, "", "carol", "bob"), []ports.Ask{
			ports.Command{Place: ports.PlaceConversation, CommentID: 55, Target: headless(pull), Sender: "bob", Author: "alice", Name: "review", ReceivedAt: noon},
			report[0],
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkAsk(t, "issue_comment", tt.action, tt.body, tt.want) })
	}
	for name, body := range map[string]string{
		"no number":      comment("created", section, "", `"number":12,`, ``),
		"strange author": comment("created", section, "", `"bob"`, `"bob/../.."`),
		"text a number":  comment("edited", section, "", `{"from":""}`, `{"from":5}`),
	} {
		if w := serve(newHandler(t, &inbox{}, nil), delivery("issue_comment", body)); w.Code != 400 {
			t.Errorf("%s: status %d: %s", name, w.Code, w.Body)
		}
	}
}

func TestCheckRuns(t *testing.T) {
	check := func(action, app, pulls string) string {
		return `{"action":"` + action + `",` + envelopeJSON + `,"check_run":{"head_sha":"` + sha1Head + `","app":` + app + `,"pull_requests":` + pulls + `}}`
	}
	rerun := func(numbers ...int) []ports.Ask {
		return []ports.Ask{ports.Rerequest{Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop", HeadSHA: sha1Head, Numbers: numbers}}
	}
	const two = `[{"number":12,"base":{"repo":{"id":1001}}},{"number":3,"base":{"repo":{"id":9}}},{"number":14,"base":{"repo":{"id":1001}}}]`
	tests := map[string]struct {
		action, body string
		want         []ports.Ask
	}{
		"ours":                 {"rerequested", check("rerequested", `{"id":42}`, two), rerun(12, 14)},
		"of a fork":            {"rerequested", check("rerequested", `{"id":42}`, `[]`), rerun()},
		"of another App":       {"rerequested", check("rerequested", `{"id":43}`, two), nil},
		"of no App":            {"rerequested", check("rerequested", `null`, two), nil},
		"completed":            {"completed", check("completed", `{"id":42}`, two), nil},
		"our button":           {"requested_action", strings.Replace(check("requested_action", `{"id":42}`, two), `{`, `{"requested_action":{"identifier":"review"},`, 1), rerun(12, 14)},
		"another App's button": {"requested_action", strings.Replace(check("requested_action", `{"id":43}`, two), `{`, `{"requested_action":{"identifier":"review"},`, 1), nil},
		"old button":           {"requested_action", strings.Replace(check("requested_action", `{"id":42}`, two), `{`, `{"requested_action":{"identifier":"fix"},`, 1), nil},
		"our created":          {"created", check("created", `{"id":42}`, two), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkAsk(t, "check_run", tt.action, tt.body, tt.want) })
	}
	for name, body := range map[string]string{
		"no head":         strings.Replace(check("rerequested", `{"id":42}`, two), sha1Head, "", 1),
		"app id a string": check("rerequested", `{"id":"42"}`, two),
		"pulls an object": check("rerequested", `{"id":42}`, `{}`),
	} {
		if w := serve(newHandler(t, &inbox{}, nil), delivery("check_run", body)); w.Code != 400 {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

// The end of another App's check or suite, and a change of an alert of a pull request, are
// scan events.
func TestEventsOfOtherAppsFindings(t *testing.T) {
	check := func(action, app string, annotations int) string {
		return fmt.Sprintf(`{"action":%q,%s,"check_run":{"head_sha":%q,"name":"lint\n","app":%s,"output":{"annotations_count":%d}}}`, action, envelopeJSON, sha1Head, app, annotations)
	}
	suite := func(action string, app int) string {
		return fmt.Sprintf(`{"action":%q,%s,"check_suite":{"head_sha":%q,"app":{"id":%d,"slug":"ci"}}}`, action, envelopeJSON, sha1Head, app)
	}
	alert := func(ref string) string {
		return fmt.Sprintf(`{"action":"appeared_in_branch",%s,"ref":%q,"alert":{}}`, envelopeJSON, ref)
	}
	instance := func(action, ref, newest string) string {
		return fmt.Sprintf(`{"action":%q,%s,"ref":%q,"alert":{"most_recent_instance":{"ref":%q}}}`, action, envelopeJSON, ref, newest)
	}
	instances := func(action, a, b string) string {
		return fmt.Sprintf(`{"action":%q,%s,"ref":null,"alert":{"instances":[{"ref":%q},{"ref":%q}]}}`, action, envelopeJSON, a, b)
	}
	news := func(n ports.ScanNews) []ports.Ask {
		n.RepoID = 1001
		return []ports.Ask{n}
	}
	tests := map[string]struct {
		event, action, body string
		want                []ports.Ask
	}{
		"annotated":         {"check_run", "completed", check("completed", `{"id":43,"slug":"ci"}`, 2), news(ports.ScanNews{HeadSHA: sha1Head, App: "ci", Check: "lint", Annotated: true})},
		"not annotated":     {"check_run", "completed", check("completed", `{"id":43,"slug":"ci"}`, 0), news(ports.ScanNews{HeadSHA: sha1Head, App: "ci", Check: "lint"})},
		"ours":              {"check_run", "completed", check("completed", `{"id":42,"slug":"reviewgate"}`, 2), nil},
		"begun":             {"check_run", "created", check("created", `{"id":43,"slug":"ci"}`, 2), nil},
		"a suite":           {"check_suite", "completed", suite("completed", 43), news(ports.ScanNews{HeadSHA: sha1Head, App: "ci"})},
		"our suite":         {"check_suite", "completed", suite("completed", 42), nil},
		"a suite requested": {"check_suite", "requested", suite("requested", 43), nil},
		"an alert":          {"code_scanning_alert", "appeared_in_branch", alert("refs/pull/12/merge"), news(ports.ScanNews{Number: 12})},
		"of the head":       {"code_scanning_alert", "appeared_in_branch", alert("refs/pull/12/head"), news(ports.ScanNews{Number: 12})},
		"of a branch":       {"code_scanning_alert", "appeared_in_branch", alert("refs/heads/main"), nil},
		"of nothing":        {"code_scanning_alert", "appeared_in_branch", alert(""), nil},
		"of an odd ref":     {"code_scanning_alert", "appeared_in_branch", alert("refs/pull/12/merge/x"), nil},
		"of a person":       {"code_scanning_alert", "reopened_by_user", instance("reopened_by_user", "", "refs/pull/12/merge"), news(ports.ScanNews{Number: 12})},
		"listed":            {"code_scanning_alert", "closed_by_user", instances("closed_by_user", "refs/heads/main", "refs/pull/12/head"), news(ports.ScanNews{Number: 12})},
		"of a person, main": {"code_scanning_alert", "closed_by_user", instance("closed_by_user", "", "refs/heads/main"), nil},
		"of a branch now":   {"code_scanning_alert", "fixed", instance("fixed", "refs/heads/main", "refs/pull/12/merge"), nil},
		"of a long number":  {"code_scanning_alert", "appeared_in_branch", alert("refs/pull/12345678901234567890/merge"), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkAsk(t, tt.event, tt.action, tt.body, tt.want) })
	}
	for name, d := range map[string]*http.Request{
		"a check without a head": delivery("check_run", strings.Replace(check("completed", `{"id":43}`, 1), sha1Head, "", 1)),
		"a suite without a head": delivery("check_suite", strings.Replace(suite("completed", 43), sha1Head, "x", 1)),
		"an alert of nowhere":    delivery("code_scanning_alert", strings.Replace(alert("refs/pull/12/merge"), `"id":1001`, `"id":0`, 1)),
		"a ref that is a number": delivery("code_scanning_alert", strings.Replace(alert("x"), `"x"`, "5", 1)),
		"a suite without action": delivery("check_suite", suite("", 43)),
	} {
		if w := serve(newHandler(t, &inbox{}, nil), d); w.Code != 400 {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

// An event that asks for nothing is recorded, whatever its fields are.
func TestOtherEvents(t *testing.T) {
	for body, want := range map[string]ports.Delivery{
		`{}`:                                   {},
		`{"action":"created"}`:                 {Action: "created"},
		`{"action":"a\u0000b\u202e"}`:          {Action: "ab"},
		`{"action":5,"installation":{"id":7}}`: {Installation: 7},
		`{"repository":"none","installation":{"id":7}}`: {Installation: 7},
		`{"installation":{"id":-7}}`:                    {},
		`{"action":"` + strings.Repeat("é", 200) + `"}`: {Action: strings.Repeat("é", 100)},
	} {
		var b inbox
		if w := serve(newHandler(t, &b, nil), delivery("star", body)); w.Code != 202 {
			t.Errorf("%s: status %d: %s", body, w.Code, w.Body)
			continue
		}
		want.GUID, want.Event, want.ReceivedAt = base.GUID, "star", noon
		if diff := cmp.Diff(want, b.got[0], withoutAbout); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	if w := serve(newHandler(t, &inbox{}, nil), delivery("star", `{"action":`)); w.Code != 400 {
		t.Errorf("truncated: status %d", w.Code)
	}
}

func TestInstallationEvents(t *testing.T) {
	for _, tc := range []struct {
		event, action string
		sweeps        bool
	}{
		{"installation", "unsuspend", true},
		{"installation", "new_permissions_accepted", true},
		{"installation_repositories", "added", true},
		{"installation", "created", false},
		{"installation", "suspend", false},
	} {
		var b inbox
		w := serve(newHandler(t, &b, nil), delivery(tc.event, `{"action":"`+tc.action+`","installation":{"id":7}}`))
		if w.Code != http.StatusAccepted || len(b.got) != 1 {
			t.Fatalf("%s %s: status %d", tc.event, tc.action, w.Code)
		}
		var want []ports.Ask
		if tc.sweeps {
			want = []ports.Ask{ports.Sweep{Installation: 7, Granted: tc.action == "new_permissions_accepted"}}
		}
		if diff := cmp.Diff(want, b.got[0].Asks); diff != "" {
			t.Errorf("%s %s: asks (-want +got):\n%s", tc.event, tc.action, diff)
		}
	}
	var b inbox
	if w := serve(newHandler(t, &b, nil), delivery("installation", `{"action":"unsuspend"}`)); w.Code != http.StatusBadRequest {
		t.Errorf("without an installation: status %d", w.Code)
	}
}

func TestCheckSuites(t *testing.T) {
	suite := func(action, app string) string {
		return `{"action":"` + action + `",` + envelopeJSON + `,"check_suite":{"head_sha":"` + sha1Head + `","app":` + app + `,"pull_requests":[{"number":12,"base":{"repo":{"id":1001}}},{"number":3,"base":{"repo":{"id":9}}}]}}`
	}
	for name, tt := range map[string]struct {
		action, body string
		want         []ports.Ask
	}{
		"ours": {"rerequested", suite("rerequested", `{"id":42}`), []ports.Ask{
			ports.Rerequest{Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop", HeadSHA: sha1Head, Numbers: []int{12}},
		}},
		"of another App": {"rerequested", suite("rerequested", `{"id":43}`), nil},
		"of no App":      {"rerequested", suite("rerequested", `null`), nil},
		"requested":      {"requested", suite("requested", `{"id":42}`), nil},
		"completed":      {"completed", suite("completed", `{"id":42}`), nil},
	} {
		t.Run(name, func(t *testing.T) { checkAsk(t, "check_suite", tt.action, tt.body, tt.want) })
	}
	if w := serve(newHandler(t, &inbox{}, nil), delivery("check_suite", strings.Replace(suite("rerequested", `{"id":42}`), sha1Head, "", 1))); w.Code != 400 {
		t.Errorf("no head: status %d", w.Code)
	}
}

func TestPushes(t *testing.T) {
	push := func(ref, more string) string {
		return `{"ref":"` + ref + `","after":"` + sha1Head + `","installation":{"id":7},"repository":{"id":1001,"name":"shop","owner":{"login":"acme"},"default_branch":"main"},` + more + `}`
	}
	commits := func(all ...string) string { return `"commits":[` + strings.Join(all, ",") + `]` }
	commit := func(list, file string) string { return `{"id":"` + sha1Head + `","` + list + `":["` + file + `"]}` }
	repo := ports.Target{Kind: ports.TargetPull, Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop"}
	to := func(branch string) []ports.Ask {
		return []ports.Ask{ports.ConfigNews{Repository: repo, Branch: branch}}
	}
	const own = ".github/reviewgate/review-rules.json"
	repeated := func(n int) string {
		return commits(strings.Split(strings.TrimSuffix(strings.Repeat(commit("added", "a")+"\n", n), "\n"), "\n")...)
	}
	for name, tt := range map[string]struct {
		body string
		want []ports.Ask
	}{
		"adds config":        {push("refs/heads/main", commits(commit("added", "a"), commit("added", own))), to("")},
		"changes config":     {push("refs/heads/main", commits(commit("modified", own), commit("modified", "a"))), to("")},
		"removes config":     {push("refs/heads/main", commits(commit("removed", own))), to("")},
		"the directory":      {push("refs/heads/main", commits(commit("added", ".github/reviewgate"))), to("")},
		"another branch":     {push("refs/heads/release/1", commits(commit("added", own))), to("release/1")},
		"its parent":         {push("refs/heads/main", commits(commit("added", ".github"))), to("")},
		"no config":          {push("refs/heads/main", commits(commit("added", ".github/reviewgates/x"))), nil},
		"no commits":         {push("refs/heads/main", commits()), to("")},
		"commits null":       {push("refs/heads/main", `"commits":null`), to("")},
		"not up to its head": {push("refs/heads/main", commits(`{"id":"x","added":["a"]}`)), to("")},
		"created":            {push("refs/heads/main", `"created":true,`+commits(commit("added", "a"))), to("")},
		"forced":             {push("refs/heads/main", `"forced":true,`+commits(commit("added", "a"))), to("")},
		"20 commits":         {push("refs/heads/main", repeated(20)), to("")},
		"21 commits":         {push("refs/heads/main", repeated(21)), nil},
		"2048 commits":       {push("refs/heads/main", repeated(2048)), to("")},
		"deleted":            {push("refs/heads/main", `"deleted":true,`+commits()), nil},
		"a tag":              {push("refs/tags/v1", commits(commit("added", own))), nil},
		"no ref":             {push("", commits(commit("added", own))), nil},
	} {
		t.Run(name, func(t *testing.T) { checkAsk(t, "push", "", tt.body, tt.want) })
	}
	for name, body := range map[string]string{
		"a branch with a space": push("refs/heads/a b", commits()),
		"no default branch":     strings.Replace(push("refs/heads/main", commits()), `"main"`, `""`, 1),
		"no repository":         strings.Replace(push("refs/heads/main", commits()), `"id":1001,`, "", 1),
		"commits an object":     push("refs/heads/main", `"commits":{}`),
	} {
		if w := serve(newHandler(t, &inbox{}, nil), delivery("push", body)); w.Code != 400 {
			t.Errorf("%s: status %d", name, w.Code)
		}
	}
}

// Data that is gone for good is forgotten. "None" must never be read as "all".
func TestRemovals(t *testing.T) {
	forget := func(repos ...int64) []ports.Ask { return []ports.Ask{ports.Forget{Installation: 7, Repos: repos}} }
	moved := []ports.Ask{ports.ConfigNews{Repository: ports.Target{Kind: ports.TargetPull, Installation: 7, RepoID: 1001, Owner: "acme", Name: "shop"}, Was: "acme/shop"}}
	for _, tt := range []struct {
		event, body string
		want        []ports.Ask
		status      int
	}{
		{"installation", `{"action":"deleted","installation":{"id":7}}`, forget(), 202},
		{"installation", `{"action":"deleted"}`, nil, 400},
		{"installation", `{"action":"suspend","installation":{"id":7}}`, nil, 202},
		{"installation_repositories", `{"action":"removed","installation":{"id":7},"repositories_removed":[{"id":1},{"id":2}]}`, forget(1, 2), 202},
		{"installation_repositories", `{"action":"removed","installation":{"id":7},"repositories_removed":[]}`, nil, 202},
		{"installation_repositories", `{"action":"removed","installation":{"id":7}}`, nil, 202},
		{"installation_repositories", `{"action":"removed","installation":{"id":7},"repositories_removed":[{"id":1},{"name":"x"}]}`, nil, 400},
		{"installation_repositories", `{"action":"removed","repositories_removed":[{"id":1}]}`, nil, 400},
		{"repository", `{"action":"deleted",` + envelopeJSON + `}`, forget(1001), 202},
		{"repository", `{"action":"deleted","installation":{"id":7}}`, nil, 400},
		{"repository", `{"action":"transferred",` + envelopeJSON + `}`, moved, 202},
		{"repository", `{"action":"renamed",` + envelopeJSON + `}`, moved, 202},
	} {
		var b inbox
		w := serve(newHandler(t, &b, nil), delivery(tt.event, tt.body))
		var got []ports.Ask
		if len(b.got) > 0 {
			got = b.got[0].Asks
		}
		if diff := cmp.Diff(tt.want, got); w.Code != tt.status || diff != "" {
			t.Errorf("%s %s: status %d, want %d (-want +got):\n%s", tt.event, tt.body, w.Code, tt.status, diff)
		}
	}
}
