package pulls

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func TestClosedPullRequestLeavesTheSharedCheck(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Release()
	one := w.Open(apptest.Clean())
	w.Idle()
	two := w.Twin("WIP: backport")
	w.Idle()
	if c := w.Check(one); c.Conclusion != "neutral" {
		t.Fatalf("the shared check is %s", c.Conclusion)
	}
	two.Close()
	w.Idle()
	if c := w.Check(one); c.Conclusion != "success" {
		t.Errorf("#2 is closed, but its decision remains: %s (%s)", c.Conclusion, c.Title)
	}
}

// #1 is closed after #2 found that it must wait for #1, while #2 is still writing its
// comment.
func TestClosedWhileAnotherPullRequestWaitsForIt(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Repo.Commit("main", ghtest.Files{apptest.SettingsPath: `{"comment": {"when": "always"}}`}, "comment always")
	w.Release()
	reading, _ := w.Held(apptest.RouteFiles, "pull_number", "1")
	commenting, letGo := w.Held(apptest.RouteComment, "issue_number", "2")
	one := w.Open(apptest.Clean())
	<-reading
	two := w.Twin("feat: backport")
	<-commenting
	one.Close()
	letGo()
	w.Idle()
	w.AllDone(two.HeadSHA())
	if c := w.Check(two); c.Conclusion != "success" {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
}

func TestPushToABranchOfTwoPullRequests(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	w := start(t)
	w.Release()
	reading := make(chan bool, 10)
	w.GH.On(apptest.RouteFiles, ghtest.First(2, func(x *ghtest.Exchange) {
		reading <- true
		<-x.Context().Done()
	}))
	one := w.Open(apptest.Clean())
	<-reading
	w.Twin("feat: backport")
	<-reading
	old := one.HeadSHA()
	one.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.Idle()
	w.AllDone(old)
	w.AllDone(one.HeadSHA())
	w.Check(one)
}

// An older review that passed does not hide a review that was given up.
func TestGivenUpReviewDoesNotPass(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Release()
	one := w.Open(apptest.Clean())
	two := w.Twin("feat: backport")
	w.Idle()
	w.Repo.Commit("stable", ghtest.Files{"STABLE": "1.0\n"}, "branch off")
	w.GH.On(apptest.RouteFiles, func(x *ghtest.Exchange) {
		if x.Params["pull_number"] == "2" {
			x.Fail(403, "no")
		}
	})
	base := "stable"
	two.Edit(ghtest.Edit{Base: &base})
	w.Idle()
	title := "feat: read the stock from the warehouse, again"
	one.Edit(ghtest.Edit{Title: &title})
	w.Idle()
	if c := w.Check(two); c.Conclusion == "success" || c.Conclusion == "neutral" {
		t.Errorf("the check is %s (%s), though #2 into stable was never reviewed", c.Conclusion, c.Title)
	}
}

func TestCheckDoesNotPassDuringARetarget(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.Release()
	pr := w.Open(apptest.Clean())
	w.Idle()
	w.Wants(pr, "success")
	reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "1")
	base := "release"
	pr.Edit(ghtest.Edit{Base: &base})
	<-reading
	w.Until("a new check run is open", func() bool {
		runs := pr.CheckRuns()
		return len(runs) == 2 && !runs[1].Completed()
	})
	letGo()
	w.Idle()
	w.Wants(pr, "success", "`release`")
}

// A head that passed for one pull request has not passed for another one, which was opened
// with that head or got it by a push.
func TestSharedHeadMustPassForEachPullRequest(t *testing.T) {
	t.Parallel()
	for _, pushed := range []bool{false, true} {
		w := start(t)
		w.Release()
		one := w.Open(apptest.Clean())
		w.Idle()
		w.Wants(one, "success")
		var two *ghtest.PullRequest
		if pushed {
			two = w.Repo.OpenPR(ghtest.PR{Title: "feat: backport", Body: apptest.GoodBody, Base: "release", Head: "backport", Files: apptest.Clean()})
			w.Idle()
		}
		reading, letGo := w.Held(apptest.RouteFiles, "pull_number", "2")
		if pushed {
			two.ForcePushTo(one.HeadSHA())
		} else {
			two = w.Twin("feat: backport")
		}
		<-reading
		w.Until("a new check run is open", func() bool {
			runs := one.CheckRuns()
			return len(runs) == 2 && !runs[1].Completed()
		})
		letGo()
		w.Idle()
		w.AllDone(one.HeadSHA())
		w.Wants(two, "success", "`release`")

		// The check now answers for both, and stays while one of them is reviewed again.
		reading, letGo = w.Held(apptest.RouteFiles, "pull_number", "1")
		title := "feat: read the stock"
		one.Edit(ghtest.Edit{Title: &title})
		<-reading
		w.WantsCheck(two, "success")
		letGo()
		w.Idle()
	}
}

