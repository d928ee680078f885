package backtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Evaluated says what would have changed if everything in evaluation had been enforced, and if the
// shadow config had been in force. It comes from what each review stored at the time, including the
// results of agents that a backtest can't run again.
type Evaluated struct {
	Reviews    int     `json:"reviews"`    // read
	Evaluation *Report `json:"evaluation"` // of the reviews in which something was in evaluation
	Shadow     *Report `json:"shadow"`     // of the reviews with a shadow
	// Failed are reviews that were altered since they were stored, at most MaxListed.
	Failed     pipeline.List[Failed] `json:"failed"`
	FailedMore int                   `json:"failed_more"`
}

// Evaluate reads the evaluations and shadows of the chosen reviews of an archive.
func Evaluate(ctx context.Context, from ports.Archive, which ports.ReviewFilter) (*Evaluated, error) {
	reviews, altered := 0, newTally()
	both := []*tried{{of: evaluationOf, out: newTally()}, {of: shadowOf, out: newTally()}}
	err := chains(ctx, from, which, walk{
		begin: func(key string) {
			for _, t := range both {
				t.chain, t.last = newChain(key), nil
			}
		},
		one: func(s *ports.StoredReview) error {
			reviews++
			for _, t := range both {
				t.add(s)
			}
			return nil
		},
		end: func(how ports.PullEnd) {
			for _, t := range both {
				t.chain.end(t.out, how)
			}
		},
		bad: altered.failed,
	})
	if err != nil {
		return nil, err
	}
	return &Evaluated{
		Reviews: reviews, Evaluation: both[0].out.report(), Shadow: both[1].out.report(),
		Failed: altered.Failed, FailedMore: altered.FailedMore,
	}, nil
}

// tried collects one kind of trial: what was in evaluation, or the shadow config.
type tried struct {
	of    func(s *ports.StoredReview, last *beside) *beside // nil if the review has no such trial
	out   *tally
	chain *chain
	last  *beside // of the pull request's last review with a trial
}

// beside is a review as it would have been if the trial had counted.
type beside struct {
	side
	head  string
	found []pipeline.Finding // that only the trial has
	more  bool               // and others, which are not stored
	// version is the config's. With another one, nobody knows why a finding is gone.
	version string
	note    string // why there is nothing
}

// add takes in a review.
func (t *tried) add(s *ports.StoredReview) {
	now := t.of(s, t.last)
	switch {
	case now == nil: // the trial has ended, but people may still decide about what it found
		for _, p := range t.chain.pending {
			p.note(s)
		}
		return
	case now.note != "":
		t.out.failed(Failed{Run: s.RunID, Pull: s.Review.Facts.PullName(), Why: now.note})
		return
	}
	now.head = s.HeadSHA
	t.last = now
	t.chain.add(t.out, s, side{report: &s.Review.Report}, now.side)
}

// evaluationOf returns a review as if everything in evaluation had been enforced.
func evaluationOf(s *ports.StoredReview, _ *beside) *beside {
	e := s.Review.Report.Evaluation
	if e == nil {
		return nil
	}
	now := s.Review.Report
	now.ByHand, now.Decision = nil, e.Decision
	if e.Condition != "" {
		now.Gate.Condition = e.Condition
	}
	now.Findings = slices.Concat(now.Findings, e.Findings)
	now.Changes.Resolved = e.Resolved
	out := &beside{side: side{report: &now}, note: e.Note}
	for _, c := range e.Coverage {
		if c.Status != pipeline.AgentOK {
			out.unknown = append(out.unknown, "what "+c.Agent+" would find")
			out.agents = append(out.agents, c.Agent)
		}
	}
	return out
}

// shadowOf returns a review as if the shadow config had been in force.
func shadowOf(s *ports.StoredReview, last *beside) *beside {
	sh := s.Review.Shadow
	if sh == nil {
		return nil
	}
	now := s.Review.Report
	now.ByHand, now.Decision, now.Gate.Condition = nil, sh.Decision, sh.Condition
	now.Findings = slices.DeleteFunc(slices.Clone(now.Findings), func(f pipeline.Finding) bool { return slices.Contains(sh.Gone, f.ID) })
	for _, r := range sh.Regraded {
		if i := slices.IndexFunc(now.Findings, func(f pipeline.Finding) bool { return f.ID == r.ID }); i >= 0 {
			now.Findings[i].GateSeverity = r.Severity
		}
	}
	now.Findings = append(now.Findings, sh.New...)
	out := &beside{
		side:    side{report: &now, unknown: sh.Unknown, agents: sh.Agents, either: sh.Either},
		version: sh.Version, found: sh.New, more: sh.NewMore+sh.GoneMore > 0, note: sh.Note,
	}
	now.Changes.Resolved = out.resolved(last, s.HeadSHA)
	return out
}

// resolved returns the findings of an earlier head that are gone, as far as that is certain: a model
// may be silent about code that is still there.
func (b *beside) resolved(last *beside, head string) []pipeline.Finding {
	if last == nil || last.head == head || last.version != b.version || b.more {
		return nil
	}
	return slices.DeleteFunc(pipeline.OnlyIn(last.found, b.report.Findings), func(f pipeline.Finding) bool {
		return f.Model != "" || slices.Contains(b.agents, f.Agent)
	})
}

// EvaluatedText writes both reports for a terminal.
func EvaluatedText(e *Evaluated) string {
	var b strings.Builder
	part(&b, "What is in evaluation, if it had been enforced", e.Evaluation,
		"In none of these reviews was anything in evaluation. Set \"mode\": \"evaluate\" on a rule, a policy or an agent.")
	b.WriteString("\n")
	part(&b, "The server's shadow config, if it had been in force", e.Shadow,
		"None of these reviews has a shadow. Set REVIEWGATE_SHADOW_CONFIG_DIR of the server.")
	notComputed(&b, e.Failed, e.FailedMore)
	return b.String()
}

// part writes a report below its title. If the report has no review, it writes none instead.
func part(b *strings.Builder, title string, r *Report, none string) {
	fmt.Fprintf(b, "%s\n\n", title)
	if r.Reviews+len(r.Failed) == 0 {
		fmt.Fprintln(b, none)
		return
	}
	b.WriteString(Text(r))
}

// EvaluatedMarkdown is the same in a block of code, in which nothing is active.
func EvaluatedMarkdown(e *Evaluated) string { return fenced(EvaluatedText(e)) }
