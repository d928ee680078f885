package sessions

import (
	"fmt"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	policy "github.com/reviewgate/reviewgate/policies/sessions"
)

// clarificationRequest is the body of a clarification, for remote reviewers of the cycle.
type clarificationRequest struct {
	Type          string   `json:"type"` // ports.RequestClarification
	ID            string   `json:"id"`
	Repository    string   `json:"repository"`
	Number        int      `json:"number"`
	HeadSHA       string   `json:"head_sha"`
	Cycle         int      `json:"cycle"`
	Rule          int      `json:"rule"`
	Reviewers     []string `json:"reviewers"`
	Targets       []string `json:"targets"`
	Clarification string   `json:"clarification"`
}

// escalation is the body of an escalation.
type escalation struct {
	Type       string   `json:"type"` // ports.RequestEscalation
	ID         string   `json:"id"`
	Repository string   `json:"repository"`
	Number     int      `json:"number"`
	HeadSHA    string   `json:"head_sha"`
	URL        string   `json:"url"` // of the pull request
	Cycle      int      `json:"cycle"`
	Reviewers  []string `json:"reviewers"` // who found a blocker
	Targets    []string `json:"targets"`
	Summary    string   `json:"summary"` // of the first of them
	People     []string `json:"people"`
}

// sendFor is how long the server tries to send a message that needs no answer.
const sendFor = 10 * time.Minute

// Outcome returns what a review changes in its session when it is published.
func (k *Keeper) Outcome(r *pipeline.Review, key string, cfg *config.Config) (out ports.SessionOutcome) {
	s, rep := r.Session, r.Report.Session
	if s == nil {
		return out
	}
	if s.Cycle != nil && r.Failed == "" && (rep == nil || !rep.Decided && len(rep.Reviewers) == 0) {
		out.Cycle = s.Cycle.Number // nobody could be asked
	}
	if rep == nil {
		return out
	}
	if rep.Decided {
		out.Cycle = s.Cycle.Number
	}
	resumed := rep.State.Resumes > s.Before.Resumes
	if rep.Decided || resumed {
		state := rep.State
		out.State = &state
		switch {
		case state.Paused():
			out.Fallback = -1
		case s.Before.Paused() && (resumed || !s.Cycle.Fallback()), // work goes on
			rep.Decided && rep.Rule == 4 && !s.Cycle.Fallback() && s.Before.Cycle != s.Cycle.Number: // its first decision
			out.Fallback = k.minutes(cfg.Settings.Sessions.Fallback)
		}
	}
	if rep.Decided {
		out.Requests = k.messages(r, key, cfg)
	}
	return out
}

// messages returns the clarification and the escalation that follow from a decision, if they are new.
func (k *Keeper) messages(r *pipeline.Review, key string, cfg *config.Config) (out []ports.SessionRequest) {
	s, state := r.Session, &r.Report.Session.State
	base := func(kind ports.RequestKind, agent string) ports.SessionRequest {
		return ports.SessionRequest{
			ID: newID(), Kind: kind, Key: key, Cycle: state.Cycle, HeadSHA: state.HeadSHA, Agent: agent,
			AskedAt: k.Now(), Deadline: k.Now().Add(sendFor),
		}
	}
	if p := state.Pause; policy.Pauses(&s.Before, state) {
		for i := range s.Asked {
			if !s.Asked[i].Session || s.Asked[i].Cycle != state.Cycle {
				continue
			}
			q := base(ports.RequestClarification, s.Asked[i].Reviewer)
			q.Body = encode(clarificationRequest{
				Type: string(q.Kind), ID: q.ID, Repository: r.Facts.Repository.FullName(), Number: r.Facts.Number, HeadSHA: q.HeadSHA,
				Cycle: p.Cycle, Rule: p.Rule, Reviewers: p.Reviewers, Targets: list(s.Cycle.Targets), Clarification: p.Clarification,
			})
			out = append(out, q)
		}
	}
	if e := state.Escalation; policy.Escalates(&s.Before, state) {
		if _, _, ok := k.Receiver(""); ok {
			q := base(ports.RequestEscalation, "")
			body := escalation{
				Type: string(q.Kind), ID: q.ID, Repository: r.Facts.Repository.FullName(), Number: r.Facts.Number, HeadSHA: q.HeadSHA,
				URL:   fmt.Sprintf("%s/%s/pull/%d", k.WebURL, r.Facts.Repository.FullName(), r.Facts.Number),
				Cycle: e.Cycle, Reviewers: e.Reviewers, Targets: list(s.Cycle.Targets), People: list(cfg.Settings.Sessions.People),
			}
			for _, row := range r.Report.Session.Reviewers {
				if row.Verdict == pipeline.SessionBlocker && body.Summary == "" {
					body.Summary = row.Summary
				}
			}
			q.Body = encode(body)
			out = append(out, q)
		}
	}
	return out
}

// list returns a list that is never null in JSON.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}
