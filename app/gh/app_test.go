package gh

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

func TestInstallationsAndRepositories(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.hub.Repo("acme/api")
	w.hub.Repo("acme/attic").Settings.SetArchived(true)
	w.hub.Repo("acme/secret").Settings.SetInstalled(false)
	w.hub.Repo("beta/lib")
	w.hub.Suspend("beta")

	got, err := w.client.Installations(t.Context())
	w.must(err)
	var names []string
	for _, i := range got {
		if i.ID != w.hub.InstallationID(i.Account) || i.CreatedAt.IsZero() {
			t.Errorf("installation %+v", i)
		}
		names = append(names, fmt.Sprint(i.Account, " ", i.Suspended))
	}
	slices.Sort(names)
	if want := []string{"acme false", "beta true"}; !slices.Equal(names, want) {
		t.Errorf("installations %q, want %q", names, want)
	}

	acme := w.hub.InstallationID("acme")
	repos, err := w.client.Repositories(t.Context(), acme)
	w.must(err)
	want := []ports.Target{
		{Kind: ports.TargetPull, Installation: acme, RepoID: w.hub.Repo("acme/api").ID(), Owner: "acme", Name: "api"},
		{Kind: ports.TargetPull, Installation: acme, RepoID: w.repo.ID(), Owner: "acme", Name: "shop"},
	}
	if diff := cmp.Diff(want, repos); diff != "" {
		t.Errorf("repositories (-want +got):\n%s", diff)
	}
	_, err = w.client.Repositories(t.Context(), w.hub.InstallationID("beta"))
	wantHostError(t, err, ports.HostForbidden)
	if u := w.hub.Calls.Unexpected(); len(u) > 0 {
		t.Errorf("unexpected calls %+v", u)
	}
}

func TestOpenPulls(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	var targets []ports.Target
	for i := range 5 {
		p := w.repo.OpenPR(ghtest.PR{Head: fmt.Sprint("h", i), Fork: "bob", Files: ghtest.Files{"a.txt": fmt.Sprint(i)}})
		if i == 1 {
			p.Close()
			continue
		}
		targets = append(targets, w.target(p))
	}
	slices.Reverse(targets)
	w.hub.Repo("bob/shop").Settings.Delete() // the fork
	repo := targets[0]
	repo.Number, repo.HeadSHA = 0, ""
	got, err := w.client.OpenPulls(t.Context(), repo, time.Time{})
	w.must(err)
	var want []ports.OpenPull
	for _, target := range targets {
		want = append(want, ports.OpenPull{Target: target, BaseRef: "main"})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("open pull requests (-want +got):\n%s", diff)
	}
	if got, err := w.client.OpenPulls(t.Context(), repo, time.Now().Add(1000*time.Hour)); err != nil || len(got) != 0 {
		t.Errorf("since later: %+v, %v", got, err)
	}
	if n := len(w.hub.Calls.To("POST /app/installations/{installation_id}/access_tokens")); n != 1 {
		t.Errorf("%d tokens were made to list an installation's repositories", n)
	}
}

