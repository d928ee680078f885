package trouble

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

// hasGoneOn fails unless all remaining work was done once.
func (o *old) hasGoneOn() {
	o.Helper()
	o.jobsDone()
	for name, conclusion := range map[string]string{
		"dismissed": "success", "insecure": "action_required", "approved": "success", "pushed": "action_required", "overtaken": "action_required",
		"rejected": "failure", "unclear": "action_required", "overridden": "success", "accepted": "action_required", "noticed": "action_required",
		"backport": "neutral", "scanned": "action_required", "muted": "action_required", "grouped": "success", "again": "action_required",
		"late": "action_required", "quarantined": "success", "renamed": "success",
		"checknot": "action_required", "checkthere": "action_required", "commentnot": "action_required", "commentthere": "action_required",
		"askingnot": "action_required", "asking": "action_required", "approvingnot": "success", "approving": "success",
		"sending": "action_required", "sent": "action_required", "reading": "action_required", "writing": "action_required",
		// The new server gives this review up, just as the old one would have.
		"stuck": "failure",
	} {
		o.answered(name, conclusion)
	}
	for _, name := range []string{"checknot", "checkthere", "reading", "writing", "sending"} {
		if runs := o.pulls[name].CheckRuns(); len(runs) != 1 || len(runs[0].Annotations) != 1 {
			o.Errorf("%s: %d check runs, want one with one annotation", name, len(runs))
		}
	}
	before, after := o.runs["sent"][0], o.pulls["sent"].CheckRuns()[0]
	if words(before) == words(after) && len(before.Annotations) != len(after.Annotations) {
		o.Errorf("%d annotations were sent again", len(after.Annotations))
	}
	for _, name := range []string{"again", "scanned"} {
		if n := len(o.pulls[name].CheckRuns()) - len(o.runs[name]); n != 1 {
			o.Errorf("%s: %d new check runs, want 1", name, n)
		}
	}
	for name, states := range map[string][]string{
		"approved": {"approved"}, "approvingnot": {"approved"}, "approving": {"approved"}, "pushed": {"dismissed"}, "rejected": {"dismissed", "dismissed"},
	} {
		var got []string
		for _, r := range o.pulls[name].Reviews.OfApp() {
			got = append(got, r.State)
		}
		if !slices.Equal(got, states) {
			o.Errorf("%s: the App's reviews are %q, want %q", name, got, states)
		}
	}
	o.askedOnce()
	asked := o.pulls["insecure"].Comments()
	if all := o.Reactions(o.pulls["insecure"], asked[len(asked)-1].ID); !slices.Contains(all, "rocket") {
		o.Errorf("the waiting command has the reactions %q", all)
	}
	if body := o.Comment(o.pulls["noticed"]).Body; !strings.Contains(body, "Nobody answered the last question.") {
		o.Errorf("the comment lacks the waiting notice:\n%s", body)
	}
	o.wantsIssues("open", "closed", "open")
	if t, err := o.App.Inside().Store.Target(o.Context(), o.key("backport")); err != nil || t.Wanted != 2 {
		o.Errorf("the config of its base branch was pushed, and its review was asked for %d times (%v)", t.Wanted, err)
	}
	if _, err := o.App.Inside().Store.Target(o.Context(), o.key("gone")); !errors.Is(err, ports.ErrNotFound) {
		o.Errorf("a target in a repository that the App lost is still stored: %v", err)
	}
}

// answered fails unless the pull request has one comment, or none if it passes, its newest check has
// this conclusion, and no check repeats the one before it. The App never rewrites a completed
// check. A version with other wording adds another check.
func (o *old) answered(name, conclusion string) {
	o.Helper()
	pr := o.pulls[name]
	if c := o.Check(pr); c.Conclusion != conclusion {
		o.Errorf("%s: the check is %s (%s), want %s", name, c.Conclusion, c.Title, conclusion)
	}
	if n := len(pr.AppComments()); n > 1 || n == 0 && conclusion != "success" {
		o.Errorf("%s: %d comments, want 1", name, n)
	}
	if faults := pr.Faults(); len(faults) > 0 {
		o.Errorf("%s: %v", name, faults)
	}
	runs := pr.CheckRuns()
	for i := len(o.runs[name]); i < len(runs); i++ {
		if i > 0 && words(runs[i]) == words(runs[i-1]) {
			o.Errorf("%s: a second check has the same text", name)
		}
	}
}

// words is the text of a check.
func words(c ghtest.CheckRun) string { return c.Conclusion + c.Title + c.Summary + c.Text }

