package pulls

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	scanAgents      = ".github/reviewgate/review-agents.json"
	scanComposition = ".github/reviewgate/review-composition.json"

	routeRuns        = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs"
	routeAnnotations = "GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations"
	routeAlerts      = "GET /repos/{owner}/{repo}/code-scanning/alerts"
)

// scanning starts the App on a repository that enables code scanning. section is added to the
// agent's entry.
func scanning(t *testing.T, section string, change ...func(*apptest.World)) *world {
	t.Helper()
	permissions := ghtest.DefaultPermissions()
	permissions["security_events"] = "read"
	o := ghtest.Options{WebhookSecret: apptest.Secret, Permissions: permissions, Events: append(ghtest.DefaultEvents(), "check_suite", "code_scanning_alert")}
	w := startWith(t, o, append([]func(*apptest.World){func(w *apptest.World) { w.Scans = time.Millisecond }}, change...)...)
	w.Repo.Commit("main", ghtest.Files{scanAgents: fmt.Sprintf(`[{"id": "code-scanning", "enabled": true%s}]`, section)}, "config")
	w.Idle() // so that the push does not cause another review of the next pull request
	return w
}

// remark is an annotation on a line of store/client.go.
func remark(line int, level, message string) ghtest.Annotation {
	return ghtest.Annotation{Path: "store/client.go", StartLine: line, EndLine: line, Level: level, Message: message, Title: "errcheck"}
}

// scanned is the agent's result in the newest review, with the review's generation.
func (w *world) scanned(pr *ghtest.PullRequest) (result pipeline.AgentResult, generation int64) {
	w.Helper()
	r := w.Stored(pr)
	for _, res := range r.Review.Results {
		if res.Agent == "code-scanning" {
			return res, r.Generation
		}
	}
	w.Fatalf("the agent has no result: %+v", r.Review.Manifest)
	return
}

// An annotation by another App's check is a finding and counts if it is on an added line.
// Elsewhere it is only counted and not shown.
func TestOtherAppsAnnotationsAreFindings(t *testing.T) {
	t.Parallel()
	w := scanning(t, "")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.WantsCheck(pr, "success")

	w.GH.Calls.Reset()
	w.Repo.Checks.OtherCheck("github-actions", "lint", pr.HeadSHA(), "failure",
		remark(6, "failure", "The client's error is not checked."), remark(5, "warning", "No timeout."), remark(3, "notice", "A notice."),
		ghtest.Annotation{Path: "README.md", StartLine: 1, EndLine: 1, Level: "failure", Message: "Elsewhere."},
		ghtest.Annotation{Path: ".github", StartLine: 2, EndLine: 2, Level: "warning", Message: "Node 16 is deprecated."})
	w.Idle()
	w.Wants(pr, "action_required", "The client's error is not checked.", "github-actions/errcheck", "code-scanning")
	w.WantsCheck(pr, "action_required", "2 not shown")
	if body := w.Comment(pr).Body; strings.Contains(body, "Elsewhere.") || strings.Contains(body, "Node 16") {
		t.Errorf("an annotation outside the added lines is shown:\n%s", body)
	}
	result, generation := w.scanned(pr)
	if len(result.Output.Findings) != 3 || generation != 2 {
		t.Errorf("%d findings in generation %d, want 3 in 2", len(result.Output.Findings), generation)
	}
	runs, lists := w.CallsTo(routeRuns, 0), w.CallsTo(routeAnnotations, 0)
	if runs != 1 || lists != 1 || w.CallsTo(routeAlerts, 0) != 0 {
		t.Errorf("%d calls for check runs, %d for annotations, %d for alerts; want 1, 1 and 0", runs, lists, w.CallsTo(routeAlerts, 0))
	}
	if n := len(w.GH.Calls.All()); n > 10 {
		t.Errorf("the review costs %d calls, want 10 at most", n)
	}
}

