package fourrules

import (
	"cmp"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Verdict is a reviewer's answer in one word.
type Verdict string

// The closed set of verdicts.
const (
	Approved Verdict = "approved"
	Concerns Verdict = "concerns"
	Blocker  Verdict = "blocker"
)

// rank is greater for what is worse. An unknown verdict is the worst.
func (v Verdict) rank() int {
	if i := slices.Index([]Verdict{Approved, Concerns, Blocker}, v); i >= 0 {
		return i
	}
	return 3
}

// TypeResult is the type that a review result names.
const TypeResult = "review_result"

// Result is one reviewer's answer (review_result).
type Result struct {
	Type      string    `json:"type"` // TypeResult
	Reviewer  string    `json:"reviewer"`
	Timestamp time.Time `json:"timestamp"`
	Payload   Payload   `json:"payload"`
}

// Payload is what a reviewer says.
type Payload struct {
	Verdict Verdict              `json:"verdict"`
	Summary string               `json:"summary"`
	Issues  pipeline.List[Issue] `json:"issues"`
}

// Issue is one thing that a reviewer found. File is empty where it is about no
// single file.
type Issue struct {
	Severity    pipeline.Severity `json:"severity"`
	Description string            `json:"description"`
	File        string            `json:"file"`
}

// Action is what is done about a cycle's verdicts.
type Action string

// The actions.
const (
	StopAndEscalate Action = "stop_and_escalate"
	PauseAndClarify Action = "pause_and_clarify"
	LogAndContinue  Action = "log_and_continue"
	Continue        Action = "continue"
)

// Status says whether work goes on.
type Status string

// The statuses.
const (
	Paused  Status = "PAUSED"
	Running Status = "RUNNING"
)

// Decision is what the rules come to.
type Decision struct {
	Rule    int    `json:"rule"` // 1 to 4, 0 where nobody answered
	Action  Action `json:"action"`
	Status  Status `json:"status"`
	Flagged bool   `json:"flagged"` // work goes on with a concern on the list
	// Issues are those of all reviewers, the worst first, then by reviewer, file
	// and description. A blocker or concern that names none stands there with
	// its summary.
	Issues pipeline.List[RaisedIssue] `json:"issues"`
	// Clarification is the prompt for the agents that have to settle what the
	// reviewers disagree about: empty unless the action is PauseAndClarify. It
	// has at most MaxClarification characters.
	Clarification string `json:"clarification"`
}

// RaisedIssue is an issue with who raised it.
type RaisedIssue struct {
	Reviewer    string            `json:"reviewer"`
	Severity    pipeline.Severity `json:"severity"`
	Description string            `json:"description"`
	File        string            `json:"file"`
}

// Decide applies the rules to the verdicts of one cycle. Of a reviewer who
// answered several times the latest answer counts (see Latest), and summaries
// are cut to MaxWords.
func Decide(results []Result) Decision {
	results = Latest(results)
	for i := range results {
		results[i].Payload.Summary = Cut(results[i].Payload.Summary, MaxWords)
	}
	concerns, blockers := 0, 0
	for i := range results {
		switch results[i].Payload.Verdict {
		case Approved:
		case Concerns:
			concerns++
		default:
			blockers++ // what is not known is no approval
		}
	}
	d := Decision{Issues: issues(results)}
	switch {
	case len(results) == 0:
		d.Rule, d.Action, d.Status = 0, PauseAndClarify, Paused
		d.Clarification = nobodyAnswered
	case blockers > 0:
		d.Rule, d.Action, d.Status = 1, StopAndEscalate, Paused
	case concerns >= 2:
		d.Rule, d.Action, d.Status = 2, PauseAndClarify, Paused
		d.Clarification = clarification(results, d.Issues)
	case concerns == 1:
		d.Rule, d.Action, d.Status, d.Flagged = 3, LogAndContinue, Running, true
	default:
		d.Rule, d.Action, d.Status = 4, Continue, Running
	}
	return d
}

// Latest returns one result for each reviewer, by name: that with the latest
// timestamp. Of several at the same time the worst verdict counts. The given
// results are not changed.
func Latest(results []Result) []Result {
	sorted := slices.Clone(results)
	slices.SortFunc(sorted, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(a.Reviewer, b.Reviewer),
			b.Timestamp.Compare(a.Timestamp),
			cmp.Compare(b.Payload.Verdict.rank(), a.Payload.Verdict.rank()),
			cmp.Compare(a.Payload.Summary, b.Payload.Summary),
			slices.CompareFunc(a.Payload.Issues, b.Payload.Issues, byContent),
		)
	})
	return slices.CompactFunc(sorted, func(a, b Result) bool { return a.Reviewer == b.Reviewer })
}

func byContent(a, b Issue) int {
	return cmp.Or(
		cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Description, b.Description),
	)
}

// issues lists what the reviewers raise.
func issues(results []Result) pipeline.List[RaisedIssue] {
	var out pipeline.List[RaisedIssue]
	for i := range results {
		r := &results[i]
		for _, x := range r.Payload.Issues {
			out = append(out, RaisedIssue{r.Reviewer, x.Severity, x.Description, x.File})
		}
		if len(r.Payload.Issues) == 0 && r.Payload.Verdict != Approved {
			out = append(out, RaisedIssue{Reviewer: r.Reviewer, Severity: severityOf(r.Payload.Verdict), Description: r.Payload.Summary})
		}
	}
	slices.SortFunc(out, func(a, b RaisedIssue) int {
		return cmp.Or(
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()),
			cmp.Compare(a.Reviewer, b.Reviewer),
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Description, b.Description),
		)
	})
	return out
}

// severityOf is how bad a verdict is whose reviewer names no issue.
func severityOf(v Verdict) pipeline.Severity {
	if v == Concerns {
		return pipeline.SeverityWarning
	}
	return pipeline.SeverityCritical
}
