package layers

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routeIssues = "POST /repos/{owner}/{repo}/issues"
	domainsPath = config.RepositoryDir + "/" + config.FileDomains
)

// onlyWarnings is config that looks only for the word shortcut, which is a warning.
var onlyWarnings = `{"extends": [], "items": [` + strings.Replace(apptest.OwnRule("no-shortcut", "shortcut", ""), `"major"`, `"warning"`, 1) + `]}`

// deferring is a world whose repository has the settings for issues, and whose App may write
// issues.
func deferring(t *testing.T, issues string) *world {
	t.Helper()
	may := ghtest.DefaultPermissions()
	may["issues"] = "write"
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Permissions: may, Events: append(ghtest.DefaultEvents(), "issues")})
	w.setIssues(issues)
	return w
}

func (w *world) setIssues(issues string) {
	w.Helper()
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"issues": ` + issues + `}`, apptest.RulesPath: onlyWarnings}, "config")
}

// reviewed opens a pull request and waits for its review.
func (w *world) reviewed(head string, files ghtest.Files) *ghtest.PullRequest {
	w.Helper()
	pr := w.Another(head, files)
	w.Idle()
	if len(pr.CheckRuns()) == 0 {
		w.Fatalf("%s was not reviewed", head)
	}
	return pr
}

// merged merges pull requests one after the other, and returns the calls that the last merge
// cost.
func (w *world) merged(prs ...*ghtest.PullRequest) []string {
	w.Helper()
	for _, pr := range prs {
		w.GH.Calls.Reset()
		pr.Merge()
		w.Idle()
	}
	return w.routes()
}

// routes names the calls since the last reset, except those for tokens.
func (w *world) routes() (all []string) {
	for _, c := range w.GH.Calls.All() {
		if !strings.HasSuffix(c.Route, "/access_tokens") {
			all = append(all, strings.ReplaceAll(c.Route, "/repos/{owner}/{repo}", ""))
		}
	}
	return all
}

// costs fails unless these are the calls.
func (w *world) costs(got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("calls %q, want %q", got, want)
	}
}

// issue returns the App's one issue.
func (w *world) issue() ghtest.Issue {
	w.Helper()
	all := w.appIssues()
	if len(all) != 1 {
		w.Fatalf("the App has %d issues, want 1: %+v", len(all), all)
	}
	return all[0]
}

func (w *world) appIssues() []ghtest.Issue {
	return slices.DeleteFunc(w.Repo.Issues.All(), func(i ghtest.Issue) bool { return i.Author != w.GH.AppLogin() })
}

var (
	shortcut = ghtest.Files{"store/b.go": "package store\n\n// shortcut one\nfunc B() {}\n"}

	callsForFirst  = []string{"GET /issues", "POST /issues"}
	callsForUpdate = []string{"GET /issues/{issue_number}", "PATCH /issues/{issue_number}"}
)

// shortcuts is a file with one warning for each word, far from one another.
func shortcuts(words ...string) string {
	text := "package store\n"
	for _, word := range words {
		text += "\n// shortcut " + word + "\nfunc " + word + "() {\n" + strings.Repeat("\tprintln()\n", 20) + "}\n"
	}
	return text
}

func TestIssuesAreOffByDefault(t *testing.T) {
	t.Parallel()
	w := deferring(t, `{}`)
	w.costs(w.merged(w.reviewed("first", shortcut)))
	if all := w.Repo.Issues.All(); len(all) != 0 {
		t.Errorf("issues %+v", all)
	}
}

func TestWarningBecomesAnIssueAtTheMerge(t *testing.T) {
	t.Parallel()
	w := deferring(t, `{"tech_debt": true, "labels": ["tech debt"]}`)
	pr := w.reviewed("first", shortcut)
	if all := w.Repo.Issues.All(); len(all) != 0 {
		t.Errorf("issues before the merge: %+v", all)
	}
	w.costs(w.merged(pr), callsForFirst...)
	i := w.issue()
	if i.State != "open" || !slices.Equal(i.Labels, []string{"tech debt"}) || !strings.Contains(i.Title, "store/b.go") {
		t.Errorf("issue %+v", i)
	}
	for _, text := range []string{"<!-- reviewgate:debt ", "Banned word shortcut", "/store/b.go#L3", "Merged with #1."} {
		if !strings.Contains(i.Body, text) {
			t.Errorf("the issue lacks %q:\n%s", text, i.Body)
		}
	}
	w.GH.Calls.Reset()
	if _, err := w.GH.Webhook.Redeliver(w.GH.Webhook.LastDelivery("pull_request").GUID); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	w.costs(w.routes())

	w.costs(w.merged(w.reviewed("second", ghtest.Files{"store/c.go": "package store\n\n// shortcut two\n"})), callsForFirst...)
}

func TestOnlyCountingMergesDefer(t *testing.T) {
	t.Parallel()
	for name, merge := range sample.Map(t, 2, map[string]func(w *world) []string{
		"closed without a merge": func(w *world) []string {
			pr := w.reviewed("first", shortcut)
			w.GH.Calls.Reset()
			pr.Close()
			w.Idle()
			return w.routes()
		},
		"merged into another branch": func(w *world) []string {
			w.Repo.Commit("release", ghtest.Files{"r": "1"}, "release")
			pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: first", Body: apptest.GoodBody, Base: "release", Files: shortcut})
			w.Idle()
			return w.merged(pr)
		},
		"advisory": func(w *world) []string {
			w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "advisory", "issues": {"tech_debt": true}}`}, "advise")
			return w.merged(w.reviewed("first", shortcut))
		},
		"merged against the gate": func(w *world) []string {
			rules := strings.Replace(onlyWarnings, `"items": [`, `"items": [`+apptest.OwnRule("no-forbidden", "forbidden", "")+`, `, 1)
			w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: rules}, "forbid")
			return w.merged(w.reviewed("first", ghtest.Files{"store/b.go": "package store\n\n// shortcut\n// forbidden\n"}))
		},
		"of a head that was not reviewed": func(w *world) []string {
			pr := w.reviewed("first", ghtest.Files{"store/b.go": "package store\n"})
			w.GH.Webhook.Withhold("pull_request")
			pr.Push(shortcut, "more")
			w.GH.Webhook.Resume()
			return w.merged(pr)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := deferring(t, `{"tech_debt": true}`)
			w.costs(merge(w))
			if all := w.Repo.Issues.All(); len(all) != 0 {
				t.Errorf("issues %+v", all)
			}
		})
	}
}

