package aggregate

import (
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// incomplete lists everything that could not be known: parts of the facts, a failed stage, and
// agents that did not finish. A required agent that did not finish keeps the gate from passing,
// unless its policy says warn.
func incomplete(in *input) (out pipeline.List[pipeline.Incompleteness]) {
	by := in.acceptedUnread()
	for _, i := range in.Facts.Incomplete {
		if i.Gating && i.Unread() && by != "" {
			i.Gating, i.Why = false, i.Why+"; accepted unread by "+by
		}
		out = append(out, i)
	}
	if in.Failed != nil {
		out = append(out, *in.Failed)
	}
	finished := map[string]bool{}
	for _, res := range in.Results {
		finished[res.Agent] = true
	}
	for _, res := range in.Results {
		if done(res.Status) {
			continue
		}
		e := in.Manifest.Entry(res.Agent)
		switch res.Status {
		case pipeline.AgentNotAsked:
			if why := in.mustBeAsked(e, res.Agent); why != "" {
				out = append(out, pipeline.Incompleteness{What: "agent", Why: res.Agent + " was not asked about this head, and " + why + ": ask for a review again", Gating: true})
			}
			continue
		case pipeline.AgentWaiting:
			// The decision of the session is still to come.
			out = append(out, pipeline.Incompleteness{
				What: pipeline.IncompleteAnswer, Why: fmt.Sprintf("%s has not answered yet: %s", res.Agent, res.Note), Gating: blocking(e) || in.reviewsSessions(res.Agent),
			})
			continue
		}
		out = append(out, pipeline.Incompleteness{
			What: "agent", Why: fmt.Sprintf("%s %s: %s", res.Agent, ended(res.Status), res.Note), Gating: blocking(e) && !pipeline.Auxiliary(res.Agent),
		})
	}
	for i := range in.Manifest.Entries {
		e := &in.Manifest.Entries[i]
		if !finished[e.Agent] {
			out = append(out, pipeline.Incompleteness{What: "agent", Why: e.Agent + " did not run", Gating: blocking(e)})
		}
	}
	return out
}

// mustBeAsked says why the gate needs an agent that was not asked about this head. It returns "" if the gate
// does not need the agent. A reviewer of sessions can't be required before a coding agent reports, or about
// its own work, since it is not asked then.
func (in *input) mustBeAsked(e *pipeline.ManifestEntry, agent string) string {
	if head := in.unconfirmedBlocker(agent); head != "" {
		return fmt.Sprintf("its findings on %s block", head[:min(7, len(head))])
	}
	s := in.Session
	if s == nil || s.Before.Cycle == 0 || slices.Contains(s.Targets, agent) || !blocking(e) {
		return ""
	}
	return "it is required"
}

// reviewsSessions reports whether an agent's verdict counts in sessions.
func (in *input) reviewsSessions(agent string) bool {
	return slices.ContainsFunc(in.Config.Agents, func(a config.Agent) bool { return a.ID == agent && a.Session })
}

// acceptedUnread is the person who accepted that parts of this head could not be read, or "".
// finalUnknown ignores it: a final finding may be in those parts.
func (in *input) acceptedUnread() string {
	for _, a := range in.Memory.Accepted {
		if a.Fingerprint == pipeline.AcceptedUnread && in.Facts.Head.SHA != "" && a.Surroundings == pipeline.UnreadOn(in.Facts) {
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
func failedAgents(results []pipeline.AgentResult, manifest *pipeline.AgentManifest) map[string]bool {
	failed, ran := map[string]bool{}, map[string]bool{}
	for _, r := range results {
		ran[r.Agent] = true
		if !done(r.Status) && !pipeline.Auxiliary(r.Agent) {
			failed[r.Agent] = true
		}
	}
	for i := range manifest.Entries {
		if agent := manifest.Entries[i].Agent; !ran[agent] {
			failed[agent] = true
		}
	}
	return failed
}

func done(s pipeline.AgentStatus) bool { return s == pipeline.AgentOK || s == pipeline.AgentDiscarded }