// The end of another App's check costs no call where the agent is off or nothing was
// annotated.
func TestOtherAppsChecksWithoutEffect(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	tests := map[string]struct {
		section     string
		off         bool
		annotations []ghtest.Annotation
		app         string
	}{
		"the agent is off":          {off: true, annotations: []ghtest.Annotation{remark(6, "failure", "No.")}, app: "ci"},
		"nothing was annotated":     {app: "ci"},
		"an App that is not listed": {section: `, "scanning": {"apps": ["github-actions"]}`, annotations: []ghtest.Annotation{remark(6, "failure", "No.")}, app: "ci"},
		"only alerts are enabled":   {section: `, "scanning": {"annotations": false, "alerts": true}`, annotations: []ghtest.Annotation{remark(6, "failure", "No.")}, app: "ci"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := scanning(t, tt.section)
			if tt.off {
				w.Repo.Commit("main", ghtest.Files{scanAgents: "[]"}, "config")
				w.Idle()
			}
			pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
			w.Idle()
			w.GH.Calls.Reset()
			w.Repo.Checks.OtherCheck(tt.app, "lint", pr.HeadSHA(), "failure", tt.annotations...)
			w.Repo.Checks.EndOtherSuite(tt.app, pr.HeadSHA())
			w.Repo.Checks.OtherCheck(tt.app, "lint", strings.Repeat("0", 39)+"1", "failure", tt.annotations...) // the head of no pull request
			w.Idle()
			if calls := w.GH.Calls.All(); len(calls) != 0 {
				t.Errorf("%d calls: %v", len(calls), calls)
			}
			if r := w.Stored(pr); r.Generation != 1 {
				t.Errorf("reviewed %d times", r.Generation)
			}
		})
	}
}

// When a check runs again and annotates nothing, its findings are resolved. The App notices
// its end although it has no annotations.
func TestOtherAppsAnnotationsAreResolved(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := scanning(t, "")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.Repo.Checks.OtherCheck("ci", "lint", pr.HeadSHA(), "failure", remark(6, "failure", "Not checked."))
	w.Idle()
	w.WantsCheck(pr, "action_required")
	w.Repo.Checks.OtherCheck("ci", "lint", pr.HeadSHA(), "success")
	w.Idle()
	w.WantsCheck(pr, "success")
	if result, generation := w.scanned(pr); len(result.Output.Findings) != 0 || generation != 3 {
		t.Errorf("%d findings in generation %d, want none in 3", len(result.Output.Findings), generation)
	}
}

