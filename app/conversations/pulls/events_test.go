package pulls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ghtest/examples"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// scene is a world in which every pull request was reviewed once, so that tokens and config
// are known.
type scene struct {
	*world
	pr           *ghtest.PullRequest
	group        *ghtest.MergeGroup
	late, doomed *ghtest.Repo // each with a pull request
}

// happening is an event with an action, its effects and its cost.
type happening struct {
	what    string // event, action, and the detail that matters
	happens func(*scene)
	calls   int    // of GitHub's API
	outcome string // of the delivery, as the App answers: accepted or no_op
	runs    int    // check runs on the pull request's head afterwards
	says    string // conclusion of the newest of them, empty while it doesn't matter
}

// The table of events, which happen one after the other on one pull request. Each costs
// exactly the calls in the table, so that the test shows any change.
var happenings = []happening{
	{"pull_request labeled, a label that nothing reads", func(s *scene) { s.pr.Label("help wanted") }, 0, "no_op", 1, "action_required"},
	{"pull_request unlabeled, a label that nothing reads", func(s *scene) { s.pr.Unlabel("help wanted") }, 0, "no_op", 1, ""},
	{"pull_request labeled, a type that the title names", func(s *scene) { s.pr.Label("docs") }, 0, "no_op", 1, ""},
	// The title and the label change the type, so a gap appears and goes again, and the comment changes, too.
	{"pull_request edited, title", func(s *scene) { s.pr.Edit(ghtest.Edit{Title: ptr("Stock")}) }, 7, "accepted", 2, ""},
	{"pull_request edited, body", func(s *scene) { s.pr.Edit(ghtest.Edit{Body: ptr(apptest.GoodBody + " Twice.")}) }, 5, "accepted", 2, ""},
	{"pull_request edited, nothing that counts", func(s *scene) { s.pr.Edit(ghtest.Edit{}) }, 0, "no_op", 2, ""},
	{"pull_request unlabeled, a type", func(s *scene) { s.pr.Unlabel("docs") }, 7, "accepted", 3, ""},
	{"pull_request labeled, a type", func(s *scene) { s.pr.Label("bug") }, 6, "accepted", 4, ""},
	{"pull_request edited, base", func(s *scene) { s.pr.Edit(ghtest.Edit{Base: ptr("release")}) }, 8, "accepted", 5, ""},
	{"pull_request converted_to_draft", func(s *scene) { s.pr.ConvertToDraft() }, 5, "accepted", 5, ""},
	{"pull_request ready_for_review", func(s *scene) { s.pr.ReadyForReview() }, 5, "accepted", 5, ""},
	{"pull_request locked", func(s *scene) { s.pr.Lock() }, 0, "no_op", 5, ""},
	{"pull_request unlocked", func(s *scene) { s.pr.Unlock() }, 0, "no_op", 5, ""},
	{"check_run rerequested", func(s *scene) { s.Repo.Checks.Rerequest("alice", s.Check(s.pr).ID) }, 7, "accepted", 6, ""},
	{"check_run requested_action, review again", func(s *scene) {
		s.Repo.Checks.RequestAction("alice", s.Check(s.pr).ID, render.ActionReview)
	}, 7, "accepted", 7, ""},
	{"check_run requested_action, an unknown button", func(s *scene) { s.Repo.Checks.RequestAction("alice", s.Check(s.pr).ID, "dance") }, 0, "no_op", 7, ""},
	{"check_suite rerequested", func(s *scene) { s.pr.RerequestSuite("alice") }, 7, "accepted", 8, "action_required"},
	{"issue_comment created, no command", func(s *scene) { s.pr.Comment("alice", "Looks good.") }, 0, "no_op", 8, ""},
	{"issue_comment created, /review", func(s *scene) { s.pr.Comment("alice", "/review") }, 9, "accepted", 9, ""},
	{"merge_group checks_requested", func(s *scene) { s.group = s.Repo.MergeGroup(s.pr) }, 6, "accepted", 9, ""},
	{"merge_group destroyed", func(s *scene) { s.group.Destroy("dequeued") }, 0, "accepted", 9, ""},
	{"push to a branch without config of its own", func(s *scene) { s.Repo.Commit("other", ghtest.Files{apptest.SettingsPath: "{}"}, "config elsewhere") }, 0, "no_op", 9, ""},
	{"push to the default branch, no config", func(s *scene) { s.Repo.Commit("main", ghtest.Files{"README.md": "# the shop\n"}, "docs") }, 0, "no_op", 9, ""},
	{"push of a tag", func(s *scene) { s.Repo.PushTag("alice", "v1", s.Repo.Branch("main")) }, 0, "no_op", 9, ""},
	{"push that deletes a branch", func(s *scene) { s.Repo.DeleteBranch("alice", "other") }, 0, "no_op", 9, ""},
	// The push of config reads three trees and a file, and the review follows.
	{"push of config to the default branch", func(s *scene) { s.Repo.Commit("main", ghtest.Files{apptest.RulesPath: apptest.Milder}, "milder") }, 4 + 7, "accepted", 10, "neutral"},
	{"push of config, then another push over it", func(s *scene) {
		s.GH.Webhook.Send("push", "", s.AsOurs(s.pr, fmt.Appendf(nil, `{"ref": "refs/heads/main", "forced": true, "after": %q, "commits": []}`, s.Repo.Branch("main"))))
	}, 1, "accepted", 10, ""},
	{"pull_request synchronize", func(s *scene) { s.pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more") }, 8, "accepted", 1, "neutral"},
	{"pull_request closed", func(s *scene) { s.pr.Close() }, 0, "accepted", 1, ""},
	{"pull_request edited, closed", func(s *scene) { s.pr.Edit(ghtest.Edit{Title: ptr("Closed stock")}) }, 0, "no_op", 1, ""},
	{"push of config, all is closed", func(s *scene) { s.Repo.Commit("main", ghtest.Files{apptest.RulesPath: `[]`}, "as before") }, 4, "accepted", 1, ""},
	{"pull_request reopened", func(s *scene) { s.pr.Reopen() }, 8, "accepted", 2, "action_required"},
	{"pull_request_review submitted, no command", func(s *scene) { s.pr.Reviews.Submit("alice", "commented", "Looks good.") }, 0, "no_op", 2, ""},
	// A review's body takes no reactions.
	{"pull_request_review submitted, /review", func(s *scene) { s.pr.Reviews.Submit("alice", "commented", "/review") }, 7, "accepted", 3, ""},
	{"pull_request_review_comment created, no command", func(s *scene) { s.pr.Reviews.Comment("alice", "store/client.go", 10, "Why?") }, 0, "no_op", 3, ""},
	{"pull_request_review_comment created, /review", func(s *scene) { s.pr.Reviews.Comment("alice", "store/client.go", 10, "/review") }, 9, "accepted", 4, ""},
	// None of the threads is ours, and only commands record decisions.
	{"pull_request_review_thread resolved", func(s *scene) {
		s.GH.Webhook.Send("pull_request_review_thread", "resolved", s.AsOurs(s.pr, []byte(`{"action": "resolved", "pull_request": {}, "thread": {"comments": [{"body": "/review"}]}}`)))
	}, 0, "no_op", 4, ""},
	{"check_run completed, of another App", func(s *scene) {
		s.Repo.Checks.OtherCheck("ci", "lint", s.pr.HeadSHA(), "failure", remark(6, "failure", "No."))
	}, 0, "no_op", 4, ""},
	{"check_suite completed, of another App", func(s *scene) {
		s.GH.Webhook.Send("check_suite", "completed", s.AsOurs(s.pr, fmt.Appendf(nil, `{"action": "completed", "check_suite": {"head_sha": %q, "app": {"id": %d}}}`, s.pr.HeadSHA(), s.GH.AppID()+1)))
	}, 0, "no_op", 4, ""},
	{"code_scanning_alert appeared_in_branch", func(s *scene) {
		s.GH.Webhook.Send("code_scanning_alert", "appeared_in_branch", s.AsOurs(s.pr, fmt.Appendf(nil, `{"action": "appeared_in_branch", "ref": "refs/pull/%d/merge", "alert": {}}`, s.pr.Number)))
	}, 0, "no_op", 4, ""},
	{"installation_repositories removed", func(s *scene) { s.late.Settings.SetInstalled(false) }, 2, "accepted", 4, ""},
	{"installation_repositories removed, unknown repository", func(s *scene) { s.GH.Repo("acme/unknown").Settings.SetInstalled(false) }, 0, "accepted", 4, ""},
	{"installation_repositories added", func(s *scene) { s.late.Settings.SetInstalled(true) }, 7, "accepted", 4, ""},
	{"installation new_permissions_accepted", func(s *scene) { s.GH.SetPermissions("acme", ghtest.DefaultPermissions()) }, 5, "accepted", 4, ""},
	{"installation suspend", func(s *scene) { s.GH.Suspend("acme") }, 0, "no_op", 4, ""},
	{"installation unsuspend", func(s *scene) { s.GH.Unsuspend("acme") }, 5, "accepted", 4, ""},
	{"repository renamed and back, told in two events", func(s *scene) { s.Repo.Settings.Rename("store"); s.Idle(); s.Repo.Settings.Rename("shop") }, 20, "accepted", 6, ""},
	{"repository transferred", func(s *scene) {
		s.GH.Webhook.Send("repository", "transferred", s.AsOurs(s.pr, []byte(`{"action": "transferred", "changes": {"owner": {"from": {"organization": {"login": "zenith"}}}}}`)))
	}, 6, "accepted", 6, ""},
	{"repository deleted, told in two events", func(s *scene) { s.doomed.Settings.Delete() }, 2, "accepted", 6, ""},
	{"installation deleted", func(s *scene) { s.GH.Uninstall("acme") }, 0, "accepted", 6, ""},
}

func ptr[T any](v T) *T { return &v }

func TestEveryEvent(t *testing.T) {
	t.Parallel()
	s := &scene{world: start(t)}
	s.Reconnect(0)
	s.Release()
	s.pr = s.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
	s.late, s.doomed = s.second("acme/late"), s.second("acme/doomed")
	s.Idle()
	for _, h := range happenings {
		s.GH.Calls.Reset()
		event, before := strings.Fields(h.what)[0], len(s.GH.Webhook.Deliveries())
		h.happens(s)
		s.Idle()
		calls := s.GH.Calls.All()
		// The job for the second event of one change repeats calls whose answers are still
		// cached, and a postponed job repeats its calls too.
		most := h.calls
		if strings.HasSuffix(h.what, "told in two events") {
			most *= 4
		}
		if len(calls) < h.calls || len(calls) > most {
			t.Errorf("%s: %d calls, want %d:", h.what, len(calls), h.calls)
			for _, c := range calls {
				t.Logf("\t%s %d", c.Route, c.Status)
			}
		}
		all := s.GH.Webhook.Deliveries()[before:]
		i := slices.IndexFunc(all, func(d ghtest.Delivery) bool { return d.Event == event })
		if i < 0 || !strings.Contains(all[i].Response, `"`+h.outcome+`"`) {
			t.Errorf("%s: delivery %d is not %s: %v", h.what, i, h.outcome, all)
		}
		runs := s.pr.CheckRuns()
		if len(runs) != h.runs {
			t.Errorf("%s: %d check runs, want %d", h.what, len(runs), h.runs)
		}
		if h.says != "" && (len(runs) == 0 || runs[len(runs)-1].Conclusion != h.says) {
			t.Errorf("%s: not %s", h.what, h.says)
		}
	}
}

// second is another repository with a reviewed pull request.
func (w *world) second(name string) *ghtest.Repo {
	r := w.GH.Repo(name)
	r.Commit("main", ghtest.Files{"README.md": "# it\n"}, "start")
	r.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: apptest.Clean()})
	return r
}

