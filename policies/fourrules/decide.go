package fourrules

import (
	"cmp"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Verdict is a reviewer's answer in one word.
type Verdict string

// These are all the verdicts.
const (
	Approved Verdict = "approved"
	Concerns Verdict = "concerns"
	Blocker  Verdict = "blocker"
)

// rank is greater for a worse verdict. An unknown verdict is the worst.
func (v Verdict) rank() int {
	if i := slices.Index([]Verdict{Approved, Concerns, Blocker}, v); i >= 0 {
		return i
	}
	return 3
}

// TypeResult is the type of a review result.
const TypeResult = "review_result"

// Result is one reviewer's answer (review_result).
type Result struct {
	Type string `json:"type"` // TypeResult
	// ID is the id of the request that the result answers. It may be empty.
	ID        string    `json:"id,omitempty"`
	Reviewer  string    `json:"reviewer"`
	Timestamp time.Time `json:"timestamp"`
	Payload   Payload   `json:"payload"`
}

// Payload is the content of a reviewer's answer.
type Payload struct {
	Verdict Verdict              `json:"verdict"`
	Summary string               `json:"summary"`
	Issues  pipeline.List[Issue] `json:"issues"`
}

// Issue is one issue that a reviewer found. File is empty if the issue is not about a single file. Line
// is its line in the file, from 1, or 0 if it is about the whole file.
type Issue struct {
	Severity    pipeline.Severity `json:"severity"`
	Description string            `json:"description"`
	File        string            `json:"file"`
	Line        int               `json:"line,omitempty"`
}

// Action is what to do after a cycle's verdicts.
type Action string

// These are the actions.
const (
	StopAndEscalate Action = "stop_and_escalate"
	PauseAndClarify Action = "pause_and_clarify"
	LogAndContinue  Action = "log_and_continue"
	Continue        Action = "continue"
)

// Status says whether work goes on.
type Status string

// These are the statuses.
const (
	Paused  Status = "PAUSED"
	Running Status = "RUNNING"
)

// Decision is the result of the rules.
type Decision struct {
	Rule    int    `json:"rule"` // 1 to 4, or 0 if an answer is missing
	Action  Action `json:"action"`
	Status  Status `json:"status"`
	Flagged bool   `json:"flagged"` // whether work continues with an open concern
	// Issues are the issues of all reviewers, the worst first, then by reviewer, file and
	// description. A blocker or concern without issues has one issue with its summary.
	Issues pipeline.List[RaisedIssue] `json:"issues"`
	// Clarification is the prompt for the agents that must settle the reviewers' disagreement. It
	// is empty unless the action is PauseAndClarify, and has at most MaxClarification characters.
	Clarification string `json:"clarification"`
	// Missing are the reviewers who did not answer, in the order in which they were asked.
	Missing []string `json:"-"`
}

// RaisedIssue is an issue with the reviewer who raised it.
type RaisedIssue struct {
	Reviewer    string            `json:"reviewer"`
	Severity    pipeline.Severity `json:"severity"`
	Description string            `json:"description"`
	File        string            `json:"file"`
	Line        int               `json:"line,omitempty"`
}

// Decide applies the rules to the verdicts of one cycle. asked are the reviewers who were asked and must
// all answer; nil means those in the results. If a reviewer answered several times, the latest answer
// counts (see Latest). The first rule that applies decides:
//
//	1  any blocker
//	2  two or more concerns
//	0  no answer from somebody who was asked, or no answer at all
//	3  exactly one concern
//	4  all approved
func Decide(results []Result, asked []string) Decision {
	results = Latest(results)
	concerns, blockers := 0, 0
	for i := range results {
		switch results[i].Payload.Verdict {
		case Approved:
		case Concerns:
			concerns++
		default:
			blockers++ // an unknown verdict is not an approval
		}
	}
	d := Decision{Issues: issues(results), Missing: missing(results, asked)}
	switch {
	case blockers > 0:
		d.Rule, d.Action, d.Status = 1, StopAndEscalate, Paused
	case concerns >= 2:
		d.Rule, d.Action, d.Status = 2, PauseAndClarify, Paused
		d.Clarification = clarification(results, d.Issues, d.Missing)
	case len(results) == 0 || len(d.Missing) > 0:
		d.Rule, d.Action, d.Status = 0, PauseAndClarify, Paused
		d.Clarification = clarification(results, d.Issues, d.Missing)
	case concerns == 1:
		d.Rule, d.Action, d.Status, d.Flagged = 3, LogAndContinue, Running, true
	default:
		d.Rule, d.Action, d.Status = 4, Continue, Running
	}
	return d
}

// missing lists the reviewers who were asked but are not in the results, each once.
func missing(results []Result, asked []string) (out []string) {
	for _, name := range asked {
		answered := slices.ContainsFunc(results, func(r Result) bool { return r.Reviewer == name })
		if !answered && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Latest returns one result for each reviewer, by name: the one with the latest timestamp. If
// several have the same timestamp, the worst verdict counts. It does not change the given results.
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
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Description, b.Description),
	)
}

// issues lists the issues that the reviewers raise.
func issues(results []Result) pipeline.List[RaisedIssue] {
	var out pipeline.List[RaisedIssue]
	for i := range results {
		r := &results[i]
		for _, x := range r.Payload.Issues {
			out = append(out, RaisedIssue{r.Reviewer, x.Severity, x.Description, x.File, x.Line})
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
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Description, b.Description),
		)
	})
	return out
}

// severityOf returns the severity of a verdict whose reviewer names no issue.
func severityOf(v Verdict) pipeline.Severity {
	if v == Concerns {
		return pipeline.SeverityWarning
	}
	return pipeline.SeverityCritical
}
