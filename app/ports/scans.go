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
	Cut         bool // it was completed, and not by its own end: see CutShort
	Annotations int
}

// ScanAnnotation is a remark of a check run on lines of a file. Its texts have at
// most MaxText bytes.
type ScanAnnotation struct {
	Path               string
	StartLine, EndLine int
	Level              string // failure, warning or notice
	Title              string
	Message            string
	RawDetails         string
}

// ScanAlert is an open code scanning alert. Its texts have at most MaxText bytes.
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

// ScanNews says that another App's check, or code scanning, has come to an end or
// to something new.
type ScanNews struct {
	RepoID  int64  `json:"repo_id"`
	HeadSHA string `json:"head_sha,omitempty"` // of a check; all targets on it are meant
	Number  int    `json:"number,omitempty"`   // of the pull request whose alerts changed, without HeadSHA
	App     string `json:"app,omitempty"`      // slug
	Check   string `json:"check,omitempty"`    // name; empty for a whole suite
	// Annotated says that the check run has annotations.
	Annotated bool `json:"annotated,omitempty"`
}

// ScansRead is what a target's last review took in of what others found, by
// agent. Without any, no news of it matters.
type ScansRead struct {
	Agents []ScanReader `json:"agents"`
}

// ScanReader is one agent that takes in what others found.
type ScanReader struct {
	ID          string   `json:"id"`
	Annotations bool     `json:"annotations,omitempty"`
	Alerts      bool     `json:"alerts,omitempty"`
	Apps        []string `json:"apps,omitempty"` // none stands for all
	// Waiting are the checks that had not ended when it looked last.
	Waiting []string `json:"waiting,omitempty"`
	// Annotated are the check runs that had annotations then, as AnnotatedRun
	// names them.
	Annotated []string `json:"annotated,omitempty"`
	// Refused says that GitHub refused what it was to read.
	Refused bool `json:"refused,omitempty"`
}

// AnnotatedRun names a check run in ScanReader.Annotated.
func AnnotatedRun(app, check string) string { return app + "/" + check }

// Concerns reports whether news can make a difference to an agent.
func (r ScansRead) Concerns(n ScanNews) bool {
	return slices.ContainsFunc(r.Agents, func(a ScanReader) bool { return a.concerns(n) })
}

func (a ScanReader) concerns(n ScanNews) bool {
	switch {
	case n.HeadSHA == "":
		return a.Alerts
	case n.Check == "": // a suite ends after its runs, of which news may have been lost
		return len(a.Waiting) > 0
	case slices.Contains(a.Waiting, n.Check):
		return true
	case !a.Annotations || len(a.Apps) > 0 && !slices.Contains(a.Apps, n.App):
		return false
	}
	return n.Annotated || slices.Contains(a.Annotated, AnnotatedRun(n.App, n.Check))
}

// Waiting reports whether an agent waited for a check when it looked last.
func (r ScansRead) Waiting() bool {
	return slices.ContainsFunc(r.Agents, func(a ScanReader) bool { return len(a.Waiting) > 0 })
}

// Refused are the ids of the agents that were refused what they were to read.
func (r ScansRead) Refused() (ids []string) {
	for _, a := range r.Agents {
		if a.Refused {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// IDs are those of the agents.
func (r ScansRead) IDs() []string {
	ids := make([]string, len(r.Agents))
	for i, a := range r.Agents {
		ids[i] = a.ID
	}
	return ids
}

// MaxScanText is how many bytes are read of each text of an annotation or an alert. GitHub
// allows 64 KB, which nobody reads in a review.
const MaxScanText = 8 << 10

// CutShort reports whether a check run's conclusion says that it was ended before
// it had looked at all. One that was skipped is not: who wrote the workflow wants
// it so.
func CutShort(conclusion string) bool {
	return slices.Contains([]string{"cancelled", "timed_out", "startup_failure", "stale"}, conclusion)
}

// TooMuchError says that there are more check runs, or annotations, than are read.
type TooMuchError struct{ What string }

func (e *TooMuchError) Error() string { return e.What }
