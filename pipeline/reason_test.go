package pipeline

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A report's reasons are stored as texts, as in older versions. Each is read with its kind.
func TestReasonsAreTextsInJSON(t *testing.T) {
	reasons := List[Reason]{
		{ReasonOther, "merged 2 findings of a, b"},
		{ReasonNotIgnored, "the config allows no inline comments"},
		{ReasonIgnoreWaits, "not ignored: a sandbox"},
		{ReasonIgnoreChanged, "a sandbox"},
		{ReasonNotDismissed, "a model words it otherwise now, which somebody must confirm"},
		{ReasonBack, "5a5b5c5"},
		{ReasonHeld, ""},
		{ReasonNotRaised, ""},
		{ReasonAsBefore, ""},
		{ReasonAccepted, "carol"},
	}
	const stored = `["merged 2 findings of a, b",` +
		`"not ignored: the config allows no inline comments",` +
		`"not ignored: an ignore comment that this change adds waits for acceptance: not ignored: a sandbox",` +
		`"not ignored: the line that this ignore comment is about has changed, so the comment waits for acceptance: a sandbox",` +
		`"not dismissed: a model words it otherwise now, which somebody must confirm",` +
		`"back: it was fixed in 5a5b5c5",` +
		`"holds the gate: a person must decide",` +
		`"not raised again; its lines are unchanged",` +
		`"counts as before, since its lines are unchanged",` +
		`"accepted by carol"]`
	b, err := json.Marshal(reasons)
	if err != nil || string(b) != stored {
		t.Errorf("%s (%v)", b, err)
	}
	var read List[Reason]
	if err := json.Unmarshal([]byte(stored), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reasons, read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`[{"kind": "held"}]`), &read); err == nil {
		t.Error("an object was read as a reason")
	}
}

// Every kind is found by its words, before another whose words these begin with.
func TestReasonKindsAreInOrder(t *testing.T) {
	for i, kind := range reasonKinds {
		if slices.ContainsFunc(reasonKinds[:i], func(before ReasonKind) bool { return strings.HasPrefix(string(kind), string(before)) }) {
			t.Errorf("%q is never found", kind)
		}
	}
}

func TestReasonOfFinding(t *testing.T) {
	f := Finding{Reasons: List[Reason]{{Text: "merged"}, {ReasonIgnoreChanged, "a sandbox"}, {ReasonAccepted, "carol"}}}
	if r, ok := f.Reason(ReasonIgnoreWaits, ReasonIgnoreChanged); !ok || r.Text != "a sandbox" {
		t.Errorf("waits: %+v, %v", r, ok)
	}
	if r, ok := f.Reason(ReasonNotIgnored); ok {
		t.Errorf("not ignored: %+v", r)
	}
	if !f.HasReason(ReasonAccepted) || f.HasReason(ReasonHeld) {
		t.Error("HasReason is wrong about accepted or held")
	}
}
