package trouble

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestCommandsOnClosedPullRequests(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	pr.Close()
	w.Idle()
	before := len(w.GH.Calls.All())
	pr.Comment("bob", "/review")
	pr.Comment("alice", "/review nonsense")
	w.Idle()
	if n := len(w.GH.Calls.All()) - before; n != 0 {
		t.Errorf("commands on a closed pull request cost %d calls", n)
	}
}

// The close event was lost, and a command makes the App look again.
func TestCloseEventIsLost(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{`{"drafts": "skip"}`, `{}`} {
		w := start(t)
		w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": settings}, "config")
		w.Idle()
		pr := w.Repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Draft: true, Files: apptest.Clean()})
		w.Idle()
		number := pr.Number
		w.GH.Webhook.Withhold("pull_request")
		pr.Close()
		w.GH.Webhook.Resume()
		// A comment's event says that the pull request is closed, but this event is from
		// before that.
		asked := pr.Comment("alice", "Thanks.")
		w.GH.Webhook.Send("issue_comment", "created", map[string]any{
			"issue":        map[string]any{"number": number, "state": "open", "user": map[string]any{"login": "alice", "type": "User"}, "pull_request": map[string]any{}},
			"comment":      map[string]any{"id": asked.ID, "body": "/review", "user": map[string]any{"login": "alice", "type": "User"}},
			"sender":       map[string]any{"login": "alice", "type": "User"},
			"repository":   map[string]any{"id": w.Repo.ID(), "name": "shop", "owner": map[string]any{"login": "acme", "type": "Organization"}},
			"installation": map[string]any{"id": w.GH.InstallationID("acme")},
		})
		w.Idle()
		w.AllDone(pr.HeadSHA())
	}
}

// A reaction that fails does not change the review. It is written once GitHub accepts it
// again.
func TestFailedReaction(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.On(apptest.RouteReact, func(x *ghtest.Exchange) {
		if strings.Contains(string(x.Body), "rocket") && x.N < 6 {
			x.Fail(502, "no")
		}
	})
	said := pr.Comment("alice", "/review")
	w.Idle()
	w.Wants(pr, "success")
	if n := len(pr.CheckRuns()); n != 2 {
		t.Errorf("%d check runs, want 2", n)
	}
	if got := w.Reactions(pr, said.ID); len(got) != 2 {
		t.Errorf("reactions %v, want eyes and rocket", got)
	}
}

// The conversation is locked between the read and the write.
func TestCommentRefused(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.GH.On(apptest.RouteComment, func(x *ghtest.Exchange) { x.Fail(403, "Unable to create comment because issue is locked.") })
	pr := w.Open(apptest.Clean())
	w.Idle()
	if c := w.Check(pr); c.Conclusion != "success" || len(pr.CheckRuns()) != 1 {
		t.Errorf("%d check runs, the newest %s (%s)", len(pr.CheckRuns()), c.Conclusion, c.Title)
	}
}

// A comment that takes longer to create than a lease lasts is created once.
func TestSlowCommentIsCreatedOnce(t *testing.T) {
	t.Parallel()
	w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, func(w *apptest.World) { w.LeaseTTL = 300 * time.Millisecond })
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"comment": {"when": "findings"}}`}, "quiet")
	w.Idle()
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.GH.On(apptest.RouteComment, ghtest.Delay(2*time.Second))
	pr.Comment("bob", "/review")
	w.Idle()
	if n := len(pr.AppComments()); n != 1 {
		t.Errorf("%d comments, want 1", n)
	}
}

func TestGivenUpReviewIsNamedInTheComment(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	pr := w.Open(apptest.Clean())
	w.Idle()
	remove := w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) { x.Fail(403, "no") })
	pr.Comment("alice", "/review")
	w.Idle()
	w.Wants(pr, "failure", "could not be completed")
	remove()
	pr.Comment("alice", "/review")
	w.Idle()
	w.Wants(pr, "success")
	if strings.Contains(w.Comment(pr).Body, "could not be completed") {
		t.Error("the comment still warns of a review that was since completed")
	}
}

func TestTooManyCommands(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"limits": {"commands_per_hour": 2}}`}, "few")
	w.Idle()
	pr := w.Open(apptest.Clean())
	w.Idle()
	var got []string
	for range 6 {
		asked := pr.Comment("alice", "/review")
		w.Idle()
		got = append(got, strings.Join(w.Reactions(pr, asked.ID), "+"))
	}
	want := "eyes+rocket, eyes+rocket, confused, confused, , "
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("reactions %q, want %q", s, want)
	}
}