// Our own check run has annotations as well, and they never become findings.
func TestOurOwnAnnotationsAreNotFindings(t *testing.T) {
	t.Parallel()
	w := scanning(t, "")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"check": {"annotations": true}}`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if len(w.Check(pr).Annotations) == 0 {
		t.Fatal("our check has no annotations")
	}
	pr.Comment("alice", "/review")
	w.Idle()
	if result, generation := w.scanned(pr); len(result.Output.Findings) != 0 || generation != 2 {
		t.Errorf("%d findings in generation %d, want none in 2", len(result.Output.Findings), generation)
	}
}

// A check that ends after the review read it and before the review ends is not missed.
// Exactly one more review follows.
func TestCheckThatEndsDuringTheReview(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := scanning(t, "")
	read, release := make(chan struct{}, 9), make(chan struct{})
	remove := w.GH.On(routeRuns, func(x *ghtest.Exchange) {
		x.Proceed()
		if x.Query.Get("filter") != "latest" {
			return // the App looks for its own check
		}
		read <- struct{}{}
		<-release
	})
	defer remove()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	<-read
	w.Repo.Checks.OtherCheck("ci", "lint", pr.HeadSHA(), "failure", remark(6, "failure", "Not checked."))
	close(release)
	w.Idle()
	w.WantsCheck(pr, "action_required")
	if _, generation := w.scanned(pr); generation != 2 {
		t.Errorf("generation %d, want 2", generation)
	}
}

// When several checks end one after the other, the pull request is not reviewed for each.
// After the first review, the events of the others wait together.
func TestChecksThatEndOneAfterTheOther(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := scanning(t, "", func(w *apptest.World) { w.Scans = time.Hour })
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.Repo.Checks.OtherCheck("ci", "first", pr.HeadSHA(), "success", remark(3, "notice", "One."))
	w.Idle()
	w.Wants(pr, "success", "One.")
	w.GH.Calls.Reset()
	for i := range 5 {
		w.Repo.Checks.OtherCheck("ci", fmt.Sprintf("check %d", i), pr.HeadSHA(), "success", remark(3, "notice", fmt.Sprintf("More of %d.", i)))
	}
	w.waiting(1)
	if calls := w.GH.Calls.All(); len(calls) != 0 {
		t.Errorf("waiting events cost %v", calls)
	}
	if result, generation := w.scanned(pr); len(result.Output.Findings) != 1 || generation != 2 {
		t.Errorf("%d findings in generation %d, want 1 in 2", len(result.Output.Findings), generation)
	}
}

// waiting waits until the queue contains only postponed jobs.
func (w *world) waiting(jobs int) {
	w.Helper()
	deadline := time.Now().Add(apptest.Patience)
	for {
		d, err := w.App.Inside().Queue.Depth(w.Context())
		if err != nil {
			w.Fatalf("ask for the queue's depth: %v", err)
		}
		if d.Available == 0 && d.Running == 0 && d.Later == jobs {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("the queue has %+v, want %d postponed jobs", d, jobs)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A required agent waits for a check. The pull request does not pass before that check has
// ended, whether it had started or not. The end of another check does not count.
func TestWaitsForAnotherCheck(t *testing.T) {
	t.Parallel()
	w := scanning(t, `, "scanning": {"wait_for": ["CodeQL"]}`)
	w.Repo.Commit("main", ghtest.Files{scanComposition: `[{"id": "code-scanning", "dispatch": {"required": true}}]`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.Wants(pr, "action_required", "Review incomplete", "waiting for CodeQL")

	w.GH.Calls.Reset()
	begun := w.Repo.Checks.StartOtherCheck("github-advanced-security", "CodeQL", pr.HeadSHA())
	w.Repo.Checks.OtherCheck("ci", "build", pr.HeadSHA(), "success")
	w.Idle()
	if calls := w.GH.Calls.All(); len(calls) != 0 {
		t.Errorf("a check that nothing waits for costs %v", calls)
	}
	pr.Comment("alice", "/review")
	w.Idle()
	w.Wants(pr, "action_required", "waiting for CodeQL")

	w.Repo.Checks.EndOtherCheck(begun.ID, "cancelled") // a cancelled check found nothing out
	w.Idle()
	w.Wants(pr, "action_required", "waiting for CodeQL")
	w.Repo.Checks.OtherCheck("github-advanced-security", "CodeQL", pr.HeadSHA(), "success")
	w.Idle()
	w.WantsCheck(pr, "success")
	if _, generation := w.scanned(pr); generation != 4 {
		t.Errorf("generation %d, want 4", generation)
	}
}

// When the event of a check's end is lost, the event of its suite replaces it.
func TestEndOfASuite(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := scanning(t, `, "scanning": {"wait_for": ["CodeQL"]}`)
	w.Repo.Commit("main", ghtest.Files{scanComposition: `[{"id": "code-scanning", "dispatch": {"required": true}}]`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.WantsCheck(pr, "action_required")
	w.GH.Webhook.Withhold("check_run")
	w.Repo.Checks.OtherCheck("github-advanced-security", "CodeQL", pr.HeadSHA(), "success")
	w.Idle()
	w.WantsCheck(pr, "action_required")
	w.Repo.Checks.EndOtherSuite("github-advanced-security", pr.HeadSHA())
	w.Idle()
	w.WantsCheck(pr, "success")
}

// The App looks for lost events of other Apps' checks only where they matter.
func TestLostEventsOfOtherAppsChecks(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		section, says string
		asks          int
	}{
		"taken in": {"", "action_required", 2}, // for the check and for its suite
		"off":      {`, "enabled": false`, "success", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := scanning(t, "")
			w.Repo.Commit("main", ghtest.Files{scanAgents: `[{"id": "code-scanning"` + cmp.Or(tt.section, `, "enabled": true`) + `}]`}, "config")
			w.Idle()
			pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
			w.Idle()
			w.WantsCheck(pr, "success")
			w.Work(ports.JobDeliveries) // for deliveries from before the App started
			w.Away(func() {
				w.Repo.Checks.OtherCheck("ci", "lint", pr.HeadSHA(), "failure", remark(6, "failure", "Not checked."))
				w.Repo.Checks.EndOtherSuite("ci", pr.HeadSHA())
			})
			w.GH.Calls.Reset()
			w.Work(ports.JobDeliveries)
			w.WantsCheck(pr, tt.says)
			if n := len(w.GH.Calls.To(apptest.RoutePayload)); n != tt.asks {
				t.Errorf("%d deliveries were read, want %d", n, tt.asks)
			}
		})
	}
}

// When all events of an awaited check are lost, the sweep of open pull requests looks for it
// again.
func TestSweepLooksForAwaitedChecks(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := scanning(t, `, "scanning": {"wait_for": ["CodeQL"]}`)
	w.Repo.Commit("main", ghtest.Files{scanComposition: `[{"id": "code-scanning", "dispatch": {"required": true}}]`}, "config")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
	w.Idle()
	w.GH.Webhook.Withhold("check_run", "check_suite")
	w.Repo.Checks.OtherCheck("github-advanced-security", "CodeQL", pr.HeadSHA(), "success")
	w.Repo.Checks.EndOtherSuite("github-advanced-security", pr.HeadSHA())
	w.GH.SetPermissions("acme", ghtest.DefaultPermissions()) // this event asks for a sweep
	w.Idle()
	w.WantsCheck(pr, "success")
}

// sqlInjection is an alert on a line of store/client.go.
func sqlInjection(line int) ghtest.Alert {
	return ghtest.Alert{
		Tool: "CodeQL", Rule: "go/sql-injection", Description: "Query built from user-controlled sources", Severity: "error", SecuritySeverity: "critical",
		Path: "store/client.go", StartLine: line, Message: "This query depends on a user-provided value.", HelpURI: "https://codeql.github.com/go-sql-injection",
	}
}

// If alerts are enabled, they appear through their own events and go when they are fixed
// or dismissed.
func TestAlertsAreFindings(t *testing.T) {
	t.Parallel()
	for _, end := range sample.Of(t, 1, []string{"fixed", "dismissed"}) {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			w := scanning(t, `, "scanning": {"alerts": true}`)
			w.Repo.EnableCodeScanning()
			pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
			w.Idle()
			w.WantsCheck(pr, "success", "code scanning has analysed nothing here")

			w.GH.Calls.Reset()
			alerts := pr.Alerts.Analysed(sqlInjection(6))
			w.Idle()
			w.Wants(pr, "failure", "Query built from user-controlled sources", "CodeQL/go/sql-injection", "https://codeql.github.com/go-sql-injection")
			if n := w.CallsTo(routeAlerts, 0); n != 2 {
				t.Errorf("%d calls for alerts, want one for each ref", n)
			}
			// Code scanning annotates what it raises alerts for.
			w.Repo.Checks.OtherCheck("github-advanced-security", "CodeQL", pr.HeadSHA(), "failure", ghtest.Annotation{
				Path: "store/client.go", StartLine: 6, EndLine: 6, Level: "failure", Title: alerts[0].Description, Message: alerts[0].Message,
			})
			w.Idle()
			if result, _ := w.scanned(pr); len(result.Output.Findings) != 1 {
				t.Errorf("the alert and its annotation became %d findings", len(result.Output.Findings))
			}
			w.Repo.Checks.OtherCheck("github-advanced-security", "CodeQL", pr.HeadSHA(), "success")
			w.Idle()
			w.WantsCheck(pr, "failure") // the alert is open
			if end == "fixed" {
				pr.Alerts.Fix(alerts[0].Number)
			} else {
				pr.Alerts.Dismiss("alice", alerts[0].Number)
			}
			w.Idle()
			w.WantsCheck(pr, "success")
		})
	}
}

// Alerts are not read unless they are enabled. Where they can't be read, the comment says
// what to do.
func TestAlertsThatCannotBeRead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	t.Run("not wanted", func(t *testing.T) {
		t.Parallel()
		w := scanning(t, "")
		pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
		pr.Alerts.Analysed(sqlInjection(6))
		w.Idle()
		w.WantsCheck(pr, "success")
		if n := w.CallsTo(routeAlerts, 0); n != 0 {
			t.Errorf("%d calls for alerts", n)
		}
	})
	t.Run("not enabled", func(t *testing.T) {
		t.Parallel()
		w := scanning(t, `, "scanning": {"alerts": true}`)
		pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
		w.Idle()
		w.WantsCheck(pr, "success", "code scanning is not enabled for the repository")
	})
	t.Run("not permitted", func(t *testing.T) {
		t.Parallel()
		w := scanning(t, `, "scanning": {"alerts": true}`)
		w.Repo.Commit("main", ghtest.Files{scanComposition: `[{"id": "code-scanning", "dispatch": {"required": true}}]`}, "config")
		w.GH.SetPermissions("acme", ghtest.DefaultPermissions())
		w.Idle()
		pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
		w.Idle()
		w.Wants(pr, "action_required", "Review incomplete", "the App lacks the permission", "security_events: read")

		w.GH.SetPermissions("acme", ghtest.DefaultPermissions()) // permissions without this one
		w.Idle()
		w.Wants(pr, "action_required", "the App lacks the permission")

		may := ghtest.DefaultPermissions()
		may["security_events"] = "read"
		w.GH.SetPermissions("acme", may)
		w.Idle()
		w.WantsCheck(pr, "success", "code scanning is not enabled for the repository")
		_, generation := w.scanned(pr)
		w.GH.SetPermissions("acme", may)
		w.Idle()
		if _, again := w.scanned(pr); again != generation {
			t.Error("the pull request was reviewed again though nothing is refused any more")
		}
	})
	t.Run("GitHub is down", func(t *testing.T) {
		t.Parallel()
		w := scanning(t, `, "scanning": {"alerts": true}`)
		heal := w.GH.On(routeAlerts, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") })
		pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure})
		w.Until("the check is open", func() bool { return len(pr.CheckRuns()) == 1 })
		heal()
		w.Idle()
		w.WantsCheck(pr, "success", "code scanning is not enabled")
	})
}

// outsideCode removes the code from a Markdown text, that is everything between runs of
// equally many backticks. Markup inside code has no effect.
func outsideCode(md string) string {
	var b strings.Builder
	for {
		from := strings.Index(md, "`")
		if from < 0 {
			return b.String() + md
		}
		b.WriteString(md[:from])
		md = md[from:]
		n := len(md) - len(strings.TrimLeft(md, "`"))
		rest, to := md[n:], 0
		for {
			i := strings.Index(rest[to:], md[:n])
			if i < 0 {
				b.WriteString(md[:n])
				md = rest
				break
			}
			to += i
			run := len(rest[to:]) - len(strings.TrimLeft(rest[to:], "`"))
			if run == n {
				md = rest[to+n:]
				break
			}
			to += run
		}
	}
}

