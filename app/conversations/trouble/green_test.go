package trouble

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// fault is a way in which GitHub answers a read wrongly. Each fault has its own account,
// because a rate limit applies to a whole installation.
type fault struct {
	name   string
	answer func(*ghtest.Exchange)
}

// faults are all the faults of reads. Some routes truly answer with one of these statuses or
// shapes. The read's green field then lists it.
var faults = []fault{
	{"500", func(x *ghtest.Exchange) { x.Fail(500, "Server Error") }},
	{"502 page", func(x *ghtest.Exchange) {
		apptest.Says(x, http.StatusBadGateway, "text/html", "<html><body>Unicorn!</body></html>")
	}},
	{"403", func(x *ghtest.Exchange) { x.Fail(403, "Resource not accessible by integration") }},
	{"404", func(x *ghtest.Exchange) { x.Fail(404, "Not Found") }},
	{"410", func(x *ghtest.Exchange) { x.Fail(410, "Gone") }},
	{"409", func(x *ghtest.Exchange) { x.Fail(409, "Repository is being moved.") }},
	{"422", func(x *ghtest.Exchange) { x.Fail(422, "Validation Failed") }},
	{"429", func(x *ghtest.Exchange) { x.Answer(ghtest.SecondaryLimit(429, time.Second)) }},
	{"dropped", (*ghtest.Exchange).Drop},
	{"cut", cut},
	{"late", ghtest.Delay(time.Minute)},
	{"page", func(x *ghtest.Exchange) {
		apptest.Says(x, http.StatusOK, "text/html", "<html><body>Sign in</body></html>")
	}},
	{"null", func(x *ghtest.Exchange) { apptest.Says(x, http.StatusOK, "application/json", "null") }},
	{"{}", func(x *ghtest.Exchange) { apptest.Says(x, http.StatusOK, "application/json", "{}") }},
	{"[]", func(x *ghtest.Exchange) { apptest.Says(x, http.StatusOK, "application/json", "[]") }},
	{"[null]", func(x *ghtest.Exchange) { apptest.Says(x, http.StatusOK, "application/json", "[null]") }},
	{"[{}]", func(x *ghtest.Exchange) { apptest.Says(x, http.StatusOK, "application/json", "[{}]") }},
	{"wrong types", func(x *ghtest.Exchange) {
		apptest.Says(x, http.StatusOK, "application/json", `[{"filename": 5, "sha": {}, "name": [], "body": 1}]`)
	}},
}

// cut ends the answer early. An answer without a body (the client has it cached) ends before
// it begins.
func cut(x *ghtest.Exchange) {
	if len(x.Proceed().Body) == 0 {
		x.Drop()
		return
	}
	x.Cut(1)
}

// guarded is the config of all repositories here. Its rule forbids text that the default
// rules allow.
const guarded = `[{"id": "shop-no-legacy-api", "name": "The legacy API is called", "severity": "critical", "agent": "build-reviewer",
	"category": "architecture", "description": "legacy.shop.internal is switched off in March.", "detection": "The host name in added lines",
	"recommendation": "Call api.shop.internal/v2.", "match": {"literal": "legacy.shop.internal"}}]`

// forbidden is a change that contains the literal that guarded forbids.
func forbidden() ghtest.Files {
	files := apptest.Clean()
	files["store/api.go"] = "package store\n\nconst api = \"https://legacy.shop.internal/v1\"\n"
	return files
}

// read is one of the reads of a review.
type read struct {
	name   string
	routes []string
	// hit tells whether the n-th request for one pull request, from 1, is this read. nil
	// means each request.
	hit func(x *ghtest.Exchange, n int) bool
	// good is a change that passes, bad one that does not. The defaults are clean and
	// forbidden.
	good, bad func() ghtest.Files
	talk      bool // a person has commented before the review
	group     bool // merge groups are reviewed
	// anew is added to the config, so that the config was never read before.
	anew string
	// organised marks reads of the organisation's config by a client that has not cached it.
	organised bool
	// green are the faults with which the good change may pass, each with the reason why that
	// is correct. gone are those with which the bad change may pass.
	green, gone map[string]string
}

// shortList has fewer files than the pull request's count.
var shortList = map[string]string{"[]": "git finds the files that the list lacks"}

