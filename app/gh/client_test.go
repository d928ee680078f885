package gh

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestMain(m *testing.M) {
	sample.Parallel(16)
	debug.SetGCPercent(400) // answers are garbage as soon as they are read
	goleak.VerifyTestMain(m)
}

const marker = "<!-- reviewgate:report -->"

// world is a GitHub with one repository, and our client of it.
type world struct {
	*testing.T
	hub    *ghtest.Server
	repo   *ghtest.Repo
	client *Client
}

func newWorld(t *testing.T, o ghtest.Options) *world {
	t.Helper()
	hub := ghtest.Start(t, o)
	repo := hub.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"main.go": "package main\n"}, "start")
	w := &world{T: t, hub: hub, repo: repo}
	w.client = w.newClient(nil)
	return w
}

// newClient returns a client without any cached answers.
func (w *world) newClient(change func(*Config)) *Client {
	w.Helper()
	transport := &http.Transport{}
	w.Cleanup(transport.CloseIdleConnections)
	c := Config{AppID: w.hub.AppID(), PrivateKey: w.hub.AppPrivateKeyPEM(), V3URL: w.hub.URL + "/api/v3/", V4URL: w.hub.URL + "/api/graphql", Transport: transport}
	if change != nil {
		change(&c)
	}
	client, err := New(c)
	if err != nil {
		w.Fatal(err)
	}
	return client
}

func (w *world) target(p *ghtest.PullRequest) ports.Target {
	return ports.Target{
		Kind: ports.TargetPull, Installation: w.hub.InstallationID("acme"), RepoID: w.repo.ID(),
		Owner: "acme", Name: "shop", Number: p.Number, HeadSHA: p.HeadSHA(),
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// withConfig is a review.PullSource in the form that normalize reads.
type withConfig struct{ ports.PullSource }

func (withConfig) Config(context.Context) (normalize.ConfigRead, error) {
	c, _ := config.Load()
	return normalize.ConfigRead{Config: c}, nil
}

func (w *world) facts(t ports.Target) (pipeline.PRFacts, ports.PullSource) {
	w.Helper()
	src := w.client.Source(t)
	f, _, err := normalize.Normalize(w.Context(), withConfig{src}, normalize.Options{})
	w.must(err)
	return f, src
}

func TestPullRequestBecomesFacts(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{"old.go": "package old\n\nfunc A() {}\n", "gone.txt": "x\n"}, "more")
	p := w.repo.OpenPR(ghtest.PR{
		Title: "Add tax", Body: "Needed by law.", Author: "bob", Fork: "bob", Head: "tax", Labels: []string{"money"},
		Files: ghtest.Files{"tax.go": "package main\n", "new.go": ghtest.MovedFrom("old.go"), "gone.txt": ghtest.Gone, "logo.png": "\x89PNG\x00"},
	})
	p.Push(ghtest.Files{"tax.go": "package main\n\nconst rate = 19\n"}, "set the rate")
	p.Comment("alice", "nice")

	f, src := w.facts(w.target(p))
	if len(f.Incomplete) > 0 {
		t.Errorf("incomplete: %+v", f.Incomplete)
	}
	var files []string
	for _, x := range f.Files {
		files = append(files, fmt.Sprintf("%s %s%s +%d -%d %d", x.Status, x.PreviousPath, x.Path, x.Additions, x.Deletions, len(x.Hunks)))
	}
	want := []string{"removed gone.txt +0 -1 1", "added logo.png +1 -0 1", "renamed old.gonew.go +0 -0 0", "added tax.go +3 -0 1"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	got := fmt.Sprint(f.Repository, f.Number, f.Title, f.Body, f.Author.Login, f.Author.Type, f.Base.Ref, f.Head.Ref, f.Head.Repository, f.Head.Fork, f.Labels, len(f.Commits))
	if want := fmt.Sprint(pipeline.Repository{Owner: "acme", Name: "shop", DefaultBranch: "main"}, p.Number, "Add tax", "Needed by law.", "bob", "User", "main", "tax", "bob/shop", true, []string{"money"}, 2); got != want {
		t.Errorf("facts\n%s, want\n%s", got, want)
	}
	if f.Head.SHA != p.HeadSHA() || f.Base.SHA != p.BaseSHA() || f.Commits[1].Message != "set the rate" {
		t.Errorf("head %s, base %s, commits %+v", f.Head.SHA, f.Base.SHA, f.Commits)
	}
	if src.Calls() != 10 { // a token, the pull request, files, commits and the merge base; for the picture git's token and its four calls
		t.Errorf("%d calls: %+v", src.Calls(), w.hub.Calls.All())
	}
	if _, again := w.facts(w.target(p)); again.Calls() != 8 {
		t.Errorf("%d calls after the token and the merge base are known", again.Calls())
	}
	if u := w.hub.Calls.Unexpected(); len(u) > 0 {
		t.Errorf("unexpected calls %+v", u)
	}
}

func TestLockedArchivedAndDeletedFork(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Fork: "bob", Files: ghtest.Files{"a.go": "package a\n"}})
	p.Lock()
	w.repo.Settings.SetArchived(true)
	p.Fork().Settings.Delete()
	f, _ := w.facts(w.target(p))
	state, err := w.client.Pull(t.Context(), w.target(p))
	w.must(err)
	if !state.Locked || !state.Archived {
		t.Errorf("conversation %+v", state.Conversation)
	}
	if f.Head.Repository != "" || !f.Head.Fork || f.Head.SHA != p.HeadSHA() {
		t.Errorf("head %+v", f.Head)
	}
}

