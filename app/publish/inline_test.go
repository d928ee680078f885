package publish_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// withFindings is a review whose change has the findings, each on a line of its own. The
// repository's settings ask for comments on lines.
func withFindings(run string, ids ...string) *ports.StoredReview {
	r := reviewed(pipeline.DecisionNeedsFixes)
	r.RunID = run
	r.Config = []ports.ConfigBlob{{Layer: "repository", Path: ".reviewgate/review-settings.json", Text: []byte(`{"comment": {"inline": "all"}}`)}}
	r.Review.Facts.Config.Layers = pipeline.List[pipeline.ConfigLayer]{{Name: "repository", Used: true}}
	var lines pipeline.List[pipeline.Line]
	for i, id := range ids {
		lines = append(lines, pipeline.Line{Op: pipeline.LineAdded, New: i + 1, Text: "x"})
		r.Review.Report.Findings = append(r.Review.Report.Findings, finding(id, i+1))
	}
	r.Review.Facts.Files = pipeline.List[pipeline.File]{{Path: "a.go", Hunks: pipeline.List[pipeline.Hunk]{{Lines: lines}}}}
	return r
}

func finding(id string, line int) pipeline.Finding {
	return pipeline.Finding{ID: id, Title: "Finding " + id, Severity: pipeline.SeverityMajor, Path: "a.go", StartLine: line, State: pipeline.StateNew}
}

// publish publishes a review, and makes it the newest published one.
func (w *world) publish(t *testing.T, r *ports.StoredReview) error {
	t.Helper()
	err := w.publisher.Publish(t.Context(), t.Context(), held, known(), r)
	if err == nil {
		w.store.latest = r
	}
	return err
}

// onLines lists the findings of the comments on GitHub, oldest first.
func (w *world) onLines() (ids []string) {
	for _, th := range w.github.threads {
		marker, _, _ := strings.Cut(th.Body, "\n")
		ids = append(ids, strings.TrimSuffix(strings.TrimPrefix(marker, "<!-- reviewgate:inline "), " -->"))
	}
	return ids
}

// annotated returns how many annotations the newest check was given.
func (w *world) annotated() int {
	return len(w.github.written[len(w.github.written)-1].Output.Annotations)
}

func wantLines(t *testing.T, w *world, when string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.onLines()); diff != "" {
		t.Errorf("%s: comments on lines (-want +got):\n%s", when, diff)
	}
}

// Whichever answer is lost, a retry repeats no comment, and adds none beyond ten.
func TestLostAnswersOfCommentsOnLines(t *testing.T) {
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("a%02d", i))
	}
	for _, call := range []string{"10 comments on lines of aaa", "edit 0 comments on lines", "create check", "create comment"} {
		t.Run(call, func(t *testing.T) {
			w := newWorld(t)
			r := withFindings("run", ids...)
			w.github.loses = call
			if err := w.publish(t, r); err == nil {
				t.Fatal("published although the answer was lost")
			}
			if err := w.publish(t, r); err != nil {
				t.Fatal(err)
			}
			wantLines(t, w, "after a retry", ids[:10]...)
			if n := w.annotated(); n != 2 {
				t.Errorf("%d annotations, want 2", n)
			}
		})
	}
}

// Comments that GitHub did not take before the server died are written by the next try, even
// if that is the review of another head.
func TestIntentWithoutCommentsOnLines(t *testing.T) {
	for _, run := range []string{"run", "another"} {
		w := newWorld(t)
		w.github.refuses["2 comments on lines of aaa"] = ports.HostTransient
		if err := w.publish(t, withFindings("run", "a1", "a2")); err == nil {
			t.Fatal("published although GitHub was down")
		}
		clear(w.github.refuses)
		if err := w.publish(t, withFindings(run, "a1")); err != nil {
			t.Fatal(err)
		}
		wantLines(t, w, run, "a1")
		for _, c := range w.store.inline {
			if want := map[string]ports.InlineState{"a1": ports.InlineOpen, "a2": ports.InlineRefused}[c.Fingerprint]; c.State != want {
				t.Errorf("%s: %s is %s, want %s", run, c.Fingerprint, c.State, want)
			}
		}
	}
}

