package gh

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

// newInlineWorld is a world in which the App may resolve threads, with a pull request.
func newInlineWorld(t *testing.T, contents string) (*world, *ghtest.PullRequest, ports.Target) {
	t.Helper()
	may := ghtest.DefaultPermissions()
	may["contents"] = contents
	w := newWorld(t, ghtest.Options{Permissions: may})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\nb\nc\n"}})
	return w, p, w.target(p)
}

// Comments on lines are written in one review, and are found again if they are ours.
func TestCommentsOnLines(t *testing.T) {
	w, p, target := newInlineWorld(t, "write")
	p.Reviews.Comment("mallory", "a.txt", 1, "<!-- forged -->")
	w.must(w.client.CreateInline(t.Context(), target, p.HeadSHA(), []ports.InlineWrite{
		{Path: "a.txt", StartLine: 1, EndLine: 2, Body: "<!-- one -->"}, {Path: "a.txt", StartLine: 3, EndLine: 3, Body: "<!-- two -->"},
	}))
	all := p.Reviews.AppComments()
	if len(all) != 2 || all[0].StartLine != 1 || all[0].Line != 2 || all[1].StartLine != 0 || all[1].Line != 3 {
		t.Fatalf("written %+v", all)
	}
	threads, err := w.client.InlineThreads(t.Context(), target)
	w.must(err)
	var bodies []string
	for i, th := range threads {
		bodies = append(bodies, th.Body)
		if th.RemoteID != all[i].ID {
			t.Errorf("thread %+v of comment %d", th, all[i].ID)
		}
	}
	if diff := cmp.Diff([]string{"<!-- one -->", "<!-- two -->"}, bodies); diff != "" {
		t.Fatalf("threads (-want +got):\n%s", diff)
	}
	calls := len(w.hub.Calls.All())
	done, err := w.client.EditInline(t.Context(), target, []ports.InlineEdit{
		{NodeID: threads[0].NodeID, ThreadID: threads[0].ThreadID, Body: "one\n\"quoted\"", Resolved: true}, {NodeID: "PRRC_none", ThreadID: "PRRT_none", Body: "two"},
	}, true)
	w.must(err)
	if n := len(w.hub.Calls.All()) - calls; n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	if diff := cmp.Diff([]string{"PRRC_none"}, done.Gone); diff != "" || len(done.Threads) != 2 || done.Threads[0].Body != "one\n\"quoted\"" {
		t.Errorf("edited: %+v", done)
	}
	if c := p.Reviews.AppComments()[0]; !c.Resolved || c.Body != "one\n\"quoted\"" {
		t.Errorf("comment %+v", c)
	}
	done, err = w.client.EditInline(t.Context(), target, []ports.InlineEdit{{NodeID: threads[0].NodeID, ThreadID: threads[0].ThreadID, Body: "open", Resolved: false}}, false)
	if c := p.Reviews.AppComments()[0]; err != nil || len(done.Threads) > 0 || c.Resolved {
		t.Errorf("opened again: %v, %+v, %+v", err, done, c)
	}
	theirs := p.Reviews.Comments()[0]
	w.must(w.client.CreateInline(t.Context(), target, p.HeadSHA(), []ports.InlineWrite{{Path: "a.txt", StartLine: 2, EndLine: 2, Body: "three"}}))
	if done, err = w.client.EditInline(t.Context(), target, nil, true); err != nil || len(done.Threads) != 3 {
		t.Errorf("only listed: %v, %+v", err, done)
	}
	if got := p.Reviews.Comments()[0]; got.Body != theirs.Body || got.Edits != 0 {
		t.Errorf("another's comment: %+v", got)
	}
}

// The comment is edited even if its thread can't be resolved.
func TestThreadThatTheAppMayNotResolve(t *testing.T) {
	w, p, target := newInlineWorld(t, "read")
	w.must(w.client.CreateInline(t.Context(), target, p.HeadSHA(), []ports.InlineWrite{{Path: "a.txt", StartLine: 1, EndLine: 1, Body: "one"}}))
	done, err := w.client.EditInline(t.Context(), target, nil, true)
	w.must(err)
	th := done.Threads[0]
	done, err = w.client.EditInline(t.Context(), target, []ports.InlineEdit{{NodeID: th.NodeID, ThreadID: th.ThreadID, Body: "fixed", Resolved: true}}, false)
	if c := p.Reviews.AppComments()[0]; err != nil || len(done.Gone) > 0 || c.Body != "fixed" || c.Resolved {
		t.Errorf("edited: %v, %+v, %+v", err, done, c)
	}
}

