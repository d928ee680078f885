package publish_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
)

// comment publishes the comment of a review with a decision, also of one that passes.
func (w *world) comment(t *testing.T, d pipeline.Decision) error {
	t.Helper()
	talk := ports.Conversation{Comments: len(w.github.comments)}
	return w.comments.Publish(t.Context(), publication(known(), reviewed(d), settings(t, `{"comment": {"when": "always"}}`), &ports.PullState{Conversation: talk}))
}

// commented returns a world in which the pull request has its comment.
func commented(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	if err := w.comment(t, pipeline.DecisionPass); err != nil {
		t.Fatal(err)
	}
	if len(w.github.comments) != 1 {
		t.Fatalf("%d comments", len(w.github.comments))
	}
	return w
}

// ids are the IDs of the comments on GitHub, oldest first.
func (w *world) ids() (all []int64) {
	for _, c := range w.github.comments {
		all = append(all, c.ID)
	}
	return all
}

func TestChangedCommentIsEditedInPlace(t *testing.T) {
	w := commented(t)
	before := w.github.comments[0].Body
	for _, step := range []struct {
		decision pipeline.Decision
		calls    []string
	}{
		{pipeline.DecisionPass, nil},
		{pipeline.DecisionFail, []string{"update comment"}},
		{pipeline.DecisionFail, nil},
		{pipeline.DecisionPass, []string{"update comment"}},
	} {
		calls := w.github.since(func() {
			if err := w.comment(t, step.decision); err != nil {
				t.Fatal(err)
			}
		})
		if diff := cmp.Diff(step.calls, calls); len(step.calls)+len(calls) > 0 && diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", step.decision, diff)
		}
	}
	if len(w.github.comments) != 1 || w.github.comments[0].Body != before {
		t.Errorf("comments %+v", w.github.comments)
	}
}

// A comment that somebody deleted is written again. GitHub may be wrong about the deletion,
// or may have another comment of ours: neither leads to two comments.
func TestDeletedComment(t *testing.T) {
	for name, test := range map[string]struct {
		left  []ports.Comment // on GitHub, after it was deleted
		want  []int64
		calls []string
	}{
		"none is left":        {nil, []int64{1}, []string{"create comment"}},
		"another one is left": {[]ports.Comment{{ID: 7}}, []int64{7}, []string{"update comment"}},
		"two others are left": {[]ports.Comment{{ID: 7}, {ID: 8}}, []int64{7}, []string{"delete comment", "update comment"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := commented(t)
			w.github.comments = test.left
			calls := w.github.since(func() {
				if err := w.comment(t, pipeline.DecisionFail); err != nil {
					t.Fatal(err)
				}
			})
			if diff := cmp.Diff(test.want, w.ids()); diff != "" {
				t.Errorf("comments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if calls := w.github.since(func() { _ = w.comment(t, pipeline.DecisionPass) }); len(calls) != 1 || calls[0] != "update comment" {
				t.Errorf("the next comment takes the calls %v", calls)
			}
		})
	}
}

func TestCommentThatGitHubListsIsNotDeleted(t *testing.T) {
	w := commented(t)
	w.github.refuses["update comment"] = ports.HostNotFound
	var host *ports.HostError
	if err := w.comment(t, pipeline.DecisionFail); !errors.As(err, &host) || !host.Temporary() {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]int64{1}, w.ids()); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

// If the answer to the create or the store was lost, the comment is looked for. The oldest
// of several stays.
func TestCommentUnknownToTheStore(t *testing.T) {
	for name, test := range map[string]struct {
		intended bool // an intent is stored
		there    []ports.Comment
		want     []int64
	}{
		"an intent, and the comment":     {true, []ports.Comment{{ID: 5}}, []int64{5}},
		"an intent, and no comment":      {true, nil, []int64{1}},
		"an intent, and duplicates":      {true, []ports.Comment{{ID: 5}, {ID: 6}, {ID: 9}}, []int64{5}},
		"a lost store, and the comment":  {false, []ports.Comment{{ID: 5}}, []int64{5}},
		"a lost store, and duplicates":   {false, []ports.Comment{{ID: 5}, {ID: 6}}, []int64{5}},
		"neither an intent nor comments": {false, nil, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // GitHub's list is read twice, a moment apart
				w := newWorld(t)
				if test.intended {
					w.github.refuses["create comment"] = ports.HostTransient
					if err := w.comment(t, pipeline.DecisionPass); err == nil {
						t.Fatal("no error where the comment was not created")
					}
					delete(w.github.refuses, "create comment")
				}
				w.github.comments = test.there
				if err := w.comment(t, pipeline.DecisionPass); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, w.ids()); diff != "" {
					t.Errorf("comments (-want +got):\n%s", diff)
				}
				if calls := w.github.since(func() { _ = w.comment(t, pipeline.DecisionPass) }); len(calls) > 0 {
					t.Errorf("the same comment takes the calls %v", calls)
				}
			})
		})
	}
}

