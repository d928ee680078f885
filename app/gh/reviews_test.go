package gh

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

// A review is created for the head that it names, is listed, and is dismissed once.
func TestReviews(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	head, target := p.HeadSHA(), w.target(p)
	p.Push(ghtest.Files{"a.txt": "b\n"}, "push")
	p.Reviews.Submit("bob", "commented", "Hm.")
	id, err := w.client.CreateReview(t.Context(), target, ports.ReviewWrite{HeadSHA: head, Verdict: ports.ReviewApprove, Body: "Good."})
	w.must(err)
	list := func() []ports.PullReview {
		t.Helper()
		all, err := w.client.Reviews(t.Context(), target)
		w.must(err)
		return all
	}
	want := []ports.PullReview{
		{ID: p.Reviews.All()[0].ID, Author: "bob", Body: "Hm."},
		{ID: id, Author: w.hub.AppLogin(), Bot: true, Body: "Good."},
	}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Errorf("reviews (-want +got):\n%s", diff)
	}
	if got := p.Reviews.OfApp()[0]; got.CommitID != head || got.State != "approved" {
		t.Errorf("review %+v", got)
	}
	for range 2 {
		w.must(w.client.DismissReview(t.Context(), target, id, "Pushed to."))
	}
	w.must(w.client.DismissReview(t.Context(), target, 7, "Not there."))
	if want[1].Dismissed = true; !cmp.Equal(want, list()) {
		t.Errorf("dismissed: %+v", list())
	}
	wantKind(t, w.client.DismissReview(t.Context(), target, want[0].ID, "A comment."), ports.HostInvalid)
	_, err = w.client.CreateReview(t.Context(), target, ports.ReviewWrite{HeadSHA: head, Verdict: ports.ReviewReject})
	wantKind(t, err, ports.HostInvalid)
}

// A review that can't be found counts as gone only if the list of reviews can be read.
// Otherwise the App may have lost its access.
func TestDismissalOfAnInvisibleReview(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	target := w.target(p)
	id, err := w.client.CreateReview(t.Context(), target, ports.ReviewWrite{HeadSHA: p.HeadSHA(), Verdict: ports.ReviewApprove, Body: "Good."})
	w.must(err)
	const reviews = "/repos/{owner}/{repo}/pulls/{pull_number}/reviews"
	for _, route := range []string{"PUT " + reviews + "/{review_id}/dismissals", "GET " + reviews} {
		w.hub.On(route, func(x *ghtest.Exchange) { x.Fail(404, "Not Found") })
		wantKind(t, w.client.DismissReview(t.Context(), target, id, "Pushed to."), ports.HostNotFound)
	}
}

func TestLogin(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	login, err := w.client.Login(t.Context())
	w.must(err)
	if login != w.hub.AppLogin() {
		t.Errorf("login %q, want %q", login, w.hub.AppLogin())
	}
}

// People and teams are requested in one call. One who can't be requested makes the whole call
// fail. The pull request shows who is requested.
func TestRequestReviews(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Grant("bob", "read")
	w.hub.Team("acme", "owners", "carol")
	p := w.repo.OpenPR(ghtest.PR{Author: "alice", Files: ghtest.Files{"a.txt": "a\n"}})
	target := w.target(p)
	for _, people := range [][]string{{"bob", "alice"}, {"mallory"}, {"acme/cooks"}, {"widgets/owners"}} {
		wantKind(t, w.client.RequestReviews(t.Context(), target, people), ports.HostInvalid)
	}
	w.must(w.client.RequestReviews(t.Context(), target, []string{"bob", "Acme/owners"}))
	state, err := w.client.Pull(t.Context(), target)
	w.must(err)
	if diff := cmp.Diff([]string{"bob", "acme/owners"}, state.Requested); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func wantKind(t *testing.T, err error, kind ports.HostKind) {
	t.Helper()
	var host *ports.HostError
	if !errors.As(err, &host) || host.Kind != kind {
		t.Errorf("error %v, want %s", err, kind)
	}
}