func TestDebtSeenAgainIsCountedUp(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"tech_debt": true}`)
	first, second := w.reviewed("first", shortcut), w.reviewed("second", shortcut)
	w.merged(first)
	i := w.issue()
	w.Repo.Issues.Edit("alice", i.Number, i.Body+"\n\n- [ ] ask bob\n")
	w.costs(w.merged(second), callsForUpdate...)
	i = w.issue()
	if !strings.Contains(i.Body, "Seen 2 times, last in #2, before that in #1.") || !strings.HasSuffix(i.Body, "\n\n- [ ] ask bob\n") {
		t.Errorf("the issue says:\n%s", i.Body)
	}
}

func TestDebtIsClosedWithItsLine(t *testing.T) {
	t.Parallel()
	w := deferring(t, `{"tech_debt": true}`)
	again := w.reviewed("again", shortcut)
	w.merged(w.reviewed("first", shortcut))

	w.costs(w.merged(w.reviewed("beside", ghtest.Files{"store/b.go": "package store\n\n// shortcut one\nfunc B() int { return 1 }\n"})))
	if i := w.issue(); i.State != "open" {
		t.Fatalf("a change beside the line closed the issue:\n%s", i.Body)
	}
	w.costs(w.merged(w.reviewed("rename", ghtest.Files{"store/b.go": ghtest.Gone, "store/c.go": ghtest.MovedFrom("store/b.go")})))
	w.costs(w.merged(w.reviewed("repair", ghtest.Files{"store/c.go": "package store\n\nfunc B() int { return 1 }\n"})), callsForUpdate...)
	i := w.issue()
	if i.State != "closed" || i.StateReason != "completed" || !strings.Contains(i.Body, "**Gone** since #6 was merged.") {
		t.Errorf("issue %+v", i)
	}

	// The App reopens an issue that it closed when the debt comes back.
	w.costs(w.merged(again), callsForUpdate...)
	if i := w.issue(); i.State != "open" || strings.Contains(i.Body, "Gone") {
		t.Errorf("issue %+v", i)
	}
}

func TestIssueWithALostAnswer(t *testing.T) {
	t.Parallel()
	for name, lose := range sample.Map(t, 1, map[string]func(*ghtest.Exchange){
		"after it was opened":  func(x *ghtest.Exchange) { x.Proceed(); x.Drop() },
		"before it was opened": func(x *ghtest.Exchange) { x.Drop() },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := deferring(t, `{"tech_debt": true, "per_day": 1}`)
			w.GH.On(routeIssues, ghtest.First(1, lose))
			calls := w.merged(w.reviewed("first", shortcut))
			w.issue()
			want := []string{"GET /issues", "POST /issues", "GET /issues"}
			if name == "before it was opened" {
				want = append(want, "GET /issues", "GET /issues", "POST /issues") // the list is read twice, because lists lag and the store may have been lost
			}
			w.costs(calls, want...)
		})
	}
}

func TestIssueClosedByAPersonStaysClosed(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, act := range map[string]func(w *world, number int){
		"not planned": func(w *world, n int) { w.Repo.Issues.Close("alice", n, "not_planned") },
		"completed":   func(w *world, n int) { w.Repo.Issues.Close("alice", n, "completed") },
		"edited":      func(w *world, n int) { w.Repo.Issues.Edit("alice", n, "This is ours now.") },
		"deleted":     func(w *world, n int) { w.Repo.Issues.Delete(n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := deferring(t, `{"tech_debt": true}`)
			prs := []*ghtest.PullRequest{w.reviewed("first", shortcut), w.reviewed("second", shortcut), w.reviewed("third", shortcut)}
			w.merged(prs[0])
			act(w, w.issue().Number)
			before := w.appIssues()
			calls := w.merged(prs[1])
			if len(calls) == 0 || calls[0] != "GET /issues/{issue_number}" || len(w.GH.Calls.Writes()) > 0 {
				t.Errorf("calls %q", calls)
			}
			w.costs(w.merged(prs[2])) // the closed issue is known by now
			if after := w.appIssues(); len(after) != len(before) || len(after) == 1 && (after[0].Body != before[0].Body || after[0].State != before[0].State) {
				t.Errorf("issues %+v, were %+v", after, before)
			}
		})
	}
}

func TestIssueWithPastedMarkerIsNotOurs(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"tech_debt": true}`)
	other := deferring(t, `{"tech_debt": true}`)
	other.merged(other.reviewed("first", shortcut))
	w.Repo.Issues.Open("mallory", "Tech debt", other.issue().Body)
	w.merged(w.reviewed("first", shortcut))
	w.issue()
}