func TestListsArePaged(t *testing.T) {
	limits := ghtest.GitHubLimits()
	limits.PointsPerMinute = 0
	w := newWorld(t, ghtest.Options{Limits: &limits})
	many := ghtest.Files{}
	for i := range 450 {
		many[fmt.Sprintf("dir/file%03d.txt", i)] = fmt.Sprintf("text %d\n", i)
	}
	p := w.repo.OpenPR(ghtest.PR{Files: many})
	for i := range 120 {
		p.Comment("alice", fmt.Sprintf("comment %d", i))
	}
	target := w.target(p)
	w.must2(w.client.CreateComment(t.Context(), target, marker+"\nreport"))

	f, _ := w.facts(target)
	if len(f.Files) != 450 || len(f.Incomplete) != 0 {
		t.Errorf("%d files, incomplete %+v", len(f.Files), f.Incomplete)
	}
	comments, err := w.client.Comments(t.Context(), target, marker)
	w.must(err)
	if len(comments) != 1 {
		t.Errorf("found %d comments on the last page", len(comments))
	}
	if n := len(w.hub.Calls.To("GET /repos/{owner}/{repo}/pulls/{n}/files")); n != 5 {
		t.Errorf("%d calls for 5 pages", n)
	}
}

func (w *world) must2(_ any, err error) { w.Helper(); w.must(err) }

func TestHeadThatMovesWhileItIsRead(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	many := ghtest.Files{}
	for i := range 150 {
		many[fmt.Sprintf("f%03d.txt", i)] = "x\n"
	}
	p := w.repo.OpenPR(ghtest.PR{Files: many})
	target := w.target(p)
	var once sync.Once
	w.hub.On("GET /repos/{owner}/{repo}/pulls/{n}/files", func(x *ghtest.Exchange) {
		x.Proceed()
		once.Do(func() { p.Push(ghtest.Files{"f000.txt": "y\n"}, "meanwhile") })
	})
	_, err := w.client.Source(target).Files(t.Context())
	wantHostError(t, err, ports.HostTransient)

	files, err := w.client.Source(target).Files(t.Context())
	w.must(err)
	if files.HeadSHA != p.HeadSHA() {
		t.Errorf("read at %q, want the new head %s", files.HeadSHA, p.HeadSHA())
	}
}