// People who may not give commands can't keep others from giving theirs. People who ask for
// reviews can't keep a maintainer from deciding.
func TestCommandLimitIsPerPerson(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"limits": {"commands_per_hour": 2}}`}, "few")
	w.Idle()
	w.Repo.Grant("mia", "maintain")
	w.Repo.Grant("carl", "write")
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure, "store/client_test.go": "package store\n"})
	w.Idle()
	finding := w.Only(pr).ID[:12]
	for _, c := range []struct{ by, say, want string }{
		{"bob", "/review", "confused"}, {"bob", "/review help", "confused"}, {"bob", "/review full", "confused"}, {"bob", "/review frobnicate", "confused"},
		{"bob", "/review", ""},  // twice the limit, from one person
		{"otto", "/review", ""}, // and as many refused commands
		{"alice", "/review", "eyes+rocket"},
		{"alice", "/review help", "eyes+rocket"},
		{"alice", "/review status", ""}, // refused
		{"mia", "/review", ""},
		{"mia", "/review reject wait for legal", "eyes+rocket"},
		{"mia", "/review override go on", "eyes+rocket"},
		{"carl", "/review dismiss FINDING not here", "eyes+rocket"},
		{"mia", "/review restore FINDING", "eyes+rocket"},
	} {
		c.say = strings.ReplaceAll(c.say, "FINDING", finding)
		said := pr.Comment(c.by, c.say)
		w.Idle()
		if got := strings.Join(w.Reactions(pr, said.ID), "+"); got != c.want {
			t.Errorf("%s says %s: reactions %q, want %q", c.by, c.say, got, c.want)
		}
	}
	w.Wants(pr, "success", "Passed by hand by mia")
}

// Commands that come all at once are obeyed up to the limit.
func TestCommandsAllAtOnce(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"limits": {"commands_per_hour": 2}}`}, "few")
	w.Idle()
	pr := w.Open(apptest.Clean())
	w.Idle()
	if err := w.App.Inside().Queue.Stop(w.Context()); err != nil {
		t.Fatal(err)
	}
	var said []int64
	for range 5 {
		said = append(said, pr.Comment("alice", "/review help").ID)
	}
	if err := w.GH.Webhook.Settle(w.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range said {
		job := ports.NewJob(ports.JobCommand, ports.CommandJob{Place: ports.PlaceConversation, CommentID: id})
		if err := w.App.Inside().Service.Work(w.Context(), job); err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join(w.Reactions(pr, id), "+"))
	}
	if s := strings.Join(got, ", "); s != "eyes, eyes, confused, confused, " {
		t.Errorf("reactions %q", s)
	}
}