// If GitHub refuses the comments for good, the findings have annotations, and the comments
// are not tried again.
func TestRefusedCommentsOnLines(t *testing.T) {
	for _, kind := range []ports.HostKind{ports.HostInvalid, ports.HostForbidden, ports.HostNotFound} {
		w := newWorld(t)
		w.github.refuses["2 comments on lines of aaa"] = kind
		if err := w.publish(t, withFindings("run", "a1", "a2")); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if n := w.annotated(); n != 2 {
			t.Errorf("%s: %d annotations, want 2", kind, n)
		}
		clear(w.github.refuses)
		if err := w.publish(t, withFindings("next", "a1", "a2")); err != nil {
			t.Fatal(err)
		}
		wantLines(t, w, string(kind))
	}
}

// If GitHub is in trouble for longer, the check has annotations and does not wait for comments.
// The comment does not wait either.
func TestLastingTroubleWithCommentsOnLines(t *testing.T) {
	for call, annotations := range map[string]int{"2 comments on lines of aaa": 2, "list the comments on lines": 2, "edit 0 comments on lines": 0} {
		w := newWorld(t)
		w.github.refuses["2 comments on lines of aaa"] = ports.HostTransient
		r := withFindings("run", "a1", "a2")
		if err := w.publish(t, r); err == nil || len(w.github.checks) > 0 {
			t.Fatalf("%s: %v, %d checks", call, err, len(w.github.checks))
		}
		clear(w.github.refuses)
		w.github.refuses[call] = ports.HostTransient
		state := known()
		state.Attempts = 1
		err := w.publisher.Publish(t.Context(), t.Context(), held, state, r)
		if edits := annotations == 0; edits != (err != nil) {
			t.Errorf("%s: %v", call, err)
		}
		if n := w.annotated(); n != annotations || len(w.github.comments) != 1 {
			t.Errorf("%s: %d annotations, want %d, and %d comments", call, n, annotations, len(w.github.comments))
		}
	}
}

// Only findings that the last published review did not have get comments.
func TestOldFindingsGetNoCommentsOnLines(t *testing.T) {
	w := newWorld(t)
	last := withFindings("before", "a1")
	last.Review.Report.Suppressed = pipeline.List[pipeline.Suppressed]{{Finding: finding("a2", 2)}}
	last.Review.Report.Changes.Unconfirmed = pipeline.List[pipeline.Finding]{finding("a3", 3)}
	last.Review.Report.Changes.NotRaised = pipeline.List[pipeline.Finding]{finding("a4", 4)}
	w.store.latest = last
	if err := w.publish(t, withFindings("run", "a1", "a2", "a3", "a4", "a5")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, w, "after a push", "a5")
	if n := w.annotated(); n != 4 {
		t.Errorf("%d annotations, want 4", n)
	}
}

// A store that was lost learns of the comments from GitHub, before it writes others.
func TestCommentsOnLinesAfterTheStoreWasLost(t *testing.T) {
	w := newWorld(t)
	if err := w.publish(t, withFindings("run", "a1")); err != nil {
		t.Fatal(err)
	}
	w.store = store{}
	w.github.now.OnLines = 1
	state := known()
	state.Reason = "synchronize"
	if err := w.publisher.Publish(t.Context(), t.Context(), held, state, withFindings("next", "a1", "a2")); err != nil {
		t.Fatal(err)
	}
	wantLines(t, w, "after the loss", "a1", "a2")
}