func TestMergeGroup(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	a := w.repo.OpenPR(ghtest.PR{Title: "Add a", Author: "alice", Head: "a", Files: ghtest.Files{"a.txt": "a\n"}})
	b := w.repo.OpenPR(ghtest.PR{Title: "Add b", Author: "bob", Head: "b", Files: ghtest.Files{"b.txt": "b\n"}, Labels: []string{"urgent"}})
	g := w.repo.MergeGroup(a, b)
	target := w.target(b)
	target.Kind, target.HeadSHA, target.BaseSHA, target.HeadRef = ports.TargetGroup, g.HeadSHA, g.BaseSHA, g.HeadRef

	f, _ := w.facts(target)
	if len(f.Files) != 2 || len(f.Commits) != 4 || len(f.Incomplete) != 0 {
		t.Errorf("%d files, %d commits, incomplete %+v", len(f.Files), len(f.Commits), f.Incomplete)
	}
	got := fmt.Sprint(f.Title, f.Author.Login, f.Labels, f.Head.SHA, f.Base.SHA, f.Base.Ref, f.Head.Fork, f.Totals)
	if want := fmt.Sprint("Add b", "bob", []string{"urgent"}, g.HeadSHA, g.BaseSHA, "main", false, pipeline.Totals{Files: 2, Additions: 2}); got != want {
		t.Errorf("facts %s, want %s", got, want)
	}

	target.Number = 0
	f, _ = w.facts(target)
	if !strings.HasPrefix(f.Title, "Merge group gh-readonly-queue/main/") || f.Repository.DefaultBranch != "main" || len(f.Files) != 2 {
		t.Errorf("a group that names no pull request: %q, %+v", f.Title, f.Repository)
	}
	w.hub.Calls.Reset()
	state, err := w.client.Pull(t.Context(), target)
	w.must(err)
	if state.HeadSHA != g.HeadSHA || len(w.hub.Calls.All()) != 0 {
		t.Errorf("state %+v, %d calls", state, len(w.hub.Calls.All()))
	}
}

