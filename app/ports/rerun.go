package ports

import (
	"slices"
)

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
