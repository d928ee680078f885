package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline"
)

const (
	scanAgents      = ".github/reviewgate/review-agents.json"
	scanComposition = ".github/reviewgate/review-composition.json"

	routeRuns        = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs"
	routeAnnotations = "GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations"
	routeAlerts      = "GET /repos/{owner}/{repo}/code-scanning/alerts"
)

// scanning starts the App on a repository that takes in what others found, by
// what the agent's entry says besides.
func scanning(t *testing.T, section string, change ...func(*world)) *world {
	t.Helper()
	permissions := ghtest.DefaultPermissions()
	permissions["security_events"] = "read"
	o := ghtest.Options{WebhookSecret: secret, Permissions: permissions, Events: append(ghtest.DefaultEvents(), "check_suite", "code_scanning_alert")}
	w := startWith(t, o, append([]func(*world){func(w *world) { w.scans = time.Millisecond }}, change...)...)
	w.repo.Commit("main", ghtest.Files{scanAgents: fmt.Sprintf(`[{"id": "code-scanning", "enabled": true%s}]`, section)}, "config")
	return w
}

// remark is an annotation on a line of store/client.go.
func remark(line int, level, message string) ghtest.Annotation {
	return ghtest.Annotation{Path: "store/client.go", StartLine: line, EndLine: line, Level: level, Message: message, Title: "errcheck"}
}

// scanned is what the newest review knows of the agent.
func (w *world) scanned(pr *ghtest.PullRequest) (result pipeline.AgentResult, generation int64) {
	w.Helper()
	r := w.stored(pr)
	for _, res := range r.Review.Results {
		if res.Agent == "code-scanning" {
			return res, r.Generation
		}
	}
	w.Fatalf("the agent has no result: %+v", r.Review.Manifest)
	return
}

// What another App's check annotated on an added line is a finding and decides;
// what it annotated elsewhere is counted and not shown.
func TestOthersAnnotationsAreFindings(t *testing.T) {
	t.Parallel()
	w := scanning(t, "")
	pr := w.open(ghtest.Files{"store/client.go": secure})
	w.idle()
	w.wantsCheck(pr, "success")

	w.gh.ResetCalls()
	w.repo.OtherCheck("github-actions", "lint", pr.HeadSHA(), "failure",
		remark(6, "failure", "The client's error is not checked."), remark(5, "warning", "No timeout."), remark(3, "notice", "A notice."),
		ghtest.Annotation{Path: "README.md", StartLine: 1, EndLine: 1, Level: "failure", Message: "Elsewhere."},
		ghtest.Annotation{Path: ".github", StartLine: 2, EndLine: 2, Level: "warning", Message: "Node 16 is deprecated."})
	w.idle()
	w.wants(pr, "action_required", "The client's error is not checked.", "github-actions/errcheck", "code-scanning", "2 not shown")
	if body := w.comment(pr).Body; strings.Contains(body, "Elsewhere.") || strings.Contains(body, "Node 16") {
		t.Errorf("what is on no added line is shown:\n%s", body)
	}
	result, generation := w.scanned(pr)
	if len(result.Output.Findings) != 3 || generation != 2 {
		t.Errorf("%d findings in generation %d, want 3 in 2", len(result.Output.Findings), generation)
	}
	runs, lists := w.callsTo(routeRuns, 0), w.callsTo(routeAnnotations, 0)
	if runs != 1 || lists != 1 || w.callsTo(routeAlerts, 0) != 0 {
		t.Errorf("%d calls for check runs, %d for annotations, %d for alerts; want 1, 1 and 0", runs, lists, w.callsTo(routeAlerts, 0))
	}
	if n := len(w.gh.Calls()); n > 10 {
		t.Errorf("the review costs %d calls, want 10 at most", n)
	}
}

