package ports

import (
	"slices"
)

// Rerun is how much of a review runs again. The zero value runs every agent whose result
// can't be reused from a review of an equal change.
type Rerun struct {
	// Full reuses nothing and reads config again.
	Full bool `json:"full,omitempty"`
	// Agents, if set, run again. The others' results are reused from a review of the same
	// head; without such a review they run, too.
	Agents []string `json:"agents,omitempty"`
	// Decide runs no agent that has a result in the last review of the same head: only
	// people's decisions have changed.
	Decide bool `json:"decide,omitempty"`
}

// maxRerunAgents is how many agents an ask may name. An ask with more becomes Full.
const maxRerunAgents = 100

// And returns a Rerun that satisfies both asks. A zero Rerun and one for named agents
// become Full, because the first may reuse a result of an agent that the second names.
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

// Simple returns the same ask with at most one field set and sorted agents.
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
