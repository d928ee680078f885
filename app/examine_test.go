package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/doctor"
	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// installed is a world without problems: the App runs and has answered a pull request, and
// only the App's check is required.
func installed(t *testing.T) *world {
	t.Helper()
	w := start(t)
	w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.require(ghtest.RequiredCheck{Name: "reviewgate", App: w.GH.AppID()})
	return w
}

// require makes the default branch require checks, with a ruleset that also has a rule of an
// unknown kind.
func (w *world) require(checks ...ghtest.RequiredCheck) {
	w.Repo.Settings.DropRules("main")
	w.Repo.Settings.AddRules("main", ghtest.Rule{Type: "invented_since", Parameters: map[string]any{"x": 1}}, ghtest.RequireChecks(checks...))
}

// examine runs the doctor on acme/shop.
func (w *world) examine(change ...func(*app.Settings)) doctor.Result {
	w.Helper()
	settings := w.Settings()
	for _, f := range change {
		f(&settings)
	}
	r, err := app.Examine(w.Context(), settings, "acme", "shop")
	if err != nil {
		w.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		w.Fatal(err)
	}
	for _, s := range []string{apptest.Secret, "PRIVATE KEY", "ghs_", "hunter2"} {
		if strings.Contains(string(text), s) {
			w.Errorf("the doctor shows %q: %s", s, text)
		}
	}
	return r
}