// done waits until every requested review of the pull request is done.
func (w *world) done(pr *ghtest.PullRequest) {
	w.Helper()
	key := ports.Target{Kind: ports.TargetPull, RepoID: pr.Repo().ID(), Number: pr.Number}.Key()
	for until := time.Now().Add(apptest.Patience); ; time.Sleep(5 * time.Millisecond) {
		state, err := w.App.Inside().Store.Target(w.Context(), key)
		if err == nil && state.Wanted > 0 && state.Done == state.Wanted {
			return
		}
		if time.Now().After(until) {
			w.Fatalf("%s is not done: %+v, %v", key, state, err)
		}
	}
}

// Two pull requests share a head, and one base branch has a less strict config. The pull
// request into that branch does not influence the shared check: the check neither passes nor
// blocks because of it, whichever review is done last.
func TestSharedHeadWithBasesOfDifferentModes(t *testing.T) {
	sample.Variant(t)
	t.Parallel()
	for _, mode := range []string{config.ModeOff, config.ModeAdvisory} {
		for _, tt := range []struct {
			name  string
			files ghtest.Files
			late  bool // the less strict pull request is reviewed last
			want  string
		}{
			{"findings, last", apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}), true, "action_required"},
			{"findings, first", apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}), false, "action_required"},
			{"clean, last", apptest.Clean(), true, "success"},
			{"clean, first", apptest.Clean(), false, "success"},
		} {
			t.Run(mode+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				w := startWith(t, ghtest.Options{WebhookSecret: apptest.Secret}, apptest.WithServer(map[string]string{config.FileSettings: apptest.Releases}))
				w.Repo.Commit("release/1", ghtest.Files{apptest.SettingsPath: `{"mode": "` + mode + `"}`}, mode)
				w.Idle()
				last := "1"
				if tt.late {
					last = "2"
				}
				reading, letGo := w.Held(apptest.RouteFiles, "pull_number", last)
				pr := w.Open(tt.files)
				other := w.Repo.OpenPR(ghtest.PR{Title: "WIP: the same for the release", Body: apptest.GoodBody, Base: "release/1"})
				<-reading
				if tt.late {
					w.done(pr)
				} else {
					w.done(other)
					w.wantsNoPass(pr)
				}
				letGo()
				w.Idle()
				for _, when := range []string{"reviewed", "the other one again"} {
					w.AllDone(pr.HeadSHA())
					w.WantsCheck(pr, tt.want)
					if c := w.Check(pr); strings.Contains(c.Title+c.Summary, "same head") {
						t.Errorf("%s, the check names the other pull request: %s\n%s", when, c.Title, c.Summary)
					}
					w.Says(other, "/review")
				}
			})
		}
	}
}

// wantsNoPass fails if the head's newest check would satisfy a required check.
func (w *world) wantsNoPass(pr *ghtest.PullRequest) {
	w.Helper()
	runs := pr.CheckRuns()
	if c := runs[len(runs)-1]; slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion) {
		w.Errorf("the check is %s (%s) before the review is done", c.Conclusion, c.Title)
	}
}

// A push comes while the review before it is being published. The next review compares itself
// with the comment of that one.
func TestPushDuringPublication(t *testing.T) {
	t.Parallel()
	for route, name := range map[string]string{apptest.RoutePatchCheck: "check", apptest.RouteComment: "comment"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			var pr *ghtest.PullRequest
			opened := make(chan struct{})
			var once sync.Once
			w.GH.On(route, func(x *ghtest.Exchange) {
				x.Proceed()
				once.Do(func() {
					<-opened
					pr.Push(apptest.Clean(), "fix: verify certificates")
					for {
						target, err := w.App.Inside().Store.Target(x.Context(), w.Key(pr))
						if err != nil || target.HeadSHA == pr.HeadSHA() {
							return
						}
						time.Sleep(time.Millisecond)
					}
				})
			})
			pr = w.Open(apptest.Tested(ghtest.Files{"store/client.go": apptest.Insecure}))
			close(opened)
			w.Idle()
			if body := w.Ours(pr).Body; !strings.Contains(body, "1 resolved") {
				t.Errorf("the comment does not name the resolved findings:\n%s", body)
			}
		})
	}
}