// Threads are listed from all pages, oldest first.
func TestThreadsArePaged(t *testing.T) {
	w, p, target := newInlineWorld(t, "read")
	write := func(body string) {
		w.must(w.client.CreateInline(t.Context(), target, p.HeadSHA(), []ports.InlineWrite{{Path: "a.txt", StartLine: 1, EndLine: 1, Body: body}}))
	}
	write("first")
	for range 100 {
		p.Reviews.Comment("bob", "a.txt", 1, "Hm.")
	}
	write("last")
	threads, err := w.client.InlineThreads(t.Context(), target)
	if err != nil || len(threads) != 2 || threads[0].Body != "first" || threads[1].Body != "last" {
		t.Errorf("threads %+v, %v", threads, err)
	}
	done, err := w.client.EditInline(t.Context(), target, nil, true)
	if err != nil || len(done.Threads) != 1 || done.Threads[0].Body != "last" {
		t.Errorf("newest %+v, %v", done, err)
	}
}

// One call edits as many comments as there may be in one, and lists the threads.
func TestManyEditsOfCommentsOnLines(t *testing.T) {
	w, p, target := newInlineWorld(t, "write")
	const n = ports.MaxInlineEdits - 1
	w.must(w.client.CreateInline(t.Context(), target, p.HeadSHA(), slices.Repeat([]ports.InlineWrite{{Path: "a.txt", StartLine: 1, EndLine: 1, Body: "open"}}, n)))
	threads, err := w.client.InlineThreads(t.Context(), target)
	w.must(err)
	var edits []ports.InlineEdit
	for _, th := range threads {
		edits = append(edits, ports.InlineEdit{NodeID: th.NodeID, ThreadID: th.ThreadID, Body: "fixed", Resolved: true})
	}
	edits = append(edits, ports.InlineEdit{NodeID: "PRRC_none", ThreadID: "PRRT_none", Body: "fixed"})
	w.hub.Calls.Reset()
	done, err := w.client.EditInline(t.Context(), target, edits, true)
	if err != nil || len(done.Threads) != n || !slices.Equal(done.Gone, []string{"PRRC_none"}) {
		t.Errorf("edited: %v, %d threads, gone %q", err, len(done.Threads), done.Gone)
	}
	if calls := w.hub.Calls.All(); len(calls) != 1 {
		t.Errorf("%d calls, want 1", len(calls))
	}
	for _, c := range p.Reviews.AppComments() {
		if c.Body != "fixed" || !c.Resolved || c.Edits != 1 {
			t.Errorf("comment %+v", c)
		}
	}
}

// GitHub takes all comments of a review or none.
func TestCommentsOnLinesOutsideTheDiff(t *testing.T) {
	w, p, target := newInlineWorld(t, "read")
	good := ports.InlineWrite{Path: "a.txt", StartLine: 1, EndLine: 1, Body: "one"}
	for _, bad := range []ports.InlineWrite{
		{Path: "a.txt", StartLine: 9, EndLine: 9, Body: "x"}, {Path: "b.txt", StartLine: 1, EndLine: 1, Body: "x"}, {Path: "a.txt", StartLine: 1, EndLine: 1, Body: strings.Repeat("x", 65537)},
	} {
		wantKind(t, w.client.CreateInline(t.Context(), target, p.HeadSHA(), []ports.InlineWrite{good, bad}), ports.HostInvalid)
	}
	wantKind(t, w.client.CreateInline(t.Context(), target, strings.Repeat("a", 40), []ports.InlineWrite{good}), ports.HostInvalid)
	if n := len(p.Reviews.AppComments()); n != 0 {
		t.Errorf("%d comments", n)
	}
}

// GraphQL's errors come with status 200. Each has the kind that it would have elsewhere.
func TestErrorsOfGraphQL(t *testing.T) {
	for text, kind := range map[string]ports.HostKind{
		`{"data": null, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}`:                          ports.HostLimited,
		`{"data": {"e0": null}, "errors": [{"message": "Something went wrong while executing your query.", "path": ["e0"]}]}`: ports.HostTransient,
		`{"errors": [{"message": "Something went wrong"}]}`:                                                                   ports.HostTransient,
		`{"errors": [{"type": "undefinedField", "message": "Field 'x' doesn't exist", "path": ["mutation", "x"]}]}`:           ports.HostInvalid,
		`{}`:             ports.HostTransient,
		`{"data": null}`: ports.HostTransient,
		`<html>`:         ports.HostTransient,
	} {
		t.Run(text, func(t *testing.T) {
			w, _, target := newInlineWorld(t, "read")
			w.hub.On("POST /graphql", func(x *ghtest.Exchange) {
				r := x.Proceed()
				r.Status, r.Body = http.StatusOK, []byte(text)
			})
			_, err := w.client.EditInline(t.Context(), target, []ports.InlineEdit{{NodeID: "a", ThreadID: "b", Body: "c"}}, true)
			wantKind(t, err, kind)
		})
	}
}