// Where nobody asked for it, and where nothing was annotated, the end of another
// App's check costs no call.
func TestOthersChecksThatMatterToNobody(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		section     string
		off         bool
		annotations []ghtest.Annotation
		app         string
	}{
		"the agent is off":        {off: true, annotations: []ghtest.Annotation{remark(6, "failure", "No.")}, app: "ci"},
		"nothing was annotated":   {app: "ci"},
		"an App that counts not":  {section: `, "scanning": {"apps": ["github-actions"]}`, annotations: []ghtest.Annotation{remark(6, "failure", "No.")}, app: "ci"},
		"alerts alone are wanted": {section: `, "scanning": {"annotations": false, "alerts": true}`, annotations: []ghtest.Annotation{remark(6, "failure", "No.")}, app: "ci"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := scanning(t, tt.section)
			if tt.off {
				w.repo.Commit("main", ghtest.Files{scanAgents: "[]"}, "config")
			}
			pr := w.open(ghtest.Files{"store/client.go": secure})
			w.idle()
			w.gh.ResetCalls()
			w.repo.OtherCheck(tt.app, "lint", pr.HeadSHA(), "failure", tt.annotations...)
			w.repo.EndOtherSuite(tt.app, pr.HeadSHA())
			w.repo.OtherCheck(tt.app, "lint", strings.Repeat("0", 39)+"1", "failure", tt.annotations...) // nobody's head
			w.idle()
			if calls := w.gh.Calls(); len(calls) != 0 {
				t.Errorf("%d calls: %v", len(calls), calls)
			}
			if r := w.stored(pr); r.Generation != 1 {
				t.Errorf("reviewed %d times", r.Generation)
			}
		})
	}
}

// A check that runs again and annotates nothing takes its findings back, and its
// end is news though it has no annotations.
func TestOthersAnnotationsAreResolved(t *testing.T) {
	t.Parallel()
	w := scanning(t, "")
	pr := w.open(ghtest.Files{"store/client.go": secure})
	w.idle()
	w.repo.OtherCheck("ci", "lint", pr.HeadSHA(), "failure", remark(6, "failure", "Not checked."))
	w.idle()
	w.wantsCheck(pr, "action_required")
	w.repo.OtherCheck("ci", "lint", pr.HeadSHA(), "success")
	w.idle()
	w.wantsCheck(pr, "success")
	if result, generation := w.scanned(pr); len(result.Output.Findings) != 0 || generation != 3 {
		t.Errorf("%d findings in generation %d, want none in 3", len(result.Output.Findings), generation)
	}
}

// Our own check run annotates as well, and is never taken in.
func TestOurOwnAnnotationsAreNotTakenIn(t *testing.T) {
	t.Parallel()
	w := scanning(t, "")
	w.repo.Commit("main", ghtest.Files{settingsPath: `{"check": {"annotations": true}}`}, "config")
	pr := w.open(ghtest.Files{"store/client.go": insecure})
	w.idle()
	if len(w.check(pr).Annotations) == 0 {
		t.Fatal("our check has no annotations")
	}
	pr.Comment("alice", "/review")
	w.idle()
	if result, generation := w.scanned(pr); len(result.Output.Findings) != 0 || generation != 2 {
		t.Errorf("%d findings in generation %d, want none in 2", len(result.Output.Findings), generation)
	}
}

// A check that ends after it was looked at, and before the review has, is not
// missed: one more review follows, and one only.
func TestCheckThatEndsDuringTheReview(t *testing.T) {
	t.Parallel()
	w := scanning(t, "")
	read, release := make(chan struct{}, 9), make(chan struct{})
	remove := w.gh.On(routeRuns, func(x *ghtest.Exchange) {
		x.Proceed()
		read <- struct{}{}
		<-release
	})
	defer remove()
	pr := w.open(ghtest.Files{"store/client.go": secure})
	<-read
	w.repo.OtherCheck("ci", "lint", pr.HeadSHA(), "failure", remark(6, "failure", "Not checked."))
	close(release)
	w.idle()
	w.wantsCheck(pr, "action_required")
	if _, generation := w.scanned(pr); generation != 2 {
		t.Errorf("generation %d, want 2", generation)
	}
}
