package render

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// SessionStatus is the status of the session of coding agents, for /review status.
type SessionStatus struct {
	// Cycle is the newest cycle. Running means that it is not decided yet. Stalled means that no
	// review is to come that could decide it.
	Cycle   int  `json:"cycle,omitempty"`
	Running bool `json:"running,omitempty"`
	Stalled bool `json:"stalled,omitempty"`
	// Decided is the cycle of the last decision, 0 before the first. Rule is the rule of that decision.
	Decided    int                    `json:"decided,omitempty"`
	Rule       int                    `json:"rule"`
	Escalation *pipeline.SessionPause `json:"escalation,omitempty"`
	Pause      *pipeline.SessionPause `json:"pause,omitempty"`
	Waiting    []string               `json:"waiting,omitempty"`   // reviewers whose answers are still to come
	Deadline   time.Time              `json:"deadline,omitzero"`   // for these answers
	Concerned  []string               `json:"concerned,omitempty"` // reviewers with open concerns
	Pending    int                    `json:"pending,omitempty"`   // events that wait for the next cycle
	FallbackAt time.Time              `json:"fallback_at,omitzero"`
}

// sessionStatus puts the state of a session into words.
func (nw noticeWords) sessionStatus(s *SessionStatus) []safe {
	var reasons []safe
	for _, by := range []*pauseLine{pauseOf(s.Escalation, 0, nw.p), pauseOf(s.Pause, 0, nw.p)} {
		if by != nil {
			reasons = append(reasons, say("paused by", by))
		}
	}
	out := []safe{say("status session", struct {
		Reasons       []safe
		Escalation    bool
		Decided, Rule int
	}{reasons, s.Escalation != nil, s.Decided, s.Rule})}
	if s.Running {
		out = append(out, say("status cycle", struct {
			Cycle   int
			Stalled bool
			Waiting *who
			Until   safe
		}{s.Cycle, s.Stalled, whoseOf(nw.p, s.Waiting), nw.moment(s.Deadline)}))
	}
	if s.Pending > 0 {
		out = append(out, say("status pending", s.Pending))
	}
	if open := whoseOf(nw.p, s.Concerned); open != nil {
		out = append(out, say("status concerns", open))
	}
	if !s.FallbackAt.IsZero() {
		out = append(out, say("status fallback", nw.moment(s.FallbackAt)))
	}
	return out
}

// whoseOf is whoOf, but returns nil if there are no names.
func whoseOf(p pen, names []string) *who {
	if len(names) == 0 {
		return nil
	}
	out := whoOf(p, names)
	return &out
}

// resumed says what a person resumed.
type resumed struct {
	Loop  bool
	Whose []safe // what had paused the session
}

func (nw noticeWords) resumed(n *Notice) resumed {
	out := resumed{Loop: n.Loop}
	for _, by := range []*pauseLine{pauseOf(n.Escalation, 0, nw.p), pauseOf(n.Pause, 0, nw.p)} {
		if by != nil {
			out.Whose = append(out.Whose, say("pause of", by))
		}
	}
	return out
}
