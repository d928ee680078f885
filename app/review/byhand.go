package review

import (
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Effect is what a command changes, besides asking for a review. All of it is
// stored in the transaction that marks the command as accepted, with an entry in
// the audit log. The zero value changes nothing.
type Effect struct {
	Dismiss []pipeline.Dismissal  // by fingerprint; replaces what was there
	Accept  []pipeline.Acceptance // likewise; ends a dismissal of the same fingerprint, as that ends it
	Restore []string              // fingerprints that are neither dismissed nor accepted any more
	// ByHand decides in the gate's place for HeadSHA against BaseRef, in the
	// place of an earlier decision for them.
	ByHand  *pipeline.HandDecision
	HeadSHA string
	BaseRef string
	// Resume lets an escalated fix loop continue.
	Resume bool
	Audit  *AuditEntry
	Notice string // to be said in the comment, in answer; empty for none
}

// AuditEntry is a line of the append-only log of what people decided.
type AuditEntry struct {
	At      time.Time
	RepoID  int64
	Key     string // of the target
	HeadSHA string
	Actor   string // login
	Action  string // the command's name
	Subject string // fingerprint, or empty
	Reason  string
	// AutoDecision is what would have been decided without a person, where models
	// took part in what was decided about by hand: pipeline.AutoHuman if that was
	// left to a person.
	AutoDecision pipeline.AutoDecision
}

// Rerun says how much of a review is done anew. The zero value runs every agent
// whose result can't be carried over from a review of an equal change.
type Rerun struct {
	// Full carries nothing over and reads config anew.
	Full bool `json:"full,omitempty"`
	// Agents, if set, are run anew; the others' results are carried over where
	// there is a review of the same head, and run where there is none.
	Agents []string `json:"agents,omitempty"`
	// Decide runs no agent for which the last review of the same head has a
	// result: only what people said has changed.
	Decide bool `json:"decide,omitempty"`
}

// maxRerunAgents is how many agents may be asked for by name; more are all of
// them.
const maxRerunAgents = 100

// And is what meets both asks. One that runs everything and one for some agents
// come to Full, since a result that the first may carry over from an equal
// change can be of an agent that the second names.
func (r Rerun) And(o Rerun) Rerun {
	r, o = r.Simple(), o.Simple()
	switch {
	case r.Decide:
		return o
	case o.Decide:
		return r
	case r.Full, o.Full, (r.Agents == nil) != (o.Agents == nil):
		return Rerun{Full: true}
	}
	return Rerun{Agents: slices.Concat(r.Agents, o.Agents)}.Simple()
}

// Simple is the same ask with one field set at most, and its agents in order.
func (r Rerun) Simple() Rerun {
	switch {
	case r.Full, len(r.Agents) > maxRerunAgents:
		return Rerun{Full: true}
	case len(r.Agents) > 0:
		agents := slices.Clone(r.Agents)
		slices.Sort(agents)
		agents = slices.Compact(agents)
		return Rerun{Agents: agents}
	}
	return Rerun{Decide: r.Decide}
}