var reads = []read{
	// This read comes first, because its answer is then cached for a minute.
	{name: "organisation's config", routes: []string{apptest.RouteTree}, hit: configRoot(".github"), green: noOrganisation},
	{name: "pull request", routes: []string{apptest.RoutePull}},
	{name: "pull request again", routes: []string{apptest.RoutePull}, hit: after(1)},
	{name: "files", routes: []string{apptest.RouteFiles}, green: shortList},
	{name: "second page of files", routes: []string{apptest.RouteFiles}, hit: after(1), green: shortList,
		good: func() ghtest.Files { return apptest.Many(apptest.Clean()) }, bad: func() ghtest.Files { return apptest.Many(forbidden()) }},
	{name: "commits", routes: []string{"GET /repos/{owner}/{repo}/pulls/{pull_number}/commits"}},
	{name: "config's branch", routes: []string{apptest.RouteTree}, hit: configRoot("shop")},
	{name: "config directory", routes: []string{apptest.RouteTree}, hit: configDirectory, anew: "\n\n"},
	{name: "config file", routes: []string{routeBlob}, anew: "\n"},
	{name: "changed file", good: executable, bad: hidden, routes: []string{apptest.RouteContents}, green: map[string]string{"404": "git reads it", "410": "git reads it"}},
	{name: "beginning of the change", good: executable, bad: hidden, routes: []string{routeCompare}},
	{name: "git's list", good: pictured(executable), bad: pictured(hidden), routes: []string{apptest.RouteRefs}},
	{name: "git's objects", good: pictured(executable), bad: pictured(hidden), routes: []string{apptest.RouteUpload}},
	{name: "comparison", routes: []string{routeCompare}, group: true},
	{name: "pull request of a group", routes: []string{apptest.RoutePull}, group: true},
	{name: "comments", routes: []string{"GET /repos/{owner}/{repo}/issues/{issue_number}/comments"}, talk: true, green: always("the check shows the findings with or without the comment")},
}

// organisedReads are the reads of an organisation's config.
var organisedReads = []read{
	{name: "organisation's config", routes: []string{apptest.RouteTree}, hit: configRoot(".github"), organised: true, green: keptOrganisation},
	{name: "organisation's config directory", routes: []string{apptest.RouteTree}, hit: inOrganisation(configDirectory), organised: true},
	{name: "organisation's config file", routes: []string{routeBlob}, hit: inOrganisation(after(0)), organised: true},
}

const (
	routeBlob    = "GET /repos/{owner}/{repo}/git/blobs/{file_sha}"
	routeCompare = "GET /repos/{owner}/{repo}/compare/{basehead}"
	script       = "#!/bin/sh\necho stock\n"
)

// executable only changes a script's mode, and hidden changes its text without a visible
// line. GitHub lists both alike.
func executable() ghtest.Files { return ghtest.Files{"store/run.sh": ghtest.Executable(script)} }
func hidden() ghtest.Files {
	return ghtest.Files{"store/run.sh": script + "curl legacy.shop.internal # \x00\n"}
}

// pictured adds a picture to a change, so that git fetches all of the change.
func pictured(change func() ghtest.Files) func() ghtest.Files {
	return func() ghtest.Files {
		files := change()
		files["img/logo.png"] = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
		return files
	}
}

// noOrganisation are GitHub's answers that mean that an organisation has no config.
var noOrganisation = map[string]string{"404": "there is no config", "410": "there is no config any more"}

// keptOrganisation are the answers that mean that an organisation's repository can't be read.
// Its last config is then in force.
var keptOrganisation = map[string]string{"404": "the config is the one read before", "410": "the config is the one read before"}

// inOrganisation tells whether a read is a read of an organisation's config.
func inOrganisation(hit func(*ghtest.Exchange, int) bool) func(*ghtest.Exchange, int) bool {
	return func(x *ghtest.Exchange, n int) bool { return x.Params["repo"] == ".github" && hit(x, n) }
}

// always returns one reason for every fault.
func always(why string) map[string]string {
	all := map[string]string{}
	for _, f := range faults {
		all[f.name] = why
	}
	return all
}

// configRoot matches the first read of a repository's config.
func configRoot(repo string) func(*ghtest.Exchange, int) bool {
	return func(x *ghtest.Exchange, _ int) bool {
		return x.Params["repo"] == repo && x.Params["tree_sha"] == "HEAD"
	}
}

