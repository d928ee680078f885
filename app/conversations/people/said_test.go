package people

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Commands also count in the body of a review and in comments on lines. The body of a review
// takes no reactions, so only the comment answers.
func TestCommandsInReviews(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Author: "carol", Fork: "carol", Files: faulty()})
	w.Idle()

	w.GH.Calls.Reset()
	pr.Reviews.Submit("alice", "changes_requested", "Not ours.\r\n\r\n/review dismiss "+w.finding(pr, major)+" not ours\r\n")
	w.Idle()
	if m := w.taught(pr); len(m.Dismissed) != 1 || m.Dismissed[0].Reason != "not ours" || m.Dismissed[0].By != "alice" {
		t.Errorf("dismissed: %+v", m.Dismissed)
	}
	for _, c := range w.GH.Calls.All() {
		if strings.HasSuffix(c.Route, "/reactions") {
			t.Errorf("a reaction to the body of a review: %s %d", c.Path, c.Status)
		}
	}

	onLine := pr.Reviews.Comment("alice", "store/client.go", 10, "/review restore "+w.finding(pr, major))
	w.Idle()
	if m := w.taught(pr); len(m.Dismissed) != 0 {
		t.Errorf("dismissed after it was restored: %+v", m.Dismissed)
	}
	refused := pr.Reviews.Comment("bob", "store/client.go", 10, "/review status")
	w.Idle()
	for id, want := range map[int64]string{onLine.ID: "eyes+rocket", refused.ID: "confused"} {
		if got := w.onLine(pr, id); got != want {
			t.Errorf("reactions to the comment on a line: %q, want %q", got, want)
		}
	}
	pr.Reviews.Submit("alice", "commented", "/review help")
	w.Idle()
	w.Wants(pr, "failure", "These are the commands")
}

// onLine lists the App's reactions to a comment on a line.
func (w *world) onLine(pr *ghtest.PullRequest, id int64) string {
	w.Helper()
	var all []string
	for _, c := range pr.Reviews.Comments() {
		for _, r := range c.Reactions {
			if c.ID == id {
				all = append(all, r.Content)
			}
		}
	}
	return strings.Join(all, "+")
}

// Text that is not a command costs no calls, wherever it is written.
func TestTextWithoutCommandCostsNoCalls(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "admin")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: faulty()})
	w.Idle()
	pr.Comment("mia", "/review help")
	w.Idle()
	before := w.Comment(pr)
	w.GH.Calls.Reset()

	talked := pr.Comment("mia", "Thanks.")
	pr.EditComment(talked.ID, "/review override hotfix")
	words := pr.Reviews.Submit("mia", "changes_requested", "") // the same as the App's decision
	pr.Reviews.Edit(words.ID, "/review override hotfix")
	onLine := pr.Reviews.Comment("mia", "store/client.go", 10, "Why?")
	pr.Reviews.EditComment(onLine.ID, "/review override hotfix")
	// The App's own comment: quoted in full, in a code block, and as a comment of its own.
	quoted := strings.Split(before.Body, "\n")
	pr.Comment("mia", "> "+strings.Join(quoted, "\r\n> "))
	pr.Comment("mia", "````\n"+before.Body+"\n/review override hotfix\n````")
	pr.Comment("mia", before.Body)
	pr.Comment("mia", "<!--\r\n/review override hotfix\r\n-->\r\n    /review override hotfix\r\n > /review override hotfix")
	pr.Reviews.Submit("renovate[bot]", "commented", "/review override hotfix")
	pr.Reviews.Comment("reviewgate[bot]", "store/client.go", 10, "/review override hotfix")
	w.Idle()

	if calls := w.GH.Calls.All(); len(calls) > 0 {
		t.Errorf("%d calls: %s", len(calls), routes(calls))
	}
	if m := w.taught(pr); m.ByHand != nil {
		t.Errorf("stored decision: %+v", m.ByHand)
	}
}

