package pipeline

import (
	"encoding/json"
	"slices"
	"strings"
)

// Reason says one thing that aggregate did to a finding, or did not do and why. In JSON it is the
// text that people read.
type Reason struct {
	Kind ReasonKind
	Text string // what follows the words of the kind
}

// ReasonKind is what a reason is about. Its value is the words that every reason of the kind begins
// with.
type ReasonKind string

const (
	// ReasonOther is for reasons that people read and nothing depends on. Their text must not begin
	// with the words of another kind.
	ReasonOther ReasonKind = ""
	// ReasonNotIgnored is for a finding that an ignore comment does not suppress. The text is the
	// cause.
	ReasonNotIgnored ReasonKind = "not ignored: "
	// ReasonIgnoreWaits is for a finding whose ignore comment comes from the change, so that it
	// counts only once a person accepts it. The text is the reason in the comment.
	ReasonIgnoreWaits = ReasonNotIgnored + "an ignore comment that this change adds waits for acceptance: "
	// ReasonIgnoreChanged is ReasonIgnoreWaits for a comment that is in the base but whose statement the
	// change edits.
	ReasonIgnoreChanged = ReasonNotIgnored + "the line that this ignore comment is about has changed, so the comment waits for acceptance: "
	// ReasonNotDismissed is for a finding that counts although a person dismissed it. The text is
	// the cause.
	ReasonNotDismissed ReasonKind = "not dismissed: "
	// ReasonBack is for a finding that an earlier head of the pull request had and a later one did
	// not. The text is the head that fixed it.
	ReasonBack ReasonKind = "back: it was fixed in "
	// ReasonHeld is for a finding that only one model made and that holds the gate until a person
	// decides about it. It has no text.
	ReasonHeld ReasonKind = "holds the gate: a person must decide"
	// ReasonNotRaised is for a finding that blocked and that no model raised again. It stays until
	// its lines change or a person decides about it. It has no text.
	ReasonNotRaised ReasonKind = "not raised again; its lines are unchanged"
	// ReasonAsBefore is for a finding that blocked before, and that fewer models raised this time,
	// or raised as something milder. It has no text.
	ReasonAsBefore ReasonKind = "counts as before, since its lines are unchanged"
	// ReasonAccepted is for a finding that a person accepted. The text begins with the login.
	ReasonAccepted ReasonKind = "accepted by "
	// ReasonJudgedWrong is for a finding that a record of memory is about and that counts in full
	// nevertheless. The text is the id of the record, and more if the finding itself does not block.
	ReasonJudgedWrong ReasonKind = "judged wrong before: "
	// ReasonDoubted is for a finding that a record of memory took confidence from. The text is the id
	// of the record, the confidence before and after, and the record's reason.
	ReasonDoubted ReasonKind = "doubted by "
)

// reasonKinds are all kinds except ReasonOther. Those that begin with the words of ReasonNotIgnored
// come before it.
var reasonKinds = []ReasonKind{
	ReasonIgnoreWaits, ReasonIgnoreChanged, ReasonNotIgnored, ReasonNotDismissed, ReasonBack, ReasonHeld, ReasonNotRaised, ReasonAsBefore, ReasonAccepted,
	ReasonJudgedWrong, ReasonDoubted,
}

// String is the reason as people read it.
func (r Reason) String() string { return string(r.Kind) + r.Text }

// MarshalJSON writes the reason as people read it.
func (r Reason) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

// UnmarshalJSON tells the kind by the words that the reason begins with.
func (r *Reason) UnmarshalJSON(b []byte) error {
	var all string
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*r = Reason{Text: all}
	for _, kind := range reasonKinds {
		if text, ok := strings.CutPrefix(all, string(kind)); ok {
			*r = Reason{kind, text}
			break
		}
	}
	return nil
}

// Reason returns the finding's first reason of one of these kinds.
func (f *Finding) Reason(kinds ...ReasonKind) (Reason, bool) {
	i := slices.IndexFunc(f.Reasons, func(r Reason) bool { return slices.Contains(kinds, r.Kind) })
	if i < 0 {
		return Reason{}, false
	}
	return f.Reasons[i], true
}

// HasReason reports whether the finding has a reason of this kind.
func (f *Finding) HasReason(kind ReasonKind) bool {
	_, ok := f.Reason(kind)
	return ok
}
