package learning

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Kind is the kind of an entry.
type Kind string

// The kinds of entries. All but KindReview are amendments.
const (
	KindReview   Kind = "review"   // a review was published
	KindJudged   Kind = "judged"   // a person dismissed, accepted or restored a finding
	KindDecided  Kind = "decided"  // a person decided in the gate's place, or contradicted it on GitHub
	KindClosed   Kind = "closed"   // the pull request was closed without merging
	KindMerged   Kind = "merged"   // the pull request was merged
	KindReopened Kind = "reopened" // the pull request was opened again
)

// Entry is one entry of a pull request's log. Exactly the part that belongs to Kind is set; the kinds
// about the end of a pull request have none.
type Entry struct {
	// Event identifies what the entry is about, within its pull request: the review's run, the
	// command's comment, or the time of the event. An event has one entry, however often it arrives.
	Event      string    `json:"event"`
	Kind       Kind      `json:"kind"`
	At         time.Time `json:"at"`         // of reviews by the server's clock, otherwise by GitHub's
	Repository string    `json:"repository"` // owner/name at the time
	// RepositoryID is GitHub's number of the repository, whatever its name. The store sets it.
	RepositoryID int64    `json:"repository_id,omitempty"`
	Number       int      `json:"number"`
	Review       *Review  `json:"review,omitempty"`
	Judged       *Judged  `json:"judged,omitempty"`
	Decided      *Decided `json:"decided,omitempty"`
}

// Review is what an entry keeps of a review.
type Review struct {
	HeadSHA       string                `json:"head_sha"`
	BaseRef       string                `json:"base_ref"`
	BaseSHA       string                `json:"base_sha"`
	ConfigVersion string                `json:"config_version"`
	Version       string                `json:"version"` // of reviewgate
	Iteration     int                   `json:"iteration"`
	Services      pipeline.List[string] `json:"services"`
	Decision      pipeline.Decision     `json:"decision"`
	Condition     string                `json:"condition"` // of the gate
	Strategy      string                `json:"strategy,omitempty"`
	Confidence    float64               `json:"confidence,omitempty"`
	AutoDecision  pipeline.AutoDecision `json:"auto_decision,omitempty"` // empty if no model took part
	FixIterations int                   `json:"fix_iterations"`          // earlier heads that blocked
	DurationMS    float64               `json:"duration_ms"`
	Stages        pipeline.List[Stage]  `json:"stages,omitempty"` // those that models reviewed
	Use           pipeline.List[Use]    `json:"use,omitempty"`    // by agent and model
	Asked         pipeline.List[Asked]  `json:"asked,omitempty"`
	// Findings are at most MaxFindings. What is left out comes with a later review, if it still differs
	// from what the log says.
	Findings pipeline.List[Finding] `json:"findings"` // those that are new or have changed since the last entry
	// Residual counts findings that were too unsure to be shown.
	Residual int `json:"residual,omitempty"`
}

// The bounds of one entry.
const (
	MaxFindings = 2000
	MaxAsked    = 500 // ranges of lines that one model was asked about
)

// The bounds of one log. After them, reviews are still in it, but nothing new of their findings.
const (
	maxRows   = 20_000 // findings of all reviews
	maxRanges = 20_000 // of lines
)

// Stage is what models said in one stage of a review.
type Stage struct {
	Stage          string                 `json:"stage"`
	Models         pipeline.List[Verdict] `json:"models"` // the weaker first
	Agreed         int                    `json:"agreed"`
	Only           pipeline.List[OnlyOne] `json:"only"` // one for each model, as Models
	Contradictions int                    `json:"contradictions"`
}

// Verdict is what one model said in a stage.
type Verdict struct {
	Model   string           `json:"model"`
	Verdict pipeline.Verdict `json:"verdict"`
}

// OnlyOne counts what one model found alone.
type OnlyOne struct {
	Model string `json:"model"`
	Count int    `json:"count"`
}

// Use is what an agent's questions to one model took.
type Use struct {
	Agent  string  `json:"agent"`
	Model  string  `json:"model"`
	Input  int     `json:"input"`  // tokens
	Output int     `json:"output"` // tokens
	Cost   float64 `json:"cost_usd,omitempty"`
}

// Asked is what one model was asked about in a review.
type Asked struct {
	Agent     string               `json:"agent"`
	Model     string               `json:"model"`
	Stage     string               `json:"stage,omitempty"`
	Checklist string               `json:"checklist,omitempty"` // a digest: equal if the questions were equal
	Prompt    string               `json:"prompt,omitempty"`    // a digest of the agent's prompt
	Lines     pipeline.List[Lines] `json:"lines"`
}

// Lines are lines of a file at the head, from First to Last, counted from 1.
type Lines struct {
	Path  string `json:"path"`
	First int    `json:"first"`
	Last  int    `json:"last"`
}