func configDirectory(x *ghtest.Exchange, _ int) bool {
	return x.Params["tree_sha"] != "HEAD" && x.Query.Get("recursive") == ""
}

func after(first int) func(*ghtest.Exchange, int) bool {
	return func(_ *ghtest.Exchange, n int) bool { return n > first }
}

// Each read of a review fails in each way, forever. The check of the bad change never passes.
// The check of the good change passes only if the answer does not need the failed read. guard
// says whose config forbids the bad change. Each fault has its own account and repository.
func failingWorld(t *testing.T, guard func(own, organisations ghtest.Files)) (*world, map[string]*ghtest.Repo) {
	t.Helper()
	// A separate client for each read asks for more tokens in a minute than GitHub gives one
	// App. Other tests cover limits.
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Limits: &ghtest.Limits{}}, func(w *apptest.World) { w.Workers = 32 })
	w.App.Inside().Service.Change(func(o *review.Options) { o.RetryWindow = time.Millisecond })
	repos := map[string]*ghtest.Repo{}
	for i, f := range append([]fault{{name: "none"}}, faults...) {
		r := w.GH.Repo(fmt.Sprintf("acme%d/shop", i))
		r.Grant("alice", "write")
		own, organisations := ghtest.Files{"README.md": "# shop\n", "store/run.sh": script}, ghtest.Files{"profile/README.md": "# acme\n"}
		guard(own, organisations)
		r.Commit("main", own, "start")
		w.GH.Repo(fmt.Sprintf("acme%d/.github", i)).Commit("main", organisations, "start")
		repos[f.name] = r
	}
	w.Idle()
	w.Reconnect(time.Second) // a new client, which has not cached anything
	return w, repos
}

// failEach makes each of the reads fail.
func (w *world) failEach(reads []read, repos map[string]*ghtest.Repo) {
	w.Helper()
	for i, rd := range reads {
		if testing.Short() && i%4 != 0 {
			continue // some faults are enough for the race detector
		}
		w.Run(rd.name, func(t *testing.T) {
			sub := &world{w.In(t)}
			sub.failing(rd, faultsOf(t, i), repos)
		})
	}
}

// faultsOf returns the faults of the i-th read: all of them, or by default one, so that the
// reads together have every fault.
func faultsOf(t *testing.T, i int) []fault {
	t.Helper()
	if sample.Full() {
		return faults
	}
	t.Logf("1 of %d faults; -full runs all", len(faults))
	return faults[i%len(faults):][:1]
}

// The repository's own config forbids the bad change.
func TestFailedReadsNeverPass(t *testing.T) {
	t.Parallel() // it mostly waits
	w, repos := failingWorld(t, func(own, _ ghtest.Files) { own[apptest.RulesPath] = guarded })
	w.failEach(sample.Of(t, 5, reads), repos)
}

// The organisation's config forbids the bad change. It applies to more than one review, and
// was in force before any read of it failed.
func TestFailedReadsOfOrganisationConfigNeverPass(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w, repos := failingWorld(t, func(_, organisations ghtest.Files) { organisations[apptest.RulesPath] = guarded })
	var before []*ghtest.PullRequest
	for _, r := range repos {
		before = append(before, r.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "before", Files: forbidden()}))
	}
	w.Idle()
	for _, pr := range before {
		if c := w.Check(pr); apptest.Satisfies(c.Conclusion) {
			t.Fatalf("the check is %s (%s) without a fault", c.Conclusion, c.Title)
		}
	}
	w.failEach(organisedReads, repos)
}