// The list is read as long as its entries are new. A pull request that moves between pages
// during the read appears once.
func TestOpenPullsStopAtOlderOnes(t *testing.T) {
	since := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pull := func(n int, updated time.Time) string {
		return fmt.Sprintf(`{"number":%d,"state":"open","head":{"sha":"%040x","repo":null},"base":{"repo":{"id":1001}},"updated_at":%q}`, n, n, updated.Format(time.RFC3339))
	}
	hub := &fake{answer: func(r *http.Request) *http.Response {
		q := r.URL.Query()
		if q.Get("state") != "open" || q.Get("sort") != "updated" || q.Get("direction") != "desc" || q.Get("per_page") != "100" {
			t.Errorf("asked for %s", r.URL.RawQuery)
		}
		switch q.Get("page") {
		case "":
			return reply(200, "["+pull(9, since.Add(2*time.Hour))+","+pull(8, since.Add(time.Hour))+"]", "Link", `<https://x?page=2>; rel="next"`)
		case "2":
			return reply(200, "["+pull(8, since.Add(time.Hour))+","+pull(7, since)+","+pull(6, since.Add(-time.Second))+"]", "Link", `<https://x?page=3>; rel="next"`)
		}
		t.Error("read another page")
		return reply(200, "[]")
	}}
	got, err := hub.client(t, nil).OpenPulls(t.Context(), pullTarget, since)
	if err != nil || len(got) != 3 || got[0].Number != 9 || got[1].Number != 8 || got[2].Number != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFailedDeliveries(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	entry := func(id int, at time.Time, status int) string {
		return fmt.Sprintf(`{"id":%d,"guid":"g%d","delivered_at":%q,"status":"x","status_code":%d,"event":"pull_request","action":"opened","installation_id":7,"repository_id":1001}`, id, id, at.Format(time.RFC3339Nano), status)
	}
	hub := &fake{answer: func(r *http.Request) *http.Response {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ey") {
			t.Errorf("authorized by %q", r.Header.Get("Authorization"))
		}
		switch r.URL.Query().Get("cursor") {
		case "":
			return reply(200, "["+entry(5, at.Add(time.Minute), 200)+`,{"id":4,"guid":"g4","delivered_at":"2026-11-20T12:00:30Z","status_code":302,"event":"ping","action":null,"installation_id":null,"repository_id":null}]`,
				"Link", `<https://x?cursor=v1_4&per_page=100>; rel="next"`)
		case "v1_4": // not quite in order
			return reply(200, "["+entry(3, at.Add(-time.Second), 502)+","+entry(2, at, 502)+","+entry(1, at.Add(-time.Hour), 502)+"]",
				"Link", `<https://x?cursor=v1_1&per_page=100>; rel="next"`)
		}
		t.Error("read beyond the requested time")
		return reply(200, "[]")
	}}
	got, whole, err := hub.client(t, nil).FailedDeliveries(t.Context(), at.Add(500*time.Millisecond))
	want := []ports.HookAttempt{
		{ID: 4, GUID: "g4", Event: "ping", Status: 302, At: at.Add(30 * time.Second)},
		{ID: 2, GUID: "g2", Event: "pull_request", Action: "opened", Status: 502, At: at, Installation: 7, RepoID: 1001},
	}
	if err != nil || !whole {
		t.Errorf("whole %v, %v", whole, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func TestDeliveryLogWithoutEnd(t *testing.T) {
	hub := &fake{}
	hub.answer = func(*http.Request) *http.Response {
		n := hub.asked()
		return reply(200, fmt.Sprintf(`[{"id":%d,"guid":"g","delivered_at":"2026-11-20T12:00:00Z"}]`, 1000-n), "Link", fmt.Sprintf(`<https://x?cursor=v1_%d>; rel="next"`, n))
	}
	got, whole, err := hub.client(t, nil).FailedDeliveries(t.Context(), time.Time{})
	if err != nil || whole || len(got) != maxLogPages {
		t.Errorf("%d attempts, whole %v, %v", len(got), whole, err)
	}
}

// A log without payloads gives another error than a log that can't be read.
func TestDeliveryWithoutPayload(t *testing.T) {
	for name, body := range map[string]string{
		"no request": `{"id":5}`,
		"no payload": `{"id":5,"request":{"headers":{}}}`,
		"null":       `{"id":5,"request":{"payload":null}}`,
		"text":       `{"id":5,"request":{"payload":"{}"}}`,
		"too large":  `{"id":5,"request":{"payload":{"a":"` + strings.Repeat("a", 4<<20) + `"}}}`,
	} {
		hub := &fake{answer: func(*http.Request) *http.Response { return reply(200, body) }}
		if _, err := hub.client(t, nil).Payload(t.Context(), 5); !errors.Is(err, ports.ErrNoPayload) {
			t.Errorf("%s: %v", name, err)
		}
	}
	hub := &fake{answer: func(*http.Request) *http.Response { return reply(200, `{"id":5,"request":{"payload":{"a":1}}}`) }}
	if got, err := hub.client(t, nil).Payload(t.Context(), 5); err != nil || string(got) != `{"a":1}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestLostDeliveryIsSentAgain(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	var seen []string
	hook := newStub(t, func(rw http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("X-GitHub-Delivery"))
		if len(seen) == 1 {
			rw.WriteHeader(502)
		}
	})
	w.hub.Webhook.Set(hook.URL, "secret")
	w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	w.must(w.hub.Webhook.Settle(t.Context()))
	log, whole, err := w.client.FailedDeliveries(t.Context(), time.Time{})
	w.must(err)
	i := slices.IndexFunc(log, func(a ports.HookAttempt) bool { return !a.Delivered() })
	if i < 0 || !whole {
		t.Fatalf("no failed attempt in %+v, whole %v", log, whole)
	}
	payload, err := w.client.Payload(t.Context(), log[i].ID)
	w.must(err)
	var sent struct {
		Repository struct{ Name string }
	}
	if err := json.Unmarshal(payload, &sent); err != nil || sent.Repository.Name != "shop" {
		t.Errorf("the payload's repository is %q, %v", sent.Repository.Name, err)
	}
	w.must(w.client.Redeliver(t.Context(), log[i].ID))
	w.must(w.hub.Webhook.Settle(t.Context()))
	if last := seen[len(seen)-1]; last != log[i].GUID {
		t.Errorf("sent %q again, want %q", last, log[i].GUID)
	}
	wantHostError(t, w.client.Redeliver(t.Context(), 987654321), ports.HostNotFound)
	_, err = w.client.Payload(t.Context(), 987654321)
	wantHostError(t, err, ports.HostNotFound)
}

func TestAccess(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	target := w.target(w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}}))
	acme := target.Installation
	fine := ports.Access{Installed: true, Installation: acme, Owner: "acme", Name: "shop"}
	check := func(when string, want ports.Access) {
		t.Helper()
		got, err := w.client.Access(t.Context(), target)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", when, err, diff)
		}
	}
	check("at first", fine)

	w.hub.Suspend("acme")
	suspended := fine
	suspended.Suspended = true
	check("suspended", suspended)
	w.hub.Unsuspend("acme")

	w.repo.Settings.SetInstalled(false)
	check("not covered", ports.Access{Installation: acme, Owner: "acme", Name: "shop"})
	w.repo.Settings.SetInstalled(true)

	w.repo.Settings.Rename("store")
	renamed := fine
	renamed.Name = "store"
	check("renamed", renamed)

	w.hub.Repo("acme/shop").Commit("main", ghtest.Files{"a.txt": "another\n"}, "start")
	check("renamed, and the old name is another's", renamed)
	w.hub.Repo("acme/shop").Settings.Delete()
	check("renamed, and the old name leads nowhere", renamed)

	w.hub.Repo("beta/lib") // has the App too
	w.repo.Settings.Transfer("beta")
	beta := ports.Access{Installed: true, Installation: w.hub.InstallationID("beta"), Owner: "beta", Name: "store"}
	check("transferred", beta)

	w.hub.SetPermissions("beta", map[string]string{"metadata": "read", "checks": "read", "pull_requests": "write"})
	few := beta
	few.Missing = []string{"checks: write", "contents: read"}
	check("few permissions", few)

	w.hub.Uninstall("beta")
	check("uninstalled", ports.Access{Installation: acme, Owner: "acme", Name: "shop"})
}

func TestMissingPermissions(t *testing.T) {
	for _, tt := range []struct {
		granted map[string]string
		want    string
	}{
		{map[string]string{"checks": "write", "contents": "read", "metadata": "read", "pull_requests": "write"}, ""},
		{map[string]string{"checks": "admin", "contents": "write", "metadata": "read", "pull_requests": "admin", "issues": "read"}, ""},
		{map[string]string{"checks": "read", "contents": "none", "metadata": "read"}, "checks: write, contents: read, pull_requests: write"},
		{nil, "checks: write, contents: read, metadata: read, pull_requests: write"},
	} {
		if got := strings.Join(missing(tt.granted), ", "); got != tt.want {
			t.Errorf("%v lacks %q, want %q", tt.granted, got, tt.want)
		}
	}
}

// When GitHub can't answer, Access returns an error instead of a refusal.
func TestAccessIsUnknown(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*http.Request) *http.Response{
		"App's call": always(502, ``),
		"limited":    always(429, `{}`),
		"wrong key":  always(401, `{}`),
		"the name only": func(r *http.Request) *http.Response {
			if strings.HasSuffix(r.URL.Path, "/installation") {
				return reply(200, `{"id":7}`)
			}
			return reply(503, ``)
		},
	} {
		hub := &fake{answer: answer}
		if a, err := hub.client(t, nil).Access(t.Context(), pullTarget); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A token has the permissions of the moment when it was made. Permissions that are granted
// later must count at once, not when the token expires after an hour.
func TestRefusalsBringANewToken(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "token token-1" {
			send(w, 403, map[string]string{"message": "Resource not accessible by integration"})
			return
		}
		send(w, 200, openPull)
	})
	c := s.client(t, nil)
	_, err := c.Pull(t.Context(), pullTarget)
	wantHostError(t, err, ports.HostForbidden)
	if _, err := c.Pull(t.Context(), pullTarget); err != nil {
		t.Errorf("after the permission was granted: %v", err)
	}
}

func TestTokensAreNarrow(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/installation/") {
			send(w, 200, map[string]any{"total_count": 0, "repositories": []any{}})
			return
		}
		send(w, 200, []any{})
	})
	c := s.client(t, nil)
	_, err := c.Repositories(t.Context(), 7)
	if err == nil {
		_, err = c.OpenPulls(t.Context(), pullTarget, time.Time{})
	}
	if err == nil {
		_, err = c.Comments(t.Context(), pullTarget, marker)
	}
	if err == nil {
		_, err = c.Installations(t.Context())
	}
	want := []string{`{"permissions":{"metadata":"read","pull_requests":"read"}}`, `{"repository_ids":[1001]}`}
	if diff := cmp.Diff(want, s.tokens); err != nil || diff != "" {
		t.Errorf("%v, tokens (-want +got):\n%s", err, diff)
	}
}

// If GitHub knows no repository by its id alone, Access asks by name.
func TestAccessByName(t *testing.T) {
	hub := &fake{answer: func(r *http.Request) *http.Response {
		if r.URL.Path == "/api/v3/repos/acme/shop/installation" {
			return reply(200, `{"id":7,"permissions":{"checks":"write","contents":"read","metadata":"read","pull_requests":"write"}}`)
		}
		return reply(404, `{"message":"Not Found"}`)
	}}
	got, err := hub.client(t, nil).Access(t.Context(), pullTarget)
	// The installation has a repository of this name, but with another id.
	if want := (ports.Access{Installation: 7, Owner: "acme", Name: "shop"}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	known := hub.answer
	hub.answer = func(r *http.Request) *http.Response {
		if r.URL.Path == "/api/v3/repositories/1001" {
			return reply(200, `{"id":1001,"name":"shop","owner":{"login":"acme"}}`)
		}
		return known(r)
	}
	got, err = hub.client(t, nil).Access(t.Context(), pullTarget)
	if want := (ports.Access{Installed: true, Installation: 7, Owner: "acme", Name: "shop"}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// GitHub answers some missing permissions with 404. After Access was asked, calls use a new
// token.
func TestAccessBringsANewToken(t *testing.T) {
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/installation"):
			send(w, 200, map[string]int{"id": 7})
		case r.Header.Get("Authorization") == "token token-1":
			send(w, 404, map[string]string{"message": "Not Found"})
		case r.URL.Path == "/repositories/1001":
			send(w, 200, map[string]any{"id": 1001, "name": "shop", "owner": map[string]string{"login": "acme"}})
		default:
			send(w, 200, openPull)
		}
	})
	c := s.client(t, nil)
	_, err := c.Pull(t.Context(), pullTarget)
	wantHostError(t, err, ports.HostNotFound)
	if a, err := c.Access(t.Context(), pullTarget); err != nil || !a.Installed {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := c.Pull(t.Context(), pullTarget); err != nil || len(s.tokens) != 2 {
		t.Errorf("%v, %d tokens", err, len(s.tokens))
	}
}