func TestIssuesAreFoundAgainWithoutADatabase(t *testing.T) {
	t.Parallel()
	w := deferring(t, `{"tech_debt": true}`)
	w.merged(w.reviewed("first", shortcut))
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.UseDatabase(apptest.Database(t))
	w.StartApp()
	w.Repo.Commit("old", ghtest.Files{}, "old")
	w.Repo.Commit("main", ghtest.Files{"store/b.go": ghtest.Gone}, "away")
	w.merged(w.reviewed("second", shortcut))
	if i := w.issue(); !strings.Contains(i.Body, "Merged with #3.") {
		t.Errorf("the issue says:\n%s", i.Body)
	}
}

func TestIssuesPerDay(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"tech_debt": true, "per_day": 1}`)
	w.merged(w.reviewed("first", ghtest.Files{"store/b.go": shortcuts("one", "two", "three")}))
	if n := len(w.appIssues()); n != 1 {
		t.Errorf("%d issues of 1 a day", n)
	}
	if !strings.Contains(w.Metrics(), `reviewgate_issues_total{outcome="waiting"} 2`) {
		t.Error("the metrics do not count the two waiting issues")
	}
	// Debt that is paid back meanwhile needs no issue.
	w.costs(w.merged(w.reviewed("second", ghtest.Files{"store/b.go": shortcuts("one", "two")})))

	w.setIssues(`{"tech_debt": true, "per_day": 2}`)
	w.reviewed("third", ghtest.Files{"store/z.go": "package store\n"})
	w.GH.Calls.Reset()
	if err := w.App.Inside().Service.Work(t.Context(), ports.Job{Kind: ports.JobSweep}); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	if n := len(w.appIssues()); n != 2 {
		t.Errorf("%d issues after the limit allowed another", n)
	}
	if n := len(w.GH.Calls.To(routeIssues)); n != 1 {
		t.Errorf("the App tried to open %d issues", n)
	}
}

const unmapped = "package billing\n\nfunc Total(price float64) float64 { return price * 1.19 }\n"

func TestGapBecomesAnIssueWithItsPatch(t *testing.T) {
	t.Parallel()
	w := deferring(t, `{"gaps": true, "tech_debt": true}`)
	w.merged(w.reviewed("first", ghtest.Files{"tills/sum.go": unmapped}))
	i := w.issue()
	if !strings.Contains(i.Body, "<!-- reviewgate:gap ") || !strings.Contains(i.Body, "`"+domainsPath+"`") {
		t.Errorf("the issue says:\n%s", i.Body)
	}
	_, patch, _ := strings.Cut(i.Body, "```json\n")
	patch, _, _ = strings.Cut(patch, "\n```")
	var ops []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal([]byte(patch), &ops); err != nil || len(ops) != 1 || ops[0].Op != "add" || ops[0].Path != "/items/-" {
		t.Fatalf("the patch is %v, %v:\n%s", ops, err, patch)
	}
	w.Repo.Commit("main", ghtest.Files{domainsPath: "[" + string(ops[0].Value) + "]"}, "map it")
	w.costs(w.merged(w.reviewed("second", ghtest.Files{"store/z.go": "package store\n"})), callsForUpdate...)
	if i := w.issue(); i.State != "closed" || !strings.Contains(i.Body, "**No longer a gap** since #3 was merged.") {
		t.Errorf("issue %+v", i)
	}
}

