package analytics

import (
	"math"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// By is what the rows of a table are about.
type By string

// The tables.
const (
	ByRule       By = "rule"
	ByAgent      By = "agent"
	ByModel      By = "model"
	ByService    By = "service"
	ByRepository By = "repository"
	ByCategory   By = "category"
	ByWeek       By = "week"
)

// Tables lists what a table can be by.
func Tables() []By {
	return []By{ByRule, ByAgent, ByModel, ByService, ByRepository, ByCategory, ByWeek}
}

// Summary is what the logs of a period say. Its lists are in a fixed order, whatever the order of the
// logs.
type Summary struct {
	Since  time.Time            `json:"since"` // of the period; zero: everything
	By     By                   `json:"by"`    // of the only table, or empty
	Totals Totals               `json:"totals"`
	Hints  pipeline.List[Hint]  `json:"hints"`
	Tables pipeline.List[Table] `json:"tables"` // of models, agents and rules, or the one that By names
	// Calibration has a row for each model that stated its confidence.
	Calibration pipeline.List[Calibration] `json:"calibration"`
	Probation   pipeline.List[Candidate]   `json:"probation"` // as the server found it last, whatever Since is
	Services    pipeline.List[Service]     `json:"services"`

	models pipeline.List[Row] // whatever By is
}

// Totals are about all reviews of the period.
type Totals struct {
	PullRequests int       `json:"pull_requests"`
	Reviews      int       `json:"reviews"`
	Decisions    Decisions `json:"decisions"`
	Automatic    Automatic `json:"automatic"`
	Human        Human     `json:"human"`
	// AverageFixIterations is of all these pull requests: how many heads of one blocked before the
	// newest. It is null if there were no reviews.
	AverageFixIterations *float64 `json:"average_fix_iterations"`
	Failed               int      `json:"failed_pull_requests"` // those with a review that blocked
	Green                Green    `json:"time_to_green"`
	Findings             Findings `json:"findings"`
	// Blocking and Other sum up the judgements on rules: each rule has one in a pull request, and so
	// have each agent's findings without a rule.
	Blocking Precision `json:"blocking"`
	Other    Precision `json:"not_blocking"`
	CostUSD  float64   `json:"cost_usd"` // of questions to models, as far as prices are known

	fixIterations int
}

// Decisions counts reviews by decision.
type Decisions struct {
	Pass             int `json:"pass"`
	PassWithWarnings int `json:"pass_with_warnings"`
	NeedsFixes       int `json:"needs_fixes"`
	Fail             int `json:"fail"`
}

// Blocked counts the reviews that blocked.
func (d Decisions) Blocked() int { return d.NeedsFixes + d.Fail }

// Automatic counts reviews by what the models' confidence decided, whether or not the settings let it
// happen. NoModels counts those in which no model took part.
type Automatic struct {
	Approve          int `json:"auto_approve"`
	ApproveWithNotes int `json:"auto_approve_with_notes"`
	Reject           int `json:"auto_reject"`
	Human            int `json:"human"`
	NoModels         int `json:"no_models"`
}

// Human counts people's decisions about heads.
type Human struct {
	Override         int `json:"override"`
	Reject           int `json:"reject"`
	Approved         int `json:"github_approved"`          // on GitHub, although the gate failed
	ChangesRequested int `json:"github_changes_requested"` // on GitHub, although the gate passed
}

// Green is how long pull requests took from the first review, which blocked, to the first review that
// passed, or to an override that nobody took back by rejecting the same head. It is about those whose
// first review is in the period.
type Green struct {
	PullRequests  int    `json:"pull_requests"`  // that became green
	NotYet        int    `json:"not_yet"`        // that did not; those closed without merging are left out
	MedianSeconds *int64 `json:"median_seconds"` // null if no pull request became green
	P90Seconds    *int64 `json:"p90_seconds"`
}

// Findings counts findings by what became of them. The outcomes add up to Shown.
type Findings struct {
	Shown      int        `json:"shown"`
	Unshown    int        `json:"unshown"` // apart from Shown
	Outcomes   Outcomes   `json:"outcomes"`
	Dismissals Dismissals `json:"dismissals"` // the outcome dismissed, by class
}

// Outcomes counts findings by outcome.
type Outcomes struct {
	Fixed      int `json:"fixed"`
	Accepted   int `json:"accepted"`
	Dismissed  int `json:"dismissed"`
	Withdrawn  int `json:"withdrawn"`
	Obsolete   int `json:"obsolete"`
	NotRaised  int `json:"not_raised_again"`
	Overridden int `json:"overridden"`
	MergedOpen int `json:"merged_open"`
	Closed     int `json:"closed"`
	Open       int `json:"open"`
}

// of returns the counter of an outcome, or nil for an unshown finding.
func (o *Outcomes) of(what learning.Outcome) *int {
	switch what {
	case learning.OutcomeFixed:
		return &o.Fixed
	case learning.OutcomeAccepted:
		return &o.Accepted
	case learning.OutcomeDismissed:
		return &o.Dismissed
	case learning.OutcomeWithdrawn:
		return &o.Withdrawn
	case learning.OutcomeObsolete:
		return &o.Obsolete
	case learning.OutcomeNotRaised:
		return &o.NotRaised
	case learning.OutcomeOverridden:
		return &o.Overridden
	case learning.OutcomeMergedOpen:
		return &o.MergedOpen
	case learning.OutcomeClosed:
		return &o.Closed
	case learning.OutcomeOpen:
		return &o.Open
	}
	return nil
}

// Dismissals counts dismissed findings by class.
type Dismissals struct {
	FalsePositive int `json:"false_positive"`
	WontFix       int `json:"wont_fix"`
	Duplicate     int `json:"duplicate"`
	Other         int `json:"other"`
}

// of returns the counter of a class.
func (d *Dismissals) of(class learning.DismissalClass) *int {
	switch class {
	case learning.FalsePositive:
		return &d.FalsePositive
	case learning.WontFix:
		return &d.WontFix
	case learning.Duplicate:
		return &d.Duplicate
	}
	return &d.Other
}

// Addressed counts the findings that were right: fixed or accepted.
func (f *Findings) Addressed() int { return f.Outcomes.Fixed + f.Outcomes.Accepted }

// Final counts the shown findings whose outcome can't be expected to change.
func (f *Findings) Final() int { return f.Shown - f.Outcomes.Open }

// Table has rows, those with the most findings first. Weeks are in their order.
type Table struct {
	By   By                 `json:"by"`
	Rows pipeline.List[Row] `json:"rows"`
}

// Row is about the findings of one rule, agent, model, service, repository, category or week. A
// finding counts for each agent and each model that made it, and for each service that it concerns.
type Row struct {
	// Name is empty for findings without a rule, service or category. A week is written 2026-W07.
	Name     string `json:"name"`
	Agent    string `json:"agent"`    // of a rule
	Prompt   string `json:"prompt"`   // of a part: the digest of the agent's prompt
	Category string `json:"category"` // of a part
	// Reviews is null except for services, repositories and weeks.
	Reviews      *int `json:"reviews"`
	PullRequests int  `json:"pull_requests"` // in which a finding was shown
	Findings
	Blocking Precision `json:"blocking"`
	Other    Precision `json:"not_blocking"`
	// AddressedShare is of the findings with a final outcome. It is null if no finding has one.
	AddressedShare   *float64 `json:"addressed_share"`
	MedianFixSeconds *int64   `json:"median_fix_seconds"` // from the first review that had a finding; null if nothing was fixed
	// The costs are null except for agents and models with a known cost. CostPerAddressed is also null
	// if no finding was addressed.
	CostUSD          *float64 `json:"cost_usd"`
	CostPerAddressed *float64 `json:"cost_per_addressed_usd"`
	// Missed counts what a model never found and other models found: right findings of the same stage
	// and checklist, or of the same agent if that has none, on lines that it was asked about. It is
	// null except for models.
	Missed *int `json:"missed"`
	// Parts are a model's findings by prompt and category. Other rows have none.
	Parts pipeline.List[Row] `json:"parts"`
}

// Precision is how often findings were right, by judged pull requests.
type Precision struct {
	Shown  int `json:"shown"`  // pull requests in which such a finding was shown
	Judged int `json:"judged"` // those with a judgement
	Right  int `json:"right"`
	// Share is null if fewer than MinJudged or less than MinJudgedPercent of them were judged.
	Share *Share `json:"precision"`
}

// The judgements that a precision needs to be shown. A few say nothing, and if most pull requests
// have none, those that have one are a choice of the people who judged.
const (
	MinJudged        = 20
	MinJudgedPercent = 30
)

// Share is a share with its Wilson interval of 95 %.
type Share struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func newShare(part, of int) *Share {
	if of == 0 {
		return nil
	}
	low, high := learning.Wilson(part, of)
	return &Share{float64(part) / float64(of), low, high}
}

// decide sets the share if there are enough judgements.
func (p *Precision) decide() {
	if p.Share = nil; p.Judged >= MinJudged && 100*p.Judged >= MinJudgedPercent*p.Shown {
		p.Share = newShare(p.Right, p.Judged)
	}
}

func (p *Precision) add(o Precision) {
	p.Shown, p.Judged, p.Right = p.Shown+o.Shown, p.Judged+o.Judged, p.Right+o.Right
}

// Calibration compares the confidence that a model stated with how often it was right.
type Calibration struct {
	Model string             `json:"model"`
	Bins  pipeline.List[Bin] `json:"bins"` // always ten
}

// Bin is about the judged findings whose stated confidence is at least From and below To; the last
// bin includes 1.
type Bin struct {
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	Judged int     `json:"judged"`
	Right  int     `json:"right"`
	Share  *Share  `json:"share"` // null if nothing was judged
}

// Candidate is a rule or an agent that people of a repository judge wrong too often.
type Candidate struct {
	Repository string              `json:"repository"`
	Kind       ports.ProbationKind `json:"kind"`
	ID         string              `json:"id"`
	Judged     int                 `json:"judged"` // pull requests of the last year
	Right      int                 `json:"right"`
	People     int                 `json:"people"`    // who dismissed its findings as false positives, none an author of the change
	Precision  Share               `json:"precision"` // of the pull requests that were judged
	FoundAt    time.Time           `json:"found_at"`
}

func candidate(p *ports.RepositoryProbation) Candidate {
	right := int(math.Round(p.Precision * float64(p.Judged)))
	c := Candidate{Repository: p.Repository, Kind: p.Kind, ID: p.ID, Judged: p.Judged, Right: right, People: p.People, FoundAt: p.Since}
	if s := newShare(right, p.Judged); s != nil {
		c.Precision = *s
	}
	return c
}

// Service is a service with what keeps being found in it.
type Service struct {
	Service string               `json:"service"`
	Reviews int                  `json:"reviews"`
	Issues  pipeline.List[Issue] `json:"common_issues"` // the most frequent first, at most MaxIssues
}

// Issue is a rule, or else a category, that was found in several pull requests of a service. Findings
// that people dismissed as false positives do not count.
type Issue struct {
	Rule         string `json:"rule"`
	Category     string `json:"category"` // of findings without a rule
	PullRequests int    `json:"pull_requests"`
}

// Name is the rule or the category.
func (i Issue) Name() string {
	if i.Rule != "" {
		return i.Rule
	}
	return i.Category
}

// The issues of a service: at least as many pull requests must have one for it to be common.
const (
	MaxIssues      = 5
	minIssuesPulls = 2
)