// asked are the events and actions that make the App do something. TestEveryEvent has them
// all.
var asked = map[string][]string{
	"pull_request":                {"opened", "reopened", "synchronize", "ready_for_review", "converted_to_draft", "edited", "labeled", "unlabeled", "closed"},
	"issue_comment":               {"created"},
	"check_run":                   {"rerequested", "requested_action"},
	"check_suite":                 {"rerequested"},
	"pull_request_review":         {"submitted"},
	"pull_request_review_comment": {"created"},
	"merge_group":                 {"checks_requested", "destroyed"},
	"push":                        {""},
	"installation":                {"unsuspend", "new_permissions_accepted", "deleted"},
	"installation_repositories":   {"added", "removed"},
	"repository":                  {"deleted", "renamed", "transferred"},
}

// GitHub's own examples of every other event, as if they were about our pull request. The App
// records each, and each costs no call.
func TestIrrelevantEvents(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.Calls.Reset()
	events, sent := map[string]bool{}, 0
	for _, p := range examples.Payloads() {
		events[p.Event] = true
		if slices.Contains(asked[p.Event], p.Action) {
			continue
		}
		sent++
		d := w.GH.Webhook.Send(p.Event, p.Action, w.AsOurs(pr, p.Body))
		var answer struct{ Status string }
		if err := json.Unmarshal([]byte(d.Response), &answer); err != nil || answer.Status != "no_op" || !d.OK() {
			t.Errorf("%s: status %d, %s", p, d.Status, d.Response)
		}
	}
	for _, action := range []string{
		"assigned", "unassigned", "milestoned", "demilestoned", "review_requested", "review_request_removed", "auto_merge_enabled", "auto_merge_disabled",
		"enqueued", "dequeued", "locked", "unlocked", "blessed",
	} {
		sent++
		d := w.GH.Webhook.Send("pull_request", action, w.AsOurs(pr, []byte(`{"action": "`+action+`", "pull_request": {}}`)))
		if !strings.Contains(d.Response, "no_op") {
			t.Errorf("pull_request %s: status %d, %s", action, d.Status, d.Response)
		}
	}
	w.Idle()
	if calls := w.GH.Calls.All(); len(calls) > 0 {
		t.Errorf("the events cost %d calls: %v", len(calls), calls)
	}
	if len(events) < 58 || sent < 75 {
		t.Errorf("%d events, %d deliveries", len(events), sent)
	}
	for event, actions := range asked {
		for _, action := range actions {
			if action == "opened" { // the other events happen to the opened pull request
				continue
			}
			if !slices.ContainsFunc(happenings, func(h happening) bool {
				return strings.HasPrefix(h.what+" ", strings.TrimSpace(event+" "+action)) && h.outcome == "accepted"
			}) {
				t.Errorf("TestEveryEvent has no %s %s", event, action)
			}
		}
	}
}

// Re-run requests for other Apps' checks and suites are ignored and cost no calls.
func TestOtherAppsChecks(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.Calls.Reset()
	for _, event := range []string{"check_run", "check_suite"} {
		d := w.GH.Webhook.Send(event, "rerequested", w.AsOurs(pr, fmt.Appendf(nil, `{"action": "rerequested", %q: {"head_sha": %q, "app": {"id": %d}}}`, event, pr.HeadSHA(), w.GH.AppID()+1)))
		if !strings.Contains(d.Response, "no_op") {
			t.Errorf("%s of another App: %d, %s", event, d.Status, d.Response)
		}
	}
	w.Idle()
	if calls := w.GH.Calls.All(); len(calls) > 0 {
		t.Errorf("%d calls", len(calls))
	}
}