// failing opens a good and a bad change in each fault's repository, while the read fails
// there in that way. It then compares the checks.
func (w *world) failing(rd read, faults []fault, repos map[string]*ghtest.Repo) {
	w.Helper()
	if rd.good == nil {
		rd.good, rd.bad = apptest.Clean, forbidden
	}
	if rd.organised {
		w.Reconnect(time.Second)
	}
	type pair struct{ good, bad func() []ghtest.CheckRun }
	checks := map[string]pair{}
	open := func(f fault, r *ghtest.Repo) {
		title := func(what string) ghtest.PR {
			return ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: strings.ReplaceAll(rd.name, " ", "-") + "-" + what}
		}
		good, bad := title("good"), title("bad")
		good.Files, bad.Files = rd.good(), rd.bad()
		g, b := r.OpenPR(good), r.OpenPR(bad)
		checks[f.name] = pair{g.CheckRuns, b.CheckRuns}
		if rd.talk {
			g.Comment("alice", "Please look at it.")
			b.Comment("alice", "Please look at it.")
		}
		if rd.group {
			checks[f.name] = pair{r.MergeGroup(g).CheckRuns, r.MergeGroup(b).CheckRuns}
		}
	}
	var mu sync.Mutex
	seen := map[string]int{}
	fail := func(x *ghtest.Exchange) {
		mu.Lock()
		key := x.Params["owner"] + " " + x.Params["pull_number"]
		seen[key]++
		n := seen[key]
		mu.Unlock()
		for _, f := range faults {
			if repos[f.name].FullName() == x.Params["owner"]+"/shop" && (rd.hit == nil || rd.hit(x, n)) {
				f.answer(x)
			}
		}
	}
	for _, route := range rd.routes {
		defer w.GH.On(route, fail)()
	}
	if rd.anew != "" {
		for _, r := range repos {
			r.Commit("main", ghtest.Files{".github/reviewgate/review-rules.json": guarded + rd.anew}, "config")
		}
	}
	done := func(name string) bool {
		return !slices.ContainsFunc([]func() []ghtest.CheckRun{checks[name].good, checks[name].bad}, func(list func() []ghtest.CheckRun) bool {
			runs := list()
			return len(runs) == 0 || !runs[len(runs)-1].Completed()
		})
	}
	open(fault{name: "none"}, repos["none"])
	w.Until("the checks are completed without a fault", func() bool { return done("none") })
	for _, f := range faults {
		open(f, repos[f.name])
	}
	for _, f := range faults {
		if f.name != "429" { // a limit that never ends keeps the check in progress
			w.Until("the checks are completed in spite of "+f.name, func() bool { return done(f.name) })
		}
	}

	last := func(runs []ghtest.CheckRun) ghtest.CheckRun {
		if len(runs) == 0 {
			return ghtest.CheckRun{}
		}
		return runs[len(runs)-1]
	}
	if g, b := last(checks["none"].good()), last(checks["none"].bad()); !apptest.Satisfies(g.Conclusion) || apptest.Satisfies(b.Conclusion) {
		w.Fatalf("without a fault the checks are %s (%s) and %s (%s)", g.Conclusion, g.Title, b.Conclusion, b.Title)
	}
	for _, f := range faults {
		for what, c := range map[string]ghtest.CheckRun{"good": last(checks[f.name].good()), "bad": last(checks[f.name].bad())} {
			may := rd.green
			if what == "bad" {
				may = rd.gone
			}
			w.Logf("%s, %s: %s %s (%s)", f.name, what, c.Status, c.Conclusion, c.Title)
			if apptest.Satisfies(c.Conclusion) && may[f.name] == "" {
				w.Errorf("%s: the check of the %s change is %s (%s)", f.name, what, c.Conclusion, c.Title)
			}
		}
	}
}

// hideDiff removes the lines of a file from the answer, just as GitHub does for files with
// the attribute -diff.
func hideDiff(x *ghtest.Exchange, path string) {
	r := x.Proceed()
	var files []map[string]any
	if json.Unmarshal(r.Body, &files) != nil {
		return
	}
	for _, f := range files {
		if f["filename"] == path {
			delete(f, "patch")
			f["additions"], f["deletions"], f["changes"] = 0, 0, 0
		}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return
	}
	apptest.Says(x, http.StatusOK, "application/json", string(text))
}

// hideSums subtracts the lines of a branch's files from the pull request's sums, just as
// GitHub does for files whose diff it does not show.
func hideSums(x *ghtest.Exchange, branch string) {
	var pull map[string]any
	if json.Unmarshal(x.Proceed().Body, &pull) != nil {
		return
	}
	if head, ok := pull["head"].(map[string]any); !ok || head["ref"] != branch {
		return
	}
	pull["additions"], pull["deletions"] = 0, 0
	text, err := json.Marshal(pull)
	if err != nil {
		return
	}
	apptest.Says(x, http.StatusOK, "application/json", string(text))
}

