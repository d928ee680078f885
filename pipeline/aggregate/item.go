package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// item is a finding that is being worked on. It is a copy of the agent's finding, and the steps
// change it.
type item struct {
	pipeline.Finding
	original *pipeline.Finding // the finding as its maker made it
	answer   int               // the index of its answer: an agent may ask a model several times
	keyCache string            // caches key
	index    int               // its index in findings, set by agree
	class    int               // the class of findings about the same problem
	earlier  *earlier          // the earlier finding that it matches, or nil
	basis    int               // what the match is based on
	keepsID  bool              // it has the earlier finding's id
	unraised bool              // no model raised it again, and it stays
	stage    string            // of the review that made it
	title    *title
	ownID    string // the fingerprint of its own words
	section  string // normalised
	flagged  string // the text that it is about
	sides    sides  // of all findings merged into it
	proof    models.Proof
	remote   bool            // a remote reviewer made it
	claim    *claim          // what a model claims, shared with others that claim the same
	backers  map[string]bool // the models that agree with it
	opinions []pipeline.Opinion
	// members are the findings merged into this one, or nil if none were. parts are the
	// findings that contradict one another in a trade-off.
	members  []*item
	parts    []*item
	known    []*pipeline.FalsePositive // records of memory that it matches, and that may count
	voices   []*item                   // findings with known records that agree with it
	promoted bool                      // it was below the confidence gate
	supports bool                      // it confirmed another finding, or took one in, below the gate
	cluster  int                       // the same for findings that deduplicate kept apart
	crowded  bool                      // more findings oppose it than can be compared
}

// source is who made a finding.
type source struct{ agent, model string }

func (f *item) source() source { return source{f.Agent, f.Model} }

// each returns the findings that were merged into this one, or the finding itself.
func (f *item) each() []*item {
	if f.members == nil {
		return []*item{f}
	}
	return f.members
}

// maker returns the only maker of the finding, or an empty source if there are several.
func (f *item) maker() source {
	s := f.source()
	if slices.ContainsFunc(f.members, func(m *item) bool { return m.source() != s }) {
		return source{}
	}
	return s
}

// stated is the confidence that the finding's model stated, or 0 if that is unknown. For an earlier
// finding that stays it is that of the earlier review: the confidence of a report is a rule's.
func (f *item) stated() float64 {
	switch {
	case f.Model == "":
		return 0
	case !f.unraised:
		return f.original.Confidence
	}
	stated := 0.0
	for _, m := range f.original.FoundBy {
		if m.Agent == f.Agent && m.Model == f.Model {
			stated = max(stated, m.Stated)
		}
	}
	return stated
}

// addReason adds a reason that nothing depends on to a finding.
func (f *item) addReason(text string) { f.addReasonOf(pipeline.ReasonOther, text) }

// addReasonOf adds a reason to a finding without changing the agent's slice.
func (f *item) addReasonOf(kind pipeline.ReasonKind, text string) {
	f.Reasons = append(f.Reasons[:len(f.Reasons):len(f.Reasons)], pipeline.Reason{Kind: kind, Text: text})
}

// suppress suppresses a finding with a reason. The report shows both.
func (f *item) suppress(r *pipeline.Report, state pipeline.FindingState, reason string) {
	f.State, f.GateSeverity = state, f.Severity
	r.Suppressed = append(r.Suppressed, pipeline.Suppressed{Finding: f.Finding, Reason: reason})
}
