package ports

import (
	"context"
	"time"

	"github.com/reviewgate/reviewgate/policies/learning"
)

// ProbationKind tells rules from agents on probation.
type ProbationKind string

// The kinds.
const (
	ProbationRule  ProbationKind = "rule"
	ProbationAgent ProbationKind = "agent"
)

// Probation is a rule or an agent that people of a repository judge wrong too often, and about which
// nobody has decided yet.
type Probation struct {
	Kind ProbationKind
	ID   string
	// Judged counts pull requests with a judgement, and People those who dismissed its findings as
	// false positives and are not authors of the change. Precision is the share of the pull requests
	// in which it was right, and High the upper end of its 95 % interval.
	Judged, People  int
	Precision, High float64
	// Blocks says that one of its findings blocked. Its findings are then not only warnings and infos.
	Blocks  bool
	Since   time.Time         // when it was stored first
	Samples []ProbationSample // at most MaxProbationSamples, the wrong ones first, then the newest
}

// RepositoryProbation is a rule or an agent with the repository in which it is on probation.
type RepositoryProbation struct {
	Repository string // owner/name
	Probation
}

// ProbationSample is a judged finding.
type ProbationSample struct {
	Number  int              `json:"number"` // of the pull request
	Path    string           `json:"path"`   // empty for a finding about the whole change
	Line    int              `json:"line"`   // 0 for a finding without a line
	Outcome learning.Outcome `json:"outcome"`
}

// Limits of probation.
const (
	MaxProbations       = 100 // rows of a repository
	MaxProbationSamples = 3
)

// Probations keeps the rules and agents that people judge wrong too often.
type Probations interface {
	// OnProbation lists those of a repository, by kind and ID.
	OnProbation(ctx context.Context, repoID int64) ([]Probation, error)
	// SetProbations replaces those of the repository. A row that was there keeps its Since. With tell
	// it inserts the job that updates the repository's issues, in the same transaction.
	SetProbations(ctx context.Context, repo Target, all []Probation, tell bool) error
	// LoggedRepositories lists, by ID, one target without a number for each repository whose log has
	// an entry of the given time or later. With the zero time it lists those with any entry, and
	// those with rows.
	LoggedRepositories(ctx context.Context, since time.Time) ([]Target, error)
}