func TestPullState(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Draft: true, Files: ghtest.Files{"a.txt": "a\n"}})
	target := w.target(p)
	read := func() ports.PullState {
		t.Helper()
		s, err := w.client.Pull(t.Context(), target)
		w.must(err)
		return s
	}
	times := cmpopts.IgnoreFields(ports.PullState{}, "UpdatedAt", "ClosedAt")
	want := ports.PullState{HeadSHA: p.HeadSHA(), BaseRef: "main", Draft: true}
	if got := read(); cmp.Diff(want, got, times) != "" || got.UpdatedAt.IsZero() || !got.ClosedAt.IsZero() {
		diff := cmp.Diff(want, got)
		t.Errorf("state (-want +got):\n%s", diff)
	}
	w.hub.Calls.Reset()
	read()
	if calls := w.hub.Calls.All(); len(calls) != 1 || calls[0].Status != http.StatusNotModified {
		t.Errorf("an unchanged pull request was requested without a condition: %+v", calls)
	}
	p.Push(ghtest.Files{"a.txt": "b\n"}, "push")
	p.Comment("alice", "nice")
	p.Close()
	want = ports.PullState{HeadSHA: p.HeadSHA(), BaseRef: "main", Draft: true, Closed: true, Conversation: ports.Conversation{Comments: 1}}
	if got := read(); cmp.Diff(want, got, times) != "" || got.ClosedAt.IsZero() {
		diff := cmp.Diff(want, got)
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestPullsOnHead(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	one := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	w.repo.Commit("release", ghtest.Files{"r.txt": "r\n"}, "release")
	two := w.repo.OpenPR(ghtest.PR{Head: "change", Base: "release"})
	closed := w.repo.OpenPR(ghtest.PR{Head: "change", Base: "main"})
	closed.Close()
	sha := one.HeadSHA()
	list := func(sha string) []int {
		t.Helper()
		targets, err := w.client.PullsOnHead(t.Context(), w.target(one), sha)
		w.must(err)
		var numbers []int
		for _, x := range targets {
			numbers = append(numbers, x.Number)
			want := w.target(one)
			if want.Number = x.Number; x != want {
				t.Errorf("target %+v, want %+v", x, want)
			}
		}
		slices.Sort(numbers)
		return numbers
	}
	if got := list(sha); !slices.Equal(got, []int{one.Number, two.Number}) {
		t.Errorf("pull requests %v", got)
	}
	one.Push(ghtest.Files{"a.txt": "b\n"}, "both move on")
	if got := list(sha); len(got) != 0 {
		t.Errorf("pull requests on a head that they left: %v", got)
	}
	if got := list(strings.Repeat("0", 40)); len(got) != 0 {
		t.Errorf("pull requests on a commit that is gone: %v", got)
	}
}

func TestCheckRuns(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": strings.Repeat("a\n", 200)}})
	target := w.target(p)
	w.repo.Checks.OtherCheck("another-app", "reviewgate", p.HeadSHA(), "success")
	start := time.Date(2026, 11, 20, 12, 0, 0, 999, time.UTC)
	write := ports.CheckWrite{
		Name: "reviewgate", HeadSHA: p.HeadSHA(), ExternalID: "run-1", DetailsURL: "https://example.com/run-1", StartedAt: start,
		Output: ports.CheckOutput{Title: "Reviewing", Summary: "Opened."},
	}
	id, err := w.client.CreateCheck(t.Context(), target, write)
	w.must(err)
	got := w.check(p, id)
	if got.Status != "in_progress" || got.ExternalID != "run-1" || got.DetailsURL != write.DetailsURL || !got.StartedAt.Equal(start.Truncate(time.Second)) {
		t.Errorf("created %+v", got)
	}

	write.Conclusion, write.CompletedAt = "action_required", start.Add(time.Minute)
	write.Output = ports.CheckOutput{Title: "Needs fixes", Summary: "s", Text: "t", Actions: []ports.CheckAction{{Label: "Review again", Identifier: "review", Description: "Review again"}}}
	for i := range 120 {
		write.Output.Annotations = append(write.Output.Annotations, ports.Annotation{
			Path: "a.txt", StartLine: i + 1, EndLine: i + 1, Level: "warning", Title: fmt.Sprint(i), Message: "m", RawDetails: "r",
		})
	}
	conclusions := w.watchConclusions()
	w.must(w.client.UpdateCheck(t.Context(), target, id, write))
	got = w.check(p, id)
	if !got.Completed() || got.Conclusion != "action_required" || got.Name != "reviewgate" || got.Title != "Needs fixes" || len(got.Actions) != 1 {
		t.Errorf("updated %+v", got)
	}
	if len(got.Annotations) != 120 || got.Annotations[119].Title != "119" || got.Updates != 3 {
		t.Errorf("%d annotations in %d updates", len(got.Annotations), got.Updates)
	}
	if want := []bool{false, false, true}; !slices.Equal(conclusions(), want) {
		t.Errorf("concluded in requests %v, want %v", conclusions(), want)
	}

	write.ExternalID = "run-2"
	second, err := w.client.CreateCheck(t.Context(), target, write)
	w.must(err)
	if got := w.check(p, second); len(got.Annotations) != 120 || !got.Completed() {
		t.Errorf("created %d annotations, %s", len(got.Annotations), got.Status)
	}
	list, err := w.client.Checks(t.Context(), target, p.HeadSHA())
	w.must(err)
	want := []ports.CheckRun{
		{ID: second, ExternalID: "run-2", Completed: true, Conclusion: "action_required"},
		{ID: id, ExternalID: "run-1", Completed: true, Conclusion: "action_required"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
}

func (w *world) check(p *ghtest.PullRequest, id int64) ghtest.CheckRun {
	w.Helper()
	for _, c := range w.repo.Checks.On(p.HeadSHA()) {
		if c.ID == id {
			return c
		}
	}
	w.Fatalf("no check run %d", id)
	return ghtest.CheckRun{}
}

// watchConclusions records for each update of a check run whether it sets a conclusion.
func (w *world) watchConclusions() func() []bool {
	var seen []bool
	w.hub.On("PATCH /repos/{owner}/{repo}/check-runs/{id}", func(x *ghtest.Exchange) {
		seen = append(seen, strings.Contains(string(x.Body), `"conclusion"`))
	})
	return func() []bool { return seen }
}

// GitHub appends annotations permanently. When a write that failed is repeated, it does not
// send the annotations that the first attempt left there.
func TestRepeatedUpdateSendsWhatIsMissing(t *testing.T) {
	first := func(n int, then func(*ghtest.Exchange)) func(*ghtest.Exchange) {
		return func(x *ghtest.Exchange) {
			if n--; n == 0 {
				then(x)
			}
		}
	}
	lost := func(x *ghtest.Exchange) { x.Proceed(); x.Drop() }
	failed := func(x *ghtest.Exchange) { x.Fail(502, "no") }
	for name, trouble := range map[string]func(*ghtest.Exchange){
		"nothing came through":    first(1, failed),
		"the first answer lost":   first(1, lost),
		"stopped after the first": first(2, failed),
		"the last answer lost":    first(3, lost),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ghtest.Options{})
			p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
			target := w.target(p)
			write := ports.CheckWrite{Name: "reviewgate", HeadSHA: p.HeadSHA(), Output: ports.CheckOutput{Title: "Reviewing", Summary: "s"}}
			id, err := w.client.CreateCheck(t.Context(), target, write)
			w.must(err)
			write.Conclusion, write.CompletedAt, write.Output.Title = "success", time.Now(), "Passed"
			for i := range 120 {
				write.Output.Annotations = append(write.Output.Annotations, ports.Annotation{
					Path: "a.txt", StartLine: i + 1, EndLine: i + 1, Level: "notice", Title: fmt.Sprint(i), Message: "m",
				})
			}
			w.hub.On("PATCH /repos/{owner}/{repo}/check-runs/{id}", trouble)
			if err := w.client.UpdateCheck(t.Context(), target, id, write); err == nil {
				t.Fatal("the first write succeeded")
			}
			write.Repeat = true
			for range 2 {
				w.must(w.client.UpdateCheck(t.Context(), target, id, write))
			}
			got := w.check(p, id)
			if !got.Completed() || got.Title != "Passed" || len(got.Annotations) != 120 {
				t.Fatalf("%d annotations, %s, %q", len(got.Annotations), got.Status, got.Title)
			}
			for i, a := range got.Annotations {
				if a.Title != fmt.Sprint(i) {
					t.Fatalf("annotation %d is %q", i, a.Title)
				}
			}
		})
	}
}