// A gap becomes an issue even if the change was merged against the gate. Its warnings do not
// become debt.
func TestGapOfAMergeAgainstTheGate(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"gaps": true, "tech_debt": true}`)
	rules := strings.Replace(onlyWarnings, `"items": [`, `"items": [`+apptest.OwnRule("no-forbidden", "forbidden", "")+`, `, 1)
	w.Repo.Commit("main", ghtest.Files{apptest.RulesPath: rules}, "forbid")
	pr := w.reviewed("first", ghtest.Files{"tills/sum.go": unmapped + "\n// shortcut\n// forbidden\n"})
	w.WantsCheck(pr, "action_required")
	w.merged(pr)
	if i := w.issue(); !strings.Contains(i.Body, "<!-- reviewgate:gap ") {
		t.Errorf("the issue says:\n%s", i.Body)
	}
}

// Each of several gaps has a patch that can be applied without the others.
func TestPatchesOfSeveralGapsApplyAlone(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"gaps": true}`)
	w.merged(w.reviewed("first", ghtest.Files{"tills/sum.go": unmapped, "tills/total.go": unmapped}))
	all := w.appIssues()
	if len(all) != 2 {
		t.Fatalf("%d issues", len(all))
	}
	for _, i := range all {
		if !strings.Contains(i.Body, `"path": "/items/-",`) {
			t.Errorf("the patch does not append its entry:\n%s", i.Body)
		}
	}
}

