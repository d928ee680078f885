package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// incomplete lists everything that could not be known: parts of the facts, a failed stage, and
// agents that did not finish. A required agent that did not finish keeps the gate from passing,
// unless its policy says warn.
func (w *work) incomplete() {
	r := &w.report
	by := w.inputs.acceptedUnread()
	for _, i := range w.in.Facts.Incomplete {
		if i.Gating && i.Unread() && by != "" {
			i.Gating, i.Why = false, i.Why+"; accepted unread by "+by
		}
		r.Incomplete = append(r.Incomplete, i)
	}
	if w.in.Failed != nil {
		r.Incomplete = append(r.Incomplete, *w.in.Failed)
	}
	finished := map[string]bool{}
	for _, res := range w.in.Results {
		finished[res.Agent] = true
	}
	for _, res := range w.in.Results {
		if done(res.Status) {
			continue
		}
		e := w.in.Manifest.Entry(res.Agent)
		r.Incomplete = append(r.Incomplete, pipeline.Incompleteness{
			What: "agent", Why: fmt.Sprintf("%s %s: %s", res.Agent, ended(res.Status), res.Note), Gating: blocking(e) && !pipeline.Auxiliary(res.Agent),
		})
	}
	for i := range w.in.Manifest.Entries {
		e := &w.in.Manifest.Entries[i]
		if !finished[e.Agent] {
			r.Incomplete = append(r.Incomplete, pipeline.Incompleteness{What: "agent", Why: e.Agent + " did not run", Gating: blocking(e)})
		}
	}
}

// acceptedUnread is the person who accepted that parts of this head could not be read, or "".
// finalUnknown ignores it: a final finding may be in those parts.
func (c *inputs) acceptedUnread() string {
	for _, a := range c.in.Memory.Accepted {
		if a.Fingerprint == pipeline.AcceptedUnread && c.in.Facts.Head.SHA != "" && a.Surroundings == pipeline.UnreadOn(c.in.Facts) {
			return a.By
		}
	}
	return ""
}

// blocking reports whether the gate needs the agent. It needs an agent that the manifest doesn't
// know, since nothing says otherwise.
func blocking(e *pipeline.ManifestEntry) bool {
	return e == nil || e.Required && e.OnFailure != pipeline.OnFailureWarn
}

func ended(s pipeline.AgentStatus) string {
	switch s {
	case pipeline.AgentTimedOut:
		return "timed out"
	case pipeline.AgentMalformed:
		return "gave an answer that can't be read"
	case pipeline.AgentSkipped:
		return "was skipped"
	}
	return "failed"
}

// failedAgents are agents with a review that did not finish, and agents that should have run but
// did not.
func (c *inputs) failedAgents() map[string]bool {
	failed, ran := map[string]bool{}, map[string]bool{}
	for _, r := range c.in.Results {
		ran[r.Agent] = true
		if !done(r.Status) && !pipeline.Auxiliary(r.Agent) {
			failed[r.Agent] = true
		}
	}
	for i := range c.in.Manifest.Entries {
		if agent := c.in.Manifest.Entries[i].Agent; !ran[agent] {
			failed[agent] = true
		}
	}
	return failed
}

func done(s pipeline.AgentStatus) bool { return s == pipeline.AgentOK || s == pipeline.AgentDiscarded }