// A check run that was created but could not be completed is not lost.
func TestCreateCheckReturnsTheIDOfAnIncompleteCheck(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	w.hub.On("PATCH /repos/{owner}/{repo}/check-runs/{id}", func(x *ghtest.Exchange) { x.Fail(502, "no") })
	write := ports.CheckWrite{Name: "reviewgate", HeadSHA: p.HeadSHA(), Conclusion: "success", CompletedAt: time.Now(), Output: ports.CheckOutput{Title: "t", Summary: "s"}}
	for range 51 {
		write.Output.Annotations = append(write.Output.Annotations, ports.Annotation{Path: "a.txt", StartLine: 1, EndLine: 1, Level: "notice", Message: "m"})
	}
	id, err := w.client.CreateCheck(t.Context(), w.target(p), write)
	wantHostError(t, err, ports.HostTransient)
	if c := w.check(p, id); c.Completed() {
		t.Error("the check run is complete without all its annotations")
	}
}

func TestCommentsAreOursOnly(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	target := w.target(p)
	p.Comment("mallory", marker+"\nAll good!")
	first, err := w.client.CreateComment(t.Context(), target, marker+"\none")
	w.must(err)
	w.must2(w.client.CreateComment(t.Context(), target, "without"))
	second, err := w.client.CreateComment(t.Context(), target, marker+"\ntwo")
	w.must(err)
	list := func() []string {
		t.Helper()
		comments, err := w.client.Comments(t.Context(), target, marker)
		w.must(err)
		var got []string
		for _, c := range comments {
			got = append(got, fmt.Sprint(c.ID, " ", strings.TrimPrefix(c.Body, marker+"\n")))
			if !strings.Contains(c.URL, "/acme/shop/") {
				t.Errorf("URL %q", c.URL)
			}
		}
		return got
	}
	if diff := cmp.Diff([]string{fmt.Sprint(first, " one"), fmt.Sprint(second, " two")}, list()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	w.must(w.client.UpdateComment(t.Context(), target, first, marker+"\nnew"))
	for range 2 { // deleting a deleted comment is no error
		w.must(w.client.DeleteComment(t.Context(), target, second))
	}
	if diff := cmp.Diff([]string{fmt.Sprint(first, " new")}, list()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	_, err = w.client.CreateComment(t.Context(), target, strings.Repeat("x", 65537))
	wantHostError(t, err, ports.HostInvalid)
	err = w.client.UpdateComment(t.Context(), target, second, "gone")
	wantHostError(t, err, ports.HostNotFound)
}

func TestPermission(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	for _, role := range []string{"read", "triage", "write", "maintain", "admin", "none"} {
		w.repo.Grant("bob", role)
		got, err := w.client.Permission(t.Context(), w.target(p), "bob")
		if err != nil || string(got) != role {
			t.Errorf("permission %q, %v; want %q", got, err, role)
		}
	}
	for _, login := range []string{"nobody", "../../../app", "a b"} {
		if got, err := w.client.Permission(t.Context(), w.target(p), login); err == nil && got.CanWrite() {
			t.Errorf("%q may write", login)
		}
	}
	if _, err := w.client.Permission(t.Context(), w.target(p), ""); err == nil {
		t.Error("asked for the permission of an empty login")
	}
	if u := w.hub.Calls.Unexpected(); len(u) > 0 {
		t.Errorf("unexpected calls %+v", u)
	}
}

func TestCoarsePermissionIsTheUpperBound(t *testing.T) {
	var a permissionAnswer
	a.User.Permissions.Admin, a.User.Permissions.Maintain, a.User.Permissions.Push = true, true, true
	for word, want := range map[string]ports.Permission{
		"none": ports.PermissionNone, "read": ports.PermissionRead, "write": ports.PermissionMaintain,
		"admin": ports.PermissionAdmin, "": ports.PermissionNone, "owner": ports.PermissionNone,
	} {
		a.Permission = word
		if got := a.permission(); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestReact(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	c, onLine, words := p.Comment("alice", "/review"), p.Reviews.Comment("alice", "a.txt", 1, "/review"), p.Reviews.Submit("alice", "commented", "/review")
	for range 2 {
		w.must(w.client.React(t.Context(), w.target(p), ports.PlaceConversation, c.ID, "eyes"))
		w.must(w.client.React(t.Context(), w.target(p), ports.PlaceReviewLine, onLine.ID, "eyes"))
		w.must(w.client.React(t.Context(), w.target(p), ports.PlaceReview, words.ID, "eyes"))
	}
	for _, got := range [][]ghtest.Reaction{p.Comments()[0].Reactions, p.Reviews.Comments()[0].Reactions} {
		if len(got) != 1 || got[0].Content != "eyes" || got[0].User != w.hub.AppLogin() {
			t.Errorf("reactions %+v", got)
		}
	}
}

func TestTeamMember(t *testing.T) {
	permissions := ghtest.DefaultPermissions()
	permissions["members"] = "read"
	w := newWorld(t, ghtest.Options{Permissions: permissions})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{}})
	w.hub.Team("acme", "owners", "alice")
	w.hub.InviteToTeam("acme", "owners", "bob")
	ask := func(team, login string, want bool) {
		t.Helper()
		if got, err := w.client.TeamMember(t.Context(), w.target(p), team, login); err != nil || got != want {
			t.Errorf("%s in %s: %t, %v", login, team, got, err)
		}
	}
	ask("acme/owners", "alice", true)
	ask("acme/owners", "bob", false) // was only invited
	ask("acme/owners", "carol", false)
	ask("acme/cooks", "alice", false)
	ask("widgets/owners", "alice", false)
	w.hub.SetPermissions("acme", ghtest.DefaultPermissions())
	ask("acme/owners", "alice", false)
}

func TestRepositoryErrors(t *testing.T) {
	tests := map[string]struct {
		trouble func(*world)
		kind    ports.HostKind
	}{
		"uninstalled": {func(w *world) { w.hub.Uninstall("acme") }, ports.HostForbidden},
		"suspended":   {func(w *world) { w.hub.Suspend("acme") }, ports.HostForbidden},
		"withdrawn":   {func(w *world) { w.repo.Settings.SetInstalled(false) }, ports.HostForbidden},
		"permissions": {func(w *world) { w.hub.SetPermissions("acme", map[string]string{"metadata": "read"}) }, ports.HostForbidden},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ghtest.Options{})
			p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
			target := w.target(p)
			tt.trouble(w)
			_, err := w.client.Pull(t.Context(), target)
			wantHostError(t, err, tt.kind)
		})
	}
}

