package app

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	routeFiles   = "GET /repos/{owner}/{repo}/pulls/{pull_number}/files"
	routeComment = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
)

// clean is a change without findings.
func clean() ghtest.Files {
	return ghtest.Files{"store/client.go": secure, "store/client_test.go": "package store\n"}
}

// twin opens a second pull request of the same branch, into release.
func (w *world) twin(title string) *ghtest.PullRequest {
	w.Helper()
	return w.repo.OpenPR(ghtest.PR{Title: title, Body: goodBody, Base: "release"})
}

func (w *world) release() {
	w.repo.Commit("release", ghtest.Files{"RELEASE": "1.0\n"}, "branch off")
}

// allDone fails if a check run of the head is open.
func (w *world) allDone(sha string) {
	w.Helper()
	for _, c := range w.repo.CheckRuns(sha) {
		if !c.Completed() {
			w.Errorf("check run %d on %.7s is open, and nothing is left to do", c.ID, sha)
		}
	}
}

// held blocks the requests of one pull request until they are let go or hang
// up, and tells when one comes.
func (w *world) held(route, param, number string) (came <-chan bool, letGo func()) {
	c, free := make(chan bool, 10), make(chan bool)
	w.gh.On(route, func(x *ghtest.Exchange) {
		if x.Params[param] != number {
			return
		}
		c <- true
		select {
		case <-free:
		case <-x.Context().Done():
		}
	})
	return c, func() { close(free) }
}

func TestClosingLeavesTheHeadToTheOthers(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.release()
	one := w.open(clean())
	w.idle()
	two := w.twin("WIP: backport")
	w.idle()
	if c := w.check(one); c.Conclusion != "neutral" {
		t.Fatalf("the shared check is %s", c.Conclusion)
	}
	two.Close()
	w.idle()
	if c := w.check(one); c.Conclusion != "success" {
		t.Errorf("#2 is gone, and its decision is not: %s (%s)", c.Conclusion, c.Title)
	}
}

// #2 has found that it must wait for #1, and is still writing its comment,
// when #1 is closed.
func TestClosedWhileAnotherWaitsForIt(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.release()
	reading, _ := w.held(routeFiles, "pull_number", "1")
	commenting, letGo := w.held(routeComment, "issue_number", "2")
	one := w.open(clean())
	<-reading
	two := w.twin("feat: backport")
	<-commenting
	one.Close()
	letGo()
	w.idle()
	w.allDone(two.HeadSHA())
	if c := w.check(two); c.Conclusion != "success" {
		t.Errorf("the check is %s (%s)", c.Conclusion, c.Title)
	}
}

func TestPushToABranchOfTwoPullRequests(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.release()
	reading := make(chan bool, 10)
	w.gh.On(routeFiles, ghtest.First(2, func(x *ghtest.Exchange) {
		reading <- true
		<-x.Context().Done()
	}))
	one := w.open(clean())
	<-reading
	w.twin("feat: backport")
	<-reading
	old := one.HeadSHA()
	one.Push(ghtest.Files{"store/b.go": "package store\n"}, "more")
	w.idle()
	w.allDone(old)
	w.allDone(one.HeadSHA())
	w.check(one)
}

// A review that was given up is not hidden by an older one that passed.
func TestGivenUpIsNoPass(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.release()
	one := w.open(clean())
	two := w.twin("feat: backport")
	w.idle()
	w.repo.Commit("stable", ghtest.Files{"STABLE": "1.0\n"}, "branch off")
	w.gh.On(routeFiles, func(x *ghtest.Exchange) {
		if x.Params["pull_number"] == "2" {
			x.Fail(403, "no")
		}
	})
	base := "stable"
	two.Edit(ghtest.Edit{Base: &base})
	w.idle()
	title := "feat: read the stock from the warehouse, again"
	one.Edit(ghtest.Edit{Title: &title})
	w.idle()
	if c := w.check(two); c.Conclusion == "success" || c.Conclusion == "neutral" {
		t.Errorf("%s (%s), though #2 into stable was never reviewed", c.Conclusion, c.Title)
	}
}

func TestRetargetedIsNotGreenMeanwhile(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.release()
	pr := w.open(clean())
	w.idle()
	w.wants(pr, "success")
	reading, letGo := w.held(routeFiles, "pull_number", "1")
	base := "release"
	pr.Edit(ghtest.Edit{Base: &base})
	<-reading
	w.until("a new check run is open", func() bool {
		runs := pr.CheckRuns()
		return len(runs) == 2 && !runs[1].Completed()
	})
	letGo()
	w.idle()
	w.wants(pr, "success", "`release`")
}