// Members of a team that the settings name may do what needs maintain permission, as long as
// GitHub lists them as members.
func TestTeamsThatMayOverride(t *testing.T) {
	t.Parallel()
	permissions := ghtest.DefaultPermissions()
	permissions["members"] = "read"
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret, Permissions: permissions})
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"commands": {"override_teams": ["acme/cooks", "acme/release-managers"]}}`}, "teams")
	w.GH.Team("acme", "release-managers", "wes")
	w.GH.InviteToTeam("acme", "release-managers", "ivan")
	for _, login := range []string{"wes", "ivan"} {
		w.Repo.Grant(login, "write")
	}
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: faulty()})
	w.Idle()

	invited := pr.Comment("ivan", "/review override hotfix")
	w.Idle()
	if got := w.Reactions(pr, invited.ID); !slices.Equal(got, []string{"confused"}) {
		t.Errorf("reactions to somebody who was only invited: %v", got)
	}
	w.Wants(pr, "failure", "in a team that the settings name")

	// An error is not an answer.
	heal := w.GH.On("GET /orgs/{org}/teams/{team_slug}/memberships/{username}", ghtest.First(3, func(x *ghtest.Exchange) { x.Fail(502, "bad gateway") }))
	member := pr.Comment("wes", "/review dismiss "+w.finding(pr, critical)+" revoked")
	w.Idle()
	heal()
	if got := w.Reactions(pr, member.ID); !slices.Equal(got, []string{"eyes", "rocket"}) {
		t.Errorf("reactions to a member: %v", got)
	}
	if m := w.taught(pr); len(m.Dismissed) != 1 || !m.Dismissed[0].Override {
		t.Errorf("dismissed: %+v", m.Dismissed)
	}

	w.GH.SetPermissions("acme", ghtest.DefaultPermissions())
	again := pr.Comment("wes", "/review override hotfix")
	w.Idle()
	if got := w.Reactions(pr, again.ID); !slices.Equal(got, []string{"confused"}) {
		t.Errorf("reactions where the App may not see members: %v", got)
	}
}

// A person may override or reject a head only after its review is shown. The head could have
// been pushed while the person typed the command.
func TestOverrideNeedsAReviewedHead(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "maintain")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: faulty()})
	w.Idle()
	reading, resume := make(chan bool, 10), make(chan bool)
	remove := w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", ghtest.First(1, func(x *ghtest.Exchange) {
		reading <- true
		select {
		case <-resume:
		case <-x.Context().Done():
		}
	}))
	defer remove()
	pr.Push(ghtest.Files{"store/more.go": apptest.Insecure}, "more")
	<-reading
	early := pr.Comment("mia", "/review override hotfix")
	w.Until("the command is refused", func() bool { return len(w.Reactions(pr, early.ID)) > 0 })
	close(resume)
	w.Idle()
	if got := w.Reactions(pr, early.ID); !slices.Equal(got, []string{"confused"}) {
		t.Errorf("reactions %v, want confused only", got)
	}
	w.Wants(pr, "failure", "The newest commit had not been reviewed when `/review override` was asked for")

	pr.Comment("mia", "/review override hotfix")
	w.Idle()
	w.Wants(pr, "success")
	pr.Push(ghtest.Files{"store/even.go": "package store\n"}, "even more")
	w.Idle()
	w.Wants(pr, "failure")
}

// A decision applies to the head whose review its sender could see, however long the command
// waited. It does not apply to a head that was pushed and reviewed meanwhile.
func TestOverrideThatWaitedDoesNotApplyToANewerHead(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "maintain")
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: faulty()})
	w.Idle()
	waits, resume := make(chan bool, 10), make(chan bool)
	remove := w.GH.On("GET /repos/{owner}/{repo}/collaborators/{username}/permission", ghtest.First(1, func(x *ghtest.Exchange) {
		waits <- true
		select {
		case <-resume:
		case <-x.Context().Done():
		}
	}))
	defer remove()
	c := pr.Comment("mia", "/review override hotfix")
	<-waits
	pr.Push(ghtest.Files{"store/more.go": apptest.Insecure}, "more")
	w.Until("the newer head is reviewed", func() bool {
		runs := pr.CheckRuns()
		return len(runs) > 0 && runs[len(runs)-1].Completed()
	})
	close(resume)
	w.Idle()
	if got := w.Reactions(pr, c.ID); !slices.Equal(got, []string{"confused"}) {
		t.Errorf("reactions %v, want confused only", got)
	}
	w.Wants(pr, "failure", "The newest commit had not been reviewed when `/review override` was asked for")
}

// A command names a finding by any unambiguous start of its id.
func TestFindingsAreNamedByShortIDs(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Author: "carol", Fork: "carol", Files: faulty()})
	w.Idle()
	id := w.finding(pr, major)
	for _, c := range []struct{ say, want, says string }{
		{"/review dismiss " + id[:3] + " x", "confused", "can't be the id of a finding"},
		{"/review dismiss " + id[:4] + "x y", "confused", "can't be the id of a finding"},
		{"/review dismiss 0000 x", "confused", "`" + id[:8] + "`"}, // lists the findings
		{"/review dismiss " + id, "confused", "it gives no reason"},
		{"/review restore " + id, "confused", "neither dismissed nor accepted"},
		{"/review dismiss `" + strings.ToUpper(id[:4]) + "` x", "eyes+rocket", ""},
		{"/review restore 0000", "confused", "`" + id[:8] + "`"},
		{"/review status", "eyes+rocket", "alice dismissed `" + id[:8] + "`"},
		{"/review restore " + id[:5], "eyes+rocket", ""},
	} {
		said := pr.Comment("alice", c.say)
		w.Idle()
		if got := strings.Join(w.Reactions(pr, said.ID), "+"); got != c.want {
			t.Errorf("%s: reactions %q, want %q", c.say, got, c.want)
		}
		if body := w.Comment(pr).Body; !strings.Contains(body, c.says) {
			t.Errorf("%s: the comment lacks %q:\n%s", c.say, c.says, body)
		}
	}
	if m := w.taught(pr); len(m.Dismissed) != 0 {
		t.Errorf("dismissed at the end: %+v", m.Dismissed)
	}
}

// A secret that somebody types into a command is neither stored nor shown.
func TestSecretInACommand(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "maintain")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	for _, text := range []string{"/review " + apptest.Token, "/review agent " + apptest.Token, "/review explain " + apptest.Token, "/review override use " + apptest.Token + " for now"} {
		said := pr.Comment("mia", text)
		w.Idle()
		c, done, err := w.App.Inside().Store.Command(t.Context(), ports.PlaceConversation, said.ID)
		if err != nil || !done || strings.Contains(c.Name+c.Args, apptest.Token[4:30]) || !strings.Contains(c.Name+c.Args, "[redacted:") {
			t.Errorf("stored: %+v, %t, %v", c, done, err)
		}
		if body := w.Comment(pr).Body + w.Check(pr).Summary; strings.Contains(body, apptest.Token[4:30]) {
			t.Errorf("shown: %s", body)
		}
	}
	if m := w.taught(pr); m.ByHand == nil || m.ByHand.Reason != "use [redacted:github-pat] for now" {
		t.Errorf("stored decision: %+v", m.ByHand)
	}
}

// Before the first review, an answer is still written, and the review then takes over the
// same comment.
func TestAnswerBeforeTheFirstReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.Webhook.Withhold("pull_request")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.GH.Webhook.Resume()
	said := pr.Comment("alice", "/review status")
	w.Idle()
	if got := w.Reactions(pr, said.ID); !slices.Equal(got, []string{"eyes", "rocket"}) {
		t.Errorf("reactions %v", got)
	}
	first := w.Comment(pr)
	if !strings.Contains(first.Body, "There is no review yet") {
		t.Errorf("the comment:\n%s", first.Body)
	}
	pr.Comment("alice", "/review")
	w.Idle()
	w.Wants(pr, "action_required", "store/client.go")
	if now := w.Comment(pr); now.ID != first.ID {
		t.Error("the review has another comment")
	}
}

// If reviews are switched off, commands are neither answered nor cause any call.
func TestCommandsWhereReviewsAreOff(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Grant("mia", "maintain")
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"mode": "off"}`}, "off")
	w.Idle()
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	w.GH.Calls.Reset()
	var said []int64
	for _, text := range []string{"/review help", "/review override hotfix", "/review frobnicate", "/review dismiss"} {
		said = append(said, pr.Comment("mia", text).ID, pr.Reviews.Comment("mia", "store/client.go", 1, text).ID)
	}
	w.Idle()
	if calls := w.GH.Calls.All(); len(calls) > 0 {
		t.Errorf("%d calls: %s", len(calls), routes(calls))
	}
	for _, id := range said {
		if got := w.Reactions(pr, id); len(got) > 0 || w.onLine(pr, id) != "" {
			t.Errorf("reactions %v", got)
		}
	}
	if n := len(pr.AppComments()); n != 0 {
		t.Errorf("%d comments", n)
	}
}

// The status reports a review that is under way. The answer is written with that review, and
// the command is done then.
func TestStatusDuringAReview(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	reading, resume := make(chan bool, 10), make(chan bool)
	remove := w.GH.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", ghtest.First(1, func(x *ghtest.Exchange) {
		reading <- true
		select {
		case <-resume:
		case <-x.Context().Done():
		}
	}))
	defer remove()
	pr.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	<-reading
	said := pr.Comment("alice", "/review status")
	w.Until("the command is seen", func() bool { return slices.Contains(w.Reactions(pr, said.ID), "eyes") })
	if got := w.Reactions(pr, said.ID); slices.Contains(got, "rocket") {
		t.Error("the command was done before its answer was written")
	}
	close(resume)
	w.Idle()
	if got := w.Reactions(pr, said.ID); !slices.Equal(got, []string{"eyes", "rocket"}) {
		t.Errorf("reactions %v", got)
	}
	w.Wants(pr, "action_required", "A review is under way or waits (new commits), asked for at", "19 of 20 commands left this hour")
}
