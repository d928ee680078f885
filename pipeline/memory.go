package pipeline

import (
	"cmp"
	"time"
)

// Memory is what people taught reviewgate about a repository, at the time when the review began.
// Like the facts, it is an input of the review.
type Memory struct {
	Dismissed      List[Dismissal]        `json:"dismissed"`           // of this pull request
	Accepted       List[Acceptance]       `json:"accepted"`            // of this pull request
	FalsePositives List[FalsePositive]    `json:"false_positives"`     // active records of the repository
	Recurring      List[RecurringFinding] `json:"recurring,omitempty"` // what keeps being found in the services that the change touches
	// ByHand is what somebody decided for this head against this base, or nil. The next push ends
	// it.
	ByHand *HandDecision `json:"by_hand"`
	// Paused are the pull requests of a merge group whose sessions are paused.
	Paused List[PausedPull] `json:"paused,omitempty"`
}

// PausedPull is a pull request whose session of coding agents is paused.
type PausedPull struct {
	Number    int          `json:"number"`
	Rule      int          `json:"rule"`      // that paused it: 0 to 2
	Reviewers List[string] `json:"reviewers"` // who caused it
}

// Dismissal takes one finding of a pull request out of the gate. A merged finding has a Dismissal
// for each of its fingerprints.
type Dismissal struct {
	Fingerprint string `json:"fingerprint"`
	Path        string `json:"path"` // of the finding when it was dismissed
	// Class is false_positive, wont_fix, duplicate or other. It is empty in reviews of older versions.
	Class  string `json:"class,omitempty"`
	Reason string `json:"reason"`
	By     string `json:"by"` // login
	// Override says that the person was allowed to dismiss a critical finding.
	Override bool `json:"override"`
	// FinalIn are the layers that named the person under final_authority; see
	// config.Settings.FinalAuthority.
	FinalIn List[string] `json:"final_in"`
	// Surroundings is the digest of the code around the finding when it was dismissed; see
	// Finding.Surroundings. If it is empty, as in reviews of older versions, the code counts as
	// unchanged.
	Surroundings string `json:"surroundings,omitempty"`
}

// AcceptedUnread is the fingerprint of an Acceptance of unread files. Its Surroundings are what
// UnreadOn returns.
const AcceptedUnread = "unread"

// UnreadOn identifies the head and the base branch for which a person accepted that files could not
// be read.
func UnreadOn(f *PRFacts) string { return f.Head.SHA + " " + f.Base.Ref }

// SurroundingsUnknown are the Surroundings of a decision that an older version stored without any.
// They never equal those of a finding.
const SurroundingsUnknown = "unknown"

// SurroundingsElsewhere are the Surroundings of a decision from the time when the pull request had
// another base branch. They never equal those of a finding either.
const SurroundingsElsewhere = "another base"

// FalsePositive is an active record of memory: a person judged models' findings like it wrong.
type FalsePositive struct {
	Record   string       `json:"record"`            // its id, such as M-12
	Service  string       `json:"service,omitempty"` // only files of this service; empty: any file
	Globs    List[string] `json:"globs"`             // only files that one of these matches; empty: any file
	Rule     string       `json:"rule,omitempty"`    // the rule that models were asked about; if it is set, nothing below counts
	Agent    string       `json:"agent,omitempty"`
	Category string       `json:"category,omitempty"`
	Title    string       `json:"title"`  // of the finding that was judged; its significant words count
	Reason   string       `json:"reason"` // at most MaxMemoryReason characters
	// Blocked says that the finding that was judged blocked or was critical, or that this is unknown.
	// Models are never told of such a record: they might then not report what blocks.
	Blocked bool `json:"blocked,omitempty"`
}

// CompareRecords orders the ids of records: M-9 comes before M-12.
func CompareRecords(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }

// MaxMemoryReason is the number of characters that the reason of a record of memory may have.
const MaxMemoryReason = 500

// RecurringFinding is a pattern of memory: what reviews keep finding.
type RecurringFinding struct {
	Service   string    `json:"service,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	Category  string    `json:"category,omitempty"`
	Title     string    `json:"title"`
	Severity  Severity  `json:"severity"`
	Frequency int       `json:"frequency"`
	LastSeen  time.Time `json:"last_seen"`
	Example   string    `json:"example"` // path:line
}

// Acceptance says that a person checked a finding and considers it right. The finding counts with
// its own severity, without further proof. A merged finding has an Acceptance for each of its
// fingerprints.
type Acceptance struct {
	Fingerprint string `json:"fingerprint"`
	By          string `json:"by"` // login
	// Ignore, if set, is the reason in an ignore comment. The person accepted the comment then, and
	// not the finding; see ReasonIgnoreWaits. A comment with another reason is not accepted.
	Ignore string `json:"ignore,omitempty"`
	// Surroundings is as in Dismissal.
	Surroundings string `json:"surroundings,omitempty"`
}

// HandAction is a person's decision about a head.
type HandAction string

// The decisions by hand.
const (
	HandOverride HandAction = "override" // pass, whatever the review says
	HandReject   HandAction = "reject"   // fail, whatever the review says
)

// HandDecision is a person's decision instead of the gate's. It belongs to one pull request, base
// branch and head.
type HandDecision struct {
	Action HandAction `json:"action"`
	By     string     `json:"by"` // login
	Reason string     `json:"reason"`
	At     time.Time  `json:"at"` // of the command, by the server's clock
	// FinalIn are the layers that named the person under final_authority; see
	// config.Settings.FinalAuthority.
	FinalIn List[string] `json:"final_in"`
}
