package ports

import (
	"slices"
)

// ScanRun is another App's check run.
type ScanRun struct {
	ID          int64
	Name        string
	App         string // slug
	Completed   bool
	Cut         bool // it was completed before it ended by itself: see CutShort
	Annotations int
}

// ScanAnnotation is a remark of a check run on lines of a file. Its texts have at
// most MaxScanText bytes.
type ScanAnnotation struct {
	Path               string
	StartLine, EndLine int
	Level              string // failure, warning or notice
	Title              string
	Message            string
	RawDetails         string
}

// ScanAlert is an open code scanning alert. Its texts have at most MaxScanText bytes.
type ScanAlert struct {
	Number             int
	Tool, Rule         string
	Title              string // of the rule
	Severity           string // error, warning, note or none
	SecuritySeverity   string // critical, high, medium, low or empty
	Path               string
	StartLine, EndLine int
	Message            string
	Why                string // what the rule is for
	HelpURL            string
}

// ScanNews is an event about another App's check or code scanning: it ended, or has new
// results.
type ScanNews struct {
	RepoID  int64  `json:"repo_id"`
	HeadSHA string `json:"head_sha,omitempty"` // of a check; the event is for all targets on it
	Number  int    `json:"number,omitempty"`   // of the pull request whose alerts changed; then HeadSHA is empty
	App     string `json:"app,omitempty"`      // slug
	Check   string `json:"check,omitempty"`    // name; empty for a whole suite
	// Annotated means that the check run has annotations.
	Annotated bool `json:"annotated,omitempty"`
}

// ScansRead is what a target's last review read of others' results, by agent. If it is
// empty, no event about them matters.
type ScansRead struct {
	Agents []ScanReader `json:"agents"`
}

// ScanReader is one agent that reads others' results.
type ScanReader struct {
	ID          string   `json:"id"`
	Annotations bool     `json:"annotations,omitempty"`
	Alerts      bool     `json:"alerts,omitempty"`
	Apps        []string `json:"apps,omitempty"` // none stands for all
	// Waiting are the checks that had not ended when the agent last looked.
	Waiting []string `json:"waiting,omitempty"`
	// Annotated are the check runs that had annotations at that time, as named by
	// AnnotatedRun.
	Annotated []string `json:"annotated,omitempty"`
	// Refused means that GitHub refused access to the results.
	Refused bool `json:"refused,omitempty"`
}

// AnnotatedRun returns the name of a check run in ScanReader.Annotated.
func AnnotatedRun(app, check string) string { return app + "/" + check }

// Concerns reports whether an event can change the result of an agent.
func (r ScansRead) Concerns(n ScanNews) bool {
	return slices.ContainsFunc(r.Agents, func(a ScanReader) bool { return a.concerns(n) })
}

func (a ScanReader) concerns(n ScanNews) bool {
	switch {
	case n.HeadSHA == "":
		return a.Alerts
	case n.Check == "": // a suite ends after its runs, whose events may have been lost
		return len(a.Waiting) > 0
	case slices.Contains(a.Waiting, n.Check):
		return true
	case !a.Annotations || len(a.Apps) > 0 && !slices.Contains(a.Apps, n.App):
		return false
	}
	return n.Annotated || slices.Contains(a.Annotated, AnnotatedRun(n.App, n.Check))
}

// Waiting reports whether an agent was waiting for a check when it last looked.
func (r ScansRead) Waiting() bool {
	return slices.ContainsFunc(r.Agents, func(a ScanReader) bool { return len(a.Waiting) > 0 })
}

// Refused returns the IDs of the agents that were refused access to the results.
func (r ScansRead) Refused() (ids []string) {
	for _, a := range r.Agents {
		if a.Refused {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// IDs returns the IDs of the agents.
func (r ScansRead) IDs() []string {
	ids := make([]string, len(r.Agents))
	for i, a := range r.Agents {
		ids[i] = a.ID
	}
	return ids
}

// MaxScanText is the maximum number of bytes that are read of each text of an annotation or
// an alert. GitHub allows 64 KB, which nobody reads in a review.
const MaxScanText = 8 << 10

// CutShort reports whether a check run's conclusion means that it ended before it had
// checked everything. A skipped run does not count, because the author of the workflow
// wants it skipped.
func CutShort(conclusion string) bool {
	return slices.Contains([]string{"cancelled", "timed_out", "startup_failure", "stale"}, conclusion)
}

// TooMuchError says that there are more check runs or annotations than are read.
type TooMuchError struct{ What string }

func (e *TooMuchError) Error() string { return e.What }