// One call edits the comments on fixed and dismissed findings, and finds what was added. What
// somebody deleted is not written again.
func TestCommentsOnLinesAreEditedInOneCall(t *testing.T) {
	w := newWorld(t)
	if err := w.publish(t, withFindings("run", "a1", "a2", "a3", "a4")); err != nil {
		t.Fatal(err)
	}
	w.github.threads = append(w.github.threads[:2:2], w.github.threads[3:]...) // a3 is deleted
	next := withFindings("next", "a4", "a5")
	next.Review.Report.Changes.Resolved = pipeline.List[pipeline.Finding]{finding("a1", 1), finding("a3", 3)}
	next.Review.Report.Suppressed = pipeline.List[pipeline.Suppressed]{{Finding: finding("a2", 2), Reason: "dismissed: no"}}
	calls := w.github.since(func() {
		if err := w.publish(t, next); err != nil {
			t.Fatal(err)
		}
	})
	var on []string
	for _, c := range calls {
		if strings.Contains(c, "on lines") {
			on = append(on, c)
		}
	}
	if diff := cmp.Diff([]string{"1 comments on lines of aaa", "edit 3 comments on lines"}, on); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	got := map[string]string{}
	for _, c := range w.store.inline {
		got[c.Fingerprint] = fmt.Sprintf("%s %d", c.State, c.RemoteID)
	}
	want := map[string]string{"a1": "fixed 1", "a2": "dismissed 2", "a3": "refused 3", "a4": "open 4", "a5": "open 4"}
	want["a5"] = fmt.Sprintf("open %d", w.github.threads[len(w.github.threads)-1].RemoteID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"T1", "T2"}, w.github.resolved); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
	if calls := w.github.since(func() {
		if err := w.publish(t, next); err != nil {
			t.Fatal(err)
		}
	}); len(calls) != 0 {
		t.Errorf("the same review writes %v", calls)
	}
}

// More edits than GitHub takes in one call need another one.
func TestManyEditsOfCommentsOnLines(t *testing.T) {
	w := newWorld(t)
	next := withFindings("next", "b")
	for i := range ports.MaxInlineEdits + 1 {
		id := fmt.Sprintf("a%02d", i)
		node := fmt.Sprint("C", i)
		w.github.threads = append(w.github.threads, ports.InlineThread{ThreadID: fmt.Sprint("T", i), NodeID: node, Body: "<!-- reviewgate:inline " + id + " -->"})
		w.store.inline = append(w.store.inline, ports.InlineComment{Fingerprint: id, RunID: "run", State: ports.InlineOpen, NodeID: node, ThreadID: fmt.Sprint("T", i)})
		next.Review.Report.Changes.Resolved = append(next.Review.Report.Changes.Resolved, finding(id, i+1))
	}
	calls := w.github.since(func() {
		if err := w.publish(t, next); err != nil {
			t.Fatal(err)
		}
	})
	calls = slices.DeleteFunc(calls, func(c string) bool { return !strings.HasPrefix(c, "edit") || !strings.Contains(c, "on lines") })
	if want := []string{"edit 50 comments on lines", "edit 1 comments on lines"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	for _, c := range w.store.inline {
		if c.Fingerprint != "b" && c.State != ports.InlineFixed {
			t.Errorf("%s is %s", c.Fingerprint, c.State)
		}
	}
}

// Edits that GitHub refuses for good don't keep the review from being published.
func TestRefusedEditsOfCommentsOnLines(t *testing.T) {
	for kind, fails := range map[ports.HostKind]bool{ports.HostForbidden: false, ports.HostTransient: true} {
		w := newWorld(t)
		w.github.refuses["edit 0 comments on lines"] = kind
		if err := w.publish(t, withFindings("run", "a1")); (err != nil) != fails {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A comment that somebody deleted before its place was known is not said to be there.
func TestDeletedCommentOnALine(t *testing.T) {
	w := newWorld(t)
	w.github.refuses["edit 0 comments on lines"] = ports.HostForbidden
	if err := w.publish(t, withFindings("run", "a1")); err != nil {
		t.Fatal(err)
	}
	clear(w.github.refuses)
	w.github.threads = nil
	next := withFindings("next")
	next.Review.Report.Changes.Resolved = pipeline.List[pipeline.Finding]{finding("a1", 1)}
	if err := w.publish(t, next); err != nil {
		t.Fatal(err)
	}
	if c := w.store.inline[0]; c.State != ports.InlineRefused {
		t.Errorf("the comment is %s", c.State)
	}
}

// Nothing is written without the lease, or where nobody can comment.
func TestWhenNoCommentsOnLinesAreWritten(t *testing.T) {
	for name, change := range map[string]func(*world){
		"lease lost": func(w *world) { w.store.lost = true },
		"locked":     func(w *world) { w.github.now.Locked = true },
		"archived":   func(w *world) { w.github.now.Archived = true },
	} {
		w := newWorld(t)
		change(w)
		err := w.publish(t, withFindings("run", "a1"))
		if name == "lease lost" && !errors.Is(err, ports.ErrLeaseLost) || name != "lease lost" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantLines(t, w, name)
	}
}