// jobsDone fails unless a job of each kind was done and only stuck was given up.
func (o *old) jobsDone() {
	o.Helper()
	done := map[ports.JobKind]bool{}
	for line := range strings.Lines(o.log.String()) {
		var l struct {
			Level, Message, Target string
			Job                    ports.JobKind
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			o.Fatalf("%v: %s", err, line)
		}
		done[l.Job] = done[l.Job] || l.Message == "job done"
		if l.Level == "error" && l.Target != o.key("stuck") {
			o.Error(line)
		}
	}
	for _, kind := range []ports.JobKind{
		ports.JobReview, ports.JobPublish, ports.JobCommand, ports.JobRerequest, ports.JobReport,
		ports.JobScans, ports.JobIssues, ports.JobSweep, ports.JobConfig, ports.JobForget,
	} {
		if !done[kind] {
			o.Errorf("no %s job was done", kind)
		}
	}
}

// askedOnce fails unless wes is asked to review each unclear change. The old server asked for
// two of them, so the new one asks once.
func (o *old) askedOnce() {
	o.Helper()
	if n := o.CallsTo(apptest.RouteRequests, 0); n != 1 {
		o.Errorf("reviews were requested %d times, want once", n)
	}
	for _, name := range []string{"unclear", "asking", "askingnot"} {
		if got := o.pulls[name].Reviews.Requested(); !slices.Equal(got, []string{"wes"}) {
			o.Errorf("%s: asked to review: %q", name, got)
		}
	}
}

// wantsIssues fails unless the App's issues are in these states, oldest first.
func (o *old) wantsIssues(states ...string) {
	o.Helper()
	var got []string
	for _, i := range o.Repo.Issues.All() {
		got = append(got, i.State)
	}
	if !slices.Equal(got, states) {
		o.Errorf("the issues are %q, want %q", got, states)
	}
}

// goesOn lets people push, ask and merge, and fails unless the answers follow from what the
// old server stored.
func (o *old) goesOn(version oldVersion) {
	o.Helper()
	insecure := func(name string) ghtest.Files { return ghtest.Files{"store/" + name + ".go": apptest.Insecure} }
	o.pulls["approved"].Push(insecure("more"), "feat: more")
	o.pulls["rejected"].Push(ghtest.Files{"store/rejected.go": apptest.Secure + "\n// Four.\n"}, "fix: four")
	o.pulls["renamed"].Push(insecure("renamed"), "feat: more")
	o.pulls["refused"].Comment("alice", "/review")
	o.pulls["insecure"].Comment("alice", "/review")
	o.pulls["dismissed"].Comment("alice", "/review")
	o.pulls["overridden"].Comment("alice", "/review")
	o.pulls["grouped"].Comment("alice", "/review full")
	for _, name := range []string{"unclear", "asking"} {
		o.pulls[name].Reviews.Unrequest("wes")
		o.pulls[name].Push(ghtest.Files{"store/" + name + "2.go": "package store\n"}, "feat: more")
	}
	paid := o.Another("paid-back", ghtest.Files{"store/debt.go": "package store\n\nfunc debt() {}\n", "store/owed.go": "package store\n\nfunc owed() {}\n"})
	o.Idle()
	paid.Merge()
	o.Idle()

	either := func(condition bool, then, otherwise string) string {
		if condition {
			return then
		}
		return otherwise
	}
	for name, conclusion := range map[string]string{
		"approved": "action_required", "rejected": "failure", "refused": "action_required", "insecure": "action_required", "overridden": "success",
		// A dismissal must be confirmed if the code around the finding is not stored.
		"dismissed": either(version.hasCode, "success", "action_required"),
		// The settings are milder for the new name. The old name counts if it is stored.
		"renamed": either(version.hasNames, "action_required", "neutral"),
	} {
		o.answered(name, conclusion)
	}
	if r := o.pulls["approved"].Reviews.OfApp(); len(r) != 1 || r[0].State != "dismissed" {
		o.Errorf("the approval of the previous head is %+v", r)
	}
	if r := o.pulls["grouped"].Reviews.OfApp(); len(r) != 1 || r[0].State != "approved" {
		o.Errorf("the approval of the head that was reviewed again is %+v", r)
	}
	o.WantsCheck(o.pulls["rejected"], "failure", "Escalated after 2 fix attempts")
	if n := o.CallsTo(apptest.RouteRequests, 0); n != 1 {
		o.Errorf("wes was asked again after being removed: reviews were requested %d times, want once", n)
	}
	o.wantsIssues("closed", "closed", "closed")
}