// The token is bound to the repository, whatever its name.
func TestRenamedRepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	target := w.target(p)
	w.facts(target)
	w.repo.Settings.Rename("store")
	target.Name = "store"
	if f, src := w.facts(target); f.Repository.Name != "store" || len(f.Files) != 1 || src.Calls() != 3 {
		t.Errorf("read %+v in %d calls", f.Repository, src.Calls())
	}
}

func TestEnterpriseServerPath(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	w.client = w.newClient(func(c *Config) { c.V3URL = w.hub.URL + "/api/v3" })
	if f, _ := w.facts(w.target(p)); len(f.Files) != 1 {
		t.Errorf("files %+v", f.Files)
	}
}

// GitHub asks for one write at a time. Reads run in parallel.
func TestWritesTakeTurns(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	target := w.target(p)
	var mu sync.Mutex
	now, most := 0, 0
	w.hub.On("POST /repos/{owner}/{repo}/issues/{n}/comments", func(x *ghtest.Exchange) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		ghtest.Delay(20 * time.Millisecond)(x)
		x.Proceed()
		mu.Lock()
		now--
		mu.Unlock()
	})
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			if _, err := w.client.CreateComment(context.Background(), target, fmt.Sprint("comment ", i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most != 1 || len(p.Comments()) != 5 {
		t.Errorf("%d writes at once, %d comments", most, len(p.Comments()))
	}
}

func TestCallsAreReported(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	var mu sync.Mutex
	var told []string
	var log strings.Builder
	client := w.newClient(func(c *Config) {
		c.Log = c.Log.Output(&lockedWriter{w: &log})
		c.OnCall = func(_ context.Context, i CallInfo) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprint(i.Route, " ", i.Status))
			of := w.hub.InstallationID("acme")
			if strings.Contains(i.Route, "access_tokens") {
				of = 0 // the App itself asks for a token
			}
			if i.Installation != of || i.Duration <= 0 || i.Try != 1 {
				t.Errorf("reported %+v", i)
			}
			if strings.Contains(i.Route, "/pulls/") && i.RateRemaining <= 0 {
				t.Errorf("reported %+v", i)
			}
		}
	})
	for range 2 {
		if _, err := client.Pull(t.Context(), w.target(p)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"POST /app/installations/{installation_id}/access_tokens 201",
		"GET /repos/{owner}/{repo}/pulls/{pull_number} 200",
		"GET /repos/{owner}/{repo}/pulls/{pull_number} 304",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if n := strings.Count(log.String(), "GitHub call"); n != 3 || strings.Contains(log.String(), "ghs_") {
		t.Errorf("log of %d calls:\n%s", n, log.String())
	}
}

type lockedWriter struct {
	mu sync.Mutex
	w  *strings.Builder
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestTruncatedListIsReadAgain(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	w.hub.On("GET /repos/{owner}/{repo}/pulls/{n}/files", ghtest.First(1, func(x *ghtest.Exchange) { x.Cut(20) }))
	files, err := w.client.Source(w.target(p)).Files(t.Context())
	if err != nil || len(files.Files) != 1 {
		t.Errorf("files %+v, %v", files, err)
	}
}

// After a rename another repository may take the old name.
func TestPullOfAnotherRepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	target := w.target(w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}}))
	other := w.hub.Repo("acme/other")
	other.Commit("main", ghtest.Files{"README.md": "# other\n"}, "start")
	other.OpenPR(ghtest.PR{Files: ghtest.Files{"b.txt": "b\n"}})
	target.Name = "other"
	if _, err := w.client.Pull(t.Context(), target); err == nil {
		t.Error("the state of another repository's pull request was returned")
	}
	if _, err := w.client.Source(target).PullRequest(t.Context()); err == nil {
		t.Error("the facts of another repository's pull request were returned")
	}
}