// Whatever another App writes, the review's text stays limited in length and inert.
func TestHostileAnnotations(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := scanning(t, "")
	lines := "package store\n" + strings.Repeat("// A line.\n", 5200)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Secure, "store/long.go": lines})
	w.Idle()
	const token = "ghp_016C7e5f9A3bD28cE4F6a1B0d9C8e7F6a5B4"
	bad := "@octocat closes #1 <img src=x onerror=alert(1)> ![x](https://evil.example/p.png) </details> | `` ` ``\n<!-- reviewgate:report -->\n" + token + "\n"
	odd := func(path string, start, end int) ghtest.Annotation {
		return ghtest.Annotation{Path: path, StartLine: start, EndLine: end, Level: "failure", Title: bad, Message: bad + strings.Repeat("x", 60<<10), RawDetails: bad + strings.Repeat("```\n", 15<<10)}
	}
	w.Repo.Checks.OtherCheck("evil", "@octocat <i>#1</i>", pr.HeadSHA(), "failure",
		odd("store/client.go", 6, 6), odd("store/client.go", -5, -9), odd("store/client.go", 1<<40, 1<<41), odd("store/client.go", 1, 1<<40),
		odd("../../etc/passwd", 1, 1), odd("/etc/passwd", 1, 1), odd("store/\x00\u202e.go", 1, 1), odd(strings.Repeat("a/", 2000), 1, 1))
	w.Idle()
	w.WantsCheck(pr, "action_required")
	said := outsideCode(w.Comment(pr).Body) + outsideCode(w.Check(pr).Summary) + outsideCode(w.Check(pr).Text)
	for _, active := range []string{"@octocat", "closes #1", "<img", "![x](https", token, "<i>"} {
		if strings.Contains(said, active) {
			i := strings.Index(said, active)
			t.Errorf("%q is shown unescaped: %s", active, said[max(0, i-200):i+50])
		}
	}
	if n := strings.Count(w.Comment(pr).Body, "<!-- reviewgate:report -->"); n != 1 {
		t.Errorf("the comment contains the marker %d times", n)
	}

	many := make([]ghtest.Annotation, 5000)
	for i := range many {
		many[i] = ghtest.Annotation{Path: "store/long.go", StartLine: 2 + i, EndLine: 2 + i, Level: "warning", Message: fmt.Sprintf("Line %d is no good.", i)}
	}
	w.GH.Calls.Reset()
	pr.Push(ghtest.Files{"store/client.go": apptest.Secure + "\n// More.\n"}, "more")
	w.Idle()
	w.Repo.Checks.OtherCheck("evil", "many", pr.HeadSHA(), "failure", many...)
	w.Idle()
	result, _ := w.scanned(pr)
	if len(result.Output.Findings) != 500 || !strings.Contains(result.Note, "4500 more that are no worse than those shown") {
		t.Errorf("%d findings, and the note %q", len(result.Output.Findings), result.Note)
	}
	if n := w.CallsTo(routeAnnotations, 0); n != 50 {
		t.Errorf("%d calls for 5,000 annotations, want 50", n)
	}
	w.GH.Calls.Reset()
	w.Repo.Checks.OtherCheck("evil", "one more", pr.HeadSHA(), "failure", remark(6, "failure", "One too many."))
	w.Idle()
	w.Wants(pr, "action_required", "Not all that other checks annotated was read", "more than the limit of")
	if result, _ := w.scanned(pr); result.Status != pipeline.AgentOK || len(result.Output.Findings) != 1 || w.CallsTo(routeAnnotations, 0) != 0 {
		t.Errorf("%s: %+v", result.Status, result.Output.Findings)
	}
}