// The App learned the check's name after it created the run, and the process died before it
// stored the name.
func TestKilledBeforeTheCheckNameWasKnown(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	gh := ghtest.Start(t, ghtest.Options{WebhookSecret: apptest.Secret})
	repo := gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{".github/reviewgate/review-settings.json": `{"check": {"name": "gate"}}`}, "start")
	server := apptest.NewChild(t, gh)
	server.Start()
	reached := make(chan bool, 1)
	configRead := make(chan bool, 10)
	gh.On(routeBlob, func(x *ghtest.Exchange) {
		x.Proceed()
		configRead <- true
	})
	remove := gh.On("POST /repos/{owner}/{repo}/check-runs", ghtest.First(1, func(x *ghtest.Exchange) {
		<-configRead
		x.Proceed()
		reached <- true
		<-x.Context().Done()
		x.Drop()
	}))
	pr := repo.OpenPR(ghtest.PR{Title: "feat: stock", Body: apptest.GoodBody, Files: ghtest.Files{"store/client.go": apptest.Insecure}})
	select {
	case <-reached:
	case <-time.After(apptest.Patience):
		t.Fatal("the check is not created")
	}
	server.Kill()
	remove()
	server.Start()
	server.Idle()
	for _, c := range pr.CheckRuns() {
		if !c.Completed() {
			t.Errorf("check run %d (%s) is still open", c.ID, c.Name)
		}
	}
	if n := len(pr.CheckRuns()); n != 1 {
		t.Errorf("%d check runs, want 1", n)
	}
}

func TestPortIsTaken(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	settings := w.Settings()
	settings.Addr, settings.DatabaseURL = w.App.Addr(), "sqlite://"+t.TempDir()+"/other.db"
	_, err := app.New(t.Context(), settings, app.Options{})
	if err == nil || !strings.Contains(err.Error(), "REVIEWGATE_ADDR") {
		t.Errorf("error %v, want one that names REVIEWGATE_ADDR", err)
	}
	if _, err := http.Get(fmt.Sprintf("http://%s/healthz", w.App.Addr())); err != nil {
		t.Errorf("the first server no longer answers: %v", err)
	}
}

// GitHub appends annotations and deletes none, and the answer to the update was lost.
func TestAnnotationsAreSentOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.GH.On("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", ghtest.First(1, func(x *ghtest.Exchange) {
		x.Proceed()
		x.Drop()
	}))
	pr := w.Open(ghtest.Files{"store/client.go": apptest.Insecure})
	w.Idle()
	if n := len(w.Check(pr).Annotations); n != 1 {
		t.Errorf("%d annotations, want 1", n)
	}
}

// A "generated" comment at the top of a file does not exclude the file from review.
func TestGeneratedHeaderHidesNothing(t *testing.T) {
	t.Parallel()
	w := start(t)
	pr := w.Open(ghtest.Files{"store/client.go": "// Code generated by hand. DO NOT EDIT.\n\n" + apptest.Insecure})
	w.Idle()
	w.Wants(pr, "action_required", "store/client.go:12")
}

// A NUL byte makes git and GitHub treat a source file as binary and show no line of it. Empty
// files are not binary.
func TestSourceShownAsBinaryDoesNotPass(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	show := w.HideContents()
	pr := w.Open(ghtest.Files{"store/tool.py": "import os\n# \x00\nos.system(input())\n"})
	w.Idle()
	w.Wants(pr, "action_required", "store/tool.py", "its content was not read")

	show()
	empty := w.Repo.OpenPR(ghtest.PR{Title: "feat: package", Body: apptest.GoodBody, Head: "empty", Files: ghtest.Files{"store/__init__.py": "", "store/run.sh": ghtest.Executable("")}})
	w.Idle()
	if c := w.Check(empty); c.Conclusion != "success" {
		t.Errorf("the check of an empty file is %s (%s)", c.Conclusion, c.Title)
	}
	w.Repo.Commit("main", ghtest.Files{"tool.sh": "echo\n"}, "tool")
	w.Idle()
	mode := w.Repo.OpenPR(ghtest.PR{Title: "fix: make it executable", Body: apptest.GoodBody, Head: "mode", Files: ghtest.Files{"tool.sh": ghtest.Executable("echo\n")}})
	w.Idle()
	if c := w.Check(mode); c.Conclusion != "success" {
		t.Errorf("the check of a change of mode is %s (%s)", c.Conclusion, c.Title)
	}
}