// points are the ids of the points with this status.
func points(r doctor.Result, s doctor.Status) []string {
	var ids []string
	for _, p := range r.Points {
		if p.Status == s {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// pointText is the doctor's text about a point.
func pointText(r doctor.Result, id string) string {
	i := slices.IndexFunc(r.Points, func(p doctor.Point) bool { return p.ID == id })
	if i < 0 {
		return ""
	}
	return r.Points[i].Found + " / " + r.Points[i].Remedy
}

func TestDoctorFindsNothingWrong(t *testing.T) {
	t.Parallel()
	w := installed(t)
	w.GH.Calls.Reset()
	r := w.examine()
	if r.Worst() != doctor.OK || len(r.Points) != 17 {
		t.Errorf("%d points, and not all of them are ok: %+v", len(r.Points), r.Points)
	}
	page, err := os.ReadFile("../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Points {
		if !strings.Contains(string(page), "| `"+p.ID+"` |") {
			t.Errorf("docs/commands.md does not have %s", p.ID)
		}
	}
	if writes := w.GH.Calls.Writes(); len(writes) != 0 {
		t.Errorf("the doctor wrote to GitHub: %v", writes)
	}
	r, err = app.Examine(t.Context(), w.Settings(), "", "")
	if err != nil || r.Worst() != doctor.OK || len(r.Points) != 12 {
		t.Errorf("without a repository: %+v, %v", r, err)
	}
}

// Each possible problem is caused by itself, found, and removed again.
func TestDoctorFindsEachProblem(t *testing.T) {
	t.Parallel()
	w := installed(t)
	hook := "http://" + w.App.Addr() + app.HookPath
	mine := ghtest.RequiredCheck{Name: "reviewgate", App: w.GH.AppID()}
	without := func(names ...string) map[string]string {
		p := ghtest.DefaultPermissions()
		for _, n := range names {
			delete(p, n)
		}
		return p
	}
	config := func(settings string) {
		w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: settings}, "config")
		w.Idle()
	}
	for _, c := range []struct {
		name         string
		wrong, right func()
		point        string
		says         []string
	}{
		{"no webhook", func() { w.GH.Webhook.Set("", "") }, nil, doctor.Webhook, []string{"has no webhook", "/api/github/hook"}},
		{"webhook elsewhere", func() { w.GH.Webhook.Set("https://review.example/hook", apptest.Secret) }, nil, doctor.Webhook, []string{"review.example/hook", "accepts them at /api/github/hook"}},
		{"webhook without TLS", func() { w.GH.Webhook.Set("http://review.example"+app.HookPath, apptest.Secret) }, nil, doctor.Webhook, []string{"unencrypted", "TLS"}},
		{"webhook without secret", func() { w.GH.Webhook.Set(hook, "") }, nil, doctor.Webhook, []string{"not signed", "GITHUB_APP_WEBHOOK_SECRET"}},
		{"webhook as form", func() { w.GH.Webhook.SetSettings(ghtest.HookSettings{ContentType: "form"}) }, nil, doctor.Webhook, []string{`"form"`, "application/json"}},
		{"certificates ignored", func() { w.GH.Webhook.SetSettings(ghtest.HookSettings{InsecureSSL: true}) }, nil, doctor.Webhook, []string{"certificates", "SSL verification"}},
		{"not accepted", func() { w.GH.SetPermissions("acme", without("merge_queues")) }, func() { w.GH.SetPermissions("acme", without()) },
			doctor.Installations, []string{"acme: not accepted yet: merge_queues: read", "an owner of acme must accept it at https://"}},
		{"suspended elsewhere", func() { w.GH.Repo("umbrella/shop"); w.GH.Suspend("umbrella") }, func() { w.GH.Uninstall("umbrella") },
			doctor.Installations, []string{"2, 1 of them suspended", "umbrella: suspended", "unsuspend"}},
		{"not required", func() { w.Repo.Settings.DropRules("main") }, nil, doctor.RequiredCheck, []string{"not required", "with the App reviewgate as its source"}},
		{"not pinned", func() { w.require(ghtest.RequiredCheck{Name: "reviewgate"}) }, nil, doctor.RequiredCheck, []string{"required from any source", "in the ruleset"}},
		{"not pinned by branch protection", func() {
			w.Repo.Settings.DropRules("main")
			w.Repo.Settings.Protect("main", ghtest.RequiredCheck{Name: "reviewgate"})
		}, nil, doctor.RequiredCheck, []string{"required from any source", "in the branch protection"}},
		{"pinned to another", func() { w.require(ghtest.RequiredCheck{Name: "reviewgate", App: w.GH.AppID() + 1}) }, nil, doctor.RequiredCheck, []string{"not this one", "wait for it for ever"}},
		{"broken config", func() { config(`{"mode": "loud"}`) }, func() { config(`{}`) }, doctor.Config, []string{"review-settings.json:1:", "/mode"}},
		{"off and required", func() { config(`{"mode": "off"}`) }, func() { config(`{}`) }, doctor.RequiredCheck, []string{"does not write the check", "stop requiring the check"}},
		{"another name", func() { config(`{"check": {"name": "gate"}}`) }, func() { config(`{}`) }, doctor.RequiredCheck, []string{"gate on main is not required"}},
		{"archived", func() { w.Repo.Settings.SetArchived(true) }, func() { w.Repo.Settings.SetArchived(false) }, doctor.Repository, []string{"archived"}},
		{"not installed", func() { w.Repo.Settings.SetInstalled(false) }, func() { w.Repo.Settings.SetInstalled(true) }, doctor.Repository, []string{"not installed on acme/shop", "Install App"}},
	} {
		c.wrong()
		r := w.examine()
		if got := points(r, doctor.Problem); !slices.Equal(got, []string{c.point}) {
			t.Errorf("%s: problems %v, want %s: %+v", c.name, got, c.point, r.Points)
		}
		for _, words := range c.says {
			if !strings.Contains(pointText(r, c.point), words) {
				t.Errorf("%s: the text lacks %q: %s", c.name, words, pointText(r, c.point))
			}
		}
		if c.right != nil {
			c.right()
		}
		w.GH.Webhook.Set(hook, apptest.Secret)
		w.GH.Webhook.SetSettings(ghtest.HookSettings{})
		w.Repo.Settings.Protect("main")
		w.require(mine)
		w.Idle()
	}
	if r := w.examine(); r.Worst() != doctor.OK {
		t.Errorf("at the end not all points are ok: %+v", r.Points)
	}
}

// Branch protection counts just as a ruleset does.
func TestDoctorKnowsBranchProtection(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := installed(t)
	w.Repo.Settings.DropRules("main")
	w.Repo.Settings.Protect("main", ghtest.RequiredCheck{Name: "ci"}, ghtest.RequiredCheck{Name: "reviewgate", App: w.GH.AppID()})
	if r := w.examine(); r.Worst() != doctor.OK || !strings.Contains(pointText(r, doctor.RequiredCheck), "by branch protection") {
		t.Errorf("%s", pointText(r, doctor.RequiredCheck))
	}
}

// The App's registration is compared with the settings in use.
func TestDoctorOnRegistration(t *testing.T) {
	t.Parallel()
	permissions := ghtest.DefaultPermissions()
	delete(permissions, "merge_queues")
	permissions["statuses"] = "read"
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Permissions: permissions, Events: []string{"pull_request", "issue_comment", "push"}})
	w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.Repo.Settings.AddRules("main", ghtest.MergeQueue(), ghtest.RequireChecks(ghtest.RequiredCheck{Name: "reviewgate", App: w.GH.AppID()}))
	r := w.examine()
	if got := points(r, doctor.Problem); !slices.Equal(got, []string{doctor.Permissions, doctor.Events, doctor.MergeQueue}) {
		t.Errorf("problems %v: %+v", got, r.Points)
	}
	for id, words := range map[string][]string{
		doctor.Permissions: {"merge_queues: read (to receive merge groups)", "statuses: write"},
		doctor.Events:      {"check_run", "merge_group (without it a merge queue waits for ever)"},
		doctor.MergeQueue:  {"the event merge_group and the permission merge_queues: read", "waits for ever"},
	} {
		for _, s := range words {
			if !strings.Contains(pointText(r, id), s) {
				t.Errorf("%s: the text lacks %q: %s", id, s, pointText(r, id))
			}
		}
	}
}

