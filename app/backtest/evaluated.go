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
// shadow config had been in force. It is computed from what reviews stored at the time, also of
// agents that a backtest can't run again.
type Evaluated struct {
	Reviews    int     `json:"reviews"`    // read
	Evaluation *Report `json:"evaluation"` // of the reviews in which something was in evaluation
	Shadow     *Report `json:"shadow"`     // of the reviews with a shadow
}

// Evaluate reads the evaluations and shadows of the chosen reviews of an archive.
func Evaluate(ctx context.Context, from ports.Archive, which ports.ReviewFilter) (*Evaluated, error) {
	out := &Evaluated{}
	evaluation, shadow := newTried(evaluationOf), newTried(shadowOf)
	var own *chain
	err := chains(ctx, from, which, walk{
		one: func(c *chain, s *ports.StoredReview) error {
			if c != own {
				own = c
				evaluation.begin(c.key)
				shadow.begin(c.key)
			}
			out.Reviews++
			evaluation.add(s)
			shadow.add(s)
			return nil
		},
		end: func(_ *chain, how ports.PullEnd) {
			evaluation.chain.end(evaluation.out, how)
			shadow.chain.end(shadow.out, how)
		},
		bad: func(f Failed) {
			evaluation.out.failed(f)
			shadow.out.failed(f)
		},
	})
	if err != nil {
		return nil, err
	}
	out.Evaluation, out.Shadow = evaluation.out.report(), shadow.out.report()
	return out, nil
}

// trial is what a review stored of something that was tried beside it.
type trial struct {
	side
	version string             // of the config
	found   []pipeline.Finding // that only the trial found
	ended   func(agent string) bool
	note    string // why there is nothing
}

// tried collects one kind of trial.
type tried struct {
	of    func(*pipeline.Review) *trial // nil if a review has none
	out   *tally
	chain *chain
	last  *trial // of the pull request's last review
}

func newTried(of func(*pipeline.Review) *trial) *tried { return &tried{of: of, out: newTally()} }

// begin begins the next pull request.
func (t *tried) begin(key string) { t.chain, t.last = newChain(key), nil }

// add takes in a review.
func (t *tried) add(s *ports.StoredReview) {
	now := t.of(&s.Review)
	if now == nil {
		return
	}
	if now.note != "" {
		t.out.failed(Failed{Run: s.RunID, Pull: s.Review.Facts.PullName(), Why: now.note})
		return
	}
	now.report.Changes.Resolved = nil
	if t.last != nil && t.last.version == now.version {
		gone := pipeline.OnlyIn(t.last.found, now.report.Findings)
		now.report.Changes.Resolved = slices.DeleteFunc(gone, func(f pipeline.Finding) bool { return !now.ended(f.Agent) })
	}
	t.last = now
	t.chain.add(t.out, s, side{report: &s.Review.Report}, now.side)
}

// evaluationOf returns what was in evaluation in a review.
func evaluationOf(v *pipeline.Review) *trial {
	e := v.Report.Evaluation
	if e == nil {
		return nil
	}
	now := v.Report
	now.ByHand, now.Decision = nil, e.Decision
	if e.Condition != "" {
		now.Gate.Condition = e.Condition
	}
	now.Findings = slices.Concat(now.Findings, e.Findings)
	return &trial{
		side: side{report: &now}, version: v.Report.ConfigVersion, found: e.Findings, note: e.Note,
		ended: func(agent string) bool {
			return !slices.ContainsFunc(e.Coverage, func(c pipeline.Coverage) bool { return c.Agent == agent && c.Status != pipeline.AgentOK })
		},
	}
}

// shadowOf returns what a review was under the shadow config.
func shadowOf(v *pipeline.Review) *trial {
	sh := v.Shadow
	if sh == nil {
		return nil
	}
	now := v.Report
	now.ByHand, now.Decision, now.Gate.Condition = nil, sh.Decision, sh.Condition
	now.Findings = slices.DeleteFunc(slices.Clone(now.Findings), func(f pipeline.Finding) bool { return slices.Contains(sh.Gone, f.ID) })
	for _, r := range sh.Regraded {
		if i := slices.IndexFunc(now.Findings, func(f pipeline.Finding) bool { return f.ID == r.ID }); i >= 0 {
			now.Findings[i].GateSeverity = r.Severity
		}
	}
	now.Findings = append(now.Findings, sh.New...)
	return &trial{
		side:    side{report: &now, unknown: sh.Unknown, agents: sh.Agents, either: sh.Either},
		version: sh.Version, found: sh.New, note: sh.Note,
		ended: func(agent string) bool { return !slices.Contains(sh.Agents, agent) },
	}
}

// EvaluatedText is what was evaluated for a terminal.
func EvaluatedText(e *Evaluated) string {
	var b strings.Builder
	part(&b, "What is in evaluation, if it had been enforced", e.Evaluation,
		"In none of these reviews was anything in evaluation. Set \"mode\": \"evaluate\" on a rule, a policy or an agent.")
	b.WriteString("\n")
	part(&b, "The server's shadow config, if it had been in force", e.Shadow,
		"None of these reviews has a shadow. Set REVIEWGATE_SHADOW_CONFIG_DIR of the server.")
	return b.String()
}

// part writes one report below its title, or why there is none.
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