// Finding is a finding as of one review. What does not change between reviews is repeated.
type Finding struct {
	ID string `json:"id"` // in this pull request, for good
	// Also are its other fingerprints: any of them identifies it.
	Also     pipeline.List[string] `json:"also,omitempty"`
	Agent    string                `json:"agent"`
	Rule     string                `json:"rule,omitempty"`
	Stage    string                `json:"stage,omitempty"`
	Models   pipeline.List[Stated] `json:"models,omitempty"` // those that made it
	Others   pipeline.List[string] `json:"others,omitempty"` // other agents that made it
	Prompt   string                `json:"prompt,omitempty"` // a digest of the prompt of the agent that asked the first of Models
	Severity pipeline.Severity     `json:"severity"`
	Gate     pipeline.Severity     `json:"gate"`
	Category string                `json:"category,omitempty"`
	Path     string                `json:"path,omitempty"`
	Section  string                `json:"section,omitempty"` // if it is about no file: see pipeline.Finding
	First    int                   `json:"first,omitempty"`   // line
	Last     int                   `json:"last,omitempty"`    // line
	Services pipeline.List[string] `json:"services,omitempty"`
	// Around is the digest of the code around it. What a person said holds while it stays the same.
	Around string `json:"around,omitempty"`
	// Holds says that it blocks although its gate severity does not: a person must decide.
	Holds bool `json:"holds,omitempty"`
	// Lapsed says that a dismissal before this review no longer counts, although the code is the same:
	// the pull request was closed for so long that what people said of it was deleted.
	Lapsed bool `json:"lapsed,omitempty"`
	// Status is what this review says of it.
	Status Status `json:"status"`
}

// Stated is a model that made a finding, with the confidence that it stated, 0 if that is unknown. A
// finding has each model once.
type Stated struct {
	Model      string  `json:"model"`
	Agent      string  `json:"agent,omitempty"` // that asked the model
	Confidence float64 `json:"confidence,omitempty"`
}

// Blocks reports whether the finding counts against the change in the gate.
func (f *Finding) Blocks() bool {
	return f.Holds || f.Gate.Rank() >= pipeline.SeverityMajor.Rank()
}

// Status is what a review says of a finding that it or an earlier review has.
type Status string

// The statuses. StatusUnknown is for a finding that may still be there although this review does not
// have it. A StatusJoined finding counts as part of another one.
const (
	StatusOpen      Status = "open"
	StatusWithdrawn Status = "withdrawn"
	StatusObsolete  Status = "obsolete"
	StatusFixed     Status = "fixed"
	StatusNotRaised Status = "not_raised_again"
	StatusUnshown   Status = "unshown"
	StatusUnknown   Status = "unknown"
	StatusJoined    Status = "joined"
)

// Judged is what a person said of a finding.
type Judged struct {
	Findings pipeline.List[string] `json:"findings"` // its fingerprints
	Verdict  Judgement             `json:"verdict"`
	Class    DismissalClass        `json:"class,omitempty"`  // of a dismissal
	Around   pipeline.List[string] `json:"around,omitempty"` // the digest of the code around it, for each of Findings
	// Person is a keyed hash of the account. It tells people apart and can't be turned back.
	Person string `json:"person"`
	Own    bool   `json:"own,omitempty"` // the person is an author of the change, or may be
}

// Judgement is what a person said.
type Judgement string

// The judgements.
const (
	Dismissed Judgement = "dismissed"
	Accepted  Judgement = "accepted"
	Restored  Judgement = "restored" // the person takes back what was said
)

// DismissalClass is why a finding was dismissed.
type DismissalClass string

// The classes.
const (
	FalsePositive DismissalClass = "false_positive"
	WontFix       DismissalClass = "wont_fix"
	Duplicate     DismissalClass = "duplicate"
	Other         DismissalClass = "other"
)

// Decided is a person's decision about a head.
type Decided struct {
	// Action is override or reject, or what the person said in a review on GitHub that contradicts
	// the gate.
	Action  Action `json:"action"`
	HeadSHA string `json:"head_sha"`
	BaseRef string `json:"base_ref"`
	Person  string `json:"person"` // as in Judged
}

// Action is what a person decided.
type Action string

// The actions.
const (
	Overrode Action = "override"
	Rejected Action = "reject"
	Approved Action = "github_approved"
	Changes  Action = "github_changes_requested"
)

// Outcome is what became of a finding.
type Outcome string

// The outcomes. Unshown findings are counted apart.
const (
	OutcomeDismissed  Outcome = "dismissed"
	OutcomeAccepted   Outcome = "accepted"
	OutcomeWithdrawn  Outcome = "withdrawn"
	OutcomeObsolete   Outcome = "obsolete"
	OutcomeFixed      Outcome = "fixed"
	OutcomeNotRaised  Outcome = "not_raised_again"
	OutcomeOverridden Outcome = "overridden"
	OutcomeMergedOpen Outcome = "merged_open"
	OutcomeClosed     Outcome = "closed"
	OutcomeOpen       Outcome = "open"
	OutcomeUnshown    Outcome = "unshown"
)

// Final reports whether the outcome can't be expected to change.
func (o Outcome) Final() bool { return o != OutcomeOpen && o != OutcomeUnshown }