// A run panics wherever it reads its clock: at each end of each stage, and between stages.
func TestPanicInARunDoesNotPass(t *testing.T) {
	t.Parallel()
	w := start(t)
	var calls, fatal atomic.Int64
	w.App.Inside().Service.Pipeline.Now = func() time.Time {
		if calls.Add(1) == fatal.Load() {
			panic("no time")
		}
		return time.Now()
	}
	for n := int64(1); ; n++ {
		calls.Store(0)
		fatal.Store(n)
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: fmt.Sprint("at-", n), Files: apptest.Clean()})
		w.Idle()
		c := w.Check(pr)
		if calls.Load() < n {
			if c.Conclusion != "success" || n < 12 {
				t.Errorf("a run reads its clock %d times, and its check is %s (%s)", n-1, c.Conclusion, c.Title)
			}
			return
		}
		if apptest.Satisfies(c.Conclusion) || strings.Contains(c.Title+c.Summary+c.Text, "no time") {
			t.Errorf("panic %d: the check is %s (%s)", n, c.Conclusion, c.Title)
		}
	}
}

// When a required agent does not finish, the check does not pass and names the agent,
// whatever the cause.
func TestUnfinishedAgentDoesNotPass(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"limits": {"agent_timeout_seconds": 1, "agent_retries": 1}}`}, "hurry")
	for how, answer := range map[string]agentFunc{
		"failed":    func(context.Context) error { return errors.New("no such host") },
		"panicked":  func(context.Context) error { panic("no such host") },
		"timed out": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"busy": func(context.Context) error {
			return &ports.HostError{Op: "ask", Kind: ports.HostTransient, Err: errors.New("502")}
		},
		"over-quota": func(context.Context) error {
			return &ports.HostError{Op: "ask", Kind: ports.HostBudget, Err: errors.New("300 calls")}
		},
		"malformed": func(context.Context) error { return &dispatch.MalformedError{Err: errors.New("no JSON")} },
	} {
		w.App.Inside().Service.Pipeline.Agents = map[string]dispatch.Agent{"security-reviewer": answer}
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: strings.ReplaceAll(how, " ", "-"), Files: apptest.Clean()})
		w.Idle()
		c := w.Check(pr)
		if c.Conclusion != "action_required" || !strings.HasPrefix(c.Title, "Review incomplete") || !strings.Contains(c.Summary, "security-reviewer") {
			t.Errorf("%s: the check is %s (%s):\n%s", how, c.Conclusion, c.Title, c.Summary)
		}
	}
}

// agentFunc is a function as an agent that finds nothing.
type agentFunc func(context.Context) error

func (f agentFunc) Review(ctx context.Context, _ dispatch.Task) (dispatch.Answer, error) {
	return dispatch.Answer{}, f(ctx)
}

// When a part of a change can't be read, the check does not pass, even if the rest is
// faultless. It names the unread part.
func TestPartlyReadChangeDoesNotPass(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{"store/run.sh": script, "store/long.go": apptest.LongFile("")}, "more")
	for name, tt := range sample.Map(t, 3, map[string]struct {
		files ghtest.Files
		says  string
	}{
		"a file of nine megabytes": {ghtest.Files{"store/big.go": "package store\n" + strings.Repeat("// A line that nobody minds.\n", 9<<20/29)}, "store/big.go"},
		"a line of two megabytes":  {ghtest.Files{"store/api.js": "const a = \"" + strings.Repeat("a", 2<<20) + "\";\n"}, "store/api.js"},
	}) {
		t.Run(name, func(t *testing.T) {
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: strings.NewReplacer(" ", "-", ",", "").Replace(name), Files: tt.files})
			w.Idle()
			c := w.Check(pr)
			if c.Conclusion != "action_required" || !strings.HasPrefix(c.Title, "Review incomplete") {
				t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
			}
			if !strings.Contains(c.Summary+c.Text, tt.says) {
				t.Errorf("the check does not name %s:\n%s\n%s", tt.says, c.Summary, c.Text)
			}
		})
	}
}

// Attributes that switch a diff off, and a NUL in many files or in a moved one, hide nothing,
// because the App reads the contents.
func TestHiddenDiffIsRead(t *testing.T) {
	t.Parallel()
	for name, files := range sample.Map(t, 2, map[string]ghtest.Files{
		"a diff that is switched off": {"store/hidden.go": apptest.Insecure},
		"a file that moved":           {"store/long.go": ghtest.Gone, "store/hidden.go": apptest.LongFile(apptest.Insecure[len("package store"):] + "// \x00\n")},
		"a NUL in 30 files":           nulsBeside(apptest.Numbered(29, "package store\n// \x00\n")),
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.Repo.Commit("main", ghtest.Files{"store/long.go": apptest.LongFile("")}, "more")
			w.Idle()
			w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { hideDiff(x, "store/hidden.go") })
			w.GH.On(apptest.RoutePull, func(x *ghtest.Exchange) { hideSums(x, "hidden") })
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Head: "hidden", Files: files})
			w.Idle()
			c := w.Check(pr)
			if apptest.Satisfies(c.Conclusion) || strings.HasPrefix(c.Title, "Review incomplete") || !strings.Contains(c.Summary+c.Text, "store/hidden.go:") {
				t.Errorf("the check is %s (%s):\n%s\n%s", c.Conclusion, c.Title, c.Summary, c.Text)
			}
		})
	}
}

// nulsBeside adds a file with code that a rule finds and a NUL after it.
func nulsBeside(files ghtest.Files) ghtest.Files {
	files["store/hidden.go"] = apptest.Insecure + "\x00"
	return files
}

// A config file above 4 MB is broken config. The check names it, and the config in force
// stays.
func TestTooLargeConfigWeakensNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	const rules = ".github/reviewgate/review-rules.json"
	w.Repo.Commit("main", ghtest.Files{rules: guarded}, "config")
	w.Idle()
	w.Open(apptest.Clean())
	w.Idle()
	w.Repo.Commit("main", ghtest.Files{rules: "[" + strings.Repeat(" ", 4<<20) + "]"}, "blow it up")
	w.Idle()
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: more", Body: apptest.GoodBody, Head: "more", Files: forbidden()})
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "failure" || !strings.Contains(c.Summary, "review-rules.json") {
		t.Errorf("the check is %s (%s):\n%s", c.Conclusion, c.Title, c.Summary)
	}
}

// Findings that do not fit into a comment still count.
func TestFindingsThatDoNotFitStillCount(t *testing.T) {
	t.Parallel()
	w := start(t)
	const n = 400 // each by its own rule, otherwise they would be one finding
	var rules, text []string
	for i := range n {
		word := fmt.Sprintf("banned%03d", i)
		rules, text = append(rules, apptest.OwnRule("shop-"+word, word, "")), append(text, "// "+word+strings.Repeat(" and so on", 20))
	}
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: "[" + strings.Join(rules, ",") + "]"}, "rules")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/words.go": "package store\n\n" + strings.Join(text, "\n") + "\n"})
	w.Idle()
	w.Wants(pr, "action_required", "that do not fit here")
	if c := w.Check(pr); !strings.Contains(c.Title, "400 major") {
		t.Errorf("the check's title is %q", c.Title)
	}
	if n := len(w.Comment(pr).Body); n > 65_536 {
		t.Errorf("the comment has %d bytes", n)
	}
}

// Every read of the files shows another head's files. The App publishes no review and does
// not ask GitHub endlessly.
func TestFilesAreAlwaysOfAnotherHead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.App.Inside().Service.Change(func(o *review.Options) { o.RetryWindow = 100 * time.Millisecond })
	other := strings.Repeat("e", 40)
	var head atomic.Value
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		r := x.Proceed()
		apptest.Says(x, http.StatusOK, "application/json", strings.ReplaceAll(string(r.Body), "?ref="+head.Load().(string), "?ref="+other))
	})
	w.GH.Webhook.Withhold()
	pr := w.Open(apptest.Clean())
	head.Store(pr.HeadSHA())
	w.GH.Webhook.Resume()
	if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	if c := w.Check(pr); apptest.Satisfies(c.Conclusion) {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
	if n := len(w.GH.Calls.All()); n > 200 {
		t.Errorf("%d calls", n)
	}
}

// A rate limit that never ends does not keep the check open forever.
func TestRateLimitThatNeverEnds(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.App.Inside().Service.Change(func(o *review.Options) { o.RetryWindow = 500 * time.Millisecond })
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Answer(ghtest.SecondaryLimit(http.StatusForbidden, time.Second)) })
	pr := w.Open(apptest.Clean())
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "failure" || !strings.HasPrefix(c.Title, "Could not complete") {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
}