// A head that passed for one pull request has not passed for the next that has it,
// be it opened with it or pushed to it.
func TestHeadOfAnotherIsNotGreenMeanwhile(t *testing.T) {
	t.Parallel()
	for _, pushed := range []bool{false, true} {
		w := start(t)
		w.release()
		one := w.open(clean())
		w.idle()
		w.wants(one, "success")
		var two *ghtest.PullRequest
		if pushed {
			two = w.repo.OpenPR(ghtest.PR{Title: "feat: backport", Body: goodBody, Base: "release", Head: "backport", Files: clean()})
			w.idle()
		}
		reading, letGo := w.held(routeFiles, "pull_number", "2")
		if pushed {
			two.ForcePushTo(one.HeadSHA())
		} else {
			two = w.twin("feat: backport")
		}
		<-reading
		w.until("a new check run is open", func() bool {
			runs := one.CheckRuns()
			return len(runs) == 2 && !runs[1].Completed()
		})
		letGo()
		w.idle()
		w.allDone(one.HeadSHA())
		w.wants(two, "success", "`release`")

		// It answers for both now, and stands while one is looked at again.
		reading, letGo = w.held(routeFiles, "pull_number", "1")
		title := "feat: read the stock"
		one.Edit(ghtest.Edit{Title: &title})
		<-reading
		w.wantsCheck(two, "success")
		letGo()
		w.idle()
	}
}

// done waits until nothing more is wanted of a pull request.
func (w *world) done(pr *ghtest.PullRequest) {
	w.Helper()
	key := review.Target{Kind: review.TargetPull, RepoID: pr.Repo().ID(), Number: pr.Number}.Key()
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		state, err := w.app.Inside().Store.Target(w.Context(), key)
		if err == nil && state.Wanted > 0 && state.Done == state.Wanted {
			return
		}
		if time.Now().After(until) {
			w.Fatalf("%s is not done: %+v, %v", key, state, err)
		}
	}
}

// Where the config of one base branch is less strict than that of another, the
// pull request into it has no say about a head that they share: the check neither
// passes nor blocks for it, whichever is done last.
func TestHeadOfBranchesOfDifferentModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{config.ModeOff, config.ModeAdvisory} {
		for _, tt := range sample.Of(t, 2, []struct {
			name  string
			files ghtest.Files
			late  bool // the less strict one is done last
			want  string
		}{
			{"findings, last", tested(ghtest.Files{"store/client.go": insecure}), true, "action_required"},
			{"findings, first", tested(ghtest.Files{"store/client.go": insecure}), false, "action_required"},
			{"clean, last", clean(), true, "success"},
			{"clean, first", clean(), false, "success"},
		}) {
			t.Run(mode+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				w := startWith(t, ghtest.Options{WebhookSecret: secret}, withServer(map[string]string{config.FileSettings: releases}))
				w.repo.Commit("release/1", ghtest.Files{settingsPath: `{"mode": "` + mode + `"}`}, mode)
				w.idle()
				last := "1"
				if tt.late {
					last = "2"
				}
				reading, letGo := w.held(routeFiles, "pull_number", last)
				pr := w.open(tt.files)
				other := w.repo.OpenPR(ghtest.PR{Title: "WIP: the same for the release", Body: goodBody, Base: "release/1"})
				<-reading
				if tt.late {
					w.done(pr)
				} else {
					w.done(other)
					w.wantsNoPass(pr)
				}
				letGo()
				w.idle()
				for _, when := range []string{"reviewed", "the other one again"} {
					w.allDone(pr.HeadSHA())
					w.wantsCheck(pr, tt.want)
					if c := w.check(pr); strings.Contains(c.Title+c.Summary, "same head") {
						t.Errorf("%s, the check tells of the other one: %s\n%s", when, c.Title, c.Summary)
					}
					w.says(other, "/review")
				}
			})
		}
	}
}

// wantsNoPass fails if the head's newest check satisfies a required one.
func (w *world) wantsNoPass(pr *ghtest.PullRequest) {
	w.Helper()
	runs := pr.CheckRuns()
	if c := runs[len(runs)-1]; slices.Contains([]string{"success", "neutral", "skipped"}, c.Conclusion) {
		w.Errorf("the check is %s (%s) before the review is done", c.Conclusion, c.Title)
	}
}