// The doctor names unnecessary permissions and events, and distinguishes those that a
// repository's config may need from those that nothing needs.
func TestDoctorOnUnnecessaryPermissions(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	permissions := ghtest.DefaultPermissions()
	permissions["members"] = "read"
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Permissions: permissions, Events: append(ghtest.DefaultEvents(), "star")})
	r := w.examine()
	if p := pointText(r, doctor.Permissions); slices.Contains(points(r, doctor.Problem), doctor.Permissions) || !strings.Contains(p, "members: read (for teams in the settings)") {
		t.Errorf("permissions: %s", p)
	}
	if e := pointText(r, doctor.Events); slices.Contains(points(r, doctor.Problem), doctor.Events) || !strings.Contains(e, "star") {
		t.Errorf("events: %s", e)
	}
	if got := points(r, doctor.Unknown); !slices.Equal(got, []string{doctor.Secret}) {
		t.Errorf("unknown %v before the first delivery", got)
	}

	permissions["administration"] = "write"
	r = w.examine()
	if p := pointText(r, doctor.Permissions); !slices.Contains(points(r, doctor.Problem), doctor.Permissions) || !strings.Contains(p, "never uses: administration: write") {
		t.Errorf("permissions: %s", p)
	}
}

func TestDoctorOnDeliveries(t *testing.T) {
	t.Parallel()
	w := installed(t)
	good := "http://" + w.App.Addr() + app.HookPath
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Head: "more", Files: apptest.Clean()})
	w.Idle()
	push := func(n string) { pr.Push(ghtest.Files{"store/" + n + ".go": apptest.Secure}, n); w.Idle() }
	expect := func(when string, problems, unknown []string, says ...string) {
		t.Helper()
		r := w.examine()
		if got := points(r, doctor.Problem); !slices.Equal(got, problems) {
			t.Errorf("%s: problems %v, want %v: %+v", when, got, problems, r.Points)
		}
		if got := points(r, doctor.Unknown); !slices.Equal(got, unknown) {
			t.Errorf("%s: unknown %v, want %v", when, got, unknown)
		}
		for _, words := range says {
			if all := pointText(r, doctor.Deliveries) + pointText(r, doctor.Secret); !strings.Contains(all, words) {
				t.Errorf("%s: the text lacks %q: %s", when, words, all)
			}
		}
	}
	w.GH.Webhook.Set(good, "another-secret")
	push("refused")
	expect("the secret is another", []string{doctor.Deliveries, doctor.Secret}, nil, "the answer 401", "refused a signature")
	w.GH.Webhook.Set(good, apptest.Secret)
	push("again")
	expect("newer ones come", nil, nil, "did not arrive", "later ones arrived")
	w.Away(func() { pr.Push(ghtest.Files{"store/away.go": apptest.Secure}, "away") })
	expect("the newest did not come", []string{doctor.Deliveries}, nil, "check that the server runs")
}