func TestIssuesWithoutThePermission(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.setIssues(`{"tech_debt": true}`)
	pr := w.reviewed("first", ghtest.Files{"store/b.go": shortcuts("one", "two")})
	w.costs(w.merged(pr), callsForFirst...)
	if c := w.Check(pr); c.Conclusion != "neutral" {
		t.Errorf("the check is %s", c.Conclusion)
	}
	if !strings.Contains(w.Metrics(), `reviewgate_issues_total{outcome="refused"} 1`) {
		t.Error("the metrics do not count the refused issue")
	}
	w.GH.Calls.Reset()
	if err := w.App.Inside().Service.Work(t.Context(), ports.Job{Kind: ports.JobSweep}); err != nil {
		t.Fatal(err)
	}
	w.Idle()
	if n := len(w.GH.Calls.To(routeIssues)); n != 0 {
		t.Errorf("a sweep tried to write %d times", n)
	}

	may := ghtest.DefaultPermissions()
	may["issues"] = "write"
	w.GH.Calls.Reset()
	w.GH.SetPermissions("acme", may)
	w.Idle()
	if n := len(w.appIssues()); n != 2 {
		t.Errorf("%d issues once the permission was given, want 2: %q", n, w.routes())
	}
	w.merged(w.reviewed("second", ghtest.Files{"store/z.go": "package store\n\n// shortcut three\n"}))
	if n := len(w.appIssues()); n != 3 {
		t.Errorf("%d issues after another merge, want 3", n)
	}
}

func TestIssuesAreSwitchedOff(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"tech_debt": true}`)
	prs := []*ghtest.PullRequest{w.reviewed("first", shortcut), w.reviewed("second", shortcut), w.reviewed("third", shortcut)}
	w.Repo.Issues.SetEnabled(false)
	w.costs(w.merged(prs[0]), "GET /issues")
	w.Repo.Issues.SetEnabled(true)
	w.merged(prs[1])
	w.Repo.Issues.SetEnabled(false)
	w.merged(prs[2]) // the App must not take the issue for deleted
	w.Repo.Issues.SetEnabled(true)
	w.merged(w.reviewed("fourth", ghtest.Files{"store/z.go": "package store\n"}))
	if i := w.issue(); !strings.Contains(i.Body, "Seen 3 times") {
		t.Errorf("the issue says:\n%s", i.Body)
	}
}

// A pull request that GitHub merges as soon as the check passes counts as well, even before
// the App has the answer to the check's completion.
func TestMergedAsSoonAsTheCheckIsGreen(t *testing.T) {
	t.Parallel()
	w := deferring(t, `{"tech_debt": true}`)
	opened := make(chan *ghtest.PullRequest, 1)
	w.GH.On("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", ghtest.First(1, func(x *ghtest.Exchange) {
		x.Proceed()
		(<-opened).Merge()
	}))
	opened <- w.Another("first", shortcut)
	w.Idle()
	w.issue()
}

// copyDatabase copies a database into an empty one, just as restoring a backup does.
func (w *world) copyDatabase(from, to string) {
	w.Helper()
	if file, ok := strings.CutPrefix(to, "sqlite://"); ok {
		if _, err := app.MakeBackup(w.Context(), from, file); err != nil {
			w.Fatal(err)
		}
		return
	}
	file := filepath.Join(w.TempDir(), "backup.dump")
	pgtest.Run(w, "pg_dump", "--format=custom", "--file="+file, from)
	pgtest.Run(w, "pg_restore", "--exit-on-error", "--no-owner", "--dbname="+to, file)
}

// After a backup is restored, only GitHub knows the issues that were opened since.
func TestIssueSinceTheBackupIsFoundAgain(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := deferring(t, `{"tech_debt": true, "per_day": 2}`)
	again := w.reviewed("again", ghtest.Files{"store/c.go": "package store\n\n// shortcut two\n"})
	w.merged(w.reviewed("first", shortcut))
	from := w.DB
	w.UseDatabase(apptest.EmptyDatabase(t))
	w.copyDatabase(from, w.DB)
	w.merged(w.reviewed("second", ghtest.Files{"store/c.go": "package store\n\n// shortcut two\n"}))
	before := len(w.appIssues())
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	w.StartApp()
	w.merged(again)
	if after := w.appIssues(); before != 2 || len(after) != 2 {
		t.Errorf("%d issues became %d", before, len(after))
	}
	// An issue that was found again does not count as one of the day's new issues.
	w.merged(w.reviewed("third", ghtest.Files{"store/d.go": "package store\n\n// shortcut three\n"}))
	if n := len(w.appIssues()); n != 3 {
		t.Errorf("%d issues, want another", n)
	}
}