func TestNoCommentWithoutTheLease(t *testing.T) {
	for name, there := range map[string][]ports.Comment{"to create": nil, "to edit": {{ID: 1}}, "to delete": {{ID: 1}, {ID: 2}}} {
		w := newWorld(t)
		w.github.comments, w.store.lost = there, true
		if err := w.comment(t, pipeline.DecisionPass); !errors.Is(err, ports.ErrLeaseLost) || len(w.github.calls) > 0 {
			t.Errorf("%s: calls %v, error %v", name, w.github.calls, err)
		}
	}
}

func TestWhereNoCommentIsWritten(t *testing.T) {
	const found, quiet = pipeline.DecisionFail, pipeline.DecisionPass
	group := known()
	group.Kind = ports.TargetGroup
	told := known()
	told.Notices = []string{"the command was refused"}
	for name, test := range map[string]struct {
		own      string // settings
		state    ports.TargetState
		talk     ports.Conversation
		decision pipeline.Decision
		written  bool
	}{
		"with the default settings":  {`{}`, known(), ports.Conversation{}, quiet, false},
		"always":                     {`{"comment": {"when": "always"}}`, known(), ports.Conversation{}, quiet, true},
		"a merge group":              {`{}`, group, ports.Conversation{}, found, false},
		"the settings want none":     {`{"comment": {"when": "never"}}`, known(), ports.Conversation{}, found, false},
		"the conversation is locked": {`{}`, known(), ports.Conversation{Locked: true}, found, false},
		"the repository is archived": {`{}`, known(), ports.Conversation{Archived: true}, found, false},
		"there are no findings":      {`{}`, known(), ports.Conversation{}, quiet, false},
		"there are findings":         {`{"comment": {"when": "findings"}}`, known(), ports.Conversation{}, found, true},
		"there is only a notice":     {`{"comment": {"when": "findings"}}`, told, ports.Conversation{}, quiet, true},
	} {
		w := newWorld(t)
		if err := w.comments.Publish(t.Context(), publication(test.state, reviewed(test.decision), settings(t, test.own), &ports.PullState{Conversation: test.talk})); err != nil {
			t.Fatal(err)
		}
		if written := len(w.github.comments) == 1; written != test.written {
			t.Errorf("%s: %d comments", name, len(w.github.comments))
		}
	}
}

// Without a review, notices get a comment of their own. They are not written again if
// GitHub refuses for good.
func TestNoticesWithoutAReview(t *testing.T) {
	for name, test := range map[string]struct {
		refuses ports.HostKind
		own     string
		written bool
		said    bool
	}{
		"a comment is written":   {"", `{}`, true, true},
		"the settings want none": {"", `{"comment": {"when": "never"}}`, false, true},
		"GitHub refuses":         {ports.HostForbidden, `{}`, false, true},
		"GitHub is down":         {ports.HostTransient, `{}`, false, false},
	} {
		w := newWorld(t)
		w.store.own = test.own
		w.github.refuses["create comment"] = test.refuses
		state := known()
		state.Notices = []string{"the command was refused"}
		if err := w.comments.WriteNotices(t.Context(), held, state); (err == nil) != test.said {
			t.Errorf("%s: error %v", name, err)
		}
		if written := len(w.github.comments) == 1; written != test.written || (len(w.store.said) == 1) != test.said {
			t.Errorf("%s: comments %v, said %v", name, w.github.comments, w.store.said)
		}
		if test.written && w.github.comments[0].Body != render.NoticeComment(state.Notices).Body {
			t.Errorf("%s: comment %q", name, w.github.comments[0].Body)
		}
	}
}