// While the config is broken, the doctor judges the repository by the last good version,
// which is in force. Without the database the result is unknown.
func TestDoctorJudgesByTheLastGoodConfig(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := installed(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Head: "more", Files: apptest.Clean()})
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory", "check": {"name": "gate"}}`}, "config")
	pr.Push(ghtest.Files{"store/more.go": apptest.Secure}, "more")
	w.Idle()
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "loud"}`}, "break it")
	w.Idle()
	r := w.examine()
	if got := points(r, doctor.Problem); !slices.Equal(got, []string{doctor.Config}) {
		t.Errorf("problems %v: %+v", got, r.Points)
	}
	if m, c := pointText(r, doctor.Mode), pointText(r, doctor.RequiredCheck); !strings.HasPrefix(m, "advisory") || !strings.HasPrefix(c, "gate on main") {
		t.Errorf("not judged by the last good config: %s; %s", m, c)
	}
	r = w.examine(func(s *app.Settings) { s.DatabaseURL = "sqlite://" + filepath.Join(t.TempDir(), "new.db") })
	if got := points(r, doctor.Unknown); !slices.Equal(got, []string{doctor.Mode, doctor.RequiredCheck, doctor.MergeQueue}) {
		t.Errorf("without the database unknown %v: %+v", got, r.Points)
	}
}

// The clock and the credentials, which every other point depends on.
func TestDoctorOnClock(t *testing.T) {
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{Now: func() time.Time { return time.Now().Add(-10 * time.Minute) }})
	w := &world{&apptest.World{T: t, GH: gh, DB: "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db")}}
	r := w.examine()
	if got := points(r, doctor.Problem); !slices.Equal(got, []string{doctor.Clock, doctor.App}) {
		t.Errorf("problems %v: %+v", got, r.Points)
	}
	if s := pointText(r, doctor.Clock); !strings.Contains(s, "clock is 10m0s ahead of GitHub's") && !strings.Contains(s, "clock is 9m59s ahead") {
		t.Errorf("the clock: %s", s)
	}
	if s := pointText(r, doctor.App); !strings.Contains(s, "set the clock first") {
		t.Errorf("the App: %s", s)
	}
}

func TestDoctorOnCredentials(t *testing.T) {
	t.Parallel()
	w := &world{&apptest.World{T: t, GH: ghtest.Start(t, ghtest.Options{}), DB: "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db")}}
	r := w.examine(func(s *app.Settings) { s.AppID++ })
	if got := points(r, doctor.Problem); !slices.Equal(got, []string{doctor.App}) || !strings.Contains(pointText(r, doctor.App), "belong to the same App") {
		t.Errorf("problems %v: %s", got, pointText(r, doctor.App))
	}
	if got := points(r, doctor.Unknown); len(got) != 11 {
		t.Errorf("unknown: %v", got)
	}
	r = w.examine(func(s *app.Settings) { s.V3URL = "http://127.0.0.1:1/api/v3/" })
	if got := points(r, doctor.Problem); len(got) != 0 || r.Worst() != doctor.Unknown || !strings.Contains(pointText(r, doctor.App), "GITHUB_V3_API_URL") {
		t.Errorf("GitHub can't be reached: problems %v: %+v", got, r.Points)
	}
}

// Without a git that can fetch, many changes never pass.
func TestDoctorOnGit(t *testing.T) {
	w := &world{&apptest.World{T: t, GH: ghtest.Start(t, ghtest.Options{}), DB: "sqlite://" + filepath.Join(t.TempDir(), "reviewgate.db")}}
	const follows = "with more files or longer diffs than GitHub lists, are incomplete and never pass / install git 2.31 or newer in the PATH"
	if s := pointText(w.examine(), doctor.Git); !strings.HasPrefix(s, "git version 2.") || !strings.Contains(s, "can fetch") {
		t.Errorf("with git: %s", s)
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if s := pointText(w.examine(), doctor.Git); !strings.HasPrefix(s, "there is no git program on this machine. ") || !strings.Contains(s, follows) {
		t.Errorf("without git: %s", s)
	}
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho git version 2.30.9\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := w.examine()
	if s := pointText(r, doctor.Git); !slices.Contains(points(r, doctor.Problem), doctor.Git) || !strings.HasPrefix(s, "git version 2.30.9 is too old. ") {
		t.Errorf("with an old git: %s", s)
	}
}

// Links to github.com are wrong where another GitHub is used.
func TestDoctorOnURLs(t *testing.T) {
	t.Parallel()
	w := installed(t)
	r := w.examine(func(s *app.Settings) { s.WebURL = "https://github.com" })
	if got := points(r, doctor.Problem); !slices.Equal(got, []string{doctor.Settings}) || !strings.Contains(pointText(r, doctor.Settings), "GITHUB_WEB_URL") {
		t.Errorf("problems %v: %s", got, pointText(r, doctor.Settings))
	}
}

// Links to another GitHub and tokens over plain HTTP are reported before any request is sent.
func TestDoctorOnGitHubsAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api, web string
		status   doctor.Status
		says     string
	}{
		{"https://api.github.com/", "https://github.com", doctor.OK, "complete and valid"},
		{"https://api.octo.ghe.com/", "https://octo.ghe.com", doctor.OK, "complete and valid"},
		{"https://ghe.test/api/v3/", "https://GHE.test", doctor.OK, "complete and valid"},
		{"https://ghe.test/api/v3/", "https://code.test", doctor.OK, "the API is at ghe.test, and links point to code.test: both must belong to the same GitHub"},
		{"https://api.github.com/", "https://ghe.test", doctor.Problem, "the API is at api.github.com, and links point to ghe.test / set GITHUB_WEB_URL"},
		{"https://ghe.test/api/v3/", "https://octo.ghe.com", doctor.Problem, "set GITHUB_WEB_URL"},
		{"http://ghe.test/api/v3/", "http://ghe.test", doctor.Problem, "tokens go to http://ghe.test unencrypted / make GITHUB_V3_API_URL begin with https://"},
		{"http://[::1]:8080/api/v3/", "http://[::1]:8080", doctor.OK, "complete and valid"},
	} {
		r := doctor.Examine(t.Context(), doctor.Options{
			API: c.api, GraphQL: c.api, Web: c.web, GitHub: unreachable{},
			Skew:        func() (time.Duration, bool) { return 0, false },
			Database:    func(context.Context) (int64, int64, error) { return 0, 0, nil },
			Quarantined: func(context.Context) ([]ports.Quarantined, error) { return nil, nil },
		})
		if p := r.Points[0]; p.Status != c.status || !strings.Contains(pointText(r, doctor.Settings), c.says) {
			t.Errorf("%s and %s: %s, %s", c.api, c.web, p.Status, pointText(r, doctor.Settings))
		}
		if app := pointText(r, doctor.App); !strings.HasPrefix(app, "can't reach GitHub: no route / ") {
			t.Errorf("without a network: %s", app)
		}
		if events := pointText(r, doctor.Events); events != "not checked: see above / " {
			t.Errorf("the next point: %s", events)
		}
	}
}

// unreachable is a GitHub that can't be reached.
type unreachable struct{ doctor.GitHub }

func (unreachable) GitVersion(context.Context) (string, error) { return "git version 2.39.5", nil }

func (unreachable) App(context.Context) (gh.App, error) { return gh.App{}, errors.New("no route") }

func TestDoctorOnDatabase(t *testing.T) {
	t.Parallel()
	w := installed(t)
	for name, c := range map[string]struct{ url, says string }{
		"no directory": {"sqlite://" + filepath.Join(t.TempDir(), "none", "reviewgate.db"), "does not exist; create it"},
		"no server":    {"postgres://reviewgate:hunter2@127.0.0.1:1/reviewgate?connect_timeout=2", "open database reviewgate on 127.0.0.1:1"},
	} {
		r := w.examine(func(s *app.Settings) { s.DatabaseURL = c.url })
		if got := points(r, doctor.Problem); !slices.Equal(got, []string{doctor.Database}) || !strings.Contains(pointText(r, doctor.Database), c.says) {
			t.Errorf("%s: problems %v: %s", name, got, pointText(r, doctor.Database))
		}
	}
	r := w.examine(func(s *app.Settings) { s.DatabaseURL = "sqlite://" + filepath.Join(t.TempDir(), "new.db") })
	if s := pointText(r, doctor.Database); r.Worst() != doctor.OK || !strings.Contains(s, "no tables yet") {
		t.Errorf("a database that does not exist yet: %s", s)
	}
}

// A cancelled doctor ends.
func TestDoctorEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := installed(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := app.Examine(ctx, w.Settings(), "acme", "shop")
	if err != nil || r.Worst() == doctor.OK {
		t.Errorf("%v, %v", r, err)
	}
}

// The doctor tells operators which reviews ended their process.
func TestDoctorNamesQuarantinedReviews(t *testing.T) {
	t.Parallel()
	w := installed(t)
	if r := w.examine(); !strings.Contains(pointText(r, doctor.Quarantine), "no quarantined reviews") {
		t.Errorf("before: %s", pointText(r, doctor.Quarantine))
	}
	store, target := w.App.Inside().Service.Store, ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 7, Owner: "acme", Name: "shop", Number: 12, HeadSHA: strings.Repeat("a", 40)}
	// While another process holds the lease, the review is not done.
	lease, ok, err := store.Acquire(t.Context(), target.Key(), "a test", time.Minute)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := store.Ask(t.Context(), ports.ReviewAsk{Target: target, Reason: "opened"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Died(t.Context(), lease, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	r := w.examine()
	if s := pointText(r, doctor.Quarantine); !slices.Contains(points(r, doctor.Problem), doctor.Quarantine) || !strings.Contains(s, "acme/shop#12 (once since ") || !strings.Contains(s, "next try at 2030-01-02 03:04:05 UTC") {
		t.Errorf("after: %s", s)
	}
}
